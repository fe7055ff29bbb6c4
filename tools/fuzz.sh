#!/usr/bin/env bash
# fuzz.sh SECONDS [NAME]: runs each fuzz target, or the one named, for that long, as many at a time as there are
# processors, and prints a line for each. A target that fails does not stop the others; then the exit status is 1. New
# inputs are stored in build/fuzz/corpus/NAME; the seeds in fuzz/corpus/NAME are only read. An input that causes a
# failure is stored as build/fuzz/NAME-crash-*, what the target printed in build/fuzz/NAME.log. $FUZZ_SEED chooses what is
# drawn; without it every run draws anew.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1

run_target() # NAME
{
    local log=build/fuzz/$1.log
    mkdir -p "build/fuzz/corpus/$1"
    if UBSAN_OPTIONS=print_stacktrace=1 "build/fuzz/fuzz_$1" -max_total_time="$seconds" ${FUZZ_SEED:+-seed="$FUZZ_SEED"} \
        -timeout=25 -verbosity=0 -print_final_stats=1 -artifact_prefix="build/fuzz/$1-" "build/fuzz/corpus/$1" \
        "fuzz/corpus/$1" >"$log" 2>&1; then
        printf '%-15s %10s runs, no finding\n' "$1" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    else
        printf '%-15s FAILED; the end of %s:\n%s\n' "$1" "$log" "$(tail -n 20 "$log")"
        return 1
    fi
}

if [ $# -gt 1 ]; then
    run_target "$2"
    exit
fi
names=()
for source in fuzz/fuzz_*.c; do
    source=$(basename "$source" .c)
    names+=("${source#fuzz_}")
done
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${names[@]/#/fuzz_}"
if printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -n 1 tools/fuzz.sh "$seconds"; then
    echo "fuzz: ${#names[@]} targets, no finding"
else
    echo 'fuzz: targets FAILED, see above' >&2
    exit 1
fi

#!/usr/bin/env bash
# fuzz.sh SECONDS: runs each fuzz target for that long. New inputs are stored in build/fuzz/corpus/NAME; the seeds
# in fuzz/corpus/NAME are only read. An input that causes a failure is stored as build/fuzz/NAME-crash-*.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
for source in fuzz/fuzz_*.c; do
    [ -e "$source" ] || { echo "fuzz: no targets in fuzz/"; exit 0; }
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    mkdir -p "build/fuzz/corpus/$name"
    echo "== $name"
    UBSAN_OPTIONS=print_stacktrace=1 "build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 \
        -verbosity=0 -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" "fuzz/corpus/$name"
done

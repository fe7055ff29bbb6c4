#!/usr/bin/env bash
# CPU time of twinsift pairs and dedup at five thresholds: generated documents, half of them in groups, twice and four times
# as many; and, where $TWINSIFT_DATA has them, Reuters-21578, bodies of trec07p and its messages as they are. Prints a table
# and writes it to build/bench/thresholds.tsv; bench/README.md describes it.
#
#     BENCH_QUICK=1         a tenth of the generated documents
#     BENCH_THRESHOLDS      instead of "0.3 0.5 0.65 0.8 0.95"
#     BENCH_SCRATCH=DIR     the folder for the corpora (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/thresholds.tsv
read -ra thresholds <<< "${BENCH_THRESHOLDS:-0.3 0.5 0.65 0.8 0.95}"
first=25000
[ -z "${BENCH_QUICK-}" ] || first=2500
data=${TWINSIFT_DATA-}

need_room 1000
work=$scratch/thresholds
mkdir -p "$work"
trap 'rm -rf "$work" "$noise" "$clock"' EXIT

# time_at THRESHOLD NAME INPUT...: pairs and dedup; sets cpu to that of pairs.
time_at()
{
    local threshold=$1 name=$2 pairs
    shift 2
    timed "$program" pairs --quiet --threads 2 --threshold "$threshold" "$@"
    pairs=$cpu
    timed "$program" dedup --quiet --threads 2 --threshold "$threshold" --dry-run "$@"
    report "$name, $threshold: pairs" "$pairs" s
    report "$name, $threshold: dedup" "$cpu" s
    cpu=$pairs
}

# time_growth THRESHOLD: per doubling. At 0.3 candidates are a square (README, "Speed and memory").
time_growth()
{
    local threshold=$1 count before="" bound=2.5
    ! less "$threshold" 0.36 || bound=4.5
    for count in $first $((2 * first)) $((4 * first)); do
        time_at "$threshold" "generated, $count documents" "$work/$count.jsonl"
        [ -z "$before" ] || report "generated, $threshold: x CPU time of pairs" "$(calc "$cpu / $before")" "" $bound
        before=$cpu
    done
}

for count in $first $((2 * first)) $((4 * first)); do
    corpus=$work/$count.jsonl
    make_corpus --docs "$count" --families "$((count / 5000)):200" --forms "$((count / 5000)):200" \
        --same $((count / 50)) --short $((count / 50))
done
if [ -d "$data/reuters21578" ]; then
    cat "$data"/reuters21578/reut2-*.sgm | LC_ALL=C tr -d '\200-\377' |
        LC_ALL=C awk -f tests/reuters_jsonl.awk > "$work/reuters.jsonl"
fi
[ ! -d "$data/trec07p-25k/data" ] || python3 tests/bodies_jsonl.py "$data/trec07p-25k/data" > "$work/bodies.jsonl"

begin_table "two threads, one run"
for threshold in "${thresholds[@]}"; do
    time_growth "$threshold"
    for name in reuters bodies; do
        [ ! -s "$work/$name.jsonl" ] || time_at "$threshold" "$name" "$work/$name.jsonl"
    done
    [ ! -d "$data/trec07p-25k/data" ] || time_at "$threshold" "raw messages" --as files "$data/trec07p-25k/data"
done
[ -d "$data/reuters21578" ] && [ -d "$data/trec07p-25k/data" ] ||
    echo "skipped: \$TWINSIFT_DATA has no reuters21578 or no trec07p-25k"
end_table

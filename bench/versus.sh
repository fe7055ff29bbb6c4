#!/usr/bin/env bash
# An older build against this one, by turns, so that both meet the same neighbours: pairs, loading an index, querying
# it, checking it, and adding to a Bloom filter. Prints ratios new / old of the best CPU times; 1.05 is within the noise.
#
#     BENCH_OLD=DIR     the folder of the older build, with twinsift in it; without it nothing is measured
#     BENCH_QUICK=1     ten times fewer documents
#     BENCH_SCRATCH=DIR where the corpora go while they are needed (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${BENCH_OLD-}" ]; then
    echo "versus: BENCH_OLD is not set: it names the folder of an older build to compare with"
    exit 0
fi

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/versus.tsv
runs=${BENCH_RUNS:-5} few=100000 many=1000000 kept=200000 needed_mb=9000
if [ -n "${BENCH_QUICK-}" ]; then
    few=10000 many=100000 kept=20000 needed_mb=1200
fi
declare -A builds=([old]=$BENCH_OLD/twinsift [new]=$program)

need_room "$needed_mb"
small=$scratch/small.jsonl large=$scratch/large.jsonl part=$scratch/part.jsonl load=$scratch/load.jsonl
index=$scratch/versus.twin bloom=$scratch/versus.bloom
trap 'rm -f "$small" "$large" "$part" "$load" "$index"* "$bloom" "$noise" "$clock"' EXIT

corpus=$small make_corpus --docs "$few" --edits
corpus=$large make_corpus --docs "$many"
head -n 20000 "$small" > "$part"
head -n "$kept" "$large" > "$load"

# one NAME BUILD COMMAND...: times it for the build.
one()
{
    local name=$1 build=$2
    shift 2
    timed "${builds[$build]}" "$@"
    keep_best "$name.$build"
}

begin_table "old is $BENCH_OLD; best of $runs"
for ((run = 0; run < runs; run++)); do
    for build in old new; do
        one "pairs, $few documents" "$build" pairs --quiet --threads 2 "$small"
        one "pairs --shingle word:5, $few documents" "$build" pairs --quiet --threads 2 --shingle word:5 "$small"
        one "pairs, one thread" "$build" pairs --quiet --threads 1 "$small"
        [ "$run" -gt 2 ] || one "pairs, $many documents" "$build" pairs --quiet --threads 2 "$large"
        rm -f "$index"*
        "${builds[$build]}" index create "$index"
        one "index add, $kept documents" "$build" index add --quiet --threads 2 "$index" "$load"
        one "index query, 20000 documents" "$build" index query --quiet --threads 2 "$index" "$part"
        one "index pairs" "$build" index pairs --quiet --threads 2 "$index"
        one "index check" "$build" index check --quiet "$index"
        rm -f "$bloom"
        "${builds[$build]}" bloom create "$bloom" --items 1M
        one "bloom add" "$build" bloom add --quiet "$bloom" "$small"
    done
done
for name in "pairs, $few documents" "pairs --shingle word:5, $few documents" "pairs, one thread" "pairs, $many documents" \
    "index add, $kept documents" "index query, 20000 documents" "index pairs" "index check" "bloom add"; do
    report "$name: CPU, old" "${best[$name.old.cpu]}" s
    report "$name: CPU, new / old" "$(calc "${best[$name.new.cpu]} / ${best[$name.old.cpu]}")" "" 1.05
    report "$name: wall, new / old" "$(calc "${best[$name.new.wall]} / ${best[$name.old.wall]}")" ""
done
end_table

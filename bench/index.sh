#!/usr/bin/env bash
# What it costs to keep an index on disk: loading it, beside twinsift pairs on the same documents; adding more in small
# batches; questions, asked by one process and by two; bytes a document. Prints a table and keeps it in
# build/bench/index.tsv; bench/README.md tells how to read it.
#
#     BENCH_QUICK=1     ten times fewer documents: a minute instead of several
#     BENCH_SCRATCH=DIR where the corpus and the index go while they are needed (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/index.tsv
runs=2 documents=1000000 more=20000 questions=20000 needed_mb=15000
if [ -n "${BENCH_QUICK-}" ]; then
    documents=100000 needed_mb=2000
fi
need_room "$needed_mb"
corpus=$scratch/corpus.jsonl new=$scratch/new.jsonl asked=$scratch/asked.jsonl index=$scratch/bench.twin
trap 'rm -f "$corpus" "$new" "$asked" "$index" "$index-lock" "$noise" "$clock" "$ballast"' EXIT

create()
{
    "$program" index create --force --keep "$1" "$index"
}

load()
{
    timed "$program" index add --quiet "$index" "$corpus"
}

# ask PROCESSES: the questions a second of each of so many processes, all asking at once with one thread each.
ask()
{
    timed bash -c 'for ((i = 0; i < $1; i++)); do
        "$2" index query --quiet --threads 1 "$3" "$4" > /dev/null & pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done' ask "$1" "$program" "$index" "$asked"
    calc "$questions / $wall"
}

tell_keep()
{
    local wall_ratio rate
    tell "$1: load" "${best[$1.load.wall]}" s
    wall_ratio=$(calc "${best[$1.load.wall]} / ${best[pairs.wall]}")
    tell "$1: load / pairs" "$wall_ratio" "" 3
    tell "$1: load / pairs, CPU time" "$(calc "${best[$1.load.cpu]} / ${best[pairs.cpu]}")" ""
    timed "$program" index add --quiet --batch 1000 "$index" "$new"
    rate=$(calc "100 * ($more / $wall) / ($documents / ${best[$1.load.wall]})")
    tell "$1: batches of 1000, of the rate of loading" "$rate" "%" +20
    ask 1 > /dev/null # brings what will be looked at into memory
    tell "$1: questions a second, one process" "$(ask 1)" "" +5000
    tell "$1: questions a second, each of two processes" "$(ask 2)" "" +5000
    tell "$1: bytes a document" "$(calc "$(stat -c %s "$index") / ($documents + $more)")" ""
}

begin_table "best of $runs"
echo "$documents documents, $more to add, $questions questions; an index of up to 8 GB in $scratch, which has $free_mb MB free"
echo

make_corpus --docs $((documents + more))
tail -n "$more" "$corpus" > "$new"
head -n "$documents" "$corpus" > "$asked" && mv "$asked" "$corpus"
awk -v step=$((documents / questions)) 'NR % step == 0' "$corpus" > "$asked"
timed "$program" pairs --quiet "$corpus"
pairs_as_found=$wall
create sets
load
sets_as_found=$wall
for ((run = 0; run < runs; run++)); do
    fill_memory
    timed "$program" pairs --quiet "$corpus"
    keep_best pairs
done
tell "pairs" "${best[pairs.wall]}" s
tell "pairs, in memory as it was found" "$pairs_as_found" s
tell "sets: load, in memory as it was found" "$sets_as_found" s
tell "sets: load / pairs, both in memory as it was found" "$(calc "$sets_as_found / $pairs_as_found")" ""
for keep in sets text none; do
    for ((run = 0; run < runs; run++)); do
        create "$keep"
        fill_memory
        load
        keep_best "$keep.load"
    done
    tell_keep "$keep"
done
end_table

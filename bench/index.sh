#!/usr/bin/env bash
# Times twinsift index: loading, compared with twinsift pairs on the same documents; adding in small batches; queries by
# one process and by two; bytes per document. Prints a table and writes it to build/bench/index.tsv; bench/README.md
# describes it.
#
#     BENCH_QUICK=1     ten times fewer documents: one minute instead of several
#     BENCH_SCRATCH=DIR the folder for the corpus and the index (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/index.tsv
runs=2 documents=1000000 more=20000 queries=20000 needed_mb=15000
if [ -n "${BENCH_QUICK-}" ]; then
    documents=100000 needed_mb=2000
fi
need_room "$needed_mb"
corpus=$scratch/corpus.jsonl new=$scratch/new.jsonl queried=$scratch/queried.jsonl index=$scratch/bench.twin
trap 'rm -f "$corpus" "$new" "$queried" "$index" "$index-lock" "$noise" "$clock" "$ballast"' EXIT

create()
{
    "$program" index create --force --keep "$1" "$index"
}

load()
{
    timed "$program" index add --quiet "$index" "$corpus"
}

# query PROCESSES: prints the queries per second of each process, all running at once with one thread each.
query()
{
    timed bash -c 'for ((i = 0; i < $1; i++)); do
        "$2" index query --quiet --threads 1 "$3" "$4" > /dev/null & pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid"; done' query "$1" "$program" "$index" "$queried"
    calc "$queries / $wall"
}

report_keep()
{
    local wall_ratio rate
    report "$1: load" "${best[$1.load.wall]}" s
    wall_ratio=$(calc "${best[$1.load.wall]} / ${best[pairs.wall]}")
    report "$1: load / pairs" "$wall_ratio" "" 3
    report "$1: load / pairs, CPU time" "$(calc "${best[$1.load.cpu]} / ${best[pairs.cpu]}")" ""
    timed "$program" index add --quiet --batch 1000 "$index" "$new"
    rate=$(calc "100 * ($more / $wall) / ($documents / ${best[$1.load.wall]})")
    report "$1: batches of 1000, relative to the rate of loading" "$rate" "%" +20
    query 1 > /dev/null # reads the file into the page cache
    report "$1: queries per second, one process" "$(query 1)" "" +5000
    report "$1: queries per second, each of two processes" "$(query 2)" "" +5000
    report "$1: bytes per document" "$(calc "$(stat -c %s "$index") / ($documents + $more)")" ""
}

# make_template COUNT: pages of 250 words that differ in 12, about 0.78 similar to each other.
make_template()
{
    awk -v count="$1" 'BEGIN {
        srand(1)
        for (i = 0; i < 5000; i++) {
            word[i] = ""
            for (k = 3 + int(rand() * 7); k > 0; k--) word[i] = word[i] sprintf("%c", 97 + int(rand() * 26))
        }
        for (i = 0; i < 250; i++) shared[i] = word[int(rand() * 5000)]
        for (i = 0; i < count; i++) {
            delete changed
            for (k = 0; k < 12; k++) changed[int(rand() * 250)] = 1
            text = ""
            for (k = 0; k < 250; k++) text = text " " (k in changed ? word[int(rand() * 5000)] : shared[k])
            printf "{\"id\":%d,\"text\":\"%s\"}\n", i, text
        }
    }'
}

# report_template COUNT QUERIES: a query among pages of one template compares a bounded number of them.
report_template()
{
    make_template "$1" > "$corpus"
    tail -n "$2" "$corpus" > "$queried"
    create sets
    load
    timed "$program" index query --quiet --threads 1 "$index" "$queried"
    report "$1 pages of one template: CPU time per query" "$(calc "1000 * $cpu / $2")" ms 300
}

begin_table "best of $runs"
echo "$documents documents, $more to add, $queries queries; an index of up to 8 GB in $scratch, which has $free_mb MB free"
echo

make_corpus --docs $((documents + more))
tail -n "$more" "$corpus" > "$new"
head -n "$documents" "$corpus" > "$queried" && mv "$queried" "$corpus"
awk -v step=$((documents / queries)) 'NR % step == 0' "$corpus" > "$queried"
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
report "pairs" "${best[pairs.wall]}" s
report "pairs, in memory as found" "$pairs_as_found" s
report "sets: load, in memory as found" "$sets_as_found" s
report "sets: load / pairs, both in memory as found" "$(calc "$sets_as_found / $pairs_as_found")" ""
for keep in sets text none; do
    for ((run = 0; run < runs; run++)); do
        create "$keep"
        fill_memory
        load
        keep_best "$keep.load"
    done
    report_keep "$keep"
done
report_template $((documents / 20)) 20
end_table

#!/usr/bin/env bash
# Times twinsift dedup, output written to disk: compared with wc -w on the same file, with ten times the documents, and
# within 512 MB of memory; and on collections that could be a cliff: equal documents, one template above and below the
# threshold, empty texts, one very long text. Prints a table and writes it to build/bench/dedup.tsv; bench/README.md
# describes it.
#
#     BENCH_QUICK=1     ten times fewer documents
#     BENCH_HUGE=1      also five times as many, that is 5 million: 10 GB of input, and 15 minutes more
#     BENCH_RUNS=N      the best of N runs (3)
#     BENCH_SCRATCH=DIR the folder for the corpora (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/dedup.tsv
runs=${BENCH_RUNS:-3}
small=100000 large=1000000 family=100000 long_mb=1000 needed_mb=9000
if [ -n "${BENCH_QUICK-}" ]; then
    small=10000 large=100000 family=10000 long_mb=50 needed_mb=1000
fi
[ -z "${BENCH_HUGE-}" ] || needed_mb=$((4 * needed_mb))
need_room "$needed_mb"
few=$scratch/few.jsonl many=$scratch/many.jsonl huge=$scratch/huge.jsonl odd=$scratch/odd.jsonl
kept=$scratch/kept.jsonl within=$scratch/within.jsonl
trap 'rm -f "$few" "$many" "$huge" "$odd" "$kept" "$within" "$noise" "$clock" "$ballast"' EXIT

limits=() # the options that are measured beside none
if [[ $("$program" dedup --help) == *$'\n'"  --memory "* ]]; then
    limits=(512M)
    [ -z "${BENCH_QUICK-}" ] || limits=(64M) # so that something has to be written to files
fi

# time_dedup NAME OUTPUT FILE [OPTION...]: the output is a new file. To replace one, file systems first write the new one to
# the disk, so that a crash leaves either of them. How long it takes until the output is on the disk is measured besides:
# a small one is still in the cache when the program ends, a large one is not.
time_dedup()
{
    local name=$1 output=$2 file=$3
    shift 3
    rm -f "$output"
    timed "$program" dedup --stats "$@" -o "$output" "$file"
    keep_best "$name"
    local took=$wall
    best[$name.kept]=$(number kept) best[$name.peak]=$(number peak_bytes)
    wall=$(calc "$(sed -nE 's/.*"seconds":\{"reading":([0-9.]+),"deciding":([0-9.]+).*/\1 + \2/p' "$noise")")
    keep_best "$name.decided"
    timed sync "$output"
    wall=$(calc "$took + $wall")
    keep_best "$name.synced"
}

# race SIZE: wc -w and dedup by turns, without and within the limits; the same records must be kept.
race()
{
    local file=${!1} limit
    fill_memory
    cat "$file" > /dev/null # may have been pushed out of the cache
    timed wc -w "$file"
    keep_best "wc.$1"
    time_dedup "$1" "$kept" "$file"
    for limit in "${limits[@]}"; do
        time_dedup "$1.$limit" "$within" "$file" --memory "$limit"
        cmp "$kept" "$within"
    done
    rm -f "$within"
    timed dd if="$kept" of="$within" bs=1M
    keep_best "copy.$1"
}

# report_size SIZE DOCUMENTS [SMALLER GROWTH]: times and memory of a race; how they grew from a smaller one.
report_size()
{
    local limit
    report "$2 documents: wc -w" "${best[wc.$1.wall]}" s
    report "$2 documents: dedup" "${best[$1.wall]}" s
    report "  over wc -w" "$(calc "${best[$1.wall]} / ${best[wc.$1.wall]}")" x 0.9
    report "  CPU time over that of wc -w" "$(calc "${best[$1.cpu]} / ${best[wc.$1.cpu]}")" x
    report "  kept" "${best[$1.kept]}" ""
    local most= # of few documents the program itself and its buffers are the larger part
    [ "$2" -lt 1000000 ] || most=700
    report "  peak memory per document" "$(calc "${best[$1.peak]} / $2")" bytes "$most"
    if [ -n "${3-}" ]; then
        # Of as many runs each, by turns. The best of a few short runs has more luck than the best of long ones.
        report "  over fewer documents, all runs" "$(calc "${all[$1.wall]} / ${all[$3.wall]}")" x "$4"
        report "    the best of them" "$(calc "${best[$1.wall]} / ${best[$3.wall]}")" x
        report "    CPU time" "$(calc "${all[$1.cpu]} / ${all[$3.cpu]}")" x
        report "    without writing" "$(calc "${all[$1.decided.wall]} / ${all[$3.decided.wall]}")" x "$4"
        report "    until the output is on the disk" "$(calc "${all[$1.synced.wall]} / ${all[$3.synced.wall]}")" x
        report "    the same of copying the output (dd)" "$(calc "${all[copy.$1.wall]} / ${all[copy.$3.wall]}")" x
    fi
    for limit in "${limits[@]}"; do
        report "  with --memory $limit" "${best[$1.$limit.wall]}" s
        report "    over wc -w" "$(calc "${best[$1.$limit.wall]} / ${best[wc.$1.wall]}")" x 1.8
        report "    CPU time over that of wc -w" "$(calc "${best[$1.$limit.cpu]} / ${best[wc.$1.cpu]}")" x
        report "    peak memory" "$(calc "${best[$1.$limit.peak]} / 1e6")" MB "${limit%M}"
        # No bound: fewer documents may need no files, and the same memory holds a smaller share of more.
        [ -z "${3-}" ] ||
            report "    over fewer documents" "$(calc "${best[$1.$limit.wall]} / ${best[$3.$limit.wall]}")" x
    done
}

begin_table "best of $runs, in seconds of wall time on all processors unless cpu is named"
[ ${#limits[@]} -gt 0 ] || echo "this build has no --memory; it is not measured"
sizes=(few:$small many:$large)
[ -z "${BENCH_HUGE-}" ] || sizes+=(huge:$((5 * large)))
for size in "${sizes[@]}"; do
    mixed "${size#*:}"
    name=${size%:*}
    corpus=${!name}
    make_corpus "${mixed[@]}"
done
for ((run = 0; run < runs; run++)); do # by turns: a machine is not as fast at all times
    for size in "${sizes[@]}"; do
        race "${size%:*}"
    done
done
report_size few "$small"
report_size many "$large" few 10.8
[ -z "${BENCH_HUGE-}" ] || report_size huge $((5 * large)) many 5.4
rm -f "$many" "$huge"
rm -f "$kept" "$within"

# odd_corpus KIND: as many documents of 2 KB as a family has.
odd_corpus()
{
    awk -v n="$family" -v kind="$1" 'function letters(count,   text) {
            text = ""
            while (count-- > 0) text = text substr("abcdefghijklmnopqrstuvwxyz ", int(27 * rand()) + 1, 1)
            return text
        }
        BEGIN {
            srand(1)
            base = letters(2000)
            for (i = 0; i < n; i++) {
                at = int(1900 * rand()) + 1
                text = base
                if (kind == "above") text = substr(base, 1, at) letters(40) substr(base, at + 41)
                if (kind == "below") text = substr(base, 1, 1714) letters(286)
                if (kind == "empty") text = ""
                printf "{\"id\":%d,\"text\":\"%s\"}\n", i, text
            }
        }' > "$odd"
    cat "$odd" > /dev/null
}

for kind in equal above below empty; do
    odd_corpus $kind
    for ((run = 0; run < runs; run++)); do
        time_dedup "$kind" "$kept" "$odd"
    done
done
report "$family equal documents" "${best[equal.cpu]}" cpu-s
report "$family documents around one template, all similar" "${best[above.cpu]}" cpu-s
report "  kept" "${best[above.kept]}" ""
report "$family documents of one template, none similar" "${best[below.cpu]}" cpu-s
report "  over $small ordinary ones, per document" \
    "$(calc "${best[below.cpu]} / $family / (${best[few.cpu]} / $small)")" x 10
report "$family empty documents" "${best[empty.cpu]}" cpu-s

awk -v mb="$long_mb" 'BEGIN {
    srand(2)
    printf "{\"id\":1,\"text\":\""
    for (i = 0; i < mb * 100000; i++) printf "%09d ", int(1e9 * rand())
    print "\"}"
}' > "$odd"
time_dedup long "$kept" "$odd" --max-document-bytes 4G
report "one document of $long_mb MB" "${best[long.cpu]}" cpu-s
report "  peak memory over its length" "$(calc "${best[long.peak]} / ($long_mb * 1e6)")" x 4
end_table

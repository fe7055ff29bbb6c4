#!/usr/bin/env bash
# Times twinsift dedup, output written, compared with wc -w on the same file and with ten times the documents; and on
# collections that could be a cliff: equal documents, one template above and below the threshold, empty texts, one very long
# text. Prints a table and writes it to build/bench/dedup.tsv; bench/README.md describes it.
#
#     BENCH_QUICK=1     ten times fewer documents
#     BENCH_SCRATCH=DIR the folder for the corpora (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/dedup.tsv
runs=3
small=100000 large=1000000 family=100000 long_mb=1000 needed_mb=9000
if [ -n "${BENCH_QUICK-}" ]; then
    small=10000 large=100000 family=10000 long_mb=50 needed_mb=1000
fi
need_room "$needed_mb"
few=$scratch/few.jsonl many=$scratch/many.jsonl odd=$scratch/odd.jsonl kept=$scratch/kept.jsonl
trap 'rm -f "$few" "$many" "$odd" "$kept" "$noise" "$clock" "$ballast"' EXIT

dedup=("$program" dedup --stats)

# number FIELD: prints a number of the statistics that the last run wrote to $noise.
number()
{
    sed -nE "s/.*\"$1\":([0-9.]+).*/\1/p" "$noise"
}

time_dedup() # NAME FILE [OPTION...]
{
    local name=$1 file=$2
    shift 2
    timed "${dedup[@]}" "$@" -o "$kept" "$file"
    keep_best "$name"
    best[$name.kept]=$(number kept) best[$name.peak]=$(number peak_bytes)
}

begin_table "best of $runs, in seconds of wall time on all processors unless cpu is named"
corpus=$few
make_corpus --docs "$small" --edits --families 100:20
corpus=$many
make_corpus --docs "$large" --edits --families 1000:20
fill_memory
for ((run = 0; run < runs; run++)); do
    for size in few many; do
        timed wc -w "${!size}"
        keep_best "wc.$size"
        time_dedup "$size" "${!size}"
    done
done
report "dedup of $small documents" "${best[few.wall]}" s
report "dedup of $large documents" "${best[many.wall]}" s
report "  over wc -w" "$(calc "${best[many.wall]} / ${best[wc.many.wall]}")" x 0.9
report "  over that of $small documents" "$(calc "${best[many.wall]} / ${best[few.wall]}")" x 10.8
report "  kept" "${best[many.kept]}" ""
report "  peak memory per document" "$(calc "${best[many.peak]} / $large")" bytes 700
rm -f "$many"

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
        time_dedup "$kind" "$odd"
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
time_dedup long "$odd" --max-document-bytes 4G
report "one document of $long_mb MB" "${best[long.cpu]}" cpu-s
report "  peak memory over its length" "$(calc "${best[long.peak]} / ($long_mb * 1e6)")" x 4
end_table

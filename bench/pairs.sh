#!/usr/bin/env bash
# Times twinsift pairs: compared with wc -w on the same file, with ten times the documents, and with each executor.
# Prints a table and writes it to build/bench/pairs.tsv; bench/README.md describes it.
#
#     BENCH_QUICK=1     ten times fewer documents: one minute instead of several
#     BENCH_SCRATCH=DIR the folder for the corpora (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/pairs.tsv
runs=3 threads=2
small=100000 large=1000000 needed_mb=5500
if [ -n "${BENCH_QUICK-}" ]; then
    small=10000 large=100000 needed_mb=500
fi

need_room "$needed_mb"
few=$scratch/few.jsonl many=$scratch/many.jsonl
trap 'rm -f "$few" "$many" "$noise" "$clock" "$ballast"' EXIT

# ---- measuring

pairs=("$program" pairs --quiet --json --stats)

# make_few, make_many OPTION...: a corpus, and one of ten times as many documents.
make_few()
{
    corpus=$few
    make_corpus "$@"
}

make_many()
{
    corpus=$many
    make_corpus "$@"
}

# time_pairs NAME [OPTION...]
time_pairs()
{
    local name=$1
    shift
    timed "${pairs[@]}" "$@" "$corpus"
    keep_best "$name"
}

# race NAME: wc -w and twinsift pairs, on few documents and on many, alternating, so that all
# run under the same load.
race()
{
    for ((run = 0; run < runs; run++)); do
        for size in few many; do
            corpus=${!size}
            timed wc -w "$corpus"
            keep_best "$1.$size.wc"
            fill_memory
            time_pairs "$1.$size" --threads "$threads"
        done
    done
}

# ---- reporting

# report_race NAME DOCUMENTS
report_race()
{
    local wc_wall=${best[$1.wc.wall]} wc_cpu=${best[$1.wc.cpu]} wall=${best[$1.wall]} cpu=${best[$1.cpu]}
    report "$2 documents: wc -w" "$wc_wall" s
    report "$2 documents: pairs, $threads threads" "$wall" s
    report "$2 documents: pairs / wc -w" "$(calc "$wall / $wc_wall")" "" 1.0
    report "$2 documents: pairs / wc -w, CPU time over $threads threads" "$(calc "$cpu / $threads / $wc_cpu")" ""
}

# report_growth WHAT NAME: the growth of time with ten times the documents.
report_growth()
{
    report "$1: x10 documents, x time" "$(calc "${best[$2.many.wall]} / ${best[$2.few.wall]}")" "" 11
    report "$1: x10 documents, x CPU time" "$(calc "${best[$2.many.cpu]} / ${best[$2.few.cpu]}")" ""
}

locale=$(locale 2> /dev/null | sed -n 's/^LC_CTYPE="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p')
begin_table "wc in locale $locale; best of $runs"
echo "corpora of up to $((needed_mb / 1000)).$((needed_mb / 100 % 10)) GB in $scratch, which has $free_mb MB free"
echo

# Ordinary documents of 2 KB, one in five a copy, one in ten with a footer.
make_few --docs "$small"
make_many --docs "$large"
race plain
peak=$(number peak_bytes)
report_race plain.few "$small"
report_race plain.many "$large"
report_growth "2-KB documents, $small to $large" plain
report "$large documents: peak memory per document" "$(calc "$peak / $large")" bytes 1024

# Hard cases: footers make many documents slightly similar; one text makes all of them equal.
make_few --docs "$small" --footers 20:1.0
make_many --docs "$large" --footers 20:1.0
race footers
report "$large documents, each with one of 20 footers" "${best[footers.many.wall]}" s
report_growth "one of 20 footers each, $small to $large" footers
make_few --docs 10000 --same 10000
make_many --docs 100000 --same 100000
race same
report "100000 documents of one text" "${best[same.many.wall]}" s
report_growth "one text, 10000 to 100000" same

# The job of Bianchi and Dewidar (docs/references.md), whose implementation took 1,017 s with OpenMP and ten threads.
make_few --docs 1000 --bytes 10000
rm -f "$many"
job=(--sketch classic --shingle char:9 --hashes 200 --rows 5 --buckets 5000)
executors=(serial:1 pthreads:1 pthreads:2 openmp:1 openmp:2)
for ((run = 0; run < runs; run++)); do
    for who in "${executors[@]}"; do
        time_pairs "$who" --executor "${who%:*}" --threads "${who#*:}" "${job[@]}"
    done
done
for who in "${executors[@]}"; do
    report "1000 documents of 10 KB, ${who%:*}, ${who#*:} threads" "${best[$who.wall]}" s
    report "1000 documents of 10 KB, ${who%:*}, ${who#*:} threads: CPU time" "${best[$who.cpu]}" s
done
for who in pthreads:2 openmp:2; do
    report "1000 documents of 10 KB, ${who%:*}, 2 threads: speed-up over serial" "$(calc "${best[serial:1.wall]} / ${best[$who.wall]}")" ""
done
end_table

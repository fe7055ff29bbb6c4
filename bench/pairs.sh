#!/usr/bin/env bash
# How long twinsift pairs takes: against wc -w on the same file, as documents become ten times as many, and with each
# executor. Prints a table and keeps it in build/bench/pairs.tsv; bench/README.md tells how to read it.
#
#     BENCH_QUICK=1     ten times fewer documents: a minute instead of several
#     BENCH_SCRATCH=DIR where the corpora go while they are needed (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/pairs.tsv
runs=3 threads=2
small=100000 large=1000000 needed_mb=5000
if [ -n "${BENCH_QUICK-}" ]; then
    small=10000 large=100000 needed_mb=500
fi

need_room "$needed_mb"
corpus=$scratch/corpus.jsonl
trap 'rm -f "$corpus" "$noise" "$clock"' EXIT

# ---- measuring

# number FIELD: a number of the stats that the last run left in $noise.
number()
{
    sed -nE "s/.*\"$1\":([0-9.]+).*/\1/p" "$noise"
}

pairs=("$program" pairs --quiet --json --stats)

# time_pairs NAME [OPTION...]
time_pairs()
{
    local name=$1
    shift
    for ((run = 0; run < runs; run++)); do
        timed "${pairs[@]}" "$@" "$corpus"
        keep_best "$name"
    done
}

# race NAME: wc -w and twinsift pairs by turns, so that both meet the same neighbours.
race()
{
    for ((run = 0; run < runs; run++)); do
        timed wc -w "$corpus"
        keep_best "$1.wc"
        timed "${pairs[@]}" --threads "$threads" "$corpus"
        keep_best "$1.pairs"
    done
}

# ---- telling

# tell_race NAME DOCUMENTS
tell_race()
{
    local wc_wall=${best[$1.wc.wall]} wc_cpu=${best[$1.wc.cpu]} wall=${best[$1.pairs.wall]} cpu=${best[$1.pairs.cpu]}
    tell "$2 documents: wc -w" "$wc_wall" s
    tell "$2 documents: pairs, $threads threads" "$wall" s
    tell "$2 documents: pairs / wc -w" "$(calc "$wall / $wc_wall")" "" 1.0
    tell "$2 documents: pairs / wc -w, CPU time over $threads threads" "$(calc "$cpu / $threads / $wc_cpu")" ""
}

# tell_growth WHAT FEW MANY: how much longer ten times the documents took.
tell_growth()
{
    tell "$1: x10 documents, x time" "$(calc "${best[$3.wall]} / ${best[$2.wall]}")" "" 11
    tell "$1: x10 documents, x CPU time" "$(calc "${best[$3.cpu]} / ${best[$2.cpu]}")" ""
}

locale=$(locale 2> /dev/null | sed -n 's/^LC_CTYPE="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p')
begin_table "wc in locale $locale; best of $runs"
echo "corpora of up to $((needed_mb / 1000)).$((needed_mb / 100 % 10)) GB in $scratch, which has $free_mb MB free"
echo

# Ordinary documents of 2 KB, one in five a copy, one in ten with a footer.
make_corpus --docs "$small"
race small
tell_race small "$small"
make_corpus --docs "$large"
race large
peak=$(number peak_bytes)
tell_race large "$large"
tell_growth "2-KB documents, $small to $large" small.pairs large.pairs
tell "$large documents: peak memory a document" "$(calc "$peak / $large")" bytes 1024

# Hard cases: boilerplate makes many documents a little alike, one text makes all of them the same.
make_corpus --docs "$small" --footers 20:1.0
time_pairs footers.few --threads "$threads"
make_corpus --docs "$large" --footers 20:1.0
time_pairs footers.many --threads "$threads"
tell "$large documents, each with one of 20 footers" "${best[footers.many.wall]}" s
tell_growth "one of 20 footers each, $small to $large" footers.few footers.many
make_corpus --docs 10000 --same 10000
time_pairs same.few --threads "$threads"
make_corpus --docs 100000 --same 100000
time_pairs same.many --threads "$threads"
tell "100000 documents of one text" "${best[same.many.wall]}" s
tell_growth "one text, 10000 to 100000" same.few same.many

# The job that document B of the theory timed: 1,017 s with OpenMP and ten threads.
make_corpus --docs 1000 --bytes 10000
for who in serial:1 pthreads:1 pthreads:2 openmp:1 openmp:2; do
    time_pairs "$who" --executor "${who%:*}" --threads "${who#*:}" --sketch classic --shingle char:9 --hashes 200 \
        --rows 5 --buckets 5000
    tell "B's job, ${who%:*}, ${who#*:} threads" "${best[$who.wall]}" s
    tell "B's job, ${who%:*}, ${who#*:} threads: CPU time" "${best[$who.cpu]}" s
done
for who in pthreads:2 openmp:2; do
    tell "B's job, ${who%:*}, 2 threads: speed-up over serial" "$(calc "${best[serial:1.wall]} / ${best[$who.wall]}")" ""
done
end_table

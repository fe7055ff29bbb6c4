#!/usr/bin/env bash
# Names of a base that are within two edits of a misspelt one: twinsift compared with rapidfuzz
# (https://github.com/rapidfuzz/RapidFuzz) and symspellpy (https://github.com/mammothb/symspellpy), one thread each.
#
#   bench/peers/edit_search.sh [FOLDER OF TWINSIFT]      default: build/release
#
# The packages, and lists of names (`names`), are installed from PyPI into a scratch folder, BENCH_SCRATCH or a temporary
# one; without network this says so and ends. The base are full names, each once, drawn by the frequencies of their parts;
# queries are names of the base with two edits at random places. Times are CPU seconds of the whole process less those of a
# run without queries, so that loading, printing and starting do not count. All must give the same answers.
# shellcheck source=bench/peers/frame.bash
. "$(dirname "$0")/frame.bash"
twinsift=$build/twinsift
install rapidfuzz symspellpy editdistpy names

# cpu NAME COMMAND...: runs it with its output in NAME.out; CPU seconds and peak MB into NAME_seconds and NAME_mb.
cpu()
{
    local name=$1 usage
    shift
    /usr/bin/time -o usage -f '%U %S %M' "$@" > "$name.out"
    usage=$(tail -1 usage)
    printf -v "${name}_seconds" '%s' "$(awk '{ print $1 + $2 }' <<< "$usage")"
    printf -v "${name}_mb" '%s' "$(awk '{ printf "%.0f", $3 / 1000 }' <<< "$usage")"
}

# row TOOL NAME QUERIES LOADING: a line of the table, of the runs NAME and NAME0, which had no query.
row()
{
    local seconds="${2}_seconds" none="${2}0_seconds" mb="${2}_mb"
    echo "| $1 | $4 | ${!mb} |" \
        "$(awk -v a="${!seconds}" -v b="${!none}" -v n="$3" 'BEGIN { s = a - b > .005 ? a - b : .005; printf "%.3f | %.0f", 1000 * s / n, n / s }') |" \
        "$(LC_ALL=C sort "$2.out" | md5sum | cut -c 1-8) |"
}

for count in ${BENCH_NAMES:-100000 1000000}; do
    asked=${BENCH_QUERIES:-1000} few=20
    venv/bin/python "$here/edit_search.py" make "$count" "$asked" base.txt asked.txt
    head -n "$few" asked.txt > few.txt
    : > none.txt
    echo
    echo "$count names, within two edits:"
    echo
    echo "| tool | load, CPU s | peak MB | ms per query | queries per second | answers |"
    echo "| --- | ---: | ---: | ---: | ---: | --- |"

    rm -f names.twin names.twin-lock
    "$twinsift" index create names.twin --measure edit --max-edits 2 --hashes "${BENCH_HASHES:-4}" --seed 1
    cpu load "$twinsift" index add --quiet --threads 1 names.twin --as lines base.txt
    # shellcheck disable=SC2154 # set by cpu
    loading=$load_seconds
    for queries in none asked few; do
        cpu "index_$queries" "$twinsift" index query --quiet --threads 1 names.twin --as lines "$queries.txt" || true
        sed -i 's/base.txt://; s/\t[0-9.]*$//' "index_$queries.out"
        cpu "pairs_$queries" "$twinsift" pairs --quiet --threads 1 --as lines --measure edit --max-edits 2 --copies all \
            "$queries.txt" --against base.txt
        sed -i 's/\t[0-9.]*$//' "pairs_$queries.out"
    done
    cp index_few.out index_all.out
    index0_seconds=$index_none_seconds pairs0_seconds=$pairs_none_seconds
    index_seconds=$index_asked_seconds index_mb=$index_asked_mb pairs_seconds=$pairs_asked_seconds pairs_mb=$pairs_asked_mb
    cp index_asked.out index.out
    cp pairs_asked.out pairs.out
    row "twinsift index query" index "$asked" "$loading"
    row "twinsift pairs --against" pairs "$asked" "$pairs_none_seconds"
    if [ "$count" -le "${BENCH_SYMSPELL:-200000}" ]; then
        for queries in none asked; do
            cpu "symspell_$queries" venv/bin/python "$here/edit_search.py" symspell base.txt "$queries.txt"
        done
        symspell0_seconds=$symspell_none_seconds symspell_seconds=$symspell_asked_seconds symspell_mb=$symspell_asked_mb
        cp symspell_asked.out symspell.out
        row symspellpy symspell "$asked" "$symspell_none_seconds"
    fi
    for queries in none few; do
        cpu "rapidfuzz_$queries" venv/bin/python "$here/edit_search.py" rapidfuzz base.txt "$queries.txt"
    done
    # shellcheck disable=SC2034 # read by row
    rapidfuzz0_seconds=$rapidfuzz_none_seconds rapidfuzz_seconds=$rapidfuzz_few_seconds rapidfuzz_mb=$rapidfuzz_few_mb
    cp rapidfuzz_few.out rapidfuzz.out
    row "rapidfuzz process.extract" rapidfuzz "$few" "$rapidfuzz_none_seconds"
    echo
    echo "The first $few queries: answers of twinsift $(LC_ALL=C sort index_all.out | md5sum | cut -c 1-8), of" \
        "rapidfuzz $(LC_ALL=C sort rapidfuzz.out | md5sum | cut -c 1-8)."
done

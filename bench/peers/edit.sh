#!/usr/bin/env bash
# Short strings by edit distance: twinsift compared with rapidfuzz (https://github.com/rapidfuzz/RapidFuzz), one thread each.
#
#   bench/peers/edit.sh [FOLDER OF TWINSIFT]      default: build/release
#
# rapidfuzz, numpy and a list of 88,799 surnames (the package `names`) are installed from PyPI into a scratch folder,
# BENCH_SCRATCH or a temporary one; without network this says so and ends. CPU seconds and peak memory are those of the
# whole process, interpreter and printing included. Both must find the same number of pairs.
#
# The ratio of --measure edit is rapidfuzz's fuzz.ratio / 100 and its Indel.normalized_similarity. It is not its
# Levenshtein.normalized_similarity, which is 1 - edits / length of the longer text.
# shellcheck source=bench/peers/frame.bash
. "$(dirname "$0")/frame.bash"
twinsift=$build/twinsift
install rapidfuzz numpy names
venv/bin/python "$here/edit_rapidfuzz.py" names > names.txt

# jsonl COUNT: that many of the names, spread over the list, as JSON lines.
jsonl()
{
    awk -v want="$1" -v have="$(wc -l < names.txt)" \
        'int(NR * want / have) > int((NR - 1) * want / have) { printf "{\"id\":%d,\"text\":\"%s\"}\n", NR, $0 }' names.txt
}

# measure NAME COMMAND...: CPU seconds, peak MB and pairs, into NAME_seconds, NAME_mb and NAME_pairs.
measure()
{
    local name=$1
    shift
    local pairs usage
    pairs=$({ /usr/bin/time -o usage -f '%U %S %M' "$@" | wc -l; })
    usage=$(tail -1 usage)
    printf -v "${name}_pairs" '%s' "$pairs"
    printf -v "${name}_seconds" '%s' "$(awk '{ printf "%.2f", $1 + $2 }' <<< "$usage")"
    printf -v "${name}_mb" '%s' "$(awk '{ printf "%.0f", $3 / 1000 }' <<< "$usage")"
}

echo "| names | within | pairs | twinsift, CPU s | MB | rapidfuzz, CPU s | MB | times as fast |"
echo "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
for count in ${BENCH_NAMES:-10000 88799}; do
    jsonl "$count" > names.jsonl
    for job in ${BENCH_JOBS:-edits=1 edits=2 edits=3 ratio=0.85 ratio=0.9}; do
        limit=${job#*=}
        option=--max-edits
        [ "${job%=*}" = edits ] || option=--threshold
        measure ours "$twinsift" pairs --quiet --threads 1 --measure edit "$option" "$limit" names.jsonl
        measure theirs venv/bin/python "$here/edit_rapidfuzz.py" "${job%=*}" "$limit" names.jsonl
        # shellcheck disable=SC2154 # set by measure
        echo "| $count | $job | $ours_pairs | $ours_seconds | $ours_mb | $theirs_seconds | $theirs_mb |" \
            "$(awk -v a="$ours_seconds" -v b="$theirs_seconds" 'BEGIN { printf "%.1f", b / (a > 0 ? a : 0.01) }') |"
        [ "$ours_pairs" = "$theirs_pairs" ] || echo "edit.sh: $job: $ours_pairs pairs and $theirs_pairs" >&2
    done
done

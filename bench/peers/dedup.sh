#!/usr/bin/env bash
# Near-duplicates of generated documents: twinsift compared with other tools on the same file. Prints a Markdown table per
# number of documents and shingle rule: time, CPU time and memory of the whole process, pairs found and documents removed
# compared with the exhaustive comparison of exact_pairs.
#
#   bench/peers/dedup.sh [FOLDER OF TWINSIFT]      default: build/release
#
# The tools are installed from PyPI into the scratch folder (2.5 GB, five minutes; kept if BENCH_SCRATCH names it), each
# group in an environment of its own. One that cannot be installed is named and left out. bench/README.md has the results
# and says which tools are not here and why.
#
#     BENCH_SCRATCH=DIR     the scratch folder (a temporary one)
#     BENCH_JOBS="..."      the tables: DOCUMENTS/RULE (10000/word:5 10000/char:9 100000/word:5)
#     BENCH_TOOLS="..."     only these packages, for example "gaoya daft"
#     BENCH_LIMIT=SECONDS   a tool that takes longer is stopped (120)
# shellcheck source=bench/peers/frame.bash
. "$(dirname "$0")/frame.bash"

# environment NAME PACKAGE...: a folder for these packages, each installed unless it is there.
environment()
{
    local name=$1 package
    shift
    if [ ! -x "$name/bin/python" ] && ! python3 -m venv "$name"; then
        echo "dedup.sh: python3 with venv is needed; nothing was compared" >&2
        exit 0
    fi
    for package; do
        "$name/bin/python" -m pip show --quiet "${package%%[*}" 2> /dev/null ||
            timeout 600 "$name/bin/python" -m pip install --quiet --disable-pip-version-check "$package" > "$name/pip.txt" 2>&1 ||
            echo "dedup.sh: $package cannot be installed: $(tail -n 1 "$name/pip.txt")" >&2
    done
}

environment small datasketch rensa gaoya FastSketchLSH fastrustrag daft simhash
environment text-dedup text-dedup
environment data-juicer py-data-juicer aiohttp
environment datatrove 'datatrove[processing,io]' spacy

for job in ${BENCH_JOBS:-10000/word:5 10000/char:9 100000/word:5}; do
    count=${job%/*}
    # shellcheck source=bench/timing.bash
    . "$here/../timing.bash" # for the kinds of documents
    mixed "$count"
    "$build/twinsift-generate" --seed 1 "${mixed[@]}" | python3 "$here/dedup.py" words > corpus.jsonl
    rule=${job#*/}
    "$build/exact_pairs" corpus.jsonl "${rule%:*}" "${rule#*:}" 0.8 > truth.tsv
    python3 "$here/dedup.py" compare "$build" "$rule" "${BENCH_LIMIT:-120}"
done
rm -f corpus.jsonl truth.tsv kept.jsonl

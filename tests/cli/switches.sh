#!/usr/bin/env bash
# The join without each of its mechanisms, and without all (tests/join/switches.c), against an exhaustive comparison: generated
# English with families and forms, templates on both sides of the thresholds, forms, phrases, two letters; and where
# $TWINSIFT_DATA has them, articles of Reuters-21578 and bodies of trec07p.
set -euo pipefail
: "${TWINSIFT_GENERATE:?}" "${TWINSIFT_EXACT_PAIRS:?}" "${TWINSIFT_SWITCHES:?}"
tests=$(cd "${BASH_SOURCE%/*}/.." && pwd)

documents=200 thresholds=(0.3 0.5 0.65 0.8 0.95)
if [ -n "${TWINSIFT_QUICK-}" ]; then
    documents=120 thresholds=(0.3 0.65 0.8)
fi

# numbered: lines of JSON with their numbers as ids.
numbered()
{
    awk '{ sub(/"id": *"?[^",]*"?/, "\"id\": \"" NR - 1 "\""); sub(/"text": */, "\"text\": "); print }'
}

# drawn FAMILY: documents as bench/crowds.sh has them, of word shingles.
drawn()
{
    awk -v family="$1" -v count="$documents" '
        function words(n,    text) { while (n-- > 0) text = text " w" int(rand() * 1000000); return text }
        BEGIN {
            srand(7)
            for (i = 0; i < 3; i++) template[i] = words(150)
            for (i = 0; i < 60; i++) phrase[i] = words(8)
            for (i = 0; i < count; i++) {
                text = ""
                if (family == "templates") # J from 0.4 to 0.98
                    text = template[i % 3] words(2 + int(rand() * 10) * (i % 3 + 1) * 3)
                else if (family == "near the threshold") # a text and its changed place: J = 0.8, and what is closer
                    text = template[0] words(rand() < 0.2 ? 8 : 18 + int(rand() * 3))
                else if (family == "form")
                    for (k = 0; k < 60; k++) text = text " " (rand() < 0.1 ? "v" int(rand() * 1000) : "f" k)
                else if (family == "phrases")
                    for (k = 0; k < 6; k++) text = text phrase[int(rand() * 60)]
                else
                    for (k = 0; k < 120; k++) text = text substr(" a b", 1 + 2 * int(rand() * 2), 2)
                printf "{\"id\": \"%d\", \"text\": \"%s\"}\n", i, text
            }
        }'
}

# try FILE KIND WIDTH [MEASURE]
try()
{
    local file=$1 kind=$2 width=$3 measure=${4:-jaccard} threshold
    for threshold in "${thresholds[@]}"; do
        # shellcheck disable=SC2046
        "$TWINSIFT_EXACT_PAIRS" "$file" "$kind" "$width" "$threshold" $([ "$measure" = jaccard ] || echo "$measure") > pairs.tsv
        printf '%s: ' "$file"
        "$TWINSIFT_SWITCHES" "$file" "$kind:$width" "$measure" "$threshold" < pairs.tsv
    done
}

"$TWINSIFT_GENERATE" --docs $((3 * documents)) --bytes 800 --seed 7 --copies 0.3 --edits --footers 5:0.4 --same 10 \
    --families 2:$((documents / 2)) --forms 2:$((documents / 2)) --short 20 | numbered > generated.jsonl
try generated.jsonl word 3
for family in "templates" "near the threshold" "form" "phrases" "letters"; do
    drawn "$family" > "${family// /_}.jsonl"
done
try templates.jsonl word 1
try near_the_threshold.jsonl word 1
try form.jsonl word 1
try phrases.jsonl word 2
try letters.jsonl word 5

if [ -f "${TWINSIFT_DATA-}/reuters21578/reut2-000.sgm" ]; then
    LC_ALL=C tr -d '\200-\377' < "$TWINSIFT_DATA/reuters21578/reut2-000.sgm" |
        LC_ALL=C awk -f "$tests/reuters_jsonl.awk" | numbered > reuters.jsonl
    try reuters.jsonl word 3
fi
if [ -d "${TWINSIFT_DATA-}/trec07p-25k/data" ]; then
    mkdir some
    find "$TWINSIFT_DATA/trec07p-25k/data" -type f | LC_ALL=C sort | awk 'NR <= 800' | xargs ln -s -t some
    python3 "$tests/bodies_jsonl.py" some | LC_ALL=C tr -d '\200-\377' | numbered > bodies.jsonl
    try bodies.jsonl word 3
fi

thresholds=(0.5 0.8)
try generated.jsonl word 3 containment
try templates.jsonl word 1 containment
try phrases.jsonl word 2 containment

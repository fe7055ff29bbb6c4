#!/usr/bin/env bash
# The program on real data with known answers, found in $TWINSIFT_DATA: articles with planted near-duplicates, users of
# MovieLens who rated the same films, and what docs/dedup.md says of Reuters-21578.
set -euo pipefail

if [ -z "${TWINSIFT_DATA-}" ]; then
    echo "skipped: TWINSIFT_DATA is not set (ml-100k, near-duplicates, reuters21578)"
    exit 77
fi

fail()
{
    echo "data: $1" >&2
    exit 1
}

# unordered: pairs `id id …`, blanks between, the smaller id first, sorted.
unordered()
{
    awk '{ if ($1 > $2) { t = $1; $1 = $2; $2 = t } $1 = $1; print }' | LC_ALL=C sort
}

# Lines `id text` become JSON lines; the planted pairs, and no others, are similar.
articles=$TWINSIFT_DATA/near-duplicates/articles
checked=0
if [ -d "$articles" ]; then
    for number in 100 1000 2500; do
        sed -E 's/\\/\\\\/g; s/"/\\"/g; s/^([^ ]+) (.*)$/{"id":"\1","text":"\2"}/' "$articles/articles_$number.train" \
            > articles.jsonl
        "$TWINSIFT" pairs --quiet --shingle word:3 --threshold 0.8 --strict articles.jsonl | cut -f 1,2 | unordered \
            > found.txt
        unordered < "$articles/articles_$number.truth" > planted.txt
        [ "$(wc -l < articles.jsonl)" -eq "$number" ] || fail "articles_$number: not $number articles"
        diff planted.txt found.txt >&2 || fail "articles_$number: not the planted pairs"
    done
    checked=1
else
    echo "skipped: near-duplicates is not in $TWINSIFT_DATA"
fi

# Who comes first in a pair follows from the file, which is in no order.
ratings=$TWINSIFT_DATA/ml-100k/u.data
if [ -f "$ratings" ]; then
    "$TWINSIFT" pairs --quiet --sets --threshold 0.6 "$ratings" | unordered > found.txt
    printf '%s\n' "328 788 0.6730" "408 898 0.8387" "489 587 0.6299" > true.txt
    diff true.txt found.txt >&2 || fail "ml-100k: not the three pairs"
    checked=1
else
    echo "skipped: ml-100k is not in $TWINSIFT_DATA"
fi

# Each row was compared with an exhaustive search when it was written.
reuters=$TWINSIFT_DATA/reuters21578 tests=$(cd "${BASH_SOURCE%/*}/.." && pwd)
if [ -f "$reuters/reut2-000.sgm" ]; then
    cat "$reuters"/reut2-*.sgm | LC_ALL=C tr -d '\200-\377' | LC_ALL=C awk -f "$tests/reuters_jsonl.awk" > reuters.jsonl
    rows=('0.5' '0.8' '0.5, `--chain`')
    [ -z "${TWINSIFT_SANITIZED-}" ] || rows=('0.8') # they take ten times as long
    for row in "${rows[@]}"; do
        read -r -a options <<< "$(tr -d ',`' <<< "--threshold $row")"
        counts=$("$TWINSIFT" dedup --dry-run --stats "${options[@]}" reuters.jsonl 2>&1 |
            sed -E 's/.*"kept":(..)(...),"exact_copies":([0-9]+),"near_copies":([0-9]+),.*"groups":([0-9]+).*/\3 | \4 | \1,\2 | \5/')
        grep -qF "| $row | $counts |" "$tests/../docs/dedup.md" || fail "Reuters at $row: $counts, not as in docs/dedup.md"
    done
    checked=1
else
    echo "skipped: reuters21578 is not in $TWINSIFT_DATA"
fi
[ "$checked" = 1 ] || exit 77

#!/usr/bin/env bash
# twinsift pairs --measure edit on the 19,043 bodies of Reuters-21578, found in $TWINSIFT_DATA, against an exhaustive
# comparison: every printed pair is true, and at least 99 of 100 true pairs are printed.
set -euo pipefail

if [ -n "${TWINSIFT_QUICK-}" ]; then
    echo "skipped: only the plain build compares all of reuters21578"
    exit 77
fi
articles=${TWINSIFT_DATA-}/reuters21578
if [ -z "${TWINSIFT_DATA-}" ] || [ ! -f "$articles/reut2-000.sgm" ]; then
    echo "skipped: reuters21578 is not in TWINSIFT_DATA"
    exit 77
fi

fail()
{
    echo "edit_data: $1" >&2
    exit 1
}

cat "$articles"/reut2-*.sgm | LC_ALL=C tr -d '\200-\377' |
    LC_ALL=C awk -f "$TWINSIFT_ROOT/tests/reuters_jsonl.awk" > reuters.jsonl
[ "$(wc -l < reuters.jsonl)" -eq 19043 ] || fail "not 19,043 bodies"

for ratio in 0.95 0.99; do
    "$TWINSIFT_EXACT_EDIT_PAIRS" reuters.jsonl "$ratio" | LC_ALL=C sort > true.sorted
    "$TWINSIFT" pairs --quiet --strict --measure edit --threshold "$ratio" --copies all reuters.jsonl |
        LC_ALL=C sort > found.sorted
    LC_ALL=C comm -13 true.sorted found.sorted > wrong.tsv
    LC_ALL=C comm -12 true.sorted found.sorted > right.tsv
    true=$(wc -l < true.sorted) right=$(wc -l < right.tsv)
    [ ! -s wrong.tsv ] || fail "$ratio: printed but not true: $(head -1 wrong.tsv)"
    [ $((100 * right)) -ge $((99 * true)) ] || fail "$ratio: found $right of $true, less than 0.99"
    echo "$ratio: found $right of $true pairs"
done
[ "$true" -ge 400 ] || fail "only $true pairs at 0.99"

#!/usr/bin/env bash
# The program against the truth: on a generated corpus with planted copies of every similarity, boilerplate, families,
# forms that differ in a few numbers, short and long documents, every executor reports the pairs that an exhaustive comparison finds.
set -euo pipefail
# shellcheck source=tests/cli/executors.bash
. "${BASH_SOURCE%/*}/executors.bash"

# The corpus: smaller in all builds but the plain one.
documents=3000 families=20:15 forms=10:15 least=300 between=100
if [ -n "${TWINSIFT_QUICK-}" ]; then
    documents=600 families=5:12 forms=4:10 least=60 between=20
fi
"$TWINSIFT_GENERATE" --docs "$documents" --bytes 1500 --seed 7 --copies 0.4 --edits --footers 20:0.5 --families "$families" \
    --forms "$forms" --short 30 --long 2:20000 > corpus.jsonl

fail()
{
    echo "truth: $1" >&2
    exit 1
}

# check KIND WIDTH: recall and precision at threshold 0.8.
check()
{
    local rule=$1:$2 true lower found right
    "$TWINSIFT_EXACT_PAIRS" corpus.jsonl "$1" "$2" 0.8 > true.tsv
    "$TWINSIFT_EXACT_PAIRS" corpus.jsonl "$1" "$2" 0.6 > lower.tsv
    "$TWINSIFT" pairs --quiet --shingle "$rule" --threshold 0.8 --copies all corpus.jsonl > found.tsv

    # A corpus without enough pairs on either side of the threshold would show nothing.
    true=$(wc -l < true.tsv) lower=$(wc -l < lower.tsv) found=$(wc -l < found.tsv)
    [ "$true" -ge "$least" ] || fail "$rule: only $true pairs at 0.8 or more to find"
    [ $((lower - true)) -ge "$between" ] || fail "$rule: only $((lower - true)) pairs from 0.6 to 0.8 to leave out"

    # Equal lines: same ids in the same order, same similarity to four decimals.
    LC_ALL=C sort true.tsv > true.sorted
    LC_ALL=C sort found.tsv > found.sorted
    LC_ALL=C comm -13 true.sorted found.sorted > wrong.tsv
    LC_ALL=C comm -12 true.sorted found.sorted > right.tsv
    right=$(wc -l < right.tsv)
    [ ! -s wrong.tsv ] || fail "$rule: printed but not true: $(head -1 wrong.tsv)"
    [ $((1000 * (true - right))) -le "$true" ] || fail "$rule: found $right of $true, less than 0.999"
    LC_ALL=C comm -23 true.sorted found.sorted > missed.tsv
    grep -vxFf missed.tsv true.tsv | cmp -s - found.tsv || fail "$rule: not in the order of the input"
    echo "$rule: found $right of $true pairs, left out $((lower - true)) from 0.6 to 0.8"
}

check word 5
check char 9

same_by_all "$TWINSIFT" pairs --quiet --threshold 0.7 corpus.jsonl

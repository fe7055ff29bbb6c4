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

# ---- other thresholds, and what follows from the pairs

# kept_by_pairs CHAIN: the ids that are kept, by the pairs alone: a document is kept unless one before it that is kept is similar;
# or with chains, unless any before it is connected.
kept_by_pairs()
{
    awk -F '\t' -v chain="$1" '
        function root(x) { while (parent[x] != x) x = parent[x] = parent[parent[x]]; return x }
        FILENAME == ARGV[1] { id[FNR] = $1; parent[$1] = $1; place[$1] = FNR; count = FNR; next }
        chain { a = root($1); b = root($2); if (place[a] < place[b]) parent[b] = a; else if (a != b) parent[a] = b; next }
        place[$1] < place[$2] { earlier[$2] = earlier[$2] " " $1; next }
        { earlier[$1] = earlier[$1] " " $2 }
        END {
            for (i = 1; i <= count; i++) {
                dropped[i] = chain ? root(id[i]) != id[i] : 0
                n = split(earlier[id[i]], list, " ")
                for (k = 1; k <= n && !chain; k++)
                    dropped[i] = dropped[i] || !dropped[place[list[k]]]
                if (!dropped[i]) print id[i]
            }
        }' ids.txt found.tsv
}

sed 's/^{"id": "\([^"]*\)".*/\1/' corpus.jsonl > ids.txt
# follow MEASURE LEAST: so many of a thousand of the pairs are found, at several thresholds, and dedup keeps what follows from
# those.
follow()
{
    local measure=$1 least=$2 threshold true right chain options
    for threshold in 0.3 0.5 0.65 0.8 0.95; do
        options=(--quiet --shingle word:5 --measure "$measure" --threshold "$threshold")
        # shellcheck disable=SC2046
        "$TWINSIFT_EXACT_PAIRS" corpus.jsonl word 5 "$threshold" $([ "$measure" = jaccard ] || echo "$measure") |
            LC_ALL=C sort > true.sorted
        "$TWINSIFT" pairs "${options[@]}" --copies all corpus.jsonl > found.tsv
        LC_ALL=C sort found.tsv > found.sorted
        true=$(wc -l < true.sorted) right=$(LC_ALL=C comm -12 true.sorted found.sorted | wc -l)
        [ "$right" = "$(wc -l < found.sorted)" ] || fail "$measure $threshold: printed but not true"
        [ $((1000 * right)) -ge $((least * true)) ] || fail "$measure $threshold: found $right of $true"
        for chain in "" --chain; do
            # shellcheck disable=SC2086
            "$TWINSIFT" dedup "${options[@]}" $chain corpus.jsonl | sed 's/^{"id": "\([^"]*\)".*/\1/' > kept.txt
            kept_by_pairs "$chain" | cmp -s - kept.txt ||
                fail "$measure $threshold $chain: kept is not what follows from the pairs"
        done
        echo "$measure $threshold: found $right of $true pairs; dedup keeps what follows from them"
    done
}
follow jaccard 998
follow containment 1000

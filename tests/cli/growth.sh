#!/usr/bin/env bash
# Twice the documents take about twice the work, at every threshold: pairs that were looked at and pairs that were
# compared are counted, since times differ from machine to machine. A square would be four times as many.
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
: "${TWINSIFT_GENERATE:?}"

# count NAME: a number of the last run's statistics.
count() { sed -nE 's/.*"'"$1"'":([0-9]+).*/\1/p' err; }

# grows THRESHOLD MOST: with twice the documents less than MOST hundredths of the work. Similar pairs beyond twice as many
# pay for themselves, since they are printed.
grows()
{
    local threshold=$1 most=$2 i work=() found=()
    for i in 1 2; do
        run 0 pairs --threshold "$threshold" --stats --json --quiet "mixed.$i.jsonl"
        work[i]=$(($(count candidates) + $(count verified))) found[i]=$(count similar)
    done
    echo "threshold $threshold: ${work[1]} and ${work[2]} pairs looked at, ${found[1]} and ${found[2]} similar"
    [ "${found[1]}" -gt 0 ] || fail "threshold $threshold: nothing is similar"
    [ $((work[2] * 100)) -lt $((work[1] * most + (found[2] - 2 * found[1]) * 100)) ] ||
        fail "threshold $threshold: twice the documents take more than $most hundredths of the work"
}

for i in 1 2; do
    n=$((4000 * i))
    "$TWINSIFT_GENERATE" --docs $n --bytes 800 --same $((n / 50)) --families $((n / 500)):50 --forms $((n / 1000)):100 \
        --short $((n / 50)) >"mixed.$i.jsonl"
done
for threshold in 0.2 0.3 0.5 0.65 0.8 0.95; do
    grows $threshold 250
done

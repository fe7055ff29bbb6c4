#!/usr/bin/env bash
# Times twinsift mail on one thread beside bogofilter, where that is installed, by turns on the same messages: learning one half
# in bulk and checking the other; judging and learning each in turn; one check by a process of its own; the size of
# the model. Needs trec07p in $TWINSIFT_DATA. Prints a table and writes it to build/bench/mail.tsv.
#
#     BENCH_QUICK=1     ten times fewer messages
#     BENCH_RUNS=N      the best of N runs (3)
#     BENCH_SCRATCH=DIR the folder for models (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/mail.tsv
runs=${BENCH_RUNS:-3}
messages=10000
[ -z "${BENCH_QUICK-}" ] || messages=1000
index=${TWINSIFT_DATA:-none}/trec07p-25k/full/index
[ -e "$index" ] || { echo 'skipped: trec07p is not in $TWINSIFT_DATA'; exit 0; }
need_room 200
model=$scratch/mail.twin words=$scratch/bogofilter lists=$scratch/mail-lists
trap 'rm -rf "$model" "$model-lock" "$words" "$lists" "$noise" "$clock"' EXIT
mkdir -p "$lists"

# list NAME FROM TO [LABEL]: writes the paths of these lines of the index.
list()
{
    awk -v folder="$(dirname "$index")/" -v from="$2" -v to="$3" -v label="${4-}" \
        'NR >= from && NR <= to && (label == "" || $1 == label) { print folder $2 }' "$index" > "$lists/$1"
}
half=$((messages / 2))
list spam 1 $half spam
list ham 1 $half ham
list rest $((half + 1)) "$messages"
xargs cat < "$lists/rest" > /dev/null

learn_ours()
{
    rm -f "$model" "$model-lock"
    xargs -n 100000 -s 2000000 "$program" mail learn -q -m "$model" --as spam < "$lists/spam"
    xargs -n 100000 -s 2000000 "$program" mail learn -q -m "$model" --as ham < "$lists/ham"
}
check_ours()
{
    xargs -n 100000 -s 2000000 "$program" mail check -q --bulk --threads 1 -m "$model" < "$lists/rest"
}
turns_ours()
{
    "$program" mail eval -q --trec "$index" --messages "$messages"
}
one_ours()
{
    "$program" mail check -q --bulk -m "$model" "$one"
}
learn_bogofilter()
{
    rm -rf "$words" && mkdir "$words"
    bogofilter -d "$words" -s -b < "$lists/spam" && bogofilter -d "$words" -n -b < "$lists/ham"
}
check_bogofilter()
{
    bogofilter -d "$words" -T -b < "$lists/rest"
}

one=$(head -n 1 "$lists/rest")
steps=(learn_ours check_ours turns_ours one_ours)
! command -v bogofilter > /dev/null || steps+=(learn_bogofilter check_bogofilter)
for ((run = 0; run < runs; run++)); do
    for step in "${steps[@]}"; do
        timed "$step"
        keep_best "$step"
    done
done

begin_table "the best of $runs runs, CPU time of one thread"
report "judge and learn $messages messages in turn, from raw bytes" \
    "$(calc "$messages / ${best[turns_ours.cpu]}")" /s +4000
report "learn $half, check $half others, in bulk" \
    "$(calc "$half / (${best[learn_ours.cpu]} + ${best[check_ours.cpu]})")" /s
if [ -n "${best[learn_bogofilter.cpu]-}" ]; then
    theirs=$(calc "${best[learn_bogofilter.cpu]} + ${best[check_bogofilter.cpu]}")
    report "bogofilter: learn $half, check $half others, in bulk" "$(calc "$half / $theirs")" /s
    report "  its time over ours" \
        "$(calc "$theirs / (${best[learn_ours.cpu]} + ${best[check_ours.cpu]})")" "" +2
    report "  its time over that of judging and learning in turn, per message" \
        "$(calc "$theirs / $half / (${best[turns_ours.cpu]} / $messages)")" "" +2
else
    echo 'bogofilter is not installed: not compared'
fi
report "one check by a process of its own, model of $half messages" "$(calc "1000 * ${best[one_ours.cpu]}")" ms 20
report "the model" "$(calc "$(stat -c %s "$model") / 1e6")" MB
end_table

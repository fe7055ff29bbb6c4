#!/usr/bin/env bash
# Times twinsift mail on one thread beside bogofilter, where that is installed, by turns on the same messages: judging and
# learning each in turn; learning one half in bulk and checking the other; the content evidence alone. Then learns all mail in
# $TWINSIFT_DATA (trec07p, which is needed, Enron-Spam, the SpamAssassin corpus, Enron) for the size of a model of 75,000
# messages, and messages mixed of these for the time of one check by a process of its own with 100,000. Prints a table
# and writes it to build/bench/mail.tsv. Takes a minute and a half.
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
need_room 600
model=$scratch/mail.twin words=$scratch/bogofilter lists=$scratch/mail-lists large=$scratch/mail-large.twin
trap 'rm -rf "$model" "$model-lock" "$large" "$large-lock" "$words" "$lists" "$noise" "$clock"' EXIT
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
content_ours()
{
    build/release/bench_mail "$index"
}
one_ours()
{
    "$program" mail check -q -m "$large" "$one" || [ $? -le 2 ]
}
learn_bogofilter()
{
    rm -rf "$words" && mkdir "$words"
    bogofilter -d "$words" -s -b < "$lists/spam" && bogofilter -d "$words" -n -b < "$lists/ham"
}
check_bogofilter()
{
    bogofilter -d "$words" -T -b < "$lists/rest" || [ $? -le 2 ] # spam, ham and unsure are statuses
}

# ---- a large model

# learn_list LABEL: learns the paths on standard input.
learn_list()
{
    xargs -r -d '\n' -n 100000 -s 2000000 "$program" mail learn -q -m "$large" --as "$1" 2> "$noise"
}

# mix LABEL: writes an mbox of new messages: the headers of each message of the index and the text of the one before it.
mix()
{
    awk -v folder="$(dirname "$index")/" -v label="$1" '$1 == label { print folder $2 }' "$index" | xargs -d '\n' -n 2000 awk '
        FNR == 1 { print "From mixed@example.org Thu Jan  1 00:00:00 1970"; body = before; before = ""; head = 1 }
        FNR == 1 && /^From / { next }
        head && /^\r?$/ { head = 0; printf "\n%s\nmixed\n\n", body }
        head { print; next }
        length(before) < 20000 { sub(/^From /, ">From "); before = before $0 "\n" }'
}

# Learns what there is, folder by folder, and sets learnt.
learn_large()
{
    local folder label
    rm -f "$large" "$large-lock"
    for label in spam ham; do
        awk -v folder="$(dirname "$index")/" -v label=$label '$1 == label { print folder $2 }' "$index" | learn_list $label
    done
    for folder in "$TWINSIFT_DATA"/enron-spam/*/spam "$TWINSIFT_DATA"/enron-spam/*/ham "$TWINSIFT_DATA"/spamassassin/*spam* \
        "$TWINSIFT_DATA"/spamassassin/*ham* "$TWINSIFT_DATA"/enron-raw-ham; do
        label=ham
        case ${folder#"$TWINSIFT_DATA"/enron-spam} in */spam*) label=spam ;; esac
        [ ! -e "$folder" ] || find "$folder" -type f | sort | learn_list $label
    done
}
count_large()
{
    "$program" mail info --json -m "$large" > "$lists/info"
    learnt=$(sed -E 's/^."file":"[^"]*","messages":([0-9]+).*/\1/; q' "$lists/info")
}

# part NAME: the bytes of a part of the large model.
part()
{
    sed -nE "s/.*\"bytes\":\{[^}]*\"$1\":([0-9]+).*/\1/p" "$lists/info"
}

# ---- measuring

one=$(head -n 1 "$lists/rest")
steps=(learn_ours check_ours turns_ours)
! command -v bogofilter > /dev/null || steps+=(learn_bogofilter check_bogofilter)
for ((run = 0; run < runs; run++)); do
    for step in "${steps[@]}"; do
        timed "$step"
        keep_best "$step"
    done
    content=$(content_ours | sed -E 's/.*: ([0-9]+) messages.*/\1/')
    [ -n "${most-}" ] && less "$content" "$most" || most=$content
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
report "judge and learn by content alone, once a message is read" "$most" /s +15000

[ -z "${BENCH_QUICK-}" ] || { end_table; exit 0; }
learn_large
count_large
report "model of $learnt messages: the file" "$(calc "$(part file) / 1e6")" MB 100
report "  without lookalikes and their texts" "$(calc "($(part messages) + $(part learners)) / 1e6")" MB 12
for label in spam ham; do
    mix $label > "$lists/mixed.mbox"
    "$program" mail learn -q -m "$large" --as $label "$lists/mixed.mbox"
done
count_large
for ((run = 0; run < 20; run++)); do
    timed one_ours
    keep_best one_ours
done
report "one check by a process of its own, model of $learnt messages" "$(calc "1000 * ${best[one_ours.cpu]}")" ms 20
end_table

#!/usr/bin/env bash
# SIGINT and SIGTERM at random instants, a reader that goes away, inputs that cannot be read or vanish, and a full disk:
# the program ends with a sentence or silently, files are whole or as they were, and nothing is left behind. A few rounds
# in the suite; by hand ROUNDS=50.
: "${TWINSIFT_GENERATE:?}" "${TWINSIFT_ROOT:?}"
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
rounds=${ROUNDS:-2} documents=2000 ended=0 runs=0
[ -z "${TWINSIFT_QUICK-}" ] || documents=500
RANDOM=${SEED:-1}

mkdir work tmp
cd work || exit 1
export TMPDIR=$PWD/../tmp
"$TWINSIFT_GENERATE" --docs $documents --bytes 800 --seed 6 --copies 0.4 --edits --families 2:150 >corpus.jsonl
head -n 1 corpus.jsonl >one.jsonl
gzip -c corpus.jsonl >packed.jsonl.gz
"$TWINSIFT" sign -q corpus.jsonl -o c.sig
"$TWINSIFT" band -q c.sig -o c.cand
"$TWINSIFT" join -q c.sig c.cand -o c.found
"$TWINSIFT" index create i.twin
"$TWINSIFT" index add -q i.twin corpus.jsonl
mail=yes
"$TWINSIFT" mail learn -q -m m.twin --as ham "$TWINSIFT_ROOT/samples/mail/ham" 2>../err || mail=
echo earlier >out.txt
touch i.twin-lock m.twin-lock
ls >../known

# tidy WHAT: only files that were there before are there. The thread sanitizer has a file of its own for an instant when a
# program starts.
tidy()
{
    rm -f ../tmp/tsan.rodata.*
    ls | cmp -s - ../known || fail "$1 left $(ls | LC_ALL=C comm -13 ../known - | tr '\n' ' ')"
    [ -z "$(ls ../tmp)" ] || fail "$1 left in the temporary folder: $(ls ../tmp)"
}

# interrupted COMMAND...: is ended after a random part of its time.
interrupted()
{
    local began took signal run status round
    began=$(date +%s%N)
    "$TWINSIFT" "$@" >/dev/null 2>../err || [ $? = 1 ] || fail "twinsift $*: $(cat ../err)"
    took=$((($(date +%s%N) - began) / 1000000))
    for ((round = 0; round < rounds; round++)); do
        signal=INT
        [ $((RANDOM % 2)) = 0 ] || signal=TERM
        env --default-signal=INT "$TWINSIFT" "$@" >/dev/null 2>../err &
        run=$!
        sleep "$(awk -v "at=$RANDOM" -v "all=$took" 'BEGIN { print at / 32768 * all / 1000 }')"
        kill -$signal $run 2>/dev/null
        wait $run 2>/dev/null
        status=$?
        runs=$((runs + 1))
        case $status in
        0 | 1) ;;
        130 | 143) ended=$((ended + 1)) ;;
        *) fail "twinsift $*, SIG$signal: status $status: $(tail -n 2 ../err)" ;;
        esac
        # The next writer removes the copy of a compact that was ended.
        [ "$1 $2" != "index compact" ] || "$TWINSIFT" index add -q i.twin one.jsonl
        tidy "twinsift $*, SIG$signal"
    done
}

interrupted pairs corpus.jsonl -o out.txt
interrupted pairs packed.jsonl.gz --measure containment -o out.txt
interrupted dedup corpus.jsonl -o out.txt
interrupted dedup --memory 64M packed.jsonl.gz -o out.txt
interrupted sign corpus.jsonl -o c.sig
interrupted band c.sig -o c.cand
interrupted join c.sig c.cand -o c.found
interrupted filter c.sig c.found -o out.txt
interrupted index add --batch 100 i.twin corpus.jsonl
"$TWINSIFT" index check i.twin >/dev/null 2>../err || fail "the index is damaged: $(cat ../err)"
interrupted index compact i.twin
"$TWINSIFT" index check i.twin >/dev/null 2>../err || fail "the index is damaged: $(cat ../err)"
if [ -n "$mail" ]; then
    interrupted mail learn -m m.twin --as spam "$TWINSIFT_ROOT/samples/mail/spam"
    "$TWINSIFT" mail info -m m.twin >/dev/null 2>../err || fail "the model is damaged: $(cat ../err)"
fi

# ---- soon, also in the join of a large template group

"$TWINSIFT_GENERATE" --docs $((documents * 3)) --bytes 1500 --seed 7 --forms 1:$((documents * 3)) >../form.jsonl
for command in "pairs" "dedup --chain" "pairs --measure containment"; do
    # shellcheck disable=SC2086
    env --default-signal=INT "$TWINSIFT" $command -q ../form.jsonl -o out.txt >/dev/null 2>../err &
    run=$!
    sleep 0.6
    began=$(date +%s%N)
    kill -INT $run 2>/dev/null
    wait $run 2>/dev/null
    status=$?
    took=$((($(date +%s%N) - began) / 1000000))
    case $status in
    0) ;; # it was faster
    130) [ $took -lt 3000 ] || fail "$command ended $took ms after SIGINT" ;;
    *) fail "$command, SIGINT: status $status: $(cat ../err)" ;;
    esac
    [ $status = 0 ] || [ ! -s ../err ] || fail "$command, SIGINT, said: $(cat ../err)"
    tidy "$command, SIGINT"
done

# ---- outputs that have temporary names, because there are more of them than files that can be open

mkdir ../shards
split -l 1 -d -a 4 --additional-suffix .jsonl corpus.jsonl ../shards/
for ((round = 0; round < 6 * rounds; round++)); do
    (ulimit -n 48 && exec env --default-signal=INT "$TWINSIFT" dedup -q ../shards -o ../each/) 2>../err &
    run=$!
    while kill -0 $run 2>/dev/null && ! ls ../each/*.jsonl.* >/dev/null 2>&1; do :; done
    kill -TERM $run 2>/dev/null
    wait $run 2>/dev/null
    left=$(find ../each -name '*.jsonl.*' 2>../err | head -n 3)
    [ -z "$left" ] || fail "outputs with temporary names, SIGTERM: left $left"
    rm -rf ../each
done

# ---- a reader that goes away, and none at all

for command in "pairs" "dedup" "index query i.twin"; do
    # shellcheck disable=SC2086
    { "$TWINSIFT" $command corpus.jsonl 2>../err; echo $? >../status; } | head -c 1 >/dev/null
    case $(cat ../status) in
    0 | 1 | 141) ;;
    *) fail "$command to a pipe that is closed: status $(cat ../status): $(cat ../err)" ;;
    esac
    # shellcheck disable=SC2086
    "$TWINSIFT" $command corpus.jsonl >&- 2>../err
    status=$?
    { [ $status = 2 ] && [ -s ../err ]; } || fail "$command without standard output: status $status: $(cat ../err)"
    # shellcheck disable=SC2086
    "$TWINSIFT" $command corpus.jsonl >/dev/full 2>../err
    status=$?
    { [ $status = 2 ] && grep -q 'No space' ../err; } || fail "$command, /dev/full: status $status: $(cat ../err)"
    tidy "$command"
done

# ---- no room for what is written: the file is as it was

if [ -z "${TWINSIFT_SANITIZED-}" ]; then
    echo earlier >out.txt
    for command in "pairs --threshold 0.3 corpus.jsonl" "dedup corpus.jsonl" "sign corpus.jsonl"; do
        # shellcheck disable=SC2086
        (trap '' XFSZ && ulimit -f 8 && exec "$TWINSIFT" $command -o out.txt) >/dev/null 2>../err
        status=$?
        { [ $status = 2 ] && grep -q 'could not be written\|too large' ../err; } || fail "$command, full disk: status $status: $(cat ../err)"
        [ "$(cat out.txt)" = earlier ] || fail "$command, full disk: the earlier output was changed"
        tidy "$command, full disk"
    done
fi

# ---- inputs that vanish between the steps

cp corpus.jsonl ../gone.jsonl
"$TWINSIFT" sign -q ../gone.jsonl -o ../gone.sig && "$TWINSIFT" band -q ../gone.sig -o ../gone.cand
rm ../gone.jsonl
"$TWINSIFT" join ../gone.sig ../gone.cand -o ../gone.found >/dev/null 2>../err
status=$?
{ [ $status = 2 ] && grep -q 'gone.jsonl' ../err; } || fail "join without its input: status $status: $(cat ../err)"
[ ! -e ../gone.found ] || fail "join without its input wrote a file"

echo "$ended of $runs runs were ended by a signal"

#!/usr/bin/env bash
# twinsift dedup --update: the input is read once, and a run that is killed can be repeated: outputs and index are then those of
# a run that was not. And a disk that is full leaves both as they were.
: "${TWINSIFT_GENERATE:?}"
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"

documents=3000 tries=8
[ -z "${TWINSIFT_QUICK-}" ] || documents=800 tries=4
"$TWINSIFT_GENERATE" --docs $documents --bytes 600 --seed 6 --copies 0.3 --edits | awk 'length > 60' >corpus.jsonl
head -n $((documents / 4)) corpus.jsonl >first.jsonl
"$TWINSIFT" index create empty.twin || fail "cannot create an index"

# contents INDEX: its documents, in order.
contents() { "$TWINSIFT" index export "$1" | sort; }

# same_groups NAME: the groups of this run are those of the whole one, but for the name of the index.
same_groups() { sed "s/$1[.]twin/whole.twin/" "$1.groups" | cmp -s - whole.groups; }

cp empty.twin start.twin
"$TWINSIFT" dedup -q --update start.twin first.jsonl -o first.out || fail "the first day"
cp start.twin whole.twin
"$TWINSIFT" dedup -q --update whole.twin corpus.jsonl --groups whole.groups -o whole.out || fail "the second day"
contents whole.twin >whole.contents
[ "$(wc -l <whole.contents)" = $(($(wc -l <first.out) + $(wc -l <whole.out))) ] || fail "the index has not what was kept"
ls | grep -q -- '-update-' && fail "a file of an update that is complete is still there"

# A document that takes the place of another is no accident that goes unsaid.
cp start.twin replaced.twin
id=$(sed -En '1s/^\{"id": ?("?[^",]*"?),.*/\1/p' first.out)
echo "{\"id\":$id,\"text\":\"a text that is like no other and has the id of one that the index has\"}" |
    "$TWINSIFT" dedup --update replaced.twin - -o replaced.out 2>err || fail "an id that the index has: $(cat err)"
grep -q '1 document replaced one of the same id' err || fail "an id that the index has: $(cat err)"

# The same command once more, for whoever cannot know that the first came to its end: outputs are not replaced by
# those of a run that finds everything in the index, whatever was added since. It is another run if an output or the input
# has changed.
cp whole.out before.out
"$TWINSIFT" dedup --update whole.twin corpus.jsonl --groups whole.groups -o whole.out 2>err || fail "once more: $(cat err)"
grep -q 'was done before' err || fail "once more: $(cat err)"
cmp -s before.out whole.out || fail "once more: another output"
contents whole.twin | cmp -s - whole.contents || fail "once more: another index"
# Groups that were not wanted then cannot be made up for: its documents are known now.
run 2 dedup --update whole.twin corpus.jsonl --groups other.groups -o whole.out
says 'other.groups: cannot be written, because this run was done before'
[ "$(wc -l <err)" = 1 ] && [ ! -e other.groups ] && cmp -s before.out whole.out || fail "$asked: $(cat err)"
run 0 dedup --update whole.twin corpus.jsonl --groups - --report other.html -o whole.out
says 'other.html: is not written'
for change in 'rm again.out' 'touch corpus.jsonl'; do
    cp start.twin again.twin
    "$TWINSIFT" dedup -q --update again.twin corpus.jsonl -o again.out || fail "again"
    $change
    "$TWINSIFT" dedup -q --update again.twin corpus.jsonl -o again.out || fail "again, after $change"
    [ -e again.out ] && [ ! -s again.out ] || fail "again, after $change: not all documents are known"
done
echo '{"id":"sample","text":"one more document that is like no other of them all"}' >samples.jsonl
cp start.twin again.twin
for _ in 1 2 3; do
    run 0 dedup --update again.twin corpus.jsonl -o again.out
    cmp -s again.out whole.out || fail "again, after index add: another output"
    "$TWINSIFT" index add -q again.twin samples.jsonl || fail "index add"
done
says 'was done before, and all of its documents are in the index'
cp start.twin again.twin
for _ in 1 2; do
    "$TWINSIFT" dedup -q --update again.twin corpus.jsonl -o again/ || fail "again, to a folder"
    cmp -s again/corpus.jsonl whole.out || fail "again, to a folder: another output"
done

# One at a time: what two runs keep at the same time would not be compared.
exec 9<again.twin-updated
flock 9
cp start.twin again.twin
"$TWINSIFT" dedup -q --update again.twin corpus.jsonl -o another.out 2>err
[ $? = 2 ] && grep -q 'is being updated by another run' err && [ ! -e another.out ] || fail "two at a time: $(cat err)"
run 2 dedup -q --update again.twin --wait=0.2 corpus.jsonl -o another.out
says 'is being updated by another run'
# --wait: it begins when the other has ended, and knows what that has added.
{ sleep 0.5; exec 9<&-; } &
exec 9<&-
run 0 dedup -q --update again.twin --wait corpus.jsonl -o another.out
cmp -s another.out whole.out || fail "--wait: another output"
wait
cp start.twin together.twin
"$TWINSIFT" dedup -q --update together.twin --wait corpus.jsonl -o first.of.two &
run 0 dedup -q --update together.twin --wait corpus.jsonl -o second.of.two
wait $! || fail "two that wait for each other"
[ "$(cat first.of.two second.of.two | wc -l)" = "$(wc -l <whole.out)" ] || fail "--wait: two runs keep the same documents"

# Other files of a folder are another run.
mkdir chosen && echo 'one text of a folder' >chosen/a.txt && echo 'another one, unlike it' >chosen/b.md
cp empty.twin chosen.twin
run 0 dedup -q --update chosen.twin --include '*.txt' chosen -o chosen.out
run 0 dedup -q --update chosen.twin --include '*.md' chosen -o chosen.out
[ "$(cat chosen.out)" = b.md ] || fail "$asked: $(cat chosen.out)"
run 0 dedup --update chosen.twin --include '*.md' chosen -o chosen.out
says 'was done before'

# What is dropped is an output like the others: it can be had at once only, and is checked when a run is repeated.
cp start.twin dropped.twin
run 0 dedup -q --update dropped.twin corpus.jsonl -o dropped.out --dropped dropped.records
sort dropped.out dropped.records | cmp -s - <(sort corpus.jsonl) || fail "--dropped: not a partition"
rm dropped.records
wrong 'dropped.records: cannot be written, because this run was done before' dedup -q --update dropped.twin corpus.jsonl \
    -o dropped.out --dropped dropped.records

# ---- a pipe can be read once only

cp start.twin piped.twin
"$TWINSIFT" dedup -q --update piped.twin --groups piped.groups - -o piped.out <corpus.jsonl || fail "from a pipe"
cmp -s whole.out piped.out && same_groups piped || fail "from a pipe: another result"

# ---- killed at any time, and repeated

interrupted=0
for ((try = 0; try < tries; try++)); do
    cp start.twin killed.twin
    rm -f killed.out killed.groups killed.twin-update-*
    "$TWINSIFT" dedup -q --update killed.twin corpus.jsonl --groups killed.groups -o killed.out 2>/dev/null &
    process=$!
    if ((try % 2)); then # as soon as only the index is left to do
        while kill -0 $process 2>/dev/null && ! ls killed.twin-update-*.jsonl >/dev/null 2>&1; do :; done
    else
        sleep 0.0$((RANDOM % 10))
    fi
    kill -9 $process 2>/dev/null
    wait $process 2>/dev/null
    ! ls killed.twin-update-*.jsonl >/dev/null 2>&1 || interrupted=$((interrupted + 1))
    if [ -e killed.out ] && ! ls killed.twin-update-*.jsonl >/dev/null 2>&1; then
        # Complete, or killed after the outputs and before the file of the update: both are as if it had not been killed.
        cmp -s killed.out whole.out || fail "an output that is not whole"
    fi
    "$TWINSIFT" dedup -q --update killed.twin corpus.jsonl --groups killed.groups -o killed.out || fail "repeated: status $?"
    cmp -s killed.out whole.out || fail "repeated: another output"
    same_groups killed || fail "repeated: other groups"
    contents killed.twin >killed.contents
    cmp -s killed.contents whole.contents || fail "repeated: another index"
    ! ls killed.twin-update-*.jsonl >/dev/null 2>&1 || fail "repeated: a file is left"
done
echo "killed $tries times, $interrupted of them while the index was updated"

# ---- another run completes what was left

cp start.twin killed.twin
"$TWINSIFT" dedup -q --update killed.twin corpus.jsonl -o killed.out 2>/dev/null &
process=$!
while kill -0 $process 2>/dev/null && ! ls killed.twin-update-*.jsonl >/dev/null 2>&1; do :; done
kill -9 $process 2>/dev/null
wait $process 2>/dev/null
"$TWINSIFT" dedup -q --update killed.twin first.jsonl -o other.out || fail "another run after a kill"
[ ! -s other.out ] || fail "another run: documents that are known were kept"
contents killed.twin >killed.contents
cmp -s killed.contents whole.contents || fail "another run: has not completed the index"

# ---- a full disk: a small file system, if this user may have one

if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=256k tmpfs small 2>/dev/null; then
    printf 'old\n' >small/out.jsonl
    cp start.twin full.twin
    contents full.twin >full.before
    "$TWINSIFT" dedup -q --update full.twin corpus.jsonl -o small/out.jsonl 2>err
    [ $? = 2 ] || fail "a full disk: not status 2"
    grep -q 'No space left' err || fail "a full disk: $(cat err)"
    [ "$(cat small/out.jsonl)" = old ] || fail "a full disk: an earlier output has changed"
    [ "$(ls small)" = out.jsonl ] || fail "a full disk: left $(ls small)"
    contents full.twin >full.after
    cmp -s full.before full.after || fail "a full disk: the index has changed"
    ! ls full.twin-update-* >/dev/null 2>&1 || fail "a full disk: a file is left"
    umount small
else
    echo "skipped: a full disk (needs root and mount)"
fi

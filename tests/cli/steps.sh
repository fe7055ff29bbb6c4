#!/usr/bin/env bash
# twinsift sign, band, join and filter, and dedup --memory and --resume: the bytes that dedup writes, whatever the parts;
# files that do not belong together are refused.
: "${TWINSIFT_GENERATE:?}"
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

documents=3000
[ -z "${TWINSIFT_QUICK-}" ] || documents=800
"$TWINSIFT_GENERATE" --docs $documents --bytes 800 --seed 6 --copies 0.4 --edits --families 2:150 >corpus.jsonl
awk 'NR % 9 == 0 { sub(/"id": ?"[^"]*", ?/, "") } { print }' corpus.jsonl >some-without-ids.jsonl
split -n l/3 -a 1 --additional-suffix=.jsonl some-without-ids.jsonl part-
gzip -c part-b.jsonl >part-b.jsonl.gz
shards=(part-a.jsonl part-b.jsonl.gz part-c.jsonl)

# ---- steps and parts

run 0 dedup -q "${shards[@]}" -o whole.jsonl --groups whole.groups
[ "$(wc -l <whole.jsonl)" -lt $((documents * 9 / 10)) ] || fail "the corpus has too few duplicates to show anything"
for shard in "${shards[@]}"; do
    run 0 sign "$shard" -o "${shard%%.*}.sig"
done
run 0 sign part-b.jsonl.gz --max-unpacked-bytes 2G -o part-b.sig
grep -qa 'max-unpacked=2000000000' part-b.sig || fail "$asked: the steps after it do not know of the limit"
for part in 1 2; do
    run 0 band part-?.sig --part $part/2 -o $part.cand
done
for part in 1 2 3; do
    run 0 join part-?.sig ?.cand --part $part/3 -o $part.pairs
done
run 0 filter part-?.sig ?.pairs -o steps.jsonl --groups steps.groups
grep -q "^documents *$documents " err || fail "$asked: no summary: $(cat err)"
same whole.jsonl steps.jsonl "$asked"
same whole.groups steps.groups "$asked"
run 0 dedup -q "${shards[@]}" -o whole/
run 0 filter -q part-?.sig ?.pairs --part 1/2 -o filtered/
[ "$(ls filtered)" = "part-a.jsonl
part-c.jsonl" ] || fail "$asked: wrote $(ls filtered)"
run 0 filter -q part-?.sig ?.pairs --part 2/2 -o filtered/
for shard in "${shards[@]}"; do
    same "whole/$shard" "filtered/$shard" "$asked"
done

# Every step writes the same bytes with any number of threads, also where families make crowds.
for threads in 1 2 4 7; do
    run 0 sign -q --threads $threads corpus.jsonl -o threads.sig
    run 0 band -q --threads $threads threads.sig -o threads.cand
    run 0 join -q --threads $threads threads.sig threads.cand -o threads.pairs
    for file in threads.*; do
        [ $threads = 1 ] && cp "$file" "one.$file" || same "one.$file" "$file" "$threads threads"
    done
done

# Nothing that is read is overwritten, not even by its own step, and no output by another.
before=$(cat part-?.* ?.cand ?.pairs | cksum)
wrong 'is read' sign part-a.jsonl -o ./part-a.jsonl
wrong 'is read' band part-?.sig -o part-b.sig
wrong 'is read' join part-?.sig ?.cand -o 1.cand
for output in part-a.sig part-a.jsonl ./; do
    wrong 'is read' filter part-?.sig ?.pairs -o $output
done
wrong 'is read' filter part-?.sig ?.pairs -o x --groups part-c.jsonl
wrong 'two options' filter part-?.sig ?.pairs -o x --groups x
wrong 'cannot be written' sign part-a.jsonl -o missing/x
wrong 'would both become' filter part-a.sig part-a.sig 1.pairs -o x/
# Two shards signed to one file: the documents of one would be lost. The same task may be repeated, also with more.
wrong 'part-a.sig: has the signatures of part-a.jsonl, which would be lost' sign part-c.jsonl -o part-a.sig
wrong 'part-a.sig: has the signatures of part-a.jsonl, which' sign ./part-a.jsonl -o part-a.sig
cp part-a.sig two.sig
run 0 sign -q part-c.jsonl part-a.jsonl -o two.sig
wrong 'two.sig: has the signatures of part-c.jsonl, which' sign part-a.jsonl -o two.sig
rm two.sig
[ "$(cat part-?.* ?.cand ?.pairs | cksum)" = "$before" ] || fail "what is read was overwritten"

# An input that has changed since it was signed is named, whether it is longer or shorter now.
cp part-c.jsonl signed.jsonl
{ echo; cat signed.jsonl; } >part-c.jsonl
wrong 'has changed since' filter part-?.sig ?.pairs -o x
head -n 2 signed.jsonl >part-c.jsonl
wrong 'part-c.jsonl has changed' filter part-?.sig ?.pairs -o x
mv signed.jsonl part-c.jsonl

# What was appended since is left out, and that is said; also of compressed files, and of files in a folder.
mkdir -p appended/folder appended/texts
cp part-a.jsonl appended/
cp part-b.jsonl.gz part-c.jsonl appended/folder/
echo 'one text in a file of its own' >appended/texts/one.txt
cd appended || exit
run 0 sign -q part-a.jsonl -o 1.sig
run 0 sign -q folder texts -o 2.sig
run 0 band -q ?.sig -o all.cand
run 0 join -q ?.sig all.cand -o all.pairs
run 0 filter ?.sig all.pairs -o before/
grep -q 'has grown' err && fail "$asked: nothing was appended: $(cat err)"
head -c 100 /dev/zero | tr '\0' ' ' >>part-a.jsonl
echo '{"text":"a document"}' | gzip -c >>folder/part-b.jsonl.gz
echo 'another' >texts/two.txt
run 0 filter ?.sig all.pairs -o after/
says 'part-a.jsonl: has grown since it was signed, by 100 bytes, which are left out'
says 'folder/part-b.jsonl.gz: has grown since it was signed, by 22 bytes, which'
says 'texts: has grown since it was signed, by 1 document, which'
[ "$(grep -c 'has grown' err)" = 3 ] || fail "$asked: $(cat err)"
diff -r before after || fail "$asked: writes other documents than were signed"
run 0 filter -q ?.sig all.pairs -o after/
[ ! -s err ] || fail "$asked: $(cat err)"
cd .. || exit

run 0 dedup -q --keep longest --threshold 0.7 --shingle word:2 "${shards[@]}" -o longest.jsonl
for shard in "${shards[@]}"; do
    run 0 sign -q --threshold 0.7 --shingle word:2 --threads 1 "$shard" -o "${shard%%.*}.other"
done
run 0 band -q part-?.other -o other.cand
run 0 join -q part-?.other other.cand --keep longest -o other.pairs
run 0 filter -q part-?.other other.pairs -o steps.jsonl
same longest.jsonl steps.jsonl "$asked"

# No pairs at all.
head -n 1 corpus.jsonl >one.jsonl
run 0 sign -q one.jsonl -o one.sig
run 0 band -q one.sig -o one.cand
run 0 join -q one.sig one.cand -o one.pairs
run 0 filter -q one.sig one.pairs -o steps.jsonl
same one.jsonl steps.jsonl "$asked"

# ---- what does not belong together

run 0 sign -q part-a.jsonl --id-from path-and-line -o ids.sig
wrong 'other signatures' join part-a.sig part-c.sig part-b.sig 1.cand 2.cand -o x
wrong 'candidates in 1.cand: part 2 of 2 is missing' join part-?.sig 1.cand -o x
wrong 'pairs in 2.pairs … 3.pairs: part 1 of 3 is missing' filter part-?.sig 2.pairs 3.pairs -o x
run 0 band -q part-?.sig --part 1/3 -o third.cand
wrong 'third.cand: one of 3 parts' join part-?.sig ?.cand third.cand -o x
run 0 join -q part-?.sig ?.cand --part 2/3 --keep longest -o longest.pairs
wrong 'longest.pairs: written with another --keep' filter part-?.sig 1.pairs longest.pairs 3.pairs -o x
wrong 'part-b.sig: was signed with other options' band ids.sig part-b.sig -o x
wrong 'was given twice' filter part-?.sig 1.pairs 1.pairs -o x
wrong 'another scheme' band part-a.sig part-b.other -o x
wrong 'not written by sign, band or join' band part-a.jsonl -o x
wrong 'of candidates; give files written by sign' band part-a.sig 1.cand -o x
wrong 'no candidates' join part-a.sig -o x
wrong '-o FILE' band part-a.sig
wrong 'standard input' sign - -o x
wrong 'a pipe, cannot be read again' sign --as jsonl <(cat part-a.jsonl) -o x
wrong '5/4' band part-a.sig --part 5/4 -o x
wrong 'FOLDER/' filter part-?.sig ?.pairs --part 1/2 -o x
head -c 5000 part-a.sig >short.sig
wrong 'short.sig: damaged at byte' band short.sig -o x
mv part-a.jsonl moved.jsonl
for step in 'band' 'join ?.cand' 'filter ?.pairs'; do
    # shellcheck disable=SC2086 # words
    wrong 'part-a.sig: has the signatures of part-a.jsonl, which cannot be opened: No such' $step part-?.sig -o x
done
says 'run all steps in the same folder'
mv moved.jsonl part-a.jsonl
[ ! -e x ] || fail "an error left an output"

# ---- the example of docs/scale.md with GNU parallel, on this machine in place of two hosts

if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    mkdir crawl parallel
    for number in 0 1 2 3; do
        sed -n "$((number + 1))~4p" corpus.jsonl >crawl/part-0$number.jsonl
        gzip crawl/part-0$number.jsonl # .zst in the document
    done
    awk '/^```/ { inside = 0 } inside { print } /^```sh/ { inside = 1 }' "${BASH_SOURCE%/*}/../../docs/scale.md" |
        sed -n '/^on_hosts()/,/twinsift filter/p' |
        sed "s/ -S host1,host2 -j 1/ -j 2/; s/jsonl\.zst/jsonl.gz/; s/twinsift \([a-z]\)/'\$TWINSIFT' \1/" >example.sh
    grep -c "TWINSIFT' [sbjf]" example.sh | grep -qx 4 || fail "docs/scale.md: its example has changed: $(cat example.sh)"
    (cd crawl && PARALLEL_HOME=../parallel TWINSIFT_THREADS=1 sh ../example.sh >out 2>err) ||
        fail "docs/scale.md: its example fails: $(cat crawl/err)"
    (cd crawl && "$TWINSIFT" dedup -q part-*.jsonl.gz -o ../crawled/)
    diff -r crawled crawl/clean || fail "docs/scale.md: its example and dedup differ"
else
    echo 'skipped: the example of docs/scale.md, for GNU parallel is not installed'
fi

# ---- less memory than there are signatures, and stages that are kept; dedup_kill.sh has runs that are killed

mkdir temp
run 0 dedup -q --memory 68M --temp temp "${shards[@]}" -o small.jsonl --groups small.groups
same whole.jsonl small.jsonl "$asked"
same whole.groups small.groups "$asked"
wrong '--memory: "1M" is not a whole number of at least 64M' dedup --memory 1M "${shards[@]}" -o x
many=2500000
[ -z "${TWINSIFT_SANITIZED-}" ] || many=100000 # sanitizers take more than that
seq "$many" | sed 's/.*/{"id":&,"text":""}/' >empty.jsonl # numbers of documents are not in files
run 0 dedup --memory 64M --temp temp --dry-run empty.jsonl
grep -q 'of memory, more than --memory, 64.0 MB' err || fail "$asked: no word on memory: $(tail -n 2 err)"
rm empty.jsonl

# A finished stage is used: without its input's text nothing could be signed again. One that is damaged is not.
"$TWINSIFT" dedup -q --resume --temp temp corpus.jsonl -o /dev/full 2>err && fail "a full disk was not noticed"
[ -s temp/*/pairs ] || fail "an interrupted run keeps its stages: $(ls temp/*)"
printf 'x' | dd of="$(echo temp/*/pairs)" bs=1 seek=40 conv=notrunc status=none
run 0 dedup -q corpus.jsonl -o reference.jsonl
chmod 777 temp/*
wrong 'others' dedup --resume --temp temp corpus.jsonl -o again.jsonl
chmod 700 temp/*
exec 9<"$(echo temp/*)"
flock 9
wrong 'another run' dedup --resume --temp temp corpus.jsonl -o again.jsonl
exec 9<&-
echo half >"$(echo temp/*)/signatures.a1b2c3" # what a kill may leave
run 0 dedup -q --resume --temp temp corpus.jsonl -o again.jsonl
grep -q 'done again' err || fail "$asked: a damaged stage was not noticed: $(cat err)"
same reference.jsonl again.jsonl "$asked"
[ -z "$(ls temp)" ] || fail "$asked: left $(ls temp/*)"
wrong 'standard input' dedup --resume - -o x
# A run with other options is another run: the one that skipped long documents does not decide for one that reads them.
mkdir limits
"$TWINSIFT" dedup -q --resume --temp limits --max-document-bytes 800 corpus.jsonl -o /dev/full 2>err
run 0 dedup -q --resume --temp limits corpus.jsonl -o again.jsonl
run 0 dedup -q corpus.jsonl -o plain.jsonl
same plain.jsonl again.jsonl "--max-document-bytes and --resume"
# A file in a folder has changed, which a link leads to: what was found of its old text is not used.
mkdir changing folder
ln -s folder link
for number in 1 2 3; do
    seq $((number * 100)) $((number * 100 + 50)) >folder/$number.txt
done
cp folder/1.txt folder/4.txt
"$TWINSIFT" dedup -q --resume --temp changing link -o /dev/full 2>err
seq 900 950 >folder/4.txt
run 0 dedup -q --resume --temp changing link
[ "$(wc -l <out)" = 4 ] || fail "$asked: $(cat out)"
run 0 dedup --stats corpus.jsonl -o again.jsonl
searched=$(grep -o '"candidates":[1-9][0-9]*,"verified":[1-9][0-9]*,' err)
run 0 dedup --stats --resume --temp temp corpus.jsonl -o again.jsonl
grep -qF "${searched:-candidates and comparisons}" err || fail "$asked: not as searched: $(cat err)"

# Hidden files that were signed are read by the steps after it.
mkdir hidden
seq 100 150 >hidden/.one.txt
seq 100 151 >hidden/two.txt
seq 200 250 >hidden/three.txt
run 0 sign -q --hidden hidden -o hidden.sig
run 0 band -q hidden.sig -o hidden.cand
run 0 join -q hidden.sig hidden.cand -o hidden.pairs
run 0 filter -q hidden.sig hidden.pairs
[ "$(wc -l <out)" = 2 ] || fail "$asked: $(cat out)"
# So are files that were chosen; and others make another run of --resume.
run 0 sign -q --hidden --include 't*.txt' --exclude three.txt hidden -o chosen.sig
run 0 band -q chosen.sig -o chosen.cand
run 0 join -q chosen.sig chosen.cand -o chosen.pairs
run 0 filter -q chosen.sig chosen.pairs
[ "$(cat out)" = two.txt ] || fail "$asked: $(cat out)"
run 0 dedup -q --resume --temp temp --include 't*.txt' hidden
[ "$(wc -l <out)" = 2 ] || fail "$asked: $(cat out)"
run 0 dedup -q --resume --temp temp --exclude two.txt --hidden hidden
[ "$(wc -l <out)" = 2 ] && grep -q one out || fail "$asked: $(cat out)"

# Signatures that are damaged can be made again.
cp part-a.sig damaged.sig
dd if=/dev/zero of=damaged.sig bs=1 seek=16 count=64 conv=notrunc status=none
wrong 'damaged.sig: ' band damaged.sig -o damaged.cand
run 0 sign -q part-a.jsonl -o damaged.sig
[ ! -s err ] || fail "$asked: $(cat err)" # of a sanitizer

# Without documents each step says so.
: >none.jsonl
for step in "sign none.jsonl -o none.sig" "band none.sig -o none.cand" "join none.sig none.cand -o none.pairs" \
    "filter none.sig none.pairs"; do
    # shellcheck disable=SC2086
    run 0 $step
    says 'there are no documents in the input'
    # shellcheck disable=SC2086
    run 0 ${step/ / -q }
    [ ! -s err ] || fail "$asked: $(cat err)"
done

# A temporary folder without room, where mounting is allowed: an error, and the output of an earlier run is as it was.
mkdir -p full
echo 'earlier' >earlier.jsonl
if unshare --mount sh -c 'mount -t tmpfs -o size=64k none full && "$1" dedup -q --resume --temp full corpus.jsonl -o earlier.jsonl' \
    sh "$TWINSIFT" 2>err; then
    fail "a full temporary folder was not noticed"
elif grep -q 'permitted\|denied' err; then
    echo 'skipped: a full temporary folder, for mounting is not allowed here'
else
    grep -q 'No space left' err || fail "a full temporary folder: $(cat err)"
fi
[ "$(cat earlier.jsonl)" = earlier ] || fail "a full temporary folder: the output of an earlier run was changed"
wrong '--against' dedup --resume --against part-a.jsonl part-c.jsonl -o x

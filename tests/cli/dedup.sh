#!/usr/bin/env bash
# twinsift dedup: what is kept is what an exhaustive comparison and the rule say, records are written byte for byte,
# and an output is whole or as it was before.
: "${TWINSIFT_GENERATE:?}" "${TWINSIFT_EXACT_PAIRS:?}"
program=("${TWINSIFT:?the program to test}" dedup) named='twinsift dedup'
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
manual=${BASH_SOURCE%/*}/../../docs/twinsift-dedup.1.md

# ---- the rule, against an exhaustive comparison

documents=1500
[ -z "${TWINSIFT_QUICK-}" ] || documents=400
"$TWINSIFT_GENERATE" --docs $documents --bytes 800 --seed 5 --copies 0.4 --edits --families 5:12 | awk 'length > 60' >corpus.jsonl # short texts are always kept
documents=$(wc -l <corpus.jsonl)
"$TWINSIFT_EXACT_PAIRS" corpus.jsonl char 9 0.8 >pairs.tsv

# greedy ORDER: of the ids in this order those that are similar to none kept before.
greedy() {
    awk -F'\t' 'NR == FNR { near[$1] = near[$1] " " $2; near[$2] = near[$2] " " $1; next }
        { drop = 0; n = split(near[$1], other, " ")
          for (i = 1; i <= n; i++) if (other[i] in kept) drop = 1
          if (!drop) { kept[$1]; print $1 } }' pairs.tsv "$1"
}
ids() { sed -E 's/^\{"id": ?"?([^",]*)"?,.*/\1/' "$@"; }

ids corpus.jsonl >order.first
paste <(awk '{ text = $0; sub(/.*"text": ?"/, "", text); print length(text) }' corpus.jsonl) order.first >lengths
[ "$(sort order.first | uniq -d | wc -l)" = 0 ] || fail "the generator repeats ids"

run 0 --quiet corpus.jsonl
ids out >kept
greedy order.first >expected
cmp -s kept expected || fail "$asked: $(wc -l <kept) kept, not $(wc -l <expected): $(diff kept expected | head -3)"
[ "$(wc -l <kept)" -lt $((documents * 9 / 10)) ] || fail "the corpus has too few duplicates to show anything"
awk 'NR == FNR { kept[$0]; next } { line = $0; sub(/^\{"id": ?"?/, "", line); sub(/"?,.*/, "", line) } line in kept' \
    kept corpus.jsonl | cmp -s - out || fail "$asked: the records are not those of the input"
cp out reference

# Similar to the one kept, in the groups, and all that is not kept is there once.
run 0 --quiet --groups groups.jsonl -o kept.jsonl corpus.jsonl
cmp -s kept.jsonl reference || fail "$asked: another output in a file"
[ ! -s out ] || fail "$asked: printed too"
# Lines "kept dropped similarity".
sed -E 's/^\{"kept":"?([^",]*)"?,"dropped":\[/\1 /; s/\{"id":"?([^",]*)"?,"similarity":([0-9.]*)\},?/\1 \2 /g; s/\]\}$//' groups.jsonl |
    awk '{ for (i = 2; i < NF; i += 2) print $1 "\t" $i "\t" $(i + 1) }' >dropped.tsv
awk -F'\t' 'FILENAME == "kept" { kept[$1]; next }
    FILENAME == "pairs.tsv" { near[$1, $2] = near[$2, $1] = $3; next }
    !($1 in kept) || $2 in kept || $2 in dropped || !(($1, $2) in near) || near[$1, $2] != $3 { print; bad = 1 }
    { dropped[$2] }
    END { exit bad }' kept pairs.tsv dropped.tsv >wrong || fail "the groups are wrong: $(head -n 3 wrong)"
[ $(($(wc -l <kept) + $(wc -l <dropped.tsv))) = "$documents" ] || fail "the groups have not all that was dropped"

# With the longest kept, the order of the input does not matter.
run 0 --quiet --keep longest corpus.jsonl
sort out >longest
sort -R --random-source=<(yes) corpus.jsonl >shuffled.jsonl
run 0 --quiet --keep longest shuffled.jsonl
sort out | cmp -s - longest || fail "$asked: another set of records"
run 0 --quiet --chain corpus.jsonl
[ "$(wc -l <out)" -le "$(wc -l <reference)" ] || fail "$asked: chains keep more"

# By a field: numbers as numbers, dates as texts, nested ones, columns of a table.
text='the same text in each of these records, word by word'
printf '{"id":%s,"text":"%s","n":%s,"m":{"d":"%s"}}\n' 1 "$text" 9 2025-01-02 2 "$text" 10 2024-12-31 3 "$text" -1 2026-01-01 \
    4 "$text" null x 5 "$text" '"many"' 2023 >fields.jsonl
for rule in n:max=5 n:min=3 m.d:max=4 m.d:min=5 n.x:max= ; do
    run 0 --quiet --keep ${rule%=*} fields.jsonl
    kept=$(ids out)
    [ "$kept" = "${rule#*=}" ] || { [ -z "${rule#*=}" ] && [ "$(wc -l <out)" = 1 ]; } || fail "$asked: kept $kept"
done
run 0 --keep nn:max fields.jsonl
says 'no document of a group has the field "nn" of --keep'
run 0 --keep n:max fields.jsonl
! grep -q 'no document of a group' err || fail "$asked: $(cat err)"
printf '{"id":%s,"text":"%s","n":%s}\n' 1 "$text" 1763251200000000001 2 "$text" 1763251200000000002 >times.jsonl
run 0 --quiet --keep n:max times.jsonl
[ "$(ids out)" = 2 ] || fail "$asked: kept $(ids out)"
printf '{"id":%s,"text":"%s","d":"%s"}\n' 1 "$text" 2025-01 2 "$text" 2025-01-02 3 "$text" 2025 >dates.jsonl
for rule in max=2 min=3; do # of texts that begin alike the longer is more
    run 0 --quiet --keep d:${rule%=*} dates.jsonl
    [ "$(ids out)" = "${rule#*=}" ] || fail "$asked: kept $(ids out)"
done
printf 'id,n,text\r\na,2,"%s"\r\nb,"1,5","%s"\r\nc,11,%s\r\n' "$text" "$text" "${text%%,*}" >fields.csv
run 0 --quiet --keep n:max --threshold 0.5 fields.csv
printf 'id,n,text\r\nb,"1,5","%s"\r\n' "$text" | cmp -s - out || fail "$asked: $(cat out)"
wrong 'is not first, last, longest' --keep best fields.jsonl
mkdir texts && echo "$text" >texts/a && echo "$text" >texts/b
wrong 'has no fields' --keep n:max texts

for threads in 1 2 7; do
    run 0 --quiet --threads $threads corpus.jsonl
    cmp -s out reference || fail "$asked: another output"
done

# ---- bytes

a='{"id":"a","text":"the quick brown fox jumps over the lazy dog"}'
b='{"id":"b","text":"The quick brown fox jumps over the lazy dog  "}'
c='{"text" : "quite another text with nothing in common",  "id":"c", "more":[1, 2]}'
printf '%s\r\n\r\n%s\n\n%s' "$a" "$b" "$c" >mixed.jsonl
run 0 --quiet mixed.jsonl
printf '%s\r\n%s\n' "$a" "$c" | cmp -s - out || fail "$asked: $(cat out)"
run 0 --quiet --keep shortest - <mixed.jsonl
printf '%s\r\n%s\n' "$a" "$c" | cmp -s - out || fail "$asked: $(cat out)"

# A repeated id is no reason to lose a document; a bad line is named and left out.
printf '%s\n' "$a" '{"id":"a","text":"the same id but a text of its own, not like it"}' 'not json' "$c" >ids.jsonl
run 0 --keep longest ids.jsonl
grep -v 'not json' ids.jsonl | cmp -s - out || fail "$asked: $(cat out)"
grep -q 'ids.jsonl:3:1' err && grep -q '^skipped *1 ' err || fail "$asked: $(cat err)"

# ---- outputs

wrong 'name it .gz or .zst' corpus.jsonl -o a.jsonl.xz
run 0 corpus.jsonl -o a.jsonl.gz
gzip -dc a.jsonl.gz | cmp -s - reference || fail "$asked: not the records"
run 0 a.jsonl.gz corpus.jsonl -o b.jsonl.zst
"$TWINSIFT" dedup --quiet b.jsonl.zst | cmp -s - reference || fail "$asked: not the records"
grep -q '^  kept' err || fail "$asked: no summary: $(cat err)"

head -n 100 corpus.jsonl >one.jsonl
tail -n +101 corpus.jsonl | gzip >two.jsonl.gz
run 0 --quiet one.jsonl two.jsonl.gz -o parts/
{ cat parts/one.jsonl; gzip -dc parts/two.jsonl.gz; } | cmp -s - reference || fail "$asked: not the records"
[ "$(ls parts | wc -l)" = 2 ] || fail "$asked: $(ls parts)"
wrong 'would both become' one.jsonl ./one.jsonl -o parts/
{ cat parts/one.jsonl; gzip -dc parts/two.jsonl.gz; } | cmp -s - reference || fail "$asked: changed an earlier output"

# More inputs, and more outputs, than files that can be open.
mkdir shards
split -l 2 -d -a 3 --additional-suffix .jsonl <(head -n 400 corpus.jsonl) shards/
for limit in 48 1000; do
    (failures=0 && ulimit -n $limit && run 0 --quiet shards/*.jsonl -o shards.$limit && run 0 --quiet shards/*.jsonl -o shards.each.$limit/; exit $failures) ||
        fail "with a limit of $limit open files"
    [ "$(ls -A shards.each.$limit)" = "$(ls shards)" ] || fail "200 outputs are $(ls -A shards.each.$limit)"
done
cmp -s shards.48 shards.1000 && cat shards.each.48/* | cmp -s - shards.48 || fail "a limit of open files makes another output"
gzip shards/*
(failures=0 && ulimit -n 48 && wrong 'each compressed input stays open, so raise the limit' shards/* -o shards.gz; exit $failures) ||
    fail "compressed inputs with a limit of 48 open files"
rm -rf shards*

# A run that fails leaves no folder that it made.
if [ -z "${TWINSIFT_SANITIZED-}" ]; then
    mkdir -p whole
    (failures=0 && trap '' XFSZ && ulimit -f 1 && wrong 'File too large' --quiet corpus.jsonl -o whole/new/; exit $failures) || fail "a limit of file sizes"
    [ -z "$(ls -A whole)" ] || fail "a failed run leaves $(find whole)"
    rmdir whole
fi

# Inputs with the same name: outputs are in the same subfolders.
mkdir -p days/monday days/tuesday/late
cp one.jsonl days/monday/ && gzip -dc two.jsonl.gz >days/tuesday/late/one.jsonl
for inputs in days 'days/monday/one.jsonl days//tuesday/late/one.jsonl'; do
    rm -rf nested
    run 0 --quiet $inputs -o nested/
    cat nested/monday/one.jsonl nested/tuesday/late/one.jsonl | cmp -s - reference || fail "$asked: not the records"
    [ "$(find nested -type f | wc -l)" = 2 ] || fail "$asked: $(find nested)"
done
run 0 --quiet $inputs -o nested/
mkdir -p days/late/late
for place in . late late/late; do cp one.jsonl days/$place/; done
wrong 'days/one.jsonl: is read' days/one.jsonl days/late/one.jsonl -o days/
wrong 'days/late/one.jsonl: is read' days/late/one.jsonl days/late/late/one.jsonl -o days/
wrong 'would both become' days/late/../one.jsonl days/late/one.jsonl -o nested/

mkdir -p folder/sub
cp corpus.jsonl folder/x && cp corpus.jsonl folder/sub/y && echo 'something else altogether' >folder/z
run 0 --quiet folder
printf 'sub/y\nz\n' | cmp -s - out || fail "$asked: $(cat out)"
run 0 --quiet folder -o lists/
printf 'sub/y\nz\n' | cmp -s - lists/folder || fail "$asked: $(cat lists/folder)"
cd folder/sub || exit
for path in . ./ ..; do
    wrong "$path: has no name for a file in ../../lists/" $path -o ../../lists/
done
cd ../.. || exit
[ "$(ls lists)" = folder ] || fail "an error left an output: $(ls lists)"
printf '1\tu\n1\tv\n2\tu\n2\tv\n3\tw\n' >sets.tsv
run 0 --quiet --sets sets.tsv
printf '1\n3\n' | cmp -s - out || fail "$asked: $(cat out)"

# ---- indexes

printf 0123456789abcdef >key # with one that is drawn, an index may miss a pair that is expected here, if rarely
"$TWINSIFT" index create seen.twin --key-file key
run 0 --quiet --update seen.twin one.jsonl -o day1.jsonl
run 0 --update seen.twin --groups groups.jsonl corpus.jsonl -o day2.jsonl
cat day1.jsonl day2.jsonl | cmp -s - reference || fail "$asked: two days are not the whole: $(cat err)"
grep -qE "^  known +[1-9][0-9]+ " err || fail "$asked: $(cat err)"
[ "$(grep -c '"in":"seen.twin"' groups.jsonl)" = "$(sed -nE 's/^  known *([0-9]+) .*/\1/p' err)" ] ||
    fail "$asked: not all known ones are in the groups"
run 0 --quiet --against seen.twin corpus.jsonl
[ ! -s out ] || fail "$asked: all of it is known, but printed $(wc -l <out) records"
"$TWINSIFT" index info --json seen.twin | grep -qF "\"documents\":$(wc -l <reference)," || fail "the index has other documents"
run 0 --quiet --against one.jsonl --groups groups.jsonl corpus.jsonl
awk 'NR > 100' corpus.jsonl >rest.jsonl
grep -q '"in":"one.jsonl"' groups.jsonl || fail "$asked: no match is named"
# What stays is similar to nothing in the other collection, and nothing goes that is not similar to something.
"$TWINSIFT" pairs -q --copies all out --as jsonl --against one.jsonl >between.tsv
[ ! -s between.tsv ] || fail "$asked: $(head -1 between.tsv) stays"
run 0 --quiet --against one.jsonl --against seen.twin corpus.jsonl
[ ! -s out ] || fail "$asked: all of it is known"
wrong 'missing.twin' --against missing.twin corpus.jsonl
# The report shows some of what is known, beside the text that another collection has, or an index, if it keeps texts.
words="Once $(seq -s ' ' 100 180)"
printf '{"id":"<there>","text":"%s whale"}\n' "$words" >there.jsonl
printf '{"id":"here","text":"%s Shark"}\n' "$words" >here.jsonl
for keep in text sets; do
    "$TWINSIFT" index create --keep $keep there-$keep.twin && "$TWINSIFT" index add -q there-$keep.twin there.jsonl
done
for there in there.jsonl there-text.twin there-sets.twin; do
    run 0 --quiet --dry-run --against $there --report page.html here.jsonl
    grep -q "here is like &lt;there&gt; in $there" page.html || fail "$asked: the report does not name what is known"
    grep -o '<mark>[^<]*' page.html >marked
    case $there in
        *.jsonl) wanted='<mark>whale <mark>Shark ' ;;
        *-text.twin) wanted='<mark>whale <mark>shark ' ;; # normalised, as the index keeps it
        *) wanted='' ;;
    esac
    [ "$(tr '\n' ' ' <marked)" = "$wanted" ] || fail "$asked: marked $(cat marked)"
done
"$TWINSIFT" index create none.twin --keep none && "$TWINSIFT" index add -q none.twin one.jsonl
run 0 --threshold 0.5 --against none.twin one.jsonl
grep -qF 'none.twin: keeps no sets, so similarities are estimates' err || fail "$asked: estimates without a remark"
grep -qF 'none.twin: the index was planned for 0.8; a pair at 0.5 is found with probability' err ||
    fail "$asked: no remark about what is missed"
wrong 'use --against' --dry-run --update seen.twin corpus.jsonl

# ---- nothing that is read is overwritten, and no output by another

mkdir -p safe/in && cp one.jsonl safe/in/a.jsonl && cp folder/z safe/in/z.txt && ln -s in/a.jsonl safe/link.jsonl
cp seen.twin safe/
before=$(cat safe/in/* safe/seen.twin | cksum)
for output in safe/in/a.jsonl ./safe/../safe/in/a.jsonl safe/link.jsonl safe/in/; do
    wrong 'is read' safe/in/a.jsonl -o $output
done
wrong 'is read' safe/in/a.jsonl -o x.jsonl --groups safe/in/a.jsonl
wrong 'is read' --dry-run safe/in/a.jsonl --report safe/in/a.jsonl
wrong 'is in safe/in' -q safe/in -o safe/in/z.txt
wrong 'is read' corpus.jsonl --against safe/in/a.jsonl -o safe/in/a.jsonl
wrong 'is read' corpus.jsonl --against safe/seen.twin -o safe/seen.twin
wrong 'is read' corpus.jsonl --update safe/seen.twin -o safe/seen.twin
wrong 'is read' corpus.jsonl --update safe/seen.twin --groups safe/seen.twin -o x.jsonl
for option in --against --update; do # nor what an index has next to it, also if that is not there yet
    for ending in -lock -updated -update-0123456789abcdef.jsonl; do
        wrong 'belongs to the index' corpus.jsonl $option safe/seen.twin -o ./safe/seen.twin$ending
        wrong 'belongs to the index' corpus.jsonl $option safe/seen.twin --groups safe/in/../seen.twin$ending -o x.jsonl
    done
done
mv safe/seen.twin safe/seen.index
wrong 'belongs to the index' corpus.jsonl --update safe/seen.index -o safe/seen.index-updated
mv safe/seen.index safe/seen.twin
[ "$(ls safe)" = "$(printf 'in\nlink.jsonl\nseen.twin')" ] || fail "an output next to an index: $(ls safe)"
[ "$(cat safe/in/* safe/seen.twin | cksum)" = "$before" ] || fail "what is read was overwritten: $(ls -l safe safe/in)"
wrong 'two options' one.jsonl -o x.jsonl --groups ./x.jsonl
wrong 'two options' one.jsonl -o x.jsonl --groups y --report y
wrong 'two options' one.jsonl --groups -
wrong 'two options' one.jsonl -o parts/ --groups ./parts/../parts/one.jsonl
# Only documents have a file per input: that the others cannot be in a folder is said before anything is written.
mkdir -p folders
wrong 'is the name of a folder' one.jsonl -o x.jsonl --groups folders/
wrong 'is the name of a folder' one.jsonl -o x.jsonl --report none/
[ ! -e x.jsonl ] || fail "an output was written"
wrong 'only once' --against - - <one.jsonl
wrong 'has no name' - -o parts/ <one.jsonl
run 0 --quiet one.jsonl -o - --groups /dev/null --report /dev/null
cmp -s out day1.jsonl || fail "$asked: not the records on standard output"
run 0 --quiet one.jsonl -o x.jsonl --groups -
[ "$(head -c 8 out)" = '{"kept":' ] || fail "$asked: not the groups on standard output: $(head -1 out)"
run 0 --quiet one.jsonl --groups /dev/stdout # a file, to which run() redirects: the records are there, too
[ "$(grep -c '"kept":' out)" -gt 0 ] || fail "$asked: no groups in the file that /dev/stdout is"
[ "$(grep -c -v '"kept":' out)" -eq "$(wc -l <day1.jsonl)" ] || fail "$asked: not all records"

# ---- records of different tables do not fit below one header, which is said before anything is written

printf 'id,text\n1,a text of a table\n' >table.csv
printf 'text,id\nanother text of one,2\n' >other.csv
printf 'an earlier one\n' | tee x.jsonl >groups
wrong 'is of another format' --quiet table.csv one.jsonl -o x.jsonl --groups groups
wrong 'other.csv: has other columns' --quiet table.csv other.csv
[ ! -s out ] || fail "$asked: wrote $(head -1 out)"
[ "$(cat x.jsonl groups | uniq)" = 'an earlier one' ] || fail "a failed run changed an earlier output"
rm -rf safe x.jsonl groups other.csv

# A table without records has its header all the same, so that it can be read as a table; with others it adds nothing.
printf 'id,text' >empty.csv
printf '{"id":1,"text":"a text that is no table"}\n' >line.jsonl
run 0 --quiet empty.csv
prints 'id,text'
run 0 --quiet empty.csv empty.csv
prints 'id,text'
run 0 --quiet empty.csv table.csv empty.csv
cmp -s out table.csv || fail "$asked: $(cat out)"
run 0 --quiet empty.csv line.jsonl
cmp -s out line.jsonl || fail "$asked: $(cat out)"
run 0 --quiet empty.csv table.csv line.jsonl -o each/
[ "$(cat each/empty.csv)" = 'id,text' ] && cmp -s each/table.csv table.csv && cmp -s each/line.jsonl line.jsonl || fail "$asked: $(head each/*)"
run 0 --quiet --sets=, empty.csv
prints id
printf 'id,text\r\n2,another text of a table\r\n' >dos.csv
run 0 --quiet table.csv dos.csv
[ "$(wc -l <out)" = 3 ] || fail "$asked: the line ends are no columns: $(cat out)"
rm -rf each table.csv dos.csv empty.csv line.jsonl

# An id may be long, and a line no table; what is shown of them is not.
awk 'BEGIN { for (i = 0; i < 2; i++) { printf "{\"id\":\"%d", i; for (j = 0; j < 100000; j++) printf "long id "; print "\",\"text\":\"a text whose id is longer than it\"}" } }' >long.jsonl
run 0 --report long.html long.jsonl -o long.out
[ "$(wc -L <err)" -lt 1000 ] && grep -q '1 dropped for 0long id .*…' err || fail "$asked: shows a whole id: $(cut -c -200 err)"
[ "$(wc -c <long.html)" -lt 20000 ] || fail "$asked: the report has whole ids"
(printf 'id,text' && yes ,column | head -n 200000 | tr -d '\n' && printf '\n1,a\n') >wide.csv
wrong 'wide.csv is no table: its first line has more than 1048576 bytes' wide.csv
rm -f long.* wide.csv

# ---- a link is followed, also where there is no file yet

mkdir links
ln -s ../later.jsonl links/first
ln -s links/first second
run 0 --quiet one.jsonl -o second
[ -L second ] && [ -L links/first ] && cmp -s later.jsonl day1.jsonl || fail "$asked: $(ls -l second links later.jsonl)"
rm later.jsonl
wrong 'two options' one.jsonl -o second --groups later.jsonl
ln -sf nowhere/x second
wrong 'second: cannot be written: No such file' one.jsonl -o second
ln -sf second second
wrong 'second: cannot be written: Too many levels' one.jsonl -o second
[ -L second ] || fail "$asked: a link was replaced"
rm -rf links second
if mkdir mounted && touch mounted/file && unshare --mount mount --bind mounted/file mounted/file 2>/dev/null; then
    unshare --mount sh -c 'mount --bind mounted/file mounted/file && "$1" dedup one.jsonl -o mounted/file' - "$TWINSIFT" 2>err
    [ $? = 2 ] && grep -q 'is mounted' err || fail "an output that is mounted: $(cat err)"
fi

# ---- an output of many blocks is written in order, whoever has read them

"$TWINSIFT_GENERATE" --docs 8000 --seed 6 >large.jsonl
for threads in 1 2 5; do
    run 0 --quiet --threads $threads large.jsonl -o large.$threads
    cmp -s large.1 large.$threads || fail "$asked: another output than with one thread"
done
[ "$(stat -c %s large.1)" -gt 12000000 ] || fail "the output has too few blocks to show anything"
diff large.jsonl large.1 | awk '/^>/ { exit 1 }' || fail "an output of many blocks is not what is left of the input"
rm large.*

# ---- a name as long as names can be is written, and replaced

long=$(printf 'x%.0s' {1..249}).jsonl
for _ in 1 2; do
    run 0 --quiet one.jsonl -o $long
    cmp -s $long day1.jsonl || fail "an output with a long name"
done
rm -f $long

# ---- inputs that change while they are read: records of two versions are not mixed

# meanwhile COMMAND...: runs it when all inputs but the last, a pipe, have been opened.
meanwhile() {
    rm -f pipe.jsonl
    mkfifo pipe.jsonl
    cp one.jsonl changing.jsonl
    (exec 3>pipe.jsonl && "$@") &
}
grow() { head -n 1 corpus.jsonl >>changing.jsonl; }
change() { touch -d 2001-01-01 changing.jsonl; }
printf 'an earlier one\n' >x.jsonl
for to in x.jsonl each/; do
    meanwhile change
    wrong 'changing.jsonl: was changed while it was read' --quiet changing.jsonl pipe.jsonl -o $to
    wait
    [ "$(cat x.jsonl)" = 'an earlier one' ] && [ -z "$(ls each 2>/dev/null)" ] || fail "$asked: wrote something"
done
meanwhile grow
run 0 changing.jsonl pipe.jsonl -o x.jsonl
wait
says 'changing.jsonl: has grown while it was read; what was added is not in the output'
cmp -s x.jsonl day1.jsonl || fail "$asked: not what was there when it began"
wrong 'a pipe, cannot be read again' --resume pipe.jsonl -o x.jsonl
rm -f pipe.jsonl changing.jsonl x.jsonl

# ---- in a crowd, too, a field decides who stays and for whom, whatever the order of the input is

awk 'BEGIN { srand(4); for (i = 0; i < 300; i++) {
    text = ""
    place = int(rand() * 120); more = int(rand() * 3) * 9
    for (w = 0; w < 120; w++) {
        if (w == place) for (k = 0; k < more + 1; k++) text = text " x" int(rand() * 1e9)
        if (w < place || w > place + 5) text = text " w" w * w
    }
    printf "{\"id\":\"n%d\",\"score\":%d,\"text\":\"%s\"}\n", i, int(rand() * 40), text } }' >crowd.jsonl
# who_for_whom: lines of a dropped id and the one kept, from groups.jsonl.
who_for_whom() { grep -o '"kept":"[^"]*"\|"id":"[^"]*"' groups.jsonl | awk -F'"' '$2 == "kept" { kept = $4; next } { print $4, kept }' | sort; }
run 0 --stats --keep score:max --groups groups.jsonl crowd.jsonl -o a.jsonl
who_for_whom >usual
kept=$(wc -l <a.jsonl)
[ "$kept" -gt 3 ] && [ $((kept + $(wc -l <usual))) = 300 ] || fail "$asked: kept $kept, dropped $(wc -l <usual)"
for seed in 1 2 3; do
    awk -v seed=$seed 'BEGIN { srand(seed) } { print rand() "\t" $0 }' crowd.jsonl | sort | cut -f 2- >shuffled.jsonl
    run 0 --quiet --threads $seed --keep score:max --groups groups.jsonl shuffled.jsonl -o a.jsonl
    who_for_whom | cmp -s - usual || fail "$asked: the order of the input decides"
done

run 0 --dry-run corpus.jsonl
says ' % of the documents; saves '
[ ! -s out ] || fail "$asked: printed"
grep -q "^  kept *$(wc -l <reference) " err || fail "$asked: $(cat err)"
run 0 --audit 20 corpus.jsonl -o a.jsonl
grep -q '^audit: 20 kept documents compared with all others, 0 should' err || fail "$asked: no audit: $(cat err)"
grep -q '^reading .* s   .*B/s$' err || fail "$asked: no speed: $(cat err)"
run 0 --audit 20 --stats --report page.html corpus.jsonl -o a.jsonl
grep -q '"audit":{"documents":20,"missed":0,"recall":1.000000,' err || fail "$asked: no audit: $(cat err)"
grep -q '>recall</td>' page.html || fail "$asked: no recall in the report"
run 0 --stats corpus.jsonl -o a.jsonl
grep -q "^{\"stats\":{\"documents\":$documents,.*\"kept\":$(wc -l <reference)," err || fail "$asked: $(cat err)"
grep -oE '"[a-z_]+":' err | tr -d : | sort -u | while read -r member; do
    grep -qF "$member" "$manual" || echo "$member"
done >unnamed
[ ! -s unnamed ] || fail "the manual page does not name members of --stats: $(cat unnamed)"

printf '%s\n' '{"id":"<b>","text":"<script>alert(1)</script> and the same text twice over"}' \
    '{"id":"c","text":"<script>alert(1)</script> And the same text twice over"}' >markup.jsonl
run 0 --quiet --dry-run --report page.html markup.jsonl
grep -q '&lt;script&gt;alert' page.html && ! grep -q '<script' page.html || fail "$asked: markup of a text"
grep -q '>1 dropped; similarity 1.0000<' page.html && tail -n 1 page.html | grep -q '</html>' || fail "$asked: $(cat page.html)"
# Two texts whose first words are longer than what is compared: both are shown.
word=$(head -c 70000 /dev/zero | tr '\0' y)
printf '{"text":"%s%s and a few words that both of them have in common behind it, at their end"}\n' a "$word" b "$word" >long.jsonl
run 0 --quiet --dry-run --threshold 0.5 --report page.html long.jsonl
grep -q '<mark>ayyy' page.html && grep -q '<mark>byyy' page.html || fail "$asked: a long word is not shown"
run 0 --quiet --dry-run --report page.html corpus.jsonl
[ "$(grep -c '<svg' page.html)" = 2 ] || fail "$asked: not two plots"
wrong 'does not apply' --dry-run -o x corpus.jsonl

# ---- what is said where the outcome may not be what was meant

printf '%s\n' '{"id":"x","text":"hi"}' '{"id":"y","text":"hi"}' >short.jsonl
run 0 short.jsonl -o a.jsonl
says 'too short                 2   shorter than one shingle: similar only to equal ones'
run 0 --keep score:max corpus.jsonl -o a.jsonl
says 'do not have the field of --keep'
run 0 --stats --keep n:max fields.csv -o a.jsonl
says '"without_field":0,'
grep -q '"bytes_per_second":{"reading":[0-9]*,"deciding":' err || fail "$asked: no rate of a stage: $(cat err)"
mkdir -p shards
head -n 5 corpus.jsonl >shards/1.jsonl
head -n 9 corpus.jsonl >shards/2.jsonl
run 0 shards -o shards.out/ --groups groups.jsonl
says '5 documents have an id that another document has, so that groups do not say which is meant'
[ "$(ls shards.out | tr '\n' ' ')" = '1.jsonl 2.jsonl ' ] || fail "$asked: wrote $(ls shards.out)"
wrong "'twinsift index create missing.twin' creates it" --update missing.twin corpus.jsonl -o a.jsonl
wrong 'an index finds Jaccard similarity only' --measure containment --against some.twin corpus.jsonl -o a.jsonl
# Many texts in one that is too long to be read again for each of them; nothing but the last is new.
seq 100000 300000 | tr '\n' ' ' >long.text
{
    printf '{"id":"long","text":"%s"}\n' "$(cat long.text)"
    for ((i = 0; i < 20; i++)); do
        printf '{"id":%d,"text":"%s"}\n' $i "$(cut -c $((i * 50000 + 1))-$((i * 50000 + 300)) long.text)"
    done
    printf '{"id":"other","text":"%s"}\n' "$(cut -c 1-80 long.text) and a text that is not in the long one, of some length"
} >within.jsonl
run 0 --measure containment --groups groups.jsonl within.jsonl -o a.jsonl
[ "$(ids a.jsonl | tr '\n' ' ')" = 'long other ' ] || fail "$asked: kept $(ids a.jsonl)"
[ "$(grep -o '"similarity":1.0000' groups.jsonl | wc -l)" = 20 ] || fail "$asked: $(cat groups.jsonl)"
# One file twice, by another name or in a folder, is no collection that anybody means.
mkdir -p twice && cp one.jsonl twice/ && ln -s twice/one.jsonl another.jsonl
run 0 --dry-run twice another.jsonl
says 'another.jsonl: is given more than once'
run 0 --dry-run /dev/null one.jsonl /dev/null corpus.jsonl
! grep -q 'more than once' err || fail "$asked: $(cat err)"
rm -r twice another.jsonl

# Similarities that are close to each other have labels that differ.
awk 'BEGIN { for (i = 0; i < 3; i++) { printf "{\"id\":%d,\"text\":\"", i; for (j = 0; j < 9000; j++) printf "word%d ", j; for (j = 0; j < i; j++) printf "more%d ", j; print "\"}" } }' >close.jsonl
run 0 --quiet --dry-run --report close.html close.jsonl
[ "$(grep -o '"middle">0[.][0-9]*<' close.html | sort -u | wc -l)" = 12 ] || fail "$asked: $(grep -o '"middle">[^<]*<' close.html)"
rm close.*

# Excerpts are as wide in scripts whose characters have more bytes.
begin=市政府宣布将在河边修建一座新的图书馆预计明年春天开工总投资约 # 60 columns, 90 bytes
text=$begin三千万元而且不再推迟
printf '{"id":"%s","text":"%s"}\n' x "$text" y "$text" >wide.jsonl
run 0 wide.jsonl -o a.jsonl
says "dropped for x: $begin…"

# --keep last: of copies, and of similar ones, the one that comes last; also of sets.
head -n 12 "$TWINSIFT_ROOT/samples/articles.jsonl" >few.jsonl
tac few.jsonl >reversed.jsonl
run 0 -q --keep last few.jsonl -o last.jsonl --groups last.groups
run 0 -q reversed.jsonl -o first.jsonl
tac first.jsonl | cmp -s - last.jsonl || fail "--keep last is not --keep first of the reverse"
! cmp -s last.jsonl <("$TWINSIFT" dedup -q few.jsonl) || fail "--keep last keeps the first"
printf 'a\t1\nb\t1\n' >ab.tsv
run 0 -q --sets --keep last ab.tsv
prints b

# --dropped has the other documents, byte for byte: below the header of a table, and also those that are known.
run 0 -q few.jsonl -o kept.jsonl --dropped dropped.jsonl
[ -s dropped.jsonl ] && sort kept.jsonl dropped.jsonl | cmp -s - <(sort few.jsonl) || fail "$asked: not a partition"
cmp -s dropped.jsonl <(grep -vxFf kept.jsonl few.jsonl) || fail "$asked: another order"
run 0 -q --against kept.jsonl few.jsonl -o kept.none --dropped dropped.all.jsonl
cmp -s dropped.all.jsonl few.jsonl && [ ! -s kept.none ] || fail "$asked: known documents are not among the dropped"
printf 'id,text\n1,one text that is here twice\n2,another text\n3,one text that is here twice\n' >twice.csv
run 0 -q twice.csv -o once.csv --dropped dropped.csv
[ "$(cat dropped.csv)" = "$(sed -n '1p;4p' twice.csv)" ] || fail "$asked: $(cat dropped.csv)"
run 0 -q few.jsonl twice.csv -o parted/ --groups -
wrong 'is of another format' few.jsonl twice.csv -o parted/ --dropped mixed
wrong 'two options' few.jsonl -o x.jsonl --dropped x.jsonl
wrong 'is read' few.jsonl -o x.jsonl --dropped few.jsonl
wrong 'is the name of a folder' few.jsonl --dropped none/

# JSON arrays, and objects over several lines: by name, in a folder, from a pipe, compressed; the output is JSON lines.
{ echo '['; sed '$!s/$/,/; s/^{/{\n  /' few.jsonl; echo ']'; } >few.json
sed 's/^{/{\n/' few.jsonl >objects.json
run 0 -q few.jsonl -o kept.jsonl --groups kept.groups
mkdir -p arrays && cp few.json arrays/ && echo '{"name":"a document of its own"}' >arrays/settings.json
gzip -k few.json
for input in few.json objects.json few.json.gz /dev/stdin -; do
    run 0 -q $input -o from.jsonl --groups from.groups <few.json
    cmp -s kept.groups from.groups || fail "$asked: other groups"
    [ "$(wc -l <from.jsonl)" = "$(wc -l <kept.jsonl)" ] || fail "$asked: $(wc -l <from.jsonl) lines"
    sed 's/^{ */{/' from.jsonl | cmp -s - kept.jsonl || fail "$asked: other records"
done
cat few.json | "$TWINSIFT" dedup -q - | sed 's/^{ */{/' | cmp -s - kept.jsonl || fail "an array from a pipe"
run 0 -q arrays
[ "$(grep -c '^{' out)" = "$(wc -l <kept.jsonl)" ] && grep -qx settings.json out || fail "$asked: $(cat out)"
printf '[{"id":1,"text":"a text"},\n"no object",{"id":3}, {"id":4,"text":"another"}]' >some.json
run 0 some.json -o some.jsonl
says 'some.json:2:1: expected an object'
says 'some.json:3:1: no field "text"'
[ "$(wc -l <some.jsonl)" = 2 ] || fail "$asked: $(cat some.jsonl)"

# The page says what was run.
run 0 -q -t 0.7 few.jsonl -o "an output's name" --report page.html
for part in "<code>twinsift dedup -q -t 0.7 few.jsonl -o 'an output'\\''s name' --report page.html</code>" \
    '>few.jsonl<' '>0.7, Jaccard similarity<' "twinsift $("$TWINSIFT" --version | grep -o '[0-9][0-9.]*')" \
    "$(date -u +%Y-%m-%d)"; do
    grep -qF -- "$part" page.html || fail "$asked: the page has no $part"
done
SOURCE_DATE_EPOCH=86400 run 0 -q few.jsonl -o x.jsonl --report page.html
grep -q '1970-01-02 00:00 UTC' page.html || fail "SOURCE_DATE_EPOCH: another date"

# Outputs that are pipes, by the names that bash gives them.
run 0 -q few.jsonl -o >(cat >piped.jsonl) --dropped >(cat >piped.dropped)
for _ in 1 2 3 4 5 6 7 8 9 10; do
    cmp -s piped.jsonl kept.jsonl && cmp -s piped.dropped dropped.jsonl && break
    sleep 0.1
done
cmp -s piped.jsonl kept.jsonl && cmp -s piped.dropped dropped.jsonl || fail "-o >(COMMAND)"

# Standard output that is appended to what is read.
cp few.jsonl own.jsonl
"$TWINSIFT" dedup -q own.jsonl >>own.jsonl 2>err
[ $? = 2 ] && grep -q 'own.jsonl: is read' err && cmp -s few.jsonl own.jsonl || fail ">> to its input: $(cat err)"
"$TWINSIFT" pairs -q few.jsonl --against own.jsonl >>own.jsonl 2>err
[ $? = 2 ] && cmp -s few.jsonl own.jsonl || fail "pairs >> to what it is compared with: $(cat err)"
"$TWINSIFT" dedup -q - <own.jsonl >>own.jsonl 2>err
[ $? = 2 ] && grep -q 'standard input: is read' err && cmp -s few.jsonl own.jsonl || fail "< and >>: $(cat err)"
mkdir own && cp few.jsonl own/
"$TWINSIFT" dedup -q own >>own/few.jsonl 2>err
[ $? = 2 ] && grep -q 'standard output: is in own' err && cmp -s few.jsonl own/few.jsonl || fail ">> to a folder: $(cat err)"
"$TWINSIFT" dedup -q own >own/new 2>err || fail "> to a new file in a folder: $(cat err)"

# One document, or none, has no copies.
run 0 <(head -n 1 few.jsonl)
says 'there is one document in the input'
run 0 <(head -n 1 few.jsonl) --against few.jsonl
! grep -q 'there is one document' err || fail "$asked: it is compared with others"
run 0 /dev/null
says 'there are no documents'

# --memory in units, and as a share.
for size in 2GB 2GiB 100% 0.1e9B; do
    run 0 -q --memory $size few.jsonl -o x.jsonl
    cmp -s x.jsonl kept.jsonl || fail "--memory $size: another output"
done
wrong 'is not a number of bytes, such as 2G, 2GB or 2GiB' --memory 2XB few.jsonl
wrong 'at least 64M' --memory 63MB few.jsonl
wrong 'is not a share from 1% to 100%' --memory 101% few.jsonl
wrong '--keep must be first' --sets --keep longest sets.tsv
# A folder that is missing is noticed before the input is read.
for option in '-o missing/x.jsonl' '-o missing/folder/' '-o parts' '--groups missing/x' '--report missing/x'; do
    wrong 'cannot be written' ids.jsonl $option
done
printf 'old\n' >old.jsonl
run 2 corpus.jsonl missing.jsonl -o old.jsonl
[ "$(cat old.jsonl)" = old ] || fail "$asked: changed an earlier output"
if [ -e /dev/full ]; then
    wrong 'No space left' --quiet corpus.jsonl -o /dev/full
    run 2 --quiet --groups /dev/full corpus.jsonl -o old.jsonl
    printf 'earlier groups\n' >groups
    wrong 'No space left' --quiet corpus.jsonl -o /dev/full --groups groups
    [ "$(cat groups)" = 'earlier groups' ] || fail "groups were replaced though the records could not be written"
    [ "$(cat old.jsonl)" = old ] || fail "$asked: changed an earlier output"
fi
(trap '' XFSZ && ulimit -f 1 && exec "$TWINSIFT" dedup -q corpus.jsonl -o old.jsonl) 2>err
[ $? = 2 ] && grep -q ': old.jsonl: could not be written: File too large' err || fail "a file too large: $(cat err)"
[ "$(cat old.jsonl)" = old ] || fail "a file too large replaced an earlier output"
! ls | grep -q '\.jsonl\.......$' || fail "left something behind: $(ls)"
: >empty.jsonl
run 0 empty.jsonl -o none.jsonl
[ -e none.jsonl ] && [ ! -s none.jsonl ] || fail "$asked: no empty output"

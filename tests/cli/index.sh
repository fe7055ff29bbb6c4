#!/usr/bin/env bash
# twinsift index: output, errors, exit status, and agreement with twinsift pairs.
: "${TWINSIFT_ROOT:?the source tree}"
program=("${TWINSIFT:?the program to test}" index) named='twinsift index'
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
# has WORDS: the last run had this on standard output.
has() { grep -qF -- "$1" out || fail "$asked: no \"$1\" in: $(cat out)"; }
tab=$(printf '\t')

# A collection: families of five, each a text of 60 numbers with the last few changed; the fourth is a copy of the first.
awk 'BEGIN { for (family = 0; family < 60; family++) for (one = 0; one < 5; one++) {
    printf "{\"id\":\"f%d-%d\",\"text\":\"", family, one
    for (word = 0; word < 60; word++) printf "w%d ", (word < 60 - one % 3 * 4 ? word : word + 100 * one) * 977 % 10007 + family * 7919
    print "\"}" } }' >corpus.jsonl

# ---- answers are those of pairs, whatever is kept and in whatever batches

"$TWINSIFT" pairs corpus.jsonl >pairs.tsv || fail 'pairs'
[ "$(wc -l <pairs.tsv)" -gt 100 ] || fail "the collection has too few lookalikes: $(wc -l <pairs.tsv)"
printf 0123456789abcdef >key # with one that is drawn, an index may miss a pair that is expected here, if rarely
for keep in sets text; do
    run 0 create $keep.twin --keep $keep --key-file key
    run 0 add $keep.twin --batch 37 corpus.jsonl
    says '300 added, 0 replaced'
    run 0 check $keep.twin
    prints 'good: 300 documents, 240 different sets'
    run 0 pairs $keep.twin
    cmp -s out pairs.tsv || fail "keep $keep: the pairs are not those of twinsift pairs"
    run 0 query $keep.twin corpus.jsonl
    sort out >queried
    # A query reports every document, itself too; pairs reports a copy once, so copies are compared separately.
    "$TWINSIFT" pairs --copies all corpus.jsonl >all.tsv
    { cat all.tsv; awk -F'\t' -v OFS='\t' '{ print $2, $1, $3 }' all.tsv
      sed 's/{"id":"\([^"]*\)".*/\1\t\1\t1.0000/' corpus.jsonl; } | sort >expected
    cmp -s queried expected || fail "keep $keep: $(diff queried expected | head -5)"
done
run 0 query sets.twin --threads 1 corpus.jsonl && cp out one
run 0 query sets.twin --threads 3 --executor pthreads corpus.jsonl && cmp -s one out || fail 'threads change the answer'
"$TWINSIFT" pairs --threshold 0.95 corpus.jsonl >high.tsv
run 0 pairs sets.twin --threshold 0.95 && cmp -s out high.tsv || fail 'pairs above a higher threshold'
[ ! -s err ] || fail "pairs above a higher threshold: $(cat err)"
run 0 pairs sets.twin --threshold 0.3
says 'sets.twin: the index was planned for 0.8; a pair at 0.3 is found with probability 0.059'
run 0 query sets.twin --threshold 0.3 corpus.jsonl
says 'the index was planned for 0.8; a pair at 0.3 is found with probability 0.059'
run 0 pairs sets.twin --threshold 0.3 --quiet
[ ! -s err ] || fail "pairs --quiet: $(cat err)"
run 0 pairs sets.twin --copies none && [ "$(wc -l <out)" -lt "$(wc -l <pairs.tsv)" ] || fail 'pairs without copies'

run 0 create none.twin --keep none
run 0 add none.twin -q corpus.jsonl
[ ! -s err ] || fail "$asked: said $(cat err)"
run 0 query none.twin corpus.jsonl
says 'similarities are estimates from 128 hashes'
run 0 query none.twin --json -q corpus.jsonl
has '"estimated":true'

# ---- one question

head -1 corpus.jsonl >one.jsonl
run 0 query sets.twin --top 2 one.jsonl
prints "f0-0${tab}f0-0${tab}1.0000
f0-0${tab}f0-3${tab}1.0000"
echo '{"text":"nothing that was ever seen before, by anyone"}' | run 1 query sets.twin -
prints ''
run 0 query text.twin --top 1 --show one.jsonl
has 'w0 w977 w1954'
wrong 'keeps no texts' query sets.twin --show one.jsonl
run 0 query sets.twin --json --top 1 one.jsonl
prints '{"query":"f0-0","id":"f0-0","similarity":1.0000,"label":0,"time":0}'

# A query that may compare fewer candidates than there are says so, also in JSON, and compares the most promising.
run 0 query sets.twin --most-compared 1 one.jsonl
prints "f0-0${tab}f0-0${tab}1.0000
f0-0${tab}f0-3${tab}1.0000"
says 'sets.twin: 1 query had more candidates than the 1 that were compared, the most promising; similar documents may'
run 0 query sets.twin --most-compared 1 --json --stats -q one.jsonl
has '"time":0,"incomplete":true}'
says '"incomplete":1'
run 0 query sets.twin --most-compared 1000 --json --stats one.jsonl
says '"incomplete":0'
! grep -q incomplete out || fail "$asked: a complete answer is said to be incomplete"

# ---- replacing, labels, removing

echo '{"id":"f0-0","text":"something else altogether, with a few words of its own"}' >new.jsonl
run 0 add sets.twin --label 3 --time 99 new.jsonl
says '0 added, 1 replaced'
run 0 query sets.twin --json new.jsonl
prints '{"query":"f0-0","id":"f0-0","similarity":1.0000,"label":3,"time":99}'
run 0 query sets.twin --top 1 one.jsonl
prints "f0-0${tab}f0-3${tab}1.0000"
run 1 remove sets.twin f0-0 nobody
says '"nobody" is not in the index'
says '1 removed'
run 1 query sets.twin new.jsonl
printf 'f1-0\nf1-1\n' | run 0 remove sets.twin -
run 0 check sets.twin
prints 'good: 297 documents, 239 different sets'
run 0 add sets.twin --label 5 one.jsonl
run 0 query sets.twin --per-label --json one.jsonl
[ "$(wc -l <out)" = 2 ] || fail "$asked: not one of each label: $(cat out)"

# ---- an input without documents

: >nothing.jsonl
run 0 create nothing.twin
run 0 add nothing.twin nothing.jsonl
says 'there are no documents in the input'
run 1 query nothing.twin nothing.jsonl
says 'there are no documents in the input'
run 1 query nothing.twin one.jsonl
says 'nothing.twin: has no documents, so there is nothing to compare'
run 0 export nothing.twin
says 'nothing.twin: has no documents'
run 0 pairs nothing.twin
says 'nothing.twin: has no documents, so there is nothing to compare'
run 0 add -q nothing.twin nothing.jsonl
[ ! -s err ] || fail "$asked: $(cat err)"
yes | head -n 20000 | awk '{ print "{\"id\":" NR ",\"text\":\"number " NR * 7919 " of many\"}" }' >many.jsonl
(trap '' XFSZ && ulimit -f 500 && exec "$TWINSIFT" index add -q nothing.twin many.jsonl) 2>err
[ $? = 2 ] && grep -q 'nothing.twin: could not be written: File too large' err || fail "a file too large: $(cat err)"

# ---- removing: an id is a line as it is, or as it is printed; once is enough; a list may be long, or empty

printf '%s\n' '{"id":"blank ","text":"an id that ends with a blank"}' '{"id":"a\tb","text":"an id with a tab"}' \
    '{"id":"c\\x41","text":"an id that looks escaped"}' '{"id":"twice","text":"an id that is given twice"}' \
    '{"id":"many","text":"an id in a list of many"}' >odd.jsonl
run 0 create odd.twin
run 0 add odd.twin odd.jsonl
printf 'blank \r\n' | run 0 remove odd.twin -
run 0 query odd.twin odd.jsonl
cut -f 2 out | grep -v 'many\|twice' >printed
run 0 remove odd.twin - <printed
says '2 removed'
run 0 remove odd.twin twice twice
says '1 removed'
run 0 remove odd.twin - </dev/null
says '0 removed'
awk 'BEGIN { for (i = 0; i < 1300000; i++) print "missing" i; print "many" }' | run 1 remove odd.twin -
says '1299980 more are not in the index'
says '1 removed'

# ---- ids that repeat in one input; skipped queries

head -n 3 corpus.jsonl >shard1.jsonl
tail -n 2 shard1.jsonl >shard2.jsonl
run 0 create shards.twin
run 0 add shards.twin shard1.jsonl shard2.jsonl
says '3 added, 2 replaced'
says '2 documents replaced an earlier one of the input with the same id; if ids are unique in each file only, use --id'
run 0 add shards.twin --json --batch 1 shard1.jsonl
has '"replaced":3,"repeated":0,'
{ cat shard1.jsonl; echo bad; } | run 0 query shards.twin --quiet --stats --json -
says '{"stats":{"queries":3,"skipped":1,"found":3,"matches":'

# ---- little room for addresses: the map is as large as the file, not four times as large

if [ -z "${TWINSIFT_SANITIZED-}" ]; then
    run 0 create large.twin --hashes 16384
    run 0 add large.twin corpus.jsonl
    (ulimit -v 100000 && "$TWINSIFT" index query large.twin --threads 1 shard1.jsonl >out 2>err) ||
        fail "a file of $(stat -c %s large.twin) bytes in 100 MB: $(cat err)"
fi

# ---- cut short while it is open: the pipe is read once the index is open, and the query comes after

run 0 create shrinks.twin --keep text
run 0 add shrinks.twin corpus.jsonl
mkfifo pipe
("$TWINSIFT" index query shrinks.twin - <pipe >out 2>err; echo $? >status) &
{ cat corpus.jsonl; truncate -s 8K shrinks.twin; cat shard1.jsonl; } >pipe
wait
asked='index query of a file cut short'
[ "$(cat status)" = 2 ] || fail "$asked: status $(cat status): $(cat err)"
says 'shrinks.twin'

# ---- words where there are no blanks

run 0 create words.twin --shingle word:3
printf '%s\n' '{"id":1,"text":"老茶馆里的新书架城南的老茶馆去年冬天差点关门"}' '{"id":2,"text":"plain words with blanks"}' |
    run 0 add words.twin -
says '1 document is in a script without blanks between words, such as Chinese, Japanese or Thai: create the index with'

# ---- what it is like

run 0 info sets.twin
for words in 'documents        298' 'auto:9' '128 hashes' '25 bands of 5 rows' 'kept             sets' 'buckets' 'recall'; do
    has "$words"
done
run 0 info --json sets.twin
if command -v python3 >/dev/null; then
    python3 -c '
import json
info = json.load(open("out"))
assert info["documents"] == 298 and info["bands"] == 25 and info["keep"] == "sets", info
assert len(info["recall"]) == 21 and info["recall"][16][1] > 0.999, info
assert info["bytes"]["file"] > 0 and info["largest_bucket"] >= 2, info' || fail "$asked: not the JSON it should be"
fi
run 0 export sets.twin
[ "$(wc -l <out)" = 298 ] || fail "$asked: $(wc -l <out) lines"
grep -q '^{"id":"f0-1","label":0,"time":0,"set":[0-9]*,"size":[0-9]*,"signature":\[[0-9,]*\]}$' out || fail "$asked: $(head -1 out)"
run 0 pairs sets.twin && cp out before
run 0 compact sets.twin
run 0 pairs sets.twin && cmp -s out before || fail 'compacting changed the pairs'
run 0 check sets.twin

# ---- other inputs

mkdir texts && for i in 1 2 3; do printf 'a small text, number %s of a few that look alike, all in a folder' "$i" >texts/$i.txt; done
run 0 create folder.twin --threshold 0.6 --shingle char:5 --key-file key
run 0 add folder.twin texts
run 0 query folder.twin texts && [ "$(wc -l <out)" = 9 ] || fail "a folder: $(cat out)"
for set in 1 2; do for i in 1 2 3 4 5 6 7 8 9 $((set + 10)); do printf 's%s\te%s\n' $set $i; done; done >rows.tsv
run 0 create rows.twin --sets --key-file key
run 0 add rows.twin rows.tsv
run 0 query rows.twin rows.tsv && has "s1${tab}s2${tab}0.8182"
printf '{"text":"a line without an id is called by its number"}\nbroken\n{"id":"x","text":""}\n' >odd.jsonl
run 0 add folder.twin odd.jsonl
says 'odd.jsonl:2:1: expected an object'
says '1 document has no shingle'
run 0 query folder.twin odd.jsonl
prints "1${tab}odd.jsonl:1${tab}1.0000"
run 2 add folder.twin --strict odd.jsonl
run 0 check folder.twin

# ---- wrong uses

wrong 'missing verb: create, add, '
wrong 'unknown verb "ad"; did you mean "add"?' ad sets.twin
wrong 'missing argument; usage: twinsift index create [OPTION]... FILE' create
wrong '--force replaces it' create sets.twin
echo 'a thesis' >thesis.txt
wrong 'thesis.txt: is not an index, so it is not replaced' create --force thesis.txt
[ "$(cat thesis.txt)" = 'a thesis' ] || fail "--force replaced a file that is no index"
: >empty.twin
run 0 create --force empty.twin
"$TWINSIFT" mail learn -q -m model.twin --as ham "$TWINSIFT_ROOT/samples/mail/ham" 2>err ||
    grep -q 'not supported' err || fail "mail learn: $(cat err)"
[ ! -e model.twin ] || wrong 'model.twin: is not an index, so it is not replaced' create --force model.twin
wrong 'no input' add sets.twin
wrong 'missing.twin: could not be opened' query missing.twin one.jsonl
wrong "; 'twinsift index create' creates an index" add missing.twin one.jsonl
wrong '--shingle contradicts what was stored' add sets.twin --shingle char:8 one.jsonl
wrong '--hashes contradicts what was stored' query sets.twin --hashes 64 one.jsonl
wrong '--keep contradicts what was stored' add sets.twin --keep text one.jsonl
wrong '--sets contradicts what was stored' add sets.twin --sets rows.tsv
wrong '--hash contradicts what was stored' query sets.twin --hash jenkins one.jsonl
wrong "--verify does not apply to 'index query'; see 'twinsift index query --help'" query sets.twin --verify none one.jsonl
wrong "--top does not apply to 'index add'; see 'twinsift index add --help'" add sets.twin --top 3 one.jsonl
wrong '--keep: "all" is not' create x.twin --keep all
wrong 'sets have no text' create x.twin --sets --keep text
wrong '--copies: "all" is not one of first, none' pairs sets.twin --copies all
wrong 'unexpected argument "text.twin"' info sets.twin text.twin
run 0 query sets.twin --shingle auto --hashes 128 one.jsonl
[ ! -e x.twin ] || fail 'a refused index was left behind'

# ---- inputs of which nothing can be read: an error, not "no match" or "done"

echo 'plain text' >plain.jsonl
run 2 query sets.twin plain.jsonl
prints ''
says 'no document could be read'
run 2 add sets.twin plain.jsonl
prints ''
says 'no document could be read'
run 2 add --json sets.twin plain.jsonl
prints ''
echo 'no tab' >plain.tsv
run 2 query rows.twin plain.tsv
says 'no line could be read'
{ cat plain.jsonl && echo '{"text":"nothing that was ever seen before, by anyone"}'; } >half.jsonl
run 1 query sets.twin half.jsonl
run 0 add folder.twin -q half.jsonl
: >nothing.jsonl
run 1 query sets.twin nothing.jsonl
run 0 add sets.twin nothing.jsonl

# ---- files that are none

head -c 20000 /dev/zero >zero.twin
wrong 'zero.twin: is not an index' query zero.twin one.jsonl
: >empty.twin
wrong 'empty.twin: is empty' info empty.twin
head -c 100000 sets.twin >cut.twin
wrong 'cut.twin: was cut short' check cut.twin
cp corpus.jsonl text-file.twin
wrong 'is not an index' add text-file.twin one.jsonl
wrong 'pipe: is not a file' info pipe

# ---- a full disk, and a key

(ulimit -f 200 && "$TWINSIFT" index create full.twin && "$TWINSIFT" index add full.twin corpus.jsonl >out 2>err)
[ $? = 2 ] || fail "a full disk: $(cat err)"
grep -q 'full.twin: could not be written: .*; nothing of this batch was written, batches before it remain' err || fail "a full disk: $(cat err)"
run 0 check full.twin
prints 'good: 0 documents, 0 different sets'

# A file system that is really full, where mounting is allowed; batches before the last stay, and a reader does not mind.
mkdir disk
if unshare --mount mount -t tmpfs none disk 2>/dev/null; then
    # shellcheck disable=SC2016
    TWINSIFT=$TWINSIFT unshare --mount bash -c 'mount -t tmpfs -o size=300k none disk && cd disk || exit 9
        "$TWINSIFT" index create small.twin && "$TWINSIFT" index add --batch 20 --threads 2 small.twin ../corpus.jsonl
        echo $? && "$TWINSIFT" index check small.twin' >out 2>err
    grep -q '^2$' out && grep -qE '^good: [0-9]*[02468]0 documents' out || fail "a full file system: $(cat out err)"
    grep -qF 'No space left on device; nothing of this batch was written, batches before it remain' err || fail "a full file system: $(cat err)"
else
    echo 'skipped: a full file system (mounting is not allowed here)'
fi
run 0 create keyed.twin --hash sip
[ "$(stat -c %a keyed.twin)" = 600 ] || fail 'a secret key that others may read'
run 0 add keyed.twin corpus.jsonl
run 0 pairs keyed.twin && [ "$(sort out)" = "$(sort pairs.tsv)" ] || fail 'a keyed index finds other pairs'

# A link is followed, not replaced, and the lock file stands beside the file.
mkdir elsewhere && cp sets.twin elsewhere/real.twin && ln -s elsewhere/real.twin link.twin
run 0 add link.twin --label 3 one.jsonl
run 0 compact link.twin
run 0 create link.twin --force
[ -L link.twin ] && [ -e elsewhere/real.twin-lock ] && [ ! -e link.twin-lock ] || fail "a link: $(ls -l . elsewhere)"
run 0 check elsewhere/real.twin
prints 'good: 0 documents, 0 different sets'

# ---- locks: --wait

# hold: another process reads wait.twin, until a line comes to release.
mkfifo held release
hold()
{
    (flock -s 9 && echo >held && read -r _ <release) 9<wait.twin &
    read -r _ <held
}
run 0 create wait.twin
hold
run 0 compact --quiet wait.twin # a reader does not keep it out
echo >release
hold
wrong 'is in use by another process' create --force wait.twin
wrong 'is in use by another process' create --force --wait=0.1 wait.twin
wrong 'is not a number of seconds' create --wait=long wait.twin
{ sleep 0.3; echo >release; } &
run 0 create --force --wait=60 wait.twin
run 0 create --force --wait wait.twin
wait

# ---- what earlier versions wrote

cp "$TWINSIFT_ROOT/tests/golden/index.twin" golden.twin && chmod u+w golden.twin
run 0 check golden.twin
prints 'good: 3 documents, 3 different sets'
echo '{"id":"q","text":"the first of two small texts"}' | run 0 query golden.twin -
prints "q${tab}a${tab}1.0000"
echo '{"id":"c","text":"the first of two small texts"}' | run 0 add golden.twin -
run 0 check golden.twin
prints 'good: 4 documents, 3 different sets'
cp "$TWINSIFT_ROOT/tests/golden/keyed.twin" keyed.twin && chmod u+w keyed.twin
printf 0123456789abcdef >key
run 0 check --key-file key keyed.twin
prints 'good: 3 documents, 3 different sets'
echo '{"id":"q","text":"the first of two small texts"}' | run 0 query keyed.twin -
prints "q${tab}a${tab}1.0000"
echo '{"id":"c","text":"the first of two small texts"}' | run 0 add keyed.twin -
run 0 check keyed.twin
prints 'good: 4 documents, 3 different sets'

run 0 --help
grep -q '^Usage: twinsift index VERB' out && grep -q '^Examples:' out || fail "$asked: no usage or no examples"

[ -z "$(find . -name '*.new*')" ] || fail "files were left behind: $(find . -name '*.new*')"

# ---- texts by edit distance: the answers are those of pairs, after texts were added, replaced and removed

awk 'BEGIN { srand(7); for (i = 1; i <= 400; i++) { name = ""
    for (j = 0; j < 5 + i % 9; j++) name = name substr("abcd", 1 + int(4 * rand()), 1)
    print name } }' >names.txt
sed -n '1~9p' names.txt | sed 's/^\(...\)./\1/' >asked.txt
head -150 names.txt | tr abcd badc >other.txt
run 0 create names.twin --measure edit --max-edits 2
run 0 add names.twin --batch 60 --as lines other.txt names.txt
says '550 added, 0 replaced'
seq -f 'other.txt:%g' 150 | run 0 remove names.twin -
says '150 removed'
tac names.txt >turned && mv names.txt kept.txt && mv turned names.txt
run 0 add names.twin --as lines names.txt
says '0 added, 400 replaced'
mv kept.txt names.txt
run 0 add names.twin --as lines names.txt
run 0 check names.twin
[[ $(cat out) == 'good: 400 documents'* ]] || fail "$asked: $(cat out)"
for edits in 0 1 2; do
    "$TWINSIFT" pairs -q --as lines --measure edit --max-edits $edits --copies all names.txt --against asked.txt |
        awk -F '\t' -v OFS='\t' '{ print $2, "names.txt:" $1, $3 }' | sort >expected
    run 0 query names.twin --as lines --max-edits $edits asked.txt
    sort out | cmp -s - expected || fail "$asked: $(sort out | diff - expected | head -5)"
done
[ "$(wc -l <expected)" -gt 200 ] || fail "only $(wc -l <expected) names within two edits"
run 0 query names.twin --as lines --threads 1 asked.txt # within the two edits of the index
sort out | cmp -s - expected || fail "$asked: not those within two edits"
run 0 query names.twin --as lines --threshold 0.95 asked.txt
run 0 info names.twin
has 'edit distance; all texts within 2 edits are found'
run 0 query names.twin --as lines --threshold 0.8 --audit 5 asked.txt # beyond the two edits
says 'audit: 5 queries compared with all texts'
says 'audit: recall 1.0000'
run 0 query names.twin --as lines --threshold 0.8 --audit 5 --json asked.txt
has '{"audit":{"documents":5,'
wrong 'compares sets' query --audit 5 sets.twin corpus.jsonl
wrong 'compares sets, so --max-edits' query --max-edits 1 sets.twin corpus.jsonl
wrong "'twinsift pairs --measure edit' finds all pairs" pairs names.twin
wrong 'needs --measure edit' create other.twin --max-edits 1
wrong 'must be text' create other.twin --measure edit --keep none
wrong "an option of 'index query'" create other.twin --measure edit --threshold 0.5
wrong 'char:N' create other.twin --measure edit --shingle word:3

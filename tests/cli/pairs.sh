#!/usr/bin/env bash
# What twinsift pairs answers: containment, groups, two collections, files. $TWINSIFT is the program.
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
# words FIRST LAST: so many different words in a line.
words() { seq -s ' ' -f 'w%g' "$1" "$2"; }

# ---- containment: a text inside one of a thousand times its size, which no signature shows

for i in 1 2 3 4; do
    printf '{"id":"long%d","text":"%s"}\n' $i "$(words ${i}00000 ${i}09999)"
done >contained.jsonl
printf '{"id":"part","text":"%s"}\n' "$(words 305000 305011)" >>contained.jsonl
run 0 pairs --measure containment --shingle word:3 --threshold 1 contained.jsonl
prints $'long3\tpart\t1.0000'
[ ! -s err ] || fail "$asked: said $(cat err)"
run 0 pairs --measure containment --shingle word:3 --threshold 1 --audit 5 contained.jsonl
says 'recall 1.0000'
run 0 pairs --measure containment --shingle word:3 --threshold 1 --bands 4 --hashes 64 contained.jsonl
prints $'long3\tpart\t1.0000'
says '--bands has no effect'
says '--hashes has no effect'

# ---- a plan that misses pairs says so

run 0 pairs --bands 10 --rows 20 contained.jsonl
says '10 bands of 20 rows find a pair at the threshold with probability 0.1095 only'
run 0 dedup --dry-run --bands 10 --rows 20 contained.jsonl
says '10 bands of 20 rows find a pair at the threshold with probability 0.1095 only'
run 0 pairs --quiet --bands 10 --rows 20 contained.jsonl
[ ! -s err ] || fail "$asked: said $(cat err)"

# ---- and one that has what a low threshold needs says nothing

printf '{"id":1,"text":"alpha beta"}\n{"id":2,"text":"alpha gamma"}\n' >words.jsonl
run 0 pairs --shingle word:1 --threshold 0.02 words.jsonl
prints $'1\t2\t0.3333'
[ ! -s err ] || fail "$asked: said $(cat err)"
run 0 pairs --shingle word:1 --threshold 0.02 --hashes 128 words.jsonl
says '128 hashes find a pair at the threshold with probability 0.9247'

# ---- groups: each document with the one that represents it, verified

{
    printf '{"id":"a","text":"%s"}\n' "$(words 1 100)"
    printf '{"id":7,"text":"%s"}\n' "$(words 1 99)" # similar to a and to c, as a chain
    printf '{"id":"alone","text":"%s"}\n' "$(words 500 600)"
    printf '{"id":"a2","text":"%s"}\n' "$(words 1 100)"
    printf '{"id":"b2","text":"%s"}\n' "$(words 1 99)"
    printf '{"id":"c","text":"%s"}\n' "$(words 10 99)"
    printf '{"id":"d","text":"%s"}\n' "$(words 12 99)"
} >groups.jsonl
groups=$'a\ta\t1.0000\na\t7\t0.9898\na\ta2\t1.0000\na\tb2\t0.9898\nc\tc\t1.0000\nc\td\t0.9773'
options="--shingle word:3 --threshold 0.9"
run 0 pairs --groups $options groups.jsonl
prints "$groups"
run 0 pairs --groups $options --threads 1 --stats groups.jsonl
prints "$groups"
says '6   printed'
run 0 pairs --groups --method forest $options groups.jsonl
prints "$groups"
run 0 pairs --groups --json $options groups.jsonl
[ "$(sed -n 2p out)" = '{"group":"a","id":7,"similarity":0.9898}' ] || fail "$asked: printed $(sed -n 2p out)"
edits=$'a\ta\t1.0000\na\t7\t0.9936\na\ta2\t1.0000\na\tb2\t0.9936\na\tc\t0.9573\na\td\t0.9461'
run 0 pairs --groups --measure edit --threshold 0.9 groups.jsonl
prints "$edits"
wrong 'so --copies does not apply' pairs --groups --copies none groups.jsonl
wrong '--audit counts pairs' pairs --groups --audit 3 groups.jsonl

# ---- --against: only pairs between two collections, whose ids may be the same

{
    printf '{"id":"a","text":"%s"}\n' "$(words 1 98)"
    printf '{"id":"x","text":"%s"}\n' "$(words 1 98)"
    printf '{"id":"other","text":"%s"}\n' "$(words 700 800)"
} >against.jsonl
printf '{"id":"z","text":"%s"}\n' "$(words 501 600)" >more.jsonl
across=$'a\ta\t0.9796\na\tx\t0.9796\n7\ta\t0.9897\n7\tx\t0.9897\nalone\tz\t0.9899\na2\ta\t0.9796\nb2\ta\t0.9897'
run 0 pairs $options groups.jsonl --against against.jsonl --against more.jsonl
prints "$across"
run 0 pairs $options --threads 1 --output between.tsv groups.jsonl --against against.jsonl --against more.jsonl
[ "$(cat between.tsv)" = "$across" ] || fail "$asked: wrote $(cat between.tsv)"
run 0 pairs $options --copies none groups.jsonl --against against.jsonl
prints "$(printf '%s\n' "$across" | awk '$1 !~ /2|alone/ && $2 != "x"')"
run 0 pairs $options --copies all --json groups.jsonl --against against.jsonl
[ "$(wc -l <out)" = 8 ] && grep -qxF '{"a":7,"b":"x","similarity":0.9897}' out || fail "$asked: printed $(cat out)"
run 0 pairs --measure containment $options --copies none groups.jsonl --against against.jsonl
[ "$(grep -c 1.0000 out)" = 2 ] || fail "$asked: printed $(cat out)"
run 0 pairs $options --stats groups.jsonl --against against.jsonl
says 'documents              10 '
run 0 index create against.twin --shingle word:3 --threshold 0.9
run 0 index add against.twin against.jsonl more.jsonl
run 0 pairs groups.jsonl --against against.twin
[ "$(sort out)" = "$(printf '%s\n' "$across" $'a2\tx\t0.9796' $'b2\tx\t0.9897' | sort | uniq)" ] ||
    fail "$asked: printed $(cat out)"
wrong 'an index cannot be combined' pairs groups.jsonl --against against.twin --against more.jsonl
wrong 'do not apply' pairs groups.jsonl --copies all --against against.twin
wrong 'contradicts what was stored' pairs groups.jsonl --shingle word:5 --against against.twin
wrong 'by the measure of the index' pairs --measure edit groups.jsonl --against against.twin
wrong '--groups and --audit cannot be used' pairs --groups groups.jsonl --against against.jsonl
wrong 'only one of the two' pairs - --against - </dev/null
wrong 'missing.jsonl' pairs groups.jsonl --against missing.jsonl

# ---- --output: whole or not at all

run 0 pairs $options groups.jsonl
cp out expected
run 0 pairs $options groups.jsonl --output pairs.tsv
[ ! -s out ] && cmp -s pairs.tsv expected || fail "$asked: wrote $(cat pairs.tsv)"
run 0 pairs $options groups.jsonl -o pairs.tsv.gz
gzip -dc pairs.tsv.gz | cmp -s - expected || fail "$asked: not what was printed"
run 2 pairs --strict $options groups.jsonl missing.jsonl -o pairs.tsv
cmp -s pairs.tsv expected || fail "$asked: an earlier file changed"
wrong 'cannot be written' pairs $options groups.jsonl -o no/such/folder.tsv
cp groups.jsonl same.jsonl
wrong 'is read' pairs $options same.jsonl -o ./same.jsonl
wrong 'is read' pairs $options groups.jsonl --against same.jsonl -o same.jsonl
cmp -s groups.jsonl same.jsonl || fail "an input was overwritten"
run 0 pairs $options groups.jsonl -o -
cmp -s out pairs.tsv || fail "$asked: not the pairs on standard output"
[ ! -e /dev/full ] || wrong 'No space left' pairs --quiet $options groups.jsonl -o /dev/full
run 0 index create x.twin --shingle word:3 --threshold 0.9
run 0 index add x.twin groups.jsonl
for verb in pairs export 'query groups.jsonl'; do
    set -- $verb
    run 0 index "$1" x.twin "${@:2}"
    cp out expected
    run 0 index "$1" x.twin "${@:2}" -o x.out
    [ ! -s out ] && cmp -s x.out expected || fail "$asked: wrote $(cat x.out)"
done
[ -z "$(ls | grep -E '\.(tsv|gz|out)\.[A-Za-z0-9]{6}$')" ] || fail 'a temporary file is left'

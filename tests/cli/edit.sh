#!/usr/bin/env bash
# twinsift pairs --measure edit and --method forest: output, errors, agreement with an exhaustive comparison, and the
# same answer from every executor.
set -euo pipefail
# shellcheck source=tests/cli/executors.bash
. "${BASH_SOURCE%/*}/executors.bash"

fail()
{
    echo "edit: $1" >&2
    exit 1
}

# prints TEXT ARGUMENT...: standard output of pairs, to the letter.
prints()
{
    local expected=$1
    shift
    "$TWINSIFT" pairs --quiet "$@" > out.txt 2> err.txt || fail "$*: $(cat err.txt)"
    [ "$(cat out.txt)" = "$expected" ] || fail "$*: printed $(cat out.txt)"
    [ ! -s err.txt ] || fail "$*: said $(cat err.txt)"
}

# wrong WORDS ARGUMENT...: trouble, and one sentence with these words.
wrong()
{
    local words=$1 status=0
    shift
    "$TWINSIFT" pairs "$@" > out.txt 2> err.txt || status=$?
    [ "$status" = 2 ] || fail "$*: status $status, not 2"
    [ ! -s out.txt ] && [ "$(wc -l < err.txt)" = 1 ] || fail "$*: not one sentence: $(cat out.txt err.txt)"
    grep -qF -- "$words" err.txt || fail "$*: \"$words\" is not in: $(cat err.txt)"
}

tab=$'\t'
cat > words.jsonl << 'END'
{"id":"kitten","text":"kitten"}
{"id":"sitting","text":"sitting"}
{"id":"mitten","text":"Mitten"}
{"id":"nothing","text":""}
{"id":"again","text":" KITTEN "}
{"id":"a","text":"a"}
END

# kitten and sitting: 2·4 of 13 characters, three edits. The empty text is one edit from "a".
prints "kitten${tab}mitten${tab}0.8333
kitten${tab}again${tab}1.0000" --measure edit words.jsonl
prints "kitten${tab}sitting${tab}0.6154
kitten${tab}mitten${tab}0.8333
kitten${tab}again${tab}1.0000
sitting${tab}mitten${tab}0.6154
sitting${tab}again${tab}0.6154
mitten${tab}again${tab}0.8333" --measure edit --threshold 0.6 --copies all words.jsonl
prints "kitten${tab}mitten${tab}0.8333
kitten${tab}again${tab}1.0000
nothing${tab}a${tab}0.0000" --measure edit --max-edits 1 words.jsonl
prints "kitten${tab}sitting${tab}0.6154
kitten${tab}mitten${tab}0.8333
sitting${tab}mitten${tab}0.6154" --measure edit --max-edits 3 --threshold 0.5 --copies none words.jsonl
prints "kitten${tab}again${tab}1.0000" --measure edit --max-edits 0 words.jsonl
prints "" --measure edit --raw --max-edits 0 words.jsonl
"$TWINSIFT" pairs --measure edit --json --audit 10 words.jsonl > out.txt 2> err.txt
diff - out.txt << 'END' || fail "--json --audit: another answer"
{"a":"kitten","b":"mitten","similarity":0.8333}
{"a":"kitten","b":"again","similarity":1.0000}
{"audit":{"documents":5,"similar":1,"found":1,"wrong":0,"recall":1.000000,"low":0.206549,"high":1.000000}}
END
grep -q "audit: 5 documents compared with all others, 1 of 1 similar pair found" err.txt || fail "--audit: $(cat err.txt)"
"$TWINSIFT" pairs --measure edit --stats words.jsonl > out.txt 2> err.txt
grep -q "same text as an earlier one" err.txt || fail "--stats does not speak of texts: $(cat err.txt)"
"$TWINSIFT" pairs --measure edit --stats --json words.jsonl > out.txt 2> err.txt
grep -q '"copies":1,.*"similar":1,"lines":2' err.txt || fail "--stats --json: $(cat err.txt)"

wrong "needs --measure edit" --max-edits 3 words.jsonl
wrong "--verify exact" --measure edit --verify estimate words.jsonl
wrong "do not apply" --measure edit --bands 3 words.jsonl
wrong "char:N" --measure edit --shingle word:3 words.jsonl
wrong "needs texts" --measure edit --sets words.jsonl
wrong "--method bands" --measure edit --method bands words.jsonl
wrong "--max-edits" --measure edit --max-edits many words.jsonl
wrong "needs --method forest" --top 3 words.jsonl
wrong "--measure jaccard" --method forest --measure containment words.jsonl
wrong "--top" --method forest --top 0 words.jsonl

# Names of a base that are near to those that are asked for.
printf '%s\n' 'Jane Smith' 'Jayne Smyth' 'John Smith' 'Ann Lee' 'Anne Leigh' > base.txt
printf '%s\n' 'jane smyth' 'an lee' 'nobody' 'ANN LEE' > names.txt
prints "1${tab}1${tab}0.9000
2${tab}1${tab}0.9524" --as lines --measure edit --max-edits 1 --threshold 0.85 base.txt --against <(head -1 names.txt)
prints "2${tab}1${tab}0.9524
4${tab}2${tab}0.9231
4${tab}4${tab}1.0000" --as lines --measure edit --top 1 base.txt --against names.txt
prints "1${tab}1${tab}0.9000
1${tab}2${tab}0.9524
4${tab}4${tab}1.0000" --as lines --measure edit --top 1 names.txt --against base.txt
wrong "cannot be used" --as lines --measure edit --audit 5 base.txt --against names.txt

# Of near names one is kept: the same groups as those of pairs.
printf '%s\n' 'ann lee' 'bob' 'anne lee' 'ANN  LEE' 'an lee' 'bobby' > all.txt
"$TWINSIFT" dedup -q --as lines --measure edit --max-edits 1 --groups groups.json all.txt > kept.txt
printf '%s\n' 'ann lee' 'bob' 'bobby' | diff - kept.txt || fail "dedup: kept others"
"$TWINSIFT" pairs -q --as lines --measure edit --max-edits 1 --groups all.txt | sed 's/\t.*//' | sort | uniq -c | sort > sizes.txt
[ "$(wc -l < groups.json)" = "$(wc -l < sizes.txt)" ] || fail "dedup: other groups than pairs --groups"
"$TWINSIFT" pairs -q --as lines --measure edit --max-edits 1 --groups --count all.txt > counts.txt
sort -k 1,1nr -k 2,2n sizes.txt | awk -v OFS='\t' 'NR == FNR { text[FNR] = $0; next } { print $1, $2, text[$2] }' all.txt - |
    diff - counts.txt || fail "--groups --count: other groups than --groups"
for bad in "--against all.txt" "--audit 3" "--memory 1G" "--resume" "--shingle word:3" "--sets"; do
    read -ra options <<< "$bad"
    if "$TWINSIFT" dedup -q --as lines --measure edit "${options[@]}" all.txt > out.txt 2> err.txt; then
        fail "dedup --measure edit $bad: no error"
    fi
    [ "$(wc -l < err.txt)" = 1 ] || fail "dedup --measure edit $bad: $(cat err.txt)"
done

# Of a base with copies no more than --top, unless all copies are wanted.
printf '%s\n' 'Jane Smith' 'jane smith' 'JANE SMITH' 'John Smith' > base.txt
printf '%s\n' 'jane smit' 'jane smit' > queries.txt
prints "1${tab}1${tab}0.9474
1${tab}2${tab}0.9474" --as lines --measure edit --top 1 base.txt --against queries.txt
[ "$("$TWINSIFT" pairs -q --as lines --measure edit --top 1 --copies all base.txt --against queries.txt | wc -l)" = 6 ] ||
    fail "--top 1 --copies all: not all copies"

# The best of each document: the nearest neighbour of each number is the next, and of the last the one before.
for i in 1 2 3 4 5 6; do
    echo "{\"id\":$i,\"text\":\"$(seq -s ' ' "$((i * i))" "$((i * i + 60))")\"}"
done > numbers.jsonl
prints "1${tab}2${tab}0.9062
2${tab}3${tab}0.8485
3${tab}4${tab}0.7941
4${tab}5${tab}0.7429
5${tab}6${tab}0.6944" --method forest --top 1 --threshold 0.1 --shingle word:1 numbers.jsonl

# Against comparing everything, and with every executor.
documents=1000
[ -z "${TWINSIFT_QUICK-}" ] || documents=300
"$TWINSIFT_GENERATE" --docs "$documents" --bytes 800 --seed 5 --copies 0.4 --edits --families 10:12 |
    LC_ALL=C tr -d '\200-\377' | LC_ALL=C sed -E 's/\\u[0-9a-f]{4}//g' > corpus.jsonl # exact_edit_pairs reads ASCII
for ratio in 0.95 0.85; do
    "$TWINSIFT_EXACT_EDIT_PAIRS" corpus.jsonl "$ratio" > true.tsv
    "$TWINSIFT" pairs --quiet --measure edit --threshold "$ratio" --copies all corpus.jsonl > found.tsv
    true=$(wc -l < true.tsv)
    [ "$true" -ge 100 ] || fail "only $true pairs at $ratio to find"
    LC_ALL=C sort true.tsv > true.sorted
    LC_ALL=C sort found.tsv > found.sorted
    LC_ALL=C comm -13 true.sorted found.sorted > wrong.tsv
    LC_ALL=C comm -12 true.sorted found.sorted > right.tsv
    right=$(wc -l < right.tsv)
    [ ! -s wrong.tsv ] || fail "$ratio: printed but not true: $(head -1 wrong.tsv)"
    [ $((100 * right)) -ge $((99 * true)) ] || fail "$ratio: found $right of $true, less than 0.99"
    echo "$ratio: found $right of $true pairs"
done

# Between two parts of it: the pairs across, of all pairs.
sed -n '1~3p' corpus.jsonl > first.jsonl
sed -n '2~3p;3~3p' corpus.jsonl > second.jsonl
sed -E 's/^\{"id": ?"?([^",]*).*/\1/' first.jsonl > first.ids
awk -F '\t' -v OFS='\t' 'NR == FNR { first[$1]; next }
    ($1 in first) && !($2 in first); !($1 in first) && ($2 in first) { print $2, $1, $3 }' first.ids true.tsv |
    LC_ALL=C sort > across.sorted
"$TWINSIFT" pairs --quiet --measure edit --threshold 0.85 --copies all first.jsonl --against second.jsonl |
    LC_ALL=C sort > between.sorted
[ "$(wc -l < across.sorted)" -ge 50 ] || fail "only $(wc -l < across.sorted) pairs across"
[ -z "$(LC_ALL=C comm -13 across.sorted between.sorted)" ] || fail "--against: pairs that are not true"
[ $((100 * $(wc -l < between.sorted))) -ge $((99 * $(wc -l < across.sorted))) ] ||
    fail "--against: $(wc -l < between.sorted) of $(wc -l < across.sorted) pairs"

same_by_all "$TWINSIFT" pairs --quiet --measure edit --threshold 0.85 first.jsonl --against second.jsonl
for how in "--measure edit --threshold 0.9" "--method forest --top 2 --threshold 0.2"; do
    read -ra options <<< "$how"
    same_by_all "$TWINSIFT" pairs --quiet "${options[@]}" corpus.jsonl
done

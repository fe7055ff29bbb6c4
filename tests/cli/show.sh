#!/usr/bin/env bash
# twinsift show: files, collections and indexes; marks, columns, colours; errors. $TWINSIFT is the program.
set -euo pipefail

fail()
{
    echo "show: $1" >&2
    exit 1
}

# shows TEXT ARGUMENT...: what is printed below the head, to the letter.
shows()
{
    local expected=$1
    shift
    "$TWINSIFT" show "$@" > out.txt 2> err.txt || fail "$*: $(cat err.txt)"
    [ "$(tail -n +5 out.txt)" = "$expected" ] || fail "$*: printed $(cat out.txt)"
    [ ! -s err.txt ] || fail "$*: said $(cat err.txt)"
}

# wrong WORDS ARGUMENT...: an error, and one sentence with these words.
wrong()
{
    local words=$1 status=0
    shift
    "$TWINSIFT" show "$@" > out.txt 2> err.txt || status=$?
    [ "$status" = 2 ] || fail "$*: status $status, not 2"
    [ ! -s out.txt ] && [ "$(wc -l < err.txt)" = 1 ] || fail "$*: not one sentence: $(cat out.txt err.txt)"
    grep -qF -- "$words" err.txt || fail "$*: \"$words\" is not in: $(cat err.txt)"
}

printf 'The quick brown fox\njumps over the lazy dog.\n' > a.txt
printf 'The slow brown fox\njumps over  the dog, twice.\n' > b.txt
cat > c.jsonl << 'END'
{"id":"one","text":"The quick brown fox jumps over the lazy dog."}
{"id":2,"text":"The slow brown fox jumps over the dog, twice."}
{"text":"no id"}
END

# ---- files

shows 'The [-quick-] {+slow+} brown fox
jumps over the [-lazy-] dog{+, twice+}.' a.txt b.txt
grep -qx -- '--- a.txt' out.txt && grep -qx '+++ b.txt' out.txt || fail "no ids: $(cat out.txt)"
grep -qx 'similarity 0.3273: 18 of 36 and 37 shingles in common, 5 words changed' out.txt || fail "head: $(head -3 out.txt)"
shows 'The [-slow-] {+quick+} brown fox
jumps over the {+lazy+} dog[-, twice-].' b.txt a.txt
shows 'The quick brown fox
jumps over the lazy dog.' a.txt a.txt
grep -q 'similarity 1.0000: .* 0 words changed' out.txt || fail "equal files: $(cat out.txt)"
: > empty.txt
shows '' empty.txt empty.txt
shows '{+The quick brown fox
jumps over the lazy dog.+}' empty.txt a.txt

# ---- collections and indexes

shows 'The [-quick-] {+slow+} brown fox jumps over the [-lazy-] dog{+, twice+}.' one 2 c.jsonl
shows '[-no id-]{+The quick brown fox jumps over the lazy dog.+}' 3 one c.jsonl
"$TWINSIFT" index create --keep text -q k.twin
"$TWINSIFT" index add -q k.twin c.jsonl > /dev/null
shows 'the [-quick-] {+slow+} brown fox jumps over the [-lazy-] dog{+, twice+}.' one 2 k.twin
"$TWINSIFT" index create -q s.twin
"$TWINSIFT" index add -q s.twin c.jsonl > /dev/null

# ---- how it is printed

shows 'The [-quick-] {+slow+} brown … the [-lazy-] dog{+, twice+}.' --context 1 one 2 c.jsonl
shows 'The [-quick-]
{+slow+} brown fox
jumps over the
[-lazy-] dog{+,
twice+}.' --width 20 one 2 c.jsonl
shows 'The [-quick-]    | The {+slow+}
brown fox jumps    brown fox jumps
over the           over the
[-lazy-] dog.    | dog{+, twice+}.' --side-by-side --width 36 one 2 c.jsonl
esc=$(printf '\033')
shows "The $esc[31;9mquick$esc[0m $esc[32;1mslow$esc[0m brown fox jumps over the $esc[31;9mlazy$esc[0m dog$esc[32;1m,$esc[0m \
$esc[32;1mtwice$esc[0m." --color always one 2 c.jsonl
"$TWINSIFT" show --json one 2 c.jsonl > out.txt
[ "$(cat out.txt)" = '{"a":"one","b":2,"similarity":0.3273,"common":18,"size_a":36,"size_b":37,"words_changed":5,"parts":'\
'[{"equal":"The "},{"deleted":"quick "},{"inserted":"slow "},{"equal":"brown fox jumps over the "},{"deleted":"lazy "},'\
'{"equal":"dog"},{"inserted":", twice"},{"equal":"."}]}' ] || fail "--json: $(cat out.txt)"
"$TWINSIFT" show -q -o file.txt one 2 c.jsonl
grep -q 'twice' file.txt || fail "--output: $(cat file.txt)"

# A text cannot change the terminal.
printf 'red \033[31m\007 word\n' > bad.txt
"$TWINSIFT" show bad.txt a.txt > out.txt
! grep -q "$esc" out.txt && grep -qF '\x1B[31m\x07' out.txt || fail "escapes: $(cat out.txt)"

# ---- the method: what it counts is what was drawn, and what the matrix says

python3 - << 'END' > counted.txt
import random
generator = random.Random(3)
words = ["w%d" % number for number in generator.sample(range(90), 38)]
for name in "mn":
    with open(name + ".txt", "w") as file:
        file.write(" ".join(words))
    words[3:6] = ["x", "y", "z"]
a, b = (set(open(name + ".txt").read().split()) for name in "mn")
print('"size_a":%d,"size_b":%d,"common":%d' % (len(a), len(b), len(a & b)))
END
"$TWINSIFT" show --method --json --shingle word:1 m.txt n.txt > out.txt
grep -qF "$(cat counted.txt)" out.txt || fail "--method: $(cat out.txt), not $(cat counted.txt)"
"$TWINSIFT" show --method --shingle word:1 m.txt n.txt > words.txt
for word in $(cat m.txt | tr ' ' '\n' | sort -u); do
    mark=' '
    ! grep -qw "$word" n.txt || mark='='
    sed '/^shingles of b/,$d' words.txt | grep -qE "^  $mark [0-9a-f]{16}  $word\$" || fail "--method: no \"$mark $word\""
done
agree=$(sed -nE 's/^  ([0-9]+) of 128 agree: the estimate.*/\1/p' words.txt)
grep -qF "\"slots_equal\":$agree," out.txt || fail "--method: $agree slots"
marked=$(sed -n '/^bands/,$p' words.txt | grep -c '^  = band')
[ "$marked" = "$(sed -n '/^bands/,$p' words.txt | grep -cE '^  . band [0-9]+ +=====$')" ] || fail '--method: bands'
"$TWINSIFT" show --permutations > out.txt
[ "$(grep '^  signature:' out.txt | tr -s ' ')" = ' signature: 2 1 2 1 
 signature: 2 1 4 1 
 signature: 1 2 1 2 ' ] || fail "--permutations: $(cat out.txt)"
"$TWINSIFT" show --permutations --color always | grep -q "$esc" || fail '--permutations has no colour'

# ---- errors

wrong 'of its own, without documents' --permutations a.txt c.jsonl
wrong 'two documents are needed' a.txt
wrong 'does not show differences' --method -y a.txt c.jsonl
wrong 'there is no document "none" in the input' one none c.jsonl
wrong 'there is no document "none" in the index' one none k.twin
wrong 'an index compares documents by its own rule' --shingle word:2 one 2 k.twin
wrong '--bands does not apply' --method --bands 5 one 2 k.twin
wrong '--rows changes nothing without --method' --rows 5 a.txt c.jsonl
wrong 'the index does not keep texts' one 2 s.twin
wrong "c.jsonl has 3 documents, not one; 'twinsift show A B c.jsonl' shows two of them by their ids" a.txt c.jsonl
wrong 'missing.txt' a.txt missing.txt
wrong 'missing.twin' one 2 missing.twin
! "$TWINSIFT" show a.txt > out.txt 2> err.txt || fail 'one file was enough'

# The same for any number of threads.
for threads in 1 3; do
    "$TWINSIFT" show --threads "$threads" one 2 c.jsonl > "out-$threads.txt"
done
cmp -s out-1.txt out-3.txt || fail 'threads make a difference'

#!/usr/bin/env bash
# Documents made to collide, by someone who knows the hash: they do where the seed is public, and nowhere else.
: "${TWINSIFT_POISON:?the program that makes such documents}"
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"

"$TWINSIFT_POISON" bands 64 >bands.jsonl || fail "no documents that share a band"
"$TWINSIFT_POISON" bands 35 >kept.jsonl || fail "no documents that share a band of an index"
"$TWINSIFT_POISON" bits >bits.jsonl || fail "no documents that share bits"
[ "$(grep -o ' ' bits.jsonl | wc -l)" -gt 40 ] || fail "hardly any words: $(cat bits.jsonl)"
printf 0123456789abcdef >key

# number NAME: the number of that name in the JSON of out.
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" out | head -1; }

# largest_bucket OPTION...: of an index that was created with these options.
largest_bucket() {
    "$TWINSIFT" index create --force i.twin "$@" && "$TWINSIFT" index add -q i.twin kept.jsonl &&
        "$TWINSIFT" index info --json i.twin >out || fail "index create $*"
    number largest_bucket
}
[ "$(largest_bucket --hash xxh3 --seed 1)" -gt 10 ] || fail "the attack does not work at all: $(cat out)"
[ "$(largest_bucket)" -le 2 ] || fail "a new index has a bucket of $(number largest_bucket) unrelated documents"
[ "$(largest_bucket --hash xxh3)" -le 2 ] || fail "and so has one with a random seed"
[ "$(largest_bucket --key-file key)" -le 2 ] || fail "and so has one with a key of ours"

# answer OPTION...: what such an index answers to the two documents without a common word.
answer() {
    "$TWINSIFT" index create --force i.twin --shingle word:1 "$@" && "$TWINSIFT" index add -q i.twin bits.jsonl &&
        "$TWINSIFT" index query -q i.twin bits.jsonl || fail "index create $*"
}
[ "$(answer --hash xxh3 --seed 1 | grep -c '^A.B.1.0000')" = 1 ] || fail "35 bits do not suffice to deceive"
same=$(printf 'A\tA\t1.0000\nB\tB\t1.0000')
[ "$(answer)" = "$same" ] || fail "a new index takes one for the other"
[ "$(answer --key-file key)" = "$same" ] || fail "an index with a key takes one for the other"

# pairs: the default is public, so that a run can be repeated; a seed that was drawn is reported, and repeats the run.
candidates() {
    "$TWINSIFT" pairs -q --json --stats "$@" bands.jsonl >pairs 2>out || fail "pairs $*: $(cat out)"
    number candidates
}
[ "$(candidates)" -gt 40 ] || fail "the attack does not work on pairs: $(cat out)"
[ "$(candidates --key-file key)" = 0 ] || fail "pairs with a key: $(cat out)"
grep -q '"seed"' out && fail "the seed that follows from a key is printed: $(cat out)"
[ "$(candidates --seed random)" = 0 ] || fail "pairs with a random seed: $(cat out)"
seed=$(number seed)
[ "$(candidates --seed random)" = 0 ] && [ "$(number seed)" != "$seed" ] || fail "the seed is not random: $seed"
[ "$(candidates --verify estimate --threshold 0.01 --bands 128 --rows 1 --seed "$seed")" -gt 0 ] || fail "nothing to compare"
mv pairs first
candidates --verify estimate --threshold 0.01 --bands 128 --rows 1 --seed "$seed" >/dev/null
cmp -s pairs first || fail "a seed does not repeat a run"

# wrong WORDS ARGUMENT...
wrong() {
    local words=$1
    shift
    "$TWINSIFT" "$@" >out 2>err && fail "$*: not refused"
    grep -qF -- "$words" err || fail "$*: $(cat err)"
}
wrong '--key-file and --seed exclude each other' pairs --key-file key --seed 3 bands.jsonl
wrong '--key-file needs --hash sip' pairs --key-file key --hash farm bands.jsonl
wrong 'is not a key' pairs --key-file bands.jsonl bands.jsonl
wrong 'could not be opened' pairs --key-file nothing bands.jsonl
wrong 'is not random, and not a whole number' pairs --seed secret bands.jsonl
"$TWINSIFT" index create --force i.twin --key-file key
[ "$(stat -c %a i.twin)" = 600 ] || fail "a file with a key can be read by others"
printf fedcba9876543210 >other
wrong '--key-file contradicts what was stored' index check --key-file other i.twin
"$TWINSIFT" index check -q --key-file key i.twin || fail "the right key is refused"

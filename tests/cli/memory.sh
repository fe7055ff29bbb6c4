#!/usr/bin/env bash
# dedup --memory: many tiny documents stay within the limit, and the output is that without it.
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"

# within INPUT ARGUMENTS...: 64 MB are enough, and change nothing. Sanitizers take their own.
within()
{
    local most=64000000
    run 0 dedup -q "$@" -o all.out
    program=("${TWINSIFT_PEAK:?}" peak "$TWINSIFT")
    run 0 dedup --memory 64M --temp . "$@" -o some.out
    program=("$TWINSIFT")
    cmp -s all.out some.out || fail "$asked: another output than without the limit"
    [ -z "${TWINSIFT_SANITIZED-}" ] || return 0
    [ "$(cat peak)" -le $most ] || fail "$asked: $(cat peak) bytes of memory, more than $most"
    ! grep -q 'more than --memory' err || fail "$asked: a remark on memory"
}

many=150000 some=40000
[ -z "${TWINSIFT_QUICK-}" ] || many=5000 some=3000
make_texts() # HOW-MANY FORMAT
{
    seq "$1" | awk -v format="$2" '{ printf "{\"id\":%d,\"text\":\"" format "\"}\n", $1, $1 }'
}

# One template, too short to make them similar: 71 MB before. The pairs of early bands turn out to be of one crowd.
make_texts $many 'tiny text %d' >many.jsonl
within many.jsonl
make_texts $many '' >empty.jsonl # 85 MB before, for the signatures of what is read at a time
within empty.jsonl
make_texts $many 'the same text' >equal.jsonl
within --keep shortest equal.jsonl
# Groups of five equal ones, twice as many: 90 and 95 MB before, for keys and the pages of copies.
seq $((2 * many)) | awk '{ printf "{\"id\":%d,\"text\":\"%d\"}\n", $1, $1 / 5 }' >fives.jsonl
within --keep longest fives.jsonl
within --keep id:max fives.jsonl

make_texts $some 'tiny text %d' >some.jsonl
within --keep longest some.jsonl
within --chain some.jsonl
within --measure containment some.jsonl
make_texts $some 'a template of a few words that all have, with a number: %d' >similar.jsonl
within similar.jsonl
make_texts $some 'order %d of the year' >order.jsonl
within --threshold 0.9 order.jsonl

# Groups of fifty that are no crowd: 89 MB before, for 3.7 million candidate pairs.
seq $many | awk '{ srand(int($1 / 50)); t = ""; for (i = 0; i < 30; i++) t = t " " int(rand() * 9e8)
    printf "{\"id\":%d,\"text\":\"%s %d\"}\n", $1, t, $1 }' >fifties.jsonl
within fifties.jsonl
within --chain fifties.jsonl

# Half of each text shared: 66 MB before, for the pages of signatures of a whole bucket.
awk -v n=$many 'function letters(count,   t) { while (count-- > 0) t = t sprintf("%c", 97 + rand() * 26); return t }
    BEGIN { srand(1); half = letters(100)
        for (i = 0; i < n; i++) printf "{\"id\":%d,\"text\":\"%s%s\"}\n", i, half, letters(100) }' >halves.jsonl
within halves.jsonl

# Each of two collections fits into memory, their signatures together do not: 138 MB before.
make_texts $((some + 20000)) 'text %d' >other.jsonl
within some.jsonl --against other.jsonl

# By containment the sets of two long texts are in memory one at a time: 270 MB before, for an index of them.
for id in 1 2; do
    printf '{"id":%d,"text":"' $id
    head -c 3000000 /dev/urandom | base64 -w0
    echo '"}'
done >long.jsonl
program=("${TWINSIFT_PEAK:?}" peak "$TWINSIFT")
run 0 dedup -q --measure containment long.jsonl -o some.out
program=("$TWINSIFT")
cmp -s long.jsonl some.out || fail "long texts that have nothing in common are dropped"
[ -n "${TWINSIFT_SANITIZED-}" ] || [ "$(cat peak)" -le 150000000 ] || fail "two long texts take $(cat peak) bytes of memory"

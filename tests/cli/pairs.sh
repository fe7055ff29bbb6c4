#!/usr/bin/env bash
# What twinsift pairs answers: containment, groups, two collections, files. $TWINSIFT is the program.
set -u
: "${TWINSIFT:?the program to test}"
here=$(mktemp -d) && trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
failures=0
fail() { failures=$((failures + 1)); printf 'FAILED: %s\n' "$*"; }

# run STATUS ARGUMENT...: runs the program, leaves out and err, checks the exit status.
run() {
    local expected=$1 status
    shift
    asked="twinsift $*"
    "$TWINSIFT" "$@" >out 2>err
    status=$?
    [ $status = "$expected" ] || fail "$asked: status $status, not $expected: $(cat err)"
}
# prints TEXT: the last run printed exactly that.
prints() { [ "$(cat out)" = "$1" ] || fail "$asked: printed $(head -n 20 out)"; }
# says WORDS: the last run had this on standard error.
says() { grep -qF -- "$1" err || fail "$asked: \"$1\" is not in: $(cat err)"; }
# wrong WORDS ARGUMENT...: trouble, nothing on standard output, one line with these words on standard error.
wrong() {
    local words=$1
    shift
    run 2 "$@"
    [ ! -s out ] || fail "$asked: trouble, but printed $(cat out)"
    [ "$(wc -l <err)" = 1 ] || fail "$asked: not one sentence: $(cat err)"
    says "$words"
}
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

[ $failures = 0 ]

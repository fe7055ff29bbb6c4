#!/usr/bin/env bash
# The program as a whole: help, version, unknown commands, output that cannot be written. $TWINSIFT is the program.
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
# wrong WORDS ARGUMENT...: trouble, nothing on standard output, one line with these words on standard error.
wrong() {
    local words=$1
    shift
    run 2 "$@"
    [ ! -s out ] || fail "$asked: trouble, but printed $(cat out)"
    [ "$(wc -l <err)" = 1 ] || fail "$asked: not one sentence: $(cat err)"
    grep -qF -- "$words" err || fail "$asked: \"$words\" is not in: $(cat err)"
}

run 0 --version
grep -qxE 'twinsift [0-9]+\.[0-9]+\.[0-9]+' out || fail "$asked: $(cat out)"
run 0 --help
grep -q '^usage: twinsift COMMAND' out && grep -q '^  twinsift plan ' out || fail "$asked: $(cat out)"
[ ! -s err ] || fail "$asked: said $(cat err)"
cp out help
run 0 -h
cmp -s out help || fail '-h is not --help'
for command in $(sed -n 's/^  twinsift \([a-z]*\) .*/\1/p' help); do
    run 0 "$command" --help
    grep -q "twinsift $command" out || fail "$asked: no usage"
    awk 'length > 110 { exit 1 }' out || fail "$asked: has a very long line"
done

wrong 'which command?'
wrong 'there is no command "plam"; did you mean "plan"?' plam
wrong 'there is no command "paln"; did you mean "plan"?' paln
wrong 'there is no command "frobnicate"; twinsift --help' frobnicate
wrong 'there is no command ""; twinsift --help' ''
wrong "there is no command \"$(printf 'x%.0s' {1..500})\"" "$(printf 'x%.0s' {1..500})"
wrong 'there is no option --frobnicate' --frobnicate

TWINSIFT_CPU=pentium wrong '"pentium" is not one of scalar, avx2, avx512' plan --threshold 0.8
TWINSIFT_CPU=scalar run 0 plan --threshold 0.8
TWINSIFT_CPU='' run 0 plan --threshold 0.8

# Standard output that does not take what is written.
if [ -e /dev/full ]; then
    for arguments in '--version' '--help' 'plan --help' 'plan --bands 20 --rows 5' 'plan --threshold 0.01 --hashes 4'; do
        # shellcheck disable=SC2086 # several words on purpose
        "$TWINSIFT" $arguments >/dev/full 2>err
        [ $? = 2 ] || fail "twinsift $arguments on a full disk: not status 2"
        grep -q 'standard output could not be written: No space left' err || fail "twinsift $arguments: $(cat err)"
    done
fi
"$TWINSIFT" plan --threshold 0.8 >&- 2>err
[ $? = 2 ] || fail 'closed standard output: not status 2'
grep -q 'standard output could not be written' err || fail "closed standard output: $(cat err)"
"$TWINSIFT" plan --threshold 0.8 >out 2>&- <&- || fail 'a closed standard input and error did harm'
[ "$(head -n 1 out)" = 'rows 5 bands 25 hashes 128' ] || fail "closed standard error: printed $(cat out)"

# A file opened later must not take the place of a closed standard output.
if command -v gnuplot >/dev/null; then
    "$TWINSIFT" plan --threshold 0.8 --plot curve.svg >&- 2>err
    [ $? = 2 ] && ! grep -q '^rows' curve.svg || fail 'results went into the plot'
fi

# A reader that left ends us by SIGPIPE (128 + 13) without a word, also when the caller ignores that signal.
(trap '' PIPE; { sleep 0.3; "$TWINSIFT" --help 2>err; echo $? >status; } | true)
[ "$(cat status)" = 141 ] && [ ! -s err ] || fail "a reader that left: status $(cat status), $(cat err)"

# Colour is for terminals that want it.
"$TWINSIFT" plan --threshold x 2>err
grep -q $'\033' err && fail 'colour in a pipe'
if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    echo "skipped: colour on a terminal, for no pseudo-terminal can be had here"
else
    TERM=xterm NO_COLOR='' script -qec "'$TWINSIFT' plan --threshold x" /dev/null </dev/null >err 2>&1
    grep -q $'\033' err || fail "no colour on a terminal: $(cat err)"
    TERM=xterm NO_COLOR=1 script -qec "'$TWINSIFT' plan --threshold x" /dev/null </dev/null >err 2>&1
    grep -q $'\033' err && fail 'colour with NO_COLOR'
fi

[ $failures = 0 ] || { echo "$failures failed"; exit 1; }

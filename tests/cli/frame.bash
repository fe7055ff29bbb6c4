# frame.bash — what scripts share that go on after a failure: the program is run with its output in the files out and
# err, failures are counted, and at the end they are the exit status.
#
# Before it is read, `program` is what is run, in words, and `named` what messages call it.
set -u
failures=0 asked=
fail() { failures=$((failures + 1)); printf 'FAILED: %s\n' "$*"; }
trap '[ $? = 0 ] && [ $failures = 0 ] || { echo "$failures failed"; exit 1; }' EXIT

# skip WHY: ends the script, as one that cannot be run here.
skip() { echo "skipped: $1"; trap - EXIT; exit 77; }

# run STATUS ARGUMENT...: runs the program, leaves out and err, checks the exit status.
run() {
    local expected=$1 status
    shift
    asked="$named $*"
    "${program[@]}" "$@" >out 2>err
    status=$?
    [ $status = "$expected" ] || fail "$asked: status $status, not $expected: $(tail -n 50 out err)"
}
# prints TEXT: the last run printed exactly that.
prints() { [ "$(cat out)" = "$1" ] || fail "$asked: printed $(head -n 20 out)"; }
# says WORDS: the last run had this on standard error.
says() { grep -qF -- "$1" err || fail "$asked: \"$1\" is not in: $(cat err)"; }
# wrong WORDS ARGUMENT...: an error, nothing on standard output, one line of the program with these words on standard
# error.
wrong() {
    local words=$1
    shift
    run 2 "$@"
    [ ! -s out ] || fail "$asked: an error, but printed $(cat out)"
    [ "$(wc -l <err)" = 1 ] || fail "$asked: not one sentence: $(cat err)"
    [[ $(cat err) == "$named"* ]] || fail "$asked: does not say who speaks: $(cat err)"
    says "$words"
}

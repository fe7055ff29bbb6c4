#!/usr/bin/env bash
# The program as a whole: help, version, unknown commands, output that cannot be written. $TWINSIFT is the program.
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"

run 0 --version
grep -qxE 'twinsift [0-9]+\.[0-9]+\.[0-9]+' out || fail "$asked: $(cat out)"
run 0 --help
grep -q '^Usage: twinsift COMMAND' out && grep -q '^  plan ' out || fail "$asked: $(cat out)"
[ ! -s err ] || fail "$asked: said $(cat err)"
cp out help
run 0 -h
cmp -s out help || fail '-h is not --help'
for command in $(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' help); do
    [ "$command" != help ] || continue
    run 0 "$command" --help
    grep -q "^Usage: twinsift $command" out || fail "$asked: no usage"
    awk 'length > 110 { exit 1 }' out || fail "$asked: has a very long line"
    mv out help-1
    run 0 help "$command"
    cmp -s out help-1 || fail "$asked is not $command --help"
    for verb in $(sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' help-1); do
        run 0 "$command" "$verb" --help
        grep -q "^Usage: twinsift $command $verb " out && grep -q '^Exit status:' out || fail "$asked: no usage"
        grep -q '^Verbs:' out && fail "$asked: shows other verbs"
        awk 'length > 110 { exit 1 }' out || fail "$asked: has a very long line"
        cp out help-2
        run 0 help "$command" "$verb"
        cmp -s out help-2 || fail "$asked is not $command $verb --help"
        run 0 "$command" --help "$verb"
        cmp -s out help-2 || fail "$asked: --help before the verb is not --help after it"
        run 0 "$command" "$verb" --version
        grep -qxE 'twinsift [0-9.]+' out || fail "$asked: $(cat out)"
    done
done

# A default in the help is the one that holds: the seed of a filter is another than that of signatures.
run 0 pairs --help
grep -q -- '--seed N .*(default: 1)' out && grep -q -- '--threshold T .*(default: 0.8)' out || fail "$asked: $(cat out)"
run 0 bloom create --help
grep -q -- '--seed N .*(default: 0)' out || fail "$asked: $(cat out)"
run 0 index query --help
grep -q -- '--threshold T .*default' out && fail "$asked: the threshold of a query is that of the index"

run 0 help
cmp -s out help || fail 'help is not --help'
for arguments in -V 'pairs --version' 'pairs -V' 'index --version' 'bloom -V'; do
    # shellcheck disable=SC2086 # several words on purpose
    run 0 $arguments
    grep -qxE 'twinsift [0-9.]+' out || fail "$asked: $(cat out)"
done
wrong 'unknown command "frobnicate"' help frobnicate
wrong 'unknown verb "frobnicate"; expected create, add' help index frobnicate

# What is shared is declared once: an option of another command is known as one.
wrong "--audit does not apply to 'plan'; see 'twinsift plan --help'" plan --audit 3
wrong "--items does not apply to 'bloom add'; see 'twinsift bloom add --help'" bloom add f --items 3
wrong "-v does not apply to 'bloom add'" bloom add -v f
wrong '--s is ambiguous: --sets, --shingle, ' pairs --s x
wrong 'missing verb: create, add, has' bloom
wrong 'missing verb: create, add, has' bloom --json
wrong 'unknown verb "hash"; did you mean "has"?' bloom hash f
wrong 'missing argument; usage: twinsift bloom info [OPTION]... FILE...' bloom info

# Options may come before a verb too.
run 0 bloom --items 10 create early.bloom
run 0 bloom --json info early.bloom
grep -q '"planned_items":10,' out || fail "$asked: $(cat out)"

# Counts, and who works.
for count in 1e6 1E+6 1.0e6 1000K 1m 1M 0.001G 1.000M; do
    rm -f count.bloom
    run 0 bloom create count.bloom --items "$count"
    run 0 bloom info --json count.bloom
    grep -q '"planned_items":1000000,' out || fail "--items $count: $(cat out)"
done
rm -f count.bloom
run 0 bloom create count.bloom --items 1.5M
run 0 bloom info --json count.bloom
grep -q '"planned_items":1500000,' out || fail "--items 1.5M: $(cat out)"
for count in 1.5 1e 1e-6 e6 1.2345K 1M5 1..5K .5M 1e6e6 -1 '' ' 1'; do
    wrong "--items: \"$count\" is not a whole number" bloom create wrong.bloom --items "$count"
done
printf '%s\n' '{"id":1,"text":"a text of some length"}' >one.jsonl
TWINSIFT_THREADS=2 run 0 pairs one.jsonl
TWINSIFT_THREADS='' run 0 pairs one.jsonl
TWINSIFT_THREADS=0 wrong 'TWINSIFT_THREADS: "0" is not a whole number from 1 to 1024' pairs one.jsonl
TWINSIFT_THREADS=many run 0 pairs --threads 1 one.jsonl

wrong 'missing command: '
wrong 'unknown command "plam"; did you mean "plan"?' plam
wrong 'unknown command "paln"; did you mean "plan"?' paln
wrong 'unknown command "frobnicate"; see '"'twinsift --help'" frobnicate
wrong 'unknown command ""; see '"'twinsift --help'" ''
wrong "unknown command \"$(printf 'x%.0s' {1..500})\"" "$(printf 'x%.0s' {1..500})"
wrong 'unknown option --frobnicate' --frobnicate

TWINSIFT_CPU=pentium wrong '"pentium" is not one of scalar, avx2, avx512, neon' plan --threshold 0.8
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
# The reader, which is this shell, has closed its end before the program begins.
mkfifo unread
(trap '' PIPE; exec 3<>unread 4>unread 3<&- && "$TWINSIFT" --help >&4 2>err; echo $? >status)
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
    TERM=xterm script -qec "'$TWINSIFT' plan --color never --threshold x" /dev/null </dev/null >err 2>&1
    grep -q $'\033' err && fail 'colour with --color never'
fi
"$TWINSIFT" plan --color always --threshold x 2>err
grep -q $'\033' err || fail 'no colour with --color always'
wrong '--color: "blue" is not one of auto, always, never' plan --color blue

# Untrusted ids and names: a message has no raw control characters and stays one line; a field can be restored.
printf '%s\n' '{"id":"a\u001b]0;x\u0007\u009b\u202e\\\nb","text":"hello world, hello again"}' >hostile.jsonl
cat hostile.jsonl hostile.jsonl | "$TWINSIFT" pairs -q - >out 2>err
LC_ALL=C grep -q '[^ -~]' err && fail "raw bytes in a message: $(cat -v err)"
grep -qF 'a\x1B]0;x\x07\xC2\x9B\xE2\x80\xAE\' err && [ "$(wc -l <err)" = 1 ] || fail "a hostile id in a message: $(cat -v err)"
run 2 pairs $'no\nsuch\033[31mfile'
[ "$(wc -l <err)" = 1 ] && grep -qF 'no\x0Asuch\x1B[31mfile' err || fail "a hostile file name: $(cat -v err)"
{ cat hostile.jsonl && sed 's/"a/"c/' hostile.jsonl; } | "$TWINSIFT" pairs - >out 2>err
printf '%s\t%s\t1.0000\n' 'a\x1B]0;x\x07\xC2\x9B\xE2\x80\xAE\x5C\x0Ab' 'c\x1B]0;x\x07\xC2\x9B\xE2\x80\xAE\x5C\x0Ab' |
    cmp -s - out || fail "a hostile id as a field: $(cat -v out)"
[ "$(cut -f 1 out | sed 's/\\x/\\\\x/g' | xargs printf '%b' | od -An -tx1 | tr -d ' \n')" = 611b5d303b7807c29be280ae5c0a62 ] ||
    fail "the field cannot be restored: $(cut -f 1 out)"

#!/usr/bin/env bash
# Very short and very long documents, and inputs without an end.
set -uo pipefail
failures=0
tab=$'\t'

fail() # WHAT
{
    failures=$((failures + 1))
    echo "FAILED: $1"
    echo "  stdout: $(head -c 400 out | tr '\n' '~')"
    echo "  stderr: $(head -c 800 err | tr '\n' '~')"
}

# run STATUS ARGUMENTS...: runs the program, which must exit with STATUS.
run()
{
    local status=$1 got
    shift
    timeout 60 "$TWINSIFT" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" -eq "$status" ] || fail "$*: exit status $got, not $status"
}

prints() # TEXT: all of standard output
{
    [ "$(cat out)" = "$1" ] || fail "the output is not \"$1\""
}

says() # TEXT: part of standard error
{
    grep -qF -- "$1" err || fail "the messages do not say \"$1\""
}

# ---- texts shorter than a shingle

cat >short.jsonl <<'END'
{"id":"a","text":"thanks"}
{"id":"b","text":"Thanks "}
{"id":"c","text":"thank"}
{"id":"d","text":""}
{"id":"e","text":"  "}
{"id":"f","text":"thanks for all the fish"}
{"id":"g","text":"hanks"}
END
run 0 pairs --threshold 0.01 short.jsonl
prints "a${tab}b${tab}1.0000"
says '6 of 7 documents are shorter than one shingle'
run 0 pairs --stats --json --threshold 0.01 short.jsonl
says '"too_short":6'
for rule in word:3 stop:2 byte:8; do
    run 0 pairs --quiet --threshold 0.01 --shingle $rule short.jsonl
    prints "a${tab}b${tab}1.0000"
done
for keep in sets text none; do
    run 0 index create $keep.twin --keep $keep
    run 0 index add $keep.twin short.jsonl
    says '2 documents have no shingle'
    run 0 index pairs $keep.twin
    prints "a${tab}b${tab}1.0000"
    run 1 index query $keep.twin <(echo '{"text":"than"}')
    run 0 index check $keep.twin
done

[ "$failures" -eq 0 ] || exit 1
echo "bounds: good"

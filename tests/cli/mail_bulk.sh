#!/usr/bin/env bash
# twinsift mail check --bulk: the same bytes, in the order of the input, for any number of threads and as one by one.
program=("${TWINSIFT:?the program to test}") named=twinsift
samples=${TWINSIFT_ROOT:?}/samples/mail
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
"$TWINSIFT" mail learn -q -m model.twin --as spam "$samples/spam" 2>err ||
    { grep -q 'not supported' err && echo 'skipped: this build has no mail' && exit 77; }
run 0 mail learn -m model.twin --as ham "$samples/ham"
for threads in 1 4; do
    run 0 mail check -m model.twin --bulk --threads $threads "$samples"
    mv out bulk.$threads
    run 0 mail check -m model.twin --bulk --json --threads $threads "$samples"
    mv out json.$threads
done
cmp bulk.1 bulk.4 && cmp json.1 json.4 || fail 'the results depend on the number of threads'
[ "$(wc -l <bulk.1)" = 30 ] || fail "--bulk prints $(wc -l <bulk.1) lines"
[ "$(cut -f 1 bulk.1 | sort -u | wc -l)" -gt 1 ] || fail 'all messages get one verdict'

# One message at a time, by a process of its own, which reads in the file what it needs.
cut -f 4 bulk.1 | while read -r path; do
    "$TWINSIFT" mail check -m model.twin "$path"
done >one
cmp one bulk.1 || fail 'a check of one message says something else'

#!/usr/bin/env bash
# twinsift dedup --resume, ended at random instants by signals: it goes on where it was, writes the bytes of a run that
# nobody disturbed, and leaves nothing behind. A few kills in the suite; by hand KILLS=50, with the variables that CTest
# sets (ctest -V -R cli_dedup_kill shows them).
: "${TWINSIFT_GENERATE:?}"
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
kills=${KILLS:-8} documents=${KILL_DOCUMENTS:-3000}
[ -z "${TWINSIFT_QUICK-}" ] || [ -n "${KILL_DOCUMENTS-}" ] || documents=800
same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }
now() { date +%s%N | cut -c -13; } # milliseconds
RANDOM=${KILL_SEED:-1}

"$TWINSIFT_GENERATE" --docs "$documents" --bytes 800 --seed 6 --copies 0.4 --edits --families 2:150 >corpus.jsonl
split -n l/3 -a 1 --additional-suffix=.jsonl corpus.jsonl part-
gzip part-b.jsonl
shards=(part-a.jsonl part-b.jsonl.gz part-c.jsonl)
mkdir temp out
"$TWINSIFT" dedup -q "${shards[@]}" -o whole.jsonl --groups whole.groups || fail "dedup"
resume=("$TWINSIFT" dedup -q --resume --temp temp --memory 68M "${shards[@]}" -o out/kept.jsonl --groups out/groups)

began=$(now)
"${resume[@]}" || fail "dedup --resume"
took=$(($(now) - began))
whole()
{
    same whole.jsonl out/kept.jsonl "$1"
    same whole.groups out/groups "$1"
    [ -z "$(ls temp)" ] || fail "$1 left $(ls temp)"
    [ "$(ls out | wc -l)" = 2 ] || fail "$1 left $(ls out)"
    rm -f out/*
}
whole "dedup --resume"

# A run is ended, and the next goes on from what it kept; after one that came to its end before the signal, the next
# begins anew.
sent=0 continued=0 runs=0
while [ $sent -lt "$kills" ] && [ $runs -lt $((10 * kills)) ]; do
    runs=$((runs + 1)) signal=KILL
    [ $((RANDOM % 4)) != 0 ] || signal=INT
    [ $((RANDOM % 8)) != 0 ] || signal=TERM
    [ -z "$(ls temp)" ] || continued=$((continued + 1))
    # A shell without job control starts commands in the background with SIGINT ignored.
    env --default-signal=INT "${resume[@]}" 2>err &
    run=$!
    sleep "$(awk -v "at=$RANDOM" -v "all=$took" 'BEGIN { print at / 32768 * all / 1000 }')"
    kill -$signal $run 2>/dev/null
    wait $run 2>/dev/null
    status=$?
    case $status in
    0) whole "run $runs" ;;
    130 | 137 | 143) # what is there by then is whole
        sent=$((sent + 1))
        for file in out/*; do
            case $file in
            out/kept.jsonl) same whole.jsonl "$file" "run $runs, ended by SIG$signal" ;;
            out/groups) same whole.groups "$file" "run $runs, ended by SIG$signal" ;;
            'out/*') ;;
            out/kept.jsonl.?????? | out/groups.??????) # no program can tidy up after SIGKILL while it replaces a file
                [ $signal = KILL ] && rm "$file" || fail "run $runs, ended by SIG$signal, left $file" ;;
            *) fail "run $runs, ended by SIG$signal, left $file" ;;
            esac
        done ;;
    *) fail "run $runs: status $status: $(cat err)" ;;
    esac
done
"${resume[@]}" 2>err || fail "dedup --resume after kills: $(cat err)"
whole "the last run"
[ $sent -gt 0 ] || fail "no run was killed"
echo "$sent of $runs runs ended by a signal, $continued of them went on from kept stages"

#!/usr/bin/env bash
# Every kind of work with a stack of 64 KB, which is what callers with many threads or a small `ulimit -s` have.
: "${TWINSIFT:?the program to test}" "${TWINSIFT_ROOT:?}" "${TWINSIFT_GENERATE:?}"
if [ -n "${TWINSIFT_SANITIZED-}" ]; then
    echo 'skipped: frames are larger with sanitizers'
    exit 77
fi
program=("$TWINSIFT") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
samples=$TWINSIFT_ROOT/samples

# small STATUSES ARGUMENT...: runs twinsift with a small stack, the first thread's too.
small()
{
    local expected=$1 status=0
    shift
    (ulimit -S -s 64 && exec "$TWINSIFT" "$@") >out 2>err </dev/null || status=$?
    case " $expected " in
    *" $status "*) ;;
    *) fail "twinsift $*: status $status: $(tail -n 3 err)" ;;
    esac
}

"$TWINSIFT_GENERATE" --docs 400 --bytes 800 --seed 6 --copies 0.4 --edits --families 2:100 >corpus.jsonl
"$TWINSIFT_GENERATE" --docs 1 --bytes 1200000 --seed 3 >long.jsonl
head -n 100 corpus.jsonl | sed 's/"id": *"[^"]*"/"id": "same"/' >repeated.jsonl
gzip -k corpus.jsonl
zstd -q corpus.jsonl
mkdir bodies
head -n 30 corpus.jsonl | split -l 1 - bodies/

for executor in serial pthreads; do
    small 0 pairs --threads 3 --executor $executor corpus.jsonl long.jsonl bodies
done
for how in "--measure containment" "--measure edit --max-edits 3" "--method forest --top 2" "--groups" "--audit 5" \
    "--shingle word:5" "--shingle stop:2" "--hash sip" "--hash jenkins" "--sketch classic" "--verify estimate" "--json" "--sets"; do
    # shellcheck disable=SC2086
    small "0 2" pairs $how corpus.jsonl.gz
done
small 0 pairs repeated.jsonl
small 0 pairs repeated.jsonl --against corpus.jsonl
small 0 show "$(sed -n '1s/.*"id": *"\{0,1\}\([^",]*\).*/\1/p' corpus.jsonl)" "$(sed -n '2s/.*"id": *"\{0,1\}\([^",]*\).*/\1/p' corpus.jsonl)" corpus.jsonl
small 0 plan --threshold 0.8
for level in scalar avx2; do
    TWINSIFT_CPU=$level small 0 dedup corpus.jsonl.zst --report report.html --groups groups.jsonl --resume --temp . -o kept.jsonl.zst
done
small 0 sign corpus.jsonl -o c.sig
small 0 band c.sig -o c.cand
small 0 join c.sig c.cand -o c.found
small 0 filter c.sig c.found -o kept.jsonl
for keep in sets text none; do
    small 0 index create $keep.twin --keep $keep
    small 0 index add $keep.twin corpus.jsonl long.jsonl
    small "0 1" index query $keep.twin corpus.jsonl
    small 0 index pairs $keep.twin
    small 0 index check $keep.twin
    small 0 index export $keep.twin
    small 0 index info $keep.twin
    head -n 5 out >ids && small "0 1 2" index remove $keep.twin ids
    small 0 index compact $keep.twin
done
for counting in "" "--counting 8"; do
    # shellcheck disable=SC2086
    small 0 bloom create f.bloom --force --items 10000 --rate 1e-12 $counting
    small 0 bloom add f.bloom corpus.jsonl
    small 0 bloom has f.bloom corpus.jsonl
    small 0 bloom count f.bloom corpus.jsonl
done
small "0 2" mail learn -m m.twin --as ham "$samples/mail/ham"
if ! grep -q 'not supported' err; then
    small 0 mail learn -m m.twin --as spam "$samples/mail/spam"
    small "0 1 2" mail check --explain -m m.twin "$samples/mail/friend.eml"
    small 0 mail check --bulk -m m.twin "$samples/mail/ham"
    small 0 mail correct -m m.twin --as ham "$samples/mail/friend.eml"
    small 0 mail export --sketches --weights -m m.twin -o m.sketches.gz
    small 0 mail compact -m m.twin
    small "0 1" mail forget -m m.twin "$samples/mail/friend.eml"
fi

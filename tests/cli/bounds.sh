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

# ---- scripts without blanks

cat >chinese.jsonl <<'END'
{"id":"a","text":"上周的大雨损坏了两根桥墩，因此河上的旧桥于星期一早上关闭。市议会表示，修理至少需要六个月。"}
{"id":"b","text":"上周的大雨损坏了三根桥墩，因此河上的旧桥于星期一早上关闭。市议会表示，修理至少需要六个月。"}
END
run 0 pairs chinese.jsonl
prints "a${tab}b${tab}0.8667"
run 0 pairs --shingle char:9 --threshold 0.1 chinese.jsonl
prints "a${tab}b${tab}0.6087"
run 0 pairs --shingle word:2 --threshold 0.1 chinese.jsonl
says '2 of 2 documents are in a script without blanks between words'
says 'use --shingle auto'
printf 0123456789abcdef >key # with one that is drawn, an index may miss a pair that is expected here, if rarely
run 0 index create chinese.twin --threshold 0.7 --key-file key
run 0 index add chinese.twin chinese.jsonl
run 0 index pairs chinese.twin
prints "a${tab}b${tab}0.8667"
run 0 index info chinese.twin
grep -q 'auto:9' out || fail "index info does not name the shingle"

# ---- limits

{ echo '{"id":"a","text":"short enough"}'; printf '{"id":"b","text":"%01000d"}\n' 0; echo '{"id":"c","text":"short enough"}'; } >limit.jsonl
run 0 pairs --max-document-bytes 100 limit.jsonl
prints "a${tab}c${tab}1.0000"
says 'limit.jsonl:2: longer than 100 bytes (--max-document-bytes); the document is skipped'
run 2 pairs --max-document-bytes 100 --strict limit.jsonl
says 'limit.jsonl:2: longer than 100 bytes'
mkdir folder && cp limit.jsonl folder/long.txt && echo short >folder/a && gzip -c limit.jsonl >folder/packed.txt.gz
run 0 pairs --max-document-bytes 100 folder
says 'folder/long.txt: longer than 100 bytes'
says 'folder/packed.txt.gz: longer than 100 bytes'
gzip -c limit.jsonl >limit.jsonl.gz
run 2 pairs --max-unpacked-bytes 100 limit.jsonl.gz
says 'become more than 100; --max-unpacked-bytes allows more'
run 2 index create limit.twin --max-unpacked-bytes 100
run 2 pairs /dev/zero
says '/dev/zero is not text: it begins with NUL bytes'
run 2 pairs --as files /dev/zero --max-document-bytes 1M
says '/dev/zero is longer than 1000000 bytes; --max-document-bytes allows more'

# Small inputs need no temporary folder, large ones use the one that is named.
TMPDIR=/nowhere run 0 pairs limit.jsonl.gz
yes "$(printf '%999s' '')" | head -n 80000 | gzip -1 >large.jsonl.gz # blank lines: 80 MB, no documents
TMPDIR=/nowhere run 2 pairs large.jsonl.gz
says 'no file can be made in the temporary folder /nowhere'
TMPDIR=/nowhere run 0 pairs --temp . large.jsonl.gz
# One that is named must be there, also where it is not needed: it could be, hours later.
for name in /nowhere limit.jsonl; do
    run 2 pairs --temp $name limit.jsonl.gz
    says "--temp: $name is not a folder; create it first"
done

# ---- texts too long for their hashes to be held

# long ID WORDS SEED END: a line with a text of so many words, of seven bytes with their blanks; unless SEED is 0, every
# five-hundredth is replaced.
long()
{
    awk -v id="$1" -v words="$2" -v seed="$3" -v end="${4-}" 'BEGIN {
        x = 12345
        printf "{\"id\": \"%s\", \"text\": \"", id
        for (i = 0; i < words; i++) {
            x = (x * 69069 + 1) % 4294967296
            if (seed && i % 500 == seed) printf "w%d ", seed * i; else printf "%06x ", int(x / 256)
        }
        printf "%s\"}\n", end }'
}
{ long a 160000 0; long b 160000 1; echo '{"id": "c", "text": "a short one between long ones"}'; long d 160000 2; long e 160000 1; } >long.jsonl
run 0 pairs --threads 1 --copies all --shingle char:9 long.jsonl
mv out pairs.tsv
"$TWINSIFT_EXACT_PAIRS" long.jsonl char 9 0.8 >true.tsv
grep -v "^[abd]${tab}e${tab}0" true.tsv >firsts.tsv # the pairs but those of a copy
[ "$(wc -l <true.tsv)" -eq 6 ] || fail "only $(wc -l <true.tsv) pairs of long texts to find"
cmp true.tsv pairs.tsv || fail "pairs of long texts are not those of an exhaustive comparison"
run 0 pairs --threads 3 --copies all long.jsonl
cmp true.tsv out || fail "other pairs with three threads"
keeps=sets
if [ -z "$TWINSIFT_QUICK" ]; then
    keeps='sets text'
    run 0 pairs --copies all --measure containment --threshold 0.9 long.jsonl
    [ "$(wc -l <out)" -eq 6 ] || fail "containment of long texts"
fi
for keep in $keeps; do
    run 0 index create long-$keep.twin --keep $keep --key-file key
    run 0 index add long-$keep.twin long.jsonl
    run 0 index check long-$keep.twin
    run 0 index pairs long-$keep.twin
    cmp firsts.tsv out || fail "pairs of long texts in an index that keeps $keep"
done

# at_most BYTES ARGUMENTS...: the command does not take more memory. Sanitizers take their own.
at_most()
{
    local most=$1 peak
    shift
    timeout 60 "$TWINSIFT_PEAK" peak "$TWINSIFT" "$@" >out 2>err </dev/null || fail "$*: exit status $?"
    peak=$(cat peak)
    [ -n "$TWINSIFT_SANITIZED" ] || [ "$peak" -le "$most" ] || fail "$*: $peak bytes of memory, more than $most"
}

# Three times the longest document, also if it has escapes and the record of its set is made, and 40 MB for all else: the
# program, what is sorted at a time, and what malloc() does not return of blocks up to 32 MB; for an index 20 MB do.
if [ -z "$TWINSIFT_QUICK" ]; then
    { long a 1000000 0 '\\n'; long b 1000000 1 '\\n'; } >huge.jsonl
    longest=$(awk 'length > most { most = length } END { print most }' huge.jsonl)
    most=$((3 * longest + (40 << 20)))
    at_most $most pairs --threads 1 huge.jsonl
    head -1 huge.jsonl >one.jsonl
    run 0 index create huge.twin
    at_most $((3 * longest + (20 << 20))) index add --threads 1 huge.twin one.jsonl
fi

[ "$failures" -eq 0 ] || exit 1
echo "bounds: good"

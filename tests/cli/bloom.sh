#!/usr/bin/env bash
# twinsift bloom: every sub-command, its exit status, and the state of the file after errors.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"
bloom()
{
    "$twinsift" bloom "$@"
}

# create, add, has
expect 0 bloom create a.bloom --items 10K --rate 0.01
seq 1 10000 >numbers
expect 0 bloom add a.bloom numbers
says '10000 items, '
expect 0 bloom has a.bloom numbers
cmp -s out numbers || fail "has does not print what is in"
seq 10001 20000 >others
expect 1 bloom has a.bloom others
false_positives=$(wc -l <out)
# 1 % of 10,000 is 100, and the chance to leave 60..140 is below 1 in 10,000.
[ "$false_positives" -ge 60 ] && [ "$false_positives" -le 140 ] || fail "$false_positives false positives of 10000"
expect 1 bloom has -v a.bloom others
[ "$(wc -l <out)" = $((10000 - false_positives)) ] || fail "-v is not the rest"
expect 1 bloom has a.bloom numbers - <others
expect 0 bloom has a.bloom </dev/null
says 'there are no items in the input'
expect 0 bloom has -q a.bloom </dev/null
[ ! -s out ] && [ ! -s err ] || fail "nothing asked, something answered"

# what is in another file, where lines end, how long they are
printf 'one\ntwo' | bloom add -q a.bloom 2>err
[ ! -s err ] || fail "--quiet is not quiet"
printf 'two\none\n' >both
expect 0 bloom has a.bloom both
printf 'with\nline\0plain\0last' >nul
expect 0 bloom add -0 a.bloom nul
says '3 items, '
printf 'last\0with\nline\0' | bloom has -0 a.bloom >out
printf 'last\0with\nline\0' | cmp -s - out || fail "-0 does not go through"

# as other inputs: compressed, with a byte order mark, with the line ends of another system
printf '\xef\xbb\xbfmarked\r\nreturned\r\nwith \r in it\r' >crlf
expect 0 bloom add a.bloom crlf
says '3 items, 3 new'
printf 'marked\nreturned\nwith \r in it\n' >plain
for form in 'cat plain' 'gzip -c plain' 'zstd -qc plain' 'cat crlf' 'gzip -c crlf'; do
    $form >formed
    expect 0 bloom has a.bloom formed
    cmp -s out plain || fail "$form is not read as the lines are"
    expect 0 bloom has a.bloom < <(cat formed)
    cmp -s out plain || fail "$form from a pipe is not read as the lines are"
done
printf 'returned\r\0' >nul
expect 1 bloom has -0 a.bloom nul
expect 2 bloom add a.bloom - < <(printf '\xff\xfea\0')
says 'standard input is UTF-16; convert it to UTF-8'
gzip -c numbers | head -c 1000 >cut.gz
expect 2 bloom add a.bloom cut.gz
says 'cut.gz: its gzip data ends early after 1000 bytes'
expect 2 bloom has a.bloom missing
says 'missing cannot be opened: No such file or directory'
expect 2 bloom has a.bloom .
says '. cannot be read: Is a directory'
# a pipe that does not end is answered all the same
last=$(set +o pipefail; timeout 20 yes marked | bloom has a.bloom | head -n 100000 | tail -n 1)
[ "$last" = marked ] || fail "an endless pipe is not answered: $last"

head -c 5000000 /dev/zero | tr '\0' x >long
expect 0 bloom add a.bloom long
says '1 item, '
(cat long; echo; cat long) >twice
expect 0 bloom has a.bloom twice
[ "$(wc -c <out)" = 10000002 ] || fail "a long line does not come back"

# only new ones are printed, each once
expect 0 bloom create new.bloom --items 1000 --rate 0.0001
printf 'a\nb\na\nc\nb\n' >repeats
expect 0 bloom add --print-new new.bloom repeats
[ "$(tr '\n' ' ' <out)" = 'a b c ' ] || fail "--print-new prints $(cat out)"

# counting
expect 0 bloom create chosen.bloom --items 1000 --cells 8K --functions 5
expect 0 bloom info --json chosen.bloom
grep -q '"functions":5,"cells":8192' out || fail "not the cells and functions that were given: $(cat out)"
expect 0 bloom create grows.bloom --items 1000 --scalable
seq 20000 >grown.txt
expect 0 bloom add grows.bloom grown.txt
expect 0 bloom has grows.bloom grown.txt
cmp -s out grown.txt || fail "a filter that grows has lost items"
expect 0 bloom info grows.bloom
grep -q '^  layers  *5,' out || fail "not five layers: $(cat out)"
expect 2 bloom create b.bloom --items 10 --scalable --counting 4
says '--scalable cannot be used'
expect 2 bloom merge b.bloom grows.bloom grows.bloom
says 'cannot be merged'
expect 0 bloom create c.bloom --items 100 --counting 4
printf 'x\ny\nx\nx\n' >xyxx
expect 0 bloom add c.bloom xyxx
printf 'x\ny\nz\n' >xyz
expect 0 bloom count c.bloom xyz
printf '3\tx\n1\ty\n0\tz\n' | cmp -s - out || fail "counts $(cat out)"
expect 0 bloom count --json c.bloom xyz
[ "$(head -1 out)" = '{"count":3,"item":"x"}' ] || fail "count --json prints $(head -1 out)"
expect 1 bloom remove c.bloom xyz
says '"z" is not in'
says '3 items, 2 removed'
expect 0 bloom count c.bloom xyz
printf '2\tx\n0\ty\n0\tz\n' | cmp -s - out || fail "after removal counts $(cat out)"
for _ in $(seq 20); do echo x; done >twenty
expect 0 bloom add c.bloom twenty
says 'full counters: 8'
expect 0 bloom remove c.bloom twenty
expect 0 bloom count c.bloom xyz
[ "$(head -1 out)" = $'15\tx' ] || fail "a full counter went down"
expect 2 bloom remove a.bloom numbers
says 'is not a counting filter'

# past the plan
expect 0 bloom create small.bloom --items 100
expect 0 bloom add small.bloom numbers
says 'was planned for 100'

# merge
for part in 1 2; do
    expect 0 bloom create part$part.bloom --items 1000
    seq $((part * 300)) $((part * 300 + 400)) | bloom add -q part$part.bloom
done
expect 0 bloom merge union.bloom part1.bloom part2.bloom
seq 300 1000 >all
expect 0 bloom has union.bloom all
expect 0 bloom merge --intersect common.bloom part1.bloom part2.bloom
seq 600 700 >common
expect 0 bloom has common.bloom common
expect 1 bloom has common.bloom all
expect 2 bloom merge union.bloom part1.bloom part2.bloom
says '--force replaces it'
expect 0 bloom merge --force union.bloom part1.bloom part2.bloom
echo 'a thesis' >thesis.txt
expect 2 bloom create --force thesis.txt --items 10
says 'thesis.txt: is not a filter, so it is not replaced'
! grep -q 'force' err || fail "--force is given, and advised: $(cat err)"
[ "$(cat thesis.txt)" = 'a thesis' ] || fail "--force replaced a file that is no filter"
: >empty.bloom
expect 0 bloom create --force empty.bloom --items 10
expect 2 bloom merge x.bloom part1.bloom a.bloom
says "cannot be merged with part1.bloom: the filters differ in shape or hash"
[ ! -e x.bloom ] || fail "a failed merge left a file"

# info
expect 0 bloom info a.bloom c.bloom
grep -q 'planned          10000 items, false positives 1 %' out || fail "info says $(cat out)"
expect 0 bloom info --json c.bloom
grep -q '"layout":"blocks","cell_bits":4,"functions":8,"cells":1024' out || fail "info --json says $(cat out)"

# a secret key
printf 0123456789abcdef >key
echo 30313233343536373839616263646566 >hexkey
printf 0123456789abcdeF >wrongkey
expect 2 bloom create k.bloom --items 10 --hash sip
expect 0 bloom create k.bloom --items 10 --hash sip --key-file key
expect 2 bloom add k.bloom xyz
says '--key-file gives it'
expect 0 bloom add k.bloom --key-file hexkey xyz
expect 0 bloom has k.bloom --key-file key xyz
expect 2 bloom has k.bloom --key-file wrongkey xyz
says 'another key'
expect 0 bloom info k.bloom
expect 2 bloom has c.bloom --key-file key xyz
! grep -q 0123456789abcdef k.bloom || fail "the key is in the file"

# mistakes
expect 2 bloom
expect 2 bloom frob a.bloom
expect 2 bloom add
expect 2 bloom create b.bloom
expect 2 bloom create b.bloom --items 0
expect 2 bloom create b.bloom --items 10 --rate 0.9
expect 2 bloom create b.bloom --items 10 --rate 0
says 'only 1e-12 to 0.5'
expect 2 bloom create b.bloom --items 10 --counting 5
expect 2 bloom create b.bloom --items 10 --functions 3
says '--functions needs --cells'
expect 2 bloom create b.bloom --items 10 --cells 1K --rate 0.1
says 'exclude each other'
expect 2 bloom create b.bloom --items 10 --cells 1K --layout blocks
says 'layout classic'
expect 2 bloom create b.bloom --items 10 --cells 1K --functions 65
expect 2 bloom create b.bloom --items 999999999G
if [ -z "${TWINSIFT_QUICK-}" ]; then # sanitizers need more address space than the limit
    expect 2 bash -c 'ulimit -v 1000000; exec "$0" bloom create b.bloom --items 100G' "$twinsift"
    says 'a filter of 100000000000 items at a rate of 0.01 takes 117.5'
fi
[ ! -e b.bloom ] || fail "a mistake made a file"
expect 2 bloom create a.bloom --items 10
expect 2 bloom add nowhere.bloom numbers
expect 2 bloom add a.bloom nowhere
expect 2 bloom info numbers
says 'is not a twinsift filter'
head -c 1000 a.bloom >cut.bloom
expect 2 bloom add missing.bloom numbers
says "'twinsift bloom create' creates a filter"
expect 2 bloom has cut.bloom numbers
says 'is truncated'
# Cut short while it is read: the reader has taken the first items, or the pipe would be full.
"$twinsift" bloom create shrinks.bloom --items 2M
mkfifo pipe
(got=0; "$twinsift" bloom has shrinks.bloom pipe >out 2>err || got=$?; echo $got >status) &
{ seq 100000; truncate -s 1M shrinks.bloom; seq 100000 200000; } >pipe 2>shell.err || true # it ends early
wait
[ "$(cat status)" = 2 ] || fail "a filter that is cut short while it is read: status $(cat status)"
says 'shrinks.bloom became shorter, or its disk failed, while it was read'

cp a.bloom damaged.bloom
printf X | dd of=damaged.bloom bs=1 seek=5000 conv=notrunc status=none
expect 2 bloom has damaged.bloom numbers
says 'is damaged'
expect 0 bloom --help
grep -q '^Examples:' out || fail "no examples in the help"

# one writer at a time; readers do not mind
cp a.bloom before.bloom
mkfifo slow
"$twinsift" bloom add -q a.bloom slow &
writer=$!
exec 9>slow # the writer has opened its input by now, and the filter before that
echo slow >&9
expect 2 bloom add a.bloom numbers
says 'is being written by another process'
expect 0 bloom has a.bloom numbers

# a killed writer leaves the old file, and nothing else
kill -9 $writer
wait $writer 2>/dev/null || true
exec 9>&-
cmp -s a.bloom before.bloom || fail "a killed writer changed the file"
expect 0 bloom add a.bloom numbers
expect 0 bloom info a.bloom

# so does a disk that is full, here played by a limit of 1 KiB a file
cp a.bloom before.bloom
expect 2 bash -c 'ulimit -f 1; trap "" XFSZ; exec "$0" bloom add a.bloom numbers' "$twinsift"
says 'could not be written'
cmp -s a.bloom before.bloom || fail "a full disk changed the file"
ls ./*.new >/dev/null 2>&1 && fail "something was left behind: $(ls ./*.new)"

# items that are appended to what they are read from
seq 10 >own
cp own before
"$twinsift" bloom has a.bloom --invert own >>own 2>err && fail "appends to its own input"
says 'own: is read, so it cannot be the output too'
cmp -s own before || fail "its own input was changed"

# the same bits whatever the instructions
for cpu in scalar avx2 avx512 neon; do
    expect 0 bloom create --force cpu.bloom --items 10K
    TWINSIFT_CPU=$cpu bloom add -q cpu.bloom numbers 2>err || { says 'cannot run' && continue; }
    [ -e first.bloom ] || cp cpu.bloom first.bloom
    cmp -s cpu.bloom first.bloom || fail "$cpu sets other bits"
done
echo passed

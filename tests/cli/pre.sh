#!/usr/bin/env bash
# --pre: a command makes the text of files. Names of files are names, failures are skipped documents, and a run that is
# stopped stops its commands.
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"

line='the quick brown fox jumps over the lazy dog and runs away'
mkdir -p in/deep
for name in a.rot 'b c.rot' '$(touch shot).rot' "-n;'.rot" $'new\nline.rot' deep/d.rot; do
    printf '%s\n' "$line" | tr a-z n-za-m >"in/$name"
done
printf '%s\n' "$line" >in/plain.txt

# ---- the file is the standard input; a name is a name, whatever is in it

run 0 pairs --pre 'tr a-z n-za-m' --pre-glob '*.rot' --threshold 0.9 in
[ "$(wc -l <out)" = 6 ] || fail "$asked: printed $(cat out)"
[ ! -e shot ] || fail "$asked: a name was run"
grep -q $'plain.txt\t1.0000$' out || fail "$asked: printed $(cat out)"

# ---- its path is the argument of a command of one word, or in the place of {}

cat >filter <<'END'
#!/bin/sh
[ $# = 1 ] && [ -f "$1" ] && tr a-z n-za-m <"$1"
END
chmod +x filter
run 0 pairs --pre ./filter --pre-glob '*.rot' --threshold 0.9 in
[ "$(wc -l <out)" = 6 ] || fail "$asked: printed $(cat out)"
run 0 pairs --pre 'sh filter {}' --pre-glob '*.rot' --threshold 0.9 in
[ "$(wc -l <out)" = 6 ] || fail "$asked: printed $(cat out)"
(
    cd in || exit
    TWINSIFT_HERE=1 "$TWINSIFT" pairs --quiet --pre 'cat {}' --threshold 0.9 -- "-n;'.rot" 'b c.rot'
) >out 2>err
[ "$(cat out)" = $'-n;\'.rot\tb c.rot\t1.0000' ] || fail "a name that begins with -: $(cat out err)"

# ---- whatever the name, a file that is filtered is one document; others are as before

printf '{"id":1,"text":"%s"}\n' "$line" >lines.jsonl
printf '%s\n' "$line" >text.pdf
run 0 pairs --pre cat --pre-glob '*.pdf' --threshold 0.9 lines.jsonl text.pdf
prints $'1\ttext.pdf\t1.0000'
run 0 pairs --pre 'sh -c true' --threshold 0.9 lines.jsonl text.pdf # texts without a word are similar to nothing
prints ''

# ---- what fails is reported, counted and skipped

cat >picky <<'END'
#!/bin/sh
case $1 in
*b*) echo "cannot read $1" >&2; exit 3 ;;
*deep*) kill -9 $$ ;;
esac
tr a-z n-za-m <"$1"
END
chmod +x picky
run 0 pairs --pre ./picky --pre-glob '*.rot' --threshold 0.9 in
says 'b c.rot: ./picky failed with status 3: cannot read in/b c.rot; the file is skipped'
says 'd.rot: ./picky was ended by signal 9; the file is skipped'
[ "$(wc -l <out)" = 4 ] || fail "$asked: printed $(cat out)"
run 3 pairs --fail-on-skipped --pre ./picky --pre-glob '*.rot' --threshold 0.9 in
run 2 pairs --strict --pre ./picky --pre-glob '*.rot' --threshold 0.9 in
run 0 pairs --max-document-bytes 1000 --pre 'sh -c yes' --pre-glob 'a.rot' --threshold 0.9 in
says 'a.rot: longer than 1000 bytes'
wrong 'no-such-program cannot be run: No such file' pairs --pre no-such-program --pre-glob '*.rot' in
wrong '--pre-glob chooses the files that --pre is for' pairs --pre-glob '*.rot' in
wrong '--pre: there is no command' pairs --pre ' ' in

# ---- a run that is stopped leaves no command behind

cat >slow <<'END'
#!/bin/sh
echo $$ >>pids
sleep 100 &
echo $! >>pids
wait
END
chmod +x slow
"$TWINSIFT" pairs --pre ./slow --threads 2 in >out 2>err &
for _ in $(seq 100); do
    [ -s pids ] && [ "$(wc -l <pids)" -ge 4 ] && break
    sleep 0.05
done
kill -TERM $!
wait $!
[ $? != 0 ] || fail "a run that was stopped ended well"
sleep 0.2
while read -r pid; do
    ! kill -0 "$pid" 2>kill.err || [[ $(cat "/proc/$pid/stat" 2>kill.err) == *') Z '* ]] ||
        fail "process $pid of a command is still there: $(cat out err)"
done <pids

# ---- dedup and indexes

run 0 dedup --quiet --pre 'tr a-z n-za-m' --pre-glob '*.rot' --threshold 0.9 -o kept in
[ "$(wc -l <kept)" = 1 ] || fail "$asked: kept $(cat kept)"
run 0 index create --force rot.twin
run 0 index add --quiet --pre 'tr a-z n-za-m' --pre-glob '*.rot' rot.twin in
run 0 index query rot.twin in/plain.txt
[ "$(wc -l <out)" = 7 ] || fail "$asked: printed $(cat out)"

# ---- pages: what is seen, in any character set

mkdir -p pages
printf '<!doctype html><title>no</title><style>p{}</style><p>the co<b>unc</b>il met on Monday<script>x</script>' >pages/a
printf '<div>the council met on <i>Monday</i></div><p style="display:none">buy now' >pages/b
printf '<meta charset=iso-8859-2><p>\xb1\xe6\xea is written on the wall' >pages/c
printf '<meta charset=utf-8><p>\xc4\x85\xc4\x87\xc4\x99 is written on the wall' >pages/d
printf '<p>caf\xe9 \x93plaza\x94 with tables outside' >pages/e
printf '<p>caf&eacute; &ldquo;plaza&rdquo; with tables outside' >pages/f
printf '\xff\xfe<\0p\0>\0c\0a\0f\0' >pages/g
: >pages/h
run 0 pairs --as html --threshold 0.99 pages
prints $'a\tb\t1.0000\nc\td\t1.0000\ne\tf\t1.0000'
[ ! -s err ] || fail "$asked: said $(cat err)"
run 0 pairs --as html --threshold 0.99 pages/a pages/b
prints $'pages/a\tpages/b\t1.0000'
run 0 pairs --threshold 0.99 pages
prints ''

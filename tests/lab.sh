#!/usr/bin/env bash
# Tests of twinsift-lab: options, files written, and exit status; all experiments pass in a quick run. $TWINSIFT_LAB is the
# program; with $TWIN_SANITIZE only some experiments run, to save time.
program=("${TWINSIFT_LAB:?the program to test}") named=twinsift-lab
samples=$(cd "${BASH_SOURCE%/*}/../samples/mail" && pwd) || exit 1
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/cli/frame.bash"

# ---- options and errors

run 0 --help
grep -q '^Usage: twinsift-lab' out && grep -q '^Examples:' out || fail "$asked: $(cat out)"
run 0 --version
grep -qxE 'twinsift-lab [0-9]+\.[0-9]+\.[0-9]+' out || fail "$asked: $(cat out)"
run 0 list
mapfile -t names < <(sed 's/ .*//' out)
[ ${#names[@]} -ge 15 ] || fail "$asked: only ${#names[@]} experiments"
wrong 'no experiment given'
wrong 'unknown experiment "bloom-q"' bloom-q
wrong '"many" is not a whole number from 1 to 1024' --threads many bloom-small
wrong 'not a whole number from 0' --seed=-1 bloom-small
wrong 'cannot create the folder' bloom-small --out /dev/null/lab
wrong "unknown option --frobnicate; see 'twinsift-lab --help'" --frobnicate all

# ---- the experiments

if [ -n "${TWIN_SANITIZE-}" ]; then
    chosen=(hash-independence bloom-small minhash-permutations lsh-plan movielens reuters-duplicates
        forest-vs-by threads)
else
    chosen=(all)
fi
unset TWINSIFT_DATA
run 0 "${chosen[@]}" --quick --report --out all
need_data=(movielens reuters-duplicates forest-vs-by)
[ ${#chosen[@]} -gt 1 ] || need_data+=(mail-enron mail-threshold mail-trec mail-forest mail-robust mail-share mail-long
    mail-travel mail-growth mail-folders mail-labels mail-steps)
grep -qxE "[0-9]+ passed, 0 failed, ${#need_data[@]} skipped" out || fail "$asked: $(tail -1 out)"
for name in "${need_data[@]}"; do
    grep -qx "skipped  $name" out || fail "$asked: $name without data is not skipped"
done
[ "$(grep -c 'TWINSIFT_DATA\|reads no mail' out)" = ${#need_data[@]} ] || fail "$asked: does not say what is missing"
[ ${#chosen[@]} -gt 1 ] || chosen=("${names[@]}")
for name in "${chosen[@]}"; do
    case " ${need_data[*]} " in *" $name "*) continue ;; esac
    [ -s "all/$name.tsv" ] || fail "$name left no table"
    awk -F'\t' 'NR == 1 { n = NF } NF != n { exit 1 }' "all/$name.tsv" || fail "$name.tsv is ragged"
    [ "$name" = bloom-small ] || ! command -v gnuplot >/dev/null || grep -q '</svg>' "all/$name.svg" || fail "$name left no plot"
    grep -q "<h2 id=\"$name\">" all/report.html || fail "$name is not in the report"
    grep -q "<a href=\"#$name\">" all/report.html || fail "$name is not in the contents of the report"
    [ ! -e "all/$name.svg" ] || grep -q ">$name: " "all/$name.svg" || fail "$name.svg has no title"
done
! grep -rqE '(reference|Reference)[^.]{0,12}\([A-E]\)|\b[A-E]'"'"'s ' out all/*.tsv all/report.html || fail 'a source is cited by a letter'
[ "$(tail -n 1 all/report.html)" = '</body></html>' ] || fail 'the report has no end'

# ---- the same seed gives the same bytes with any number of threads; another seed gives others

run 0 lsh-plan --quick --threads 1 --out one && cp out first
run 0 lsh-plan --quick --threads 3 --out three
cmp -s out first && cmp -s one/lsh-plan-observed.tsv three/lsh-plan-observed.tsv || fail 'threads change the result'
run 0 lsh-plan --quick --seed 2 --out other
! cmp -s one/lsh-plan-observed.tsv other/lsh-plan-observed.tsv || fail '--seed changes nothing'

# ---- data that contradict the reference fail, with a message

mkdir -p data/ml-100k
for user in 1 2 3; do printf "$user\t%s\t5\t0\n" 1 2 3 4 $user; done >data/ml-100k/u.data
run 1 movielens --data data --out failed
grep -q '^  FAILED ' out && grep -qx 'failed  movielens' out || fail "$asked: $(cat out)"
grep -qx '0 passed, 1 failed, 0 skipped' out || fail "$asked: $(tail -1 out)"
mkdir -p many/ml-1m
for user in 1 2 3; do printf "$user::%s::5::0\n" 1 2 3 4 $user; done >many/ml-1m/ratings.dat
run 1 movielens --data many --out failed
grep -q 'skip    many/ml-100k/u.data does not exist' out || fail "$asked: $(cat out)"
grep -q 'among 3 users' out || fail "$asked: $(cat out)"

# Two alternating stories, an empty text, and a truncated one.
mkdir -p tiny/reuters21578
for file in $(seq -w 0 21); do
    printf '<REUTERS><TEXT>&#2;<TITLE>Tea &amp; cocoa %s</TITLE><BODY>Prices rose in &lt;London> for %s of the brokers.</BODY></TEXT></REUTERS>
<REUTERS><TEXT></TEXT></REUTERS><REUTERS><TEXT' $((10#$file % 2)) $((10#$file % 2)) >tiny/reuters21578/reut2-0$file.sgm
done
run 1 reuters-duplicates forest-vs-by --data tiny --out failed
grep -q 'FAILED  44 texts in the collection' out || fail "$asked: $(cat out)"
grep -q 'n = 100: K = 200, L = 1 finds 341 pairs, of which 341 are identical' out || fail "$asked: $(cat out)" # with the empty ones
grep -q 'n = 250: of 44 texts 231 pairs have a ratio of at least 0.85, 231 of 0.95, 110 of 0.99' out || fail "$asked: $(cat out)"
rm tiny/reuters21578/reut2-007.sgm
run 0 reuters-duplicates --data tiny --out failed
grep -q 'skip    tiny/reuters21578/reut2-007.sgm does not exist' out || fail "$asked: $(cat out)"

# Mail of a few messages: the experiments run, and say that it is not the mail of the reference.
run 0 mail-enron --quick --data /nowhere --out failed
if ! grep -q 'this build reads no mail' out; then
    mkdir -p tiny/trec07p-25k/full tiny/spamassassin
    for part in 1 2; do
        mkdir -p tiny/enron-spam/enron$part
        cp -r "$samples/ham" "$samples/spam" tiny/enron-spam/enron$part
    done
    for i in 1 2 3; do
        for file in "$samples"/ham/*.eml "$samples"/spam/*.eml; do
            case $file in */ham/*) echo "ham $file" ;; *) echo "spam $file" ;; esac
        done
    done >tiny/trec07p-25k/full/index
    run 1 mail-enron mail-threshold mail-trec mail-forest mail-robust mail-share --quick --data tiny --out failed
    grep -q 'FAILED  20 spam and\|FAILED  1[0-9] spam and' out || fail "$asked: $(cat out)"
    for name in mail-threshold mail-trec mail-forest mail-robust mail-share; do
        [ -s "failed/$name.tsv" ] || fail "$name left no table"
        [ $name = mail-share ] || ! command -v gnuplot >/dev/null || grep -q '</svg>' "failed/$name.svg" || fail "$name left no plot"
    done
fi

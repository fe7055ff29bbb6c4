#!/usr/bin/env bash
# twinsift mail: every verb, its exit status, and the measures of eval.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

samples=${TWINSIFT_ROOT:?}/samples/mail
few=$PWD/few # four of each
mkdir -p "$few/junk" "$few/inbox"
for i in 1 2 3 4; do
    cp "$samples"/spam/1$i-*.eml "$few/junk/$i.eml"
    cp "$samples"/ham/1$i-*.eml "$few/inbox/$i.eml"
done
prints()
{
    grep -qF -- "$1" out || { cat out >&2; fail "does not print: $1"; }
}
mail()
{
    local verb=$1
    shift
    "$twinsift" mail "$verb" -m model.twin "$@"
}

# Without mail in the build there is nothing to test.
"$twinsift" mail learn -m some.twin --as spam "$few/junk" 2>err || { grep -q 'not supported' err && echo 'skipped: this build has no mail' && exit 77; }

# errors: check has a status of its own for them
expect 3 mail check "$samples/new.eml"
says 'there is no model yet'
expect 3 mail check --no-such-option
expect 2 mail learn "$few/junk"
says '--as is missing'
expect 2 mail learn --as 'two words' "$few/junk"
says 'is not a label'
expect 2 mail learn --as spam no-such-file
# A model that was made for nothing is gone again.
expect 2 "$twinsift" mail learn -m unwanted.twin --as 'two words' "$few/junk"
expect 2 "$twinsift" mail learn -m unwanted.twin --as spam no-such-file
expect 2 "$twinsift" mail learn -m unwanted.twin --strict --as spam <<<'a note'
[ "$(echo unwanted.twin*)" = 'unwanted.twin*' ] || fail "a command that is refused leaves $(echo unwanted.twin*)"
# Files that are no messages: a note, JSON lines, a table, a page. One with a header, however odd, is a message.
mkdir others
echo 'call ann at nine' >others/note.txt
echo '{"id":"a","text":"From: somebody"}' >others/lines.jsonl
printf 'set\telement\n' >others/sets.tsv
printf 'https://example.org/\n\nFrom: somebody\n' >others/page.txt
printf 'From ann@example.org Mon Mar  2 08:00:00 2026\nX-Odd:\n\na message\n' >others/odd.eml
expect 0 "$twinsift" mail learn -m others.twin --as spam others
says 'others/note.txt is not a message: it begins without a header; it is left out'
says '4 messages were left out'
says '1 learnt, 0 corrected'
expect 2 "$twinsift" mail learn -m others.twin --strict --as spam others
mkdir none
expect 0 "$twinsift" mail learn -m others.twin --as spam none
says 'there are no messages in the input'
rm -r others others.twin*
head -c 3000000 /dev/zero | gzip >bomb.eml.gz
expect 2 mail learn --as spam --max-unpacked-bytes 1M bomb.eml.gz
says '--max-unpacked-bytes allows more'

# learn, check. Which words share a weight, and are named, depends on the key.
printf 0123456789abcdef >key
expect 0 mail learn --key-file key --as spam "$few/junk"
says '4 learnt, 0 corrected, 0 known already'
expect 2 mail check "$samples/friend.eml" # good mail is not known yet
expect 0 mail learn --as ham "$few/inbox"
expect 0 mail learn --as ham "$few/inbox"
says '0 learnt, 0 corrected, 4 known already'
expect 1 mail check "$samples/friend.eml"
prints 'ham	0.'
expect 1 mail check <"$samples/friend.eml"
cp "$samples/friend.eml" own.eml
for own in own.eml ''; do
    # shellcheck disable=SC2086
    mail check $own <own.eml >>own.eml 2>err && fail "mail check appends to its input"
    says 'is read'
    cmp "$samples/friend.eml" own.eml
done
prints 'standard input'
expect 0 mail check "$few/junk"
[ "$(cut -f1 out | sort -u)" = spam ] || fail "what was learnt as spam is not spam"
expect 0 mail check --bulk "$few/inbox"
[ "$(cut -f1 out | sort -u)" = ham ] || fail "what was learnt as ham is not ham"
expect 2 mail learn --as spam --keep-days 3 "$few/junk"
says 'are chosen when a model is created'

# mbox: the same messages, known already
for file in "$few"/junk/*.eml; do
    echo "From someone@example.org Mon Mar  2 08:00:00 2026"
    cat "$file"
    echo
done >junk.mbox
expect 0 mail learn --as spam junk.mbox
says '4 known already'
sed 's/$/\r/' junk.mbox >junk-crlf.mbox
expect 0 mail learn --as spam junk-crlf.mbox
says '4 known already'

# explain, JSON
expect 0 mail check --explain --bulk "$samples/new.eml"
prints 'nearest     message 0, similarity 0.'
grep -qE '^ +[+][0-9.]+ +[a-z ]+: .*lucky-draw' out || fail "no feature of the sender or the link is named"
# the nearest known message beside it
sed 's/claim the prize/collect the prize/' "$samples/new.eml" >other.eml
expect 0 mail check --explain --bulk other.eml
prints 'message 0, and this one:'
prints 'To [-claim-] the prize'
prints 'To {+collect+} the prize'
! grep -q $'\033' out || fail "colours in a pipe"
expect 0 mail check --explain --bulk --color always other.eml
grep -q $'\033\\[3[12]' out || fail "no colours"
expect 0 mail check --json --explain --bulk "$samples/new.eml"
prints '"text":"You have been selected!!\nDear winner,'
prints '"evidence":[{"label":"spam"'
prints '"kind":"'
expect 0 mail info
prints 'messages    8 remembered, 8 learnt'
expect 0 mail info --json
prints '"labels":[{"label":"spam","messages":4'

# no text at all
expect 0 "$twinsift" mail learn -m none.twin --keep none --as spam "$few/junk"
expect 0 "$twinsift" mail info -m none.twin
prints 'without text'
expect 0 "$twinsift" mail check -m none.twin --explain --bulk other.eml
! grep -q 'and this one' out || fail "text is kept"
expect 2 "$twinsift" mail learn -m model.twin --keep none --as spam "$few/junk"
says 'are chosen when a model is created'

# what the evidence adds up to: the score, and what it is compared with
expect 0 mail check --json --bulk "$samples/new.eml"
sed 's/.*"evidence":\[{"label":"spam",//; s/,"sender_counts".*//; s/"//g; s/[a-z]*://g' out |
    awk -F, '{ d = $1 - $2 - $3 - $4; if (d < -1e-5 || d > 1e-5 || $5 < 1 || $6 > -1) exit 1 }' || fail "the evidence does not add up"

# the folders within a Maildir are not part of it, unless asked for
mkdir -p maildir/cur maildir/new maildir/tmp maildir/.Junk/cur
cp "$few/inbox/1.eml" 'maildir/cur/1.host:2,S'
cp "$few/inbox/2.eml" 'maildir/cur/2.host:2,ST' # deleted
cp "$few/inbox/3.eml" 'maildir/cur/3.host:2,D'  # a draft
cp "$few/inbox/4.eml" 'maildir/new/4.host'
cp "$few/junk/1.eml" 'maildir/.Junk/cur/5.host:2,'
expect 0 "$twinsift" mail learn -m inbox.twin --as ham maildir
says '2 learnt, 0 corrected'
says '1 hidden file or folder (--hidden reads these)'
expect 0 "$twinsift" mail learn -m inbox.twin --as spam maildir/.Junk
says '1 learnt, 0 corrected'
expect 0 "$twinsift" mail check --bulk -m inbox.twin maildir/cur
[ "$(wc -l <out)" = 1 ] || fail "flags are not heeded where cur is read"
expect 0 "$twinsift" mail check --bulk --hidden -m inbox.twin maildir
[ "$(wc -l <out)" = 3 ] || fail "--hidden does not read the folders within a Maildir"

# nothing is learnt from nothing, and no model is made of it
expect 2 mail learn --as spam </dev/null
says 'is empty; it is left out'
says '0 learnt, 0 corrected, 0 known already'
says 'nothing in the input is a message'
mkdir no-messages
: >no-messages/empty.eml
printf '\r\n \n' >no-messages/blank.eml
printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >no-messages/picture.eml
expect 2 "$twinsift" mail learn -m strange.twin --as spam no-messages
[ ! -e strange.twin ] || fail "a model was made of what is no message"
says 'picture.eml is not a message: it has zero bytes; it is left out'
says 'blank.eml is empty; it is left out'
says '3 messages were left out'
says '0 learnt, 0 corrected, 0 known already'
says 'nothing was learnt, since nothing in the input is a message'
cp "$samples/friend.eml" no-messages
expect 0 "$twinsift" mail learn -m strange.twin --as spam no-messages
rm no-messages/friend.eml
expect 0 "$twinsift" mail forget -m strange.twin "$samples/friend.eml"
expect 2 "$twinsift" mail check -m strange.twin no-messages/empty.eml
says 'empty.eml is empty'
expect 2 "$twinsift" mail learn -m strange.twin --strict --as spam no-messages
says '(--strict)'

# pass: the message with three headers more, those of a forger less
{ echo "X-Spam-Flag: NO"; cat "$few/junk/1.eml"; } >forged.eml
expect 0 mail check --pass <forged.eml
[ "$(grep -c '^X-Spam-Flag: ' out)" = 1 ] || fail "a forged header is passed on"
prints 'X-Spam-Flag: YES'
prints 'X-Twinsift: spam, score=0.9'
grep -v '^X-' out >passed
cmp -s passed "$few/junk/1.eml" || fail "the message is not passed as it was"
expect 3 mail check --pass "$samples/new.eml"
# byte for byte: line ends, folded and oddly written headers of a forger, zero bytes, no end of line
printf 'x-SPAM-flag : NO\r\nX-Spam-Score: -100\r\n\tfolded\r\nX-TWINSIFT: ham\r\n' >forgery
printf 'Received: from a\r\n\tby b\r\nSubject: hi\r\n' >head
printf 'X-Spam-Status: Yes\r\n\r\na\0b\r\n\r\nX-Spam-Flag: of the body\r\nno end' >rest
expect 2 mail check --pass < <(cat head forgery rest)
head -c "$(sed -n '/^X-Twinsift/q;p' out | wc -c)" out | grep -q $'^X-Spam-Score: 0\\.[0-9]*\r$' || fail "line ends are not those of the message"
sed 1,3d out >passed
cat head rest | cmp - passed || fail "not byte for byte"
# a line that is no header, or has a name that is not ASCII, does not shelter forged ones; a message without headers has none
printf 'Subject: hi\nnot a header\nX-\351: 1\nX-Spam-Flag: NO\nTo: me\nX-Twinsift: ham\n\nX-Spam-Flag: of the body\n' >sheltered
expect 2 mail check --pass <sheltered
sed 1,3d out >passed
printf 'Subject: hi\nnot a header\nX-\351: 1\nTo: me\n\nX-Spam-Flag: of the body\n' | cmp - passed || fail "a forged header is sheltered"
printf 'not a header\nX-Spam-Flag: of the body\n' >bare
expect 2 mail check --pass <bare
sed 1,4d out | cmp - bare || fail "the text of a message without headers is changed"
# procmail and maildrop take a status other than 0 for a failure of the filter, and would deliver what was forged
expect 0 mail check --pass --exit-zero <sheltered
sed 1,3d out | cmp - passed || fail "--exit-zero changes what is passed"
expect 0 mail check -e "$few/junk/1.eml" "$samples/friend.eml"
expect 3 "$twinsift" mail check --pass -e -m no-such-model <sheltered
# without a model the message is passed all the same, and the status says so
expect 3 "$twinsift" mail check --pass -m no-such-model < <(cat head forgery rest)
cat head rest | cmp - out || fail "a message is lost where there is no model"
says 'there is no model yet'

# correct turns a message at once, forget forgets it
expect 0 mail correct --as ham "$few/junk/2.eml"
says '1 corrected'
expect 1 mail check "$few/junk/2.eml"
expect 0 mail correct --as spam "$few/junk/2.eml"
expect 0 mail check "$few/junk/2.eml"
expect 0 mail forget "$few/junk/2.eml"
says '1 forgotten, 0 not known'
says 'cannot be undone'
expect 0 mail forget "$few/junk/2.eml"
says '0 forgotten, 1 not known'

# a list of those who are trusted
expect 0 "$twinsift" bloom create trusted.bloom --items 10
echo prize-desk@lucky-draw.example | expect 0 "$twinsift" bloom add trusted.bloom
expect 0 mail check "$few/junk/1.eml"
expect 1 mail check --trust trusted.bloom "$few/junk/1.eml"
prints 'ham	0.119203	sender'

# the default place
export XDG_DATA_HOME=$PWD/data
expect 0 "$twinsift" mail learn --as spam "$few/junk"
[ -e data/twinsift/mail.twin ] || fail "the model is not where it should be"
[ "$(stat -c %a data/twinsift/mail.twin)" = 600 ] || fail "others can read the model"
expect 0 "$twinsift" mail info

# any labels
for label in primary promotions; do
    folder=inbox
    [ $label = primary ] || folder=junk
    expect 0 "$twinsift" mail learn -m labels.twin --as $label "$few/$folder"
done
expect 1 "$twinsift" mail check -m labels.twin "$few/junk"
prints 'promotions	'

# eval: a corpus of eight messages, several times over, in the order of the index
for i in 1 2 3 4; do
    echo "spam $few/junk/$i.eml"
    echo "ham $few/inbox/$i.eml"
done >index
expect 0 "$twinsift" mail eval --trec index --results results
prints 'messages 8: 4 good, 4 spam'
[ "$(wc -l <results)" = 8 ] || fail "not every message has a result"
grep -q 'judge=ham class=unsure' results || fail "the results do not tell unsure from ham"

# judge_slowly: the measures of a result file by their definitions: every pair of messages, every threshold.
judge_slowly()
{
    awk '
        function logit(k, n, p) { p = (k < .5 ? .5 : k > n - .5 ? n - .5 : k) / n; return log(p / (1 - p)) }
        {
            for (i = 1; i <= NF; i++) { split($i, p, "="); v[p[1]] = p[2] }
            if (v["judge"] == "unknown") next
            n++; score[n] = v["score"] + 0; spam[n] = v["judge"] == "spam"; called[n] = v["class"] == "spam"
        }
        END {
            for (i = 1; i <= n; i++) { if (spam[i]) S++; else H++ }
            for (i = 1; i <= n; i++) { if (spam[i] && !called[i]) sm++; if (!spam[i] && called[i]) hm++ }
            for (i = 1; i <= n; i++)
                for (j = 1; j <= n; j++)
                    if (!spam[i] && spam[j])
                        wrong += score[i] > score[j] ? 1 : score[i] == score[j] ? .5 : 0
            printf "  hm%%        %.4f\n  sm%%        %.4f\n", 100 * hm / H, 100 * sm / S
            printf "  lam%%       %.4f\n", 100 / (1 + exp(-(logit(hm, H) + logit(sm, S)) / 2))
            printf "  1-ROCA%%    %.4f\n", 100 * wrong / (H * S)
            split("0.1 1 5 10", level, " ")
            for (l = 1; l <= 4; l++) {
                best = 100
                for (t = 1; t <= n; t++) {
                    lost = missed = 0
                    for (i = 1; i <= n; i++) { lost += !spam[i] && score[i] >= score[t]; missed += spam[i] && score[i] < score[t] }
                    if (100 * lost / H <= level[l] + 1e-9 && 100 * missed / S < best) best = 100 * missed / S
                }
                printf "  sm%% at hm%%=%-4s %.4f\n", level[l], best
            }
        }' "$1"
}
# agrees RESULTS: what eval has printed are the measures of its results.
agrees()
{
    judge_slowly "$1" | while IFS= read -r line; do
        prints "$line"
    done
}
agrees results
expect 0 "$twinsift" mail eval --trec index --results again
cmp -s results again || fail "the same seed gives other scores"
for options in "--method content" "--method sender" "--method lookalike" "--method forest --trees 3" \
    "--method paper-a" "--noise 0.3" "--teach-every 2" "--delay 3" "--split"; do
    # shellcheck disable=SC2086
    expect 0 "$twinsift" mail eval --trec index $options --json
    prints '"roca":'
    # shellcheck disable=SC2086
    expect 0 "$twinsift" mail eval --trec index $options --results results
    agrees results
done
# More messages, so that the levels differ: everything in turn under both labels.
for i in 1 2 3 4 5 6 7; do
    for file in "$samples"/*/*.eml; do
        case $((i % 3))$file in 0*spam* | *ham/0[12]*) echo "ham $file" ;; *) echo "spam $file" ;; esac
    done
done >long
expect 0 "$twinsift" mail eval --trec long --method content --results results
agrees results
# Labels that count in judging only.
echo "ham $few/junk/1.eml" >fixes
expect 0 "$twinsift" mail eval --trec index --judge fixes --results judged
prints 'messages 8: 5 good, 3 spam'
[ "$(sed 's/.*score=//' judged)" = "$(sed 's/.*score=//' again)" ] || fail "--judge changes what is learnt"
agrees judged
echo "ham elsewhere.eml" >fixes
expect 0 "$twinsift" mail eval --trec index --judge fixes
says '1 of 1 labels name no message'
# Capitals: judged and not learnt; learnt and not judged; never judged.
{ sed 's/^s/S/; s/^h/H/' index; sed 's/^spam/SPAM/; s/^ham/HAM/' index; echo "unknown $samples/new.eml"; } >capitals
expect 0 "$twinsift" mail eval --trec capitals --results results --json
prints '"messages":8,'
prints '"learnt":8,'
[ "$(wc -l <results)" = 9 ] || fail "not every judged message has a result"
grep -q 'judge=unknown' results || fail "the unknown message has no result"
echo "neither $samples/new.eml" >bad
: >empty_index
expect 0 "$twinsift" mail eval --trec empty_index
says 'there are no messages in the input'
expect 2 "$twinsift" mail eval --trec bad
says 'bad:1: expected'

# Folders named for their labels.
mkdir -p named/work named/lists named/family
for i in 1 2 3 4; do
    cp "$few/inbox/$i.eml" named/work/$i.eml
    cp "$few/junk/$i.eml" named/lists/$i.eml
    { echo "Subject: dinner $i"; echo; echo "aunt and uncle come on sunday for dinner, number $i"; } >named/family/$i.eml
done
expect 0 "$twinsift" mail eval --labels named/work named/lists/ named/family --results labelled
prints 'messages 12 of 3 labels'
prints 'unsure     '
grep -q 'judge=lists class=' labelled || fail "results have no labels"
expect 0 "$twinsift" mail eval --labels --split named/work named/lists --json
prints '"called":{"work":'
expect 2 "$twinsift" mail eval --labels --trec index

# Folders: in the order in which messages were received; halves.
mkdir -p corpus/first/ham corpus/first/spam corpus/second/ham corpus/second/junk
cp "$few"/inbox/* corpus/first/ham
cp "$few"/inbox/* corpus/second/ham
cp "$few"/junk/* corpus/first/spam
cp "$few"/junk/* corpus/second/junk
echo "nothing" >corpus/first/Summary.txt
expect 0 "$twinsift" mail eval corpus --results results
prints 'messages 16: 8 good, 8 spam'
says '1 file is left out'
[ "$(wc -l <results)" = 16 ] || fail "not every message of the folders has a result"
for file in $(sed 's/^file=\([^ ]*\) .*/\1/' results); do
    received=$(sed -n '/^Received:/,/;/p' "$file" | tr -d '\n' | sed 's/;\([^;]*\)$/\n\1/' | tail -1)
    date -d "$received" +%s 2>/dev/null || echo 0
done >dates
sort -n dates | cmp -s dates || fail "messages are not in their order"
expect 0 "$twinsift" mail eval --split corpus
prints 'messages 8: 4 good, 4 spam; 8 others learnt before'
expect 0 "$twinsift" mail eval --split corpus/first
prints 'messages 4:'
expect 0 "$twinsift" mail eval --split --method paper-a corpus --json
prints '"thresholds":[{"threshold":0.1,"spam_caught":4,"good_lost":0}'
expect 2 "$twinsift" mail eval
says 'give the index of a corpus'
expect 2 "$twinsift" mail eval --trec index corpus
says 'not both'
expect 2 "$twinsift" mail eval --split --delay 3 corpus
expect 2 "$twinsift" mail eval "$samples/new.eml"
says 'is a file'
expect 2 "$twinsift" mail eval --method forest -m model.new --trec index
says 'are not kept in files'

# The judge of others, where it is at hand.
if [ -n "${TWINSIFT_TREC_EVAL:-}" ]; then
    expect 0 "$twinsift" mail eval --trec index --results results
    python3 "$TWINSIFT_TREC_EVAL" results >judged
    grep -q "1-ROCA%  $(sed -n 's/^  1-ROCA% *//p' out | head -1 | cut -d' ' -f1)" judged || fail "trec_eval.py disagrees"
fi

# models of earlier versions: the same verdicts, also after learning something that changes nothing
for version in 1 2 3; do
    gunzip -c "$TWINSIFT_ROOT/tests/golden/mail$version.twin.gz" >golden.twin
    for turn in read write; do
        [ $turn = read ] || expect 0 "$twinsift" mail forget -m golden.twin "$samples/spam/09-stock-image.eml"
        cp "$samples/friend.eml" "$samples/new.eml" "$few"
        (cd "$few" && "$twinsift" mail check -m "$OLDPWD/golden.twin" friend.eml new.eml junk) >out || true
        cmp out "$TWINSIFT_ROOT/tests/golden/mail$version.tsv" || fail "the model of version $version judges otherwise"
    done
    expect 0 "$twinsift" mail learn -m golden.twin --as spam "$samples/spam"
    expect 0 "$twinsift" mail compact --json -m golden.twin
    prints '"after":'
    expect 0 "$twinsift" mail learn -m golden.twin --as spam "$samples/spam"
    says '0 learnt, 0 corrected'
done
expect 2 "$twinsift" mail compact -m no-such-model

# the commands of the TREC toolkit: classify, then train, each message in a process of its own, as eval does in one
mkdir trec
cp "$TWINSIFT_ROOT"/examples/trec/* trec
(
    cd trec
    export TWINSIFT=$twinsift
    ./initialize
    [ "$(./classify "$samples/new.eml")" = 'class=ham score=0' ] || fail "an empty model says something"
    for i in 1 2 3 4; do
        for label in spam ham; do
            for file in "$samples/$label/1$i"-*.eml; do
                class=$(./classify "$file")
                ./train $label "$file" "${class#class=}"
            done
        done
    done
    ./classify "$samples/new.eml" | grep -qE '^class=spam score=[0-9]+\.[0-9]{6}$' || fail "new.eml is not spam"
    ./classify "$samples/friend.eml" | grep -qE '^class=ham score=-' || fail "friend.eml is not good"
    ./initialize
    [ ! -e trec.twin ] || fail "initialize keeps the model"
    ./finalize
)

# the options of bogofilter
mkdir bogofilter
bogofilter()
{
    TWINSIFT=$twinsift "$TWINSIFT_ROOT/examples/bogofilter" -d bogofilter "$@"
}
expect 0 bogofilter -n -B "$samples"/ham/*.eml
expect 0 bogofilter -s -B "$samples"/spam/*.eml
expect 0 bogofilter <"$samples/new.eml"
expect 1 bogofilter -I "$samples/friend.eml"
expect 0 bogofilter -p <"$samples/new.eml"
prints 'X-Spam-Flag: YES'
expect 1 bogofilter -p <"$samples/friend.eml"
expect 0 bogofilter -pe <"$samples/friend.eml"
prints 'X-Spam-Flag: NO'
expect 0 bogofilter -v -l <"$samples/new.eml"
prints 'X-Bogosity: Spam, spamicity=0.9'
expect 1 bogofilter -T <"$samples/friend.eml"
prints 'H 0.'
expect 0 bogofilter -u <"$samples/new.eml"
expect 0 "$twinsift" mail learn -m bogofilter/mail.twin --as spam "$samples/new.eml"
says '0 learnt, 0 corrected, 1 known already'
expect 0 bogofilter -Sn <"$samples/new.eml"
expect 1 bogofilter <"$samples/new.eml"
expect 0 bogofilter -N <"$samples/new.eml"
expect 3 bogofilter -x <"$samples/new.eml"

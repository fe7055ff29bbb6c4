#!/usr/bin/env bash
# twinsift mail export and import: a campaign that one site has seen is caught by another, on messages that are made
# here and, where the data is, on trec07p divided in two.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

samples=${TWINSIFT_ROOT:?}/samples/mail
printf 0123456789abcdef >key
learn()
{
    "$twinsift" mail learn -q -m "$1.twin" "${@:4}" --as "$2" "$3"
}
learn a ham "$samples/ham" --key-file key 2>err || { grep -q 'not supported' err && echo 'skipped: this build has no mail' && exit 77; }
learn b ham "$samples/ham" --key-file key
learn c ham "$samples/ham"
mkdir other-spam # than the campaign below
cp "$samples"/spam/0[4-9]* "$samples"/spam/1[0-3]* other-spam
for site in a b c; do
    learn $site spam other-spam
done

# A campaign of thirty, to thirty people.
mkdir seen
for n in $(seq 30); do
    sed "s/^Message-I[Dd]:.*/Message-ID: <$n@campaign.example>/; s/^To:.*/To: person$n@example.net/" \
        "$samples/spam/01-watches.eml" >"seen/$n.eml"
done
mv seen/30.eml new.eml
learn a spam seen
status=0
"$twinsift" mail check -m b.twin new.eml >before || status=$?
[ $status != 0 ] || fail "the campaign is spam to a site that has not seen it"
"$twinsift" mail export --sketches -m a.twin -o a.sketches.zst
"$twinsift" mail import --json -m b.twin a.sketches.zst >out
grep -q '"imported":29' out || fail "not all was imported: $(cat out)"
"$twinsift" mail check -m b.twin new.eml >after || fail "the campaign is not spam: $(cat before after)"
"$twinsift" mail check -m b.twin "$samples/friend.eml" >out && fail "good mail became spam"
"$twinsift" mail info -m b.twin >out
grep -q 'imported    29 of them' out || fail "info does not count what was imported"

# no text, another key, not sketches
"$twinsift" mail export --sketches --weights -m a.twin -o a.sketches
! grep -qaiE 'watch|example' a.sketches || fail "sketches contain text"
! "$twinsift" mail import -m c.twin a.sketches 2>err || fail "sketches of another key are imported"
grep -q 'another key' err || fail "does not say that the key is another: $(cat err)"
head -c 16 /dev/urandom >other-key
! "$twinsift" mail import -m none.twin a.sketches 2>err || fail "sketches are imported without their key"
grep -q 'there is no model yet' err || fail "does not say that a model is to be created: $(cat err)"
! "$twinsift" mail import -m none.twin --key-file other-key a.sketches 2>err || fail "sketches of another key are imported"
grep -q 'another key' err || fail "does not say that the key is another: $(cat err)"
[ ! -e none.twin ] || fail "a model that can import nothing is left behind"
! "$twinsift" mail import -m b.twin new.eml 2>err || fail "a message is imported"
grep -q 'not sketches' err || fail "does not say what is wrong: $(cat err)"
! "$twinsift" mail export -m a.twin >out 2>err || fail "exports something"
"$twinsift" mail import -m fresh.twin --key-file key a.sketches 2>err
grep -q 'weights taken' err || fail "a new model does not take weights"
"$twinsift" mail check -m fresh.twin seen/1.eml >out || fail "the new model knows nothing"

corpus=${TWINSIFT_DATA:-none}/trec07p-25k/full
[ -e "$corpus/index" ] || { echo 'trec07p is not there: its part is skipped'; exit 0; }

# Two sites, each with every other message: site 0 up to the 1,200th, site 1, which has just begun, up to the 120th. Then site 1
# gets the sketches of site 0. The campaigns are the spam that follows.
awk -v to="$corpus/" 'NR <= 1200 && NR % 2 == 0 { print $1, to $2 }' "$corpus/index" >half0
awk -v to="$corpus/" 'NR <= 120 && NR % 2 == 1 { print $1, to $2 }' "$corpus/index" >half1
for half in 0 1; do
    "$twinsift" mail eval --trec half$half -m trec$half.twin >/dev/null
done
awk -v to="$corpus/" 'NR > 1200 && NR <= 1800 && $1 == "spam" { print to $2 }' "$corpus/index" >campaign
awk -v to="$corpus/" 'NR > 1200 && NR <= 1800 && $1 == "ham" { print to $2 }' "$corpus/index" >good
caught()
{
    xargs "$twinsift" mail check --bulk -m trec1.twin <"$1" | grep -c "^spam" || true
}
before=$(caught campaign)
good_before=$(caught good)
"$twinsift" mail export --sketches -m trec0.twin -o trec0.sketches
"$twinsift" mail import -m trec1.twin trec0.sketches 2>/dev/null
after=$(caught campaign)
good_after=$(caught good)
echo "trec07p: $(wc -l <campaign) spam messages, caught $before, with sketches $after; good mail lost $good_before, $good_after"
[ "$after" -gt "$before" ] && [ "$good_after" -le "$good_before" ] || fail "sketches do not help"

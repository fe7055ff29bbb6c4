#!/usr/bin/env bash
# twinsift mail milter, as a mail server speaks with it: judged with the envelope, forged headers removed, marked,
# quarantined or rejected; what happens without a model; what is learnt meanwhile; signals.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

samples=${TWINSIFT_ROOT:?}/samples/mail
needs_mail
expect 2 "$twinsift" mail milter
says '--listen is missing'
expect 2 "$twinsift" mail milter --listen nowhere --host-name mx.example.org
! grep -q 'not in this build' err || { echo 'skipped: this build has no milter'; exit 77; }
says 'write ADDRESS:PORT or unix:PATH'
command -v miltertest >/dev/null || { echo 'skipped: miltertest is not installed'; exit 77; }

milter=
trap '[ -z "$milter" ] || kill $milter 2>/dev/null || true' EXIT
stop()
{
    [ -z "$milter" ] || kill $milter
    [ -z "$milter" ] || wait $milter || fail "the milter ends with $?: $(cat log)"
    milter=
}
# start OPTION...: with the model model.twin, until it listens.
start()
{
    stop
    rm -f socket
    "$twinsift" mail milter -m model.twin --listen "unix:$PWD/socket" --host-name mx.example.org "$@" 2>log &
    milter=$!
    until listens socket; do
        kill -0 $milter 2>/dev/null || fail "no milter: $(cat log)"
        sleep 0.02
    done
}
# through FILE [SENDER [HELLO [USER]]]: gives it a message; the answer is in the file answer.
through()
{
    miltertest -D SOCKET="$PWD/socket" -D FILE="$1" -D SENDER="${2:-a@example.org}" -D HELLO="${3:-mail.example.org}" \
        -D USER="${4:-}" -s "$TWINSIFT_ROOT/tests/cli/milter.lua" >answer || fail "miltertest: $(cat answer log)"
}
answers() { grep -qx -- "$1" answer || fail "the answer has no \"$1\": $(cat answer log)"; }
lacks() { ! grep -q -- "$1" answer || fail "the answer has \"$1\": $(cat answer)"; }

# ---- no model yet: mail goes on without a verdict, or waits, and forged headers are removed

{ printf 'X-Twinsift: ham\nX-Spam-Flag: NO\nx-spam-flag: NO\n'; cat "$samples/new.eml"; } >forged.eml
start
through "$PWD/forged.eml"
answers accept
answers 'deleted X-Spam-Flag'
answers 'deleted X-Twinsift'
lacks '^X-'
grep -q 'QUEUE1: not judged: .*there is no model yet' log || fail "the log does not say why: $(cat log)"
start --fail tempfail
through "$PWD/forged.eml"
answers tempfail

# ---- a model that another process makes and teaches is noticed

"$twinsift" mail learn -q -m model.twin --as ham "$samples/ham"
"$twinsift" mail learn -q -m model.twin --as spam "$samples/spam"
for _ in $(seq 1200); do
    through "$PWD/forged.eml"
    ! grep -q 'X-Spam-Flag: YES' answer || break
    sleep 0.05
done
answers accept
answers 'X-Spam-Flag: YES'
grep -qxE 'X-Spam-Score: 0\.[0-9]{6}' answer || fail "no score: $(cat answer)"
grep -qxE 'X-Twinsift: spam, score=0\.[0-9]{6}, reason=[a-z0-9 .]+; by=mx.example.org' answer || fail "$(cat answer)"
through "$samples/friend.eml"
answers 'X-Spam-Flag: NO'
lacks deleted
through "$PWD/forged.eml" a@example.org mail.example.org someone
answers accept
lacks '^X-'
answers 'deleted X-Twinsift' # those who have logged in are not judged, but may not forge either

# ---- what is done with spam

start --spam reject --quiet
through "$PWD/forged.eml"
answers reply
through "$samples/friend.eml"
answers accept
[ ! -s log ] || fail "quiet, but it says: $(cat log)"
start --spam quarantine
through "$PWD/forged.eml"
answers accept
answers quarantine
answers 'X-Spam-Flag: YES'
start --spam reject --above 1
through "$PWD/forged.eml"
answers accept
answers 'X-Spam-Flag: YES'
grep -q 'QUEUE1: spam, score 0\.[0-9]*, [a-z0-9 .]*; marked$' log || fail "the log: $(cat log)"

# ---- headers that can be verified; signals

head -c 16 /dev/urandom >key
start --key-file key
through "$PWD/forged.eml" # so that libmilter's own thread waits; when it begins to, it may take a signal that is on its way
for _ in 1 2 3 4 5; do kill -HUP $milter; done
through "$PWD/forged.eml"
kill -HUP $milter
grep '^X-' answer | cat - "$samples/new.eml" >marked.eml
verify() { expect "$1" "$twinsift" mail milter --verify --key-file key --host-name "${3:-mx.example.org}" <"$2"; }
verify 0 marked.eml
sed 's/$/\r/' marked.eml >crlf.eml
verify 0 crlf.eml
verify 1 forged.eml
verify 1 "$samples/new.eml"
verify 1 marked.eml other.example.org
sed 's/^X-Twinsift: spam/X-Twinsift: ham/' marked.eml >altered.eml
verify 1 altered.eml
sed 's/^Message-ID: </&other/I' marked.eml >other.eml
verify 1 other.eml
{ grep '^X-Twinsift' marked.eml; cat marked.eml; } >twice.eml
verify 1 twice.eml
head -c 16 /dev/urandom >key
verify 1 marked.eml
expect 2 "$twinsift" mail milter --verify <marked.eml
says '--verify needs the --key-file'

# ---- the envelope counts: it is what the headers of a mailbox say of it

for n in $(seq 12); do
    for who in spam:bad.example ham:good.example; do
        printf 'Return-Path: <news@%s>\nReceived: from %s (%s [192.0.2.7])\n\tby mx.example.org with ESMTP id %d;\n' \
            "${who#*:}" "${who#*:}" "${who#*:}" "$n" >"learn.eml"
        printf '\tMon, 2 Nov 2026 10:00:%02d +0000\nSubject: number %d\nMessage-ID: <%d@%s>\n\nthe same text, %d\n' \
            "$n" "$n" "$n" "${who#*:}" "$n" >>learn.eml
        "$twinsift" mail learn -q -m envelope.twin --as "${who%:*}" learn.eml
    done
done
printf 'Subject: number 99\nMessage-ID: <99@example.net>\n\nthe same text, 99\n' >plain.eml
mv envelope.twin model.twin
rm -f model.twin-lock envelope.twin-lock
start
through "$PWD/plain.eml" news@bad.example bad.example
bad=$(sed -n 's/^X-Spam-Score: //p' answer)
through "$PWD/plain.eml" news@good.example good.example
good=$(sed -n 's/^X-Spam-Score: //p' answer)
awk "BEGIN { exit !($bad > 0.8 && $good < 0.2) }" || fail "scores $bad and $good do not tell envelopes apart"
stop

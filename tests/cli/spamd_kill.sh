#!/usr/bin/env bash
# twinsift serve --spamd, killed while it judges and learns: spamc gives back every message, and what was acknowledged
# is known. The same without room on the disk, and with a model that is damaged while it is served. $KILLS is how often.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

samples=${TWINSIFT_ROOT:?}/samples/mail spam=$samples/new.eml
needs_mail
expect 2 "$twinsift" serve --spamd unix:socket
! grep -q 'not in this build' err || { echo 'skipped: this build has no server'; exit 77; }
command -v spamc >/dev/null || { echo 'skipped: spamc is not installed'; exit 77; }

server= kills=${KILLS:-8}
trap '[ -z "$server" ] || kill -9 $server 2>/dev/null || true' EXIT
start()
{
    rm -f socket
    "$@" "$twinsift" serve --model model.twin --http "unix:$PWD/http" --spamd "unix:$PWD/socket" --spamd-tell >log 2>&1 &
    server=$!
    for _ in $(seq 3000); do
        ! listens socket || return 0
        sleep 0.02
    done
    fail "no server: $(cat log)"
}
# message N: what is learnt as number N.
message()
{
    printf 'From: sender%d@example.org\nSubject: number %d\nMessage-ID: <%d@example.org>\n\n' "$1" "$1" "$1"
    seq $(($1 * 7)) $(($1 * 7 + 40))
}
client() { spamc -U "$PWD/socket" "$@"; }
# teach FROM TO: one after the other; the numbers of what was acknowledged go to the file done.
teach()
{
    local n
    for n in $(seq "$1" "$2"); do
        message "$n" >"$n.eml"
        client -x -L spam <"$n.eml" >told 2>/dev/null || continue
        ! grep -q successfully told || echo "$n.eml" >>done
    done
}
# judge NUMBER...: what comes back is the message, with our headers or as it was.
judge()
{
    local n
    for n; do
        client <"$spam" 2>/dev/null >"back.$n" || echo "$n: status $?" >>lost
        grep -v '^X-' "back.$n" | cmp -s - "$spam" || echo "$n: another message" >>lost
        ! grep -q '^X-Spam-Flag: YES' "back.$n" || echo "$n" >>judged
        rm "back.$n"
    done
}

"$twinsift" mail learn -q -m model.twin --as ham "$samples/ham"
"$twinsift" mail learn -q -m model.twin --as spam "$samples/spam"
touch 'done' lost judged
for turn in $(seq "$kills"); do
    start env
    teach $((turn * 100)) $((turn * 100 + 19)) &
    teaching=$!
    judge $(seq $((turn * 100)) $((turn * 100 + 19))) &
    judging=$!
    for _ in $(seq 3000); do # something is to be learnt before the end
        [ "$(wc -l <'done')" -lt $turn ] && kill -0 $teaching 2>/dev/null || break
        sleep 0.02
    done
    sleep "0.$((turn * 37 % 20 + 10))"
    kill -9 $server
    wait $server 2>/dev/null || true
    wait $teaching $judging
done
[ ! -s lost ] || fail "messages were lost: $(cat lost)"
[ -s 'done' ] && [ -s judged ] || fail "nothing was learnt or judged: the server was killed too early"
known=$(wc -l <'done')
xargs "$twinsift" mail learn -m model.twin --as spam <'done' 2>err || fail "the model cannot be written after kills"
grep -q "^0 learnt, 0 corrected, $known known already" err || fail "of $known acknowledged some are lost: $(cat err)"
echo "$kills kills, $((kills * 20)) messages given back, $(wc -l <judged) of them judged, $known acknowledged and known"

# ---- the file may not grow: refused, and judging goes on. Sanitizers need more room than is left then.

ask() { client "$@" <"$spam"; }
is_judged() { ask >back; grep -q '^X-Spam-Flag: ' back; } # as what depends on what the kills let it learn
if [ -z "${TWINSIFT_SANITIZED:-}" ]; then
    full() { ulimit -f $(($(stat -c %s model.twin) / 1024 + 16)); exec "$@"; }
    export -f full
    start bash -c 'full "$@"' bash
    seq 5000 5040 | while read -r n; do
        message "$n" | client -x -L ham >out 2>err || { echo refused >refused; break; }
    done
    [ -s refused ] || fail 'a full disk is no error'
    grep -q 'nothing was learnt' log || fail "the log does not say so: $(cat log)"
    is_judged || fail 'with a full disk nothing is judged'
    kill $server
    wait $server || fail "the server ends with $?: $(cat log)"
    "$twinsift" mail info -q -m model.twin >out || fail 'the model cannot be opened after a full disk'
fi

# ---- the file is damaged, and goes away, while it is served: mail is judged by what was loaded

start env
is_judged || fail "not judged: $(cat log)"
cp model.twin good.twin
head -c 100000 /dev/urandom >garbage
mv garbage model.twin
for _ in $(seq 3000); do
    ! grep -q model.twin log || break
    sleep 0.02
done
is_judged || fail "a damaged file takes the model away: $(cat log)"
grep -q model.twin log || fail "the log does not speak of a damaged model: $(cat log)"
! ask -x -L spam >out 2>err || fail 'a damaged model learns'
mv good.twin model.twin
for _ in $(seq 1200); do
    ! ask -x -L spam >out 2>err || break
    sleep 0.05
done
grep -q successfully out || fail "the model that came back does not learn: $(cat out err log)"
kill $server
wait $server || fail "the server ends with $?: $(cat log)"

#!/usr/bin/env bash
# twinsift serve --spamd, as Debian's spamc asks it: each mode with its output and exit status.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

samples=${TWINSIFT_ROOT:?}/samples/mail spam=$samples/new.eml ham=$samples/friend.eml
needs_mail
expect 2 "$twinsift" serve --spamd unix:socket
! grep -q 'not in this build' err || { echo 'skipped: this build has no server'; exit 77; }
says '--spamd needs a mail model'
command -v spamc >/dev/null || { echo 'skipped: spamc is not installed'; exit 77; }

server=
trap '[ -z "$server" ] || kill $server 2>/dev/null || true' EXIT
stop()
{
    [ -z "$server" ] || kill $server
    [ -z "$server" ] || wait $server || fail "the server ends with $?: $(cat log)"
    server=
}
# start PATH OPTION...: with these mail models, until it answers.
start()
{
    stop
    "$twinsift" serve --model "$1" --http "unix:$PWD/http" --spamd "unix:$PWD/socket" "${@:2}" >log 2>&1 &
    server=$!
    until listens socket; do
        kill -0 $server 2>/dev/null || fail "no server: $(cat log)"
        sleep 0.02
    done
}
# ask STATUS FILE OPTION...: spamc with a message; its output is in out.
ask() { expect "$1" spamc -U "$PWD/socket" "${@:3}" <"$2"; }
prints() { grep -qxE -- "$1" out || fail "spamc does not print \"$1\": $(cat out err log)"; }

"$twinsift" mail learn -q -m model.twin --as ham "$samples/ham"
"$twinsift" mail learn -q -m model.twin --as spam "$samples/spam"
start model.twin --spamd-tell

ask 0 /dev/null -K
prints 'SPAMD/1.5 0'
ask 1 "$spam" -c
prints '[0-9.]+/5\.0'
ask 0 "$ham" -c
prints '-?[0-9.]+/5\.0'
for mode in '' -E; do
    ask "$([ -z "$mode" ] && echo 0 || echo 1)" "$spam" $mode
    grep -q '^X-Spam-Flag: YES' out && grep -q '^X-Spam-Status: Yes, score=' out || fail "no headers: $(cat out)"
    grep -v '^X-' out | cmp -s - "$spam" || fail "spamc $mode: another message comes back"
done
ask 0 "$ham" -E
prints 'X-Spam-Flag: NO'
ask 0 "$spam" --headers
grep -v '^X-' out | cmp -s - "$spam" || fail 'spamc --headers: another message comes back'
ask 0 "$ham" -R
prints 'twinsift: ham, probability of spam 0\.[0-9]*, -?[0-9.]* points, 5\.0 required; .*'
ask 0 "$spam" -R
prints '  nearest: message [0-9]+, similarity [01]\.[0-9]*'
ask 0 "$ham" -r
! grep -q twinsift out || fail "a report on good mail: $(cat out)"
ask 0 "$spam" -r
prints 'twinsift: spam, .*'
ask 0 "$spam" -y
prints 'TWINSIFT_SPAM,TWINSIFT_(CONTENT|LOOKALIKE|SENDER)'

# ---- teaching, which other processes see at once

teach() { ask 0 "$spam" $1; prints "$2"; }
teach '-L spam' 'Message successfully un/learned'
teach '-L spam' 'Message was already un/learned'
teach '-L ham' 'Message successfully un/learned'
expect 1 "$twinsift" mail check -m model.twin "$spam"
ask 0 "$spam" -c
teach '-L forget' 'Message successfully un/learned'
teach '-L forget' 'Message was already un/learned'
teach '-C report' 'Message successfully reported/revoked'
expect 0 "$twinsift" mail check -m model.twin "$spam"
teach '-C revoke' 'Message successfully reported/revoked'
expect 1 "$twinsift" mail check -m model.twin "$spam"

# ---- metrics: the dashboard asks for none that is not there, and no message is in them or in the log

if command -v curl >/dev/null; then
    curl -s --unix-socket http http://localhost/metrics >metrics || fail "no metrics: $(cat log)"
    grep -q '^twinsift_spamd_told_total [1-9]' metrics || fail "TELL is not counted: $(cat metrics)"
    for name in $(grep -oE 'twinsift_[a-z_]+' "$TWINSIFT_ROOT/packaging/grafana/twinsift.json" | sort -u); do
        grep -q "^$name[ {]" metrics || fail "the dashboard has $name, which is no metric"
    done
    ! grep -qiE 'lottery|award@|lucky-draw|selected' metrics log || fail 'content of a message is in metrics or log'
fi

# ---- one model for each user

mkdir users
cp model.twin users/ann.twin
start users --spamd-tell
ask 0 "$spam" -c -u ann
prints '-[0-9.]+/5\.0'
ask 0 "$spam" -L spam -u bela # whose model this makes
"$twinsift" mail info -m users/bela.twin >out || fail 'no model was made'
ask 74 "$spam" -x -c -u chidi # who has none; 74 is what spamc makes of any refusal
ask 74 "$spam" -x -c -u ../ann
[ "$(ls users/*.twin)" = "$(printf 'users/ann.twin\nusers/bela.twin')" ] || fail "models: $(ls users)"

# ---- who has no server, no model or no right gets the message as it was

start model.twin
expect 74 spamc -U "$PWD/socket" -x -L spam <"$spam"
start nothing.twin
ask 0 "$spam"
cmp -s out "$spam" || fail 'without a model another message comes back'
ask 74 "$spam" -x
grep -q 'not judged: there is no model yet' log || fail "the log does not say why: $(cat log)"
stop
expect 0 spamc -U "$PWD/socket" <"$spam"
cmp -s out "$spam" || fail 'without a server another message comes back'
! spamc -U "$PWD/socket" -x <"$spam" >out 2>err || fail "spamc -x says that it was judged"

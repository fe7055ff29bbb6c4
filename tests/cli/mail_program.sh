#!/usr/bin/env bash
# twinsift runs twinsift-mail for the commands of mail, twinsift-serve to serve, and needs none of its libraries for the others.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

message=${TWINSIFT_ROOT:?}/samples/mail/new.eml
[ -x "$twinsift-mail" ] || { echo 'skipped: this build has no mail'; exit 77; }

! ldd "$twinsift" | grep -E 'gmime|glib|xml2|psl' || fail "twinsift loads what only mail needs"
! ldd "$twinsift-mail" | grep -E 'microhttpd' || fail "twinsift-mail loads what only the server needs"

# Options are read before anything is run: in their order or not, misspelt or not.
"$twinsift" mail learn "$message" -m model.twin --as=ham -q -- "$message" || fail "options in any order"
"$twinsift" mail -m model.twin info | grep -qF 'messages' || fail "options before the verb"

# Alone it still knows the commands, and says what is missing; check has a status of its own for errors.
mkdir -p alone/bin alone/libexec
cp "$twinsift" alone/bin/
"$twinsift" mail learn --help >whole.txt
alone/bin/twinsift mail learn --help | cmp - whole.txt || fail "the help is another one"
"$twinsift" completion bash >whole.txt
alone/bin/twinsift completion bash | cmp - whole.txt || fail "the completion is another one"
code=0
alone/bin/twinsift mail info -m model.twin 2>err || code=$?
[ $code = 2 ] || fail "info exits $code"
grep -qF 'twinsift mail info: twinsift-mail is not installed' err || fail "it says: $(cat err)"
code=0
alone/bin/twinsift mail check -m model.twin "$message" 2>err || code=$?
[ $code = 3 ] || fail "check exits $code"

if [ -x "$twinsift-serve" ]; then
    code=0
    alone/bin/twinsift serve --demo 2>err || code=$?
    [ $code = 2 ] || fail "serve exits $code"
    grep -qF 'twinsift serve: twinsift-serve is not installed' err || fail "it says: $(cat err)"
fi

# A program that is no program, and one that would run itself.
mkdir alone/libexec/twinsift
: >alone/libexec/twinsift/twinsift-mail
code=0
alone/bin/twinsift mail info -m model.twin 2>err || code=$?
[ $code = 2 ] || fail "info exits $code"
grep -qF 'cannot run twinsift-mail: Permission denied' err || fail "it says: $(cat err)"
rm alone/libexec/twinsift/twinsift-mail
cp "$twinsift" alone/libexec/twinsift/twinsift-mail
code=0
timeout 20 alone/bin/twinsift mail info -m model.twin 2>err || code=$?
[ $code = 2 ] || fail "a copy of twinsift as twinsift-mail exits $code"
grep -qF 'twinsift-mail cannot be found' err || fail "it says: $(cat err)"

# As it is installed.
cp "$twinsift-mail" alone/libexec/twinsift/twinsift-mail
alone/bin/twinsift mail info -m model.twin | grep -qF 'messages' || fail "it is not found where it is installed"

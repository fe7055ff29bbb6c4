#!/usr/bin/env bash
# twinsift runs twinsift-serve to serve, and loads none of its libraries; those that read hard mail are loaded for that.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

message=${TWINSIFT_ROOT:?}/samples/mail/new.eml
[ -x "$twinsift-serve" ] || { echo 'skipped: this build has no server'; exit 77; }

! ldd "$twinsift" | grep -E 'gmime|glib|microhttpd' || fail "twinsift loads what few commands need"

# Options are read before anything is run: in their order or not, misspelt or not.
if "$twinsift" mail learn "$message" -m model.twin --as=ham -q -- "$message" 2>err; then
    "$twinsift" mail -m model.twin info | grep -qF 'messages' || fail "options before the verb"
    printf 'Subject: =?iso-8859-2?Q?=B1?=\n\nx\n' >hard.eml
    expect 2 env LD_DEBUG=libs LD_DEBUG_OUTPUT=loaded "$twinsift" mail check -m model.twin hard.eml
    grep -q gmime loaded.* || fail "GMime is not loaded for what is hard"
    rm loaded.*
    expect 1 env LD_DEBUG=libs LD_DEBUG_OUTPUT=loaded "$twinsift" mail check -m model.twin "$message"
    ! grep gmime loaded.* || fail "GMime is loaded for what is simple"
else
    says 'not in this build'
fi

# Alone it still knows the command, and says what is missing.
mkdir -p alone/bin alone/libexec
cp "$twinsift" alone/bin/
"$twinsift" serve --help >whole.txt
alone/bin/twinsift serve --help | cmp - whole.txt || fail "the help is another one"
"$twinsift" completion bash >whole.txt
alone/bin/twinsift completion bash | cmp - whole.txt || fail "the completion is another one"
expect 2 alone/bin/twinsift serve --demo
says 'twinsift serve: twinsift-serve is not installed'

# A program that is no program, and one that would run itself.
mkdir alone/libexec/twinsift
: >alone/libexec/twinsift/twinsift-serve
expect 2 alone/bin/twinsift serve --demo
says 'cannot run twinsift-serve: Permission denied'
rm alone/libexec/twinsift/twinsift-serve
cp "$twinsift" alone/libexec/twinsift/twinsift-serve
expect 2 timeout 20 alone/bin/twinsift serve --demo
says 'twinsift-serve cannot be found'

# As it is installed.
cp "$twinsift-serve" alone/libexec/twinsift/twinsift-serve
expect 2 alone/bin/twinsift serve --spamd unix:socket
says '--spamd needs a mail model'

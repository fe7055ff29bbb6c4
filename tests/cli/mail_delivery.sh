#!/usr/bin/env bash
# The recipes of twinsift-mail(1), as they stand there, with the programs that deliver mail. Postfix needs a system of
# its own; what it runs is tried with a sendmail of ours.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

samples=${TWINSIFT_ROOT:?}/samples/mail manual=$TWINSIFT_ROOT/docs/twinsift-mail.1.md
needs_mail

export HOME=$PWD PATH=${twinsift%/*}:$PATH
unset XDG_DATA_HOME
model=.local/share/twinsift/mail.twin
"$twinsift" mail learn -q --as ham "$samples/ham"
"$twinsift" mail learn -q --as spam "$samples/spam"

# recipe WORDS: the indented lines that follow the first paragraph with these words.
recipe()
{
    awk -v words="$1" 'index($0, words) { found = 1 }
        found && /^    / { begun = 1; print substr($0, 5); next }
        begun && NF { exit }
        begun { print "" }' "$manual" | grep . || fail "the manual has no recipe of $1"
}
forged() { { printf 'X-Spam-Flag: NO\nX-Twinsift: ham\n'; cat "$samples/new.eml"; }; }

if command -v procmail >/dev/null; then
    { printf 'HOME=%s\nPATH=%s\nSHELL=/bin/sh\nMAILDIR=%s\nDEFAULT=%s/inbox\n' "$HOME" "$PATH" "$PWD" "$PWD"
      recipe '~/.procmailrc'; } >procmailrc
    forged | procmail ./procmailrc
    procmail ./procmailrc <"$samples/friend.eml"
    grep -q '^X-Spam-Flag: YES' Junk || fail "procmail: spam is not in Junk"
    ! grep -q '^X-Spam-Flag: NO' Junk || fail "procmail: a forged header is delivered"
    grep -q '^X-Spam-Flag: NO' inbox || fail "procmail: good mail is not in the inbox"
else
    echo 'skipped: procmail is not installed'
fi

if command -v maildrop >/dev/null && command -v maildirmake >/dev/null; then
    maildirmake Maildir
    maildirmake -f Junk Maildir
    { printf 'PATH="%s"\nHOME="%s"\nDEFAULT="%s/Maildir"\n' "$PATH" "$HOME" "$PWD"; recipe '~/.mailfilter'; } >mailfilter
    chmod 600 mailfilter
    forged | maildrop ./mailfilter
    maildrop ./mailfilter <"$samples/friend.eml"
    grep -qr '^X-Spam-Flag: YES' Maildir/.Junk/new || fail "maildrop: spam is not in Junk"
    ! grep -qr '^X-Spam-Flag: NO' Maildir/.Junk/new || fail "maildrop: a forged header is delivered"
    grep -qr '^X-Spam-Flag: NO' Maildir/new || fail "maildrop: good mail is not in the inbox"
else
    echo 'skipped: maildrop is not installed'
fi

if command -v sieve-test >/dev/null && [ "$(id -u)" != 0 ]; then
    recipe 'A Sieve script' >junk.sieve
    forged | { "$twinsift" mail check --pass || true; } >marked.eml
    sieve-test junk.sieve marked.eml | grep -q 'store message in folder: Junk' || fail "sieve: spam is not in Junk"
else
    echo 'skipped: sieve-test is not installed, or may not run as root'
fi

# Postfix: what is given to sendmail, and that nothing is if the message is not whole.
mkdir -p tmp
export TMPDIR=$PWD/tmp TWINSIFT=$twinsift SENDMAIL=$PWD/sendmail
printf '#!/bin/sh\necho "$@" >arguments\ncat >sent\n' >sendmail
chmod 755 sendmail
filter=$TWINSIFT_ROOT/examples/postfix-filter
forged >forged.eml
expect 0 "$filter" "$model" -f a@example.org -- b@example.net <forged.eml
[ "$(cat arguments)" = '-G -i -f a@example.org -- b@example.net' ] || fail "sendmail is called with $(cat arguments)"
grep -v '^X-' sent | cmp -s - <(grep -v '^X-' "$samples/new.eml") || fail "another message is sent"
[ "$(grep -c '^X-Spam-Flag: YES' sent)" = 1 ] && ! grep -q '^X-Spam-Flag: NO' sent || fail "the headers are not ours"
rm sent
expect 75 "$filter" no-model -f a@example.org -- b@example.net <forged.eml
says 'there is no model yet'
expect 75 "$filter"
# a filter that is killed half-way, and the scripts themselves while they wait for the rest of a message
printf '#!/bin/sh\nhead -c 100\nkill -9 $$\n' >killed
printf '#!/bin/sh\nhead -c 1\ncat >/dev/null\n' >waiting
chmod 755 killed waiting
TWINSIFT=$PWD/killed expect 75 "$filter" "$model" -f a@example.org -- b@example.net <forged.eml
for command in "$filter $model --" "$TWINSIFT_ROOT/examples/bogofilter -d ${model%/*}"; do
    mkfifo fifo
    TWINSIFT=$PWD/waiting setsid $command <fifo & # so that the signal can go to all of it, as the end of a session does
    script=$!
    exec 3>fifo
    head -n 3 forged.eml >&3
    until [ -n "$(find tmp -type f -size +0)" ]; do sleep 0.02; done
    kill -TERM -- -$script
    wait $script && fail "$command goes on after a signal"
    exec 3>&-
    rm fifo
    [ -z "$(ls tmp)" ] || fail "$command leaves a copy of the message behind"
done
[ ! -e sent ] || fail "a message that is not whole is sent"

# strict.bash — what scripts share that end at the first failure.
set -euo pipefail
twinsift=${TWINSIFT:?the program to test}
fail()
{
    echo "${0##*/}: line ${BASH_LINENO[*]}: $*" >&2
    exit 1
}
# expect STATUS COMMAND...: runs it with its output in out and err.
expect()
{
    local want=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    [ "$got" = "$want" ] || { cat err >&2; fail "$* exits $got, not $want"; }
}
# says WORDS: the last command had this on standard error.
says()
{
    grep -qF -- "$1" err || { cat err >&2; fail "does not say: $1"; }
}
# listens SOCKET: whether somebody does; its name is there a little earlier.
listens() { grep -q " 00010000 .* $PWD/$1\$" /proc/net/unix; }
# needs_mail: skips the test in a build that does not read mail.
needs_mail()
{
    ! "$twinsift" mail info -m no-such-model 2>&1 | grep -q 'not in this build' ||
        { echo 'skipped: this build has no mail'; exit 77; }
}

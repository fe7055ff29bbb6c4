#!/usr/bin/env bash
# Installs the packages that tools/packages.txt lists; with the argument "build" only those above "# test" there: a second
# compiler, linters and gnuplot are not needed to try the program. Prints nothing if all are installed.
set -euo pipefail
cd "$(dirname "$0")"

last=${1:+'/^# test/,$d;'}
list=$(sed "$last"'s/#.*//' packages.txt | xargs -n 1)
needed=$(grep -v '?$' <<<"$list")
wished=$(grep '?$' <<<"$list" | tr -d '?' || true)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "deps: apt-get not found, nothing checked; twinsift needs the contents of these Debian packages:" $needed >&2
    exit 0
fi

# missing NAME...: prints those that are not installed.
missing()
{
    comm -23 <(printf '%s\n' "$@" | sort) \
        <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort)
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

absent=$(missing $needed)
[ -n "$absent" ] || exit 0

if [ "$(id -u)" != 0 ] && ! { command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }; then
    echo "deps: neither root nor sudo; as root, run: apt-get install" $absent >&2
    exit 1
fi
echo "deps: installing" $absent
as_root apt-get update -qq
for name in $(missing $wished); do
    ! apt-cache show "$name" >/dev/null 2>&1 || absent+=" $name"
done
as_root apt-get install -y -qq --no-install-recommends $absent

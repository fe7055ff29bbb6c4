# root.bash — fresh roots for the tests of packages. Source it in the root of the project.
# shellcheck shell=bash

skip()
{
    echo "${0##*/}: skipped: $*" >&2
    exit 77
}

# fresh_root: makes $root, a minimal Debian that nothing else uses, which is removed at the end. What debootstrap made is
# kept in build/, since making it takes a minute. $suite is the release that the packages are for.
fresh_root()
{
    [ "$(id -u)" = 0 ] || skip "a fresh root needs the rights of root"
    local kept mirror
    suite=${suite:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
    kept=$PWD/build/roots/$suite.tar
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Component: main' 2>/dev/null | head -n 1)
    if [ ! -e "$kept" ]; then
        command -v debootstrap >/dev/null ||
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null 2>&1 ||
            skip "no debootstrap"
        mkdir -p "${kept%/*}"
        root=$(mktemp -d)
        debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "${mirror:-http://deb.debian.org/debian}" >"$kept.log" 2>&1 ||
            { rm -rf "$root"; skip "debootstrap fails, see $kept.log"; }
        tar -C "$root" -cf "$kept.new" .
        mv "$kept.new" "$kept"
        rm -rf "$root"
    fi
    root=$(mktemp -d)
    trap leave_root EXIT
    tar -C "$root" -xf "$kept"
    chmod 755 "$root" # for users other than root
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # nothing is started by its installation
    chmod +x "$root/usr/sbin/policy-rc.d"
    mount -t proc proc "$root/proc" 2>/dev/null || true
    inside apt-get update -qq
}

leave_root()
{
    ! mountpoint -q "$root/proc" || umount -l "$root/proc"
    rm -rf --one-file-system "$root"
}

# inside COMMAND...: runs it in the root.
inside()
{
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} "$@"
}

failed=0
passed=0
# check WHAT COMMAND...: runs it and says so if it fails.
check()
{
    local what=$1
    shift
    if "$@" >"$root.out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $what: $*"
        tail -n 20 "$root.out"
    fi
    rm -f "$root.out"
}

# finish: the last line of a test.
finish()
{
    echo "${0##*/}: $passed passed, $failed failed"
    [ "$failed" = 0 ]
}

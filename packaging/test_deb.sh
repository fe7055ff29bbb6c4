#!/usr/bin/env bash
# test_deb.sh: the packages of make deb in a fresh Debian: installed, used by the tests that come with them
# (debian/tests, through autopkgtest), upgraded, removed and purged, after which nothing is left. Exits with 77 where no
# fresh root can be made.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/root.bash
debs=(build/deb/{libtwinsift0,libtwinsift-dev,twinsift,twinsift-serve,python3-twinsift}_*.deb)
[ -e "${debs[0]}" ] || packaging/deb.sh
debs=(build/deb/{libtwinsift0,libtwinsift-dev,twinsift,twinsift-serve,python3-twinsift}_*.deb)
names=(libtwinsift0 libtwinsift-dev twinsift twinsift-serve python3-twinsift)

# install FILE...: copies packages into the root and installs them with what they need.
install()
{
    mkdir -p "$root/debs"
    cp "$@" "$root/debs"
    inside sh -c 'apt-get install -y -qq --no-install-recommends /debs/*.deb'
    rm -r "$root/debs"
}

# listing: every file of the root but what apt, dpkg and time change, what GnuPG, which GMime needs, leaves, and what
# adduser does: its lock, and the copies of the files of accounts as they were.
listing()
{
    (cd "$root" && find . -path ./proc -prune -o -path ./var/cache -prune -o -path ./var/lib/apt -prune -o \
        -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -path ./tmp -prune -o -path ./samples -prune -o \
        -path ./run/adduser -o -path './etc/*-' -o -print) |
        grep -v 'deb-systemd-user-helper' | sort
}

# as_next: the same packages with a later version, in $root.next.
as_next()
{
    local file
    rm -rf "$root.next"
    mkdir "$root.next"
    for file in "${debs[@]}"; do
        dpkg-deb -R "$file" "$root.next/tree"
        sed -i "s/$version/$version+next/" "$root.next/tree/DEBIAN/control"
        dpkg-deb --root-owner-group -Znone -b "$root.next/tree" "$root.next/$(basename "$file")" >/dev/null
        rm -r "$root.next/tree"
    done
}

# run_tests: the tests of the packages, with what they need, as autopkgtest runs them.
run_tests()
{
    command -v autopkgtest >/dev/null ||
        apt-get install -y -qq --no-install-recommends autopkgtest >/dev/null 2>&1 || return 1
    local log=build/deb/autopkgtest.log
    autopkgtest --quiet --no-built-binaries "${debs[@]}" "$(ls build/deb/*.dsc)" -- chroot "$root" >"$log" 2>&1 ||
        { grep -E '^FAILED|^autopkgtest|PASS$|(FAIL|SKIP) ' "$log"; echo "all of it: $log"; return 1; }
}

# served: the server as its unit runs it: the user, the folder, the model.
served()
{
    inside sh -c 'runuser -u twinsift -- twinsift mail learn -m /var/lib/twinsift/mail.twin --as spam /samples/mail/spam'
    inside sh -c '
        runuser -u twinsift -- twinsift serve --model /var/lib/twinsift/mail.twin --http 127.0.0.1:8399 &
        for i in 1 2 3 4 5 6 7 8 9 10; do
            sleep 0.5
            python3 -c "import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:8399/readyz\").read())" && break
        done
        good=$?
        kill $!
        wait $!
        exit $good'
}

fresh_root
check "the user of the server, who is kept, is made once" inside sh -c 'apt-get install -y -qq --no-install-recommends adduser'
listing >"$root.before"
version=$(dpkg-deb -f "${debs[0]}" Version)
check "install" install "${debs[@]}"
cp -r samples "$root/samples"
check "use" inside sh -c '[ "$(twinsift dedup -q /samples/articles.jsonl | wc -l)" = 8 ]'
check "manual" inside test -e /usr/share/man/man1/twinsift.1.gz -o -e /usr/share/man/man1/twinsift-pairs.1.gz
check "server" served
check "units" inside sh -c 'test -e /lib/systemd/system/twinsift.service && test -e /lib/systemd/system/twinsift.socket'
as_next
check "upgrade" install "$root.next"/*.deb
check "the new version" inside sh -c "dpkg-query -W -f '\${Version}\n' ${names[*]} | grep -c 'next' | grep -qx 5"
check "the model outlives the upgrade" inside twinsift mail info -m /var/lib/twinsift/mail.twin
check "remove" inside apt-get remove -y -qq "${names[@]}"
check "the model outlives the removal" inside test -s /var/lib/twinsift/mail.twin
check "purge" inside dpkg --purge "${names[@]}"
check "no orphans" inside apt-get autoremove -o APT::AutoRemove::RecommendsImportant=false -o APT::AutoRemove::SuggestsImportant=false --purge -y -qq
listing >"$root.after"
check "nothing is left" diff "$root.before" "$root.after"
check "debian/tests" run_tests
rm -rf "$root".{before,after,next}
finish

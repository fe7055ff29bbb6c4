#!/usr/bin/env bash
# mail_servers.sh: installs the mail servers that tests/cli/mail_servers.sh speaks with, which `make test` does not: they
# are large, and a mail server is not installed without asking. Debian and Ubuntu, as root. Prints nothing if they are there.
#
# None of them is started, and Postfix has no configuration. Exim cannot be installed beside it: it is unpacked, with the
# libraries it needs, in build/exim.
set -euo pipefail
cd "$(dirname "$0")/.."
export DEBIAN_FRONTEND=noninteractive
packages=(postfix swaks procmail spamc dovecot-imapd dovecot-sieve iproute2)

installed() # PACKAGE...: how many of them are
{
    dpkg-query -W -f='${db:Status-Status}\n' "$@" 2>/dev/null | grep -cx installed || true
}

# Whatever the packages want to start, is not.
start_nothing()
{
    [ ! -e /usr/sbin/policy-rc.d ] || return 0
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
}

# Unpacked aside and renamed, so that a folder which is there is whole.
unpack_exim()
{
    local needed name package
    rm -rf build/exim build/exim.new
    mkdir -p build/exim.new
    cd build/exim.new
    mapfile -t needed < <(apt-cache depends exim4-daemon-heavy | sed -n 's/^ *Depends: \(lib[^ ]*\)$/\1/p')
    for name in exim4-daemon-heavy "${needed[@]}"; do
        [ "$(installed "$name")" = 1 ] || apt-get -qq -o APT::Sandbox::User=root download "$name"
    done
    for package in *.deb; do
        dpkg -x "$package" .
        rm "$package"
    done
    cd ../..
    mv build/exim.new build/exim
}

[ "$(installed "${packages[@]}")" != ${#packages[@]} ] || [ ! -x build/exim/usr/sbin/exim4 ] || exit 0
apt-get update -qq
if [ "$(installed "${packages[@]}")" != ${#packages[@]} ]; then
    start_nothing
    echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections
    apt-get install -y -qq --no-install-recommends "${packages[@]}"
fi
[ -x build/exim/usr/sbin/exim4 ] || unpack_exim

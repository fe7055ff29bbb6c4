#!/usr/bin/env bash
# mail_servers.sh: installs the mail servers that tests/cli/mail_servers.sh speaks with, which `make test` does not: they
# are large, and a mail server is not installed without asking. Debian and Ubuntu, as root.
#
# Postfix is installed without a configuration, so that it is not started. Exim cannot be installed beside it: it is
# unpacked, with the libraries it needs, in build/exim.
set -euo pipefail
cd "$(dirname "$0")/.."
export DEBIAN_FRONTEND=noninteractive
echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections
apt-get update -qq
apt-get install -y -qq --no-install-recommends postfix swaks procmail spamc dovecot-imapd dovecot-sieve iproute2
rm -rf build/exim
mkdir -p build/exim
cd build/exim
apt-get -q download exim4-daemon-heavy
mapfile -t needed < <(apt-cache depends exim4-daemon-heavy | sed -n 's/^ *Depends: \(lib[^ ]*\)$/\1/p')
for name in "${needed[@]}"; do
    dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || apt-get -q download "$name"
done
for package in *.deb; do
    dpkg -x "$package" .
    rm "$package"
done

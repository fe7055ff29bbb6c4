#!/usr/bin/env bash
# deb.sh: builds the Debian packages of this tree in build/deb, with their source package, and has lintian look at them.
# What the build needs is installed by apt-get, as root; a symbols file that does not fit fails the build.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/epoch.bash
folder=$PWD/build/deb
version=$(tools/version.sh)

if ! command -v dh >/dev/null || ! command -v lintian >/dev/null || ! dpkg-checkbuilddeps packaging/debian/control 2>/dev/null; then
    [ "$(id -u)" = 0 ] || { echo "deb: install devscripts, lintian, and what packaging/debian/control names" >&2; exit 77; }
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends build-essential debhelper dh-python \
        fakeroot lintian >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get build-dep -y -qq "$PWD/packaging" >/dev/null 2>&1 ||
        DEBIAN_FRONTEND=noninteractive apt-get satisfy -y -qq "$(sed -n '/^Build-Depends:/,/^[A-Z]/{s/^Build-Depends: *//;/^[A-Z]/d;p}' \
            packaging/debian/control | tr -d '\n')" >/dev/null
fi

rm -rf "$folder"
mkdir -p "$folder"
packaging/source.sh "$folder/twinsift_$version.orig.tar.xz"
tar -xf "$folder/twinsift_$version.orig.tar.xz" -C "$folder"
tree=$folder/twinsift-$version
cp -r packaging/debian "$tree/debian"
export CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
(cd "$tree" && DPKG_GENSYMBOLS_CHECK_LEVEL=4 dpkg-buildpackage -us -uc "$@") >"$folder/build.log" 2>&1 ||
    { tail -n 40 "$folder/build.log" && exit 1; }
rm -rf "$tree"
lintian --fail-on error,warning --display-info --suppress-tags initial-upload-closes-no-bugs "$folder"/*.changes
for package in "$folder"/*.deb; do
    echo "$package: $(stat -c %s "$package") bytes"
done

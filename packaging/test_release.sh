#!/usr/bin/env bash
# test_release.sh: two releases of one commit have the same bytes; the checksums fit; the program of the archive runs, and
# the source archive has what a build needs. $TWINSIFT_MACHINES as in release.sh, here x86_64 alone if it is not set.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/root.bash
root=$(mktemp -d)
trap 'rm -rf "$root" "$root".*' EXIT
export TWINSIFT_MACHINES=${TWINSIFT_MACHINES:-x86_64}
check "a release" packaging/release.sh "$root/first"
check "another" packaging/release.sh "$root/second"
check "the same bytes" diff -r "$root/first" "$root/second"
check "checksums" sh -c "cd '$root/first' && sha256sum --quiet -c SHA256SUMS"
tar -xf "$root"/first/twinsift-*-linux-x86_64.tar.xz -C "$root"
check "the program" sh -c "cd '$root'/twinsift-*-linux-x86_64 && [ \$(./twinsift dedup -q samples/articles.jsonl | wc -l) = 8 ]"
check "its samples, from elsewhere" sh -c "cd / && timeout 9 '$root'/twinsift-*-linux-x86_64/twinsift serve --demo \
    --http 127.0.0.1:0 2>&1 | grep -q token"
check "the bill of materials" python3 -c 'import glob, json, sys; b = json.load(open(glob.glob(sys.argv[1] + "/*.cdx.json")[0])); assert b["components"] and b["metadata"]' "$root/first"
finish

#!/usr/bin/env bash
# source.sh FILE.tar.xz: writes the source archive, the files that git knows (or, without git, all but build/), with the
# same bytes each time: names in order, one owner, the time of $SOURCE_DATE_EPOCH (the last commit's, if it is not set).
set -euo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")/.."
name=twinsift-$(tools/version.sh)
. packaging/epoch.bash

if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z
else
    find . -path ./build -prune -o ! -type d -printf '%P\0'
fi | sort -z | tar --null --no-recursion --files-from=- --format=ustar --mode=u+rw,go+r-w,a+X --owner=0 --group=0 \
    --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --transform="s,^,$name/,S" -c | xz -9e -T1 >"$out.new"
mv "$out.new" "$out"

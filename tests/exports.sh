#!/usr/bin/env bash
# exports.sh LIBRARY ROOT: the shared library exports what its headers and Debian's symbols file declare, and nothing else.
set -euo pipefail
library=$1
root=$2

promised() # by the header named
{
    sed -n 's/^TWIN_API .*[ *]\(twin_[a-z0-9_]*\)(.*/\1/p' "$1"
}

exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort)
bad=$(grep -vE '^twin_[a-z0-9][a-z0-9_]*@@TWINSIFT_[0-9.]+$' <<<"$exported" || true)
if [ -n "$bad" ]; then
    echo "exported, but not twin_NAME with a version: $bad"
    exit 1
fi
names=$(sed 's/@.*//' <<<"$exported")

all=$(for header in "$root"/include/twinsift/*.h; do promised "$header"; done | sort -u)
bad=$(comm -23 <(echo "$names") <(echo "$all"))
if [ -n "$bad" ]; then
    echo "exported, but in no public header: $bad"
    exit 1
fi

for header in "$root"/include/twinsift/*.h; do
    ls "$root"/src/*/"$(basename "$header" .h).c" >/dev/null 2>&1 || continue
    bad=$(comm -13 <(echo "$names") <(promised "$header" | sort -u))
    if [ -n "$bad" ]; then
        echo "promised by $header, but not exported: $bad"
        exit 1
    fi
done

symbols=packaging/debian/libtwinsift0.symbols
bad=$(diff <(echo "$names") <(sed -n 's/^ \(twin_[^@]*\)@.*/\1/p' "$root/$symbols" | sort) || true)
if [ -n "$bad" ]; then
    echo "only exported (<), or only in $symbols (>), so that make deb fails: $bad"
    exit 1
fi

soname=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
major=$(sed -n 's/#define TWINSIFT_VERSION_MAJOR //p' "$root/include/twinsift/version.h")
if [ "$soname" != "libtwinsift.so.$major" ]; then
    echo "the SONAME is $soname, not libtwinsift.so.$major"
    exit 1
fi
echo "$(wc -l <<<"$names") functions exported"

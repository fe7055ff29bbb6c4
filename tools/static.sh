#!/usr/bin/env bash
# static.sh [ARCHITECTURE]: builds build/static/twinsift-ARCHITECTURE (x86_64, the default, or aarch64), one file without
# shared libraries, for any Linux: musl by the compiler of zig, from PyPI, and the libraries of tools/sources.txt compiled
# in. What needs GLib is not in it: reading mail, and the server; it says so when asked for them.
# Then it is run in an empty root, where there is nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
machine=${1:-x86_64}
work=$PWD/build/static/$machine

. tools/python.bash
make_tools
tools/sources.sh build/sources

# Compilers as CMake wants them: one word each.
write_tool() # NAME ARGUMENT...
{
    printf '#!/bin/sh\nexec %s "$@"\n' "$zig ${*:2}" >"$work/$1"
    chmod +x "$work/$1"
}
mkdir -p "$work"
write_tool cc cc -target "$machine-linux-musl"
write_tool ar ar
write_tool ranlib ranlib
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/static/cache ZIG_LOCAL_CACHE_DIR=$PWD/build/static/cache
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CFLAGS LDFLAGS

cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$work/cc" \
    -DCMAKE_AR="$work/ar" -DCMAKE_RANLIB="$work/ranlib" -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$machine" -DCMAKE_EXE_LINKER_FLAGS="-static -s" -DTWIN_SOURCES="$PWD/build/sources" \
    -DTWIN_WERROR=OFF -DTWIN_OPENMP=OFF -DTWIN_FARMHASH=OFF -DTWIN_MAIL=OFF -DTWIN_SERVE=OFF -DTWIN_LAB=OFF -DTWIN_TESTS=OFF \
    -DTWIN_BENCH=OFF >/dev/null
cmake --build "$work/build" --target program >"$work/build.log" || { tail -n 30 "$work/build.log" && exit 1; }
! command -v lowdown >/dev/null || cmake --build "$work/build" --target manual >>"$work/build.log"
program=$PWD/build/static/twinsift-$machine
cp "$work/build/twinsift" "$program"

# ---- in an empty root

run=()
[ "$machine" = "$(uname -m)" ] || run=(qemu-"$machine"-static)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp "$program" samples/articles.jsonl "$root"
[ ${#run[@]} = 0 ] || cp "$(command -v "${run[0]}")" "$root/qemu"
if [ "$(id -u)" = 0 ]; then
    chroot "$root" ${run:+/qemu} "/${program##*/}" dedup --quiet /articles.jsonl -o /kept.jsonl
else
    unshare --user --map-root-user chroot "$root" ${run:+/qemu} "/${program##*/}" dedup --quiet /articles.jsonl -o /kept.jsonl
fi
[ "$(wc -l <"$root/kept.jsonl")" = 8 ] || { echo "static: 8 articles of 12 should be kept" >&2 && exit 1; }
echo "$program: $(stat -c %s "$program") bytes; it ran in an empty root"

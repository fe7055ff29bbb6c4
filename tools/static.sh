#!/usr/bin/env bash
# static.sh [ARCHITECTURE]: builds build/static/twinsift-ARCHITECTURE (x86_64, the default, or aarch64), one file without
# shared libraries, for any Linux: musl by the compiler of zig, from PyPI, and the libraries of tools/sources.txt and
# tools/sources_server.txt compiled in. Reading mail and the server are in it, the milter and the hash family farm are not.
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

tools/static_server.sh "$machine" "$work"
export PKG_CONFIG_LIBDIR=$work/server/pkgconfig PKG_CONFIG_PATH=

cmake -S . -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$work/cc" \
    -DCMAKE_AR="$work/ar" -DCMAKE_RANLIB="$work/ranlib" -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$machine" -DCMAKE_EXE_LINKER_FLAGS="-static -s -Wl,--gc-sections" -DTWIN_SOURCES="$PWD/build/sources" \
    -DTWIN_OPENMP=OFF -DTWIN_FARMHASH=OFF -DTWIN_MAIL=ON -DTWIN_SERVE=ON -DTWIN_LAB=OFF -DTWIN_TESTS=OFF -DTWIN_BENCH=OFF \
    -DMILTER_FOLDER=OFF -DMILTER_LIBRARY=OFF >/dev/null
cmake --build "$work/build" --target serve_program >"$work/build.log" || { tail -n 30 "$work/build.log" && exit 1; }
! command -v lowdown >/dev/null || cmake --build "$work/build" --target manual >>"$work/build.log"
program=$PWD/build/static/twinsift-$machine
cp "$work/build/twinsift-serve" "$program"

# ---- in an empty root

run=()
[ "$machine" = "$(uname -m)" ] || run=("qemu-$machine-static")
if [ ${#run[@]} != 0 ] && ! command -v "${run[0]}" >/dev/null; then
    echo "$program: $(stat -c %s "$program") bytes; there is no ${run[0]} to run it with"
    exit 0
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cp -r "$program" samples/articles.jsonl samples/mail "$root"
[ ${#run[@]} = 0 ] || cp "$(command -v "${run[0]}")" "$root/qemu"

# alone ARGUMENT...: runs the program in the root.
alone()
{
    local as=()
    [ "$(id -u)" = 0 ] || as=(unshare --user --map-root-user)
    "${as[@]}" chroot "$root" ${run:+/qemu} "/${program##*/}" "$@"
}
alone dedup --quiet /articles.jsonl -o /kept.jsonl
[ "$(wc -l <"$root/kept.jsonl")" = 8 ] || { echo "static: 8 articles of 12 should be kept" >&2 && exit 1; }
if [ ${#run[@]} = 0 ]; then # qemu has no robust locks (get_robust_list), which LMDB asks musl for
    for label in ham spam; do
        alone mail learn --quiet -m /mail.twin --as "$label" "/mail/$label"
    done
    alone mail check -m /mail.twin /mail/new.eml | grep -q '^spam' || { echo "static: a prize should be spam" >&2 && exit 1; }
fi
echo "$program: $(stat -c %s "$program") bytes; it ran in an empty root"

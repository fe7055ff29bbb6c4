#!/usr/bin/env bash
# wasm.sh: builds build/wasm, the page "See how it works" without a server: twinsift.wasm, the method compiled by zig
# (from PyPI) for WebAssembly, and the page with it. Any server of static files can serve the folder.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/build/wasm

. tools/python.bash
make_venv zig ziglang
zig=$(echo "$PWD"/build/python/zig/lib/python3*/site-packages/ziglang/zig)
tools/sources.sh build/sources
export ZIG_GLOBAL_CACHE_DIR=$folder/cache ZIG_LOCAL_CACHE_DIR=$folder/cache
mkdir -p "$folder/site"

# What the method needs of the library; what is not called is not linked. Files, threads and signals are not: there is
# one thread, and what would start another is never called.
shopt -s extglob
sources=(src/base/@(buffer|error|names|scratch|stages|status|version).c src/text/*.c src/sketch/*.c src/lsh/banding.c
    src/edit/*.c src/bloom/bloom?(_merge|_plan).c src/kernels/*_scalar.c src/kernels/@(cpu|kernels|sort).c
    cli/support/@(escape|record).c serve/@(exchange|json_in|route_compare|route_plan).c serve/wasm/module.c)
"$zig" cc -target wasm32-wasi -mexec-model=reactor -O2 -flto -std=c17 -Wall -Wno-tautological-constant-out-of-range-compare -DNDEBUG -D_GNU_SOURCE -D_WASI_EMULATED_MMAN -DUTF8PROC_STATIC \
    -D_WASI_EMULATED_SIGNAL \
    -Iinclude -Isrc -Icli -I. -isystem build/sources/utf8proc -isystem build/sources/xxhash \
    "${sources[@]}" build/sources/utf8proc/utf8proc.c -lwasi-emulated-mman -Wl,--gc-sections,-z,stack-size=1048576,--strip-all \
    -o "$folder/site/twinsift.wasm"
cp serve/page/{parts,method}.js serve/page/{style.css,icon.svg} serve/wasm/{index.html,main.js,twinsift.js} "$folder/site"

size=$(gzip -9 <"$folder/site/twinsift.wasm" | wc -c)
[ "$size" -le 250000 ] || { echo "wasm: $size bytes compressed are more than 250,000" >&2 && exit 1; }
echo "$folder/site: the page; twinsift.wasm takes $size bytes compressed"

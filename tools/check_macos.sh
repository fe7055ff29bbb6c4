#!/usr/bin/env bash
# check_macos.sh: compiles the library and the program for macOS on ARM, with the compiler of zig, from PyPI, and the
# libraries of tools/sources.txt. Nothing is linked or run: there is no such machine here. What reads mail, which needs
# GLib, and the server, which needs libmicrohttpd, are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/python.bash
make_tools
tools/sources.sh build/sources
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/static/cache ZIG_LOCAL_CACHE_DIR=$PWD/build/static/cache
out=$PWD/build/macos
mkdir -p "$out"

mapfile -t files < <(ls src/*/*.c cli/*.c cli/support/*.c | grep -vE '_avx(2|512)\.c$' |
    grep -vE '/mail/(addresses|colour|css|domain|fold|gmime|hops|html|html_[a-z]+|links|message|mime|parts|style|style_sheet)\.c$')
compile_one()
{
    local s=build/sources
    "$1" cc -target aarch64-macos -std=c17 -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -D_DARWIN_C_SOURCE -include src/base/darwin.h -DTWIN_SERVE_FOLDER='""' \
        -fno-sanitize=undefined -Iinclude -Isrc -Icli -I. -isystem $s/libzstd/lib -isystem $s/zlib -isystem $s/lmdb/libraries/liblmdb \
        -isystem $s/utf8proc -isystem $s/xxhash -c "$3" -o "$2/${3//\//_}.o" 2>"$2/${3//\//_}.txt" || { head -n 12 "$2/${3//\//_}.txt"; return 1; }
}
export -f compile_one
failed=0
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'compile_one "$@"' - "$zig" "$out" {} || failed=1
echo "${#files[@]} files compiled for aarch64-macos, $(find "$out" -name '*.txt' -size +0 | wc -l) with errors"
exit $failed

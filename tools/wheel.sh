#!/usr/bin/env bash
# wheel.sh [ARCHITECTURE]: builds the Python package in build/python: dist/*.whl, one file for CPython 3.11 and later,
# with all libraries compiled in, for x86_64 (the default) or aarch64; and the source distribution, dist/*.tar.gz.
# The compiler is that of zig, from PyPI, which links for an old glibc.
set -euo pipefail
cd "$(dirname "$0")/.."
machine=${1:-x86_64}
glibc=2.27
work=$PWD/build/python
stage=$work/stage
wheels=$work/raw-$machine

. tools/python.bash
make_tools
tools=$work/tools/bin
tools/sources.sh build/sources
mkdir -p "$work/zig-$machine" "$work/dist"

# What a source distribution contains: the package, and the library as it is here. Times of files are kept, so that
# only what has changed is compiled again.
rm -rf "$stage"
mkdir -p "$stage/library"
cp -pr python/pyproject.toml python/CMakeLists.txt python/README.md python/core python/src LICENSE "$stage/"
cp -pr CMakeLists.txt LICENSE cmake include src "$stage/library/"
find "$stage" -name __pycache__ -prune -exec rm -r {} +
python3 tools/sbom.py "$(tools/version.sh)" tools/sources.txt > "$stage/sbom.cdx.json"

# Compilers as CMake wants them: one word each.
write_tool() # NAME ARGUMENT...
{
    printf '#!/bin/sh\nexec %s "$@"\n' "$zig ${*:2}" > "$work/zig-$machine/$1"
    chmod +x "$work/zig-$machine/$1"
}
write_tool cc cc -target "$machine-linux-gnu.$glibc"
write_tool ar ar
write_tool ranlib ranlib
export CC=$work/zig-$machine/cc ZIG_GLOBAL_CACHE_DIR=$work/zig-cache ZIG_LOCAL_CACHE_DIR=$work/zig-cache
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CFLAGS LDFLAGS

if [ "$machine" = x86_64 ]; then
    "$tools/python" -m build --sdist --no-isolation -o "$work/dist" "$stage" > "$work/sdist.log"
fi
rm -rf "$wheels"
PATH=$tools:$PATH "$tools/pip" wheel --quiet --no-deps --no-build-isolation -w "$wheels" "$stage" \
    -C build-dir="$work/build-$machine" -C cmake.build-type=Release -C install.strip=true \
    -C cmake.define.TWIN_SOURCES="$PWD/build/sources" -C cmake.define.CMAKE_SYSTEM_NAME=Linux \
    -C cmake.define.CMAKE_SYSTEM_PROCESSOR="$machine" -C cmake.define.CMAKE_AR="$work/zig-$machine/ar" \
    -C cmake.define.CMAKE_RANLIB="$work/zig-$machine/ranlib"
[ "$machine" = x86_64 ] || "$tools/python" -m wheel tags --remove --platform-tag "linux_$machine" "$wheels"/*.whl > /dev/null
rm -f "$work/dist"/*"$machine".whl
PATH=$tools:$PATH "$tools/auditwheel" repair --only-plat -w "$work/dist" "$wheels"/*.whl > "$work/audit-$machine.log" 2>&1
wheel=$(echo "$work/dist"/*"$machine".whl)
"$tools/abi3audit" --strict "$wheel" > "$work/abi3-$machine.log" 2>&1
"$tools/twine" check --strict "$work/dist"/* > "$work/twine.log"
echo "$wheel: $(stat -c %s "$wheel") bytes"

#!/usr/bin/env bash
# Formatting, clang-tidy, cppcheck, and the direction of includes. Prints what is wrong and fails.
set -euo pipefail
cd "$(dirname "$0")/.."

folders=()
for folder in include src cli serve lab bench fuzz examples tests python; do
    [ ! -d "$folder" ] || folders+=("$folder")
done
mapfile -t files < <(find "${folders[@]}" -name '*.[ch]' -o -name '*.cc' | sort)
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -v '\.h$')

echo "== includes"
tools/check_includes.sh

echo "== version"
tools/version.sh check

echo "== clang-format"
clang-format --dry-run -Werror "${files[@]}"

# Uninitialised variables are left to clang-tidy and the compilers: cppcheck takes a loop that may run zero times, or
# an array handed over to be filled, for a mistake. readdir is thread-safe in glibc, and readdir_r is no more.
echo "== cppcheck"
cppcheck --quiet --enable=warning,performance,portability --error-exitcode=1 --inline-suppr --std=c17 --std=c++17 \
    --suppress=uninitvar --suppress=legacyUninitvar --suppress=uninitdata --suppress=readdirCalled -D__x86_64__ \
    -Iinclude -Isrc -j "$(nproc)" "${sources[@]}"

# All checks over everything; tests/.clang-tidy says what tests are spared.
echo "== clang-tidy"
# The module of the Python package is checked where the headers of Python 3.11 are.
python=OFF
if python3 -c 'import os, sys, sysconfig
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null; then
    python=ON
else
    mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep -v '^python/')
fi
[ "$(uname -m)" = aarch64 ] || mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep -v '/neon\.c$') # make test-arm compiles it
cmake --preset dev -DTWIN_PYTHON=$python >/dev/null
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p build/dev \
    --extra-arg="-I$PWD/cli" \
    2> >(grep -v 'warnings\? generated\.$' >&2) # it counts what system headers have, too

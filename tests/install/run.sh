#!/usr/bin/env bash
# run.sh ROOT BUILD VERSION: installs BUILD below the current folder, then uses it as a user would: plain
# cc with pkg-config, CMake with find_package, the manual pages, the program. $CC compiles.
set -euo pipefail
root=$1
build=$2
version=$3
: "${CC:=cc}"

fail()
{
    echo "install: $1"
    exit 1
}

# through PREFIX FLAGS...: builds and runs the examples with the flags that pkg-config gives for PREFIX.
through()
{
    local prefix=$1 pc flags name
    shift
    pc=$(dirname "$(find "$prefix" -name twinsift.pc)")
    flags=$(PKG_CONFIG_PATH=$pc pkg-config "$@" --cflags --libs twinsift)
    [ "$(PKG_CONFIG_PATH=$pc pkg-config --modversion twinsift)" = "$version" ] || fail "twinsift.pc has another version"
    for file in "$root"/examples/*.c; do
        name=$prefix/$(basename "$file" .c)
        # shellcheck disable=SC2086 # flags are words
        "$CC" -std=c17 -Wall -Werror "$file" -o "$name" $flags
        LD_LIBRARY_PATH=$(dirname "$pc") "$name" >/dev/null || fail "$name failed"
    done
}

DESTDIR='' cmake --install "$build" --prefix "$PWD/prefix" >install.log
through "$PWD/prefix"

# A copy in another place, without the shared library: shows that the tree may be moved, and makes
# -ltwinsift mean the static one.
cp -a prefix moved
find moved -name 'libtwinsift.so*' -delete
through "$PWD/moved" --static
for file in "$root"/examples/*.c; do
    ! ldd "moved/$(basename "$file" .c)" | grep -q libtwinsift || fail "the static example needs the shared library"
done

cmake -S "$root/tests/install" -B cmake -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$PWD/prefix" -DWANTED="$version" \
    -DEXAMPLES="$root/examples" >cmake.log || fail "find_package: $(cat cmake.log)"
cmake --build cmake >build.log || fail "the CMake project: $(cat build.log)"
(cd cmake && ctest --output-on-failure >test.log) || fail "the CMake project's programs: $(cat cmake/test.log)"

[ -s prefix/share/doc/twinsift/LICENSE ] || fail "no LICENSE"

for source in "$root"/docs/*.1.md; do
    page=prefix/share/man/man1/$(basename "$source" .md)
    groff -mandoc -Kutf8 -Tutf8 -ww -P-cbou "$page" >page.txt 2>page.err || fail "groff cannot read $page"
    [ ! -s page.err ] || fail "groff warns about $page: $(cat page.err)"
    for words in NAME SYNOPSIS 'EXIT STATUS' EXAMPLES 'SEE ALSO' --help; do # two hyphens, not a dash
        grep -q -e "$words" page.txt || fail "$page has no $words"
    done
done

for script in bash-completion/completions/twinsift zsh/site-functions/_twinsift fish/vendor_completions.d/twinsift.fish; do
    grep -q 'Completion of twinsift' "prefix/share/$script" || fail "no share/$script"
done

if [ -d "$root/cli" ]; then
    prefix/bin/twinsift --version | grep -qF "$version" || fail "the program has another version"
    if [ -e prefix/libexec/twinsift/twinsift-serve ]; then
        for tree in prefix moved; do
            ! $tree/bin/twinsift serve --spamd unix:socket 2>serve.err || fail "it serves without a model"
            grep -q 'needs a mail model' serve.err || fail "the program in $tree does not find its neighbour that serves"
        done
    fi
fi

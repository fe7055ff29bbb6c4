#!/usr/bin/env bash
# without_farmhash.sh ROOT: builds the library and the program with -DTWIN_FARMHASH=OFF in the current folder, without
# a C++ compiler, and tries them. The folder is kept, so that only the first run compiles everything. $CC compiles.
set -euo pipefail
root=$1
: "${CC:=cc}"

fail()
{
    echo "without_farmhash: $1"
    exit 1
}

# refused WORDS COMMAND...: exits with 2 and says WORDS.
refused()
{
    local words=$1 code=0
    shift
    "$@" >out.txt 2>err.txt </dev/null || code=$?
    [ $code = 2 ] || fail "$* exited with $code: $(cat err.txt)"
    grep -qF -e "$words" err.txt || fail "$* said: $(cat err.txt)"
}

cmake -S "$root" -B build -G Ninja -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER=/nowhere -DCMAKE_BUILD_TYPE=Debug \
    -DTWIN_FARMHASH=OFF -DTWIN_TESTS=OFF -DTWIN_BENCH=OFF >cmake.log 2>&1 || fail "cmake: $(cat cmake.log)"
cmake --build build >build.log || fail "the build: $(cat build.log)"

! ldd build/twinsift | grep -E 'farmhash|stdc\+\+' || fail "the program needs what was left out"
! grep -E 'farmhash|stdc\+\+' build/twinsift.pc || fail "twinsift.pc names what was left out"

twinsift=build/twinsift
missing='the hash family farm is not in this build'
refused "$missing" $twinsift pairs --hash farm "$root/samples/articles.jsonl"
refused "$missing" $twinsift pairs --sets --hash farm "$root/samples/ratings.tsv"
rm -f new.twin new.bloom
refused "$missing" $twinsift index create new.twin --hash farm
refused "$missing" $twinsift bloom create new.bloom --items 10 --hash farm
refused "$missing" $twinsift bloom has "$root/tests/golden/count8.bloom"
[ ! -e new.twin ] && [ ! -e new.bloom ] || fail "a file was left behind"

$twinsift pairs "$root/samples/articles.jsonl" >pairs.txt 2>err.txt || fail "pairs: $(cat err.txt)"
[ -s pairs.txt ] || fail "the sample has no pairs"
$twinsift bloom info "$root/tests/golden/count8.bloom" >info.txt || fail "bloom info needs no hash"
grep -q farm info.txt || fail "bloom info does not name the family"

#!/usr/bin/env bash
# smallest.sh ROOT: builds the library and the program in the current folder without what may be left out, FarmHash, and
# with it a C++ compiler, and mail, and tries them. The folder is kept, so that only the first run compiles everything.
# $CC compiles.
set -euo pipefail
root=$1
: "${CC:=cc}"

fail()
{
    echo "smallest: $1"
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
    -DCMAKE_C_FLAGS_DEBUG=-O0 -DTWIN_FARMHASH=OFF -DTWIN_MAIL=OFF -DTWIN_TESTS=OFF \
    -DTWIN_BENCH=OFF >cmake.log 2>&1 || fail "cmake: $(cat cmake.log)"
cmake --build build >build.log || fail "the build: $(cat build.log)"

left_out='farmhash|stdc\+\+|gmime|glib|xml2|psl'
! ldd build/twinsift | grep -E "$left_out" || fail "the program needs what was left out"
! ldd build/libtwinsift.so | grep -E "$left_out" || fail "the library needs what was left out"
! grep -E "$left_out" build/twinsift.pc || fail "twinsift.pc names what was left out"

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

# ---- mail

cat >mail.c <<'END'
#include <stdio.h>
#include <twinsift/twinsift.h>

int main(void)
{
    twin_message_reader *reader;
    twin_status status = twin_message_reader_create(&reader, (twin_message_options){ 0 });
    puts(twin_error_last(status));
    return status != TWIN_EUNSUPPORTED || reader;
}
END
"$CC" -std=c17 -I"$root/include" mail.c -o mail build/libtwinsift.so -Wl,-rpath,"$PWD/build"
./mail >mail.txt || fail "a reader of messages: $(cat mail.txt)"
grep -qF 'reading mail is not in this build of twinsift' mail.txt || fail "a reader of messages said: $(cat mail.txt)"

# check answers with its exit status, so that an error is another one.
message=$root/samples/mail/spam/01-watches.eml
refused 'reading mail is not in this build of twinsift' $twinsift mail learn -m new.twin --as spam "$message"
code=0
$twinsift mail check -m new.twin "$message" >out.txt 2>err.txt || code=$?
[ $code = 3 ] || fail "mail check exited with $code: $(cat err.txt)"
grep -qF 'reading mail is not in this build of twinsift' err.txt || fail "mail check said: $(cat err.txt)"
[ ! -e new.twin ] || fail "a model was left behind"

#!/usr/bin/env bash
# Compiles the program and the tests of kernels, hashes, sketches, texts and edits for a big-endian machine, s390x, and
# runs them under qemu. Files are written little-endian: those of this machine, and the golden ones, are read there with
# the same result, or refused with a sentence, and never anything else. Exits with 77 where the compiler, qemu or the
# packages cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

machine=s390x debian=s390x
. tools/foreign.bash
here=$(realpath "${1:-build/dev/twinsift}")
there=$PWD/build/s390x/twinsift
passed=0 refused=0 failed=0

# like_here ARGUMENTS...: what is printed and written there must be what is here, or nothing and a sentence.
like_here()
{
    local place status=0
    for place in here there; do
        rm -rf "build/s390x/$place"
        mkdir "build/s390x/$place"
        cp tests/golden/*.{bloom,twin} "build/s390x/$place"
        gzip -cd tests/golden/mail2.twin.gz >"build/s390x/$place/mail2.twin"
        chmod u+w "build/s390x/$place"/*
    done
    (cd build/s390x/here && "$here" "$@" >stdout 2>/dev/null) || true
    (cd build/s390x/there && foreign "$there" "$@" >stdout 2>../stderr) || status=$?
    if [ -s build/s390x/stderr ] && [ ! -s build/s390x/there/stdout ] && { [ $status = 2 ] || [ $status = 3 ]; }; then
        refused=$((refused + 1))
        echo "refused: twinsift $*: $(head -n 1 build/s390x/stderr)"
    elif diff -r -x '*-lock' build/s390x/here build/s390x/there >/dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED ($status): twinsift $*: $(head -n 1 build/s390x/stderr)"
    fi
}

configure_foreign build/s390x -DTWIN_MAIL=OFF -DTWIN_SERVE=OFF
# Left out: test_bands, whose truth is from words as they are in memory, and test_minhash, which takes too long here.
tests=(hash text shingle signer scheme edit diff sort)
for file in tests/kernels/test_kernels_*.c; do
    name=${file##*/test_}
    tests+=("${name%.c}")
done
cmake --build build/s390x -- twinsift "${tests[@]/#/test_}"
ctest --test-dir build/s390x --output-on-failure --parallel "$(nproc)" -R "^test_($(IFS='|'; echo "${tests[*]}"))\$" ||
    failed=$((failed + 1))

samples=$PWD/samples
like_here pairs "$samples/articles.jsonl"
like_here pairs --sets "$samples/ratings.tsv" --threshold 0.3
like_here pairs --measure edit --threshold 0.6 "$samples/articles.jsonl"
like_here pairs --measure containment "$samples/articles.jsonl"
like_here pairs --sketch classic --shingle word:2 --threshold 0.5 "$samples/articles"
like_here dedup -q "$samples/articles.jsonl" --groups groups -o kept.jsonl
like_here dedup -q --memory 64M "$samples/articles.jsonl" -o kept.jsonl
like_here plan --reject 0.6:0.01 --accept 0.9:0.99 --curve
like_here sign "$samples/articles.jsonl" -o signatures.sig
like_here bloom create --items 5K --counting 4 new.bloom
for filter in tests/golden/*.bloom; do
    like_here bloom info "${filter##*/}"
done
for index in tests/golden/*.twin; do
    like_here index info "${index##*/}"
    like_here index check "${index##*/}"
    like_here index query "${index##*/}" "$samples/articles.jsonl"
done
like_here pairs --measure edit --threshold 0.7 --as lines "$samples/ratings.tsv"
like_here mail info -m mail2.twin
"$here" sign -q "$samples/articles.jsonl" -o build/s390x/foreign.sig
like_here band "$PWD/build/s390x/foreign.sig" -o foreign.band
echo "$passed equal, $refused refused, $failed failed"
[ "$failed" = 0 ]

#!/usr/bin/env bash
# Compiles everything for 64-bit ARM and runs it under qemu: the tests of kernels, hashes, sketches, texts and edits, and
# the program, whose outputs must be those of the program of this machine, byte for byte. Exits with 77 where the
# compiler, qemu or the packages cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

machine=aarch64 debian=arm64
. tools/foreign.bash
native=${1:-build/dev/twinsift}

# same ARGUMENTS...: runs the program on both machines in a folder of its own, with the golden files of older versions;
# outputs and files must be equal.
same()
{
    local place
    for place in x86 arm; do
        rm -rf "build/arm/$place"
        mkdir "build/arm/$place"
        cp tests/golden/*.{bloom,twin} "build/arm/$place"
        chmod u+w "build/arm/$place"/*
    done
    (cd build/arm/x86 && "$here" "$@" >stdout && echo 0 >status) || echo "$?" >build/arm/x86/status
    (cd build/arm/arm && foreign "$there" "$@" >stdout && echo 0 >status) || echo "$?" >build/arm/arm/status
    if ! grep -qx '[01]' build/arm/x86/status || ! diff -r -x '*-lock' build/arm/x86 build/arm/arm >/dev/null; then
        echo "FAILED or differs: twinsift $*"
        failed=$((failed + 1))
    fi
    compared=$((compared + 1))
}

configure_foreign build/arm -DTWIN_WERROR=ON
tests=(hash minhash text shingle signer scheme bands bloom bloom_file edit diff sort)
for file in tests/kernels/test_kernels_*.c; do
    name=${file##*/test_}
    tests+=("${name%.c}")
done
cmake --build build/arm -- twinsift "${tests[@]/#/test_}"
ctest --test-dir build/arm --output-on-failure --parallel "$(nproc)" -R "^test_($(IFS='|'; echo "${tests[*]}"))\$"

here=$(realpath "$native")
there=$PWD/build/arm/twinsift
samples=$PWD/samples
compared=0 failed=0
same pairs "$samples/articles.jsonl"
same pairs --sets "$samples/ratings.tsv" --threshold 0.3
same pairs --measure edit --threshold 0.6 "$samples/articles.jsonl"
same pairs --measure containment "$samples/articles.jsonl"
same pairs --sketch classic --shingle word:2 --threshold 0.5 "$samples/articles"
same dedup -q "$samples/articles.jsonl" --groups groups -o kept.jsonl.zst
same sign "$samples/articles.jsonl" -o signatures.sig
same sign --hash sip --seed 7 "$samples/articles" -o signatures.sig
same plan --reject 0.6:0.01 --accept 0.9:0.99 --curve
same bloom create --items 5K --counting 4 new.bloom
for filter in tests/golden/*.bloom; do
    same bloom info "${filter##*/}"
done
for index in tests/golden/*.twin; do
    same index info "${index##*/}"
    same index check "${index##*/}"
done
same index add -q index.twin "$samples/articles.jsonl"
for kernels in scalar neon; do
    TWINSIFT_CPU=$kernels foreign "$there" dedup -q "$samples/articles.jsonl" | cmp - <("$here" dedup -q "$samples/articles.jsonl")
done
echo "$((compared - failed)) passed, $failed failed"
[ "$failed" = 0 ]

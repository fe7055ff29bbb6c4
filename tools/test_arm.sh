#!/usr/bin/env bash
# Compiles everything for 64-bit ARM and runs it under qemu: the tests of kernels, hashes, sketches, texts and edits, and
# the program, whose outputs must be those of the program of this machine, byte for byte. The libraries are Debian's for
# arm64, fetched by name and unpacked into build/arm-root, without a change to the packages of this system.
# Exits with 77 where the compiler, qemu or the packages cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD/build/arm-root
native=${1:-build/dev/twinsift}
libraries=(libc6-dev libgcc-s1 libgomp1 libxxhash-dev libutf8proc-dev zlib1g-dev libzstd-dev liblmdb-dev libfarmhash-dev
    libgmime-3.0-dev libpsl-dev libcmocka-dev)

skip()
{
    echo "test_arm: skipped: $*" >&2
    exit 77
}

tools_of_arm()
{
    command -v aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64-static >/dev/null && return
    [ "$(id -u)" = 0 ] || skip "install gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu and qemu-user-static"
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends gcc-aarch64-linux-gnu \
        g++-aarch64-linux-gnu qemu-user-static >/dev/null || skip "no cross compiler"
}

# apt with lists and state of its own, for another architecture.
apt_of_arm()
{
    local state=$root.apt
    mkdir -p "$state"/{lists,cache/archives,state}/partial
    touch "$state/status"
    cat >"$state/conf" <<END
APT::Architecture "arm64";
APT::Architectures "arm64";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$state/state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
END
    APT_CONFIG=$state/conf apt-get -qq "$@"
}

# Unpacked aside and renamed, so that a folder which is there is whole. Compilers and scripts are not needed.
fill_root()
{
    [ "$(cat "$root/libraries" 2>/dev/null)" != "${libraries[*]}" ] || return 0
    command -v apt-get >/dev/null || skip "no apt-get"
    apt_of_arm update >/dev/null || skip "no lists of packages for arm64"
    apt_of_arm install --yes --download-only "${libraries[@]}" >/dev/null || skip "no packages for arm64"
    rm -rf "$root.new"
    mkdir "$root.new"
    for package in "$root".apt/cache/archives/*.deb; do
        case ${package##*/} in
        gcc-[0-9]*-base* | perl* | libperl* | debconf* | dpkg* | tar_*) ;;
        *) dpkg -x "$package" "$root.new" ;;
        esac
    done
    echo "${libraries[*]}" >"$root.new/libraries"
    rm -rf "$root"
    mv "$root.new" "$root"
    rm -rf "$root.apt"
}

arm()
{
    qemu-aarch64-static -L "$root" "$@"
}

# same ARGUMENTS...: runs the program on both machines in a folder of its own; outputs and files must be equal.
same()
{
    local machine
    for machine in x86 arm; do
        rm -rf "build/arm/$machine"
        mkdir "build/arm/$machine"
    done
    (cd build/arm/x86 && "$here" "$@" >stdout)
    (cd build/arm/arm && arm "$there" "$@" >stdout)
    diff -r build/arm/x86 build/arm/arm >/dev/null || { echo "FAILED differs: twinsift $*" && failed=$((failed + 1)); }
    compared=$((compared + 1))
}

tools_of_arm
fill_root
cmake -B build/arm -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake -DTWIN_ROOT="$root" -DCMAKE_BUILD_TYPE=Release \
    -DTWIN_BENCH=OFF -DTWIN_LAB=OFF >/dev/null
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
for machine in scalar neon; do
    TWINSIFT_CPU=$machine arm "$there" dedup -q "$samples/articles.jsonl" | cmp - <("$here" dedup -q "$samples/articles.jsonl")
done
echo "$((compared - failed)) passed, $failed failed"
[ "$failed" = 0 ]

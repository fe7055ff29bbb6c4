#!/usr/bin/env bash
# test_wheel_arm.sh: runs the wheel for 64-bit ARM in Debian's Python for it, under qemu-user, and compares signatures,
# pairs and kept texts with those of this machine's wheel. Debian's packages are unpacked into build/python/arm, and nothing
# is installed. Skipped by name where qemu or the packages cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/python/arm
dist=$PWD/build/python/dist
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) ||
    { echo "test_wheel_arm: skipped: there is no qemu-aarch64-static (Debian: qemu-user-static)"; exit 0; }
command -v apt-get >/dev/null || { echo "test_wheel_arm: skipped: there is no apt-get"; exit 0; }

# fetch: the packages of an ARM Python, by lists of our own.
fetch()
{
    local suite
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mkdir -p "$work/lists/partial" "$work/root"
    echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" \
        > "$work/sources.list"
    local options=(-qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::Etc::sourceparts=/dev/null
        -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::State::lists="$work/lists" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update
    (cd "$work" && apt-get "${options[@]}" download libc6:arm64 python3.11-minimal:arm64 libpython3.11-minimal:arm64 \
        libpython3.11-stdlib:arm64 zlib1g:arm64 libexpat1:arm64 libgcc-s1:arm64 libffi8:arm64 libbz2-1.0:arm64 \
        liblzma5:arm64 libssl3:arm64)
    for package in "$work"/*.deb; do
        dpkg -x "$package" "$work/root"
    done
}
[ -x "$work/root/usr/bin/python3.11" ] || fetch || { echo "test_wheel_arm: skipped: Debian's packages for arm64 cannot be had"; exit 0; }

# results MACHINE PYTHON...: what the wheel of the machine answers.
results()
{
    local site=$work/site-$1
    rm -rf "$site"
    mkdir -p "$site"
    python3 -m zipfile -e "$dist"/*"$1".whl "$site"
    PYTHONPATH=$site:$PWD/python/tests "${@:2}" -B -c '
import corpus, hashlib, platform, sys, twinsift
texts = corpus.corpus(400)
print("test_wheel_arm:", platform.machine(), twinsift._core.cpu(), file=sys.stderr)
print(hashlib.sha256(memoryview(twinsift.Signer().sign_many(texts)).cast("B")).hexdigest())
print(list(twinsift.pairs(texts, threshold=0.6)))
print(twinsift.dedup(texts).keeper.tolist())
print(list(twinsift.pairs([text[:50] for text in texts], measure="edit", threshold=0.7)))'
}
results x86_64 python3 > "$work/here.txt"
results aarch64 "$qemu" -L "$work/root" "$work/root/usr/bin/python3.11" > "$work/there.txt"
cmp "$work/here.txt" "$work/there.txt"
echo "test_wheel_arm: equal"

#!/usr/bin/env bash
# test.sh PRESET...: configures, builds and tests each; stops at the first failure. With TEST_AGAIN=1, for shared machines
# on which a server may answer late, the tests that failed run once more, alone, and are named: each is to be looked into.
set -euo pipefail
cd "$(dirname "$0")/.."

# Older sanitizers fail with the address space randomisation of some kernels; containers may forbid disabling it.
steady=()
if setarch -R true 2>/dev/null; then
    steady=(setarch -R)
fi

for preset in "$@"; do
    echo "== $preset"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset"
    "${steady[@]}" ctest --preset "$preset" --parallel $(($(nproc) + 1)) || { # some sleep, or wait for the disk
        [ -n "${TEST_AGAIN-}" ]
        echo "== $preset: what failed, once more, alone"
        "${steady[@]}" ctest --preset "$preset" --rerun-failed
    }
done

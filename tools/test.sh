#!/usr/bin/env bash
# test.sh PRESET...: configures, builds and tests each; stops at the first that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# Older sanitizers cannot bear some kernels' random addresses; containers may forbid switching them off.
steady=()
if setarch -R true 2>/dev/null; then
    steady=(setarch -R)
fi

for preset in "$@"; do
    echo "== $preset"
    cmake --preset "$preset" >/dev/null
    cmake --build --preset "$preset"
    "${steady[@]}" ctest --preset "$preset"
done

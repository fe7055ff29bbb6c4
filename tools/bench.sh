#!/usr/bin/env bash
# Runs every benchmark of the release build, one after another; bench/README.md describes them.
set -euo pipefail
cd "$(dirname "$0")/.."

for source in bench/bench_*.c; do
    [ -e "$source" ] || { echo "bench: none in bench/"; exit 0; }
    name=$(basename "$source" .c)
    echo "== ${name#bench_}"
    "build/release/$name"
done
for script in bench/*.sh; do
    [ -e "$script" ] || continue
    echo "== $(basename "$script" .sh)"
    bash "$script"
done

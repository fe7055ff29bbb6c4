#!/usr/bin/env bash
# The lookalikes among samples/.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x build/release/twinsift ] || [ ! -d samples ]; then
    echo "demo: no program or no samples/ in this tree yet"
    exit 0
fi
set -x
build/release/twinsift pairs samples/

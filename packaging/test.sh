#!/usr/bin/env bash
# test.sh: each package is built if it is not there, installed in a fresh root and used there. A test that exits with 77
# was skipped, and has said why. The last lines are the times.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0
times=()
for script in packaging/test_*.sh; do
    began=$SECONDS status=0
    "$script" || status=$?
    case $status in
    0) times+=("$script: $((SECONDS - began)) s") ;;
    77) times+=("$script: skipped") ;;
    *) failed=1 times+=("$script: FAILED after $((SECONDS - began)) s") ;;
    esac
done
printf '%s\n' "${times[@]}"
exit $failed

#!/usr/bin/env bash
# version.sh: prints the version, which is written in include/twinsift/version.h. With "check", compares what repeats it
# for readers that cannot look there, and fails where one differs.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/#define TWINSIFT_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/twinsift/version.h | paste -sd .)
if [ "${1:-}" != check ]; then
    echo "$version"
    exit
fi

failed=0
# says FILE EXPRESSION: the first line of the file that sed's expression prints is the version.
says()
{
    local found
    found=$(sed -nE "$2" "$1" | head -n 1)
    [ "$found" = "$version" ] || { echo "$1 has the version ${found:-(none)}, and version.h $version"; failed=1; }
}
says include/twinsift/version.h 's/.*that is running, "([0-9.]+)".*/\1/p'
says python/pyproject.toml 's/^version = "(.*)"/\1/p'
says docs/openapi.yaml 's/^  version: (.*)/\1/p'
says packaging/debian/changelog 's/^twinsift \(([^-]*)-.*/\1/p'
says CITATION.cff 's/^version: "?([^"]*)"?$/\1/p'
says packaging/action/action.yml 's/^    default: "([0-9.]+)"/\1/p'
says docs/hooks.md 's/.*: v([0-9.]+)$/\1/p'
exit $failed

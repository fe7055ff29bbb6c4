# frame.bash — how the scripts of this folder begin: source it with the script's own argument.
#
# Leaves: here, this folder; build, the folder of our programs (the argument, or build/release). Changes to the scratch
# folder, BENCH_SCRATCH or a temporary one that is removed at the end.
# shellcheck shell=bash
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034
build=$(cd "${1:-$here/../../build/release}" && pwd)
scratch=${BENCH_SCRATCH:-}
if [ -z "$scratch" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
fi
mkdir -p "$scratch"
cd "$scratch"

# install PACKAGE...: from PyPI into the folder venv. Where that cannot be done, says so and ends the script.
install()
{
    local script=${0##*/}
    if [ ! -x venv/bin/pip ]; then
        python3 -m venv venv || { echo "$script: python3 with venv is needed; nothing was compared" >&2; exit 0; }
    fi
    if ! venv/bin/pip install --quiet --disable-pip-version-check "$@"; then
        echo "$script: $1 could not be installed from PyPI; nothing was compared" >&2
        exit 0
    fi
}

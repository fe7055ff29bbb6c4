#!/usr/bin/env bash
# in_scratch.sh FOLDER COMMAND...: runs the command in FOLDER, emptied first.
set -euo pipefail
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
exec "$@"

#!/usr/bin/env bash
# test_recipes.sh: the recipes for conda-forge and Homebrew, as far as they can be tried without these: the first is
# rendered by rattler-build, from PyPI, the second is read by Ruby.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/root.bash
. tools/python.bash
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
packaging/source.sh "$root/source.tar.xz"
sum=$(sha256sum "$root/source.tar.xz" | cut -d ' ' -f 1)
for recipe in packaging/conda/recipe.yaml packaging/homebrew/twinsift.rb; do
    sed "s,@VERSION@,$(tools/version.sh),g; s,@URL@,file://$root/source.tar.xz,g; s,@SHA256@,$sum,g" "$recipe" >"$root/${recipe##*/}"
done
if command -v ruby >/dev/null; then
    check "the formula" ruby -wc "$root/twinsift.rb"
else
    echo "test_recipes: no ruby, the formula is not read" >&2
fi
if make_venv recipes py-rattler-build >/dev/null 2>&1 || make_venv recipes pyyaml jsonschema >/dev/null; then
    check "the recipe" build/python/recipes/bin/python packaging/conda/check.py "$root/recipe.yaml"
fi
finish

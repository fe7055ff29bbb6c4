#!/usr/bin/env bash
# release.sh [FOLDER]: makes in build/dist (or FOLDER) what is published, from the last commit, with the same bytes each
# time: the source archive, the static program for each processor with its manual, the Python package, a bill of
# materials, the recipes for other packagers, and SHA256SUMS over all. $TWINSIFT_URL is where the files will be found.
# $TWINSIFT_MACHINES: the processors, x86_64 and aarch64 if not set.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/epoch.bash
version=$(tools/version.sh)
command -v lowdown >/dev/null || { echo "release: lowdown, which makes the manual pages, is missing" >&2; exit 2; }
out=$(realpath -m "${1:-build/dist}")
url=${TWINSIFT_URL:-https://example.org/twinsift/$version}
read -ra machines <<<"${TWINSIFT_MACHINES:-x86_64 aarch64}"
[ -z "$(git status --porcelain 2>/dev/null)" ] || echo "release: the tree has changes that are not in a commit" >&2

rm -rf "$out"
mkdir -p "$out"
source=$out/twinsift-$version.tar.xz
packaging/source.sh "$source"

# What is built comes from the archive, at one place, so that no path of a tree is in it.
tree=/tmp/twinsift-release/twinsift-$version
mkdir /tmp/twinsift-release || { echo "release: /tmp/twinsift-release is there: another release is being made" >&2; exit 1; }
trap 'rm -rf /tmp/twinsift-release' EXIT
tar -xf "$source" -C /tmp/twinsift-release
. tools/python.bash
make_tools
tools/sources.sh build/sources
tools/sources.sh build/sources tools/sources_server.txt
mkdir -p "$tree"/build/{python,static} build/python/zig-cache build/static/cache
for shared in sources python/tools python/zig-cache static/cache; do
    ln -s "$PWD/build/$shared" "$tree/build/$shared"
done

# packed NAME: the folder NAME as NAME.tar.xz.
packed()
{
    tar -C "$tree/build" --sort=name --format=ustar --mode=u+rw,go+r-w,a+X --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" -c "$1" | xz -9e -T1 >"$out/$1.tar.xz"
}

for machine in "${machines[@]}"; do
    (cd "$tree" && tools/static.sh "$machine") >"$out.log" 2>&1 || { tail -n 20 "$out.log" && exit 1; }
    name=twinsift-$version-linux-$machine
    mkdir -p "$tree/build/$name/man/man1"
    cp "$tree/build/static/twinsift-$machine" "$tree/build/$name/twinsift"
    cp "$tree"/{LICENSE,README.md,CHANGELOG.md} "$tree/build/$name/"
    cp -r "$tree/samples" "$tree/build/$name/"
    mkdir "$tree/build/$name/licences"
    while read -r library _; do
        for file in "build/sources/$library"/{LICENSE,COPYING,LICENSE.md,*/*/LICENSE,usr/share/doc/*/copyright}; do
            [ ! -e "$file" ] || break
        done
        cp "$file" "$tree/build/$name/licences/$library"
    done < <(sed '/^#/d' tools/sources.txt tools/sources_server.txt)
    cp "$tree/build/static/$machine/build"/*.1 "$tree/build/$name/man/man1/"
    packed "$name"
    (cd "$tree" && tools/wheel.sh "$machine") >"$out.log" 2>&1 || { tail -n 20 "$out.log" && exit 1; }
done
rm -f "$out.log"
cp "$tree"/build/python/dist/* "$out/"
python3 tools/sbom.py "$version" tools/sources.txt tools/sources_server.txt >"$out/twinsift-$version.cdx.json"

# Recipes name the source archive, and what it must hash to.
sum=$(sha256sum "$source" | cut -d ' ' -f 1)
mkdir "$out/recipes"
for recipe in packaging/conda/recipe.yaml packaging/homebrew/twinsift.rb; do
    sed "s,@VERSION@,$version,g; s,@URL@,$url/${source##*/},g; s,@SHA256@,$sum,g" "$recipe" >"$out/recipes/${recipe##*/}"
done

(cd "$out" && find . -type f ! -name SHA256SUMS -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS)
cat "$out/SHA256SUMS"

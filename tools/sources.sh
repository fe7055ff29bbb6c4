#!/usr/bin/env bash
# sources.sh FOLDER [LIST]: fetches the libraries of tools/sources.txt (or LIST) into FOLDER/NAME, checks their hashes, and
# unpacks them. What is there already is not fetched again. They come from the archive that apt uses; elsewhere
# TWINSIFT_MIRROR names the folder "pool/main" of a Debian archive.
set -euo pipefail
folder=$1
list=${2:-$(dirname "$0")/sources.txt}
mirror=${TWINSIFT_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Component: main' | sed -n '1s|/*$|/pool/main|p')}

mkdir -p "$folder"
while read -r name _ _ sum path; do
    [[ $name != "#"* ]] || continue
    [ ! -e "$folder/$name/.$sum" ] || continue
    file=$folder/${path##*/}
    if ! sha256sum --quiet --status -c <<<"$sum  $file" 2>/dev/null; then
        python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' "$mirror/$path" "$file"
        sha256sum --quiet -c <<<"$sum  $file"
    fi
    rm -rf "${folder:?}/$name"
    mkdir "$folder/$name"
    case $file in
    *.deb) ar p "$file" data.tar.xz | tar -xJ -C "$folder/$name" ;;
    *) tar -xf "$file" -C "$folder/$name" --strip-components=1 ;;
    esac
    touch "$folder/$name/.$sum"
done < "$list"

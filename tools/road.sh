#!/usr/bin/env bash
# Includes never point forward along the road, and programs see the public headers only.
set -euo pipefail
cd "$(dirname "$0")/.."

# The rooms in the order of the road, one a line: its public header, then private files that belong to it. A file
# src/ROOM.c, src/ROOM_part.c or include/twinsift/ROOM.h may include headers of its own room and of those before it.
road=(
    # the ground: results, instruction sets and their loops, small private tools, who runs
    "status fail"
    "cpu kernels"
    "random grow names sort union_find"
    "exec beside"
    # tools of the road: numbers and bytes, nothing of documents
    "hash"
    "plan"
    "text buffer"
    "bloom"
    # documents
    "document folder json source unpack"
    # sets
    "set"
    "shingle"
    # signatures; embed is the second door, where edit distance becomes hash vectors
    "minhash"
    "edit"
    "embed"
    # documents, sets and signatures of a whole input, held together
    "collection rows copies"
    # candidates
    "bands"
    "forest"
    # the similar, by sets and by edits, and groups of them
    "similar"
    "near"
    "audit"
    "cluster"
    # at the end, only looking back
    "index"
    "mail"
    # the umbrella includes them all
    "twinsift"
)

failed=0
complain()
{
    echo "road: $1" >&2
    failed=1
}

# place NAME: the number of the room that NAME, without folder and suffix, belongs to; nothing if it has none.
declare -A number
for i in "${!road[@]}"; do
    for name in ${road[i]}; do
        number[$name]=$i
    done
done
place()
{
    local name=$1
    while [ -z "${number[$name]-}" ] && [[ $name == *_* ]]; do
        name=${name%_*}
    done
    echo "${number[$name]-}"
}

# includes FILE: our own headers among its includes, as written between the marks.
includes()
{
    sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*(<(twinsift\/[^>]*)>|"([^"]*)").*/\2\3/p' "$1"
}

stem()
{
    local name=${1##*/}
    echo "${name%.*}"
}

for file in include/twinsift/*.h src/*.c src/*.cc src/*.h src/kernels/*.[ch]; do
    [ -e "$file" ] || continue
    case $file in
    src/kernels/*) here=${number[kernels]} ;;
    *) here=$(place "$(stem "$file")") ;;
    esac
    if [ -z "$here" ]; then
        complain "$file has no place on the road: give it one in tools/road.sh"
        continue
    fi
    while read -r header; do
        there=$(place "$(stem "$header")")
        [ ! -e "src/kernels/${header#kernels/}" ] || there=${number[kernels]}
        if [ -z "$there" ]; then
            complain "$file includes $header, which has no place on the road"
        elif [ "$there" -gt "$here" ]; then
            complain "$file includes $header, which comes later: ${road[here]%% *} .. ${road[there]%% *}"
        fi
    done < <(includes "$file")
done

for file in cli/*.[ch] lab/*.[ch] examples/*.[ch]; do
    [ -e "$file" ] || continue
    while read -r header; do
        [[ $header == twinsift/* && -e include/$header ]] || [[ $header != */* && -e ${file%/*}/$header ]] ||
            complain "$file includes $header, which is neither public nor its own"
    done < <(includes "$file")
done
exit $failed

#!/usr/bin/env bash
# Includes follow the order of the rooms, and a room's private headers stay in the room.
#
# A folder of src/ is a room. A room includes its own headers and those of earlier rooms; of those, only the public
# ones and the private ones named below. A public header include/twinsift/NAME.h belongs to the room that has
# NAME.c. cli/, serve/ and lab/ see public headers, the private ones named below, cli/support/ and their own; serve/cmd_*.c are commands, as those of cli/; examples see public headers only.
set -euo pipefail
cd "$(dirname "$0")/.."

rooms=(base kernels text html input sketch lsh edit collection join edit_join dedup bloom store index mail)

# Private headers that other rooms may include, and why.
shared=(
    base/array.h base/bytes.h base/background.h base/clock.h base/checked_stream.h base/error.h base/exec.h base/file.h base/random.h base/scratch.h base/spill.h base/stages.h base/union_find.h base/utf8.h # tools of every room
    kernels/kernels.h # the loops written once per instruction set, called where the data is
    kernels/sort.h    # sorting, which is made of such loops
    kernels/sip.h     # SipHash step by step, for bytes that come piece by piece
    input/reader.h
    input/documents.h # a document of an input by its position
    text/ascii.h      # letters, digits and names, whatever the locale
    html/html.h html/html_tokens.h # pages are files, and parts of messages
    text/pieces.h     # normalisation piece by piece, for long texts
    sketch/hash.h sketch/minhash.h sketch/set.h sketch/shingle.h sketch/signer.h # the steps from a text to its signature
    sketch/long_text.h # signatures and sets of long texts, with little memory
    lsh/bands.h lsh/forest.h lsh/minhash_forest.h lsh/pairs.h # candidates of signatures and vectors
    lsh/large_buckets.h # bands whose large buckets are joined elsewhere
    edit/edit.h edit/embed.h # the distance, and vectors that keep some of it
    edit/edit_characters.h # characters and ratios as the distance counts them, for a join
    collection/contents.h   # signatures, sets and texts of a collection
    collection/provider.h   # documents that can be joined: an index is one of them
    join/audit_private.h join/candidates.h join/matches.h join/join_private.h join/similar_private.h join/verify.h # lists, comparison and result of a join, for the one by edit distance; from a provider to its similar pairs
    edit_join/edit_join_private.h edit_join/grams.h edit_join/segments.h # when texts are near, and what near ones share: an index looks it up
    join/items.h      # items by number, for unions of documents whose numbers have gaps
    store/store.h     # tables and transactions; LMDB is seen by the store alone
)

# What our own programs may see beside the public headers: the embedding, of which the server shows a vector; published
# mail filters and the measures of a filter, for mail eval; and for the lab, the parts of the method.
for_programs=(edit/embed.h mail/mail_baseline.h mail/mail_measures.h lsh/forest.h)
for_lab=(base/scratch.h collection/contents.h edit/edit.h join/similar_private.h lsh/bands.h sketch/hash.h sketch/minhash.h sketch/set.h)

# check_includes.sh --shared: their paths.
if [ "${1-}" = --shared ]; then
    printf 'src/%s\n' "${shared[@]}"
    exit 0
fi

failed=0
complain()
{
    echo "check_includes: $1" >&2
    failed=1
}

declare -A order room_of
for i in "${!rooms[@]}"; do
    order[${rooms[i]}]=$i
done
for file in src/*/*.c src/*/*.cc; do
    [ -e "$file" ] || continue
    room=${file#src/}
    name=${file##*/}
    room_of[${name%.*}]=${room%%/*}
done

# includes FILE: our own headers among its includes, as written between the marks.
includes()
{
    sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*(<(twinsift\/[^>]*)>|"([^"]*)").*/\2\3/p' "$1"
}

# public_room twinsift/NAME.h: its room; nothing if it has none.
public_room()
{
    local name=${1#twinsift/}
    echo "${room_of[${name%.h}]-}"
}

is_shared()
{
    [[ " ${shared[*]} " == *" $1 "* ]]
}

check() # FILE ROOM
{
    local file=$1 here=$2 header there
    while read -r header; do
        if [[ $header == twinsift/* ]]; then
            there=$(public_room "$header")
        else
            there=${header%%/*}
            [ -e "src/$header" ] || { complain "$file includes $header, which is not in src/: write ROOM/FILE.h"; continue; }
            [ "$there" = "$here" ] || is_shared "$header" || complain "$file includes $header, which is private to $there"
        fi
        if [ -z "${order[$there]-}" ]; then
            complain "$file includes $header, which belongs to no room: which folder of src/ has its .c?"
        elif [ "${order[$there]}" -gt "${order[$here]}" ]; then
            complain "$file includes $header, which comes later: $here .. $there"
        fi
    done < <(includes "$file")
}

for file in src/*/*.c src/*/*.cc src/*/*.h; do
    [ -e "$file" ] || continue
    room=${file#src/}
    room=${room%%/*}
    if [ -z "${order[$room]-}" ]; then
        complain "$file is in no room: the rooms are ${rooms[*]}"
    else
        check "$file" "$room"
    fi
done
for file in include/twinsift/*.h; do
    room=$(public_room "twinsift/${file##*/}")
    if [ -n "$room" ]; then
        check "$file" "$room"
    elif [ "$file" != include/twinsift/twinsift.h ]; then
        complain "$file belongs to no room: which folder of src/ has its .c?"
    fi
done

# ---- outside the library

while read -r file; do
    while read -r header; do
        [ "$file $header" != "cli/support/output_file.c base/file.h" ] || continue # a file gets its name in one way
        [[ $file == examples/* || " ${for_programs[*]} " != *" $header "* ]] || continue
        [[ $file != lab/* || " ${for_lab[*]} " != *" $header "* ]] || continue
        [[ $header == twinsift/* && -e include/$header ]] || [ -e "${file%/*}/$header" ] ||
            [[ $file != examples/* && $header == support/* && -e cli/$header ]] ||
            [[ $file == serve/cmd_* && -e cli/$header ]] ||
            complain "$file includes $header, which is neither public nor in cli/support/ nor its own"
        [[ $file != cli/support/* || $header != */* || $header == twinsift/* ]] ||
            complain "$file includes $header: cli/support/ sees public headers and its own"
    done < <(includes "$file")
done < <(find cli serve lab examples -name '*.[ch]')
exit $failed

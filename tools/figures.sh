#!/usr/bin/env bash
# Figures of the code: sizes, lengths of functions, comments, constants, names, what rooms share.
set -euo pipefail
cd "$(dirname "$0")/.."

# figures NAME FILE...: a row of the table. A function is the text between '{' and '}' in the first column.
figures()
{
    local name=$1
    shift
    awk -v name="$name" '
        FNR == 1 { files++ }
        { lines++ }
        /^[[:space:]]*$/ { next }
        comment || /^[[:space:]]*(\/\*|\/\/)/ {
            comments++
            comment = comment ? !/\*\// : /\/\*/ && !/\*\//
            next
        }
        { code++ }
        /\/\*/ { comments++; if (!/\*\//) comment = 1 }
        /^\{/ { start = FNR }
        /^\}$/ && start { length_of[++functions] = FNR - start - 1; start = 0 }
        END {
            n = functions
            for (i = 2; i <= n; i++) { # by insertion: a few thousand at most
                x = length_of[i]
                for (j = i - 1; j > 0 && length_of[j] > x; j--)
                    length_of[j + 1] = length_of[j]
                length_of[j + 1] = x
            }
            printf "| %s | %d | %d | %.2f | %d | %d | %d | %d |\n", name, files, lines, comments / code, n,
                   n ? length_of[int((n + 1) / 2)] : 0, n ? length_of[int(0.9 * n + 0.5)] : 0, n ? length_of[n] : 0
        }' "$@"
}

# private_functions HEADER...: functions named twin__… that they declare.
private_functions()
{
    sed -nE '/^typedef/d; s/^[a-z].*[ *](twin__[a-z0-9_]+)\(.*/\1/p' "$@" | sort -u
}

echo '| part | files | lines | comment/code | functions | median | 90 % | longest |'
echo '| --- | --: | --: | --: | --: | --: | --: | --: |'
for room in src/*/; do
    files=$(find "$room" -name '*.[ch]')
    # shellcheck disable=SC2086
    figures "\`${room%/}\`" $files
done
for part in src include cli lab tests; do
    # shellcheck disable=SC2046
    figures "**$part**" $(find "$part" -name '*.[ch]')
done
echo

# constants FILE...: names in capitals that are given a number, by an enum, a const or a macro.
constants()
{
    sed -E 's,/\*.*\*/,,' "$@" |
        grep -oE '\b[A-Z][A-Z0-9_]+ = [-(]?[0-9]|^#define [A-Z][A-Z0-9_]+ [-(]?[0-9]' | wc -l
}

# statics FILE...: each static function that a .c file of these defines, with the file.
statics()
{
    grep -HoE '^static [^=;]*[ *]([a-z_0-9]+)\(' "$@" | sed -E 's/:.*[ *]([a-z_0-9]+)\($/ \1/' | sort -u
}

echo '| room | files | of fewer than 80 lines | lines | constants | static names in two of its files or more |'
echo '| --- | --: | --: | --: | --: | --: |'
for room in src/*/; do
    mapfile -t files < <(find "$room" -name '*.[ch]')
    mapfile -t sources < <(find "$room" -name '*.c')
    printf '| `%s` | %d | %d | %d | %d | %d |\n' "${room%/}" "${#files[@]}" \
        "$(wc -l "${files[@]}" | awk '$2 != "total" && $1 < 80' | wc -l)" "$(cat "${files[@]}" | wc -l)" \
        "$(constants "${files[@]}")" "$(statics "${sources[@]}" | cut -d ' ' -f 2 | sort | uniq -d | wc -l)"
done
echo

shared=$(bash tools/check_includes.sh --shared)
# shellcheck disable=SC2086
echo "private headers that other rooms may include: $(wc -w <<<"$shared")"
# shellcheck disable=SC2086
echo "private functions shared between rooms: $(private_functions $shared | wc -l)"
echo "private functions in all headers: $(private_functions src/*/*.h | wc -l)"
echo "public functions: $(grep -hc '^TWIN_API' include/twinsift/*.h | awk '{ n += $1 } END { print n }')"
echo "files that use LMDB: $(grep -lE '\bmdb_|lmdb\.h' -r src | tr '\n' ' ')"
mapfile -t sources < <(find src -name '*.c')
echo "function names defined in two or more files of src: $(
    statics "${sources[@]}" | cut -d ' ' -f 2 | sort | uniq -d | wc -l)" # a function may be declared before it is defined
echo "public functions with more than six parameters: $(
    grep -hv '^ *#' include/twinsift/*.h | tr '\n' ' ' | grep -oE 'TWIN_API [^;]*;' | awk -F, 'NF > 6' | grep -oE 'twin_[a-z_]+\(' |
        tr -d '(' | tr '\n' ' ')"

#!/usr/bin/env bash
# Figures of the code: sizes, lengths of functions, comments, what rooms share.
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

shared=$(bash tools/check_includes.sh --shared)
# shellcheck disable=SC2086
echo "private headers that other rooms may include: $(wc -w <<<"$shared")"
# shellcheck disable=SC2086
echo "private functions shared between rooms: $(private_functions $shared | wc -l)"
echo "private functions in all headers: $(private_functions src/*/*.h | wc -l)"
echo "public functions: $(grep -hc '^TWIN_API' include/twinsift/*.h | awk '{ n += $1 } END { print n }')"
echo "files that use LMDB: $(grep -lE '\bmdb_|lmdb\.h' -r src | tr '\n' ' ')"
echo "function names defined in two or more files of src: $(
    grep -HoE '^static [^=;]*[ *]([a-z_0-9]+)\(' -r src --include='*.c' | sed -E 's/:.*[ *]([a-z_0-9]+)\($/ \1/' |
        sort -u | cut -d ' ' -f 2 | sort | uniq -d | wc -l)" # a function may be declared before it is defined
echo "public functions with more than six parameters: $(
    grep -hv '^ *#' include/twinsift/*.h | tr '\n' ' ' | grep -oE 'TWIN_API [^;]*;' | awk -F, 'NF > 6' | grep -oE 'twin_[a-z_]+\(' |
        tr -d '(' | tr '\n' ' ')"

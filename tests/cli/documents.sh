#!/usr/bin/env bash
# What documents and comments name exists: links, headings that links point to, files of the tree. Each decision is in
# the list of decisions, and each manual page in the README.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$PWD
cd "$TWINSIFT_ROOT"
failed=0
fail()
{
    failed=$((failed + 1))
    echo "FAILED $1"
}
documents=(README.md CHANGELOG.md bench/README.md docs/*.md docs/decisions/*.md)

# ---- links: [text](path#heading)

# headings FILE: the anchors of its headings, as sites that show Markdown make them.
headings()
{
    sed -nE 's/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}
while IFS=: read -r page target; do
    [[ $target != *:* ]] || continue # on the web
    path=${target%%#*}
    file=${path:+${page%"${page##*/}"}$path}
    file=${file:-$page}
    if [ ! -e "$file" ]; then
        fail "$page: a link to $target, which does not exist"
    elif [[ $target == *'#'* ]] && ! headings "$file" | grep -xF -- "${target#*#}" >/dev/null; then
        fail "$page: a link to $target: there is no such heading"
    fi
done < <(grep -HoE '\]\([^) ]+\)' "${documents[@]}" | sed -E 's/\]\(//; s/\)$//')

# ---- names of files, in documents between backticks, in sources in comments: one with a folder is there, one without is
# somewhere in the tree. Words in capitals stand for any name. The changelog and decisions that others have replaced may
# name what no longer exists.

replaced=$(sed -nE '/replaced by/I s/^\| \[[0-9]+\]\((.*)\.md\) \|.*/\1/p' docs/decisions/README.md | sed 's/\.md.*//' | paste -sd '|')
find bench cli cmake docs examples fuzz include lab python serve src tests tools -type f >"$here/known"
ls -p | grep -v / >>"$here/known"
echo cmocka.h >>"$here/known"
{
    grep -HonE '`[^`]+`' "${documents[@]}" | grep -vE "^(README|CHANGELOG|docs/decisions/($replaced))\.md:"
    grep -rnE --include='*.[ch]' --include='*.cc' '^ ?\*|/\*|//' include src cli lab tests fuzz bench examples | sed 's/"[^"]*"//g'
    grep -rnE --include='*.sh' --include='*.cmake' --include='*.bash' '^[[:space:]]*#' tests tools cmake bench
} >"$here/texts"
missing=$(awk '
    function exists(name, from,    folder) {
        if (name ~ /[A-Z][A-Z]/ && name !~ /README|CHANGELOG|CMakeLists/)
            return 1
        if (name !~ /\//)
            return name in base
        folder = from
        sub(/[^\/]*$/, "", folder)
        return name in path || ("src/" name) in path || ("cli/" name) in path || ("include/" name) in path || (folder name) in path
    }
    FILENAME == ARGV[1] { path[$0] = 1; sub(/.*\//, ""); base[$0] = 1; next }
    {
        from = $0
        sub(/:.*/, "", from)
        position = $0
        match(position, /^[^:]*:[0-9]*:/)
        text = substr($0, RLENGTH)
        position = substr($0, 1, RLENGTH)
        while (match(text, /[^[:alnum:]_.\/~$*{}<-]([[:alnum:]_.-]+\/)*[[:alnum:]_][[:alnum:]_-]*\.(c|h|cc|md|map|cmake)[^[:alnum:]_]/) ||
               match(text, /[^[:alnum:]_.\/~$*{}<-]([[:alnum:]_.-]+\/)*[[:alnum:]_][[:alnum:]_-]*\.(c|h|cc|md|map|cmake)$/)) {
            name = substr(text, RSTART + 1, RLENGTH - 1)
            text = substr(text, RSTART + RLENGTH - 1)
            sub(/[^[:alnum:]_]$/, "", name)
            if (!exists(name, from))
                print position " names " name ", which is not in the tree"
        }
    }' "$here/known" "$here/texts")
[ -z "$missing" ] || fail "$missing"

# A part of a room, `join/verify`, is a file there.
rooms=$(cd src && ls -d -- */ | tr -d / | paste -sd '|')
while IFS=: read -r page line name; do
    [ -e "src/${name//\`/}.c" ] || [ -e "src/${name//\`/}.h" ] || fail "$page:$line: names $name, which is not in src/"
done < <(grep -HnoE '`('"$rooms"')/[a-z0-9_]+`' "${documents[@]}")

# ---- lists

for page in docs/decisions/0*.md; do
    grep -qF "(${page##*/})" docs/decisions/README.md || fail "docs/decisions/README.md does not list $page"
done
for page in docs/*.md; do
    grep -qF "($page)" README.md || fail "README.md does not name $page"
done
echo "$failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# README.md and the manual pages say what the program does.
#
# - Each fenced block "console" is run as it is and must print what it shows. A line "$ COMMAND" is a command; the
#   lines after it, up to the next command, are its output, standard error included; a line "..." matches any number
#   of lines. The commands of a page share a folder, with a copy of samples/ in it. Those of the README must leave
#   nothing behind, since readers run them in the source tree.
# - The C code of the README must be in examples/pairs.c, line by line.
# - A page has an entry for every option and exit status that the command's --help lists, and for no other.
# - Prose has lines of at most 100 columns.
set -euo pipefail
export LC_ALL=C.UTF-8

root=$TWINSIFT_ROOT
mkdir bin
ln -s "$TWINSIFT" bin/twinsift
[ -z "${TWINSIFT_LAB:-}" ] || ln -s "$TWINSIFT_LAB" bin/twinsift-lab
PATH=$PWD/bin:$PATH
failed=0
run=0

fail()
{
    failed=$((failed + 1))
    echo "FAILED $1"
}

# split_examples PAGE: writes its commands to NUMBER.command and what they must print to NUMBER.expected.
split_examples()
{
    awk '
        /^```/ { inside = $0 == "```console"; next }
        !inside { next }
        /^\$ / {
            name = sprintf("%03d", ++count)
            print substr($0, 3) >(name ".command")
            printf "" >(name ".expected")
            next
        }
        { print >(name ".expected") }' "$1"
}

# matches EXPECTED ACTUAL: compares line by line; "..." matches any lines.
matches()
{
    awk '
        FILENAME == ARGV[1] { want[++wants] = $0; next }
        { have[++haves] = $0 }
        function fits(i, j) {
            if (i > wants)
                return j > haves
            if (want[i] == "...")
                return fits(i + 1, j) || (j <= haves && fits(i, j + 1))
            return j <= haves && want[i] == have[j] && fits(i + 1, j + 1)
        }
        END { exit !fits(1, 1) }' "$1" "$2"
}

# run_examples PAGE: in a folder of its own.
run_examples()
{
    local page=$1 name command here
    name=$(basename "$page" .md)
    mkdir -p "$name/tree"
    cp -r "$root/samples" "$name/tree"
    cd "$name"
    split_examples "$page"
    here=$PWD
    for command in *.command; do
        [ -e "$command" ] || { fail "$name: has no examples"; break; }
        run=$((run + 1))
        number=${command%.command}
        (cd tree && bash "$here/$command") >"$number.actual" 2>&1 </dev/null || true
        matches "$number.expected" "$number.actual" ||
            fail "$name: $(cat "$command")
$(diff "$number.expected" "$number.actual" || true)"
    done
    cd ..
}

# options_of_help PROGRAM [COMMAND [VERB...]]: every option that --help lists, of the command and of its verbs.
options_of_help()
{
    local program=$1 command=${2:-} verb
    {
        "$program" ${command:+"$command"} --help
        for verb in "${@:3}"; do
            "$program" "$command" "$verb" --help
        done
    } | sed '/^Examples:/,/^$/d' | grep -oE -e '(^|[^[:alnum:]-])--[a-z][a-z0-9-]*' | grep -oE -e '--[a-z0-9-]+' | sort -u
}

# check_options PAGE PROGRAM [COMMAND [VERB...]]
check_options()
{
    local page=$root/docs/$1.1.md difference
    [ -e "$page" ] || { fail "$1: there is no such page"; return; }
    # An entry is a line that begins with the option; its text is in the next line, after a colon.
    awk '/^:   / { print term } { term = $0 }' "$page" | grep '^\*\*-' | sed 's/\\\[.*//' |
        grep -oE -e '\*\*--[a-z][a-z0-9-]*' | tr -d '*' | sort -u >entries
    options_of_help "${@:2}" >options
    difference=$(comm -3 --output-delimiter='> ' entries options)
    [ -z "$difference" ] || fail "$1: options of the page only, and (>) of --help only: $difference"
}

# check_statuses PAGE PROGRAM [COMMAND [VERB...]]: the page explains every exit status that --help lists, and no other.
check_statuses()
{
    local page=$root/docs/$1.1.md program=$2 command=${3:-} verb difference
    awk '/^# / { inside = $0 == "# EXIT STATUS" } inside && /^[0-9]$/' "$page" | sort -u >entries
    {
        "$program" ${command:+"$command"} --help
        for verb in "${@:4}"; do
            "$program" "$command" "$verb" --help
        done
    } | sed -n '/^Exit status:$/,/^$/s/^  \([0-9]\)  .*/\1/p' | sort -u >statuses
    difference=$(comm -3 --output-delimiter='> ' entries statuses)
    [ -z "$difference" ] || fail "$1: exit statuses of the page only, and (>) of --help only: $difference"
}

# check_page PAGE PROGRAM [COMMAND [VERB...]]
check_page()
{
    check_options "$@"
    check_statuses "$@"
}

# check_columns FILE: lines of at most 100 columns, except in tables and C code.
check_columns()
{
    local number=0 line fence=
    while IFS= read -r line; do
        number=$((number + 1))
        [[ $line != '```'* ]] || fence=$line
        [ ${#line} -le 100 ] || [[ $line == '|'* || $fence == '```c' ]] || fail "${1#"$root"/}:$number: over 100 columns"
    done <"$1"
}

run_examples "$root/README.md"
left=$(cd README/tree && find . -path ./samples -prune -o -type f -print)
[ -z "$left" ] || fail "README.md: its examples leave files behind: $left"
for page in "$root"/docs/*.1.md; do
    [ "$(basename "$page")" = twinsift-lab.1.md ] && [ -z "${TWINSIFT_LAB:-}" ] || run_examples "$page"
done

awk '/^```/ { inside = $0 == "```c"; next } inside && NF' "$root/README.md" >code
strange=$(grep -vxFf "$root/examples/pairs.c" code || true)
[ -s code ] && [ -z "$strange" ] || fail "README.md: its C code is not in examples/pairs.c: $strange"

check_page twinsift-pairs twinsift pairs
check_page twinsift-index twinsift index create add remove query pairs info check export compact
for step in sign band join filter dedup show; do
    check_page twinsift-$step twinsift $step
done
check_page twinsift-bloom twinsift bloom create add has count remove merge info
check_page twinsift-mail twinsift mail learn check correct forget info compact export import eval milter
check_page twinsift-plan twinsift plan
check_page twinsift-serve twinsift serve
[ -z "${TWINSIFT_LAB:-}" ] || check_page twinsift-lab twinsift-lab

for page in "$root"/{README,CHANGELOG,bench/README,docs/architecture}.md "$root"/docs/*.1.md; do
    check_columns "$page"
done

echo "$run examples, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# The examples of README.md and the manual page: each fenced block "console" is run as it stands, and must print what
# it shows. A line "$ COMMAND" is a command, what follows up to the next one its output, standard error included; a
# line "..." stands for any number of lines. The README's C code must stand in examples/pairs.c, line by line.
set -euo pipefail

mkdir bin
ln -s "$TWINSIFT" bin/twinsift
PATH=$PWD/bin:$PATH
cp -r "$TWINSIFT_ROOT/samples" .
failed=0
run=0

# blocks PAGE: its commands as number.command and what they shall print as number.expected.
blocks()
{
    awk -v page="$(basename "$1")" '
        /^```/ { inside = $0 == "```console"; next }
        !inside { next }
        /^\$ / {
            name = sprintf("%s.%03d", page, ++count)
            print substr($0, 3) >(name ".command")
            printf "" >(name ".expected")
            next
        }
        { print >(name ".expected") }' "$1"
}

# matches EXPECTED ACTUAL: line by line, "..." for any lines.
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

for page in "$TWINSIFT_ROOT/README.md" "$TWINSIFT_ROOT/docs/twinsift.1.md"; do
    blocks "$page"
    ls "$(basename "$page")".*.command >/dev/null # a page without examples is a page that was not understood
done
for command in *.command; do
    name=${command%.command}
    run=$((run + 1))
    bash "$command" >"$name.actual" 2>&1 </dev/null || true
    if ! matches "$name.expected" "$name.actual"; then
        failed=$((failed + 1))
        echo "FAILED $name: $(cat "$command")"
        diff "$name.expected" "$name.actual" || true
    fi
done
awk '/^```/ { inside = $0 == "```c"; next } inside && NF' "$TWINSIFT_ROOT/README.md" >code
strange=$(grep -vxFf "$TWINSIFT_ROOT/examples/pairs.c" code || true)
if [ ! -s code ] || [ -n "$strange" ]; then
    failed=$((failed + 1))
    echo "FAILED README.md: its C code is not in examples/pairs.c: $strange"
fi
echo "$run examples, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Shows the near-duplicates in samples/, how they are found, and the recall. For terminals of 80 columns or more.
set -euo pipefail
cd "$(dirname "$0")/.."

program=build/release/twinsift
articles=samples/articles
if [ ! -x "$program" ]; then
    echo "demo: $program does not exist yet; 'make demo' builds it" >&2
    exit 2
fi

bold='' dim='' plain='' block='#'
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'
fi
if [ "$(locale charmap 2>/dev/null)" = UTF-8 ]; then
    block='█'
fi

title() # TEXT
{
    printf '\n%s%s%s\n\n' "$bold" "$1" "$plain"
}

shown() # ARGUMENT...: the command as a reader would type it
{
    printf '%s  $ twinsift %s%s\n\n' "$dim" "$*" "$plain"
}

# show_pairs: pairs as a table. samples/changes.tsv lists what each copy was made from, and how.
show_pairs()
{
    awk -F '\t' -v dim="$dim" -v plain="$plain" '
        NR == FNR { origin[$1] = $2; change[$1] = $3; next }
        { a = $1; b = $2; why = "both of one original" }
        origin[b] == a { why = change[b] }
        origin[a] == b { why = change[a] }
        origin[a] != "" && origin[a] == origin[b] && change[a] == change[b] { why = change[a] }
        { printf "%s  %-23s %-23s %s%s%s\n", $3, a, b, dim, why, plain }' samples/changes.tsv -
}

# show_curve THRESHOLD: the curve as bars of up to 40 blocks, from lines "J<tab>P".
show_curve()
{
    awk -F '\t' -v block="$block" -v threshold="$1" '
        $1 !~ /^[01]\.[0-9]+$/ || $1 < 0.2 { next }
        {
            bar = ""
            for (i = 0; i < int($2 * 40 + 0.5); i++)
                bar = bar block
            printf "  %s  %s  %s%s\n", $1, $2, bar, ($1 == threshold ? " <- the threshold" : "")
        }'
}

count=$(find "$articles" -type f | wc -l)
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT

title "1. Which of these $count short articles are near-duplicates?"
shown pairs $articles
"$program" pairs --stats --audit "$count" "$articles" 2>"$notes" | show_pairs
cat <<'END'

1.0000 means equal texts, apart from case, white space and Unicode forms. Below
that, it is the exact Jaccard similarity of their sets of 9-character shingles.
Correctly not listed: two notices that share only a footer (notices/), a
paraphrase (wire/library.txt) and a translation (wire/fog-horn.txt).
END

title "2. Which text is part of another? Containment of the smaller in the larger"
shown "pairs --measure containment $articles | grep teaser"
"$program" pairs --measure containment "$articles" | grep teaser |
    awk -F '\t' '{ printf "%s  %-24s %s\n", $3, $1, $2 }'

title "3. How pairs are found: the probability of becoming a candidate pair"
shown plan --threshold 0.8 --hashes 128 --curve
"$program" plan --threshold 0.8 --hashes 128 --curve | show_curve 0.80
cat <<'END'

Only candidate pairs are compared, so that most of the possible pairs take no
time. Each is compared exactly, so that a false candidate is never reported.
END

title "4. What each stage did"
shown pairs --stats $articles
grep -v '^audit:' "$notes" | sed 's/^/  /'

title "5. Was any pair missed? Every article is compared with every other"
shown pairs --audit "$count" $articles
grep '^audit:' "$notes" | sed 's/^/  /'

title "6. The same collection without its near-duplicates"
shown dedup --dry-run $articles
"$program" dedup --dry-run "$articles" 2>&1 | sed -n 's/^/  /; 1,/^  groups/p'

title "7. Is this message spam? A filter that was shown fourteen of each"
model=$(mktemp -d)
trap 'rm -rf "$notes" "$model"' EXIT
if "$program" mail learn -m "$model/m.twin" --as ham samples/mail/ham >/dev/null 2>&1; then
    "$program" mail learn -m "$model/m.twin" --as spam samples/mail/spam >/dev/null 2>&1
    shown mail check --explain samples/mail/new.eml
    "$program" mail check -m "$model/m.twin" --explain samples/mail/new.eml | sed 's/^/  /' || true
else
    echo "  (this build has no mail)"
fi

title "Where to go next"
cat <<END
  $program pairs FOLDER   your own texts, or a .jsonl file
  $program pairs --help   all options
  README.md                             examples, promises, limits
  make test                             the tests
  make install PREFIX=\$HOME/.local      the program, the library, the manual

All this in a browser, on these samples:

  $program serve --demo
END

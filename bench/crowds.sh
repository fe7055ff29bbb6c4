#!/usr/bin/env bash
# Times twinsift pairs on documents that share a template: eight families at 5, 10, 20 and 40 thousand documents; on such
# that are less alike, two families at 20 to 160 thousand; dedup --chain on near-copies; and texts of the same phrases.
# Prints a table and writes it to build/bench/crowds.tsv; bench/README.md describes it.
#
#     BENCH_QUICK=1     an eighth of the documents
#     BENCH_THRESHOLDS  instead of 0.8, such as "0.3 0.5 0.65 0.8 0.95"; template groups are what they are at 0.8
#     BENCH_SCRATCH=DIR the folder for the corpora (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=bench/timing.bash
. bench/timing.bash
table=build/bench/crowds.tsv
runs=2 threads=2 counts=(5000 10000 20000 40000) many=(20000 40000 80000 160000)
if [ -n "${BENCH_QUICK-}" ]; then
    counts=(625 1250 2500 5000) many=(2500 5000 10000 20000)
fi
largest=${counts[3]}

need_room 500
corpus=$scratch/crowd.jsonl
trap 'rm -f "$corpus" "$noise" "$clock"' EXIT

# write_family NAME DOCUMENTS: writes $corpus. Letters come in random groups of six, so that windows of nine repeat by
# chance only.
write_family()
{
    awk -v family="$1" -v count="$2" '
        function letters(n,    text) {
            while (length(text) < n) text = text pool[int(rand() * 65536)]
            return substr(text, 1, n)
        }
        function form(    text, i, changed) {
            split("", changed)
            for (i = 0; i < 9; i++) changed[int(rand() * 60)] = 1
            for (i = 0; i < 60; i++) text = text " " ((i in changed) ? word[int(rand() * 1000)] : word[1000 + i])
            return text
        }
        BEGIN {
            srand(1)
            alphabet = "abcdefghijklmnopqrstuvwxyz "
            for (i = 0; i < 65536; i++) {
                group = ""
                for (k = 0; k < 6; k++) group = group substr(alphabet, 1 + int(rand() * 27), 1)
                pool[i] = group
            }
            for (i = 0; i < 200; i++) phrase[i] = letters(48)
            for (i = 0; i < 1060; i++) word[i] = substr(letters(9), 1, 3 + int(rand() * 7))
            shared["template at 0.75"] = 1714; shared["template at 0.60"] = 1500; shared["template at 0.50"] = 1333
            shared["ten templates at 0.75"] = 1714; shared["template above the threshold"] = 1900
            shared["near-copies, dedup --chain"] = 1990; shared["half shared"] = 1000
            has_template = family in shared # before shared[family] is read, which would create it
            for (i = 0; i < 10 && has_template; i++) template[i] = letters(shared[family])
            templates = family ~ /^ten/ ? 10 : 1
            for (i = 0; i < count; i++) {
                if (has_template)
                    text = template[int(rand() * templates)] letters(2000 - shared[family])
                else if (family == "forms")
                    text = form()
                else if (family == "one forged bucket") # agrees in the first band with the default seed
                    text = letters(2000) " ecctvclojvhxxaaiwuqtgeqgyjtkmmouipnlxqoyfkvus"
                else if (family == "phrases by containment") {
                    text = ""
                    for (k = 0; k < 10; k++) text = text phrase[int(rand() * 200)] ". "
                } else if (family == "tiny")
                    text = letters(1 + int(rand() * 12))
                else if (family == "letters a and b") {
                    text = ""
                    while (length(text) < 200) text = text substr("ab", 1 + int(rand() * 2), 1)
                } else if (family == "unrelated")
                    text = letters(2000)
                else
                    exit 1
                printf "{\"id\":%d,\"text\":\"%s\"}\n", i, text
            }
        }' > "$corpus"
    cat "$corpus" > /dev/null
}

# time_family NAME DOCUMENTS
time_family()
{
    local command=(pairs --json --threshold "$threshold")
    case $1 in
        *"dedup --chain") command=(dedup --chain --threshold "$threshold") ;;
        *"by containment") command+=(--measure containment) ;;
    esac
    write_family "$1" "$2"
    for ((run = 0; run < runs; run++)); do
        timed "$program" "${command[@]}" --quiet --stats --threads "$threads" "$corpus"
        keep_best "$1.$2"
    done
    peak=$(sed -nE 's/.*"peak_bytes":([0-9]+).*/\1/p' "$noise")
    report "$1, $2 documents" "${best[$1.$2.wall]}" s
    report "$1, $2 documents: CPU time" "${best[$1.$2.cpu]}" s
    report "$1, $2 documents: peak memory" "$(calc "$peak / 1e6")" MB
}

# time_growth NAME BOUND: all sizes, and how the CPU time grows with each doubling, and per doubling from the first size to
# the last, which has the bound: where the search goes over to another way, one step is larger and the next smaller. Below
# 0.03 seconds it is the program that is measured.
time_growth()
{
    local first="" before="" doublings=0 count
    for count in "${counts[@]}"; do
        time_family "$1" "$count"
        less 0.03 "${best[$1.$count.cpu]}" || continue
        if [ -n "$before" ]; then
            doublings=$((doublings + 1))
            report "$1, $before to $count: x2 documents, x CPU time" \
                "$(calc "${best[$1.$count.cpu]} / ${best[$1.$before.cpu]}")" ""
        fi
        first=${first:-$count} before=$count
    done
    [ "$doublings" = 0 ] ||
        report "$1, $first to $before: x CPU time per doubling" \
            "$(calc "(${best[$1.$before.cpu]} / ${best[$1.$first.cpu]}) ^ (1 / $doublings)")" "" ${2:+"$2"}
}

# time_groups: all of them at $threshold.
time_groups()
{
    time_growth "unrelated" 2.5
    for family in "template at 0.75" "template at 0.60" "template at 0.50" "ten templates at 0.75" "forms" \
        "one forged bucket" "tiny"; do
        time_growth "$family" 2.5
    done
    time_growth "near-copies, dedup --chain" 2.5
    # Each phrase is in a twentieth of the documents: quadratic until the work for each is bounded.
    time_growth "phrases by containment" ""
    counts=("${many[@]}")
    time_growth "half shared" 2.5
    time_growth "letters a and b" 2.5
    report "$largest documents: template at 0.75 / unrelated, CPU time" \
        "$(calc "${best[template at 0.75.$largest.cpu]} / ${best[unrelated.$largest.cpu]}")" "" 10

    # All pairs are similar: the output is quadratic, and so is the time.
    counts=(500 1000 2000)
    time_growth "template above the threshold" ""
}

begin_table "best of $runs"
few=("${counts[@]}")
for threshold in ${BENCH_THRESHOLDS:-0.8}; do
    counts=("${few[@]}")
    best=() all=()
    [ -z "${BENCH_THRESHOLDS-}" ] || report "threshold" "$threshold" ""
    time_groups
done
end_table

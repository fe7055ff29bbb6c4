#!/usr/bin/env bash
# --multiset and --weights against a naive program: the sum of the lesser counts by that of the greater ones, for each
# pair; in pairs, dedup, indexes, and for documents that are otherwise read piece by piece.
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"

# naive THRESHOLD ROWS: rows are SET, ELEMENT and COUNT; repeated rows add up. Sets come in the order of the input.
naive() {
    awk -F '\t' -v threshold="$1" '
        { if (!(($1) in known)) { known[$1] = 1; names[++sets] = $1 } count[$1, $2] += $3; items[$2] = 1 }
        END {
            for (a = 1; a <= sets; a++)
                for (b = a + 1; b <= sets; b++) {
                    least = most = 0
                    for (item in items) {
                        x = count[names[a], item] + 0; y = count[names[b], item] + 0
                        least += x < y ? x : y; most += x < y ? y : x
                    }
                    if (most && least / most >= threshold)
                        printf "%s\t%s\t%.4f\n", names[a], names[b], least / most
                }
        }' "$2"
}

# ---- the example of the lecture: {ab, bc, ca, ab}

printf '{"id":1,"text":"abcab"}\n{"id":2,"text":"abca"}\n' >abcab.jsonl
run 0 pairs --shingle char:2 --threshold 0.5 --multiset abcab.jsonl
prints $'1\t2\t0.7500'
run 0 pairs --shingle char:2 --threshold 0.5 abcab.jsonl
prints $'1\t2\t1.0000'

# ---- weights, and rows that repeat: the same multiset

awk 'BEGIN { srand(7)
    for (set = 1; set <= 60; set++)
        for (item = 1; item <= 30; item++)
            if (rand() < 0.7)
                printf "s%d\te%d\t%d\n", set, item, set % 3 ? 1 + int(3 * rand()) : 1 + item % 5
}' >rows.tsv
awk -F '\t' '{ for (i = 0; i < $3; i++) print $1 "\t" $2 }' rows.tsv >repeated.tsv
naive 0.5 rows.tsv >truth.tsv
[ "$(wc -l <truth.tsv)" -gt 100 ] || fail "the truth has only $(wc -l <truth.tsv) pairs"
run 0 pairs --sets --weights --threshold 0.5 --hashes 512 --rows 2 rows.tsv
cmp -s out truth.tsv || fail "$asked: $(diff out truth.tsv | head -5)"
run 0 pairs --sets --multiset --threshold 0.5 --hashes 512 --rows 2 repeated.tsv
cmp -s out truth.tsv || fail "$asked: $(diff out truth.tsv | head -5)"
tr '\t' , <rows.tsv >rows.csv
run 0 pairs --sets=, --weights --threshold 0.5 --hashes 512 --rows 2 rows.csv
cmp -s out truth.tsv || fail "$asked: $(diff out truth.tsv | head -5)"
run 0 pairs --sets --threshold 0.5 --hashes 512 --rows 2 rows.tsv # the third column is ignored
cmp -s out truth.tsv && fail "$asked: is the truth about multisets"

# ---- words of texts, in all ways of comparing

awk 'BEGIN { srand(3)
    for (id = 1; id <= 80; id++) {
        text = ""
        for (i = 0; i < 40; i++) text = text " w" int(12 * rand() * rand())
        printf "{\"id\":\"d%d\",\"text\":\"%s\"}\n", id, substr(text, 2)
    }
}' >texts.jsonl
sed 's/.*"id":"\(d[0-9]*\)","text":"\(.*\)"}/\1 \2/' texts.jsonl |
    awk '{ for (i = 2; i <= NF; i++) print $1 "\t" $i "\t1" }' >words.tsv
naive 0.6 words.tsv >truth.tsv
[ "$(wc -l <truth.tsv)" -gt 100 ] || fail "the truth has only $(wc -l <truth.tsv) pairs"
for options in "" "--threads 1"; do
    run 0 pairs --multiset --shingle word:1 --threshold 0.6 --hashes 512 --rows 2 --copies all $options texts.jsonl
    cmp -s out truth.tsv || fail "$asked: $(diff out truth.tsv | head -5)"
done
run 0 pairs --multiset --measure containment --shingle word:1 --threshold 0.75 texts.jsonl
# Of 40 words each, the share s of the lesser is the similarity s / (2 - s): 0.75 is 0.6.
awk -F '\t' '{ printf "%s\t%s\t%.4f\n", $1, $2, $3 / (2 - $3) }' out | cmp -s - truth.tsv ||
    fail "$asked: $(awk -F '\t' '{ printf "%s\t%s\t%.4f\n", $1, $2, $3 / (2 - $3) }' out | diff - truth.tsv | head -5)"
run 0 dedup --multiset --shingle word:1 --threshold 0.6 --hashes 512 --rows 2 --quiet -o kept.jsonl texts.jsonl
# Each is kept unless it is similar to a kept one before it.
awk -F '\t' 'FNR == NR { similar[$2] = similar[$2] " " $1; next }
    !($1 in seen) { seen[$1] = 1; n = split(similar[$1], near, " "); drop = 0
        for (i = 1; i <= n; i++) if (near[i] in kept) drop = 1
        if (!drop) { kept[$1] = 1; print $1 } }' truth.tsv words.tsv >kept.ids
sed 's/.*"id":"\(d[0-9]*\)".*/\1/' kept.jsonl | cmp -s - kept.ids || fail "$asked: kept others than a naive program"

# ---- indexes know it: of texts, of sets, with what is kept

for keep in sets text; do
    run 0 index create --multiset --shingle word:1 --threshold 0.6 --hashes 512 --rows 2 --keep "$keep" --force texts.twin
    run 0 index add --quiet texts.twin texts.jsonl
    run 0 index pairs texts.twin
    LC_ALL=C sort out >sorted
    LC_ALL=C sort truth.tsv | cmp -s sorted - || fail "$asked ($keep): $(LC_ALL=C sort truth.tsv | diff sorted - | head -5)"
    run 0 index info texts.twin
    grep -q 'each occurrence counts' out || fail "$asked: does not say that it is of multisets"
done
run 0 index create --multiset --sets --threshold 0.5 --hashes 512 --rows 2 --force rows.twin
run 0 index add --weights --quiet rows.twin rows.tsv
run 0 index pairs rows.twin
naive 0.5 rows.tsv | LC_ALL=C sort >sorted
LC_ALL=C sort out | cmp -s - sorted || fail "$asked: $(LC_ALL=C sort out | diff - sorted | head -5)"
run 0 index create --sets --threshold 0.5 --force plain.twin
wrong '--weights contradicts what was stored' index add --weights plain.twin rows.tsv
wrong '--multiset contradicts what was stored' index add --multiset plain.twin rows.tsv

# ---- a text of more than 1 MiB is otherwise read piece by piece

awk 'BEGIN { for (id = 1; id <= 2; id++) {
        printf "{\"id\":%d,\"text\":\"", id
        for (i = 0; i < 200000; i++) printf "w%d ", i % (id == 1 ? 1000 : 2000)
        print "\"}"
    } }' >long.jsonl
run 0 pairs --multiset --shingle word:1 --threshold 0.3 long.jsonl # 1000 words at 200 and 2000 at 100
prints $'1\t2\t0.3333'

# ---- what is wrong

printf 'a\tx\t1\na\ty\nb\tx\t-1\nb\ty\t1.5\nb\tz\t1000001\nc\tx\t0\nd\tx\t2\ttime\n' >bad.tsv
run 0 pairs --sets --weights --threshold 0.1 bad.tsv
prints $'a\td\t0.5000'
says 'bad.tsv:2:4: no weight in the row'
says 'bad.tsv:3:5: the weight is not an integer from 0 to 1000000'
says 'bad.tsv:4:5: the weight is not an integer'
says 'bad.tsv:5:5: the weight is not an integer'
wrong '--weights is for --sets' pairs --weights texts.jsonl
wrong 'so --multiset does not apply' pairs --measure edit --multiset texts.jsonl

# ---- show follows occurrences

printf 'abcab' >a.txt
printf 'abca' >b.txt
run 0 show --method --multiset --shingle char:2 --json a.txt b.txt
grep -q '"size_a":4,"size_b":3,"common":3' out || fail "$asked: printed $(cat out)"
run 0 show --method --multiset --shingle char:2 a.txt b.txt
[ "$(grep -c '^  = [0-9a-f]\{16\}' out)" = 6 ] || fail "$asked: printed $(cat out)"

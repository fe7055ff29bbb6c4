#!/usr/bin/env bash
# twinsift contamination: items of benchmarks in training data, against a slow count of shingles; outputs and errors.
: "${TWINSIFT_ROOT:?the source tree}"
program=("${TWINSIFT:?the program to test}" contamination) named='twinsift contamination'
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"

# Documents of random words; items are parts of some of them, with every so many words changed, or none of them.
awk -v documents="${TWINSIFT_QUICK:+60}" 'BEGIN { srand(5); documents = documents ? documents : 150
    for (d = 0; d < documents; d++) { n = 20 + int(120 * rand()); text[d] = ""
        for (w = 0; w < n; w++) text[d] = text[d] (w ? " " : "") "w" int(900 * rand())
        printf "{\"id\":\"d%d\",\"text\":\"%s\"}\n", d, text[d] >"train.jsonl" }
    for (i = 0; i < documents; i++) { split(text[int(documents * rand())], word, " "); item = ""; change = 3 + int(12 * rand())
        for (w = 1; w in word && w < 30; w++) item = item (w > 1 ? " " : "") (w % change == 0 || i % 5 == 0 ? "x" int(900 * rand()) : word[w])
        delete word
        if (i % 11 == 0) item = "yes"
        printf "{\"id\":\"q%d\",\"split\":\"%s\",\"text\":\"%s\"}\n", i, i % 3 ? "test" : "dev", item >"eval.jsonl" } }'

# The truth: sets of nine characters, all items with all documents.
truth() {
    awk -v threshold="$1" -F '"' '
        function shingles(text, set,    i, n) { delete set; n = 0
            for (i = 1; i + 8 <= length(text); i++) if (!(substr(text, i, 9) in set)) { set[substr(text, i, 9)]; n++ }
            return n }
        BEGIN { documents = 0 }
        FILENAME == ARGV[1] { id[documents] = $4; text[documents++] = $8; next }
        { n = shingles($12, item); if (n < 20) next
          best = count = 0
          for (d = 0; d < documents; d++) { shingles(text[d], set); common = 0
              for (s in item) common += s in set
              if (common / n >= threshold) { count++; if (common / n > best) { best = common / n; where = id[d] } } }
          if (count) printf "eval.jsonl\t%s\t%s\t%s\t%.4f\t%d\n", $8, $4, where, best, count }' train.jsonl eval.jsonl
}
for threshold in 0.5 0.8; do
    truth $threshold >expected
    [ "$(wc -l <expected)" -ge 10 ] || fail "only $(wc -l <expected) items to find"
    run 0 -q --threshold $threshold --split-field split train.jsonl --against eval.jsonl
    cut -f 1-6 out | diff - expected >differences || fail "$asked: $(head -5 differences)"
done

# ---- counts, places, what is left

run 0 --split-field split train.jsonl --against eval.jsonl
awk -F '\t' '{ count[$2]++ } END { for (s in count) print count[s], s }' out | sort >leaked
awk '$NF ~ /test|dev/ && $1 ~ /^[0-9]+$/ { print $3, $NF }' err | sort | diff - leaked >/dev/null || fail "$asked: $(cat err)"
while IFS=$'\t' read -r _ _ _ document _ _ position excerpt; do
    there=$(grep -F "\"id\":\"$document\"," train.jsonl | sed 's/.*"text":"\(.*\)"}/\1/' | cut -c "$position-" | cut -c 1-100)
    [ "${there:0:${#excerpt}}" = "$excerpt" ] || fail "$document:$position is not \"$excerpt\""
done <out
SOURCE_DATE_EPOCH=86400 run 0 -q train.jsonl --against eval.jsonl -o clean.jsonl --report page.html
grep -q '1970-01-02 00:00 UTC' page.html || fail 'the page has no date'
truth 0.5 | cut -f 3 >items
"$TWINSIFT" contamination -q clean.jsonl --against eval.jsonl >again
[ ! -s again ] || fail "what is left has $(head -1 again)"
grep -vxFf clean.jsonl train.jsonl >dropped
[ -s dropped ] && [ $(($(wc -l <clean.jsonl) + $(wc -l <dropped))) = "$(wc -l <train.jsonl)" ] || fail 'records were changed'
grep -q '<mark>w' page.html && grep -q 'training documents contain an item' page.html || fail 'the page shows no match'
run 0 --json train.jsonl --against eval.jsonl
grep -q '^{"file":"eval.jsonl","item":"q[0-9]*","document":"d' out || fail "$asked: $(head -1 out)"
says '{"benchmark":{"file":"eval.jsonl","items":'
cp out one && run 0 --json --threads 3 train.jsonl --against eval.jsonl && cmp -s out one || fail 'threads change the answer'

# Each split is counted once, however many there are; one without a name, and one with a NUL byte, are splits too.
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "{\"id\":%d,\"split\":\"part %d\",\"text\":\"one\"}\n", i, i * 7 % 1000
    for (i = 0; i < 3; i++) print "{\"text\":\"one\"}\n{\"split\":\"nul\\u0000\",\"text\":\"one\"}" }' >many.jsonl
run 0 -q --json --split-field split train.jsonl --against many.jsonl
[ "$(grep -c '"items":3,' err)" = 1002 ] && [ "$(wc -l <err)" = 1002 ] || fail "$asked: $(wc -l <err) splits, $(head -2 err)"

# ---- errors

wrong 'no benchmark' train.jsonl
wrong 'texts' --sets train.jsonl --against eval.jsonl
wrong 'only one of the two' - --against - </dev/null
wrong 'missing.jsonl' train.jsonl --against missing.jsonl
wrong 'train.jsonl' train.jsonl --against eval.jsonl -o train.jsonl
"$TWINSIFT" contamination train.jsonl --against eval.jsonl >>eval.jsonl 2>err
[ $? = 2 ] && grep -q 'eval.jsonl: is read' err || fail ">> to what it is compared with: $(cat err)"
wrong 'same file' train.jsonl --against eval.jsonl -o x --report x
run 0 --help

#!/usr/bin/env bash
# Whole commands with random inputs and options, every limit at its smallest, odd and largest values: nothing crashes,
# printed pairs are true, an index holds what was put in, and the same bytes come out on any number of threads.
#
# A few rounds in the suite. By hand, for hours, with the variables that CTest sets (ctest -V -R cli_random shows them):
#     RANDOM_ROUNDS=100000 RANDOM_SEED=7 bash tests/cli/random.sh
# A round that fails names its seed; RANDOM_ROUNDS=1 RANDOM_SEED=that repeats it, and leaves its files in this folder.
set -euo pipefail

rounds=${RANDOM_ROUNDS:-8} first=${RANDOM_SEED:-1}
if [ -n "${TWINSIFT_QUICK-}" ] && [ -z "${RANDOM_ROUNDS-}" ]; then
    rounds=3
fi

fail()
{
    echo "random: seed $seed: $1" >&2
    exit 1
}

# pick WORD...: one of them. RANDOM has a fixed sequence for each seed.
pick()
{
    local i=$((RANDOM % $#))
    shift "$i"
    picked=$1
}

# run STATUSES COMMAND...: the program, which must end with one of the statuses; output in out.txt, messages in err.txt.
run()
{
    local wanted=$1 status=0
    shift
    "$TWINSIFT" "$@" > out.txt 2> err.txt || status=$?
    [[ " $wanted " == *" $status "* ]] || fail "status $status, not $wanted: twinsift $*: $(tail -n 3 err.txt)"
    ! grep -q 'Sanitizer\|runtime error' err.txt || fail "twinsift $*: $(grep -m1 'Sanitizer\|runtime error' err.txt)"
    [ "$status" != 2 ] || [ -s err.txt ] || [ "$1 $2" = "mail check" ] || fail "status 2 without a word: twinsift $*"
}

# ---- inputs: lines as exact_pairs reads them

# A handful of words, so that texts share much; every second text is an earlier one with a few words changed.
documents() # COUNT LEAST-WORDS MOST-WORDS VOCABULARY
{
    awk -v count="$1" -v least="$2" -v most="$3" -v vocabulary="$4" -v seed="$RANDOM" 'BEGIN {
        srand(seed)
        for (i = 0; i < count; i++) {
            words = least + int(rand() * (most - least + 1)); text = ""
            from = i > 0 && rand() < 0.5 ? int(rand() * i) : -1
            n = from >= 0 ? split(old[from], kept, " ") : words
            for (j = 1; j <= n; j++)
                text = text (j > 1 ? " " : "") (from >= 0 && rand() < 0.97 ? kept[j] : "w" int(rand() * vocabulary))
            old[i] = text
            printf "{\"id\": \"d%d\", \"text\": \"%s\"}\n", i, text
        }
    }'
}

ids_of() # FILE
{
    sed 's/^{"id": "\([^"]*\)".*/\1/' "$1"
}

make_corpus()
{
    pick tiny tiny long mixed mixed equal empty
    kind=$picked
    case $kind in
    tiny) documents $((1 + RANDOM % 1500)) 0 2 100 ;;
    long) documents $((1 + RANDOM % 4)) 20000 40000 5000 ;;
    mixed) documents $((2 + RANDOM % 120)) 5 80 50 ;;
    equal) documents 1 30 30 50 | awk '{ for (i = 0; i < 300; i++) { line = $0; sub(/d0/, "d" i, line); print line } }' ;;
    empty) ;;
    esac > corpus.jsonl
    count=$(wc -l < corpus.jsonl)
}

# ---- options

draw_options()
{
    pick char char word
    rule=$picked
    pick 1 2 3 9 40
    width=$picked
    pick 1 2 127 128 128 128 1000
    hashes=$picked
    pick 0.3 0.5 0.8 0.8 1
    threshold=$picked
    pick fast classic
    sketch=$picked
    pick xxh3 jenkins sip
    hash=$picked
    options=(--shingle "$rule:$width" --hashes "$hashes" --threshold "$threshold" --sketch "$sketch" --hash "$hash"
        --seed "$RANDOM")
}

draw_workers()
{
    pick 1 2 3 7 64
    workers=(--threads "$picked")
    pick serial pthreads pthreads
    workers+=(--executor "$picked")
}

# ---- what must be true

# The pairs of standard input, the document that comes first in the corpus first, sorted.
in_order()
{
    awk -F '\t' -v OFS='\t' '{ if (substr($1, 2) + 0 > substr($2, 2) + 0) { t = $1; $1 = $2; $2 = t } print }' |
        LC_ALL=C sort
}

# none_wrong FILE WHAT: holds only pairs that comparing everything finds.
none_wrong()
{
    in_order < "$1" > found.sorted
    wrong=$(LC_ALL=C comm -13 true.sorted found.sorted | head -n 1)
    [ -z "$wrong" ] || fail "$2: printed but not true: $wrong"
}

# true_pairs FILE: the same, and how many are missing is counted.
true_pairs()
{
    none_wrong "$1" pairs
    if [ "$hashes" -ge 128 ]; then
        expected=$((expected + $(wc -l < true.sorted)))
        missed=$((missed + $(LC_ALL=C comm -23 true.sorted found.sorted | wc -l)))
    fi
}

try_pairs()
{
    draw_workers
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --copies all corpus.jsonl
    mv out.txt pairs.txt
    true_pairs pairs.txt
    draw_workers
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --copies all - < corpus.jsonl
    cmp -s out.txt pairs.txt || fail "another answer with ${workers[*]}"
    pick jaccard containment
    pick "--measure $picked" "--verify estimate" "--verify none" "--method forest --top 1" "--audit 3" "--stats" "--json"
    read -ra extra <<< "$picked"
    run 0 pairs --quiet "${options[@]}" "${extra[@]}" corpus.jsonl
    pick 0 1 2 4 30
    [ "$kind" = long ] || run 0 pairs --quiet --measure edit --max-edits "$picked" --threads 2 corpus.jsonl
}

# The ids of the index are those of FILE, one a line.
holds_ids()
{
    run 0 index export i.twin
    sed 's/^{"id":"\([^"]*\)".*/\1/' out.txt | LC_ALL=C sort > ids.found
    LC_ALL=C sort "$1" | cmp -s - ids.found || fail "the index does not hold the ids of $1"
}

try_index()
{
    pick sets text none
    keep=$picked
    run 0 index create i.twin --force --keep "$keep" "${options[@]}"
    pick 1 2 3 16 17 999 20000
    local batch=$picked
    [ "$count" -lt 300 ] || [ "$batch" -gt 15 ] || batch=16
    draw_workers
    run 0 index add --quiet --batch "$batch" "${workers[@]}" i.twin corpus.jsonl
    run 0 index check i.twin
    ids_of corpus.jsonl > ids.txt
    holds_ids ids.txt

    # Kept sets of 35 bits may be off once in a long while, so only text is held against the truth.
    run 0 index pairs --quiet i.twin
    if [ "$keep" = text ]; then
        none_wrong out.txt "index pairs"
    fi
    [ "$count" -gt 400 ] || run "0 1" index query --quiet "${workers[@]}" i.twin corpus.jsonl

    # The same again replaces everything; half of it is removed; the rest is still there and whole.
    run 0 index add --quiet i.twin corpus.jsonl
    holds_ids ids.txt
    awk 'NR % 2' ids.txt > half.txt
    awk 'NR % 2 == 0' ids.txt > rest.txt
    [ ! -s half.txt ] || run 0 index remove --quiet i.twin - < half.txt
    run 0 index check i.twin
    holds_ids rest.txt
    run 0 index compact i.twin
    run 0 index check i.twin
    holds_ids rest.txt
}

# ---- dedup: every document is kept or was dropped for a kept one that is similar to it

# The pairs of a file of groups: kept, dropped, similarity.
group_pairs()
{
    awk -F '"dropped":' '{
        kept = $1; sub(/^{"kept":"/, "", kept); sub(/".*/, "", kept)
        count = split($2, member, /{"id":"/)
        for (i = 2; i <= count; i++) {
            id = member[i]; sub(/".*/, "", id)
            similarity = member[i]; sub(/.*"similarity":/, "", similarity); sub(/}.*/, "", similarity)
            print kept "\t" id "\t" similarity
        }
    }' "$1"
}

kept_and_dropped() # KEPT-RECORDS INPUT
{
    LC_ALL=C sort "$1" > kept.sorted
    LC_ALL=C sort "$2" | LC_ALL=C comm -13 - kept.sorted > strange.txt
    [ ! -s strange.txt ] || fail "dedup wrote what was not in the input: $(head -c 200 strange.txt)"
    group_pairs groups.jsonl > dropped.txt
    { ids_of "$1"; cut -f 2 dropped.txt; } | LC_ALL=C sort > both.txt
    ids_of "$2" | LC_ALL=C sort | cmp -s - both.txt || fail "dedup: kept and dropped are not the input"
}

try_dedup()
{
    pick "--keep first" "--keep longest" "--keep shortest" "--keep id:max" "--keep text:min" "--chain"
    local how=$picked
    read -ra extra <<< "$how"
    draw_workers
    run 0 dedup --quiet "${options[@]}" "${extra[@]}" "${workers[@]}" --groups groups.jsonl corpus.jsonl -o kept.jsonl
    kept_and_dropped kept.jsonl corpus.jsonl
    [ "$how" = --chain ] || none_wrong dropped.txt "dedup $how"
    cp groups.jsonl groups1.jsonl
    draw_workers
    pick kept2.jsonl kept2.jsonl.gz kept2.jsonl.zst
    run 0 dedup --quiet "${options[@]}" "${extra[@]}" "${workers[@]}" --groups groups.jsonl -o "$picked" - < corpus.jsonl
    case $picked in
    *.gz) gzip -dc kept2.jsonl.gz > kept2.jsonl ;;
    *.zst) zstd -qdcf kept2.jsonl.zst > kept2.jsonl ;;
    esac
    cmp -s kept.jsonl kept2.jsonl || fail "dedup: another answer with ${workers[*]}"
    cmp -s groups.jsonl groups1.jsonl || fail "dedup: other groups with ${workers[*]}"
    pick 64M 64000001 1G 18446744073709551615
    run 0 dedup --quiet "${options[@]}" "${extra[@]}" --memory "$picked" corpus.jsonl -o kept2.jsonl
    cmp -s kept.jsonl kept2.jsonl || fail "dedup: another answer with --memory $picked"
    pick "--dry-run" "--stats" "--report report.html" "--audit 1" "--audit 4294967295" "--measure containment" "--fail-on-skipped"
    read -ra extra <<< "$picked"
    run 0 dedup "${options[@]}" "${extra[@]}" corpus.jsonl
}

# The halves of the corpus, one against the other, which is a collection or an index.
try_against()
{
    awk 'NR % 2' corpus.jsonl > new.jsonl
    awk 'NR % 2 == 0' corpus.jsonl > old.jsonl
    local old=old.jsonl all=(--copies all)
    pick text none-at-all
    if [ "$picked" = text ]; then
        run 0 index create old.twin --force --keep text "${options[@]}"
        run 0 index add --quiet old.twin old.jsonl
        old=old.twin all=()
    fi
    run 0 pairs --quiet "${options[@]}" ${all[@]+"${all[@]}"} new.jsonl --against "$old"
    none_wrong out.txt "--against $old"
    awk -F '\t' '(substr($1, 2) + substr($2, 2)) % 2 == 0' out.txt > inside.txt
    [ ! -s inside.txt ] || fail "--against $old: a pair within one collection: $(head -n 1 inside.txt)"
    run 0 dedup --quiet "${options[@]}" --groups groups.jsonl --against "$old" new.jsonl -o kept.jsonl
    kept_and_dropped kept.jsonl new.jsonl
    none_wrong dropped.txt "dedup --against $old"
    [ "$old" = old.jsonl ] && return
    run 0 dedup --quiet "${options[@]}" --update old.twin new.jsonl -o kept2.jsonl
    cmp -s kept.jsonl kept2.jsonl || fail "dedup --update keeps what --against does not, or the other way round"
    run 0 index check old.twin
}

# Every document of a group is similar to its representative, and none is in two groups.
try_groups()
{
    draw_workers
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --groups corpus.jsonl
    awk -F '\t' '$1 != $2' out.txt > members.txt
    none_wrong members.txt groups
    repeated=$(cut -f 2 out.txt | LC_ALL=C sort | uniq -d | head -n 1)
    [ -z "$repeated" ] || fail "groups: $repeated is in two"
}

# ---- other inputs: the same texts give the same pairs

# A table whose fields are quoted or not, with line ends for blanks and LF or CR LF at the end of records.
try_tables()
{
    pick csv tsv
    local kind=$picked
    awk -v kind="$kind" -v seed="$RANDOM" 'BEGIN { srand(seed); comma = kind == "csv" ? "," : "\t"; print "id" comma "x" comma "text" } {
        id = $2; gsub(/[",]/, "", id)
        text = $0; sub(/.*"text": "/, "", text); sub(/"}$/, "", text)
        if (kind == "csv" && rand() < 0.5) {
            if (rand() < 0.5) gsub(/ /, "\n", text)
            text = "\"" text "\""
        }
        printf "%s%s%s%s%s%s\n", id, comma, rand() < 0.5 && kind == "csv" ? "\"a \"\" b, c\"" : "", comma, text,
            rand() < 0.5 ? "\r" : ""
    }' corpus.jsonl > "corpus.$kind"
    draw_workers
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --copies all "corpus.$kind"
    cmp -s out.txt pairs.txt || fail "another answer from corpus.$kind"
}

# A file per document, in several encodings.
try_folder()
{
    rm -rf folder && mkdir folder
    local n=0 text
    while IFS= read -r text && [ $n -lt 100 ]; do
        text=${text#*\"text\": \"}
        text=${text%\"\}}
        pick plain plain mark utf-16le utf-16be crlf
        case $picked in
        plain) printf '%s' "$text" ;;
        mark) printf '\357\273\277%s' "$text" ;;
        utf-16le) printf '\377\376'; printf '%s' "$text" | iconv -f utf-8 -t utf-16le ;;
        utf-16be) printf '\376\377'; printf '%s' "$text" | iconv -f utf-8 -t utf-16be ;;
        crlf) printf '%s\r\n' "$text" ;;
        esac > "folder/d$n"
        n=$((n + 1))
    done < corpus.jsonl
    head -n 100 corpus.jsonl > head.jsonl
    run 0 pairs --quiet "${options[@]}" --copies all head.jsonl
    in_order < out.txt > head.txt
    draw_workers
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --copies all folder
    in_order < out.txt | cmp -s - head.txt || fail "another answer from a folder"
}

# Two documents, side by side and not; the similarity is that of the pair.
try_show()
{
    local a=d$((RANDOM % count)) b=d$((RANDOM % count)) similarity
    pick "" "--side-by-side" "--context 0" "--context 1" "--context 4294967295" "--width 20" "--width 10000" "-y --width 21" \
        "-y --context 2 --width 200" "--color always"
    read -ra extra <<< "$picked"
    run 0 show --shingle "$rule:$width" ${extra[@]+"${extra[@]}"} $a $b corpus.jsonl
    run 0 show --json --shingle "$rule:$width" $a $b corpus.jsonl
    similarity=$(sed 's/.*"similarity":\([0-9.]*\).*/\1/' out.txt)
    printf '%s\t%s\t\n' $a $b | in_order | cut -f 1,2 > wanted.txt
    awk -F '\t' -v OFS='\t' -v s="$similarity" 'NR == FNR { a = $1; b = $2; next }
        a != b && $1 == a && $2 == b && $3 != s { print $0, s }' wanted.txt true.sorted > wrong.txt
    [ ! -s wrong.txt ] || fail "show says another similarity than the truth: $(cat wrong.txt)"
}

# ---- mail: sample messages with lines lost, doubled and swapped, and bytes that belong nowhere

messages() # FOLDER COUNT
{
    rm -rf "$1" && mkdir "$1"
    local i sample=("$TWINSIFT_ROOT"/samples/mail/*/*.eml)
    for ((i = 0; i < $2; i++)); do
        pick "${sample[@]}"
        LC_ALL=C awk -v seed="$RANDOM" 'BEGIN { srand(seed); loss = rand() * rand() * 0.3 } {
            if (rand() < loss) next
            if (rand() < loss) print
            if (rand() < loss) { held = held $0 "\n"; next }
            if (rand() < loss) $0 = substr($0, 1, rand() * length($0)) sprintf("%c", rand() * 256) substr($0, rand() * length($0))
            print
            if (rand() < loss) { printf "%s", held; held = "" }
        }' "$picked" > "$1/$i.eml"
    done
}

try_mail()
{
    messages good $((1 + RANDOM % 6))
    messages bad $((1 + RANDOM % 6))
    messages new 3
    rm -f model.twin model.twin-lock
    pick 1 2 3 100000 4294967295
    local most=$picked
    pick "" "--keep-days 1" "--keep-days 36500"
    read -ra extra <<< "$picked"
    run "0 2" mail learn -m model.twin --as ham --keep-messages "$most" ${extra[@]+"${extra[@]}"} good
    if grep -q 'not supported' err.txt; then
        return
    fi
    run 0 mail learn -q -m model.twin --as spam bad
    pick all content sender lookalike
    run "0 1 2" mail check -m model.twin --method "$picked" new/0.eml
    run "0 1 2" mail check -m model.twin --explain new/1.eml
    run "0 1 2" mail check -m model.twin --json --explain - < new/2.eml
    run 0 mail check -m model.twin --bulk new
    run "0 1 2" mail check -m model.twin --pass < new/2.eml
    run "0 1 2" mail check -m model.twin --pass < corpus.jsonl
    run 0 mail correct -q -m model.twin --as ham new/0.eml
    run "0 1" mail forget -q -m model.twin bad/0.eml
    run 0 mail info -m model.twin
}

try_bloom()
{
    pick 1 3 10 1000 100000
    local items=$picked
    pick 0.5 0.01 0.0001 1e-12
    local rate=$picked
    pick "" "--counting 4" "--counting 8" "--counting 16"
    read -ra counting <<< "$picked"
    rm -f f.bloom
    run 0 bloom create f.bloom --items "$items" --rate "$rate" ${counting[@]+"${counting[@]}"}
    cut -c 1-60 corpus.jsonl > items.txt
    run 0 bloom add --quiet f.bloom items.txt
    run 0 bloom has f.bloom items.txt
    cmp -s out.txt items.txt || fail "a Bloom filter forgot an item"
    sed 's/$/\r/' items.txt | "$TWINSIFT" bloom has --quiet f.bloom > out.txt || fail "CR LF makes other items"

    # Two halves that are merged are the whole.
    run 0 bloom create half1.bloom --force --items "$items" --rate "$rate" ${counting[@]+"${counting[@]}"}
    run 0 bloom create half2.bloom --force --items "$items" --rate "$rate" ${counting[@]+"${counting[@]}"}
    awk 'NR % 2' items.txt | "$TWINSIFT" bloom add --quiet half1.bloom || fail "bloom add"
    awk 'NR % 2 == 0' items.txt | "$TWINSIFT" bloom add --quiet half2.bloom || fail "bloom add"
    run 0 bloom merge --force f.bloom half1.bloom half2.bloom
    run 0 bloom has f.bloom items.txt
    cmp -s out.txt items.txt || fail "a merged Bloom filter forgot an item"
    run 0 bloom count f.bloom items.txt
    cut -f 2- out.txt | cmp -s - items.txt || fail "bloom count prints other items"
    [ -z "${counting[*]-}" ] || run "0 1" bloom remove --quiet half1.bloom items.txt
    run 0 bloom info half1.bloom
}

expected=0 missed=0
for ((round = 0; round < rounds; round++)); do
    seed=$((first + round))
    echo "$seed" > seed.txt
    RANDOM=$seed
    make_corpus
    draw_options
    "$TWINSIFT_EXACT_PAIRS" corpus.jsonl "$rule" "$width" "$threshold" | LC_ALL=C sort > true.sorted
    if [ "$count" = 0 ]; then
        run 0 pairs --quiet "${options[@]}" corpus.jsonl
        run 0 dedup --quiet "${options[@]}" corpus.jsonl
    else
        try_pairs
        pick dedup dedup against groups
        "try_$picked"
        pick tables folder show mail
        "try_$picked"
    fi
    try_index
    try_bloom
done

# At the threshold itself one pair in a thousand may be missed, above it fewer. Ten times that would be a defect; the
# bound is for the sum over all rounds with a planned recall of 0.999.
[ $((100 * missed)) -le $((expected + 500)) ] || fail "$missed of $expected pairs missed"
echo "$rounds rounds from seed $first: $expected pairs expected, $missed missed"

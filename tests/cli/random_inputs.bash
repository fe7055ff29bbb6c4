# random_inputs.bash — part of random.sh: the same texts give the same pairs, whatever they are in.

# table csv|tsv: the lines of standard input as a table whose fields are quoted or not, with line ends for blanks and LF
# or CR LF at the end of records.
table()
{
    awk -v kind="$1" -v seed="$RANDOM" 'BEGIN { srand(seed); comma = kind == "csv" ? "," : "\t"; print "id" comma "x" comma "text" } {
        id = $2; gsub(/[",]/, "", id)
        text = $0; sub(/.*"text": "/, "", text); sub(/"}$/, "", text)
        if (kind == "csv" && rand() < 0.5) {
            if (rand() < 0.5) gsub(/ /, "\n", text)
            text = "\"" text "\""
        }
        printf "%s%s%s%s%s%s\n", id, comma, rand() < 0.5 && kind == "csv" ? "\"a \"\" b, c\"" : "", comma, text,
            rand() < 0.5 ? "\r" : ""
    }'
}

# packed SUFFIX: standard input compressed as a file of that suffix is, in one or in two pieces.
packed()
{
    cat > plain.txt
    local half=$(($(stat -c %s plain.txt) / 2)) i
    for ((i = 0; i < 2; i++)); do
        { [ $i = 0 ] && head -c $half plain.txt || tail -c +$((half + 1)) plain.txt; } | case $1 in
        .gz) gzip -c ;;
        .zst) zstd -qc ;;
        *) cat ;;
        esac
    done
}

# Tables and lines, compressed, from a file and from a pipe, and cut short; the same as an array.
try_tables()
{
    local kind suffix
    pick csv tsv jsonl
    kind=$picked
    pick "" .gz .zst
    suffix=$picked
    case $kind in
    jsonl) packed "$suffix" < corpus.jsonl ;;
    *) table $kind < corpus.jsonl | packed "$suffix" ;;
    esac > "again.$kind$suffix"
    draw_workers
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --copies all "again.$kind$suffix"
    cmp -s out.txt pairs.txt || fail "another answer from again.$kind$suffix"
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --copies all --as "$kind" - < "again.$kind$suffix"
    cmp -s out.txt pairs.txt || fail "another answer from again.$kind$suffix on standard input"
    { echo '['; sed '$!s/$/,/' corpus.jsonl; echo ']'; } > array.json
    run 0 pairs --quiet "${options[@]}" "${workers[@]}" --copies all - < array.json
    cmp -s out.txt pairs.txt || fail "another answer from an array"
    head -c $((1 + RANDOM % $(stat -c %s "again.$kind$suffix"))) "again.$kind$suffix" > "cut.$kind$suffix"
    run "0 2" pairs "${options[@]}" "${workers[@]}" "cut.$kind$suffix"
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


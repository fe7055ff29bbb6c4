#!/usr/bin/env bash
# Wrong options, missing files and invalid documents: message, exit status, and no output.
# Each table below is a kind of error; a row is a case.
set -uo pipefail
cases=0
failures=0

good='{"id":"g1","text":"a good document, long enough to have some shingles"}'
also='{"id":"g2","text":"a good document, long enough to have some shingles"}'
pair=$'g1\tg2\t1.0000'

# ---- the runner

fail() # CASE WHAT: says how a case failed, with all that was printed
{
    failures=$((failures + 1))
    echo "FAILED $1: $2"
    echo "  stdout: $(head -c 400 out | tr '\n' '~')"
    echo "  stderr: $(head -c 800 err | tr '\n' '~')"
}

# expect CASE STATUS OUTPUT MESSAGE COMMAND...: runs the command and looks at what came of it. OUTPUT is all of
# standard output; MESSAGE is part of standard error, or empty when that must be empty. The shell compares, since there are
# some 700 cases, each of which would start two more programs.
expect()
{
    local name=$1 status=$2 output=$3 message=$4
    shift 4
    cases=$((cases + 1))
    timeout 60 "$@" >out 2>err
    local got=$?
    if [ "$got" -ne "$status" ]; then
        fail "$name" "exit status $got, not $status"
    elif [ "$(<out)" != "$output" ]; then
        fail "$name" "standard output is not \"$output\""
    elif [ -z "$message" ] && [ -s err ]; then
        fail "$name" "standard error is not empty"
    elif [[ $(<err) != *"$message"* ]]; then
        fail "$name" "standard error does not say \"$message\""
    elif [ "$status" -eq 2 ] && [[ $'\n'$(<err) != *$'\n'twinsift* ]]; then
        fail "$name" "the message does not say who speaks"
    fi
}

# fields ROW: the columns of a row, separated by " | ", in the array `field`.
fields()
{
    local rest="$1 | "
    field=()
    while [ -n "$rest" ]; do
        field+=("${rest%% | *}")
        rest=${rest#* | }
    done
}

# ---- options: each ends at once, with status 2

refused=( # arguments | message
    " | missing command: "
    "pair | did you mean \"pairs\"?"
    "frobnicate | unknown command \"frobnicate\""
    "--frobnicate | unknown option --frobnicate before a command"
    "pairs | no input"
    "pairs '' | the name of an input is empty"
    "pairs --frobnicate . | unknown option --frobnicate; see 'twinsift pairs --help'"
    "pairs --treshold 0.5 . | did you mean --threshold?"
    "pairs --s . | --s is ambiguous: --sets, "
    "pairs -x . | unknown option -x"
    "pairs --json=yes . | --json takes no value"
    "pairs --threshold | --threshold needs a value"
    "pairs --threshold 1.5 . | --threshold: \"1.5\" is not a number from 0 to 1"
    "pairs --threshold -1 . | --threshold: \"-1\" is not"
    "pairs --threshold nan . | --threshold: \"nan\" is not"
    "pairs --threshold 0x1p-1 . | --threshold: \"0x1p-1\" is not"
    "pairs --threshold 0 . | --threshold 0 would make every pair similar"
    "pairs --hashes 0 . | --hashes: \"0\" is not a whole number from 1 to 65536"
    "pairs --hashes 1e-3 . | --hashes: \"1e-3\" is not"
    "pairs --error 0 . | --error: 0 would need more than 65536 hashes"
    "pairs --error 0.1 --hashes 100 . | --hashes and --error exclude each other"
    "pairs --bands 20 --rows 20 --hashes 10 . | 20 bands of 20 rows need 400 hashes, but a signature has 10"
    "pairs --bands 300 --rows 300 . | need 90000 hashes, but a signature has at most 65536"
    "pairs --bands 200 . | 200 bands do not fit into 128 hashes"
    "pairs --buckets 0 . | --buckets: \"0\" is not"
    "pairs --shingle char:0 . | --shingle: \"char:0\" is not auto, char:N"
    "pairs --shingle char:9x . | --shingle: \"char:9x\" is not auto, char:N"
    "pairs --shingle words . | --shingle: \"words\" is not auto, char:N"
    "pairs --hash md5 . | --hash: \"md5\" is not one of"
    "pairs --sketch slow . | --sketch: \"slow\" is not one of"
    "pairs --measure cosine . | --measure: \"cosine\" is not one of"
    "pairs --verify maybe . | --verify: \"maybe\" is not one of"
    "pairs --copies some . | --copies: \"some\" is not one of"
    "pairs --executor gpu . | --executor: \"gpu\" is not one of"
    "pairs --threads 0 . | --threads: \"0\" is not"
    "pairs --seed -1 . | --seed: \"-1\" is not"
    "pairs --seed 18446744073709551616 . | --seed: \"18446744073709551616\" is not"
    "pairs --audit 0 . | --audit: \"0\" is not"
    "pairs --audit 3 --verify none . | --audit needs to know which pairs reach the threshold"
    "pairs --measure containment --verify estimate . | --measure containment needs --verify exact"
    "pairs --sets=ab rows.tsv | --sets: \"ab\" is not a single byte"
    "pairs --sets= rows.tsv | --sets: \"\" is not a single byte"
    "pairs --sets --shingle char:3 rows.tsv | the input consists of sets already"
    "pairs --sets --id-field a rows.tsv | lines of sets have no fields"
    "pairs --sets --id-from path-and-line rows.tsv | lines name their sets"
    "pairs --id-from line . | --id-from: \"line\" is not one of"
    "pairs --id-field '' . | --id-field: the value is empty"
    "pairs --text-field '' . | --text-field: the value is empty"
    "pairs --stop-words '' . | --stop-words: the value is empty"
    "pairs --stop-words words . | --stop-words needs --shingle stop:N"
    "pairs --shingle stop:3 --stop-words missing . | missing: No such file or directory"
    "pairs --shingle stop:3 --stop-words empty . | empty: there are no words in it"
    "pairs --shingle stop:3 --stop-words folder . | folder: Is a directory"
    "plan | nothing to plan for"
    "plan file | unexpected argument \"file\""
    "plan --bands 3 | --bands needs --rows"
    "plan --reject 0.5:0.1 | --reject needs --accept"
    "plan --accept 0.5 | --accept: \"0.5\" is not a similarity and a probability"
    "plan --reject 0.9:0.1 --accept 0.8:0.9 | no curve is at most 0.1 at 0.9"
    "plan --reject 0.899:0.0001 --accept 0.9:0.9999 | takes more than 65536 hashes"
    "plan --threshold 0.8 --reject 0.5:0.1 --accept 0.9:0.9 | exclude each other; use one"
    "plan --hashes 100 | need --threshold"
    "plan --bloom 1M | --bloom: \"1M\" is not a number of items and a probability"
    "plan --bloom 1M:0 | --bloom: \"0\" is not a probability between 0 and 1"
    "plan --threshold 0.8 --plot curve.png | does not end in .svg"
    "plan --threshold 0.8 --plot missing/curve.svg | missing/curve.svg: cannot be written"
)

# ---- inputs that cannot be opened: status 2, and the message has the name

unopened=( # arguments | message
    "missing | missing cannot be opened: No such file or directory"
    "missing.jsonl | missing.jsonl cannot be opened: No such file or directory"
    "good.jsonl missing.jsonl | missing.jsonl cannot be opened"
    "link-loop | link-loop cannot be opened: Too many levels of symbolic links"
    "$(printf 'n%.0s' {1..300}) | cannot be opened: File name too long"
    "good.jsonl/below | good.jsonl/below cannot be opened: Not a directory"
    "paper.pdf | paper.pdf is a PDF file; extract its text, or use --as files"
    "corpus.gz | corpus.gz looks like JSON; use --as jsonl if it is JSON lines"
    "part-00000 | part-00000 looks like JSON; use --as jsonl if it is JSON lines"
    "cut.txt.gz | cut.txt.gz: its gzip data ends early after 2000 bytes"
    "rows.tsv | rows.tsv has no column \"text\" in its first line, \"g1\\x09x\"; name columns with --id-field and --text-field, or use --sets"
    "--id-field key table.csv | table.csv has no column \"key\""
    "--text-field title,,text table.csv | the name of a field is empty"
    "array.json | array.json ends early: a bracket or quote of its JSON is not closed after"
    "good.jsonl.xz | decompress it with xz -dc"
    "good.jsonl.bz2 | decompress it with bzip2 -dc"
    "cut.jsonl.gz | cut.jsonl.gz: its gzip data ends early after 2000 bytes"
    "cut.jsonl.zst | cut.jsonl.zst: its zstd data ends early after 2000 bytes"
    "hurt.jsonl.gz | hurt.jsonl.gz: its gzip data is damaged, by byte"
    "hurt.jsonl.zst | hurt.jsonl.zst: its zstd data is damaged, by byte"
    "tail.jsonl.gz | tail.jsonl.gz: its gzip data has something else behind it, at byte"
    "plain.jsonl.gz | plain.jsonl.gz is not gzip data, though its name ends in .gz"
    "plain.jsonl.zst | plain.jsonl.zst is not zstd data, though its name ends in .zst"
    "- - | standard input can be read only once"
    "--sets folder | folder is a folder; sets are read from files"
    "--sets missing.tsv | missing.tsv cannot be opened"
)

# ---- the first bytes of an input of lines that is something else: one sentence

foreign=( # the bytes, for printf %b | message after the name
    '[{"id":1,"text":"a"},\n{"id":2,"text":"b"}\n | ends early: a bracket or quote of its JSON is not closed'
    '\xef\xbb\xbf \n[\n{"id":1,"text":"a}\n]\n | ends early: a bracket or quote of its JSON is not closed'
    '\xff\xfe{\0"\0i\0d\0 | is UTF-16; convert it to UTF-8: iconv'
    '{\0"\0i\0d\0 | is UTF-16; convert it to UTF-8: iconv'
    '\xfd7zXZ\0\0\4\n\n | is compressed with xz; decompress it first: xz -dc'
    'BZh91AY&SY\n\n | is compressed with bzip2; decompress it first: bzip2 -dc'
    'PAR1\x15\4\n\n | is a Parquet file; export it as JSON lines'
    '%PDF-1.7\n\n | is a PDF file; extract its text'
)

# ---- a bad document between two good ones: named and skipped; with --strict, the end

bad_lines=( # the second line, for printf %b | message after FILE:2
    'no object at all | :1: expected an object'
    '["g3","text"] | :1: expected an object'
    '{"id":"b" "text":"something to read"} | :11: expected '"',' or '}'"' after a value'
    '{"id":"b","text" "something to read"} | :18: expected '"':'"' after a key'
    '{"id":"b",text:"something to read"} | :11: expected a key in quotes'
    '{"id":"b","text":"something to read" | :37: the line ends before its object does'
    '{"id":"b","text":"something to | :31: the line ends inside a string'
    '{"id":"b","text":"something to read"} and more | :39: something follows the object'
    '{"id":"b","text":"a bad \\q escape"} | :25: an unknown escape in a string'
    '{"id":"b","text":"a bad \\u12x4 code"} | :25: \u without four hex digits'
    '{"id":"b","text":"a tab \t as it is"} | :25: a control character in a string'
    '{"id":"b","text":"a NUL \0 as it is"} | :25: a control character in a string'
    '{"id":"b","n":01,"text":"something to read"} | :16: a number that begins with 0'
    '{"id":"b","n":truth,"text":"something"} | :15: expected a value'
    "{\"id\":\"b\",\"n\":$(printf '[%.0s' {1..300})$(printf ']%.0s' {1..300}),\"text\":\"x\"} | nested deeper than 256 levels"
    '{"id":"b"} | :1: no field "text"'
    '{"id":"b","Text":"fields are spelt as they are"} | :1: no field "text"'
    '{"id":"b","text":7} | :18: the field "text" is not a string'
    '{"id":"b","text":null} | :18: the field "text" is not a string'
    '{"id":{"n":1},"text":"something to read"} | :7: the field "id" is neither a string nor a number'
    '{"id":true,"text":"something to read"} | :7: the field "id" is neither a string nor a number'
    '{"id":"g1","text":"an id that was there before"} | :1: the id "g1" repeats that of FILE:1'
)
bad_rows=( # the second row, for printf %b | message after FILE:2
    'no separator | :1: no tab in the row'
    'name\t | :6: an empty element'
    '\telement | :1: an empty name of a set'
)

# ---- odd, but good: borne without a word, --strict or not, or with a remark

borne=( # the second line, for printf %b | message, or nothing
    ' | '
    '   \t  | '
    '{"id":"b","text":"line ends of another system"}\r | '
    '{"id":"b","text":"half a \\ud800 pair of surrogates"} | '
    '{"id":"b","text":"a NUL \\u0000 as an escape"} | '
    '{"id":null,"text":"its line is its name"} | '
    '{"text":"its line is its name"} | '
    '{"id":"","text":"an empty name is a name"} | '
    '{"id":"b","text":""} | '
    '{"id":"b","text":"caf\xe9 \xff and bytes \xf0\x9f of no character"} | odd9.jsonl:2: 3 ill-formed UTF-8 sequences, replaced by U+FFFD'
    '{"id":"b","text":"twice","text":"the last one counts"} | '
)

make_files()
{
    mkdir folder hollow
    : >empty
    ln -s link-loop link-loop
    ln -s . hollow/self
    echo words >words
    echo 'Dear reader' >letter.txt
    printf '%%PDF-1.7\0\1\2' >paper.pdf
    printf '%s\n' "$good" "$also" >good.jsonl
    for i in {1..2000}; do
        echo "{\"id\":$i,\"text\":\"$((i * 7919 % 10007)) words $((i * i * 31 % 99991)) of a text $((i * 17 % 257))\"}"
    done >corpus.jsonl
    printf 'g1\tx\n' >rows.tsv
    printf 'id,title,text\r\ng1,t,"two\nlines ""of"" text"\r\ng2,u,"two\nlines ""of"" text"\r\n' >table.csv
    printf '[{"id":1}' >array.json
    touch good.jsonl.xz good.jsonl.bz2
    cp good.jsonl part-00000
    cp good.jsonl GOOD.JSONL
    gzip -c corpus.jsonl >corpus.gz
    zstd -qc --check corpus.jsonl >corpus.zst
    head -c 2000 corpus.gz | tee cut.txt.gz >cut.jsonl.gz
    head -c 2000 corpus.zst >cut.jsonl.zst
    for kind in gz zst; do
        cp corpus.$kind hurt.jsonl.$kind
        printf '\xff\xff\xff\xff\xff\xff\xff\xff' | dd of=hurt.jsonl.$kind bs=1 seek=7000 conv=notrunc status=none
        cp corpus.jsonl plain.jsonl.$kind
    done
    { cat corpus.gz && echo more; } >tail.jsonl.gz
}

check_options()
{
    local row
    for row in "${refused[@]}"; do
        fields "$row"
        eval "expect \"twinsift \${field[0]}\" 2 '' \"\${field[1]}\" \"\$TWINSIFT\" ${field[0]}"
        [ "$(wc -l <err)" -eq 1 ] || fail "twinsift ${field[0]}" "more than one sentence"
    done
    expect "TWINSIFT_CPU=abacus" 2 "" "\"abacus\" is not one of" env TWINSIFT_CPU=abacus "$TWINSIFT" pairs good.jsonl
}

check_inputs()
{
    local row
    for row in "${unopened[@]}"; do
        fields "$row"
        eval "expect \"pairs \${field[0]}\" 2 '' \"\${field[1]}\" \"\$TWINSIFT\" pairs ${field[0]}" <good.jsonl
    done
    for row in "${foreign[@]}"; do
        fields "$row"
        printf '%b' "${field[0]}" >foreign.jsonl
        expect "foreign ${field[0]}" 2 "" "foreign.jsonl ${field[1]}" "$TWINSIFT" pairs foreign.jsonl
        [ "$(wc -l <err)" -eq 1 ] || fail "foreign ${field[0]}" "more than one sentence"
        expect "foreign ${field[0]} as a pipe" 2 "" "standard input ${field[1]}" "$TWINSIFT" pairs - < <(gzip -c foreign.jsonl)
    done
    for name in '[a' BZh PAR1 %PDF-; do
        printf '%s\tx\nb\tx\n' "$name" >named.tsv
        expect "a set $name" 0 "$name"$'\tb\t1.0000' "" "$TWINSIFT" pairs --sets named.tsv
    done
    expect "index create" 0 "" "" "$TWINSIFT" index create none.twin
    for input in empty.jsonl folder hollow /dev/null; do
        [ -e "$input" ] || : >"$input"
        expect "pairs $input" 0 "" "there are no documents in the input" "$TWINSIFT" pairs "$input"
        expect "pairs --strict $input" 0 "" "there are no documents" "$TWINSIFT" pairs --strict "$input"
        expect "pairs --quiet $input" 0 "" "" "$TWINSIFT" pairs --quiet "$input"
    done
    expect "a table" 0 "$pair" "" "$TWINSIFT" pairs table.csv
    expect "a table, packed, as a pipe" 0 "$pair" "" "$TWINSIFT" pairs --as csv - < <(gzip -c table.csv)
    expect "a table, deduplicated" 0 $'id,title,text\r\ng1,t,"two\nlines ""of"" text"\r' "" "$TWINSIFT" dedup --quiet table.csv
    sed 's/title/other/; s/g1/h1/; s/g2/h2/' table.csv >other.csv
    expect "tables with other columns" 2 "" "other.csv: has other columns than the inputs before it" \
        bash -c '"$0" dedup --quiet table.csv other.csv -o both.csv' "$TWINSIFT"
    expect "a table and JSON lines" 2 "" "good.jsonl: is of another format than the inputs before it" \
        bash -c '"$0" dedup --quiet --threshold 1 other.csv good.jsonl -o both.csv' "$TWINSIFT"
    expect "a table in a table" 0 "$pair" "standard input:6:1: repeats the header; the document is skipped" \
        "$TWINSIFT" pairs --as csv - < <(cat table.csv <(head -n 1 table.csv))
    expect "another table in a table" 0 $'a\tb\t1.0000' "" \
        "$TWINSIFT" pairs -q --as csv - < <(printf 'id,name,text\n1,ann,short\n1000,id,text\na,x,a comment on it\nb,y,a comment on it\n')
    expect "a table of other order in a table" 0 "$pair" \
        "standard input:6:1: has the names of the header in another order, as the records below it may; the document is skipped" \
        "$TWINSIFT" pairs --as csv - < <(cat table.csv <(echo id,text,title))
    expect "two columns" 0 $'g1\tg2\t0.8571' "" "$TWINSIFT" pairs --text-field title,text table.csv
    printf '%s\n' '{"doc":{"id":"g1","title":"x"},"body":"the body of a text"}' \
        '{"doc":{"id":"g2","title":null},"body":"x the body of a text"}' >nested.jsonl
    expect "nested and several fields" 0 "$pair" "" "$TWINSIFT" pairs --id-field doc.id --text-field doc.title,body nested.jsonl
    expect "no such fields" 2 "" "nested.jsonl:1:1: none of the fields \"title,text\"; the document is skipped" \
        "$TWINSIFT" pairs --text-field title,text nested.jsonl
    expect "capitals" 0 "$pair" "" "$TWINSIFT" pairs GOOD.JSONL
    mkdir latin # names that are not UTF-8: as they are between tabs, valid in JSON
    for name in $'a\xe9' $'b\xe9'; do echo 'a good document, long enough to have some shingles' >"latin/$name"; done
    expect "names in Latin-1" 0 $'a\xe9\tb\xe9\t1.0000' "" "$TWINSIFT" pairs latin
    expect "names in Latin-1, JSON" 0 $'{"a":"a\xef\xbf\xbd","b":"b\xef\xbf\xbd","similarity":1.0000}' "" \
        "$TWINSIFT" pairs --json latin
    "$TWINSIFT" dedup -q latin --groups latin.groups >/dev/null
    iconv -f UTF-8 -t UTF-8 latin.groups >/dev/null || fail "names in Latin-1" "groups are not UTF-8"
    expect "--as jsonl" 0 "$pair" "" "$TWINSIFT" pairs --as jsonl part-00000
    printf '%s\n' 'anna karenina of moscow' '' 'ana karenina of moscow' 'count vronsky' >names.txt
    expect "--as lines" 0 $'1\t3\t0.9778' "" "$TWINSIFT" pairs --as lines --measure edit names.txt
    expect "one file" 0 "" "names.txt is one document, so there is nothing to compare it with; if each of its lines" \
        "$TWINSIFT" pairs --measure edit names.txt
    local remark="names.txt is one document; if each of its lines is a document, use --as lines"
    expect "a file of queries" 0 "" "$remark" "$TWINSIFT" pairs --measure edit good.jsonl --against names.txt
    expect "two files" 0 $'names.txt\tnames.txt\t1.0000' "$remark" "$TWINSIFT" pairs names.txt --against names.txt
    "$TWINSIFT" index create -q --measure edit names.twin
    "$TWINSIFT" index add -q names.twin good.jsonl
    expect "a file of names" 1 "" "$remark" "$TWINSIFT" index query names.twin names.txt
    expect "a file to add" 0 "" "$remark" "$TWINSIFT" index add names.twin names.txt
    expect "--as files" 0 $'part-00000\tgood.jsonl\t1.0000' "" "$TWINSIFT" pairs --as files part-00000 good.jsonl
    cp letter.txt copy.txt
    expect "text files" 0 $'letter.txt\tcopy.txt\t1.0000' "" "$TWINSIFT" pairs letter.txt copy.txt
    mkdir shards shards/more shards/.git
    cp good.jsonl shards/p1.jsonl
    echo '{"text":"a good document, long enough to have some shingles"}' | gzip -c >shards/more/p0.jsonl.gz
    echo 'a good document, long enough to have some shingles' >shards/note.txt
    cp good.jsonl shards/.git/p4.jsonl
    mkfifo shards/pipe
    ln -s p1.jsonl shards/p2.jsonl
    ln -s missing shards/more/p3.jsonl
    expect "shards" 0 "note.txt	more/p0.jsonl.gz:1	1.0000
note.txt	g1	1.0000
note.txt	g2	1.0000" \
        "shards: skipped in the folder: 2 symbolic links, 1 special file, 1 hidden file or folder (--hidden reads these)" \
        "$TWINSIFT" pairs shards
    grep -q 'shards: 2 files are read line by line, and 1 as a document each, whose id is the path' err ||
        fail "shards" "no remark that lines and files are mixed"
    [ "$(wc -l <err)" -eq 2 ] || fail "shards" "more than two remarks"
    expect "shards --quiet --as files" 0 "" "" "$TWINSIFT" pairs --quiet --as files shards
    expect "shards --hidden" 0 "note.txt	g1	1.0000
note.txt	g2	1.0000
note.txt	more/p0.jsonl.gz:1	1.0000" "shards/p1.jsonl:1:1: the id \"g1\" repeats that of shards/.git/p4.jsonl:1;" "$TWINSIFT" pairs --quiet --hidden shards
    cp paper.pdf cut.jsonl.gz shards
    expect "a PDF in a folder" 2 "" "shards/cut.jsonl.gz: its gzip data ends early after 2000 bytes" \
        "$TWINSIFT" pairs --strict shards
    expect "a PDF in a folder, skipped" 1 "" "shards/paper.pdf: is a PDF file; the file is skipped" \
        "$TWINSIFT" index query none.twin --quiet shards
    mkdir many
    for i in {1..300}; do echo '{"text":"a good document, long enough to have some shingles"}' >many/$i.jsonl; done
    expect "more files than may be open at first" 0 "$(printf '%s' "1.jsonl:1	10.jsonl:1	1.0000")" "" \
        bash -c 'ulimit -Sn 100 && "$0" pairs many | head -n 1' "$TWINSIFT"
    large() { cat good.jsonl; head -c 70000000 /dev/zero | tr '\0' '\n'; } # blank lines, too many for memory
    expect "TMPDIR" 2 "" "the temporary folder /missing" env TMPDIR=/missing "$TWINSIFT" pairs - < <(large)
    expect "TMPDIR not needed" 0 "$pair" "" env TMPDIR=/missing "$TWINSIFT" pairs - < <(cat good.jsonl)
    expect "TMPDIR empty" 0 "$pair" "" env TMPDIR= "$TWINSIFT" pairs - < <(cat good.jsonl)
    expect "index create" 0 "" "" "$TWINSIFT" index create temp.twin
    expect "TMPDIR, index" 2 "" "the temporary folder /missing" env TMPDIR=/missing "$TWINSIFT" index add temp.twin - < <(large)
    expect "TMPDIR empty, index" 0 "" "2 added" env TMPDIR= "$TWINSIFT" index add temp.twin - < <(cat good.jsonl)
}

# between NUMBER LINE: a file whose second line is LINE, as printf %b writes it.
between()
{
    { echo "$good" && printf '%b\n' "$2" && echo "$also"; } >"$1.jsonl"
}

check_lines()
{
    local i
    expect "index create" 0 "" "" "$TWINSIFT" index create lines.twin
    for i in "${!bad_lines[@]}"; do
        fields "${bad_lines[i]//FILE/bad$i.jsonl}"
        between "bad$i" "${field[0]}"
        local message="bad$i.jsonl:2:"
        [[ ${field[1]} == :* ]] && message="bad$i.jsonl:2${field[1]}; the document is skipped"
        expect "line ${field[0]:0:60}" 0 "$pair" "$message" "$TWINSIFT" pairs "bad$i.jsonl"
        grep -qF "${field[1]}; the document is skipped" err || fail "line ${field[0]:0:60}" "not \"${field[1]}; … is skipped\""
        expect "--strict ${field[0]:0:60}" 2 "" "${field[1]}" "$TWINSIFT" pairs --strict "bad$i.jsonl"
        grep -qF "bad$i.jsonl:2" err || fail "--strict ${field[0]:0:60}" "the position is not reported"
        [[ ${field[1]} == *repeats* ]] && continue # the same document again, for an index
        expect "index add, line ${field[0]:0:60}" 0 "" "$message" "$TWINSIFT" index add lines.twin "bad$i.jsonl"
        expect "index query, line ${field[0]:0:60}" 1 "" "$message" "$TWINSIFT" index query none.twin "bad$i.jsonl"
        expect "index add --strict ${field[0]:0:60}" 2 "" "bad$i.jsonl:2" "$TWINSIFT" index add --strict lines.twin "bad$i.jsonl"
        grep -qF "${field[1]}" err || fail "index add --strict ${field[0]:0:60}" "not \"${field[1]}\""
    done
    for i in "${!borne[@]}"; do
        fields "${borne[i]}"
        between "odd$i" "${field[0]}"
        expect "borne ${field[0]}" 0 "$pair" "${field[1]}" "$TWINSIFT" pairs "odd$i.jsonl"
        [ -n "${field[1]}" ] && continue
        expect "--strict, borne ${field[0]}" 0 "$pair" "" "$TWINSIFT" pairs --strict "odd$i.jsonl"
    done
}

check_ill_formed()
{
    local i good9="odd9.jsonl:2: 3 ill-formed UTF-8 sequences"
    expect "ill-formed, --strict" 2 "" "$good9" "$TWINSIFT" pairs --strict odd9.jsonl
    expect "ill-formed, --quiet" 0 "$pair" "" "$TWINSIFT" pairs --quiet odd9.jsonl
    expect "ill-formed, --stats --json" 0 "{\"a\":\"g1\",\"b\":\"g2\",\"similarity\":1.0000}" '"ill_formed":1,' \
        "$TWINSIFT" pairs --quiet --stats --json odd9.jsonl
    for i in {1..9}; do printf '{"id":%s,"text":"%s caf\xe9 of ill fame"}\n' "$i" "$((i * 7919))"; done >ill.jsonl
    expect "index create" 0 "" "" "$TWINSIFT" index create ill.twin
    for command in "pairs" "index query ill.twin" "index add ill.twin"; do
        expect "ill-formed, $command --strict" 2 "" "ill.jsonl:1: 1 ill-formed UTF-8 sequence" $TWINSIFT $command --strict ill.jsonl
        timeout 60 $TWINSIFT $command ill.jsonl >out 2>err
        [ "$(grep -c '^twinsift.*: ill.jsonl:[1-5]: 1 ill-formed UTF-8 sequence, replaced by U+FFFD$' err)" -eq 5 ] ||
            fail "ill-formed, $command" "the first five are not named"
    done
    grep -qF "4 more documents have ill-formed UTF-8" err || fail "ill-formed" "the rest is not counted"
    expect "ill-formed, index add --json" 0 \
        '{"added":0,"replaced":9,"repeated":0,"removed":0,"too_short":0,"skipped":0,"ill_formed":9,"batches":1,"bytes":' "" \
        bash -c '"$0" index add --quiet --json ill.twin ill.jsonl | sed "s/\(\"bytes\":\).*/\1/"' "$TWINSIFT"
}

check_skipped()
{
    { cat good.jsonl && echo bad; } >one-bad.jsonl
    expect "index create" 0 "" "" "$TWINSIFT" index create skipped.twin
    for options in "pairs --quiet" "index add --quiet skipped.twin" "index query skipped.twin" "dedup --quiet -o kept.jsonl"; do
        timeout 60 $TWINSIFT $options one-bad.jsonl >out 2>err || fail "$options" "not status 0 without --fail-on-skipped"
        timeout 60 $TWINSIFT $options --fail-on-skipped good.jsonl >out 2>err || fail "$options" "not status 0 without a bad line"
        timeout 60 $TWINSIFT $options --fail-on-skipped one-bad.jsonl >out 2>err
        [ $? -eq 3 ] || fail "$options --fail-on-skipped" "not status 3"
        timeout 60 $TWINSIFT $options --fail-on-skipped missing.jsonl >out 2>err
        [ $? -eq 2 ] || fail "$options --fail-on-skipped" "an error is not status 2"
    done
    expect "--fail-on-skipped" 3 "$pair" "one-bad.jsonl:3:1: expected an object" "$TWINSIFT" pairs --fail-on-skipped one-bad.jsonl
    head -n 1 good.jsonl >first.jsonl
    for command in pairs "dedup --quiet"; do
        timeout 60 $TWINSIFT $command first.jsonl --against one-bad.jsonl --fail-on-skipped >out 2>err
        [ $? -eq 3 ] || fail "$command --against --fail-on-skipped" "not status 3"
    done
    expect "ids that are not there" 1 "" "5 more are not in the index" "$TWINSIFT" index remove skipped.twin x{1..25}
}

check_rows()
{
    local i
    for i in "${!bad_rows[@]}"; do
        fields "${bad_rows[i]}"
        printf '%b\n' 'g1\tx' "${field[0]}" 'g2\tx' >"rows$i.tsv"
        expect "row ${field[0]}" 0 "$pair" "rows$i.tsv:2${field[1]}; the row is skipped" "$TWINSIFT" pairs --sets "rows$i.tsv"
        expect "--strict row ${field[0]}" 2 "" "rows$i.tsv:2${field[1]}" "$TWINSIFT" pairs --sets --strict "rows$i.tsv"
    done
    expect "another separator" 2 "" "no ',' in the row" "$TWINSIFT" pairs --sets=, rows0.tsv
    grep -qF "no line could be read" err || fail "another separator" "not \"no line could be read\""
}

check_whole_files()
{
    printf '%s\r\n%s\r\n' "$good" "$also" >crlf.jsonl
    expect "CRLF" 0 "$pair" "" "$TWINSIFT" pairs crlf.jsonl
    printf '\xef\xbb\xbf%s\n%s' "$good" "$also" >mark.jsonl
    expect "byte order mark, no last line end" 0 "$pair" "" "$TWINSIFT" pairs mark.jsonl
    { echo "$good" && printf '{"id":"b","text":"' && head -c 5000000 /dev/zero | tr '\0' x && printf '"}\n' &&
        echo "$also"; } >long.jsonl
    expect "a line of 5 MB" 0 "$pair" "" "$TWINSIFT" pairs long.jsonl
    sed 's/"}$//' long.jsonl | sed "1s/.*/$good/; 3s/.*/$also/" >longer.jsonl
    expect "a line of 5 MB that does not end" 0 "$pair" "longer.jsonl:2:5000019: the line ends inside a string" \
        "$TWINSIFT" pairs longer.jsonl
    printf '\x00\xff\x1b[31m\n%.0s' {1..30} >junk.jsonl
    expect "junk" 2 "" "junk.jsonl:20:1: expected an object; the document is skipped" "$TWINSIFT" pairs junk.jsonl
    grep -qF "10 more were skipped" err || fail "junk" "the rest is not counted"
    grep -qF "no document could be read" err || fail "junk" "not \"no document could be read\""
    yes x | head -n 1000 >thousand.jsonl
    expect "a thousand bad lines" 2 "" "980 more were skipped" "$TWINSIFT" pairs thousand.jsonl
    expect "index create" 0 "" "" "$TWINSIFT" index create thousand.twin
    expect "a thousand bad lines, index add" 2 "" "980 more were skipped" "$TWINSIFT" index add thousand.twin thousand.jsonl
    expect "a thousand bad lines, index query" 2 "" "980 more were skipped" "$TWINSIFT" index query thousand.twin thousand.jsonl
    if [ -z "${TWINSIFT_QUICK:-}" ]; then # sanitizers need more room; one chunk of bad lines took 250 MB before
        yes x | head -n 2000000 >millions.jsonl
        expect "bad lines take no memory" 2 "" "1999980 more were skipped" \
            bash -c 'ulimit -v 250000 && "$0" pairs --threads 2 millions.jsonl' "$TWINSIFT"
        rm millions.jsonl
    fi
    mkdir pictures && printf '%%PDF-1.5' >pictures/a.pdf
    expect "no file that is text" 2 "" "no file could be read" "$TWINSIFT" pairs pictures
    expect "junk --strict" 2 "" "junk.jsonl:1:1: expected an object" "$TWINSIFT" pairs --strict junk.jsonl
    [ "$(wc -l <err)" -eq 1 ] || fail "junk --strict" "more than one sentence"
    mkdir -p d1/x d2/x && tee d1/x/a d2/x/a <good.jsonl >/dev/null
    printf '%s\n' '{"id":1,"text":"a text, the same in some"}' '{"text":"a text, the same in some"}' \
        '{"id":"2","text":"another one, not the same"}' >mixed.jsonl
    expect "a line that is also an id" 0 $'1\t:2\t1.0000' "" "$TWINSIFT" pairs mixed.jsonl
    expect "a line that is also an id, --strict" 0 $'1\t:2\t1.0000' "" "$TWINSIFT" pairs --strict mixed.jsonl
    printf '%s\n' '{"id":":2","text":"a text, the same in some"}' '{"id":"::2","text":"hers"}' >>mixed.jsonl
    expect "a line and a colon that are also ids" 0 $'1\t::::2\t1.0000\n1\t:2\t1.0000' "" "$TWINSIFT" pairs mixed.jsonl
    expect "--id-from path-and-line" 0 $'mixed.jsonl:1\tmixed.jsonl:2\t1.0000\nmixed.jsonl:1\tmixed.jsonl:4\t1.0000' "" \
        "$TWINSIFT" pairs --id-from path-and-line mixed.jsonl
    cp good.jsonl again.jsonl
    expect "shards with the same ids" 0 "$pair" \
        "2 documents have an id that another document has; if ids are unique in each file only, use --id-from path-and-line" \
        "$TWINSIFT" pairs good.jsonl again.jsonl
    expect "shards with the same ids, --id-from" 0 $'good.jsonl:1\tgood.jsonl:2\t1.0000\ngood.jsonl:1\tagain.jsonl:1\t1.0000
good.jsonl:1\tagain.jsonl:2\t1.0000' "" "$TWINSIFT" pairs --id-from path-and-line good.jsonl again.jsonl
    expect "a bad id that does not count" 0 "" "" "$TWINSIFT" pairs -q --id-from path-and-line - <<<'{"id":[],"text":"something to read"}'
    expect "index create" 0 "" "" "$TWINSIFT" index create shards.twin
    printf '%s\n' '{"text":"something to read"}' | tee first.jsonl >second.jsonl
    expect "lines without ids" 0 "" "1 added, 0 replaced" "$TWINSIFT" index add shards.twin first.jsonl
    expect "lines of another file without ids" 0 "" "1 added, 0 replaced" "$TWINSIFT" index add shards.twin second.jsonl
    expect "one name in two folders" 0 "d1/x/a	d2/x/a	1.0000" "" "$TWINSIFT" pairs d1 d2
    expect "one folder twice" 0 "" "d1/x/a: the id \"d1/x/a\" repeats that of d1/x/a; the document is skipped" "$TWINSIFT" pairs d1 d1
    expect "one folder twice, --strict" 2 "" "d1/x/a: the id" "$TWINSIFT" pairs --strict d1 d1
}

check_streams()
{
    local full="standard output could not be written: No space left on device"
    expect "a full disk" 2 "" "$full" sh -c '"$1" pairs good.jsonl >/dev/full' sh "$TWINSIFT"
    expect "a full disk, --json --audit" 2 "" "$full" sh -c '"$1" pairs --json --audit 2 good.jsonl >/dev/full' sh "$TWINSIFT"
    expect "a full disk, help" 2 "" "$full" sh -c '"$1" pairs --help >/dev/full' sh "$TWINSIFT"
    expect "a full disk, plan" 2 "" "$full" sh -c '"$1" plan --threshold 0.8 >/dev/full' sh "$TWINSIFT"
    expect "closed output" 2 "" "standard output could not be written" sh -c '"$1" pairs good.jsonl >&-' sh "$TWINSIFT"
    expect "closed input" 2 "" "standard input cannot be read" sh -c '"$1" pairs - <&-' sh "$TWINSIFT"
    expect "closed errors" 0 "$pair" "" sh -c '"$1" pairs --stats good.jsonl 2>&-' sh "$TWINSIFT"
    expect "a folder as standard input" 2 "" "standard input is a folder" "$TWINSIFT" pairs - <folder
    expect "standard input" 0 "$pair" "" "$TWINSIFT" pairs - <good.jsonl
    expect "standard input, bad line" 0 "$pair" "standard input:1:1: expected an object; the document is skipped" \
        "$TWINSIFT" pairs - < <(echo bad && cat good.jsonl)
}

make_files
check_options
check_inputs
check_lines
check_ill_formed
check_skipped
check_rows
check_whole_files
check_streams
echo "$cases cases, $failures failed"
[ "$failures" -eq 0 ]

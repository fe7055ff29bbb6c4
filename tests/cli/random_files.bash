# random_files.bash — part of random.sh: what is kept in files, that is an index, Bloom filters and a model of mail, holds what
# was put in.

# ---- an index

# The ids of the index are those of FILE, one per line.
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

# ---- a Bloom filter

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

# The verdict on every message: that of the model in $1.
verdicts()
{
    run 0 mail check -m "$1" --bulk --threads 2 good bad new
}

try_mail()
{
    messages good $((1 + RANDOM % 6))
    messages bad $((1 + RANDOM % 6))
    messages new 3
    rm -f ./*.twin ./*.twin-lock
    printf 0123456789abcdef > key
    pick 1 2 3 100000 10000000
    local most=$picked
    pick "" "--keep-days 1" "--keep-days 36500" "--keep none"
    read -ra extra <<< "$picked"
    run "0 2" mail learn -m model.twin --key-file key --as ham --keep-messages "$most" ${extra[@]+"${extra[@]}"} good
    if grep -q 'not supported' err.txt; then
        return
    fi
    run 0 mail learn -q -m model.twin --as spam bad
    pick all content sender lookalike
    run "0 1 2" mail check -m model.twin --method "$picked" new/0.eml
    run "0 1 2" mail check -m model.twin --explain new/1.eml
    run "0 1 2" mail check -m model.twin --json --explain - < new/2.eml
    run "0 1 2" mail check -m model.twin --pass < new/2.eml
    run "0 1 2" mail check -m model.twin --pass < corpus.jsonl
    run 0 mail correct -q -m model.twin --as ham new/0.eml
    run "0 1" mail forget -q -m model.twin bad/0.eml
    run 0 mail info -m model.twin
    try_mail_upkeep
}

# What is written again judges as before, and what is known is not learnt twice.
try_mail_upkeep()
{
    verdicts model.twin
    mv out.txt before.txt
    run 0 mail compact -q -m model.twin
    verdicts model.twin
    cmp -s out.txt before.txt || fail "mail compact changed a verdict: $(diff before.txt out.txt | head -n 3)"
    pick s.sketches s.sketches.gz s.sketches.zst
    local file=$picked
    pick "" --weights
    read -ra extra <<< "$picked"
    run 0 mail export --sketches ${extra[@]+"${extra[@]}"} -m model.twin -o "$file"
    run 0 mail import -q -m other.twin --key-file key "$file"
    verdicts other.twin
    mv out.txt before.txt
    run 0 mail import -q -m other.twin "$file"
    verdicts other.twin
    cmp -s out.txt before.txt || fail "mail import of the same sketches changed a verdict: $(diff before.txt out.txt | head -n 3)"
    run 2 mail import -q -m stranger.twin "$file"
    run 0 mail learn -q -m other.twin --as promotions new
    run 0 mail learn --json -m other.twin --as promotions new
    grep -q '"learnt":0' out.txt || fail "a message is learnt twice: $(cat out.txt)"
    run 0 mail info -m other.twin
}

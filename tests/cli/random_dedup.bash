# random_dedup.bash — part of random.sh: dedup, whole and in steps. Every document is kept or was dropped for a kept one that
# is similar to it, and the same bytes come out whichever way they are made.

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
    rm -rf temp && mkdir temp
    run 0 dedup --quiet "${options[@]}" "${extra[@]}" --resume --temp temp --groups groups.jsonl corpus.jsonl -o kept2.jsonl
    cmp -s kept.jsonl kept2.jsonl || fail "dedup: another answer with --resume"
    cmp -s groups.jsonl groups1.jsonl || fail "dedup: other groups with --resume"
    [ -z "$(ls temp)" ] || fail "dedup --resume left $(ls temp)"
    pick "--dry-run" "--stats" "--report report.html" "--audit 1" "--audit 4294967295" "--measure containment" "--fail-on-skipped"
    read -ra extra <<< "$picked"
    run 0 dedup "${options[@]}" "${extra[@]}" corpus.jsonl
}

# Options that were drawn without a look at each other: an answer or a refusal.
try_any()
{
    local i mixed=() command
    awk 'NR % 2' corpus.jsonl > old.jsonl
    for i in 1 2 3 4; do
        pick "--keep longest" "--keep text:max" "--chain" "--measure containment" "--memory 64M" "--resume" "--audit 2" \
            "--against old.jsonl" "--groups any.groups" "--report any.html" "--dry-run" "--stats" "--strict" "--raw" \
            "--id-from path-and-line" "--max-document-bytes 1" "--max-document-bytes 100" "--bands 1 --rows 1" \
            "--bands 65536 --rows 1" "--rows 1000" "--error 0.5" "--error 0.05" "--text-field id" "--text-field id,text" \
            "--id-field text" "--as jsonl" "--as files" "--as csv" "--threads 1" "--executor openmp" "--fail-on-skipped"
        read -ra extra <<< "$picked"
        mixed+=("${extra[@]}")
    done
    for command in dedup pairs sign; do
        run "0 2 3" $command --temp . "${options[@]}" "${mixed[@]}" -o any.txt corpus.jsonl
    done
    pick containment jaccard edit
    run "0 2" pairs --quiet "${options[@]}" "${workers[@]}" --measure "$picked" --against old.jsonl corpus.jsonl
    rm -rf any.* twinsift-*
}

# ---- steps

# The corpus in one to four shards, of lines or tables, compressed or not, and some of them empty.
make_shards()
{
    local n=$((1 + RANDOM % 4)) i kind
    rm -rf shards && mkdir shards
    shards=()
    pick jsonl jsonl csv tsv
    kind=$picked
    for ((i = 0; i < n; i++)); do
        awk -v n=$n -v i=$i 'NR % n == i' corpus.jsonl > lines.txt
        pick "" "" .gz .zst
        case $kind in
        jsonl) cat lines.txt ;;
        *) table $kind < lines.txt ;;
        esac | packed "$picked" > "shards/$i.$kind$picked"
        shards+=("shards/$i.$kind$picked")
    done
}

try_steps()
{
    local i parts signatures=() part=()
    make_shards
    pick "--keep first" "--keep longest" "--keep id:min" "--chain"
    read -ra extra <<< "$picked"
    run 0 dedup --quiet "${options[@]}" "${extra[@]}" --groups groups.jsonl "${shards[@]}" -o kept.jsonl
    run 0 dedup --quiet "${options[@]}" "${extra[@]}" "${shards[@]}" -o kept/
    rm -f ./*.cand ./*.found
    for ((i = 0; i < ${#shards[@]}; i++)); do
        draw_workers
        run 0 sign --quiet "${options[@]}" "${workers[@]}" "${shards[i]}" -o $i.sig
        signatures+=("$i.sig")
    done
    pick 1 2 3 1000
    parts=$picked
    for ((i = 1; i <= parts && parts < 1000; i++)); do
        run 0 band --quiet "${workers[@]}" "${signatures[@]}" --part $i/$parts -o $i.cand
    done
    [ "$parts" -lt 1000 ] || run 0 band --memory 64M "${signatures[@]}" -o 1.cand
    pick 1 2 5
    for ((i = 1; i <= picked; i++)); do
        run 0 join --quiet "${extra[@]}" "${workers[@]}" "${signatures[@]}" ./*.cand --part $i/$picked -o $i.found
    done
    draw_workers
    run 0 filter "${workers[@]}" "${signatures[@]}" ./*.found --groups groups2.jsonl -o kept2.jsonl
    cmp -s kept.jsonl kept2.jsonl || fail "filter: another answer than dedup"
    cmp -s groups.jsonl groups2.jsonl || fail "filter: other groups than dedup"
    run 0 filter --quiet "${signatures[@]}" ./*.found -o kept2/
    diff -r kept kept2 > err.txt || fail "filter: other files than dedup: $(head -n 1 err.txt)"
    rm -r kept kept2
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


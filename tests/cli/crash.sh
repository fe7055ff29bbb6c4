#!/usr/bin/env bash
# A machine that stops at any time: what was reported as done is there, and what was not can be done again.
#
# Programs work in an ext4 file system in a file. Before each event of theirs (tests/sync_log.c), and when they have ended,
# that file is copied: it has what a disk would have had if the machine had stopped then. The copies are mounted, which
# replays the journal of the file system, and looked at. All is done twice: the second time the file system writes its
# journal before each event, as it does by itself every few seconds, so that names are on the disk whose bytes are not.
# Copies are mounted where the file system was: the path of an output is a part of what a run is known by.
: "${TWINSIFT_GENERATE:?}" "${TWINSIFT_SYNC_LOG:?}"
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
[ -z "${TWINSIFT_SANITIZED-}" ] || skip "sanitizers have to be loaded first"
# In a name space of its own, mounts are gone when the script is, however it ends.
if [ -z "${TWINSIFT_ALONE-}" ]; then
    [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || skip "crash images need root and mounts"
    TWINSIFT_ALONE=1 exec unshare --mount bash "$0"
fi
command -v mkfs.ext4 >/dev/null || skip "crash images need mkfs.ext4"
mkdir disk
truncate -s 20M blank
mkfs.ext4 -q -F -b 4096 -J size=4 -E lazy_itable_init=0,lazy_journal_init=0 blank || skip "mkfs.ext4 makes no file system"
cp --sparse=always blank image
mount -o loop image disk 2>/dev/null || skip "no file system in a file can be mounted here"
umount disk

folder=$(pwd -P)
"$TWINSIFT_GENERATE" --docs 200 --bytes 300 --seed 4 --copies 0.3 --edits >a.jsonl
"$TWINSIFT_GENERATE" --docs 100 --bytes 300 --seed 5 --copies 0.3 --edits | sed 's/"d/"e/' >b.jsonl
seq 1 2000 >items
seq 2001 4000 >more
"$TWINSIFT" index create empty.twin
instants=0

# prepared COMMAND...: a disk on which the command, run in it, has put what is there before; all of that is on it.
prepared()
{
    cp --sparse=always blank image
    mount -o loop image disk || { fail "cannot be mounted"; return; }
    cp a.jsonl b.jsonl items more empty.twin disk
    ! [ -e one.eml ] || cp ./*.eml disk
    (cd disk && "$@") || fail "$*"
    umount disk
}
nothing() { :; }
# crashes CHECK ARGUMENT...: runs the program in the disk with these arguments; standard output goes to the file standard.
# Of each copy CHECK is called, in it, with "ended" or the number of the event.
crashes()
{
    local check=$1 variant at hook
    shift
    cp --sparse=always image before
    for variant in lazy eager; do
        cp --sparse=always before image
        mount -o loop image disk || { fail "cannot be mounted"; return; }
        rm -rf images log
        mkdir images
        hook="cp --sparse=always $folder/image $folder/images/\$TWIN_SYNC_EVENT"
        [ $variant = lazy ] || hook="echo >>$folder/disk/other; sync $folder/disk/other; $hook"
        (cd disk && TWIN_SYNC_HOOK=$hook TWIN_SYNC_LOG=$folder/log LD_PRELOAD=$TWINSIFT_SYNC_LOG \
            "$TWINSIFT" "$@" >standard) ||
            fail "$*: status $?"
        cp --sparse=always image images/ended
        umount disk
        for at in $(cd images && ls); do
            instants=$((instants + 1))
            mount -o loop "images/$at" disk || { fail "$*: $variant, $at: cannot be mounted"; continue; }
            (cd disk && "$check" "$at") || fail "$*: the $variant disk stopped before $at: $(sed -n "${at/ended/\$}p" log)"
            umount disk
        done
    done
}
contents() { "$TWINSIFT" index export "$1" | sort; }
lacks() { echo "$1"; exit 1; } # ends the check

# ---- dedup --update: the same command, given again, comes to the same end; an end that was reported is there

before_update() { cp empty.twin w.twin; }
update=(dedup -q --update w.twin a.jsonl b.jsonl -o w.out --groups w.groups)
mkdir whole
(cd whole && cp ../a.jsonl ../b.jsonl ../empty.twin . && before_update && "$TWINSIFT" "${update[@]}" && contents w.twin >w.contents)
updated() { cmp w.out ../whole/w.out && cmp w.groups ../whole/w.groups && contents w.twin | cmp - ../whole/w.contents; }
check_update()
{
    [ "$1" != ended ] || updated || lacks "what was reported as done is not there"
    "$TWINSIFT" "${update[@]}" || lacks "the same command ends with status $?"
    updated || lacks "the same command comes to another end"
    ! ls w.twin-update-* 2>/dev/null || lacks "a file is left"
}
prepared before_update
crashes check_update "${update[@]}"

# To standard output it cannot be given again: what the index has, or will have, is there.
check_standard()
{
    [ "$1" != ended ] || contents w.twin | cmp - ../whole/w.contents || lacks "what was reported as done is not there"
    { [ -z "$(contents w.twin 2>/dev/null)" ] && ! ls w.twin-update-* >/dev/null 2>&1; } || cmp standard ../whole/w.out ||
        lacks "documents are in the index, and not in the output"
}
prepared before_update
crashes check_standard dedup -q --update w.twin a.jsonl b.jsonl

# ---- -o: the output is the old one or the new one, whole

old_output() { echo old >out && echo old >groups; }
"$TWINSIFT" dedup -q a.jsonl b.jsonl -o whole/out --groups whole/groups
old_or_new()
{
    local name
    for name in out groups; do
        cmp -s $name ../whole/$name || { [ "$1" != ended ] && [ "$(cat $name)" = old ]; } || lacks "$name is neither"
    done
}
none_or_new()
{
    local name
    for name in out groups; do
        cmp -s $name ../whole/$name || { [ "$1" != ended ] && ! [ -e $name ]; } || lacks "$name is not whole"
    done
}
for before in old_output nothing; do
    prepared $before
    check=old_or_new
    [ $before = old_output ] || check=none_or_new
    crashes $check dedup -q a.jsonl b.jsonl -o out --groups groups
done
"$TWINSIFT" sign -q a.jsonl -o whole/a.sig
check_sign() { cmp -s a.sig ../whole/a.sig || { [ "$1" != ended ] && ! [ -e a.sig ]; } || lacks "a.sig is not whole"; }
prepared nothing
crashes check_sign sign -q a.jsonl -o a.sig

# ---- index add: the index is sound, and has whole batches; when add has ended, all

before_add() { before_update && "$TWINSIFT" index add -q w.twin b.jsonl; }
(cd whole && before_add && contents w.twin >had && "$TWINSIFT" index add -q --batch 50 w.twin a.jsonl && contents w.twin >has)
check_add()
{
    "$TWINSIFT" index check w.twin >/dev/null || lacks "the index is damaged"
    contents w.twin >now
    [ "$1" != ended ] || cmp now ../whole/has || lacks "documents that were added are gone"
    [ -z "$(comm -23 ../whole/had now)" ] || lacks "documents that had been there are gone"
    [ -z "$(comm -23 now ../whole/has)" ] || lacks "documents are there that nobody has added"
    "$TWINSIFT" index add -q w.twin a.jsonl || lacks "the same command ends with status $?"
    contents w.twin | cmp - ../whole/has || lacks "the same command comes to another end"
}
prepared before_add
crashes check_add index add -q --batch 50 w.twin a.jsonl

# ---- bloom add: the filter is sound, and has the items it had; when add has ended, all

before_bloom() { "$TWINSIFT" bloom create -q f.bloom --items 4000 && "$TWINSIFT" bloom add -q f.bloom items; }
check_bloom()
{
    "$TWINSIFT" bloom has f.bloom items | cmp -s - items || lacks "items that had been there are gone"
    [ "$1" != ended ] || "$TWINSIFT" bloom has f.bloom more | cmp -s - more || lacks "items that were added are gone"
    "$TWINSIFT" bloom add -q f.bloom more || lacks "the same command ends with status $?"
}
prepared before_bloom
crashes check_bloom bloom add -q f.bloom more

# ---- mail learn: the model is there or not; when learn has ended, it knows all messages

if "$TWINSIFT" mail info -m none.twin 2>&1 | grep -q 'without'; then
    echo "skipped: mail (this build has none)"
else
    for ((i = 0; i < 20; i++)); do
        printf 'From: ann%d@example.org\nSubject: offer %d\n\nan offer %d that nobody can refuse\n' $i $i $((i * i)) >$i.eml
    done
    cp 0.eml one.eml
    messages=(0.eml 1.eml 2.eml 3.eml 4.eml 5.eml 6.eml 7.eml 8.eml 9.eml)
    check_mail()
    {
        local said
        said=$("$TWINSIFT" mail learn --json --as spam -m m.twin "${messages[@]}") || lacks "the same command fails: $?"
        [ "$1" != ended ] || [[ $said == *'"known":10,'* ]] || lacks "messages that were learnt are gone: $said"
        "$TWINSIFT" mail info -m m.twin >/dev/null || lacks "the model cannot be read"
    }
    learnt() { "$TWINSIFT" mail learn -q --as ham -m m.twin one.eml; }
    for before in nothing learnt; do
        prepared $before
        crashes check_mail mail learn -q --as spam -m m.twin "${messages[@]:1}" 0.eml
    done
fi

echo "$instants instants"
[ $instants -ge 50 ] || fail "only $instants instants"

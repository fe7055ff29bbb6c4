#!/usr/bin/env bash
# What is reported as done is on the disk. A library that is loaded before others (tests/sync_log.c) writes down what
# each command syncs, names and removes, in which order; and it kills the process at each of these events, after which the
# same command, given again, has to come to the same end. What --update finds then, and what somebody has changed in
# between, is checked before it is believed.
: "${TWINSIFT_GENERATE:?}" "${TWINSIFT_SYNC_LOG:?}"
program=("${TWINSIFT:?the program to test}") named=twinsift
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
[ -z "${TWINSIFT_SANITIZED-}" ] || skip "sanitizers have to be loaded first"

folder=$(pwd -P)
# logged ARGUMENT...: runs the program, which leaves the file log.
logged() { rm -f log; LD_PRELOAD=$TWINSIFT_SYNC_LOG TWIN_SYNC_LOG=$folder/log "$TWINSIFT" "$@"; }
# killed_at N ARGUMENT...: kills it instead of its Nth event. False: it has fewer, and came to its end.
killed_at()
{
    local number=$1
    shift
    rm -f log
    { LD_PRELOAD=$TWINSIFT_SYNC_LOG TWIN_SYNC_LOG=$folder/log TWIN_SYNC_STOP=$number "$TWINSIFT" "$@"; } 2>/dev/null
    [ $? = 137 ]
}
# durable WHAT: every name in the log was given to a file that was on the disk, and its folder went there after it.
durable()
{
    awk -v "what=$1" '
        { event = $1; path = $0; sub(/^[^ ]* /, "", path); above = path; sub(/\/[^\/]*$/, "", above) }
        event == "name-unsynced" { print what ": " path " gets its name before it is on the disk"; bad = 1 }
        event ~ /^name/ { waiting[path] = above; names++ }
        event == "remove" { delete waiting[path] }
        event == "sync" { for (name in waiting) if (waiting[name] == path) delete waiting[name] }
        END {
            for (name in waiting)
                if (name !~ /[.][0-9a-f]{6}$|[.]new$/) { # the temporary name of a file that replaces another
                    print what ": the folder of " name " is not synced after it"; bad = 1
                }
            if (!names) { print what ": nothing gets a name"; bad = 1 }
            exit bad
        }' log >wrong || fail "$(cat wrong)"
}
# in_order WHAT PATTERN...: these lines are in the log, each the first of its kind after the one before.
in_order()
{
    local what=$1 pattern at=0 next
    shift
    for pattern; do
        next=$(awk -v "at=$at" -v "pattern=$pattern" 'NR > at && $0 ~ pattern { print NR; exit }' log)
        [ -n "$next" ] || { fail "$what: no \"$pattern\" after line $at of: $(cat log)"; return; }
        at=$next
    done
}

"$TWINSIFT_GENERATE" --docs 300 --bytes 300 --seed 4 --copies 0.3 --edits >a.jsonl
"$TWINSIFT_GENERATE" --docs 200 --bytes 300 --seed 5 --copies 0.3 --edits | sed 's/"d/"e/' >b.jsonl
cat a.jsonl b.jsonl >both.jsonl

# ---- every output

mkdir o
for again in new replaced; do
    logged dedup -q a.jsonl -o o/kept --groups o/groups --report o/report.html || fail "dedup"
    durable "dedup, $again"
    grep -q "^sync $folder/o$" log || fail "dedup, $again: the folder is not synced"
    in_order "dedup, $again" '^name .*/o/kept$' "^sync $folder/o$" '^name .*/o/report.html$' "^sync $folder/o$"
    logged dedup -q a.jsonl b.jsonl -o o/ || fail "dedup -o FOLDER/"
    durable "dedup -o FOLDER/, $again"
    # All are on the disk before the first has its name.
    in_order "dedup -o FOLDER/, $again" '^sync' '^sync' '^name .*/a.jsonl$' '^name .*/b.jsonl$' "^sync $folder/o$"
    [ "$(grep -c "^sync $folder/o$" log)" = 1 ] || fail "dedup -o FOLDER/: one folder is synced more than once"
    for command in "pairs -q a.jsonl -o o/pairs" "pairs -q a.jsonl -o o/pairs.gz" "sign -q a.jsonl -o o/a.sig" \
        "band -q o/a.sig -o o/a.cand" "join -q o/a.sig o/a.cand -o o/a.pairs" \
        "filter -q o/a.sig o/a.pairs -o o/filtered.zst" "plan --threshold 0.8 --plot o/curve.svg" \
        "show -q d0000001 d0000002 a.jsonl -o o/shown" "dedup -q --resume --temp o a.jsonl -o o/resumed"; do
        # shellcheck disable=SC2086
        logged $command >/dev/null 2>err || [ $? = 1 ] || fail "$command: $(cat err)"
        durable "$command, $again"
    done
done
"$TWINSIFT" dedup -q a.jsonl -o plain --no-sync && logged dedup -q a.jsonl -o o/kept --no-sync || fail "--no-sync"
! grep -q '^sync' log || fail "--no-sync: syncs $(cat log)"
cmp -s plain o/kept || fail "--no-sync: another output"
# Folders that are made for outputs are names too.
mkdir -p in/x in/y && cp a.jsonl in/x/same.jsonl && cp b.jsonl in/y/same.jsonl
logged dedup -q in/x/same.jsonl in/y/same.jsonl -o made/ || fail "dedup to a new folder"
durable "dedup to a new folder"
in_order "dedup to a new folder" '^name .*/made/x/same.jsonl$' "^sync $folder/made$" "^sync $folder$"

# ---- indexes, filters, models

logged index create u.twin || fail "index create"
durable "index create"
logged index add -q u.twin a.jsonl || fail "index add"
in_order "index add" "^write .*/u.twin$" "^sync .*/u.twin$" "^write .*/u.twin$"
logged index export u.twin -o o/export || fail "index export"
durable "index export"
logged index query -q u.twin b.jsonl -o o/query || [ $? = 1 ] || fail "index query"
durable "index query"
logged index compact -q u.twin || fail "index compact"
durable "index compact"
seq 1000 | logged bloom create -q f.bloom --items 1000 || fail "bloom create"
durable "bloom create"
seq 1000 2000 | logged bloom add -q f.bloom || fail "bloom add"
durable "bloom add"
if "$TWINSIFT" mail info -m none.twin 2>&1 | grep -q 'without'; then
    echo "skipped: mail (this build has none)"
else
    printf 'From: ann@example.org\nSubject: one\n\nan offer that nobody can refuse\n' >one.eml
    logged mail learn -q --as spam -m m.twin one.eml || fail "mail learn"
    durable "mail learn"
    in_order "mail learn" "^name .*/m.twin$" "^write .*/m.twin$" "^sync .*/m.twin$" "^write .*/m.twin$"
fi

# ---- --update: outputs, folder, journal, folder, note, index, note, and only then the journal is removed

"$TWINSIFT" index create empty.twin
update=(dedup -q --update w.twin both.jsonl -o o/w.out --groups o/w.groups)
contents() { "$TWINSIFT" index export "$1" | sort; }
fresh() { rm -f w.twin* o/w.*; cp empty.twin w.twin; }
# Standard output is an output too, where the shell has sent it to a file.
for redirected in "" "-o /dev/stdout" "-o o/w.out --groups -"; do
    fresh
    # shellcheck disable=SC2086
    logged dedup -q --update w.twin both.jsonl $redirected >o/w.standard || fail "dedup --update $redirected >FILE"
    in_order "dedup --update $redirected >FILE" "^sync $folder/o/w.standard$" "^sync $folder/o$" \
        '^name .*/w.twin-update-[0-9a-f]*.jsonl$' '^write .*/w.twin$'
done
fresh
logged "${update[@]}" || fail "dedup --update"
durable "dedup --update"
in_order "dedup --update" '^sync' '^sync' '^name .*/o/w.out$' '^name .*/o/w.groups$' "^sync $folder/o$" \
    '^sync' '^name .*/w.twin-update-[0-9a-f]*.jsonl$' "^sync $folder$" '^write .*/w.twin-updated$' \
    '^sync .*/w.twin-updated$' '^write .*/w.twin$' '^sync .*/w.twin$' '^write .*/w.twin$' '^write .*/w.twin-updated$' \
    '^sync .*/w.twin-updated$' '^remove .*/w.twin-update-[0-9a-f]*.jsonl$' "^sync $folder$"
awk -v "name=$folder/w.twin-update-" '/^write .*w.twin$/ { print; exit } index($0, "name " name) == 1 { exit }' log |
    grep -q . && fail "dedup --update: the index is changed before the journal has its name"
cp log update.log
cp o/w.out whole.out
cp o/w.groups whole.groups
contents w.twin >whole.contents
[ "$(wc -l <whole.contents)" = "$(wc -l <whole.out)" ] || fail "dedup --update: the index has not what was kept"
as_whole()
{
    cmp -s whole.out o/w.out || fail "$1: another output"
    cmp -s whole.groups o/w.groups || fail "$1: other groups"
    contents w.twin | cmp -s - whole.contents || fail "$1: another index"
    ! ls w.twin-update-* >/dev/null 2>&1 || fail "$1: left $(ls w.twin-update-*)"
}

# Killed at each event, and given again.
number=1
while fresh && killed_at $number "${update[@]}"; do
    run 0 "${update[@]}"
    as_whole "killed at event $number, $(tail -n 1 log 2>&1)"
    number=$((number + 1))
done
[ $number = $(($(wc -l <update.log) + 1)) ] || fail "killed at $number of $(wc -l <update.log) events"
echo "killed at $((number - 1)) events"

# ---- what was changed between the kill and the repetition

# interrupted PATTERN: killed when the last event of this kind was to come; journal becomes the name.
interrupted()
{
    local at
    at=$(awk -v "pattern=$1" '$0 ~ pattern { at = NR } END { print at }' update.log)
    fresh
    killed_at "$at" "${update[@]}" || fail "not killed at $1"
    journal=$(echo w.twin-update-*.jsonl)
    [ -e "$journal" ] && cmp -s whole.out o/w.out || fail "killed at $1: no journal, or no output"
}
flip() { # FILE: a bit of a byte in the middle of it
    local at=$(($(stat -c %s "$1") / 2))
    printf "\\x$(printf %x $((0x$(xxd -s $at -l 1 -p "$1") ^ 1)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}
# Nothing, or all, of it is in the index; the latter is noted only in the third state.
before='^sync .*/w.twin$' after='^write .*/w.twin-updated$' noted='^remove .*-update-'
for change in ': >o/w.out' 'rm o/w.out' 'truncate -s 10000 o/w.out' 'flip o/w.out'; do
    for state in "$before" "$after" "$noted"; do
        interrupted "$state"
        [ "$state" = "$before" ] || groups=$(stat -c %i o/w.groups)
        eval "$change"
        run 0 "${update[@]/-q/--color=never}"
        says 'w.out: is not as the interrupted run left it'
        as_whole "$change, at $state"
        # Groups that are as they were are not touched when documents are in the index.
        [ "$state" = "$before" ] || [ "$(stat -c %i o/w.groups)" = "$groups" ] || fail "$change: groups were made again"
        run 0 "${update[@]/-q/--color=never}"
        says 'was done before'
        as_whole "$change, at $state, once more"
    done
done
# Groups can be made again as long as nothing is in the index.
interrupted "$before"
rm o/w.groups
run 0 "${update[@]}"
as_whole "groups removed"
interrupted "$after"
rm o/w.groups
wrong 'groups cannot be made again' "${update[@]}"
run 0 dedup -q --update w.twin both.jsonl -o o/w.out
cmp -s whole.out o/w.out || fail "without groups: another output"
contents w.twin | cmp -s - whole.contents || fail "without groups: another index"

# A journal that is not whole is not taken for one.
for change in ': >"$journal"' ': >"$journal"; : >o/w.out' 'head -n 100 "$journal" >cut; mv cut "$journal"' \
    'truncate -s -20 "$journal"' 'flip "$journal"' 'echo "{\"id\":1,\"text\":\"more\"}" >>"$journal"' \
    'sed -i "1s/\"version\":1/\"version\":9/" "$journal"' 'echo "a text of somebody" >"$journal"'; do
    interrupted "$before"
    eval "$change"
    run 0 "${update[@]/-q/--color=never}"
    says "$journal: is not a whole file of a run"
    says 'nothing of this run is in the index'
    as_whole "$change, before the first batch"
    interrupted "$after"
    eval "$change"
    cp "$journal" kept.journal
    cp o/w.out kept.out
    wrong "$journal: is not a whole file of a run" "${update[@]}"
    says 'is not known'
    contents w.twin | cmp -s - whole.contents && cmp -s kept.out o/w.out && cmp -s kept.journal "$journal" ||
        fail "$change: a run that is refused has changed something"
done
# One that is gone: before the first batch the run begins anew; later it is not known what the index has.
interrupted "$before"
rm "$journal"
run 0 "${update[@]}"
as_whole "no journal"
interrupted "$after"
rm "$journal"
wrong "$journal: this run was interrupted while it changed the index, and this file is gone" "${update[@]}"
cmp -s whole.out o/w.out || fail "no journal: another output"

# Another run completes a journal, unless its outputs are not what they were: those it cannot make.
other=(dedup -q --update w.twin a.jsonl -o o/w.other)
for state in "$before" "$after"; do
    interrupted "$state"
    run 0 "${other[@]}"
    [ ! -s o/w.other ] || fail "another run: keeps what the first has added"
    as_whole "completed by another run"
    # The run that was interrupted, given again, is done, although it is not the last, whatever was added since.
    for added in '' '{"id":"more","text":"what somebody else has added to the index"}'; do
        [ -z "$added" ] || "$TWINSIFT" index add -q w.twin <(echo "$added") --as jsonl
        run 0 "${update[@]/-q/--color=never}"
        says 'was done before, and all of its documents are in the index'
        cmp -s whole.out o/w.out && cmp -s whole.groups o/w.groups || fail "not the last run: another output"
    done
    interrupted "$state"
    : >o/w.out
    wrong 'give the command of that run again' "${other[@]}"
    says 'w.out: is not as the interrupted run left it'
    [ ! -e o/w.other ] || fail "another run was refused, and has an output"
    run 0 "${update[@]}"
    as_whole "the command of that run again"
done
# That run was completed by another, which was then refused: it is done, and its output is not replaced by an empty one.
interrupted "$before"
wrong 'cannot' dedup -q --update w.twin a.jsonl missing.jsonl -o o/w.other
run 0 "${update[@]}"
as_whole "completed by a run that was refused, or not"
interrupted "$noted"
rm "$journal"
run 0 "${update[@]/-q/--color=never}"
says 'was done before'
as_whole "no journal of a run that was done"
# The journal of a run is left, and completed after that of the run which began last.
fresh
logged "${other[@]}"
at=$(awk '/^remove .*-update-/ { print NR; exit }' log)
fresh
killed_at "$at" "${other[@]}" || fail "not killed before its journal is removed"
journal=$(echo w.twin-update-*.jsonl)
cp "$journal" left.journal
run 0 "${update[@]}"
cp o/w.out after.out
cp left.journal "$journal"
for _ in 1 2 3; do
    run 0 "${update[@]/-q/--color=never}"
    says 'was done before'
    cmp -s o/w.out after.out || fail "after the journal of another run: another output"
done

# Other options would make another output.
interrupted "$after"
: >o/w.out
wrong 'give the same options again' "${update[@]}" --threshold 0.3
[ ! -s o/w.out ] || fail "other options: an output was written"
run 0 "${update[@]}"
as_whole "the same options again"

# To a folder.
cp empty.twin v.twin
rm -f log
folders=(dedup -q --update v.twin a.jsonl b.jsonl -o to/)
logged "${folders[@]}" || fail "--update to a folder"
cp -r to whole.to
contents v.twin >v.contents
at=$(awk '/^remove .*-update-/ { print NR; exit }' log)
rm -r to v.twin*
cp empty.twin v.twin
killed_at "$at" "${folders[@]}" || fail "--update to a folder: not killed"
: >to/b.jsonl
run 0 "${folders[@]}"
diff -r to whole.to >/dev/null || fail "--update to a folder: other outputs"
contents v.twin | cmp -s - v.contents || fail "--update to a folder: another index"

# A disk that is mounted elsewhere, or a folder that was moved, has the same run.
mkdir empty there && mkdir empty/o && cp both.jsonl empty && cp empty.twin empty/w.twin
in_folder() { (cd "$1" && shift && "$@"); }
moved()
{
    mv here/it there
    in_folder there/it "$TWINSIFT" "${update[@]}" || fail "moved, $1: status $?"
    cmp -s there/it/o/w.out whole.out && cmp -s there/it/o/w.groups whole.groups || fail "moved, $1: another output"
    contents there/it/w.twin | cmp -s - whole.contents || fail "moved, $1: another index"
    rm -r here there/it
}
for state in "$before" "$after" "$noted"; do
    at=$(awk -v "pattern=$state" '$0 ~ pattern { at = NR } END { print at }' update.log)
    for change in : ': >o/w.out'; do
        mkdir here && cp -r empty here/it
        in_folder here/it killed_at "$at" "${update[@]}" || fail "not killed at $state"
        in_folder here/it eval "$change"
        moved "$state, $change"
    done
done
mkdir here && cp -r empty here/it
in_folder here/it "$TWINSIFT" "${update[@]}"
moved "at the end"

# ---- files that only look like ours

fresh
printf 'somebody else wrote this\n' >theirs
ln theirs w.twin-updated
wrong 'w.twin-updated: was not written by twinsift' "${update[@]}"
[ "$(cat theirs)" = 'somebody else wrote this' ] && [ "$(stat -c %a theirs)" = "$(stat -c %a both.jsonl)" ] ||
    fail "a file called INDEX-updated was changed"
rm w.twin-updated
printf '0123456789abcdef 0123456789abcdef\n' >w.twin-updated # of an earlier build
run 0 "${update[@]}"
as_whole "after an earlier build"
fresh
head -c 95 /dev/zero >w.twin-updated # its length was on the disk before its bytes, when the power was cut
run 0 "${update[@]}"
as_whole "after a note of zeros"
fresh
printf '{"id":1,"text":"a document of somebody, which is in no output"}\n' >w.twin-update-0123456789abcdef.jsonl
wrong 'w.twin-update-0123456789abcdef.jsonl: is not a whole file of a run' "${update[@]}"
[ "$(contents w.twin)" = "" ] || fail "a file that is no journal was added to the index"
rm w.twin-update-*

# ---- nothing is left by a command that is refused

cp a.jsonl no_index
wrong 'no_index' dedup -q --update no_index b.jsonl -o o/none
[ "$(echo no_index*)" = no_index ] || fail "--update of a file that is no index leaves $(echo no_index*)"
fresh
wrong 'no-sync' "${update[@]}" --no-sync
wrong 'missing.jsonl' dedup -q --update w.twin missing.jsonl -o o/none
mkdir small
printf '{"id":1,"text":"one"}\n{"id":' >cut.jsonl
wrong 'cut.jsonl' dedup -q --strict --update w.twin cut.jsonl -o o/none
[ "$(echo w.twin*)" = 'w.twin w.twin-lock' ] && [ ! -e o/none ] || fail "a run that is refused leaves $(echo w.twin*)"
wrong 'nowhere/a.twin: could not be created: No such file or directory' index create nowhere/a.twin

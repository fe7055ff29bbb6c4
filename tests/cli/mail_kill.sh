#!/usr/bin/env bash
# twinsift mail: a learner that is killed loses nothing it has acknowledged, and a full disk leaves the old model.
# shellcheck source=tests/cli/strict.bash
. "${BASH_SOURCE%/*}/strict.bash"

samples=${TWINSIFT_ROOT:?}/samples/mail
"$twinsift" mail learn -q -m model.twin --as ham "$samples/ham" 2>err || { grep -q 'not supported' err && echo 'skipped: this build has no mail' && exit 77; }

# message N: what is learnt in turn N.
message()
{
    printf 'From: sender%d@example.org\nTo: me@example.net\nSubject: number %d\nMessage-ID: <%d@example.org>\n\n' \
        "$1" "$1" "$1"
    seq $(($1 * 7)) $(($1 * 7 + 40))
}

kills=${KILLS:-24}
acknowledged=0
for turn in $(seq "$kills"); do
    message "$turn" >"$turn.eml"
    "$twinsift" mail learn -q -m model.twin --as spam "$turn.eml" &
    learner=$!
    # From at once to after the end: instants spread over a run, which takes some 20 ms.
    sleep "0.0$((turn * 37 % 60 + 10))"
    kill -9 $learner 2>/dev/null || true
    if wait $learner 2>/dev/null; then
        echo "$turn.eml" >>done
        acknowledged=$((acknowledged + 1))
    fi
done
"$twinsift" mail info -m model.twin --json >out || fail "the model cannot be opened after kills"
if [ $acknowledged -gt 0 ]; then
    xargs "$twinsift" mail learn -m model.twin --as spam <done 2>err || fail "the model cannot be written after kills"
    grep -q "^0 learnt, 0 corrected, $acknowledged known already" err ||
        fail "of $acknowledged messages that were acknowledged some are lost: $(cat err)"
fi

# One who learns a folder and is asked to end says where it stopped; what came before is learnt.
mkdir folder
for n in $(seq 2000 4000); do
    message "$n" >"folder/$n.eml"
done
"$twinsift" mail learn -m stopped.twin --as spam folder 2>err &
learner=$!
sleep 0.15
kill -TERM $learner 2>/dev/null || true
if ! wait $learner 2>/dev/null && grep -q '^stopped after' err; then
    learnt=$(sed -n 's/^stopped after .*: \([0-9]*\) learnt.*/\1/p' err)
    "$twinsift" mail learn -m stopped.twin --as spam folder 2>err || fail "a run that was stopped cannot be repeated"
    grep -q " $learnt known already" err || fail "of $learnt messages some are lost: $(cat err)"
fi

# One who compacts and is ended leaves the model as it was, and nothing beside it where files without a name can be made.
for turn in 1 2 3 4 5 6 7 8; do
    "$twinsift" mail compact -q -m model.twin &
    compacting=$!
    sleep "0.0$((turn * 4 + 4))"
    kill -TERM $compacting 2>/dev/null || true
    wait $compacting 2>/dev/null || true
    case $(stat -f -c %T .) in
    ext2/ext3 | tmpfs | xfs | btrfs) [ -z "$(find . -name 'model.twin.*.new')" ] || fail "a compaction that was ended left a file" ;;
    esac
done
"$twinsift" mail info -m model.twin --json >out || fail "the model cannot be opened after compactions that were ended"

# A file that may not grow: an error, and the model as it was. Sanitizers need more room than is left then.
[ -z "${TWINSIFT_SANITIZED:-}" ] || exit 0
cp model.twin small.twin
blocks=$(($(stat -c %s small.twin) / 1024 + 256))
for n in $(seq 1000 1040); do
    message "$n" >"new-$n.eml"
done
status=0
(ulimit -f $blocks && for n in $(seq 1000 1040); do
    "$twinsift" mail learn -q -m small.twin --as ham "new-$n.eml" || exit 7
done) 2>err || status=$?
[ $status = 0 ] || [ $status = 7 ] || fail "a full disk ends it with status $status"
[ $status = 0 ] || [ -s err ] || fail "a full disk is no error"
"$twinsift" mail info -m small.twin >out || fail "the model cannot be opened after a full disk"

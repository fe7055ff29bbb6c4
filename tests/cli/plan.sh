#!/usr/bin/env bash
# twinsift plan: output, errors and exit status. $TWINSIFT is the program.
program=("${TWINSIFT:?the program to test}" plan) named='twinsift plan'
# shellcheck source=tests/cli/frame.bash
. "${BASH_SOURCE%/*}/frame.bash"
has_line() { grep -qxF -- "$1" out || fail "$asked: no line \"$1\" in: $(cat out)"; }
silent() { [ ! -s err ] || fail "$asked: said $(cat err)"; }

# ---- the four forms

run 0 --reject 0.6:0.01 --accept 0.9:0.99
prints 'rows 15 bands 20 hashes 300
reject: P(0.6) = 0.009362, at most 0.01 requested
accept: P(0.9) = 0.990055, at least 0.99 requested
half-way: P(0.7983) = 0.5'
silent

run 0 --threshold 0.8 --hashes 128
prints 'rows 5 bands 25 hashes 128
accept: P(0.8) = 0.999951, at least 0.999 requested
half-way: P(0.4868) = 0.5
areas: false positives 0.319970, false negatives 0.000001'
cp out slots
run 0 --threshold .8 && cmp -s out slots || fail '128 hashes are not the default'
run 0 --threshold=0.8 --hashes=128 --recall=0.999 && cmp -s out slots || fail '0.999 is not the default'
run 0 --threshold 0.8 --error 0.05
has_line 'rows 8 bands 50 hashes 400'
# 19 rows: 0.8^19 = 0.01441, 1 - 0.98559^52 = 0.530; 20 rows: 0.8^20 = 0.01153, 1 - 0.98847^50 = 0.440.
run 0 --threshold 0.8 --hashes 1K --recall 0.5
has_line 'rows 19 bands 52 hashes 1000'

run 1 --threshold 0.01 --hashes 16
has_line 'rows 1 bands 16 hashes 16'
grep -q 'cannot reach 0.999' err || fail "$asked: did not say that it cannot: $(cat err)"

run 0 --bands 20 --rows 5
has_line 'rows 5 bands 20 hashes 100'
for point in '0.00 0.000000' '0.20 0.006381' '0.30 0.047494' '0.40 0.186050' '0.50 0.470051' '0.60 0.801902' \
    '0.70 0.974781' '0.80 0.999644' '1.00 1.000000'; do
    has_line "${point/ /$'\t'}"
done
[ "$(grep -c "$(printf '\t')" out)" = 21 ] || fail "$asked: not 21 points"

run 0 --threshold 0.8 --curve
[ "$(grep -c "$(printf '\t')" out)" = 21 ] || fail "$asked: not 21 points"

run 0 --bloom 1M:0.01
prints 'cells 9585059 functions 7 bytes 1198133
size: 1.14 MiB, 9.59 cells per item
false positives: 0.01004 after 1000000 items, 0.01 requested
bloom create: blocks, cells 10099712 functions 8, 1.20 MiB, false positives 0.009998
counters of 4 bits: 4.82 MiB, no overflow expected while each item is added 1 time or less
counters of 8 bits: 9.63 MiB, no overflow expected while each item is added 28 times or less
counters of 16 bits: 19.26 MiB, no overflow expected while each item is added 7281 times or less'
run 0 --bloom 1000000000:0.01
has_line 'cells 9585058378 functions 7 bytes 1198132298'
run 0 --bloom 97661:0.0001
has_line 'cells 1872173 functions 13 bytes 234022'
has_line 'bloom create: classic, cells 1872896 functions 13, 228.62 KiB, false positives 9.978e-05'
run 0 --bloom 1000G:0.000000000001
has_line 'bloom create: makes no such filter'
run 0 --bloom 1M:0.01 --curve
for point in 'functions 1 0.09907' 'functions 7 0.01004' 'cells 9585059 0.01004' 'items 2000000 0.1575'; do
    has_line "$(tr ' ' '\t' <<<"$point")"
done

run 0 --bands 10 --rows 5 --threshold 0.6
has_line 'rows 5 bands 10 hashes 50'
has_line 'threshold: P(0.6) = 0.554918'

# 1 - (1 - 20^-5)^1996 = 0.00062, and with 4 characters 0.0124; five of 1996 shingles change.
run 0 --length 2000
prints 'shingle char:5
an unrelated text of 2000 characters has a given shingle with probability 0.00062
one changed character leaves a similarity of 0.9950 or more'
run 0 --length 1 # as short as a text can be
prints 'shingle char:1
an unrelated text of 1 characters has a given shingle with probability 0.05
one changed character leaves a similarity of 0.0000 or more'

# ---- JSON

run 0 --json --reject 0.6:0.01 --accept 0.9:0.99 --curve
[ "$(wc -l <out)" = 1 ] || fail "$asked: not one line"
grep -q '^{"rows":15,"bands":20,"hashes":300,"half_way":0.798' out || fail "$asked: $(cat out)"
if command -v python3 >/dev/null; then
    python3 -c '
import json
plan = json.load(open("out"))
assert plan["reject"]["probability"] <= plan["reject"]["requested"] == .01, plan
assert plan["accept"]["probability"] >= plan["accept"]["requested"] == .99, plan
assert len(plan["curve"]) == 21 and plan["curve"][-1] == [1, 1], plan
for j, p in plan["curve"]:
    assert abs(p - (1 - (1 - j ** 15) ** 20)) < 1e-9, (j, p)' || fail "$asked: not the JSON it should be"
fi
run 0 --json --bloom 1G:0.01
grep -q '^{"items":1000000000,"requested":0.01,"cells":9585058378,"functions":7,"bytes":1198132298,"probability":0.01003921766,"file":{"layout":"blocks","cells":10099308032,"functions":8,"bytes":1262413504,"probability":0.009999998611,"counters":\[{"bits":4,' out ||
    fail "$asked: $(cat out)"

# Truth by other means: areas by the trapezoidal rule, the tail of a Poisson variable by its head.
if command -v python3 >/dev/null; then
    run 0 --json --bands 20 --rows 5 --threshold 0.6
    python3 -c '
import json
areas, n = json.load(open("out"))["areas"], 100000
p = [1 - (1 - (i / n) ** 5) ** 20 for i in range(n + 1)]
t = n * 6 // 10
below = (sum(p[: t + 1]) - (p[0] + p[t]) / 2) / n
above = (sum(1 - x for x in p[t:]) - (1 - p[t]) / 2) / n
assert abs(areas["false_positives"] - below) < 1e-6, (areas, below)
assert abs(areas["false_negatives"] - above) < 1e-6, (areas, above)' || fail "$asked: not these areas: $(cat out)"
    run 0 --json --bloom 200K:0.001 --curve
    python3 -c '
import json, math
plan = json.load(open("out"))
file, n = plan["file"], plan["items"]
mean, cells = n * file["functions"] / file["cells"], file["cells"]
def tail(least):
    return 1 - math.fsum(math.exp(-mean) * mean**i / math.factorial(i) for i in range(least))
sharing = max(i for i in range(1, 12) if cells * tail(i) >= 1)
for counter in file["counters"]:
    full = 2 ** counter["bits"] - 1
    times = max(r for r in range(full + 1) if r * sharing < full)
    assert counter["additions"] == times, (counter, sharing, times)
for name, column in plan["curves"].items():
    assert min(abs(rate - plan["probability"]) for _, rate in column) < 1e-6, name
functions = dict(plan["curves"]["functions"])
assert min(functions, key=functions.get) == plan["functions"], functions' || fail "$asked: not this plan: $(cat out)"
fi
run 0 --json --length 2000
prints '{"shingle":"char:5","chance":0.000623556,"after_one_change":0.995002}'

# ---- wrong uses

wrong 'nothing to plan for'
wrong 'like 1M:0.8:0.2' --forest 1M:0.2:0.8
wrong 'like 1M:0.8:0.2' --forest 1M:0.8
wrong 'like 1M:0.8:0.2' --forest 1:0.8:0.2
wrong 'no curve' --forest 1M:0.8:0.2 --curve
run 0 --forest 50000:0.7:0.3 --json
python3 -c 'import json, math
plan = json.load(open("out"))
assert 50000 * 0.3 ** plan["depth"] <= 1 < 50000 * 0.3 ** (plan["depth"] - 1)
assert plan["trees"] == math.ceil(50000 ** plan["rho"]) and abs(0.3 ** plan["rho"] - 0.7) < 1e-5
for recall, trees in plan["recall"]:
    miss = lambda n: (1 - 0.7 ** plan["depth"]) ** n
    assert miss(trees) <= 1 - recall < miss(trees - 1)' || fail "$asked: not this forest: $(cat out)"
wrong 'nothing to plan for' --curve
wrong '--accept' --reject 0.6:0.01
wrong '--reject' --accept 0.9:0.99
wrong '--rows' --bands 20
wrong '--bands' --rows 5
wrong '--rows' --threshold 0.8 --bands 20
wrong 'use one' --threshold 0.8 --bands 20 --rows 5 --hashes 100
wrong 'use one' --length 100 --bloom 10:0.1
wrong 'no curve to print' --length 100 --curve
wrong '--length: "0" is not' --length 0
wrong 'use one' --bloom 10:0.1 --threshold 0.5
wrong 'need --threshold' --hashes 128
wrong 'need --threshold' --recall 0.9
wrong 'exclude each other' --threshold 0.8 --hashes 128 --error 0.05
wrong '--threshold: "abc" is not a number from 0 to 1' --threshold abc
wrong '--threshold: "1.1" is not' --threshold 1.1
wrong '--threshold: "-0.1" is not' --threshold -0.1
wrong '--threshold: "nan" is not' --threshold nan
wrong '--threshold: "0x1" is not' --threshold 0x1
wrong '--threshold: " 0.5" is not' --threshold ' 0.5'
wrong '--threshold: "" is not' --threshold ''
wrong '--threshold: "0.5x" is not' --threshold 0.5x
wrong '--hashes: "0" is not a whole number from 1 to 65536' --threshold 0.8 --hashes 0
wrong '--hashes: "65537"' --threshold 0.8 --hashes 65537
wrong '--hashes: "-1"' --threshold 0.8 --hashes -1
wrong '--hashes: "1.5"' --threshold 0.8 --hashes 1.5
wrong '--hashes: "1KK"' --threshold 0.8 --hashes 1KK
wrong '--hashes: "18446744073709551617"' --threshold 0.8 --hashes 18446744073709551617
wrong '--hashes: "99999999999999999G"' --threshold 0.8 --hashes 99999999999999999G
wrong 'more than 65536 hashes' --threshold 0.8 --error 0.001
wrong 'more than 65536 hashes' --threshold 0.8 --error 0
wrong '--reject: "0.6"' --reject 0.6 --accept 0.9:0.99
wrong '--reject: "0.6:"' --reject 0.6: --accept 0.9:0.99
wrong '--accept: "0.9:0.99:1"' --reject 0.6:0.01 --accept 0.9:0.99:1
wrong 'no curve is at most' --reject 0.9:0.01 --accept 0.6:0.99
wrong 'no curve is at most' --reject 0.6:0 --accept 0.9:0.99
wrong 'more than 65536 hashes' --reject 0.899:0.01 --accept 0.9:0.99
wrong 'need 90000 hashes' --bands 300 --rows 300
wrong 'like 1M:0.01' --bloom 1000
wrong '--bloom: "x" is not a whole number' --bloom x:0.01
wrong '--bloom: "0" is not a whole number' --bloom 0:0.01
wrong 'between 0 and 1' --bloom 10:0
wrong 'between 0 and 1' --bloom 10:1
wrong 'more cells than can be counted' --bloom 9000000000G:0.01
wrong 'needs a value' --threshold
wrong 'takes no value' --threshold 0.8 --curve=yes
wrong 'unknown option --treshold' --treshold 0.8
wrong 'unknown option -x' -x
wrong 'unexpected argument "file"' --threshold 0.8 file
wrong 'does not end in .svg' --threshold 0.8 --plot curve.png
wrong 'nowhere/curve.svg: cannot be written' --threshold 0.8 --plot nowhere/curve.svg

# ---- help and plots

run 0 --help
grep -q '^Usage: twinsift plan' out && grep -q '^Examples:' out || fail "$asked: no usage or no examples"
silent
while read -r _ _ arguments; do
    case $arguments in *--plot*) continue ;; esac
    # shellcheck disable=SC2086 # the examples have no quotes
    run 0 $arguments
done < <("$TWINSIFT" plan --help | sed -n '/^Examples:/,$p' | grep '^  twinsift')

echo old >kept.svg
PATH=/nonexistent "$TWINSIFT" plan --threshold 0.8 --plot kept.svg >out 2>err
[ $? = 2 ] && [ ! -s out ] && grep -q 'gnuplot is not installed' err || fail "a missing gnuplot: $(cat out err)"
[ "$(cat kept.svg)" = old ] || fail 'a plot that failed took the old file with it'
mkdir fake && printf '#!/bin/sh\necho "line 0: no such terminal" >&2\nexit 3\n' >fake/gnuplot && chmod +x fake/gnuplot
PATH=$PWD/fake "$TWINSIFT" plan --threshold 0.8 --plot kept.svg >out 2>err
[ $? = 2 ] && [ ! -s out ] && grep -q 'gnuplot failed: line 0: no such terminal' err || fail "a failing gnuplot: $(cat err)"
[ "$(cat kept.svg)" = old ] || fail 'a plot that failed took the old file with it'

if command -v gnuplot >/dev/null; then
    run 0 --reject 0.6:0.01 --accept 0.9:0.99 --plot curve.svg
    has_line 'rows 15 bands 20 hashes 300'
    for words in 'Jaccard similarity J' 'probability of becoming a candidate' 'half-way at 0.798' 'at most 0.01 at 0.6' \
        'at least 0.99 at 0.9' '20 bands of 15 rows' '</svg>'; do
        grep -qF "$words" curve.svg || fail "$asked: \"$words\" is not in the plot"
    done
    ln -s curve.svg link.svg
    run 0 --bands 20 --rows 5 --plot link.svg
    [ -L link.svg ] && grep -q '20 bands of 5 rows' curve.svg || fail "$asked: a link was not followed"
else
    echo 'skipped: plots, for gnuplot is not installed'
fi
[ -z "$(find . -name '*.svg.*')" ] || fail "files were left behind: $(find . -name '*.svg.*')"

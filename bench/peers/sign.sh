#!/usr/bin/env bash
# Signing of ready hashes: twinsift compared with rensa (https://github.com/beowolx/rensa), one thread each, by turns.
#
#   bench/peers/sign.sh [FOLDER OF BENCH_SIGN]      default: build/release
#
# rensa and numpy are installed from PyPI into a scratch folder, BENCH_SCRATCH or a temporary one; without network this
# says so and ends. Both sign 4,096 sets with 128 slots: as many hashes as a text of 2 KB has shingles of five words, and
# of nine characters. Thousand sets per second of CPU time; the best of each of three turns.
# shellcheck source=bench/peers/frame.bash
. "$(dirname "$0")/frame.bash"
ours=$build/bench_sign
install rensa numpy

echo "| turn | hashes per set | twinsift, 1,000/s | rensa, 1,000/s | times as fast |"
echo "| ---: | ---: | ---: | ---: | ---: |"
for turn in 1 2 3; do
    "$ours" > ours.txt
    RAYON_NUM_THREADS=1 venv/bin/python "$here/sign_rensa.py" 272 2034 > theirs.txt
    for kind in 'word:5 272' 'char:9 2034'; do
        # The last row of a step is that of the best instruction set.
        rate=$(awk -v step="hashes of ${kind% *}," 'index($0, step) == 1 { rate = $NF } END { print rate }' ours.txt)
        awk -v turn="$turn" -v ours="$rate" -v count="${kind#* }" \
            '$1 == count { printf "| %d | %d | %d | %d | %.2f |\n", turn, count, ours, $2, ours / $2 }' theirs.txt
    done
done

#!/usr/bin/env bash
# The Python package: signing against the C loop alone, pairs and dedup against the program on the same documents, and
# against datasketch and rensa. It installs the wheel and the others into build/python/bench, from PyPI.
#
#     BENCH_QUICK=1     ten times fewer documents
#     BENCH_SCRATCH=DIR where the corpus goes while it is needed (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/timing.bash
. bench/timing.bash
# shellcheck source=tools/python.bash
. tools/python.bash
table=build/bench/python.tsv
documents=100000
[ -z "${BENCH_QUICK-}" ] || documents=10000

make_venv bench numpy pyarrow datasketch rensa || { echo "python: packages could not be installed: nothing is measured"; exit 0; }
compgen -G "build/python/dist/*x86_64.whl" > /dev/null || tools/wheel.sh
build/python/bench/bin/pip --quiet install --no-deps --force-reinstall build/python/dist/*x86_64.whl
need_room 300
corpus=$scratch/python.jsonl
trap 'rm -f "$corpus" "$noise" "$clock"' EXIT
make_corpus --docs "$documents"

begin_table "$documents documents, one thread, CPU, best of ${BENCH_RUNS:-5}"
declare -A value
while IFS=$'\t' read -r name number; do
    value[$name]=$number
done < <(build/python/bench/bin/python bench/python.py "$corpus" "$program")
for name in "${!value[@]}"; do
    report "$name" "${value[$name]}" ""
done | sort
report "sign: C loop / Arrow" "$(calc "${value[sign, C loop]} / ${value[sign, Arrow]}")" "" +0.95
report "sign: C loop / list of str" "$(calc "${value[sign, C loop]} / ${value[sign, list of str]}")" "" +0.90
report "pairs: package / program" "$(calc "${value[pairs, list of str]} / ${value[pairs, program]}")" "" 1.0
report "dedup: package / program" "$(calc "${value[dedup, list of str]} / ${value[dedup, program]}")" "" 1.0
ours="${value[4000 texts, twinsift]}"
for peer in datasketch:200 rensa:30; do
    [ -z "${value[4000 texts, ${peer%:*}]-}" ] ||
        report "${peer%:*} / twinsift, from raw texts" "$(calc "${value[4000 texts, ${peer%:*}]} / $ours")" "" "+${peer#*:}"
done
end_table

#!/usr/bin/env bash
# twinsift.spark in local mode: CPU against the program and against the join of MLlib's MinHashLSH, and how it grows. It
# installs the wheel and PySpark into build/python/spark, from PyPI; Java must be there.
#
#     BENCH_DOCUMENTS="20000 200000 1000000"   the collections; MLlib takes the first only
#     BENCH_SCRATCH=DIR                        where these go while they are needed (build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/timing.bash
. bench/timing.bash
# shellcheck source=tools/python.bash
. tools/python.bash
table=build/bench/spark.tsv
read -ra documents <<< "${BENCH_DOCUMENTS:-20000 200000 1000000}"
[ -z "${BENCH_QUICK-}" ] || documents=(5000 20000)

java -version 2> /dev/null || { echo "spark: there is no Java: nothing is measured"; exit 0; }
make_venv spark pytest pyspark "pandas<3" pyarrow numpy || { echo "spark: packages could not be installed: nothing is measured"; exit 0; }
compgen -G "build/python/dist/*x86_64.whl" > /dev/null || tools/wheel.sh
build/python/spark/bin/pip --quiet install --no-deps --force-reinstall build/python/dist/*x86_64.whl
need_room $((${documents[-1]} / 100))
work=$scratch/spark
mkdir -p "$work"
trap 'rm -rf "$work" "$noise" "$clock"' EXIT
for count in "${documents[@]}"; do
    corpus=$work/$count.jsonl
    make_corpus --docs "$count" --same $((count / 40)) --families "$((count / 10000)):200" \
        --forms "$((count / 40000 + 1)):$((count / 50))" --short $((count / 100))
done

begin_table "documents of 2 KB; CPU seconds, two threads"
declare -A value
while IFS=$'\t' read -r name number; do
    value[$name]=$number
    report "$name" "$number" ""
done < <(build/python/spark/bin/python bench/spark.py "$work" "$program" "${documents[@]}")
for count in "${documents[@]}"; do
    ((count < 200000)) || report "$count documents: spark, warm / program" \
        "$(calc "${value[spark, $count, warm]} / ${value[program, $count]}")" "" 12
done
report "MLlib / spark, pairs of ${documents[0]}" \
    "$(calc "${value[pairs by MLlib, ${documents[0]}]} / ${value[pairs by spark, ${documents[0]}]}")" "" +10
end_table

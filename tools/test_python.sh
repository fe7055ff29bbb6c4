#!/usr/bin/env bash
# test_python.sh [PYTEST-ARGUMENT...]: builds the wheel, installs it into fresh environments, and tests it there: for
# python3 with all that it works with, for other versions that are there with nothing but pytest. Then the module as the
# tree builds it, which reads mail. What has not changed since the last time is not built or installed again. Where there
# is no Python 3.11, no venv or no network to install from, it says so and succeeds.
#
# test_python.sh --spark: only the tests of Spark, and the large ones too, on a cluster that is started for them.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/python
. tools/python.bash

skip()
{
    echo "test_python: skipped: $1"
    exit 0
}
PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip "there is no Python 3.11 or later ($PYTHON)"
"$PYTHON" -c 'import venv, ensurepip' 2>/dev/null || skip "$PYTHON has no venv (Debian: python3-venv)"
[ "${1-}" = --spark ] ||
    make_venv test pytest hypothesis mypy numpy pyarrow pandas polars duckdb datasets datasketch rensa tqdm || skip "packages could not be installed"

tools/wheel.sh > "$work/wheel.log" 2>&1 || { tail -n 40 "$work/wheel.log"; exit 1; }
wheel=$(echo "$work"/dist/*x86_64.whl)

# run_tests NAME TESTS ARGUMENT...: in an empty folder, so that the package is the installed one. TEST_AGAIN: see test.sh.
run_tests()
{
    local name=$1
    shift
    mkdir -p "$work/run"
    set -- "$work/$name/bin/python" -m pytest -c "$root/python/pyproject.toml" --rootdir="$root/python" \
        -o cache_dir="$work/cache-$name" "$@"
    (cd "$work/run" && "$@") && return
    [ -n "${TEST_AGAIN-}" ] || return
    echo "== python: what failed, once more"
    (cd "$work/run" && "$@" --last-failed --last-failed-no-failures none)
}

# install NAME: the wheel, and nothing that it does not need.
install()
{
    "$work/$1/bin/pip" --quiet --disable-pip-version-check install --no-deps --force-reinstall "$wheel"
}

# test_spark ARGUMENT...: a session in one process, or with TWINSIFT_SPARK_LARGE a cluster on loopback.
test_spark()
{
    if ! java -version >/dev/null 2>&1; then
        echo "== spark: skipped: there is no Java (Debian: openjdk-17-jre-headless)"
    elif ! make_venv spark pytest pyspark "pandas<3" pyarrow numpy; then
        echo "== spark: skipped: packages could not be installed"
    else
        install spark
        echo "== spark: $("$work/spark/bin/pip" list 2>/dev/null | grep pyspark)"
        run_tests spark "$root/python/tests/spark" "$@"
    fi
}
export TWINSIFT=$root/build/release/twinsift PYTHONDONTWRITEBYTECODE=1
[ -x "$TWINSIFT" ] || TWINSIFT=$root/build/dev/twinsift
if [ "${1-}" = --spark ]; then
    shift
    TWINSIFT_SPARK_LARGE=1 test_spark "$@"
    exit
fi
echo "== python: $("$PYTHON" --version), $(basename "$wheel")"
install test
# Ray has no packages for some versions of Python; its example is skipped there.
"$work/test/bin/python" -c 'import ray' 2>/dev/null || "$work/test/bin/pip" --quiet --disable-pip-version-check install \
    --cache-dir "$work/pip-cache" ray || echo "== python: there is no Ray"
run_tests test "$root/python/tests" --ignore="$root/python/tests/spark" "$@"
test_spark "$@"

versions=$("$PYTHON" -c 'import sys; print(sys.version_info[1])')
for minor in 11 12 13 14; do
    [ "$minor" != "$versions" ] || continue
    other=$(find_python "3.$minor") || { echo "== python: 3.$minor is not there"; continue; }
    PYTHON=$other make_venv "bare-3.$minor" pytest
    echo "== python: $("$other" --version), nothing else installed"
    install "bare-3.$minor"
    run_tests "bare-3.$minor" "$root/python/tests" --ignore="$root/python/tests/spark" -k "not control_c" "$@"
done

# build_tree PRESET: the package with the module as the tree builds it, which reads mail, in place of the installed one.
build_tree()
{
    cmake --preset "$1" -DTWIN_PYTHON=ON > "$work/tree.log"
    cmake --build --preset "$1" --target python_core >> "$work/tree.log"
    rm -rf "$work/tree"
    mkdir -p "$work/tree/twinsift"
    cp -r python/src/twinsift/* "build/$1/python/twinsift/_core.abi3.so" "$work/tree/twinsift/"
    "$work/test/bin/pip" --quiet --quiet uninstall --yes twinsift
}
if [ -d build/dev ]; then
    echo "== python: the module of the tree, with mail"
    build_tree dev
    PYTHONPATH=$work/tree run_tests test "$root/python/tests" --ignore="$root/python/tests/spark" \
        -k "mail or search or docstrings" "$@"
fi

# Clang's sanitizers, in an interpreter that is not built with them, have to be there first.
runtime=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so" 2>/dev/null || true)
if [ -d build/asan ] && [ -f "$runtime" ]; then
    echo "== python: the module under the address and undefined sanitizers"
    build_tree asan
    LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        PYTHONPATH=$work/tree run_tests test \
        "$root"/python/tests/test_{adversaries,errors,filters,index,inputs,mail,properties,search,shards,signer}.py \
        -k "not gigabytes and not large" "$@"
fi

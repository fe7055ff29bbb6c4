# foreign.bash — compiling and running for a machine that is not here, under qemu. The script that sources it, in the
# root of the project, has set $machine, as compilers call it, and $debian, as Debian does. The libraries are Debian's
# for that machine, fetched by name and unpacked into $root, without a change to the packages of this system. Where the
# compiler, qemu or the packages cannot be had, the script exits with 77.
# shellcheck shell=bash
root=$PWD/build/$debian-root
libraries=(libc6-dev libgcc-s1 libgomp1 libxxhash-dev libutf8proc-dev zlib1g-dev libzstd-dev liblmdb-dev libfarmhash-dev
    libgmime-3.0-dev libpsl-dev libcmocka-dev)

skip()
{
    echo "${0##*/}: skipped: $*" >&2
    exit 77
}

tools_of_machine()
{
    local tool absent=
    for tool in $machine-linux-gnu-gcc $machine-linux-gnu-g++ "qemu-$machine-static"; do
        command -v "$tool" >/dev/null || absent=$tool
    done
    [ -n "$absent" ] || return 0
    [ "$(id -u)" = 0 ] || skip "install gcc-$machine-linux-gnu, g++-$machine-linux-gnu and qemu-user-static"
    apt-get update -qq || skip "no lists of packages"
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends gcc-$machine-linux-gnu \
        g++-$machine-linux-gnu qemu-user-static >/dev/null || skip "no cross compiler"
}

# apt with lists and state of its own, for another architecture.
apt_of_machine()
{
    local state=$root.apt
    mkdir -p "$state"/{lists,cache/archives,state}/partial
    touch "$state/status"
    cat >"$state/conf" <<END
APT::Architecture "$debian";
APT::Architectures "$debian";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$state/state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
END
    APT_CONFIG=$state/conf apt-get -qq "$@"
}

# Unpacked aside and renamed, so that a folder which is there is whole. Compilers and scripts are not needed.
fill_root()
{
    [ "$(cat "$root/libraries" 2>/dev/null)" != "${libraries[*]}" ] || return 0
    command -v apt-get >/dev/null || skip "no apt-get"
    apt_of_machine update >/dev/null || skip "no lists of packages for $debian"
    apt_of_machine install --yes --download-only "${libraries[@]}" >/dev/null || skip "no packages for $debian"
    rm -rf "$root.new"
    mkdir "$root.new"
    for package in "$root".apt/cache/archives/*.deb; do
        case ${package##*/} in
        gcc-[0-9]*-base* | perl* | libperl* | debconf* | dpkg* | tar_*) ;;
        *) dpkg -x "$package" "$root.new" ;;
        esac
    done
    echo "${libraries[*]}" >"$root.new/libraries"
    rm -rf "$root"
    mv "$root.new" "$root"
    rm -rf "$root.apt"
}

foreign() # COMMAND...: runs it under qemu
{
    "qemu-$machine-static" -L "$root" "$@"
}

# configure_foreign FOLDER OPTION...: configures a build for the machine.
configure_foreign()
{
    tools_of_machine
    fill_root
    cmake -B "$1" -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/foreign.cmake -DTWIN_MACHINE="$machine" -DTWIN_ROOT="$root" \
        -DCMAKE_BUILD_TYPE=Release -DTWIN_BENCH=OFF -DTWIN_LAB=OFF "${@:2}" >/dev/null
}

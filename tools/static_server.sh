#!/usr/bin/env bash
# static_server.sh MACHINE WORK: builds in WORK/server, with the compiler WORK/cc, what reading mail and the server need,
# the libraries of tools/sources_server.txt, as far as twinsift calls them: GLib and GObject with libffi, the parts of
# GMime that decode headers and bodies, libpsl, libmicrohttpd. WORK/server/pkgconfig is for pkg-config.
#
# GMime's g_mime_init() prepares streams and cryptography, too, which need GIO and GPGME: it is replaced by one that
# prepares headers and character sets. Of GIO and PCRE2 only headers are used. The compiled files have a section for each
# function, so that the linker leaves out what is not called.
set -euo pipefail
cd "$(dirname "$0")/.."
machine=$1 work=$2
sources=$PWD/build/sources lists=$PWD/tools
out=$work/server
tools/sources.sh build/sources tools/sources_server.txt
stamp=$(cat tools/sources_server.txt tools/static_server.sh | sha256sum)
[ "$(cat "$out/done" 2>/dev/null)" != "$stamp" ] || exit 0
rm -rf "$out"
mkdir -p "$out"/{pkgconfig,lib,gmime/gmime,psl}
cd "$out"

flags="-O2 -ffunction-sections -fdata-sections -fmacro-prefix-map=$sources/=" # no path of this tree is in it
export PATH=$sources/../python/tools/bin:$PATH PKG_CONFIG_LIBDIR=$out/pkgconfig PKG_CONFIG_PATH=
unset PKG_CONFIG_SYSROOT_DIR

# configured NAME OPTION...: a library that comes with a configure script, installed below $out.
configured()
{
    local name=$1
    shift
    mkdir "$name"
    (cd "$name" && "$sources/$name/configure" --host="$machine-linux-musl" --prefix="$out" --disable-shared --disable-dependency-tracking \
        "$@" CC="$work/cc" AR="$work/ar" RANLIB="$work/ranlib" CFLAGS="$flags" && make -j"$(nproc)" install) >"$name.log" 2>&1 ||
        { tail -n 30 "$name.log" && exit 1; }
}
configured libffi --disable-docs --disable-multi-os-directory --disable-exec-static-tramp --libdir="$out/lib"
configured libmicrohttpd --disable-https --disable-doc --disable-examples --disable-curl --disable-tools --libdir="$out/lib"

version_of() # NAME
{
    sed -n "s/^$1 \([^ ]*\) .*/\1/p" "$lists"/sources*.txt
}

# library NAME MODULE CFLAGS LIBS: how pkg-config finds it, under the name MODULE.
library()
{
    printf 'Name: %s\nDescription: %s\nVersion: %s\nCflags: %s\nLibs: %s\n' "$1" "$1" "$(version_of "$1")" "$3" "$4" >"pkgconfig/$2.pc"
}

# fill NAME FILE: prints a header with the version that its template leaves open.
fill()
{
    local version
    IFS=. read -ra version <<<"$(version_of "$1")"
    sed -E "s/@[A-Z]+_(VERSION_MAJOR|MAJOR_VERSION)@/${version[0]}/; s/@[A-Z]+_(VERSION_MINOR|MINOR_VERSION)@/${version[1]}/
        s/@[A-Z]+_(VERSION_PATCH|MICRO_VERSION)@/${version[2]}/; s/@[A-Z]+_VERSION@/$(version_of "$1")/; s/@[A-Z_]+@/0/" "$2"
}
cp "$sources/pcre2/src/pcre2.h.generic" include/pcre2.h
library libffi libffi "-I$out/include" "-L$out/lib -lffi"
library libmicrohttpd libmicrohttpd "-I$out/include" "-L$out/lib -lmicrohttpd"
library pcre2 libpcre2-8 "-I$out/include" ""
library zlib zlib "-I$sources/zlib" "" # GIO, which is configured and not built, asks for it

cat >machine.ini <<END
[binaries]
c = '$work/cc'
ar = '$work/ar'
ranlib = '$work/ranlib'
pkgconfig = 'pkg-config'
[properties]
needs_exe_wrapper = true
have_c99_vsnprintf = true
have_c99_snprintf = true
have_unix98_printf = true
va_val_copy = true
growing_stack = false
[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = 'little'
END
from=$(realpath --relative-to=glib "$sources/glib")
{
    meson setup --cross-file machine.ini --wrap-mode nodownload --prefix=/usr --buildtype=release -Ddefault_library=static \
        -Dtests=false -Dnls=disabled -Dlibmount=disabled -Dselinux=disabled -Dxattr=false -Dman=false -Dlibelf=disabled \
        -Dglib_debug=disabled -Dc_args="$flags -fmacro-prefix-map=$from=glib" glib "$sources/glib"
    ninja -C glib glib/libglib-2.0.a gobject/libgobject-2.0.a gio/gioenumtypes.h
} >glib.log 2>&1 || { tail -n 30 glib.log && exit 1; }
glib="-I$sources/glib -I$sources/glib/glib -I$sources/glib/gmodule -I$out/glib -I$out/glib/glib -I$out/glib/gobject"

# archive NAME OPTIONS FILE...: a static library of these files.
archive()
{
    local name=$1 options=$2 file objects=()
    shift 2
    mkdir -p "objects/$name"
    for file; do
        objects+=("objects/$name/$(basename "$file" .c).o")
        # shellcheck disable=SC2086 # flags and options are words
        "$work/cc" -w $flags $options -c "$file" -o "${objects[-1]}"
    done
    "$work/ar" rcs "lib/lib$name.a" "${objects[@]}"
}
fill gmime "$sources/gmime/gmime/gmime-version.h.in" >gmime/gmime/gmime-version.h
cat >gmime/init.c <<'END'
void g_mime_format_options_init(void);
void g_mime_parser_options_init(void);
void g_mime_charset_map_init(void);

void g_mime_init(void)
{
    g_mime_format_options_init();
    g_mime_parser_options_init();
    g_mime_charset_map_init();
}
END
gmime="-I$out/gmime -I$sources/gmime $glib"
archive gmime "$gmime -I$sources/gmime/gmime" gmime/init.c "$sources"/gmime/gmime/gmime-{charset,iconv,iconv-utils,encodings}.c \
    "$sources"/gmime/gmime/gmime-{param,content-type,disposition,utils,parse-utils,parser-options,events,format-options,common}.c
library gmime gmime-3.0 "$gmime" "-L$out/lib -lgmime -L$out/glib/gobject -lgobject-2.0 -L$out/glib/glib -lglib-2.0 -lffi"

python3 "$sources/libpsl/src/psl-make-dafsa" --output-format=cxx+ \
    "$sources/publicsuffix/usr/share/publicsuffix/public_suffix_list.dat" psl/suffixes_dafsa.h
fill libpsl "$sources/libpsl/include/libpsl.h.in" >psl/libpsl.h
archive psl "-I$out/psl -DENABLE_BUILTIN -DHAVE_STRINGS_H -DHAVE_ALLOCA_H -DHAVE_NL_LANGINFO -DPACKAGE_VERSION=\"$(version_of libpsl)\"" \
    "$sources"/libpsl/src/{psl,lookup_string_in_fixed_set}.c
library libpsl libpsl "-I$out/psl" "-L$out/lib -lpsl"
echo "$stamp" >done

# epoch.bash — the time that everything in an archive has, so that the same tree gives the same bytes. Source it in the
# root of the project. Without git it is that of the newest entry of Debian's changelog.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null ||
        date -d "$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -n 1)" +%s)
fi
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8

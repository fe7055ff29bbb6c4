# timing.bash — functions shared by the scripts of this folder: corpora, clocks, and the table of results.
#
# Source it in the root of the project. It sets program, generate, scratch, noise and clock; the script sets table.
program=build/release/twinsift generate=build/release/twinsift-generate
scratch=${BENCH_SCRATCH:-build/bench}
noise=$scratch/stderr.txt clock=$scratch/clock.txt

# need_room MB: creates the folders, sets free_mb, and exits if that is less than MB.
need_room()
{
    mkdir -p build/bench "$scratch"
    free_mb=$(df -Pm "$scratch" | awk 'NR == 2 { print $4 }')
    if [ "$free_mb" -lt "$1" ]; then
        echo "bench: $scratch has $free_mb MB free, but $1 MB are needed; set BENCH_SCRATCH to another folder" >&2
        exit 2
    fi
}

# make_corpus OPTION...: writes $corpus and reads it into the page cache.
make_corpus()
{
    "$generate" --seed 1 "$@" > "$corpus"
    cat "$corpus" > /dev/null
}

# mixed N: sets mixed to the options of twinsift-generate for N documents of all kinds: exact copies, copies edited by any
# amount, families, footers, forms that differ in a few numbers, very short and very long documents.
mixed()
{
    mixed=(--docs "$1" --edits --families "$(($1 / 1000)):20" --forms "$(($1 / 1000)):20" --short "$(($1 / 100))" \
        --long "$((($1 + 99999) / 100000)):1000000")
}

# number FIELD: prints a number of the statistics that the last run wrote to $noise.
number()
{
    sed -nE "s/.*\"$1\":([0-9.]+).*/\1/p" "$noise"
}

# fill_memory: fills free memory with the page cache of a sparse file, $ballast, as on a machine that has run for a day.
# Virtual machines return free memory to their host; each page must then be fetched again when it is first used, which
# can take longer than the work that is measured. It is a new file each time: pages of one that is read again would count
# as used, and the system would rather push the input out. Not under BENCH_QUICK, where little memory is used.
ballast=$scratch/ballast
fill_memory()
{
    [ -z "${BENCH_QUICK-}" ] || return 0
    rm -f "$ballast"
    truncate -s "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)K" "$ballast"
    cat "$ballast" > /dev/null
}

# ---- measuring

# timed COMMAND...: sets wall and cpu, in seconds; its standard error is in $noise.
timed()
{
    local user system
    local TIMEFORMAT='%R %U %S'
    if ! { time "$@" > /dev/null 2> "$noise"; } 2> "$clock"; then
        echo "bench: $* failed: $(cat "$noise")" >&2
        exit 2
    fi
    read -r wall user system < "$clock"
    cpu=$(calc "$user + $system")
}

calc()
{
    awk "BEGIN { printf \"%.3f\", $1 }"
}

less()
{
    awk "BEGIN { exit !($1 < $2) }"
}

# keep_best NAME: lowers best[NAME.wall] and best[NAME.cpu] to the last measured times, and adds them to all[NAME.wall] and
# all[NAME.cpu].
declare -A best all
keep_best()
{
    local name
    for name in wall cpu; do
        if [ -z "${best[$1.$name]-}" ] || less "${!name}" "${best[$1.$name]}"; then
            best[$1.$name]=${!name}
        fi
        all[$1.$name]=$(calc "${all[$1.$name]-0} + ${!name}")
    done
}

# ---- reporting

# begin_table REMARK: empties the table and prints the machine.
begin_table()
{
    : > "$table"
    echo "$(lscpu | sed -n 's/^Model name: *//p' | head -1), $(nproc) processors; load $(cut -d' ' -f1-3 /proc/loadavg); $1"
}

# report WHAT VALUE UNIT [BOUND]: a row; BOUND is the highest value allowed, or, after a +, the lowest.
report()
{
    local verdict="" bound=""
    if [ -n "${4-}" ]; then
        verdict=reached bound="<= $4"
        case $4 in
            +*) bound=">= ${4#+}"; ! less "$2" "${4#+}" || verdict=MISSED ;;
            *) ! less "$4" "$2" || verdict=MISSED ;;
        esac
    fi
    printf '%-68s %10s %-5s %8s  %s\n' "$1" "$2" "$3" "$bound" "$verdict"
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4-}" "$verdict" >> "$table"
}

end_table()
{
    echo
    echo "load at the end $(cut -d' ' -f1-3 /proc/loadavg); written to $table"
}

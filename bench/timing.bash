# timing.bash — what the scripts of this folder share: corpora, clocks, and a table of what was reached.
#
# To be sourced in the project's root. Sets program, generate, scratch, noise and clock; the script sets table.
program=build/release/twinsift generate=build/release/twinsift-generate
scratch=${BENCH_SCRATCH:-build/bench}
noise=$scratch/stderr.txt clock=$scratch/clock.txt

# need_room MB: makes the folders, sets free_mb, and gives up where it is too little.
need_room()
{
    mkdir -p build/bench "$scratch"
    free_mb=$(df -Pm "$scratch" | awk 'NR == 2 { print $4 }')
    if [ "$free_mb" -lt "$1" ]; then
        echo "bench: $scratch has $free_mb MB free, and $1 MB are needed; BENCH_SCRATCH names another folder" >&2
        exit 2
    fi
}

# make_corpus OPTION...: writes $corpus, which leaves it in the page cache.
make_corpus()
{
    "$generate" --seed 1 "$@" > "$corpus"
    cat "$corpus" > /dev/null
}

# fill_memory: gives the free memory to the cache of a file of nothing but holes, $ballast. So it is on a machine that has
# run for a day: what is written takes pages that others had. Free memory is dear on virtual machines that hand it back
# to their host: each page must be fetched again when it is first touched, and that can take longer than the work.
ballast=$scratch/ballast
fill_memory()
{
    [ -s "$ballast" ] || truncate -s "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)K" "$ballast"
    cat "$ballast" > /dev/null
}

# ---- measuring

# timed COMMAND...: sets wall and cpu, in seconds; what the command says is in $noise.
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

# keep_best NAME: best[NAME.wall] and best[NAME.cpu] become the least of what they are and what was just timed.
declare -A best
keep_best()
{
    local name
    for name in wall cpu; do
        if [ -z "${best[$1.$name]-}" ] || less "${!name}" "${best[$1.$name]}"; then
            best[$1.$name]=${!name}
        fi
    done
}

# ---- telling

# begin_table REMARK: empties the table and says where this is.
begin_table()
{
    : > "$table"
    echo "$(lscpu | sed -n 's/^Model name: *//p' | head -1), $(nproc) processors; load $(cut -d' ' -f1-3 /proc/loadavg); $1"
}

# tell WHAT VALUE UNIT [WANTED]: a row; WANTED is the most it may be, or with a + before it the least.
tell()
{
    local verdict="" wanted=""
    if [ -n "${4-}" ]; then
        verdict=reached wanted="<= $4"
        case $4 in
            +*) wanted=">= ${4#+}"; ! less "$2" "${4#+}" || verdict=MISSED ;;
            *) ! less "$4" "$2" || verdict=MISSED ;;
        esac
    fi
    printf '%-68s %10s %-5s %8s  %s\n' "$1" "$2" "$3" "$wanted" "$verdict"
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4-}" "$verdict" >> "$table"
}

end_table()
{
    echo
    echo "load at the end $(cut -d' ' -f1-3 /proc/loadavg); kept in $table"
}

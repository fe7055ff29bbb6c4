# executors.bash — for scripts with a fail(): who runs a command makes no difference.

# same_by_all COMMAND...: it prints the same, byte for byte, with every executor, number of threads and instruction set that
# this build and this machine have; and it prints something.
same_by_all()
{
    local executor threads level
    "$@" --executor serial >reference.out || fail "$*: $?"
    [ -s reference.out ] || fail "$*: nothing to compare"
    for executor in pthreads openmp; do
        # The thread sanitizer's build has no OpenMP, and says so.
        if ! "$@" --executor "$executor" >other.out 2>trouble.txt; then
            grep -q "not available in this build" trouble.txt || fail "$executor: $(cat trouble.txt)"
            continue
        fi
        for threads in 1 2 7; do
            "$@" --executor "$executor" --threads "$threads" >other.out 2>trouble.txt || fail "$executor: $(cat trouble.txt)"
            cmp reference.out other.out || fail "$*, $executor with $threads threads: another answer"
        done
    done
    for level in scalar avx2 avx512; do
        if ! TWINSIFT_CPU=$level "$@" >other.out 2>trouble.txt; then
            grep -q "cannot run" trouble.txt || fail "$level: $(cat trouble.txt)"
            continue
        fi
        cmp reference.out other.out || fail "$*, $level: another answer"
    done
}

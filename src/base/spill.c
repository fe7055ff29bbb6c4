/* spill.c — gives the pages of a mapped file back to the system. */
#include "base/spill.h"

#include <sys/mman.h>

static void release(struct twin__spill *spill)
{
    atomic_store_explicit(&spill->touched, 0, memory_order_relaxed);
    madvise(spill->bytes, spill->length, MADV_DONTNEED);
}

void twin__spill_touch(struct twin__spill *spill, size_t bytes)
{
    if (spill && spill->is_mapped &&
        atomic_fetch_add_explicit(&spill->touched, bytes, memory_order_relaxed) + bytes > spill->most_touched)
        release(spill);
}

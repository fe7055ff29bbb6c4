/* spill.c — pages of a mapped file are given back. */
#include "base/spill.h"

#include <sys/mman.h>

void twin__spill_release(struct twin__spill *spill)
{
    atomic_store_explicit(&spill->touched, 0, memory_order_relaxed);
    madvise(spill->bytes, spill->length, MADV_DONTNEED);
}

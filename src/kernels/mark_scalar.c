/* mark_scalar.c — a bin is eight numbers, compared one after the other: the specification. */
#include "kernels/mark_lanes.h"

static inline unsigned equal_lanes(const uint64_t *bin, uint64_t item)
{
    unsigned equal = 0;
    for (unsigned lane = 0; lane < BIN_ROOM; lane++)
        equal |= (unsigned)(bin[lane] == item) << lane;
    return equal;
}

size_t twin__fill_bins_scalar(uint64_t *bins, uint8_t *held, uint64_t *strays, unsigned shift, const uint64_t *items,
                              size_t n)
{
    return fill_bins(bins, held, strays, shift, items, n);
}

size_t twin__mark_items_scalar(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                               const uint64_t *items, size_t n)
{
    return mark_items(marks, missed, bins, shift, items, n);
}

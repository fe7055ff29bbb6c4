/* mark_lanes.h — the loops of mark_scalar.c, mark_avx2.c and mark_avx512.c, which compare a number with a whole bin. */
#ifndef TWIN_KERNELS_MARK_LANES_H
#define TWIN_KERNELS_MARK_LANES_H

#include <stdbool.h>

#include "kernels/kernels.h"

/* A bit for each place of the bin that holds the number. */
static inline unsigned equal_lanes(const uint64_t *bin, uint64_t item);

/* Without branches that depend on the numbers: one that is not to be stored goes where the next stray will be. */
static inline size_t fill_bins(uint64_t *bins, uint8_t *held, uint64_t *strays, unsigned shift, const uint64_t *items,
                               size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t item = items[i], *bin = bins + (item >> shift) * BIN_ROOM;
        bool is_new = equal_lanes(bin, item) == 0;
        uint8_t place = held[item >> shift];
        bool fits = is_new & (place < BIN_ROOM);
        *(fits ? bin + place : strays + count) = item;
        held[item >> shift] = (uint8_t)(place + fits);
        count += is_new & !fits;
    }
    return count;
}

static inline size_t mark_items(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                                const uint64_t *items, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t item = items[i];
        unsigned equal = equal_lanes(bins + (item >> shift) * BIN_ROOM, item);
        marks[item >> shift] |= (uint8_t)(equal & -equal);
        missed[count] = item;
        count += equal == 0;
    }
    return count;
}

#endif

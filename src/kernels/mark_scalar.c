/* mark_scalar.c — numbers are put into a table, and those of it that are among others are marked: the specification. */
#include "kernels/kernels.h"

static unsigned equal_lanes(const uint64_t *bin, uint64_t item)
{
    unsigned equal = 0;
    for (unsigned lane = 0; lane < BIN_ROOM; lane++)
        equal |= (unsigned)(bin[lane] == item) << lane;
    return equal;
}

size_t twin__fill_bins_scalar(uint64_t *bins, uint8_t *held, uint64_t *strays, unsigned shift, const uint64_t *items,
                              size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t item = items[i], *bin = bins + (item >> shift) * BIN_ROOM;
        if (equal_lanes(bin, item))
            continue;
        if (held[item >> shift] < BIN_ROOM)
            bin[held[item >> shift]++] = item;
        else
            strays[count++] = item;
    }
    return count;
}

size_t twin__mark_items_scalar(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
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

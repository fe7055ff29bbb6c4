/* mark_scalar.c — marks the numbers of a table that are among others: the specification. */
#include "kernels/kernels.h"

size_t twin__mark_items_scalar(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                               const uint64_t *items, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t item = items[i];
        const uint64_t *bin = bins + (item >> shift) * BIN_ROOM;
        unsigned equal = 0;
        for (unsigned lane = 0; lane < BIN_ROOM; lane++)
            equal |= (unsigned)(bin[lane] == item) << lane;
        marks[item >> shift] |= (uint8_t)(equal & -equal);
        missed[count] = item;
        count += equal == 0;
    }
    return count;
}

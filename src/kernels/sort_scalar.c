/* sort_scalar.c — the specification of sorting bins and dropping repeats, free of branches that depend on the items. */
#include "kernels/kernels.h"

#include <string.h>

typedef uint64_t lane;

static inline void order(lane *low, lane *high)
{
    uint64_t a = *low, b = *high;
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

#include "kernels/sort_network.h"

/* Unused elements count as the greatest number, so that they come last. All eight are written where there is space, so
 * that no branch depends on how many items a bin holds. */
void twin__sort_bins_scalar(uint64_t *out, size_t n, const uint64_t *rows, size_t stride, const uint32_t *held,
                            size_t bins)
{
    size_t at = 0;
    for (size_t bin = 0; bin < bins; bin++) {
        uint64_t x[BIN_ROOM];
        for (size_t k = 0; k < BIN_ROOM; k++)
            x[k] = rows[k * stride + bin] | -(uint64_t)(k >= held[bin]);
        sort_eight(x);
        if (at + BIN_ROOM <= n)
            for (size_t k = 0; k < BIN_ROOM; k++)
                out[at + k] = x[k];
        else
            for (size_t k = 0; at + k < n; k++)
                out[at + k] = x[k];
        at += held[bin];
    }
}

size_t twin__drop_repeats_scalar(uint64_t *items, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        uint64_t item = items[i], next = items[i + 1];
        items[kept] = item;
        kept += item != next;
    }
    if (n)
        items[kept++] = items[n - 1];
    return kept;
}

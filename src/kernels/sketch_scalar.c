/* sketch_scalar.c — assigning items to slots, and comparing slots: the specification. */
#include "kernels/kernels.h"
#include "kernels/sketch_mix.h"

void twin__fast_round_scalar(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                             uint32_t round)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t x = twin__sketch_mix(items[i], seed);
        size_t slot = (size_t)((x >> 32) * slots >> 32);
        uint32_t value = round | (uint32_t)x >> 2;
        out[slot] = value < out[slot] ? value : out[slot];
    }
}

void twin__linear_minima_scalar(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                                const uint64_t *items, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)(twin__sketch_mix(items[i], seed) >> 32);
        for (size_t slot = 0; slot < slots; slot++) {
            uint32_t value = factor[slot] * x + offset[slot];
            out[slot] = value < out[slot] ? value : out[slot];
        }
    }
}

size_t twin__agree_scalar(const uint32_t *a, const uint32_t *b, size_t n)
{
    size_t equal = 0;
    for (size_t i = 0; i < n; i++)
        equal += a[i] == b[i];
    return equal;
}

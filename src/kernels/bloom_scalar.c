/* bloom_scalar.c — one bit in each lane of a 512-bit block: the specification.
 *
 * Words are read and written one by one and atomically, which costs nothing here: another thread may be adding
 * to the filter through fetch-or while this one queries. */
#include "kernels/kernels.h"

static uint64_t lane_bit(uint64_t lanes, int lane)
{
    return (uint64_t)1 << (lanes >> (6 * lane) & 63);
}

bool twin__bloom_has_scalar(const uint64_t *block, uint64_t lanes)
{
    uint64_t missing = 0;
    for (int lane = 0; lane < 8; lane++)
        missing |= ~__atomic_load_n(&block[lane], __ATOMIC_RELAXED) & lane_bit(lanes, lane);
    return missing == 0;
}

size_t twin__bloom_test_scalar(bool *found, const uint64_t *words, const struct bloom_probe *probes, size_t n)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        found[i] = twin__bloom_has_scalar(words + 8 * probes[i].block, probes[i].lanes);
        hits += found[i];
    }
    return hits;
}

size_t twin__bloom_add_scalar(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n)
{
    size_t news = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *block = words + 8 * probes[i].block;
        uint64_t missing = 0;
        for (int lane = 0; lane < 8; lane++) {
            uint64_t bit = lane_bit(probes[i].lanes, lane);
            missing |= ~block[lane] & bit;
            block[lane] |= bit;
        }
        fresh[i] = missing != 0;
        news += fresh[i];
    }
    return news;
}

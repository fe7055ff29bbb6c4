/* bits_avx2.c — a word at a time: the processor counts the bits of one per cycle or more, which four lanes of
 * table lookups do not exceed. */
#include "kernels/kernels.h"

#include <immintrin.h>

size_t twin__common_bits_avx2(const uint64_t *a, const uint64_t *b, size_t n)
{
    uint64_t count = 0, other = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        count += (uint64_t)_mm_popcnt_u64(a[i] & b[i]) + (uint64_t)_mm_popcnt_u64(a[i + 1] & b[i + 1]);
        other += (uint64_t)_mm_popcnt_u64(a[i + 2] & b[i + 2]) + (uint64_t)_mm_popcnt_u64(a[i + 3] & b[i + 3]);
    }
    for (; i < n; i++)
        count += (uint64_t)_mm_popcnt_u64(a[i] & b[i]);
    return count + other;
}

/* words_avx2.c — four words at a time. */
#define LANE_BYTES 32
#include "kernels/words_lanes.h"

LANES_INLINE lanes gather(const char *base, offsets at)
{
    return (lanes)_mm256_i32gather_epi64((const long long *)(const void *)base, (__m128i)at, 1);
}

LANES_INLINE unsigned sign_bits(signed_lanes x)
{
    return (unsigned)_mm256_movemask_pd((__m256d)x);
}

LANES_INLINE size_t keep(uint64_t *out, lanes hashes, signed_lanes wanted)
{
    unsigned mask = sign_bits(wanted);
    if (mask == 0xF) { /* nearly always: words are separated by one blank */
        _mm256_storeu_si256((__m256i *)out, (__m256i)hashes);
        return LANES;
    }
    size_t count = 0;
    for (; mask; mask &= mask - 1)
        out[count++] = hashes[__builtin_ctz(mask)];
    return count;
}

LANES_INLINE void find_cuts(struct cuts *cuts, size_t n)
{
    enum { STEP = 12 }; /* places that are written at a time: more than most masks have, so that few need two steps */
    uint64_t blanks[CHUNK / 64];
    size_t count = 0;
    twin__blanks_avx2(blanks, cuts->chunk, n);
    for (size_t i = 0; i < (n + 63) / 64; i++) {
        uint64_t mask = blanks[i];
        size_t end = count + (size_t)_mm_popcnt_u64(mask);
        for (; count < end; count += STEP)
            for (size_t k = 0; k < STEP; k++, mask = _blsr_u64(mask))
                cuts->at[count + k] = (int32_t)(64 * i + _tzcnt_u64(mask));
        count = end;
    }
    cuts->count = count;
}

size_t twin__xxh3_words_avx2(uint64_t *out, const char *text, size_t n, uint64_t seed)
{
    return hash_words(out, text, n, seed);
}

void twin__word_windows_avx2(uint64_t *items, size_t n, size_t width, uint64_t base)
{
    word_windows(items, n, width, base);
}

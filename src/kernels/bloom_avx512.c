/* bloom_avx512.c — a block is one vector. */
#include "kernels/kernels.h"

#include <immintrin.h>

static inline __m512i mask_of(uint64_t lanes)
{
    __m512i all =
        _mm512_srlv_epi64(_mm512_set1_epi64((long long)lanes), _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42));
    return _mm512_sllv_epi64(_mm512_set1_epi64(1), _mm512_and_si512(all, _mm512_set1_epi64(63)));
}

/* Excluded from the thread sanitizer for the reason given in bloom_avx2.c. */
__attribute__((no_sanitize("thread"))) bool twin__bloom_has_avx512(const uint64_t *block, uint64_t lanes)
{
    return _mm512_test_epi64_mask(_mm512_load_si512(block), mask_of(lanes)) == 0xff;
}

__attribute__((no_sanitize("thread"))) size_t twin__bloom_test_avx512(bool *found, const uint64_t *words,
                                                                      const struct bloom_probe *probes, size_t n)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        found[i] = twin__bloom_has_avx512(words + 8 * probes[i].block, probes[i].lanes);
        hits += found[i];
    }
    return hits;
}

size_t twin__bloom_add_avx512(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n)
{
    size_t news = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *at = words + 8 * probes[i].block;
        __m512i block = _mm512_load_si512(at), mask = mask_of(probes[i].lanes);
        fresh[i] = _mm512_test_epi64_mask(block, mask) != 0xff;
        _mm512_store_si512(at, _mm512_or_si512(block, mask));
        news += fresh[i];
    }
    return news;
}

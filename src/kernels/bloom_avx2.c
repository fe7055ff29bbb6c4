/* bloom_avx2.c — a block is two vectors of four lanes. */
#include "kernels/kernels.h"

#include <immintrin.h>

struct masks {
    __m256i low, high;
};

static inline struct masks masks_of(uint64_t lanes)
{
    __m256i all = _mm256_set1_epi64x((long long)lanes), six = _mm256_set1_epi64x(63), one = _mm256_set1_epi64x(1);
    __m256i low = _mm256_srlv_epi64(all, _mm256_setr_epi64x(0, 6, 12, 18));
    __m256i high = _mm256_srlv_epi64(all, _mm256_setr_epi64x(24, 30, 36, 42));
    return (struct masks){ _mm256_sllv_epi64(one, _mm256_and_si256(low, six)),
                           _mm256_sllv_epi64(one, _mm256_and_si256(high, six)) };
}

/* Excluded from the thread sanitizer: to this processor a vector load concurrent with another thread's fetch-or is four
 * loads of aligned words, each of which sees the old word or the new. */
__attribute__((no_sanitize("thread"))) bool twin__bloom_has_avx2(const uint64_t *block, uint64_t lanes)
{
    struct masks masks = masks_of(lanes);
    return _mm256_testc_si256(_mm256_load_si256((const __m256i *)block), masks.low) &
           _mm256_testc_si256(_mm256_load_si256((const __m256i *)(block + 4)), masks.high);
}

__attribute__((no_sanitize("thread"))) size_t twin__bloom_test_avx2(bool *found, const uint64_t *words,
                                                                    const struct bloom_probe *probes, size_t n)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        found[i] = twin__bloom_has_avx2(words + 8 * probes[i].block, probes[i].lanes);
        hits += found[i];
    }
    return hits;
}

size_t twin__bloom_add_avx2(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n)
{
    size_t news = 0;
    for (size_t i = 0; i < n; i++) {
        __m256i *block = (__m256i *)(words + 8 * probes[i].block);
        struct masks masks = masks_of(probes[i].lanes);
        __m256i low = _mm256_load_si256(block), high = _mm256_load_si256(block + 1);
        fresh[i] = !(_mm256_testc_si256(low, masks.low) & _mm256_testc_si256(high, masks.high));
        _mm256_store_si256(block, _mm256_or_si256(low, masks.low));
        _mm256_store_si256(block + 1, _mm256_or_si256(high, masks.high));
        news += fresh[i];
    }
    return news;
}

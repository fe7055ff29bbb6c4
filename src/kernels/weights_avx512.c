/* weights_avx512.c — sixteen weights at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

static inline __m512 gather(const float *values, size_t stride, __m512i places)
{
    return stride == 1 ? _mm512_i32gather_ps(places, values, 4) : _mm512_i32gather_ps(places, values, 8);
}

double twin__sum_at_avx512(const float *values, size_t stride, const uint32_t *places, size_t n)
{
    __m512d low = _mm512_setzero_pd(), high = _mm512_setzero_pd(); /* lanes 0 .. 7 and 8 .. 15 */
    size_t i = 0;
    for (; i + SUM_LANES <= n; i += SUM_LANES) {
        __m512 x = gather(values, stride, _mm512_loadu_si512(places + i));
        low = _mm512_add_pd(low, _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
        high = _mm512_add_pd(high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
    }
    double rest[SUM_LANES] = { 0 };
    for (size_t k = 0; i + k < n; k++)
        rest[k] = (double)values[stride * places[i + k]];
    low = _mm512_add_pd(low, _mm512_loadu_pd(rest));
    high = _mm512_add_pd(high, _mm512_loadu_pd(rest + 8));
    __m512d eight = _mm512_add_pd(low, high);
    __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

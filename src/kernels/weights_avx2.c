/* weights_avx2.c — eight weights at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

static inline __m256 gather(const float *values, size_t stride, __m256i places)
{
    return stride == 1 ? _mm256_i32gather_ps(values, places, 4) : _mm256_i32gather_ps(values, places, 8);
}

static inline __m256d low_of(__m256 x)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(x));
}

static inline __m256d high_of(__m256 x)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}

/* The lanes 0 .. 15, in four registers. */
struct sums {
    __m256d at[4];
};

static double fold(const struct sums *s)
{
    __m256d four = _mm256_add_pd(_mm256_add_pd(s->at[0], s->at[2]), _mm256_add_pd(s->at[1], s->at[3]));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

double twin__sum_at_avx2(const float *values, size_t stride, const uint32_t *places, size_t n)
{
    struct sums s;
    for (int k = 0; k < 4; k++)
        s.at[k] = _mm256_setzero_pd();
    size_t i = 0;
    for (; i + SUM_LANES <= n; i += SUM_LANES) {
        __m256 a = gather(values, stride, _mm256_loadu_si256((const __m256i *)(places + i)));
        __m256 b = gather(values, stride, _mm256_loadu_si256((const __m256i *)(places + i + 8)));
        s.at[0] = _mm256_add_pd(s.at[0], low_of(a));
        s.at[1] = _mm256_add_pd(s.at[1], high_of(a));
        s.at[2] = _mm256_add_pd(s.at[2], low_of(b));
        s.at[3] = _mm256_add_pd(s.at[3], high_of(b));
    }
    double rest[SUM_LANES] = { 0 };
    for (size_t k = 0; i + k < n; k++)
        rest[k] = (double)values[stride * places[i + k]];
    for (int k = 0; k < 4; k++)
        s.at[k] = _mm256_add_pd(s.at[k], _mm256_loadu_pd(rest + 4 * k));
    return fold(&s);
}

/* lanes.h — vectors of LANE_BYTES bytes, 32 (AVX2) or 64 (AVX-512), with lanes of 64 bits.
 *
 * To be included after the definition of LANE_BYTES. Arithmetic is that of the vector extensions of C; here is what
 * these cannot say. */
#ifndef TWIN_KERNELS_LANES_H
#define TWIN_KERNELS_LANES_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define LANES_INLINE static inline __attribute__((always_inline))

typedef uint64_t lanes __attribute__((vector_size(LANE_BYTES)));
typedef int64_t signed_lanes __attribute__((vector_size(LANE_BYTES)));
enum { LANES = LANE_BYTES / 8 };

/* Byte j of window i is byte i + j of the sixteen that are loaded. */
static const uint8_t lane_windows[8][8] = {
    { 0, 1, 2, 3, 4, 5, 6, 7 },     { 1, 2, 3, 4, 5, 6, 7, 8 },      { 2, 3, 4, 5, 6, 7, 8, 9 },
    { 3, 4, 5, 6, 7, 8, 9, 10 },    { 4, 5, 6, 7, 8, 9, 10, 11 },    { 5, 6, 7, 8, 9, 10, 11, 12 },
    { 6, 7, 8, 9, 10, 11, 12, 13 }, { 7, 8, 9, 10, 11, 12, 13, 14 },
};

#if LANE_BYTES == 64
LANES_INLINE lanes multiply_low_halves(lanes a, lanes b)
{
    return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

LANES_INLINE lanes swap_bytes(lanes x)
{
    return (lanes)_mm512_shuffle_epi8((__m512i)x, _mm512_set4_epi32(0x08090A0B, 0x0C0D0E0F, 0x00010203, 0x04050607));
}

LANES_INLINE lanes swap_halves(lanes x)
{
    return (lanes)_mm512_rol_epi64((__m512i)x, 32);
}

/* Lane i becomes the eight bytes at p + i. Sixteen bytes are read. */
LANES_INLINE lanes load_windows(const char *p)
{
    __m512i bytes = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
    return (lanes)_mm512_permutexvar_epi8(_mm512_loadu_si512(lane_windows), bytes);
}

LANES_INLINE void store_lanes(uint64_t *out, lanes x)
{
    _mm512_storeu_si512(out, (__m512i)x);
}
#else
LANES_INLINE lanes multiply_low_halves(lanes a, lanes b)
{
    return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

LANES_INLINE lanes swap_bytes(lanes x)
{
    const __m256i order = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, /* each half */
                                           7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    return (lanes)_mm256_shuffle_epi8((__m256i)x, order);
}

LANES_INLINE lanes swap_halves(lanes x)
{
    return (lanes)_mm256_shuffle_epi32((__m256i)x, 0xB1);
}

/* Lane i becomes the eight bytes at p + i. Sixteen bytes are read. */
LANES_INLINE lanes load_windows(const char *p)
{
    __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
    return (lanes)_mm256_shuffle_epi8(bytes, _mm256_loadu_si256((const __m256i *)lane_windows));
}

LANES_INLINE void store_lanes(uint64_t *out, lanes x)
{
    _mm256_storeu_si256((__m256i *)out, (__m256i)x);
}
#endif

#endif

/* fold_avx2.c — 32 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

enum { BLOCK = 32 };
typedef __m256i vector;
typedef uint32_t bits;

#include "kernels/fold_blocks.h"

static inline __m256i between(__m256i v, char above, char below)
{
    return _mm256_and_si256(_mm256_cmpgt_epi8(v, _mm256_set1_epi8(above)),
                            _mm256_cmpgt_epi8(_mm256_set1_epi8(below), v));
}

static inline struct block fold_block(__m256i v)
{
    const __m256i blank = _mm256_set1_epi8(' ');
    __m256i blanks = _mm256_or_si256(_mm256_cmpeq_epi8(v, blank), between(v, 8, 14));
    __m256i capitals = between(v, 'A' - 1, 'Z' + 1);
    __m256i lower = _mm256_or_si256(v, _mm256_and_si256(capitals, _mm256_set1_epi8(0x20)));
    return (struct block){
        .folded = _mm256_blendv_epi8(lower, blank, blanks),
        .blanks = (uint32_t)_mm256_movemask_epi8(blanks),
        .high = (uint32_t)_mm256_movemask_epi8(v),
    };
}

/* Contiguous bytes are copied at once, since a block has few groups of them. */
static inline char *squeeze(char *o, __m256i v, uint32_t kept)
{
    char bytes[2 * BLOCK] = { 0 };
    _mm256_storeu_si256((void *)bytes, v);
    while (kept) {
        uint32_t begin = _tzcnt_u32(kept);
        _mm256_storeu_si256((void *)o, _mm256_loadu_si256((const void *)(bytes + begin)));
        o += _tzcnt_u32(~(kept >> begin));
        kept &= kept + (kept & -kept); /* without its lowest group of ones */
    }
    return o;
}

static inline __m256i load_block(const char *p)
{
    return _mm256_loadu_si256((const void *)p);
}

static inline void store_block(char *o, __m256i v)
{
    _mm256_storeu_si256((void *)o, v);
}

static inline unsigned count_bits(uint32_t x)
{
    return (unsigned)_mm_popcnt_u32(x);
}

static inline __m256i load_end(const char *p, size_t n)
{
    char bytes[BLOCK];
    memset(bytes, 0x80, sizeof bytes);
    memcpy(bytes, p, n);
    return _mm256_loadu_si256((const void *)bytes);
}

size_t twin__fold_ascii_avx2(char *out, size_t *written, bool *after_blank, const char *p, size_t n)
{
    return fold_ascii(out, written, after_blank, p, n);
}

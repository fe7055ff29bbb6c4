/* kernels.h — the few loops written once per instruction set, and their table.
 *
 * Kernels take arrays and counts; they do not allocate, call back or fail. The scalar row is the
 * specification: every other row returns what it returns, bit for bit. */
#ifndef TWIN_KERNELS_H
#define TWIN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct kernels {
    /* Index of the first byte of p[0..n) that is '"', '\\' or below 0x20; n when there is none. */
    size_t (*find_string_end)(const char *p, size_t n);

    /* Folds ASCII: copies p[0..n) to out, letters in lower case and each run of white space (9..13 and 32) as
     * one blank, and stops before the first byte above 127. Returns the bytes read and puts the bytes written
     * into *written. `out` has room for n + 64 bytes, and what lies past *written may be overwritten. A run of
     * white space at the start is dropped when *after_blank is true; *after_blank then says whether the last
     * byte written (or, if nothing was, what came before) is a blank. */
    size_t (*fold_ascii)(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);

    /* One round of fast similarity sketching: deals each item, mixed with the seed, to one slot of `slots` and
     * keeps the smaller of what is there and round | 30 bits of value. */
    void (*fast_round)(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed, uint32_t round);

    /* Classic MinHash: out[i] becomes the least of itself and factor[i]·x + offset[i] over the items, x being the
     * leading 32 bits of the item mixed with the seed. */
    void (*linear_minima)(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                          const uint64_t *items, size_t n, uint64_t seed);

    /* The number of i below n with a[i] == b[i]. */
    size_t (*agree)(const uint32_t *a, const uint32_t *b, size_t n);

    /* Whether all n bytes are below 128. */
    _Bool (*is_ascii)(const char *p, size_t n);
};

/* The row in use. */
const struct kernels *twin__kernels(void);

/* Mixes an item before it is dealt or multiplied: an arithmetic progression must not stay one. Two
 * multiplications; the leading bits of either half of the result depend on every bit of the item. */
static inline uint64_t twin__sketch_mix(uint64_t item, uint64_t seed)
{
    uint64_t x = (item ^ seed) * 0x9E3779B97F4A7C15u;
    return (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
}

size_t twin__find_string_end_scalar(const char *p, size_t n);
size_t twin__find_string_end_avx2(const char *p, size_t n);
size_t twin__find_string_end_avx512(const char *p, size_t n);
size_t twin__fold_ascii_scalar(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);
void twin__fast_round_scalar(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                             uint32_t round);
void twin__linear_minima_scalar(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                                const uint64_t *items, size_t n, uint64_t seed);
size_t twin__agree_scalar(const uint32_t *a, const uint32_t *b, size_t n);
_Bool twin__is_ascii_scalar(const char *p, size_t n);

void twin__fast_round_avx2(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                           uint32_t round);
void twin__linear_minima_avx2(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                              const uint64_t *items, size_t n, uint64_t seed);
size_t twin__agree_avx2(const uint32_t *a, const uint32_t *b, size_t n);

void twin__fast_round_avx512(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                             uint32_t round);
void twin__linear_minima_avx512(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                                const uint64_t *items, size_t n, uint64_t seed);
size_t twin__agree_avx512(const uint32_t *a, const uint32_t *b, size_t n);

#endif

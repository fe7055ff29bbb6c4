/* neon.c — the kernels of 64-bit ARM, which has these vectors of 16 bytes on every machine.
 *
 * Here is what gains from them: loops over bytes, and over numbers that are compared or multiplied in 32 bits. Loops
 * that multiply in 64 bits (hashes of windows, sketches) are left to the scalar variants, since NEON multiplies 32 by 32
 * only where the processor has 64 by 64; edits are vectors of 16 bytes there already. */
#include "kernels/kernels.h"
#include "kernels/sketch_mix.h"
#include "kernels/word_hash.h"

#include <arm_neon.h>
#include <string.h>

static inline uint8x16_t load_bytes(const void *p)
{
    return vld1q_u8(p);
}

/* Bit i of the result is set if byte i is 0xFF, for bytes that are 0 or 0xFF. */
static inline uint32_t mask_of_32(uint8x16_t low, uint8x16_t high)
{
    const uint8x16_t bit = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    uint8x16_t sums = vpaddq_u8(vandq_u8(low, bit), vandq_u8(high, bit));
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(sums, sums)), 0);
}

static inline uint64_t mask_of_64(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    return mask_of_32(a, b) | (uint64_t)mask_of_32(c, d) << 32;
}

static inline uint8x16_t is_blank(uint8x16_t bytes)
{
    uint8x16_t control = vcleq_u8(vsubq_u8(bytes, vdupq_n_u8(9)), vdupq_n_u8(4));
    return vorrq_u8(control, vceqq_u8(bytes, vdupq_n_u8(' ')));
}

/* ---- text ---- */

size_t twin__find_string_end_neon(const char *p, size_t n)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        uint8x16_t ends[2];
        for (int half = 0; half < 2; half++) {
            uint8x16_t bytes = load_bytes(p + i + 16 * half);
            uint8x16_t special = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\')));
            ends[half] = vorrq_u8(special, vcltq_u8(bytes, vdupq_n_u8(0x20)));
        }
        uint32_t found = mask_of_32(ends[0], ends[1]);
        if (found)
            return i + (size_t)__builtin_ctz(found);
    }
    return i + twin__find_string_end_scalar(p + i, n - i);
}

bool twin__is_ascii_neon(const char *p, size_t n)
{
    uint8x16_t any = vdupq_n_u8(0);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        any = vorrq_u8(any, load_bytes(p + i));
    return vmaxvq_u8(any) < 0x80 && twin__is_ascii_scalar(p + i, n - i);
}

void twin__blanks_neon(uint64_t *out, const char *p, size_t n)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        *out++ = mask_of_64(is_blank(load_bytes(p + i)), is_blank(load_bytes(p + i + 16)),
                            is_blank(load_bytes(p + i + 32)), is_blank(load_bytes(p + i + 48)));
    twin__blanks_scalar(out, p + i, n - i);
}

size_t twin__xxh3_words_neon(uint64_t *out, const char *text, size_t n, uint64_t seed)
{
    enum { CHUNK = 4096 /* bytes */ };
    size_t count = 0, word = 0; /* where the current word begins */
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        uint64_t blanks[CHUNK / 64];
        size_t length = n - begin < CHUNK ? n - begin : CHUNK;
        twin__blanks_neon(blanks, text + begin, length);
        for (size_t i = 0; i < (length + 63) / 64; i++)
            for (uint64_t mask = blanks[i]; mask; mask &= mask - 1) {
                size_t end = begin + 64 * i + (size_t)__builtin_ctzll(mask);
                if (end > word)
                    out[count++] = twin__xxh3_word(text + word, end - word, seed);
                word = end + 1;
            }
    }
    if (n > word)
        out[count++] = twin__xxh3_word(text + word, n - word, seed);
    return count;
}

enum { BLOCK = 32 };
typedef uint8x16x2_t vector;
typedef uint32_t bits;

#include "kernels/fold_blocks.h"

static inline struct block fold_block(vector v)
{
    uint8x16_t blanks[2], high[2];
    vector folded;
    for (int half = 0; half < 2; half++) {
        uint8x16_t bytes = v.val[half];
        uint8x16_t capital = vcltq_u8(vsubq_u8(bytes, vdupq_n_u8('A')), vdupq_n_u8(26));
        blanks[half] = is_blank(bytes);
        high[half] = vcgeq_u8(bytes, vdupq_n_u8(0x80));
        uint8x16_t lower = vorrq_u8(bytes, vandq_u8(capital, vdupq_n_u8(0x20)));
        folded.val[half] = vbslq_u8(blanks[half], vdupq_n_u8(' '), lower);
    }
    return (struct block){ folded, mask_of_32(blanks[0], blanks[1]), mask_of_32(high[0], high[1]) };
}

static inline vector load_block(const char *p)
{
    return (vector){ { load_bytes(p), load_bytes(p + 16) } };
}

static inline void store_block(char *o, vector v)
{
    vst1q_u8((uint8_t *)o, v.val[0]);
    vst1q_u8((uint8_t *)o + 16, v.val[1]);
}

static inline unsigned count_bits(uint32_t x)
{
    return (unsigned)__builtin_popcount(x);
}

static inline vector load_end(const char *p, size_t n)
{
    char bytes[BLOCK];
    memset(bytes, 0x80, sizeof bytes);
    memcpy(bytes, p, n);
    return load_block(bytes);
}

/* Contiguous bytes are copied at once, since a block has few groups of them. */
static inline char *squeeze(char *o, vector v, uint32_t kept)
{
    char bytes[2 * BLOCK] = { 0 };
    store_block(bytes, v);
    while (kept) {
        unsigned begin = (unsigned)__builtin_ctz(kept);
        uint32_t after = ~(kept >> begin);
        store_block(o, load_block(bytes + begin));
        o += after ? __builtin_ctz(after) : BLOCK;
        kept &= kept + (kept & -kept); /* without its lowest group of ones */
    }
    return o;
}

size_t twin__fold_ascii_neon(char *out, size_t *written, bool *after_blank, const char *p, size_t n)
{
    return fold_ascii(out, written, after_blank, p, n);
}

/* ---- signatures ---- */

enum { LANES = 4, BATCH = 256 /* items */ };

/* So many vectors of functions over the same items, in registers. */
static inline void minima(uint32_t *least, const uint32_t *factor, const uint32_t *offset, const uint32_t *x,
                          size_t n, int vectors)
{
    uint32x4_t minimum[LANES], f[LANES], o[LANES];
    for (int v = 0; v < vectors; v++) {
        minimum[v] = vld1q_u32(least + LANES * v);
        f[v] = vld1q_u32(factor + LANES * v);
        o[v] = vld1q_u32(offset + LANES * v);
    }
    for (size_t i = 0; i < n; i++)
        for (int v = 0; v < vectors; v++)
            minimum[v] = vminq_u32(minimum[v], vmlaq_n_u32(o[v], f[v], x[i]));
    for (int v = 0; v < vectors; v++)
        vst1q_u32(least + LANES * v, minimum[v]);
}

static uint32_t minimum_of_one(uint32_t least, uint32_t factor, uint32_t offset, const uint32_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t value = factor * x[i] + offset;
        least = value < least ? value : least;
    }
    return least;
}

void twin__linear_minima_neon(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                              const uint64_t *items, size_t n, uint64_t seed)
{
    for (size_t begin = 0; begin < n; begin += BATCH) {
        uint32_t x[BATCH];
        size_t count = n - begin < BATCH ? n - begin : BATCH, slot = 0;
        for (size_t i = 0; i < count; i++)
            x[i] = (uint32_t)(twin__sketch_mix(items[begin + i], seed) >> 32);
        for (; slot + 4 * LANES <= slots; slot += 4 * LANES)
            minima(out + slot, factor + slot, offset + slot, x, count, 4);
        for (; slot + LANES <= slots; slot += LANES)
            minima(out + slot, factor + slot, offset + slot, x, count, 1);
        for (; slot < slots; slot++)
            out[slot] = minimum_of_one(out[slot], factor[slot], offset[slot], x, count);
    }
}

/* The number of lanes that are all ones, of lanes that are all ones or all zeros. */
static inline uint32_t count_lanes(uint32x4_t equal)
{
    return vaddvq_u32(vshrq_n_u32(equal, 31));
}

size_t twin__agree_neon(const uint32_t *a, const uint32_t *b, size_t n)
{
    size_t equal = 0, i = 0;
    for (; i + LANES <= n; i += LANES)
        equal += count_lanes(vceqq_u32(vld1q_u32(a + i), vld1q_u32(b + i)));
    return equal + twin__agree_scalar(a + i, b + i, n - i);
}

static inline uint8x16_t equal_bytes(const uint8_t *a, const uint8_t *b)
{
    return vceqq_u8(load_bytes(a), load_bytes(b));
}

static inline unsigned count_bytes(uint8x16_t equal)
{
    return vaddvq_u8(vshrq_n_u8(equal, 7));
}

size_t twin__agree_bytes_neon(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t equal = 0, i = 0;
    for (; i + 16 <= n; i += 16)
        equal += count_bytes(equal_bytes(a + i, b + i));
    return equal + twin__agree_bytes_scalar(a + i, b + i, n - i);
}

void twin__equal_bytes_neon(uint64_t *equal, uint32_t *counts, const uint8_t *row, const uint8_t *rows, size_t words,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned sum = 0;
        for (size_t w = 0; w < words; w++, rows += 64) {
            const uint8_t *own = row + 64 * w;
            uint64_t mask = mask_of_64(equal_bytes(own, rows), equal_bytes(own + 16, rows + 16),
                                       equal_bytes(own + 32, rows + 32), equal_bytes(own + 48, rows + 48));
            *equal++ = mask;
            sum += (unsigned)__builtin_popcountll(mask);
        }
        counts[i] = sum;
    }
}

size_t twin__near_heads_neon(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n,
                             const uint8_t head[HEAD_BYTES], unsigned least)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        out[count] = (uint32_t)i; /* always, so that there is nothing to predict */
        count += count_bytes(equal_bytes(heads[i], head)) >= least;
    }
    return count;
}

/* ---- sets ---- */

size_t twin__common_bits_neon(const uint64_t *a, const uint64_t *b, size_t n)
{
    uint64x2_t sum = vdupq_n_u64(0);
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        uint64x2_t both = vandq_u64(vld1q_u64(a + i), vld1q_u64(b + i));
        sum = vpadalq_u32(sum, vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u64(both)))));
    }
    return vaddvq_u64(sum) + twin__common_bits_scalar(a + i, b + i, n - i);
}

typedef uint64x2_t lane;

static inline void order(lane *low, lane *high)
{
    uint64x2_t a = *low, b = *high, swap = vcgtq_u64(a, b);
    *low = vbslq_u64(swap, b, a);
    *high = vbslq_u64(swap, a, b);
}

#include "kernels/sort_network.h"

/* Two bins at a time, one in each lane. */
void twin__sort_bins_neon(uint64_t *out, size_t n, const uint64_t *rows, size_t stride, const uint32_t *held,
                          size_t bins)
{
    size_t at = 0;
    for (size_t bin = 0; bin < bins; bin += 2) {
        const uint64x2_t counts = { held[bin], held[bin + 1] };
        uint64x2_t x[BIN_ROOM];
        for (size_t k = 0; k < BIN_ROOM; k++)
            x[k] = vorrq_u64(vld1q_u64(rows + k * stride + bin), vcleq_u64(counts, vdupq_n_u64(k)));
        sort_eight(x);
        for (size_t b = 0; b < 2; b++) {
            uint64_t sorted[BIN_ROOM];
            size_t room = at + BIN_ROOM <= n ? BIN_ROOM : n - at;
            for (size_t k = 0; k < BIN_ROOM; k += 2)
                vst1q_u64(sorted + k, b ? vzip2q_u64(x[k], x[k + 1]) : vzip1q_u64(x[k], x[k + 1]));
            memcpy(out + at, sorted, room * sizeof sorted[0]);
            at += held[bin + b];
        }
    }
}

#include "kernels/mark_lanes.h"

static inline unsigned equal_lanes(const uint64_t *bin, uint64_t item)
{
    const uint64x2_t wanted = vdupq_n_u64(item);
    const uint16x8_t bit = { 1, 2, 4, 8, 16, 32, 64, 128 };
    uint32x4_t low = vuzp1q_u32(vreinterpretq_u32_u64(vceqq_u64(vld1q_u64(bin), wanted)),
                                vreinterpretq_u32_u64(vceqq_u64(vld1q_u64(bin + 2), wanted)));
    uint32x4_t high = vuzp1q_u32(vreinterpretq_u32_u64(vceqq_u64(vld1q_u64(bin + 4), wanted)),
                                 vreinterpretq_u32_u64(vceqq_u64(vld1q_u64(bin + 6), wanted)));
    uint16x8_t equal = vuzp1q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
    return vaddvq_u16(vandq_u16(equal, bit));
}

size_t twin__fill_bins_neon(uint64_t *bins, uint8_t *held, uint64_t *strays, unsigned shift, const uint64_t *items,
                            size_t n)
{
    return fill_bins(bins, held, strays, shift, items, n);
}

size_t twin__mark_items_neon(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                             const uint64_t *items, size_t n)
{
    return mark_items(marks, missed, bins, shift, items, n);
}

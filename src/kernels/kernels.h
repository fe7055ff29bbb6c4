/* kernels.h — the few loops written once per instruction set, and their table.
 *
 * Kernels take arrays and counts; they do not allocate, call back or fail. The scalar variant is the
 * specification: every other variant returns what it returns, bit for bit. */
#ifndef TWIN_KERNELS_KERNELS_H
#define TWIN_KERNELS_KERNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twinsift/exec.h>

/* cpu.c: the best level of this machine. */
twin_cpu twin__cpu_best(void);

/* Index of the first byte of p[0..n) that is '"', '\\' or below 0x20; n when there is none. */
typedef size_t twin__find_string_end_fn(const char *p, size_t n);

/* Folds ASCII: copies p[0..n) to out, letters in lower case and each sequence of white space (9..13 and 32) as one
 * blank, and stops before the first byte above 127. Returns the bytes read and stores the bytes written in *written.
 * `out` has room for n + 64 bytes, and bytes past *written may be overwritten. White space at the start is dropped
 * when *after_blank is true; *after_blank becomes whether the last byte written (or, if nothing was, the one before)
 * is a blank. */
typedef size_t twin__fold_ascii_fn(char *out, size_t *written, bool *after_blank, const char *p, size_t n);

/* Whether all n bytes are below 128. */
typedef bool twin__is_ascii_fn(const char *p, size_t n);

/* Bit i % 64 of out[i / 64] is set if byte i is white space (9..13 and 32); out has (n + 63) / 64 words. */
typedef void twin__blanks_fn(uint64_t *out, const char *p, size_t n);

/* XXH3 with the seed of the `count` windows of `width` bytes that start at bytes[0], bytes[1], … */
typedef void twin__xxh3_windows_fn(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed);

/* XXH3 with the seed of each word of text[0..n), with 1 in the place of 0; words are separated by white space (9..13
 * and 32). Returns the number of words. `out` has room for n / 2 + 16 numbers, of which those after the last may be
 * overwritten. */
typedef size_t twin__xxh3_words_fn(uint64_t *out, const char *text, size_t n, uint64_t seed);

/* Replaces the hashes of n words by those of windows of `width` words: the i-th by twin__mix() of the sum of
 * items[i + j]·base^(width-1-j), j < width. The last width - 1 are left as they are; with n < width, all. */
typedef void twin__word_windows_fn(uint64_t *items, size_t n, size_t width, uint64_t base);

/* SipHash-1-3 of such windows. */
typedef void twin__sip_windows_fn(uint64_t *out, const char *bytes, size_t width, size_t count,
                                  const uint64_t key[2]);

/* SipHash-1-3 of eight texts at once, each cut into `count` words of eight bytes. The last word has the bytes that are
 * left over and, in its leading byte, the length of the text; words[8 * k + i] is word k of text i. */
enum { SIP_TEXTS = 8 };
typedef void twin__sip_texts_fn(uint64_t out[SIP_TEXTS], const uint64_t *words, size_t count, const uint64_t key[2]);

/* One round of fast similarity sketching: assigns each item, mixed with the seed, to one of `slots` slots,
 * which keeps the smaller of its value and round | 30 bits of the item's value. */
typedef void twin__fast_round_fn(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                                 uint32_t round);

/* Classic MinHash: out[i] becomes the least of itself and factor[i]·x + offset[i] over the items, where x is the
 * leading 32 bits of the item mixed with the seed. */
typedef void twin__linear_minima_fn(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                                    const uint64_t *items, size_t n, uint64_t seed);

/* The number of i below n with a[i] == b[i]. */
typedef size_t twin__agree_fn(const uint32_t *a, const uint32_t *b, size_t n);

/* The bits of an item in a Bloom filter of 512-bit blocks: its block, and its bit in each of the 8 lanes of 64 bits,
 * six bits per lane from the lowest up. */
struct bloom_probe {
    uint64_t block, lanes;
};

/* found[i] becomes whether all eight bits of probes[i] are set in the blocks at `words`, which are aligned to
 * 64 bytes; returns the number found. Other threads may set bits at the same time. */
typedef size_t twin__bloom_test_fn(bool *found, const uint64_t *words, const struct bloom_probe *probes, size_t n);

/* The same for one item, in registers: whether the bits of `lanes` are set in a block. */
typedef bool twin__bloom_has_fn(const uint64_t *block, uint64_t lanes);

/* Sets the bits of one probe after the other; fresh[i] becomes whether one of probes[i] was not set before;
 * returns the number of these. */
typedef size_t twin__bloom_add_fn(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n);

/* A bin has room for eight numbers; more than that are stored elsewhere. */
enum { BIN_ROOM = 8 };

/* Sorts bins. Bin b of `bins`, a multiple of eight, holds held[b] numbers, the k-th of which is rows[k * stride + b];
 * there are BIN_ROOM rows, and unused elements may hold anything. Writes bin after bin to out[0..n), the numbers of
 * each in increasing order; after the eight of a bin that holds more, space is left for the others. n is the number
 * of items of all bins. */
typedef void twin__sort_bins_fn(uint64_t *out, size_t n, const uint64_t *rows, size_t stride, const uint32_t *held,
                                size_t bins);

/* Moves one of each number to the front of items, which are in increasing order, and returns their number; the rest may
 * be anything. */
typedef size_t twin__drop_repeats_fn(uint64_t *items, size_t n);

/* Puts n numbers, in any order, into a table of bins of BIN_ROOM numbers each, aligned to 64 bytes: number x into bin
 * x >> shift, once, however often it comes. held[b] becomes how many are in bin b; before, it is 0, and the places of the
 * bin hold what none of its numbers is. Numbers that find their bin full are copied to `strays`, which has room for n, as
 * often as they come; returns their count. */
typedef size_t twin__fill_bins_fn(uint64_t *bins, uint8_t *held, uint64_t *strays, unsigned shift,
                                  const uint64_t *items, size_t n);

/* Looks n numbers up in a table of bins of BIN_ROOM numbers each, aligned to 64 bytes: number x would be in bin
 * x >> shift. Bit k of marks[b] is set if the k-th number of bin b is among them, and no earlier one of that bin equals
 * it. Numbers that are not in the table are copied to `missed`, which has room for n and may not be `items`; returns
 * their count. */
typedef size_t twin__mark_items_fn(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                                   const uint64_t *items, size_t n);

/* The number of bits that are set in both a[0..n) and b[0..n). */
typedef size_t twin__common_bits_fn(const uint64_t *a, const uint64_t *b, size_t n);

/* Patterns side by side, to be compared with texts: 64, 32, 16 or 8 of them in lanes of 1, 2, 4 or 8 bytes, each of as
 * many symbols at most as its lane has bits. Arrays of lanes are in the byte order of the machine. */
enum {
    EDIT_TILE = 64,     /* bytes */
    EDIT_NO_LANE = 128, /* the limit of a lane without a pattern, which is full of zeros */
};
struct edit_tile {
    int lane_bytes;
    bool replaces;          /* edits; otherwise insertions and deletions only */
    const uint16_t *row_of; /* by symbol: its row of masks; 0, which is all zeros: no pattern has it */
    const uint8_t *masks;   /* bit i of a lane of a row is set if symbol i of the pattern is the one of that row */
    const uint8_t *full;    /* as many bits of each lane, from the lowest on, as the pattern has symbols */
    const uint8_t *limits; /* of each lane, 0 .. 127: with m and n symbols in pattern and text, n - m + limit edits */
                           /* are allowed, or n - m + 2·limit insertions and deletions */
};

/* Compares the tile with `count` texts of n symbols, n <= 64, one after the other in `texts`: bit l of out[i] becomes
 * whether text i and the pattern of lane l are within the limit of that lane. */
typedef void twin__edit_tile_fn(uint64_t *out, const struct edit_tile *tile, const uint32_t *texts, size_t n,
                                size_t count);

/* The sum of values[stride * places[i]], stride 1 or 2, as SUM_LANES sums of doubles, of which sum i % SUM_LANES takes
 * number i; the upper half of them is then added to the lower, until one is left. So it is the same everywhere. */
enum { SUM_LANES = 16 };
typedef double twin__sum_at_fn(const float *values, size_t stride, const uint32_t *places, size_t n);

/* The number of i below n with a[i] == b[i]. */
typedef size_t twin__agree_bytes_fn(const uint8_t *a, const uint8_t *b, size_t n);

/* Compares a row of 64 * words bytes with `count` rows, one after the other: bit k of the words of row i in `equal` is
 * set if byte k is the same in both, and counts[i] is how many are. */
typedef void twin__equal_bytes_fn(uint64_t *equal, uint32_t *counts, const uint8_t *row, const uint8_t *rows,
                                  size_t words, size_t count);

/* Stores the numbers of those of n heads, in increasing order, that have at least `least` bytes in common with
 * `head`, each at its own place. Returns how many there are; `out` has room for n. */
enum { HEAD_BYTES = 16 };
typedef size_t twin__near_heads_fn(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n,
                                   const uint8_t head[HEAD_BYTES], unsigned least);

/* The compression function of SHA-256: what `state` becomes after `blocks` blocks. */
enum { SHA256_BLOCK = 64 };
typedef void twin__sha256_blocks_fn(uint32_t state[8], const unsigned char *bytes, size_t blocks);

struct kernels {
    twin__find_string_end_fn *find_string_end;
    twin__fold_ascii_fn *fold_ascii;
    twin__is_ascii_fn *is_ascii;
    twin__blanks_fn *blanks;
    twin__xxh3_windows_fn *xxh3_windows;
    twin__xxh3_words_fn *xxh3_words;
    twin__word_windows_fn *word_windows;
    twin__sip_windows_fn *sip_windows;
    twin__sip_texts_fn *sip_texts;
    twin__fast_round_fn *fast_round;
    twin__linear_minima_fn *linear_minima;
    twin__agree_fn *agree;
    twin__bloom_test_fn *bloom_test;
    twin__bloom_has_fn *bloom_has;
    twin__bloom_add_fn *bloom_add;
    twin__sort_bins_fn *sort_bins;
    twin__drop_repeats_fn *drop_repeats;
    twin__fill_bins_fn *fill_bins;
    twin__mark_items_fn *mark_items;
    twin__common_bits_fn *common_bits;
    twin__edit_tile_fn *edit_tile;
    twin__sum_at_fn *sum_at;
    twin__agree_bytes_fn *agree_bytes;
    twin__equal_bytes_fn *equal_bytes;
    twin__near_heads_fn *near_heads;
    twin__sha256_blocks_fn *sha256_blocks;
};

/* The variant of each level, and the one in use, or NULL before the first call. */
extern const struct kernels twin__kernels_of[TWIN_CPU_LEVELS];
extern const struct kernels *_Atomic twin__kernels_chosen;

/* The variant in use. Inline: for a filter in the cache a call would cost a tenth of a query. */
static inline const struct kernels *twin__kernels(void)
{
    const struct kernels *chosen = atomic_load_explicit(&twin__kernels_chosen, memory_order_relaxed);
    return chosen ? chosen : &twin__kernels_of[twin_cpu_level()];
}

/* The next level that this machine can run, or TWIN_CPU_LEVELS: for what tries them all. */
twin_cpu twin__next_level(twin_cpu level);

/* Not every kernel has a variant for NEON: neon.c says which and why. */
#define TWIN__VARIANTS(name)                                                                                         \
    twin__##name##_fn twin__##name##_scalar, twin__##name##_avx2, twin__##name##_avx512, twin__##name##_neon

TWIN__VARIANTS(find_string_end);
TWIN__VARIANTS(fold_ascii);
TWIN__VARIANTS(is_ascii);
TWIN__VARIANTS(blanks);
TWIN__VARIANTS(xxh3_windows);
TWIN__VARIANTS(xxh3_words);
TWIN__VARIANTS(word_windows);
TWIN__VARIANTS(sip_windows);
TWIN__VARIANTS(sip_texts);
TWIN__VARIANTS(fast_round);
TWIN__VARIANTS(linear_minima);
TWIN__VARIANTS(agree);
TWIN__VARIANTS(bloom_test);
TWIN__VARIANTS(bloom_has);
TWIN__VARIANTS(bloom_add);
TWIN__VARIANTS(sort_bins);
TWIN__VARIANTS(drop_repeats);
TWIN__VARIANTS(fill_bins);
TWIN__VARIANTS(mark_items);
TWIN__VARIANTS(common_bits);
TWIN__VARIANTS(edit_tile);
TWIN__VARIANTS(sum_at);
TWIN__VARIANTS(agree_bytes);
TWIN__VARIANTS(equal_bytes);
TWIN__VARIANTS(near_heads);
TWIN__VARIANTS(sha256_blocks);

#endif

/* words_lanes.h — the loops of words_avx2.c and words_avx512.c, a word per lane.
 *
 * A chunk of text is searched for white space first; where it is goes to an array. Then words, which lie between two
 * neighbours of the array, are hashed LANES at a time. Branching by length would be wrong for most words, so each is
 * hashed by all three rules for up to 16 bytes, and one result is kept; only longer words are hashed one by one. No
 * byte outside the text is read. */
#ifndef TWIN_KERNELS_WORDS_LANES_H
#define TWIN_KERNELS_WORDS_LANES_H

#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/word_hash.h"
#include "kernels/xxh3_lanes.h"

#include <string.h>

enum {
    CHUNK = 4096,     /* bytes */
    SPARE = 64,       /* numbers that may be written after those in use */
    MOST_HORNER = 16, /* words: wider windows are moved from word to word */
};

typedef int32_t offsets __attribute__((vector_size(LANE_BYTES / 2)));

/* White space in a chunk. */
struct cuts {
    const char *chunk;
    int64_t last_load; /* relative to the chunk: eight bytes can be read from here, but not from one byte later */
    size_t count;
    int32_t at[CHUNK + SPARE];
};

/* Eight bytes from each offset. */
LANES_INLINE lanes gather(const char *base, offsets at);

/* Appends the lanes whose bit is set, and returns their number; LANES numbers may be written. */
LANES_INLINE size_t keep(uint64_t *out, lanes hashes, signed_lanes wanted);

/* Bit i becomes whether lane i is negative. */
LANES_INLINE unsigned sign_bits(signed_lanes x);

/* Hashes of the words that end at cuts->at[first], …, and begin after the cut before. */
LANES_INLINE lanes hash_lanes(const struct cuts *cuts, size_t first, signed_lanes *length, const struct flips *flips)
{
    offsets before, at;
    memcpy(&before, cuts->at + first - 1, sizeof before);
    memcpy(&at, cuts->at + first, sizeof at);
    signed_lanes begin = __builtin_convertvector(before, signed_lanes) + 1;
    signed_lanes end = __builtin_convertvector(at, signed_lanes), size = end - begin;

    /* A word that begins in the last bytes of the text is loaded from before and shifted. */
    signed_lanes late = begin - cuts->last_load;
    late &= late > 0;
    signed_lanes is_long = size > 8, last_at = (is_long & (end - 8)) | (~is_long & (begin - late));
    lanes bytes = gather(cuts->chunk, __builtin_convertvector(begin - late, offsets));
    lanes last = gather(cuts->chunk, __builtin_convertvector(last_at, offsets));
    bytes >>= (lanes)(late * 8);

    lanes n = (lanes)size, to_last = (n * 8 - 8) & 63, to_middle = n / 2 * 8 & 63;
    lanes short_hash = hash_1_to_3(bytes & 0xFF, bytes >> to_middle & 0xFF, bytes >> to_last & 0xFF, n, flips);
    lanes medium_hash = hash_4_to_8(bytes & UINT32_MAX, bytes >> ((n * 8 - 32) & 63) & UINT32_MAX, n, flips);
    lanes long_hash = hash_9_to_16(bytes, last, n, flips);
    lanes hash = (lanes)is_long & long_hash;
    lanes is_short = (lanes)(size < 4);
    hash |= ~(lanes)is_long & ((is_short & short_hash) | (~is_short & medium_hash));
    *length = size;
    return hash - (lanes)(hash == 0); /* 1 for 0 */
}

/* Appends the hashes of the words that end at cuts->at[1], …, at[count - 1]; what follows in the array repeats the
 * last, so that there is no further word. */
LANES_INLINE size_t hash_cuts(uint64_t *out, const struct cuts *cuts, const struct flips *flips, uint64_t seed)
{
    size_t count = 0;
    for (size_t i = 1; i < cuts->count; i += LANES) {
        signed_lanes length;
        lanes hashes = hash_lanes(cuts, i, &length, flips);
        unsigned longer = sign_bits(16 - length);
        for (; longer; longer &= longer - 1) {
            size_t lane = (size_t)__builtin_ctz(longer), begin = (size_t)cuts->at[i + lane - 1] + 1;
            hashes[lane] = twin__xxh3_word(cuts->chunk + begin, (size_t)cuts->at[i + lane] - begin, seed);
        }
        count += keep(out + count, hashes, length > 0);
    }
    return count;
}

/* Fills cuts->at with the places of white space in chunk[0..n), n <= CHUNK. */
LANES_INLINE void find_cuts(struct cuts *cuts, size_t n);

LANES_INLINE size_t hash_words(uint64_t *out, const char *text, size_t n, uint64_t seed)
{
    const struct flips flips = flips_of(seed);
    struct cuts cuts;
    size_t count = 0, word = 0; /* where the current word begins */
    if (n < 8)
        return twin__xxh3_words_scalar(out, text, n, seed);
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        size_t length = n - begin < CHUNK ? n - begin : CHUNK;
        cuts.chunk = text + begin;
        cuts.last_load = (int64_t)(n - begin) - 8;
        find_cuts(&cuts, length);
        if (begin + length == n) /* the end of the text ends a word too */
            cuts.at[cuts.count++] = (int32_t)length;
        if (cuts.count == 0)
            continue;
        size_t first = begin + (size_t)cuts.at[0]; /* its word may begin in an earlier chunk */
        if (first > word)
            out[count++] = twin__xxh3_word(text + word, first - word, seed);
        for (size_t i = 0; i < LANES; i++)
            cuts.at[cuts.count + i] = cuts.at[cuts.count - 1];
        count += hash_cuts(out + count, &cuts, &flips, seed);
        word = begin + (size_t)cuts.at[cuts.count - 1] + 1;
    }
    return count;
}

/* ---- windows ---- */

LANES_INLINE lanes load(const uint64_t *items)
{
    lanes out;
    memcpy(&out, items, sizeof out);
    return out;
}

LANES_INLINE void word_windows(uint64_t *items, size_t n, size_t width, uint64_t base)
{
    size_t i = 0;
    if (width > MOST_HORNER || n < width) {
        twin__word_windows_scalar(items, n, width, base);
        return;
    }
    for (; i + LANES + width - 1 <= n; i += LANES) {
        lanes x = load(items + i);
        for (size_t j = 1; j < width; j++)
            x = x * base + load(items + i + j);
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u; /* twin__mix() */
        x = (x ^ x >> 27) * 0x94D049BB133111EBu;
        x ^= x >> 31;
        memcpy(items + i, &x, sizeof x);
    }
    twin__word_windows_scalar(items + i, n - i, width, base);
}

#endif

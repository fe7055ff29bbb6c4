/* edit_lanes.h — the loop of edit_scalar.c, edit_avx2.c and edit_avx512.c: the same in each, on vectors of EDIT_VECTOR
 * bytes, for which the compiler chooses the instructions.
 *
 * A lane is the column of the table of one pattern, a bit per row (Myers 1999, Hyyrö 2003 and 2004), as in
 * edit/edit_core.c. Only the last column is counted: the cost of its lowest cell is that of its highest, n, plus the
 * steps between them. The width of a lane matters to addition alone, and is known to the compiler everywhere. */
#ifndef TWIN_KERNELS_EDIT_LANES_H
#define TWIN_KERNELS_EDIT_LANES_H

#include "kernels/kernels.h"

#include <string.h>

#define EDIT_INLINE static inline __attribute__((always_inline))

typedef uint8_t vector __attribute__((vector_size(EDIT_VECTOR)));
typedef uint16_t lanes2 __attribute__((vector_size(EDIT_VECTOR)));
typedef uint32_t lanes4 __attribute__((vector_size(EDIT_VECTOR)));
typedef uint64_t lanes8 __attribute__((vector_size(EDIT_VECTOR)));

/* Texts at a time: a column has to wait for the one before, and the processor works on another text meanwhile. */
enum { TEXTS = EDIT_VECTOR == 64 ? 4 : 2, WORDS = EDIT_VECTOR / 8 };

EDIT_INLINE vector load(const uint8_t *bytes)
{
    vector out;
    memcpy(&out, bytes, sizeof out);
    return out;
}

EDIT_INLINE vector add(vector a, vector b, int lane_bytes)
{
    switch (lane_bytes) {
    case 1: return a + b;
    case 2: return (vector)((lanes2)a + (lanes2)b);
    case 4: return (vector)((lanes4)a + (lanes4)b);
    default: return (vector)((lanes8)a + (lanes8)b);
    }
}

EDIT_INLINE vector bits_of_bytes(vector x)
{
    x -= x >> 1 & 0x55;
    x = (x & 0x33) + (x >> 2 & 0x33);
    return (x + (x >> 4)) & 0x0F;
}

/* The sum of the bytes of each lane, in its lowest byte; the others may be anything. */
EDIT_INLINE vector sums_of_bytes(vector x, int lane_bytes)
{
    if (lane_bytes >= 2)
        x += (vector)((lanes8)x >> 8);
    if (lane_bytes >= 4)
        x += (vector)((lanes8)x >> 16);
    if (lane_bytes == 8)
        x += (vector)((lanes8)x >> 32);
    return x;
}

/* Bit l of the result is set if the count of lane l is at most its limit. A count is at most 128 and a limit below that,
 * so their difference says so in its highest bit. */
EDIT_INLINE uint64_t within(vector bits, const uint8_t *limits, int lane_bytes)
{
    vector apart = ~(load(limits) - sums_of_bytes(bits, lane_bytes)) & 0x80;
    uint64_t words[WORDS], any = 0, out = 0;
    memcpy(words, &apart, sizeof words);
    const uint64_t lowest = lane_bytes == 1   ? UINT64_MAX
                            : lane_bytes == 2 ? 0x00FF00FF00FF00FFu
                            : lane_bytes == 4 ? 0x000000FF000000FFu
                                              : 0xFF;
    for (int i = 0; i < WORDS; i++)
        any |= words[i] & lowest;
    if (!any) /* nearly always */
        return 0;
    for (int lane = 0; lane < EDIT_VECTOR / lane_bytes; lane++) {
        int bit = 8 * lane_bytes * lane + 7;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ /* the first lane of a word is its highest */
        bit ^= 64 - 8 * lane_bytes;
#endif
        out |= (words[bit / 64] >> bit % 64 & 1) << lane;
    }
    return out;
}

/* The column of symbol number j of the texts: where each lane has it. */
EDIT_INLINE vector matches(const struct edit_tile *tile, size_t at, uint32_t symbol)
{
    return load(tile->masks + (size_t)tile->row_of[symbol] * EDIT_TILE + at);
}

/* Compares `count` texts, at most TEXTS, with the lanes from byte `at` of the tile on. `up` and `down` are the rows
 * where the cost rises and falls. */
EDIT_INLINE void edits(uint64_t *out, const struct edit_tile *tile, size_t at, const uint32_t *texts, size_t n,
                       int count, int lane_bytes)
{
    vector up[TEXTS], down[TEXTS], full = load(tile->full + at);
    for (int t = 0; t < count; t++) {
        up[t] = ~(vector){ 0 };
        down[t] = (vector){ 0 };
    }
    for (size_t j = 0; j < n; j++)
        for (int t = 0; t < count; t++) {
            vector equal = matches(tile, at, texts[(size_t)t * n + j]);
            vector same = (add(equal & up[t], up[t], lane_bytes) ^ up[t]) | equal | down[t];
            /* Horizontal steps: not the rows where they rise, but all others, so that the step of the row above the
             * first, which rises, is shifted in by doubling. */
            vector stays = (same | up[t]) & ~down[t], falls = up[t] & same;
            stays = add(stays, stays, lane_bytes);
            falls = add(falls, falls, lane_bytes);
            up[t] = falls | (stays & ~same);
            down[t] = same & ~stays;
        }
    for (int t = 0; t < count; t++) {
        vector bits = bits_of_bytes(up[t] & full) + bits_of_bytes(~down[t] & full);
        out[t] |= within(bits, tile->limits + at, lane_bytes) << at / (size_t)lane_bytes;
    }
}

/* The same for insertions and deletions. `flat` is the rows where the longest common subsequence stays the same. */
EDIT_INLINE void indels(uint64_t *out, const struct edit_tile *tile, size_t at, const uint32_t *texts, size_t n,
                        int count, int lane_bytes)
{
    vector flat[TEXTS], full = load(tile->full + at);
    for (int t = 0; t < count; t++)
        flat[t] = ~(vector){ 0 };
    for (size_t j = 0; j < n; j++)
        for (int t = 0; t < count; t++) {
            vector equal = matches(tile, at, texts[(size_t)t * n + j]);
            flat[t] = add(flat[t], flat[t] & equal, lane_bytes) | (flat[t] & ~equal);
        }
    for (int t = 0; t < count; t++)
        out[t] |= within(bits_of_bytes(flat[t] & full), tile->limits + at, lane_bytes) << at / (size_t)lane_bytes;
}

EDIT_INLINE void part_of_tile(uint64_t *out, const struct edit_tile *tile, size_t at, const uint32_t *texts, size_t n,
                              size_t count, int lane_bytes)
{
    size_t i = 0;
    for (; i + TEXTS <= count; i += TEXTS)
        if (tile->replaces)
            edits(out + i, tile, at, texts + i * n, n, TEXTS, lane_bytes);
        else
            indels(out + i, tile, at, texts + i * n, n, TEXTS, lane_bytes);
    for (; i < count; i++)
        if (tile->replaces)
            edits(out + i, tile, at, texts + i * n, n, 1, lane_bytes);
        else
            indels(out + i, tile, at, texts + i * n, n, 1, lane_bytes);
}

EDIT_INLINE void edit_tile(uint64_t *out, const struct edit_tile *tile, const uint32_t *texts, size_t n, size_t count)
{
    memset(out, 0, count * sizeof *out);
    for (size_t at = 0; at < EDIT_TILE; at += EDIT_VECTOR)
        switch (tile->lane_bytes) {
        case 1: part_of_tile(out, tile, at, texts, n, count, 1); break;
        case 2: part_of_tile(out, tile, at, texts, n, count, 2); break;
        case 4: part_of_tile(out, tile, at, texts, n, count, 4); break;
        default: part_of_tile(out, tile, at, texts, n, count, 8);
        }
}

#endif

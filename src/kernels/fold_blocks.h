/* fold_blocks.h — the loop of fold_avx2.c and fold_avx512.c.
 *
 * A block at a time. Most blocks are stored as they are folded; only those with redundant blanks are compressed.
 * To be included after the definitions of BLOCK, the bytes of a block, of `vector`, which has so many, and of `bits`, a
 * number with a bit for each of them. */
#ifndef TWIN_KERNELS_FOLD_BLOCKS_H
#define TWIN_KERNELS_FOLD_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
    vector folded;
    bits blanks, high; /* a bit per byte */
};

static inline struct block fold_block(vector v);
static inline vector load_block(const char *p);
static inline void store_block(char *o, vector v);
static inline unsigned count_bits(bits x);

/* The last n bytes of the text, followed by bytes that stop the loop. */
static inline vector load_end(const char *p, size_t n);

/* Writes the bytes of a block whose bits are set, and returns where they end. */
static inline char *squeeze(char *o, vector v, bits kept);

static inline size_t fold_ascii(char *out, size_t *written, bool *after_blank, const char *p, size_t n)
{
    bits blank = *after_blank;
    char *o = out;
    size_t i = 0;
    while (i < n) {
        struct block block = fold_block(n - i < BLOCK ? load_end(p + i, n - i) : load_block(p + i));
        bits dropped = block.blanks & (block.blanks << 1 | blank);
        store_block(o, block.folded);
        if ((dropped | block.high) == 0) {
            blank = block.blanks >> (BLOCK - 1);
            o += BLOCK;
            i += BLOCK;
            continue;
        }
        bits valid = ~block.high & (block.high - 1); /* those below the first high one */
        unsigned count = count_bits(valid);
        o = dropped & valid ? squeeze(o, block.folded, valid & ~dropped) : o + count;
        i += count;
        if (count > 0)
            blank = block.blanks >> (count - 1) & 1;
        if (block.high)
            break;
    }
    *after_blank = blank;
    *written = (size_t)(o - out);
    return i;
}

#endif

/* kernels.h — the few loops written once per instruction set, and their table.
 *
 * Kernels take arrays and counts; they do not allocate, call back or fail. The scalar row is the
 * specification: every other row returns what it returns, bit for bit. */
#ifndef TWIN_KERNELS_H
#define TWIN_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an item stands in a Bloom filter of 512-bit blocks: its block, and its bit in each of the 8 lanes of
 * 64 bits, six bits a lane from the lowest up. */
struct bloom_probe {
    uint64_t block, lanes;
};

struct kernels {
    /* Index of the first byte of p[0..n) that is '"', '\\' or below 0x20; n when there is none. */
    size_t (*find_string_end)(const char *p, size_t n);

    /* Folds ASCII: copies p[0..n) to out, letters in lower case and each run of white space (9..13 and 32) as
     * one blank, and stops before the first byte above 127. Returns the bytes read and puts the bytes written
     * into *written. `out` has room for n + 64 bytes, and what lies past *written may be overwritten. A run of
     * white space at the start is dropped when *after_blank is true; *after_blank then says whether the last
     * byte written (or, if nothing was, what came before) is a blank. */
    size_t (*fold_ascii)(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);

    /* found[i] tells whether all eight bits of probes[i] are set in the blocks at `words`, which are aligned to
     * 64 bytes; the number found is returned. Other threads may be setting bits meanwhile. */
    size_t (*bloom_test)(bool *found, const uint64_t *words, const struct bloom_probe *probes, size_t n);

    /* Sets the bits of one probe after the other; fresh[i] tells whether one of probes[i] was not set before;
     * the number of fresh ones is returned. */
    size_t (*bloom_add)(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n);
};

/* The row in use. */
const struct kernels *twin__kernels(void);

size_t twin__find_string_end_scalar(const char *p, size_t n);
size_t twin__fold_ascii_scalar(char *out, size_t *written, _Bool *after_blank, const char *p, size_t n);

size_t twin__bloom_test_scalar(bool *found, const uint64_t *words, const struct bloom_probe *probes, size_t n);
size_t twin__bloom_test_avx2(bool *found, const uint64_t *words, const struct bloom_probe *probes, size_t n);
size_t twin__bloom_test_avx512(bool *found, const uint64_t *words, const struct bloom_probe *probes, size_t n);
size_t twin__bloom_add_scalar(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n);
size_t twin__bloom_add_avx2(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n);
size_t twin__bloom_add_avx512(bool *fresh, uint64_t *words, const struct bloom_probe *probes, size_t n);

#endif

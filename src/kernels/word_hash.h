/* word_hash.h — the hash of one word, of which the kernels xxh3_words make many. */
#ifndef TWIN_KERNELS_WORD_HASH_H
#define TWIN_KERNELS_WORD_HASH_H

#include <stddef.h>
#include <stdint.h>

/* words_scalar.c: XXH3 with the seed; never 0 but 1. */
uint64_t twin__xxh3_word(const char *word, size_t length, uint64_t seed);

#endif

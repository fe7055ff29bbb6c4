/* words_scalar.c — XXH3 of the words of a text, and windows of words: the specification. */
#include "kernels/kernels.h"
#include "kernels/word_hash.h"

#include "base/random.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t twin__xxh3_word(const char *word, size_t length, uint64_t seed)
{
    uint64_t hash = XXH3_64bits_withSeed(word, length, seed);
    return hash ? hash : 1;
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || (unsigned)c - '\t' <= '\r' - '\t';
}

size_t twin__xxh3_words_scalar(uint64_t *out, const char *text, size_t n, uint64_t seed)
{
    size_t count = 0, word = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && !is_blank((unsigned char)text[i]))
            continue;
        if (i > word)
            out[count++] = twin__xxh3_word(text + word, i - word, seed);
        word = i + 1;
    }
    return count;
}

void twin__word_windows_scalar(uint64_t *items, size_t n, size_t width, uint64_t base)
{
    uint64_t sum = 0, leading = 1; /* the weight of a window's first word */
    if (n < width)
        return;
    for (size_t i = 0; i + 1 < width; i++) {
        sum = sum * base + items[i];
        leading *= base;
    }
    for (size_t i = 0; i + width <= n; i++) {
        uint64_t first = items[i];
        sum = sum * base + items[i + width - 1];
        items[i] = twin__mix(sum);
        sum -= first * leading;
    }
}

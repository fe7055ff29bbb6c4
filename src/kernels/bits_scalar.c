/* bits_scalar.c — counts bits that two bitmaps share: the specification. */
#include "kernels/kernels.h"

/* The bits of a word, added in pairs, fours and bytes (Warren, Hacker's Delight, 2012, 5-1). */
static uint64_t bits_of(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return word * 0x0101010101010101u >> 56;
}

size_t twin__common_bits_scalar(const uint64_t *a, const uint64_t *b, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += bits_of(a[i] & b[i]);
    return count;
}

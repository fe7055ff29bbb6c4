/* equal_scalar.c — where rows of bytes are equal: the specification. */
#include "kernels/kernels.h"

void twin__equal_bytes_scalar(uint64_t *equal, uint32_t *counts, const uint8_t *row, const uint8_t *rows,
                              size_t words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        counts[i] = 0;
        for (size_t w = 0; w < words; w++, row += 64, rows += 64) {
            uint64_t bits = 0;
            for (size_t k = 0; k < 64; k++)
                bits |= (uint64_t)(row[k] == rows[k]) << k;
            *equal++ = bits;
            for (; bits; bits &= bits - 1)
                counts[i]++;
        }
        row -= 64 * words;
    }
}

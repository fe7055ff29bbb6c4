/* sha256_scalar.c — the compression function of SHA-256 (FIPS 180-4, 6.2.2): the specification. */
#include "kernels/kernels.h"
#include "kernels/sha256_constants.h"

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The words that the rounds take: those of the block, and what follows from them. */
static void schedule(uint32_t w[SHA256_ROUNDS], const unsigned char *block)
{
    for (int i = 0; i < 16; i++)
        w[i] = big_endian(block + (size_t)4 * (size_t)i);
    for (int i = 16; i < SHA256_ROUNDS; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

void twin__sha256_blocks_scalar(uint32_t state[8], const unsigned char *bytes, size_t blocks)
{
    for (; blocks > 0; blocks--, bytes += SHA256_BLOCK) {
        uint32_t w[SHA256_ROUNDS];
        schedule(w, bytes);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < SHA256_ROUNDS; i++) {
            uint32_t t1 =
                h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + SHA256_K[i] + w[i];
            uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1;
            d = c, c = b, b = a, a = t1 + t2;
        }
        const uint32_t sums[8] = { a, b, c, d, e, f, g, h };
        for (int i = 0; i < 8; i++)
            state[i] += sums[i];
    }
}

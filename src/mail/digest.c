/* digest.c — SHA-256 (FIPS 180-4), cut short. */
#include "mail/digest.h"

#include <string.h>

#include "kernels/kernels.h"

/* What is left of the bytes after whole blocks: a one, zeros, and the number of bits. */
static size_t pad(unsigned char out[2 * SHA256_BLOCK], twin_text bytes)
{
    size_t left = bytes.length % SHA256_BLOCK, blocks = left + 9 > SHA256_BLOCK ? 2 : 1;
    uint64_t bits = 8 * (uint64_t)bytes.length;
    memset(out, 0, 2 * SHA256_BLOCK);
    if (left)
        memcpy(out, bytes.bytes + bytes.length - left, left);
    out[left] = 0x80;
    for (size_t i = 0; i < 8; i++)
        out[blocks * SHA256_BLOCK - 1 - i] = (unsigned char)(bits >> 8 * i);
    return blocks;
}

void twin__digest(unsigned char out[16], twin_text bytes)
{
    uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    unsigned char rest[2 * SHA256_BLOCK];
    size_t blocks = pad(rest, bytes);
    if (bytes.length >= SHA256_BLOCK)
        twin__kernels()->sha256_blocks(state, (const unsigned char *)bytes.bytes, bytes.length / SHA256_BLOCK);
    twin__kernels()->sha256_blocks(state, rest, blocks);
    for (size_t i = 0; i < 16; i++)
        out[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

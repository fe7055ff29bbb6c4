/* sha256_avx2.c — SHA-256 has no lanes to share, and few processors of this level have instructions for it. */
#include "kernels/kernels.h"

void twin__sha256_blocks_avx2(uint32_t state[8], const unsigned char *bytes, size_t blocks)
{
    twin__sha256_blocks_scalar(state, bytes, blocks);
}

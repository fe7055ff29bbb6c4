/* edit_avx2.c — vectors of 32 bytes. */
#define EDIT_VECTOR 32
#include "kernels/edit_lanes.h"

void twin__edit_tile_avx2(uint64_t *out, const struct edit_tile *tile, const uint32_t *texts, size_t n, size_t count)
{
    edit_tile(out, tile, texts, n, count);
}

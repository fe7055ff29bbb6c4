/* edit_scalar.c — plain vectors of 16 bytes, which every 64-bit machine has. */
#define EDIT_VECTOR 16
#include "kernels/edit_lanes.h"

void twin__edit_tile_scalar(uint64_t *out, const struct edit_tile *tile, const uint32_t *texts, size_t n,
                            size_t count)
{
    edit_tile(out, tile, texts, n, count);
}

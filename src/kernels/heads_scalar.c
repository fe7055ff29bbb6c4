/* heads_scalar.c — which short signatures agree in many bytes: the specification. */
#include "kernels/kernels.h"

size_t twin__agree_bytes_scalar(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t equal = 0;
    for (size_t i = 0; i < n; i++)
        equal += a[i] == b[i];
    return equal;
}

size_t twin__near_heads_scalar(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n,
                               const uint8_t head[HEAD_BYTES], unsigned least)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned equal = 0;
        for (size_t k = 0; k < HEAD_BYTES; k++)
            equal += heads[i][k] == head[k];
        out[count] = (uint32_t)i; /* always, so that there is nothing to predict */
        count += equal >= least;
    }
    return count;
}

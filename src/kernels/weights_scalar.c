/* weights_scalar.c — sums of weights at given places: the specification. */
#include "kernels/kernels.h"

double twin__sum_at_scalar(const float *values, size_t stride, const uint32_t *places, size_t n)
{
    double sums[SUM_LANES] = { 0 };
    size_t i = 0;
    for (; i + SUM_LANES <= n; i += SUM_LANES)
        for (size_t k = 0; k < SUM_LANES; k++)
            sums[k] += (double)values[stride * places[i + k]];
    for (size_t k = 0; i + k < n; k++)
        sums[k] += (double)values[stride * places[i + k]];
    for (size_t half = SUM_LANES / 2; half; half /= 2)
        for (size_t k = 0; k < half; k++)
            sums[k] += sums[k + half];
    return sums[0];
}

/* sort_network.h — the shortest network that sorts eight numbers: 19 comparisons.
 *
 * To be included after the definition of `lane`, a number or a vector of numbers, and of `order(lane *low, lane
 * *high)`, which puts the smaller first, so that every variant has the same network. */
#ifndef TWIN_KERNELS_SORT_NETWORK_H
#define TWIN_KERNELS_SORT_NETWORK_H

#include "kernels/kernels.h"

static inline void sort_eight(lane x[BIN_ROOM])
{
    order(&x[0], &x[2]), order(&x[1], &x[3]), order(&x[4], &x[6]), order(&x[5], &x[7]);
    order(&x[0], &x[4]), order(&x[1], &x[5]), order(&x[2], &x[6]), order(&x[3], &x[7]);
    order(&x[0], &x[1]), order(&x[2], &x[3]), order(&x[4], &x[5]), order(&x[6], &x[7]);
    order(&x[2], &x[4]), order(&x[3], &x[5]);
    order(&x[1], &x[4]), order(&x[3], &x[6]);
    order(&x[1], &x[2]), order(&x[3], &x[4]), order(&x[5], &x[6]);
}

#endif

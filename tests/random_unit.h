/* random_unit.h — random numbers between 0 and 1. */
#ifndef RANDOM_UNIT_H
#define RANDOM_UNIT_H

#include "base/random.h"

/* A number in [0, 1) with 53 random bits. */
static inline double random_unit(uint64_t *state)
{
    return (double)(twin__random_next(state) >> 11) * 0x1p-53;
}

#endif

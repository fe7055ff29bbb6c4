/* sorting.h — sorting numbers with memory of its own. */
#ifndef TWIN_JOIN_SORTING_H
#define TWIN_JOIN_SORTING_H

#include <stdlib.h>

#include "kernels/sort.h"

/* Sorts the numbers; false when out of memory: then they are as they were. */
static inline bool twin__sort_numbers(uint64_t *items, size_t count)
{
    uint64_t *spare = malloc((count + 1) * sizeof *spare);
    if (!spare)
        return false;
    twin__sort(items, count, spare, count);
    free(spare);
    return true;
}

#endif

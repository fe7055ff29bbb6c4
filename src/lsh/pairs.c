/* pairs.c — lists of candidate pairs. */
#include "lsh/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernels/sort.h"

bool twin__pairs_add(struct twin__pairs *pairs, uint64_t pair)
{
    if (!TWIN__ARRAY_GROW(&pairs->items, &pairs->capacity, pairs->count, 1))
        return false;
    pairs->items[pairs->count++] = pair;
    return true;
}

bool twin__pairs_append(struct twin__pairs *pairs, const struct twin__pairs *more)
{
    if (more->count == 0)
        return true;
    if (!TWIN__ARRAY_GROW(&pairs->items, &pairs->capacity, pairs->count, more->count))
        return false;
    memcpy(pairs->items + pairs->count, more->items, more->count * sizeof *more->items);
    pairs->count += more->count;
    return true;
}

twin_status twin__pairs_sort_unique(struct twin__pairs *pairs, const struct twin__pairs *known)
{
    if (pairs->count == 0)
        return TWIN_OK;
    if (!twin__sort_numbers(pairs->items, pairs->count))
        return TWIN_ENOMEM;
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        while (known && at < known->count && known->items[at] < pair)
            at++;
        if ((known && at < known->count && known->items[at] == pair) || (kept && pairs->items[kept - 1] == pair))
            continue;
        pairs->items[kept++] = pair;
    }
    pairs->count = kept;
    return TWIN_OK;
}

/* slow_set.h — the similarity of two sets by walking along both: what joins are compared with. It shares no code with the
 * library, and no sanitizer slows it down. */
#ifndef SLOW_SET_H
#define SLOW_SET_H

#include <twinsift/set.h>

#include "scale.h"

REFERENCE static inline size_t slow_common(twin_set a, twin_set b)
{
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a.count && j < b.count;) {
        uint64_t x = a.items[i], y = b.items[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return common;
}

/* Nothing is similar to the empty set. */
REFERENCE static inline double slow_similarity(twin_set a, twin_set b, twin_measure measure)
{
    double common = (double)slow_common(a, b), smaller = (double)(a.count < b.count ? a.count : b.count);
    if (smaller == 0)
        return 0;
    return measure == TWIN_JACCARD ? common / ((double)(a.count + b.count) - common) : common / smaller;
}

#endif

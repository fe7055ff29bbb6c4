/* union_find.h — disjoint sets: parent[i] starts as i, and the root of a set is its least member. */
#ifndef TWIN_BASE_UNION_FIND_H
#define TWIN_BASE_UNION_FIND_H

#include <stddef.h>
#include <stdint.h>

/* Each of `count` alone. */
static inline void twin__union_begin(uint32_t *parent, size_t count)
{
    for (size_t i = 0; i < count; i++)
        parent[i] = (uint32_t)i;
}

/* Path halving (Tarjan and van Leeuwen 1984): each step also shortens the path for later searches. */
static inline uint32_t twin__union_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The same where other threads search too: nothing is changed. */
static inline uint32_t twin__union_find(const uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

static inline void twin__union_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = twin__union_root(parent, a);
    b = twin__union_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Afterwards each parent is a root, until two sets are united again. A parent comes before its children and has found its
 * root already. */
static inline void twin__union_flatten(uint32_t *parent, size_t count)
{
    for (size_t i = 0; i < count; i++)
        parent[i] = parent[parent[i]];
}

#endif

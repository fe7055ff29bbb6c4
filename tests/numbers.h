/* numbers.h — numbers in increasing order, by the C library: what sorts of our own are compared with. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* For qsort(): uint64_t. */
static inline int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the numbers, leaves one of each, and returns how many these are. */
static inline size_t make_set(uint64_t *items, size_t count)
{
    size_t kept = 0;
    qsort(items, count, sizeof *items, by_value);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || items[kept - 1] != items[i])
            items[kept++] = items[i];
    return kept;
}

#endif

/* sort.h — sorting 64-bit numbers, in bins or by digits. */
#ifndef TWIN_KERNELS_SORT_H
#define TWIN_KERNELS_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts into increasing order; fastest for well-mixed hashes. `spare` has room for `room` numbers, at least n. With
 * twin__sort_room(n), four or five times n, it takes half the time for a few thousand hashes, such as those of a
 * document. */
void twin__sort(uint64_t *items, size_t n, uint64_t *spare, size_t room);
size_t twin__sort_room(size_t n);

/* The same with any room, at least for one number. Also fast for hashes of a narrow range. */
void twin__sort_in_place(uint64_t *items, size_t n, uint64_t *spare, size_t room);

/* With memory of their own, the second with little of it, for many millions. False when out of memory: then the numbers are
 * as they were. */
bool twin__sort_numbers(uint64_t *items, size_t n);
bool twin__sort_many_numbers(uint64_t *items, size_t n);

/* By the high 32 bits at least; numbers equal in their leading 33 bits keep their order. `spare` has room for n. */
void twin__sort_by_high_half(uint64_t *items, uint64_t *spare, size_t n);

/* The first of `count` items, in increasing order, that is not less than `least`; `count` if none is. */
static inline size_t twin__lower_bound(const uint64_t *items, size_t count, uint64_t least)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        bool before = items[low + half] < least;
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

#endif

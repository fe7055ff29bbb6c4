/* sort.h — sorting 64-bit numbers, in bins or by digits. `spare` is room for n numbers. */
#ifndef TWIN_KERNELS_SORT_H
#define TWIN_KERNELS_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts into increasing order; fastest for well-mixed hashes. */
void twin__sort(uint64_t *items, uint64_t *spare, size_t n);

/* The same with less room: `spare` has `room` numbers, at least one. */
void twin__sort_in_place(uint64_t *items, size_t n, uint64_t *spare, size_t room);

/* By the high 32 bits at least; numbers equal in their leading 33 bits keep their order. */
void twin__sort_by_high_half(uint64_t *items, uint64_t *spare, size_t n);

#endif

/* shingle_counts.h — how many documents have a shingle, about.
 *
 * A table of counters that shingles share by chance: a count may be too high, never too low, until it reaches its upper
 * limit. A count of one is right: no other document has the shingle. */
#ifndef TWIN_JOIN_SHINGLE_COUNTS_H
#define TWIN_JOIN_SHINGLE_COUNTS_H

#include <stdatomic.h>
#include <twinsift/set.h>

/* Most shingles occur once, so that two bits do for them, and more of these fit into memory than of larger counters. */
struct twin__shingle_counts {
    _Atomic uint8_t *few;   /* counters of two bits, four in a byte: 0, 1, 2, and more */
    _Atomic uint16_t *more; /* how often shingles came after the third time */
    unsigned few_shift, more_shift;
};

enum { TWIN__MANY_COUNTED = 3 };

/* Counts stay at this, whichever worker gets there: some may add to a counter at once, never so many that it wraps. */
enum { TWIN__MOST_COUNTED = UINT16_MAX - 1024 };

/* One or two small counters per shingle, but 64 MB of them at most, or 256 bytes per document where that is more; and an
 * eighth of that for large ones. `items` is the number of shingles of all documents, about. */
twin_status twin__shingle_counts_init(struct twin__shingle_counts *out, size_t documents, size_t items);
void twin__shingle_counts_clear(struct twin__shingle_counts *counts);

/* Counts the shingles of one more document. Workers may do so at once: the counts do not depend on the order. */
void twin__shingle_counts_add(struct twin__shingle_counts *counts, twin_set set);

static inline _Atomic uint8_t *twin__few_of(const struct twin__shingle_counts *counts, uint64_t item)
{
    return &counts->few[item >> counts->few_shift >> 2];
}

static inline unsigned twin__few_place(const struct twin__shingle_counts *counts, uint64_t item)
{
    return 2 * (item >> counts->few_shift & 3);
}

/* Counters are far apart in memory: asks for one early. */
static inline void twin__shingle_count_prefetch(const struct twin__shingle_counts *counts, uint64_t item)
{
    __builtin_prefetch((const void *)twin__few_of(counts, item), 1);
}

/* The number of documents that have the shingle, once all are counted. */
static inline unsigned twin__shingle_count(const struct twin__shingle_counts *counts, uint64_t item)
{
    unsigned few = atomic_load_explicit(twin__few_of(counts, item), memory_order_relaxed);
    unsigned count = few >> twin__few_place(counts, item) & TWIN__MANY_COUNTED;
    if (count == TWIN__MANY_COUNTED)
        count += atomic_load_explicit(&counts->more[item >> counts->more_shift], memory_order_relaxed);
    return count < TWIN__MOST_COUNTED ? count : TWIN__MOST_COUNTED;
}

#endif

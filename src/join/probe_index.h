/* probe_index.h — an inverted index in memory: which documents of a block have a shingle among their probes.
 *
 * Sorted entries of eight bytes, the hash of a shingle and a document. Shingles with the same hash are one, which
 * costs a comparison at most. */
#ifndef TWIN_JOIN_PROBE_INDEX_H
#define TWIN_JOIN_PROBE_INDEX_H

#include "join/candidates.h"
#include "join/sorted_entries.h"

/* An entry: the hash of a shingle in 44 bits, and a document of the block in 20. */
enum { TWIN__PROBE_BITS = 20, TWIN__PROBE_DOCUMENTS = (1 << TWIN__PROBE_BITS) - 1 };

/* Begin with {0}; end with twin__probe_index_clear(). */
struct twin__probe_index {
    struct twin__sorted_entries entries; /* to be filled, then finished */
    uint64_t *filter;                    /* a bit per hash of `filter_bits` bits: whether there may be an entry */
    unsigned filter_bits;
};
void twin__probe_index_clear(struct twin__probe_index *index);

/* Sorts the entries; then lookups may begin. */
twin_status twin__probe_index_finish(struct twin__probe_index *index);

/* The entry of a shingle in document 0. */
static inline uint64_t twin__probe_hash(uint64_t item)
{
    item = (item ^ item >> 32) * 0x9E3779B97F4A7C15; /* Fibonacci hashing */
    return (item ^ item >> 29) * 0xBF58476D1CE4E5B9 >> TWIN__PROBE_BITS << TWIN__PROBE_BITS;
}

/* A hash that may have entries: if so, the first is at `at` or after it. */
struct twin__probe_hit {
    uint64_t hash;
    size_t at;
};

/* Looks up at most TWIN__PROBE_AT_ONCE shingles, so that their entries come from memory at the same time. Writes
 * those that may have entries to `out`, which has room for all, and returns how many. */
enum { TWIN__PROBE_AT_ONCE = 256 };
size_t twin__probe_find_some(struct twin__probe_hit *out, const struct twin__probe_index *index, twin_set shingles);

#endif

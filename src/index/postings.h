/* postings.h — what is looked up by hash: posting lists in sorted runs. */
#ifndef TWIN_INDEX_POSTINGS_H
#define TWIN_INDEX_POSTINGS_H

#include <stdatomic.h>

#include "index/handle.h"

/* What is looked up by hash: sets, by each band of their signatures and, in one list more, by their digests; documents,
 * by their ids. */
enum twin__index_postings { TWIN__INDEX_POSTINGS_OF_SETS, TWIN__INDEX_POSTINGS_OF_IDS };
size_t twin__index_list_count(const twin_index_options *options, enum twin__index_postings kind);

/* A set or a document that is not in a run yet. */
struct twin__index_new_posting {
    uint64_t number;
    const uint32_t *signature; /* of a set */
    uint32_t hash;             /* of its digest, or of the id */
    bool skip;                 /* removed again, or the empty set: goes into no run */
};

/* The hash of band `band` of a signature. */
uint32_t twin__index_band_hash(const twin_index_options *options, const uint32_t *signature, size_t band);

/* The path of a signature in a tree of an index by edit distance, from these slots. */
uint32_t twin__index_tree_label(const uint32_t *slots);

/* Writes a run of new postings, in increasing order of their numbers, and merges it with smaller ones before it. */
twin_status twin__index_runs_append(struct twin__index_writing *writing, enum twin__index_postings kind,
                                    const struct twin__index_new_posting *postings, size_t count);

/* Counts a number of a run as removed; writes the run again when half of it is. */
twin_status twin__index_runs_mark_removed(struct twin__index_writing *writing, enum twin__index_postings kind,
                                          uint64_t number);

/* Makes one run of all, without removed numbers. */
twin_status twin__index_runs_merge_all(struct twin__index_writing *writing, enum twin__index_postings kind);

/* The entries of a posting list as they are in the file: hash in the high half, number less the run's first in the low.
 * They are followed by the XXH3 of each block of them. */
struct twin__index_list {
    const void *entries;
    size_t count;
    size_t block;          /* entries that have one checksum; the last may have fewer */
    uint64_t seed;         /* of the checksums: that of block b is this and b times a constant */
    atomic_uchar *checked; /* a bit per block: it has been found whole; NULL: nobody remembers */
};
static inline uint64_t twin__index_list_entry(struct twin__index_list band, size_t i)
{
    uint64_t entry;
    memcpy(&entry, (const char *)band.entries + i * sizeof entry, sizeof entry);
    return entry;
}
/* The runs of a kind and `stride` of the lists of each, run after run. What was written by earlier
 * transactions stays where it is as long as the transaction lasts. */
struct twin__index_lists {
    struct twin__index_run *runs;
    struct twin__index_list *lists;
    size_t run_count, stride;
    struct twin__index_known_run **known; /* of each run; NULL: not asked for */
};

twin_status twin__index_list_get(struct twin__index_list *out, const twin_index *index, twin__store_txn *txn,
                                 enum twin__index_postings kind, struct twin__index_run run, size_t list,
                                 twin_error *error);
bool twin__index_list_is_whole(struct twin__index_list list);
twin_status twin__index_lists_verify(const twin_index *index, const struct twin__index_lists *lists,
                                     twin_error *error);

/* The blocks of each list of a run, in an index of this version. */
size_t twin__index_list_blocks(uint64_t entries, unsigned version);

/* The runs in order; to be freed. */
twin_status twin__index_runs_read(struct twin__index_run **out, size_t *count, const twin_index *index,
                                  twin__store_txn *txn, enum twin__index_postings kind, twin_error *error);

twin_status twin__index_lists_get(struct twin__index_lists *out, const twin_index *index, twin__store_txn *txn,
                                  enum twin__index_postings kind, size_t first, size_t count, twin_error *error);
void twin__index_lists_clear(struct twin__index_lists *lists);

/* The position of the first entry whose hash is at least `hash`; starting from a position that is not after it. In a
 * list that is whole. */
size_t twin__index_list_find(struct twin__index_list list, uint32_t hash);
size_t twin__index_list_find_from(struct twin__index_list list, size_t from, uint32_t hash);

/* The entries with a hash of `least` to `most`, begin .. end-1, in a list of which the blocks that are used are
 * verified; false: one is damaged. */
bool twin__index_list_range(size_t *begin, size_t *end, struct twin__index_list list, uint32_t least, uint32_t most);

/* The same for one hash. */
bool twin__index_list_search(size_t *begin, size_t *end, struct twin__index_list list, uint32_t hash);

#endif

/* crowd_private.h — what the files of a crowd's join share.
 *
 *   crowd_join.c       the join: its steps and how it works
 *   crowd_frequency.c  how many documents of the crowd have a shingle
 *   crowd_owners.c     where components are wanted: shingles that only one component has
 *   crowd_tokens.c     the prefix of a document: its rarest shingles, as tokens
 *   crowd_cost.c       what the join is expected to cost
 *   crowd_index.c      the tokens of a block of documents, as sorted posting lists
 *   crowd_lookup.c     which documents of a block have enough tokens in common with another
 *   crowd_family.c     the other way: all pairs are compared */
#ifndef TWIN_JOIN_CROWD_PRIVATE_H
#define TWIN_JOIN_CROWD_PRIVATE_H

#include <math.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/exec.h"
#include "join/crowd_join.h"
#include "join/sorted_entries.h"

/* ---- what the join knows ---- */

enum { TWIN__CROWD_CLASSES = 256 }; /* frequencies that are distinguished before sorting */

/* The tokens of a prefix: a counter in the high 16 bits, the leading bits of a shingle in the others. Shingles that
 * differ in their last 16 bits only are one token, which costs a comparison at most. */
struct twin__crowd_tokens {
    uint64_t *items, *spare;
    size_t count, capacity, spare_capacity;
    size_t common; /* of them, in front before they are sorted, are tokens of common shingles */
    size_t own;    /* shingles left out because no other component has them */
    size_t first;  /* the position of items[0]: before it are shingles that no other document has */
    uint32_t classes[TWIN__CROWD_CLASSES];
};

/* What the document that is looked up knows of a document of the block. */
struct twin__crowd_hits {
    uint32_t most_own;   /* positions below this count; 0: not met yet */
    uint8_t most_others; /* positions of the other, in steps, up to this count */
    uint16_t count;
};

struct twin__crowd_worker {
    struct twin__crowd_tokens tokens;
    struct twin__pairs kept, pairs; /* tokens, numbers as pairs are; candidates */
    struct twin__crowd_hits *hits;  /* one per document of the block */
    uint32_t *met;                  /* documents of the block with hits */
    size_t met_count;
    bool no_memory;
};

/* Sorted entries: the hash of a token (36 bits), a document of the block (20), its position in steps (8). */
enum {
    TWIN__CROWD_RANK_BITS = 20,
    TWIN__CROWD_STEP_BITS = 8,
    TWIN__CROWD_HASH_SHIFT = TWIN__CROWD_RANK_BITS + TWIN__CROWD_STEP_BITS,
    TWIN__CROWD_MOST_STEPS = (1 << TWIN__CROWD_STEP_BITS) - 1
};

/* Where the tokens of a document of the block are. */
struct twin__crowd_prefix {
    size_t begin, count;
    uint32_t first; /* the position of the first of them */
    int worker;     /* who listed them */
};

struct twin__crowd_block {
    size_t begin, end; /* ranks of its documents */
    struct twin__crowd_prefix *prefixes;
    size_t prefix_capacity;
    struct twin__pairs tokens;
    struct twin__sorted_entries entries[2]; /* of all documents; or, where there are components, */
};                                          /* [1] those of the largest, and [0] the others */

/* Shingles that one document in TWIN__CROWD_COMMON_SHARE has or more; see crowd_frequency.c. */
enum { TWIN__CROWD_COMMON_SHARE = 8 };

struct twin__crowd_common {
    uint32_t *places;
    unsigned shift;
    unsigned least; /* of the counts */
};

/* Which components have a shingle; see crowd_owners.c. */
struct twin__crowd_owners {
    uint16_t *labels;            /* of each document, as they are listed */
    bool *is_largest;            /* of each rank whether it is of the largest component */
    uint32_t largest;            /* the first document of that */
    size_t components;           /* how many there are */
    double apart;                /* the share of pairs of documents that are of two components */
    _Atomic uint16_t *of_common; /* of each place of common shingles */
    _Atomic uint16_t *of_rest;   /* of each counter */
    bool is_known;               /* all documents were looked at */
};

struct twin__crowd_state {
    const struct twin__provider *provider;
    struct twin__crowd_options options;
    double share;    /* t/(1+t), less what arithmetic may err */
    uint64_t *order; /* by rank: the size of a set in the high half, its document in the low */
    size_t count;
    struct twin__crowd_common common;
    struct twin__crowd_owners owners;
    _Atomic uint8_t *counters; /* of all others */
    unsigned counter_shift;
    unsigned step_shift; /* a step is 2^step_shift positions */
    size_t first_rank;   /* where the current loop begins */
    struct twin__crowd_block block;
    struct twin__crowd_worker *workers;
    double *sample;
    size_t sample_count;
};

/* ---- documents and the lengths of their prefixes ---- */

static inline uint32_t twin__crowd_document(const struct twin__crowd_state *crowd, size_t rank)
{
    return (uint32_t)crowd->order[rank];
}

static inline size_t twin__crowd_size(const struct twin__crowd_state *crowd, size_t rank)
{
    return crowd->order[rank] >> 32;
}

/* The overlap that the threshold needs of two sets. */
static inline size_t twin__crowd_overlap(const struct twin__crowd_state *crowd, size_t a, size_t b)
{
    return (size_t)ceil(crowd->share * (double)(a + b));
}

/* Tokens that two prefixes must have in common; `size` is that of the smaller set. One would do, but neighbouring
 * shingles come and go together: a few positions more make many chance meetings fewer. */
static inline size_t twin__crowd_wanted(size_t size, size_t overlap)
{
    enum { SIZE_PER_TOKEN = 32, MOST_WANTED = 16 };
    size_t count = 1 + size / SIZE_PER_TOKEN;
    if (count > MOST_WANTED)
        count = MOST_WANTED;
    return count < overlap ? count : overlap;
}

static inline size_t twin__crowd_prefix_length(size_t size, size_t overlap, size_t in_common)
{
    return overlap > size ? 0 : size - overlap + in_common;
}

/* As far as any partner that is not smaller needs it. A larger partner needs a larger overlap, hence a shorter
 * prefix. */
static inline size_t twin__crowd_indexed_prefix(const struct twin__crowd_state *crowd, size_t size)
{
    size_t overlap = twin__crowd_overlap(crowd, size, size);
    return twin__crowd_prefix_length(size, overlap, twin__crowd_wanted(size, overlap));
}

/* As far as any partner of `least` shingles and more, but not larger, needs it. */
static inline size_t twin__crowd_looked_up_prefix(const struct twin__crowd_state *crowd, size_t size, size_t least)
{
    size_t overlap = twin__crowd_overlap(crowd, size, least);
    return twin__crowd_prefix_length(size, overlap, twin__crowd_wanted(size, overlap));
}

/* The lowest rank from `low` on, up to `high`, whose set is large enough for one of `size`. */
size_t twin__crowd_lowest_partner(const struct twin__crowd_state *crowd, size_t size, size_t low, size_t high);

/* How many documents to look at for a guess about all: an eighth, but some in any case and no more than `most`. */
size_t twin__crowd_sample_size(const struct twin__crowd_state *crowd, size_t most);

/* Sets that a worker takes at a time. */
enum { TWIN__CROWD_SETS_AT_A_TIME = 8 };

/* ---- frequencies ---- */

/* Counters stay at the largest class. Common shingles are counted further, as far as a token has room. */
enum { TWIN__CROWD_MOST_COUNTED = TWIN__CROWD_CLASSES - 1, TWIN__CROWD_MOST_COMMON = UINT16_MAX };

static inline _Atomic uint8_t *twin__crowd_counter(const struct twin__crowd_state *crowd, uint64_t item)
{
    return &crowd->counters[item >> crowd->counter_shift];
}

static inline unsigned twin__crowd_counted(const struct twin__crowd_state *crowd, uint64_t item)
{
    return atomic_load_explicit(twin__crowd_counter(crowd, item), memory_order_relaxed);
}

/* Counters are far apart in memory: ask for those of later items early. */
enum { TWIN__CROWD_AHEAD = 12 };

/* Counts the shingles of all documents, and sorts the documents by size. */
twin_status twin__crowd_count_shingles(struct twin__crowd_state *crowd, twin_error *error);

/* Divides a set: the rest goes to tokens->spare, and common shingles, as tokens, to tokens->items. Returns how many the
 * rest are. */
size_t twin__crowd_divide(struct twin__crowd_tokens *tokens, const struct twin__crowd_state *crowd, twin_set set);

/* The place of a common shingle; SIZE_MAX when it is not one. How many places there are. */
size_t twin__crowd_common_place(const struct twin__crowd_common *common, uint64_t item);
size_t twin__crowd_common_places(const struct twin__crowd_common *common);

/* ---- components ---- */

/* Finds out how many components the documents are of, and labels them; group[i] is then the root of document i. */
twin_status twin__crowd_owners_init(struct twin__crowd_owners *out, struct twin__crowd_documents documents,
                                    struct twin__components *components);
void twin__crowd_owners_clear(struct twin__crowd_owners *owners);

/* Makes the tables, when common shingles are known; false when out of memory. */
bool twin__crowd_owners_begin(struct twin__crowd_state *crowd);

/* Notes that the component of document i has these shingles. Any number of workers may do so at once. */
void twin__crowd_own(struct twin__crowd_state *crowd, size_t i, twin_set set);

/* When all sets were noted and documents are in order; false when out of memory. */
bool twin__crowd_owners_end(struct twin__crowd_state *crowd);

/* Copies the shingles that another component has as well to tokens->spare; returns their set. tokens->own is how many
 * the others are. */
twin_set twin__crowd_leave_own(struct twin__crowd_tokens *tokens, const struct twin__crowd_state *crowd,
                               twin_set set);

/* ---- tokens, index, lookup ---- */

/* Room to divide a set of `count` items. False when out of memory. */
bool twin__crowd_make_room(struct twin__crowd_tokens *tokens, size_t count);

/* Lists the first `length` tokens of the document of a rank. */
twin_status twin__crowd_list_tokens(struct twin__crowd_tokens *out, const struct twin__crowd_state *crowd,
                                    size_t rank, size_t length, int worker, twin_error *error);

/* The processor time to look up all prefixes, guessed from some of them. */
twin_status twin__crowd_expected_seconds(double *out, struct twin__crowd_state *crowd, twin_error *error);

/* The hash that a token has in entries. */
uint64_t twin__crowd_token_hash(uint64_t token);

/* Makes the next block: as many documents as its entries allow. */
twin_status twin__crowd_build_block(struct twin__crowd_state *crowd, twin_error *error);

/* Makes room for the documents of the block in every worker's hits. */
twin_status twin__crowd_make_hits(struct twin__crowd_state *crowd, twin_error *error);

/* Looks up documents, counted from crowd->first_rank, in the block; a body of twin__exec_try(). */
twin_status twin__crowd_look_up(void *context, size_t begin, size_t end, int number, twin_error *error);

/* Moves the candidate pairs of all workers to `out`. */
twin_status twin__crowd_gather_pairs(struct twin__pairs *out, struct twin__crowd_state *crowd, twin_error *error);

/* ---- the other way ---- */

/* Compares all pairs. The expected processor time for that, given the mean size of a set. */
twin_status twin__crowd_compare_all(twin_matches *out, struct twin__crowd_counts *counts,
                                    const struct twin__provider *provider, struct twin__crowd_documents documents,
                                    const struct twin__crowd_options *options, twin_error *error);
double twin__crowd_seconds_to_compare_all(size_t documents, double mean_size);

#endif

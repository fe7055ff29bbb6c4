/* forest.h — LSH forest: candidates for a query, nearest first (Bawa, Condie, Ganesan 2005).
 *
 * A forest stores label sequences (hash vectors of embed.h, signatures of minhash.h); similar items share many labels.
 * Each tree sorts the entries by its own `depth` labels; the longer the common prefix of two entries, the more similar
 * they are likely to be. A query starts at its deepest match and climbs all trees in step towards the root, so it
 * needs no threshold.
 *
 * Entries can be added and removed at any time. Entries that agree in all labels of all trees are stored once, so a
 * hundred thousand copies cost one entry per tree and are found as one candidate.
 *
 * Queries only read: any number of threads may query at once while no thread adds, removes or packs. */
#ifndef TWIN_LSH_FOREST_H
#define TWIN_LSH_FOREST_H

#include <twinsift/status.h>

enum { TWIN__FOREST_MAX_TREES = 256, TWIN__FOREST_MAX_DEPTH = 1024 };

typedef struct twin__forest_options {
    size_t trees; /* up to TWIN__FOREST_MAX_TREES; 0: 8 */
    size_t depth; /* up to TWIN__FOREST_MAX_DEPTH; 0: 16. A vector has trees · depth labels, the first tree's first */
    uint64_t seed; /* keep it secret if entries may be constructed to collide */
} twin__forest_options;

typedef struct twin__forest twin__forest;

twin_status twin__forest_create(twin__forest **out, twin__forest_options options);
void twin__forest_free(twin__forest *forest);

/* Adds an entry. TWIN_EINVAL when the id is present. A tree stores one byte of each label's hash, so different labels
 * of one level match once in 256 times. On failure the forest is unchanged. */
twin_status twin__forest_add(twin__forest *forest, uint64_t id, const uint32_t *labels);

/* Removes an entry. TWIN_EINVAL when there is no such id. */
twin_status twin__forest_remove(twin__forest *forest, uint64_t id);

/* Merges everything into one sorted run, after which queries are fastest. Adding does so gradually anyway. */
twin_status twin__forest_pack(twin__forest *forest);

/* The number of entries, of distinct ones, and the bytes they take. */
size_t twin__forest_count(const twin__forest *forest);
size_t twin__forest_distinct(const twin__forest *forest);
size_t twin__forest_bytes(const twin__forest *forest);

typedef struct twin__forest_candidate {
    uint64_t id;     /* of several copies the one added first */
    uint32_t level;  /* length of the longest prefix shared with the query, over all trees */
    uint32_t copies; /* number of equal entries, this one included */
} twin__forest_candidate;

typedef struct twin__forest_query_options {
    size_t most;   /* stop after this many candidates; 0: 10 */
    size_t lowest; /* or at this level, 1 .. depth; 0 means 1, since everything matches at the root */
} twin__forest_query_options;

/* Scratch memory of one thread; begin with {0}, keep it from call to call, end with twin__forest_scratch_clear(). */
typedef struct twin__forest_scratch {
    void *room[4];
    size_t bytes[4];
} twin__forest_scratch;
void twin__forest_scratch_clear(twin__forest_scratch *scratch);

/* Writes the candidates, at most options.most, into `out` and their number into *count; the highest level first, and
 * within a level by id. A level is collected completely and then cut, so the result does not depend on the order of
 * adding. If a level has so many entries that twin__forest_work() of them were examined, the query ends with those it
 * has seen, which bounds its time. */
twin_status twin__forest_query(twin__forest_candidate *out, size_t *count, const twin__forest *forest,
                               twin__forest_scratch *scratch, const uint32_t *labels,
                               twin__forest_query_options options);

/* 64·most + 1024. */
size_t twin__forest_work(twin__forest_query_options options);

/* Writes the ids of the copies of an entry, itself included, in the order of adding, at most `most` of them; returns
 * how many there are in all, 0 when there is no such id. */
size_t twin__forest_copies(uint64_t *out, const twin__forest *forest, uint64_t id, size_t most);

#endif

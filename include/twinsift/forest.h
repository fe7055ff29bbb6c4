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
#ifndef TWINSIFT_FOREST_H
#define TWINSIFT_FOREST_H

#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_FOREST_MAX_TREES = 256, TWIN_FOREST_MAX_DEPTH = 1024 };

typedef struct twin_forest_options {
    size_t trees; /* up to TWIN_FOREST_MAX_TREES; 0: 8 */
    size_t depth; /* up to TWIN_FOREST_MAX_DEPTH; 0: 16. A vector has trees · depth labels, the first tree's first */
    uint64_t seed; /* keep it secret if entries may be constructed to collide */
} twin_forest_options;

typedef struct twin_forest twin_forest;

TWIN_API twin_status twin_forest_create(twin_forest **out, twin_forest_options options);
TWIN_API void twin_forest_free(twin_forest *forest);

/* Adds an entry. TWIN_EINVAL when the id is present. A tree stores one byte of each label's hash, so different labels
 * of one level match once in 256 times. On failure the forest is unchanged. */
TWIN_API twin_status twin_forest_add(twin_forest *forest, uint64_t id, const uint32_t *labels);

/* Removes an entry. TWIN_EINVAL when there is no such id. */
TWIN_API twin_status twin_forest_remove(twin_forest *forest, uint64_t id);

/* Merges everything into one sorted run, after which queries are fastest. Adding does so gradually anyway. */
TWIN_API twin_status twin_forest_pack(twin_forest *forest);

/* The number of entries, of distinct ones, and the bytes they take. */
TWIN_API size_t twin_forest_count(const twin_forest *forest);
TWIN_API size_t twin_forest_distinct(const twin_forest *forest);
TWIN_API size_t twin_forest_bytes(const twin_forest *forest);

typedef struct twin_forest_candidate {
    uint64_t id;     /* of several copies the one added first */
    uint32_t level;  /* length of the longest prefix shared with the query, over all trees */
    uint32_t copies; /* number of equal entries, this one included */
} twin_forest_candidate;

typedef struct twin_forest_query_options {
    size_t most;   /* stop after this many candidates; 0: 10 */
    size_t lowest; /* or at this level, 1 .. depth; 0 means 1, since everything matches at the root */
} twin_forest_query_options;

/* Scratch memory of one thread; begin with {0}, keep it from call to call, end with twin_forest_scratch_clear(). */
typedef struct twin_forest_scratch {
    void *room[4];
    size_t bytes[4];
} twin_forest_scratch;
TWIN_API void twin_forest_scratch_clear(twin_forest_scratch *scratch);

/* Writes the candidates, at most options.most, into `out` and their number into *count; the highest level first, and
 * within a level by id. A level is collected completely and then cut, so the result does not depend on the order of
 * adding. If a level has so many entries that twin_forest_work() of them were examined, the query ends with those it
 * has seen, which bounds its time. */
TWIN_API twin_status twin_forest_query(twin_forest_candidate *out, size_t *count, const twin_forest *forest,
                                       twin_forest_scratch *scratch, const uint32_t *labels,
                                       twin_forest_query_options options);

/* 64·most + 1024. */
TWIN_API size_t twin_forest_work(twin_forest_query_options options);

/* Writes the ids of the copies of an entry, itself included, in the order of adding, at most `most` of them; returns
 * how many there are in all, 0 when there is no such id. */
TWIN_API size_t twin_forest_copies(uint64_t *out, const twin_forest *forest, uint64_t id, size_t most);

#ifdef __cplusplus
}
#endif
#endif

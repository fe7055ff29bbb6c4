/* forest.h — signatures become candidates, nearest first.
 *
 * A forest holds hash vectors of any kind: numbers of which near things share many (embed.h, minhash.h). Each of its
 * trees orders the entries by its own `depth` labels, and the more labels two entries share from the root on, the
 * nearer they are likely to be. A query starts at its deepest match and climbs all trees in step, so it needs no
 * threshold: it finds the best there are. (Bawa, Condie, Ganesan 2005.)
 *
 * Entries are added and removed at any time. Those that agree in all labels of all trees are folded into one, so
 * a hundred thousand copies cost one place in a tree and are found as one candidate.
 *
 * Queries only read: any number of threads may ask at once while nobody adds, removes or packs. */
#ifndef TWINSIFT_FOREST_H
#define TWINSIFT_FOREST_H

#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_FOREST_MAX_TREES = 256, TWIN_FOREST_MAX_DEPTH = 1024 };

typedef struct twin_forest_options {
    size_t trees, depth; /* a vector has trees · depth labels, those of the first tree first */
    uint64_t seed;       /* secret, where entries are made to collide */
} twin_forest_options;

typedef struct twin_forest twin_forest;

TWIN_API twin_status twin_forest_create(twin_forest **out, twin_forest_options options);
TWIN_API void twin_forest_free(twin_forest *forest);

/* Adds an entry. TWIN_EINVAL when the id is in already. A tree keeps one byte of each label's hash, so different
 * labels look alike once in 256 times, one level at a time. A forest that could not add is as it was before. */
TWIN_API twin_status twin_forest_add(twin_forest *forest, uint64_t id, const uint32_t *labels);

/* Removes an entry. TWIN_EINVAL when there is no such id. */
TWIN_API twin_status twin_forest_remove(twin_forest *forest, uint64_t id);

/* Sorts everything into one run, after which queries are fastest. It happens bit by bit anyway. */
TWIN_API twin_status twin_forest_pack(twin_forest *forest);

/* The number of entries, of different ones, and the bytes they take. */
TWIN_API size_t twin_forest_count(const twin_forest *forest);
TWIN_API size_t twin_forest_distinct(const twin_forest *forest);
TWIN_API size_t twin_forest_bytes(const twin_forest *forest);

typedef struct twin_forest_candidate {
    uint64_t id;     /* of copies the one that was added first */
    uint32_t level;  /* labels shared with the query, in the tree where they are most */
    uint32_t copies; /* entries folded into this one, itself included */
} twin_forest_candidate;

typedef struct twin_forest_query_options {
    size_t most;   /* climb until there are so many candidates */
    size_t lowest; /* or down to this level, 1 .. depth; 0 means 1, for at the root everything matches */
} twin_forest_query_options;

/* The room one asker needs; begin with {0}, keep it from call to call, end with twin_forest_scratch_clear(). */
typedef struct twin_forest_scratch {
    void *room[4];
    size_t bytes[4];
} twin_forest_scratch;
TWIN_API void twin_forest_scratch_clear(twin_forest_scratch *scratch);

/* Writes the candidates, at most ask.most, into `out` and their number into *count; the highest level first, and
 * within a level by id. A level is taken whole and then cut, so that what is found does not depend on the order of
 * adding. Only when a level is so crowded that twin_forest_work() places were looked at, the query ends with what it
 * saw there: that bounds its time whatever the entries are. */
TWIN_API twin_status twin_forest_query(twin_forest_candidate *out, size_t *count, const twin_forest *forest,
                                       twin_forest_scratch *scratch, const uint32_t *labels,
                                       twin_forest_query_options ask);

/* 64·most + 1024. */
TWIN_API size_t twin_forest_work(twin_forest_query_options ask);

/* Writes the ids of the copies of an entry, itself included, in the order of adding, at most `most` of them; returns
 * how many there are in all, 0 when there is no such id. */
TWIN_API size_t twin_forest_copies(uint64_t *out, const twin_forest *forest, uint64_t id, size_t most);

#ifdef __cplusplus
}
#endif
#endif

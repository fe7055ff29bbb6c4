/* forest_private.h — what the files of the forest share: forest.c keeps rows in sorted runs, forest_groups.c groups
 * of equal entries and their members, forest_query.c searches. */
#ifndef TWIN_LSH_FOREST_PRIVATE_H
#define TWIN_LSH_FOREST_PRIVATE_H

#include "lsh/forest.h"
#include <twinsift/hash.h>

#include "base/random.h"

enum {
    TWIN__FOREST_MARK_EVERY = 64, /* rows of a block of a packed run; a block is half a page */
    TWIN__FOREST_MAX_RUNS = 24,   /* 256 · 4^23 rows exceed the numbers available for them */
};

/* Entries with the same labels, a list in the order of adding. A group without members is dead; when no run holds it
 * any more it is free, and `first` is the next free one. */
struct twin__forest_group {
    twin_digest digest; /* of the labels */
    uint32_t first, last, count;
};

struct twin__forest_member {
    uint64_t id;
    uint32_t group, previous, next; /* next is also the list of free ones */
};

/* Rows of all trees: those of tree t begin at rows + t · capacity · stride. Marks are copies of the last row of each
 * whole block of TWIN__FOREST_MARK_EVERY, ordered in the same way: a search among them stays in the cache, and
 * touches the rows of one block only. The run that takes new rows has none. */
struct twin__forest_run {
    uint8_t *rows;
    size_t count, capacity;
    uint8_t *marks; /* after the rows */
    size_t mark_count;
};

/* Open addressing; a slot is the number of a group or member plus one. */
struct twin__forest_index {
    uint32_t *slots;
    size_t mask, used;
};

enum twin__forest_list { TWIN__FOREST_GROUPS, TWIN__FOREST_MEMBERS };

struct twin__forest {
    twin__forest_options options;
    size_t stride; /* bytes of a row */
    struct twin__forest_group *groups;
    struct twin__forest_member *members;
    size_t used[2], capacity[2], available[2]; /* of groups and members; those on the free list */
    uint32_t free_list[2];
    struct twin__forest_index index[2];
    size_t dead; /* groups without members that runs still hold */
    struct twin__forest_run fresh, runs[TWIN__FOREST_MAX_RUNS];
    size_t run_count;
    uint8_t row[]; /* the row being added, all trees */
};

/* ---- rows */

static inline uint32_t twin__forest_group_of(const twin__forest *forest, const uint8_t *row)
{
    const uint8_t *p = row + forest->options.depth;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint8_t *twin__forest_tree(const twin__forest *forest, const struct twin__forest_run *run, size_t tree)
{
    return run->rows + tree * run->capacity * forest->stride;
}

static inline uint8_t *twin__forest_marks(const twin__forest *forest, const struct twin__forest_run *run, size_t tree)
{
    return run->marks + tree * run->mark_count * forest->stride;
}

/* The label bytes of a vector, as rows of `stride` bytes, one for each tree. Position and label are hashed together, so
 * labels that collide at one position do not at another. */
static inline void twin__forest_write_labels(uint8_t *rows, const twin__forest *forest, const uint32_t *labels)
{
    const uint64_t seed = twin__mix(forest->options.seed + 1);
    for (size_t tree = 0, place = 0; tree < forest->options.trees; tree++, rows += forest->stride)
        for (size_t level = 0; level < forest->options.depth; level++, place++)
            rows[level] = (uint8_t)(twin__mix(((uint64_t)place << 32 | labels[place]) ^ seed) >> 56);
}

/* ---- forest_groups.c: groups and members, which are found by their keys and known by number */

/* The key of an entry's id. */
static inline twin_digest twin__forest_id_key(const twin__forest *forest, uint64_t id)
{
    return (twin_digest){ twin__mix(id ^ forest->options.seed), id };
}

/* The number of a key; -1 if there is none. */
int64_t twin__forest_look_up(const twin__forest *forest, enum twin__forest_list which, twin_digest key);

/* Makes room for one more, in the list and in its index. */
twin_status twin__forest_grow(twin__forest *forest, enum twin__forest_list which);
twin_status twin__forest_index_grow(twin__forest *forest, enum twin__forest_list which);

/* A number that is not in use; there is room. Once it has its key it can be put into the index. */
uint32_t twin__forest_take(twin__forest *forest, enum twin__forest_list which);
void twin__forest_index_put(twin__forest *forest, enum twin__forest_list which, uint32_t number);
void twin__forest_give_back(twin__forest *forest, enum twin__forest_list which, uint32_t number);

void twin__forest_join(twin__forest *forest, uint32_t group, uint32_t member);
void twin__forest_leave(twin__forest *forest, uint32_t member);

#endif

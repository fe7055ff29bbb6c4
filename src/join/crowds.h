/* crowds.h — crowds: documents that large buckets of bands connect. */
#ifndef TWIN_JOIN_CROWDS_H
#define TWIN_JOIN_CROWDS_H

#include <pthread.h>

#include "join/gate.h"

/* Buckets of this many documents and more are large. Below it, comparing every pair costs no more than fetching each
 * document a few times. */
enum { TWIN__LARGE_BUCKET = 64 };

/* Large buckets as they are found, by any worker. */
struct twin__crowd_finder {
    const struct twin__provider *provider;
    const struct twin__gate *gate;
    bool only_families; /* only buckets of which most pairs pass the gate */
    pthread_mutex_t lock;
    uint32_t *group; /* per document: a union-find of those that share a large bucket */
    struct twin__large_bucket {
        uint32_t document; /* any of it */
        double seconds;    /* expected time to find and compare its pairs */
        double comparing;  /* of these, to compare those that pass the gate */
    } * buckets;
    size_t count, capacity;
    bool no_memory;
};

/* Borrows provider and gate; whoever takes the groups and buckets frees them. */
twin_status twin__crowd_finder_init(struct twin__crowd_finder *out, const struct twin__provider *provider,
                                    const struct twin__gate *gate);

/* Puts buckets into an order that does not depend on when they were found. */
void twin__large_buckets_sort(struct twin__large_bucket *buckets, size_t count);

/* Adds a bucket, whose documents are in the low halves of keys. False if it is none of those that are wanted. Any worker may
 * call it. */
bool twin__crowd_finder_add(struct twin__crowd_finder *finder, const uint64_t *keys, size_t count);

/* Drops pairs (candidates.h) whose documents are of one crowd already; returns how many are left. Any worker may call
 * it. */
size_t twin__crowd_finder_drop(struct twin__crowd_finder *finder, uint64_t *pairs, size_t count);

struct twin__crowd {
    size_t begin, count; /* its documents in twin__crowds.documents */
    double seconds;      /* expected time to find and compare the pairs of its large buckets */
    double comparing;    /* of these, to compare those that pass the gate */
    twin_plan deep; /* with which its pairs are listed instead, once that was decided (deep_bands.h); {0}: none */
};

/* Crowds in the order of their first documents. Begin with {0}, end with twin__crowds_clear(). */
struct twin__crowds {
    uint32_t *documents; /* crowd after crowd, each in increasing order */
    struct twin__crowd *items;
    size_t count;
};
void twin__crowds_clear(struct twin__crowds *crowds);

/* The crowd whose first document this is; NULL when it is the first of none. */
const struct twin__crowd *twin__crowd_find(const struct twin__crowds *crowds, uint32_t first);

/* Lists the crowds when all buckets have been added. group[d] is then the first document of d's crowd, and d itself
 * if it is in none. */
twin_status twin__crowds_list(struct twin__crowds *out, struct twin__crowd_finder *finder);

#endif

/* groups.h — template groups: documents that large buckets of bands connect, and whether the index of sets joins them. */
#ifndef TWIN_JOIN_GROUPS_H
#define TWIN_JOIN_GROUPS_H

#include <pthread.h>
#include <twinsift/similar.h>

#include "join/join_private.h"
#include "lsh/large_buckets.h"

/* Buckets of this many documents and more are large. Below it, comparing every pair costs no more than fetching each
 * document a few times. */
enum { TWIN__LARGE_BUCKET = 64 };

/* How pairs are listed: by bands of adjacent slots, or of drawn ones. Begin with {0}. */
struct twin__listing {
    twin_plan plan;
    uint16_t *order; /* NULL, or the slots of each band (large_buckets.h) */
};

/* As the options say; but instead of the bands of one row that are planned for low thresholds, in which nearly all pairs of
 * a large collection meet, drawn ones of two rows. End with twin__listing_clear(). */
twin_status twin__listing_init(struct twin__listing *out, const struct twin__gate *gate,
                               const twin_similar_options *options);
void twin__listing_clear(struct twin__listing *listing);

/* Large buckets as they are found, by any worker. */
struct twin__group_finder {
    const struct twin__provider *provider;
    const struct twin__gate *gate;
    twin_plan plan;
    bool only_dense; /* other buckets are not wanted */
    pthread_mutex_t lock;
    uint32_t *loose; /* per document: a union-find of those that share a large bucket */
    uint32_t *dense; /* the same of dense ones */
    struct twin__large_bucket {
        uint32_t document; /* any of it */
        bool is_dense;     /* most of its pairs pass the gate */
        double meetings;   /* its pairs */
        double passing;    /* those that pass the gate, each divided by the number of bands that it should share */
    } * buckets;
    size_t count, capacity;
    bool no_memory;
};

/* Borrows provider and gate; the caller frees the groups and buckets. */
twin_status twin__group_finder_init(struct twin__group_finder *out, const struct twin__provider *provider,
                                    const struct twin__gate *gate, twin_plan plan);

/* Puts buckets into an order that does not depend on when they were found. */
void twin__large_buckets_sort(struct twin__large_bucket *buckets, size_t count);

/* Adds a bucket, whose documents are in the low halves of keys. False if it is not wanted. Any worker may call it. */
bool twin__group_finder_add(struct twin__group_finder *finder, const uint64_t *keys, size_t count);

/* Drops pairs (candidates.h) whose documents are of one loose group already; returns how many remain. Any worker may call
 * it. */
size_t twin__group_finder_drop(struct twin__group_finder *finder, uint64_t *pairs, size_t count);

struct twin__group {
    size_t begin, count;      /* its documents in twin__groups.documents */
    double meetings, passing; /* of its large buckets */
    twin_plan
        deep; /* with which its pairs are listed, once that was decided (deep_bands.c); {0}: with the ordinary bands */
};

/* Groups in the order of their first documents. Begin with {0}, end with twin__groups_clear(). */
struct twin__groups {
    uint32_t *documents; /* group after group, each in increasing order */
    struct twin__group *items;
    size_t count;
};
void twin__groups_clear(struct twin__groups *groups);

/* The number of the group whose first document this is; groups->count when there is none. */
size_t twin__groups_find(const struct twin__groups *groups, uint32_t first);

/* Lists the groups of a union-find when all buckets have been added: of the dense buckets those that dense ones connect; or
 * else of all, of which only the meetings in those that are not dense are counted. of[d] is then the first document of d's
 * group, and d itself if it is in none. */
twin_status twin__groups_list(struct twin__groups *out, uint32_t *of, size_t documents,
                              const struct twin__large_bucket *buckets, size_t bucket_count, bool dense);

/* Whether joining a group exactly (set_join.h) takes less work than listing its pairs. The work is counted on
 * samples: neither time nor threads enter. A failure also fills `error`. */
twin_status twin__group_is_for_index(bool *out, const struct twin__provider *provider,
                                     const struct twin__groups *groups, size_t number, double threshold,
                                     twin_error *error);

/* ---- deep_bands.c: bands of more rows, for groups whose documents are alike and yet not similar ---- */

/* The fewest bands of each number of rows that miss no more similar pairs than the ordinary bands do; 0: too many. */
struct twin__deep_plans {
    size_t slots;
    size_t bands[TWIN__MOST_DRAWN_ROWS + 1];
};
struct twin__deep_plans twin__deep_plans_make(const twin_similar_options *options, size_t slots, size_t least_equal);

/* How many bands a pair with so many equal slots is expected to share. */
double twin__bands_shared(twin_plan plan, size_t slots, size_t equal);

/* The probability that such bands miss a pair of this similarity that has `least_equal` equal slots or more. */
double twin__deep_plan_missed(twin_plan plan, size_t slots, double similarity, size_t least_equal);

/* Decides how the pairs of each group would be listed: where bands of more rows take fewer looks, they become its plan, and
 * its meetings become as few. */
void twin__deep_plans_choose(struct twin__groups *groups, const struct twin__provider *provider,
                             const struct twin__gate *gate, const twin_similar_options *options);

/* The slots of each band, the same on every machine. NULL when out of memory. */
uint16_t *twin__deep_order(twin_plan plan, size_t slots);

#endif

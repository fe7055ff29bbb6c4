/* keeper_sets.h — the sets of documents that stay, searched for the first that is similar to another document.
 *
 * Sets of a crowd have much in common. They are divided as those of a family (family_sets.h): frequent items become
 * bits, and the rest is listed, with a posting list per item. Of a set it is then known at once which members
 * could be similar to it; only those are compared, in the order in which they were added, up to the first that is
 * similar. The result is exact. */
#ifndef TWIN_JOIN_KEEPER_SETS_H
#define TWIN_JOIN_KEEPER_SETS_H

#include "join/family_sets.h"

/* The members that have an item: one of them, or where their list begins. */
struct twin__keeper_postings {
    uint32_t count, at;
};

/* So many members are compared without looking at posting lists: those with the most frequent items. */
enum { TWIN__KEEPERS_COMPARED = 64 };

struct twin__keeper_sets {
    struct twin__frequent_items frequent;
    double threshold, share; /* t, and t/(1+t) less what arithmetic may err */
    size_t count;
    struct twin__keeper_member { /* there may be a million of them */
        uint32_t document;
        uint32_t size, frequent; /* how many items it has, and how many of them are frequent */
        uint32_t begin, count;   /* its ids */
    } * members;
    size_t member_capacity;
    double *most_slack;   /* of each block of members; the slack of a member is frequent - share·size */
    double *region_slack; /* of each region of blocks */
    size_t block_capacity, region_capacity;
    double top_slacks[TWIN__KEEPERS_COMPARED]; /* the largest of all members, in increasing order */
    uint64_t *bits;
    size_t bit_capacity;
    struct twin__item_numbers numbers; /* of the rest */
    struct twin__keeper_postings *postings;
    size_t posting_capacity;
    uint32_t *lists; /* posting lists of two members and more, each in increasing order */
    size_t list_count, list_capacity;
    uint32_t *ids;
    size_t id_count, id_capacity;
};

/* Finds out from a sample of the source which items are frequent; no member yet. End with twin__keeper_sets_clear(). A
 * failure also fills `error`. */
twin_status twin__keeper_sets_init(struct twin__keeper_sets *out, const struct twin__family_source *source,
                                   double threshold, twin_error *error);
void twin__keeper_sets_clear(struct twin__keeper_sets *sets);

/* About how much memory it takes, in units of eight bytes. */
size_t twin__keeper_sets_room(const struct twin__keeper_sets *sets);

/* A set, divided by twin__frequent_items_divide(). */
struct twin__keeper_set {
    size_t size, frequent;
    const uint64_t *bits, *rest;
    size_t rest_count; /* fewer than size - frequent, if items that no later document has were left out */
};

/* Adds a member; false when out of memory. */
bool twin__keeper_sets_add(struct twin__keeper_sets *sets, uint32_t document, struct twin__keeper_set set);

/* What a worker needs. Begin with {0}, end with twin__keeper_scratch_clear(). */
struct twin__keeper_scratch {
    uint32_t *ids; /* the numbers of the set's rest */
    size_t id_capacity;
    uint8_t *hits; /* per member, all 0 between two calls; they stay at as many as are needed */
    size_t hit_count;
    bool *is_hit;        /* per block of members, whether one has as many as are needed; the same */
    bool *is_region_hit; /* the same per region of blocks */
    size_t block_count, region_count;
    uint32_t *met; /* members with hits */
    size_t met_count, met_capacity;
    uint8_t *marks; /* per number, the same */
    size_t mark_count;
    uint64_t compared; /* how many members were compared in all */
    struct twin__keeper_found {
        size_t member;
        double similarity;
    } * found; /* of the last twin__keeper_sets_find_all() */
    size_t found_count, found_capacity;
};
void twin__keeper_scratch_clear(struct twin__keeper_scratch *scratch);

/* Finds the first member from number `from` on that is similar. *out becomes its number, or sets->count if there is
 * none. False when out of memory. Any number of workers may search at once, each with its own scratch. */
bool twin__keeper_sets_find(size_t *out, double *similarity, struct twin__keeper_scratch *scratch,
                            const struct twin__keeper_sets *sets, struct twin__keeper_set set, size_t from);

/* Members of one component (union-find, join_private.h), which are not wanted. */
struct twin__keeper_apart {
    const uint32_t *group; /* by documents */
    uint32_t root;
};

/* Finds all members that are similar, in order, except those of a component: scratch->found. */
bool twin__keeper_sets_find_all(struct twin__keeper_scratch *scratch, const struct twin__keeper_sets *sets,
                                struct twin__keeper_set set, struct twin__keeper_apart apart);

#endif

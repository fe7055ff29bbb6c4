/* set_index.h — an index of sets: the first member that is similar to a set, or all of them; by Jaccard similarity, or by
 * containment of the smaller set in the larger.
 *
 * Sets of one template have much in common. Of each set, frequent items become bits, and the rare ones are listed, with a
 * posting list per item. Of a set it is then known at once which members could be similar to it; only those are compared, in
 * the order in which they were added. The result is exact. */
#ifndef TWIN_JOIN_SET_INDEX_H
#define TWIN_JOIN_SET_INDEX_H

#include "join/items.h"

/* The members that have an item: one of them, or where their list begins. */
struct twin__set_postings {
    uint32_t count, at;
};

struct twin__set_index {
    struct twin__frequent_items frequent;
    twin_measure measure;
    double threshold, share; /* t, and t/(1+t), or t by containment, less what arithmetic may err */
    size_t count;
    struct twin__set_member { /* there may be a million of them */
        uint32_t document;
        uint32_t size, frequent; /* how many items it has, and how many of them are frequent */
        uint32_t begin, count;   /* its ids */
        uint32_t unknown;
    } * members;
    size_t member_capacity;
    uint8_t
        *wanted; /* by containment, of each member: so many of its listed items whatever contains it has; 0: perhaps
                      * none */
    size_t wanted_capacity;
    double
        *most_surplus; /* of each block of members; the surplus of a member is frequent - share·size. By containment
                             * it is of those that want nothing what is not frequent, less share·size. */
    size_t block_capacity;
    uint64_t *bits;
    size_t bit_capacity;
    uint64_t *block_bits; /* of each block of members the frequent items that any of them has */
    size_t block_bit_capacity;
    struct twin__item_numbers numbers; /* of the rare items */
    struct twin__set_postings *postings;
    size_t posting_capacity;
    uint32_t *lists; /* posting lists of two members and more, each in increasing order */
    size_t list_count, list_capacity;
    uint32_t *ids;
    size_t id_count, id_capacity;
};

/* Finds out from a sample of the source which items are frequent; no member yet. End with twin__set_index_clear(). A
 * failure also fills `error`. */
twin_status twin__set_index_init(struct twin__set_index *out, const struct twin__set_source *source,
                                 twin_measure measure, double threshold, twin_error *error);
void twin__set_index_clear(struct twin__set_index *index);

/* About how much memory it takes, in units of eight bytes. */
size_t twin__set_index_room(const struct twin__set_index *index);

/* A set, divided by twin__frequent_items_divide(). */
struct twin__divided_set {
    size_t size, frequent;
    const uint64_t *bits, *rare;
    size_t rare_count; /* fewer than size - frequent, if items that no later document has were left out */
    /* By containment. */
    size_t
        listed; /* so many of the rare items, the first, get posting lists: all of them, unless every query is at least as
                     * large as the member */
    size_t unknown; /* so many more it may have in common with others, that are not given */
};

/* The similarity that is found of a member with unknown items which may be similar. */
enum { TWIN__SIMILARITY_UNKNOWN = 2 };

/* Adds a member; false when out of memory. */
bool twin__set_index_add(struct twin__set_index *index, uint32_t document, struct twin__divided_set set);

/* What a worker needs. Begin with {0}, end with twin__index_scratch_clear(). */
struct twin__index_scratch {
    uint32_t *ids; /* the numbers of the set's rare items */
    size_t id_capacity;
    uint8_t *hits; /* per member, all 0 between two calls; they stay at as many as are needed */
    size_t hit_count;
    bool *is_hit; /* per block of members, whether one has as many as are needed; the same */
    size_t block_count;
    uint32_t *met; /* members with hits */
    size_t met_count, met_capacity;
    uint8_t *marks; /* per number, the same */
    size_t mark_count;
    uint64_t compared; /* how many members were compared in all */
    uint64_t
        cut; /* searches that did not look at all posting lists, because of most_steps; and sets that were compared in
                   * vain with TWIN__MOST_IN_VAIN members */
    size_t steps; /* of posting lists in the last search by containment, about */
    struct twin__set_found {
        size_t member;
        double similarity;
    } * found; /* of the last twin__set_index_all() */
    size_t found_count, found_capacity;
};
void twin__index_scratch_clear(struct twin__index_scratch *scratch);

/* What a worker needs to divide sets, too. Begin with {0}. */
struct twin__index_worker {
    struct twin__index_scratch scratch;
    struct twin__item_marks marks;
    uint64_t *bits;
    size_t bit_capacity;
};
void twin__index_worker_clear(struct twin__index_worker *worker);

/* Divides a set, its items in any order, some perhaps more than once; the result lives until the same worker divides again.
 * False when out of memory. */
bool twin__index_divide(struct twin__divided_set *out, struct twin__index_worker *worker,
                        const struct twin__frequent_items *frequent, twin_set items);

/* Comparisons in vain after which a search ends: all of 8,000 forms are compared, and what 50,000 take is no square
 * (docs/join.md). */
enum { TWIN__MOST_IN_VAIN = 8192 };

/* What is searched for, and among which members. */
struct twin__index_query {
    struct twin__divided_set set;
    size_t begin, end; /* members from the one up to but without the other */
    uint16_t *
        in_vain; /* unless NULL, how many members the set was compared with in vain, in earlier searches and this one,
                        * less some for each that was similar.
                        * From TWIN__MOST_IN_VAIN on only those with rare items of the set are compared, and then as many
                        * once more, so that members may be missed */
    const uint32_t *ids;   /* unless NULL, the set is that of a member, and these are the numbers of its rare items */
    const uint32_t *group; /* unless NULL, no members whose document has this root (union-find, join_private.h) */
    uint32_t root;

    /* By containment. */
    bool is_largest; /* none of these members is larger than the set */
    size_t
        most_steps; /* of posting lists, about; the longest are left out, and members may be missed. 0: any number */
};

/* The query of a member among those before it. */
struct twin__index_query twin__set_index_query_member(const struct twin__set_index *index, size_t member);

/* Finds the first member that is similar. *out becomes its number, or index->count if there is none. False when out of
 * memory. Any number of workers may search at once, each with its own scratch. */
bool twin__set_index_first(size_t *out, double *similarity, struct twin__index_scratch *scratch,
                           const struct twin__set_index *index, const struct twin__index_query *query);

/* Finds all members that are similar, in order: scratch->found. */
bool twin__set_index_all(struct twin__index_scratch *scratch, const struct twin__set_index *index,
                         const struct twin__index_query *query);

/* The same of those listed alone: documents in increasing order, as the members were added. Others are no members. */
bool twin__set_index_listed(struct twin__index_scratch *scratch, const struct twin__set_index *index,
                            const struct twin__index_query *query, const uint64_t *documents, size_t count);

#endif

/* family_sets.h — sets that have much in common, encoded so that it takes little to count how much.
 *
 * To compare two sets item by item takes as long as they are. The sets of a family are encoded once, and a pair of
 * them then takes a pass over two bitmaps:
 *   - items that many members have, as a sample shows, are numbered; each member has a bitmap of them;
 *   - the other items that members share are numbered too; each member has a list of their numbers, and each number a
 *     posting list of members.
 * Items are compared in full, so that the result is exact. */
#ifndef TWIN_JOIN_FAMILY_SETS_H
#define TWIN_JOIN_FAMILY_SETS_H

#include "join/items.h"
#include "join/join_private.h"

/* A set, encoded. */
struct twin__family_set {
    size_t size; /* how many items it has */
    const uint64_t *bits;
    const uint32_t *ids;
    size_t id_count;
};

struct twin__family_sets {
    const struct twin__provider *provider;
    size_t count;
    struct twin__family_member {
        size_t size;
        size_t begin, count; /* its ids */
    } * members;
    size_t member_capacity;
    struct twin__frequent_items frequent;
    struct twin__item_numbers shared;
    uint64_t *bits;
    size_t bit_capacity;
    uint64_t *rest; /* items that are not frequent, while they have no numbers yet */
    size_t rest_count, rest_capacity;
    uint32_t *ids;
    uint32_t *postings;
    size_t *starts; /* of the posting list of each number, and the end of the last */
};

/* Which documents, and who encodes them. */
struct twin__family_source {
    const struct twin__provider *provider;
    const uint32_t *documents;
    size_t count;
    size_t most_items; /* kept at a time, about, eight bytes each; members are as many as fit */
    twin_exec exec;
    int first_worker; /* workers are numbered from this on when they fetch */
};

/* Encodes the first documents of a source, at least one. When all of them are members, items that only one has are
 * dropped: nothing else may then be compared with them. A failure also fills `error`. */
twin_status twin__family_sets_make(struct twin__family_sets *out, const struct twin__family_source *source,
                                   twin_error *error);
void twin__family_sets_clear(struct twin__family_sets *sets);

/* Finds out from a sample of a source which items are frequent. End with twin__frequent_items_clear(), also after a
 * failure, which fills `error`. */
twin_status twin__family_frequent(struct twin__frequent_items *out, const struct twin__family_source *source,
                                  twin_error *error);

/* What a worker needs to compare. Begin with {0}, end with twin__family_scratch_clear(). */
struct twin__family_scratch {
    struct twin__item_marks marks;
    uint64_t *bits;
    size_t bit_capacity;
    uint32_t *ids;
    size_t id_capacity;
    uint32_t *counters; /* per member */
    size_t counter_capacity;
    uint8_t *has; /* per shared number, all 0 between two calls */
    size_t has_count;
};
void twin__family_scratch_clear(struct twin__family_scratch *scratch);

/* A member; or another document, given by its items in any order, some perhaps more than once, whose encoding lives
 * in the scratch. False when out of memory. */
struct twin__family_set twin__family_member(const struct twin__family_sets *sets, size_t member);
bool twin__family_encode(struct twin__family_set *out, struct twin__family_scratch *scratch,
                         const struct twin__family_sets *sets, twin_set items);

/* out[i] becomes the number of items that `set` and the member columns[i] have in common. False when out of memory. */
bool twin__family_common(uint32_t *out, struct twin__family_scratch *scratch, const struct twin__family_sets *sets,
                         struct twin__family_set set, const uint32_t *columns, size_t count);

#endif

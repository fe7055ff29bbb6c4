/* rests.h — what the sets of a crowd have beside their template, in memory, for many queries of one view.
 *
 * A query among many documents made from one template looks for its rare items in the sets of all of them
 * (join/query_probes.h), and each query would read and check all these sets again. So after some such queries the
 * items that most of the sets have are found out, and two bytes of each other item are kept. A set has at most as
 * many probes as its rest and all of the common items together, so the answers stay the same. */
#ifndef TWIN_INDEX_RESTS_H
#define TWIN_INDEX_RESTS_H

#include "index/record.h"

enum { TWIN__REST_SAMPLES = 16, TWIN__REST_TABLES = 8 };

/* Begin with {0}, end with twin__index_rests_clear(). */
struct twin__index_rests {
    twin_items common; /* items that most sets of a crowd have, of all crowds that were found; in increasing order */
    uint16_t *slots;   /* of the rests, one after the other */
    size_t slot_count, slot_capacity;
    struct twin__rest {
        uint32_t begin,
            count; /* its slots, and how many plus one; 0: not known; UINT32_MAX: too many in round `begin` */
    } * of;        /* by the number of the set */
    uint64_t set_count;
    uint32_t round;       /* how often common items were sought */
    size_t crowds;        /* queries that missed many since then */
    size_t missed;        /* sets that were not known since then, */
    size_t missed_before; /* and before the query in hand */
    struct twin__rest_sample {
        uint64_t set, size;
    } sample[TWIN__REST_SAMPLES]; /* some of those */
    struct twin__common_probes {
        const uint8_t *slots;
        size_t count;
    } tables[TWIN__REST_TABLES]; /* of the query in hand, and how many common items have their slots */
    size_t table_count;
};
void twin__index_rests_clear(struct twin__index_rests *rests);

/* A query begins: the tables of the last one are gone. */
void twin__index_rests_begin(struct twin__index_rests *rests);

/* How many items of a set have the slots of probes, or more; false if its rest is not known. */
bool twin__index_rests_count(size_t *out, struct twin__index_rests *rests, uint64_t set,
                             struct twin__probe_table probes);

/* Whether the rest of a set is wanted, since those of other sets are known; if not, the set counts as missed. */
bool twin__index_rests_want(struct twin__index_rests *rests, uint64_t set, uint64_t size);

/* Keeps the rest of a set, unless it is most of the set or there is no more room. */
void twin__index_rests_keep(struct twin__index_rests *rests, uint64_t set, twin_set items, unsigned shift);

/* A query ends. True if so many sets were missed that common items should be sought in the sample; the items of all
 * its sets, one set after the other, are then passed to twin__index_rests_learn(). Numbers of sets are below
 * `set_count`. */
bool twin__index_rests_end(struct twin__index_rests *rests);
twin_status twin__index_rests_learn(struct twin__index_rests *rests, twin_items *items, twin_items *spare,
                                    uint64_t set_count);

#endif

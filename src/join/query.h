/* query.h — which of the candidates of one more document are similar to it.
 *
 * Whoever has the documents (a collection, an index) finds candidates and proposes them one by one; what is similar
 * enough is left in the list of hits. */
#ifndef TWIN_JOIN_QUERY_H
#define TWIN_JOIN_QUERY_H

#include <twinsift/similar.h>

#include "join/query_probes.h"

struct twin__query_hit {
    uint64_t document;
    size_t equal; /* slots */
    double similarity;
};

/* Begin with {0}; free `items` in the end. One list may serve many queries, one after the other. */
struct twin__query_hits {
    struct twin__query_hit *items;
    size_t count, capacity;
};

struct twin__query {
    const uint32_t *signature; /* of the document that queries */
    size_t slots;
    twin_set set;
    twin_measure measure;
    double threshold;
    twin_verify verify;
    size_t most; /* hits wanted; 0: all */

    /* The set of a candidate. It lives until the next one is fetched. Not called unless `verify` is exact. */
    twin_status (*fetch)(twin_set *out, void *context, uint64_t document, twin_error *error);

    /* How many items a candidate has; and how many of them have the slots of probes. NULL: unknown. Where there are
     * many candidates, most of them are then not fetched. */
    uint64_t (*size)(void *context, uint64_t document);
    twin_status (*count_probes)(size_t *out, void *context, uint64_t document, struct twin__probe_table probes,
                                twin_error *error);
    unsigned item_shift; /* the last bits of an item, which are always zero */
    void *context;

    size_t least; /* set by twin__query_begin(): equal slots of a candidate that is worth comparing */
};

/* Empties the list of hits. */
void twin__query_begin(struct twin__query_hits *hits, struct twin__query *query);

/* Adds a candidate to the hits if it passes the signature gate. Each candidate is proposed once. */
twin_status twin__query_propose(struct twin__query_hits *hits, const struct twin__query *query, uint64_t document,
                                const uint32_t *signature);

/* Compares the hits and keeps those that are wanted, the most similar first; of equally similar ones the one with the
 * lower number. A failure also fills `error`. */
twin_status twin__query_verify(struct twin__query_hits *hits, const struct twin__query *query, twin_error *error);

#endif

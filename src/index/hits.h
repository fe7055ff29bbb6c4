/* hits.h — which of the candidates of one more document are similar to it.
 *
 * The caller finds candidates and proposes them one by one; the list of hits keeps what is similar enough. */
#ifndef TWIN_INDEX_HITS_H
#define TWIN_INDEX_HITS_H

#include <twinsift/similar.h>

struct twin__query_hit {
    uint64_t document;
    size_t equal; /* slots */
    double similarity;
};

/* Begin with {0}; free `items` in the end. One list may serve many queries, one after the other. */
struct twin__query_hits {
    struct twin__query_hit *items;
    size_t count, capacity;
    bool incomplete; /* more candidates passed the gate than were to be compared */
};

struct twin__query {
    const uint32_t *signature; /* of the document that queries */
    size_t slots;
    twin_set set;
    twin_measure measure;
    double threshold;
    twin_verify verify;
    size_t most;          /* hits wanted; 0: all */
    size_t most_compared; /* candidates that are compared, those with the most equal slots first; 0: all */

    /* The set of a candidate. It lives until the next one is fetched. Not called unless `verify` is exact. */
    twin_status (*fetch)(twin_set *out, void *context, uint64_t document, twin_error *error);

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

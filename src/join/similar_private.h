/* similar_private.h — what the files of similar know of each other, and near.c of them: similar.c finds pairs,
 * similar_forest.c finds candidates through a forest, similar_check.c judges them, similar_each.c tells them. */
#ifndef TWIN_JOIN_SIMILAR_PRIVATE_H
#define TWIN_JOIN_SIMILAR_PRIVATE_H

#include <twinsift/similar.h>

struct twin_similar {
    const twin_collection *collection;
    twin_match *matches; /* of distinct documents, sorted by a, then b */
    size_t count, capacity;
    twin_similar_counts counts;
};

/* Pairs of documents, each as one number, the lower document above the higher. */
struct twin__pairs {
    uint64_t *items;
    size_t count, capacity;
};

/* ---- similar_check.c */

/* What a document is compared by: its set, or its text. */
struct twin__blob {
    const void *bytes;
    size_t size;
};

/* How pairs are judged. `fetch` brings a document's piece, which lives until the scratch is used again; `compare`
 * tells how similar two are, or -1 when that is not enough. */
struct twin__comparison {
    twin_status (*fetch)(struct twin__blob *out, const twin_collection *collection, twin_scratch *scratch,
                         uint32_t document, twin_error *error);
    twin_status (*compare)(double *out, void *context, struct twin__blob a, struct twin__blob b, int worker);
    void *context;
};

/* Adds the pairs that are similar enough to the matches, in no certain order, and counts them as verified. */
twin_status twin__verify_pairs(twin_similar *similar, const struct twin__pairs *pairs, struct twin__comparison judge,
                               twin_exec exec, twin_progress progress, twin_error *error);

twin_status twin__keep_match(twin_similar *similar, uint32_t a, uint32_t b, double similarity);
void twin__sort_matches(twin_similar *similar);

/* ---- similar_forest.c */

/* Signatures as the entries of a forest. Its trees are the plan's bands and a candidate shares at least the plan's
 * rows with who asks; deeper levels, made of the slots that follow, tell the nearest first. */
struct twin__minhash_forest;
twin_status twin__minhash_forest_create(struct twin__minhash_forest **out, twin_signatures signatures, twin_plan plan,
                                        uint64_t seed);
void twin__minhash_forest_free(struct twin__minhash_forest *grove);

struct twin__minhash_forest_query {
    const uint32_t *documents; /* who asks; they are in the grove too */
    size_t count;
    size_t take;  /* the most candidates each gets: those with the most equal slots */
    size_t least; /* equal slots a candidate must have */
    bool (*allows)(const void *context, uint32_t asker, uint32_t other); /* NULL: anyone */
    const void *context;
    twin_exec exec;
};

/* Adds the pairs of askers and their candidates, sorted, none twice; `more`, one for each asker unless NULL, becomes
 * whether there may be candidates beyond those it got. Adds to *seen how many were looked at. The same pairs whoever
 * runs it. */
twin_status twin__minhash_forest_pairs(struct twin__pairs *out, bool *more, uint64_t *seen,
                                       const struct twin__minhash_forest *grove,
                                       struct twin__minhash_forest_query ask);

/* Sorts the pairs and drops repeats, and those that are among `known`, which is sorted, unless that is NULL. */
twin_status twin__pairs_tidy(struct twin__pairs *pairs, const struct twin__pairs *known);

#endif

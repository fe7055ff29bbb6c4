/* minhash_forest.h — signatures as the entries of a forest, which gives each document the candidates that are likeliest. */
#ifndef TWIN_LSH_MINHASH_FOREST_H
#define TWIN_LSH_MINHASH_FOREST_H

#include "lsh/bands.h"
#include "lsh/pairs.h"

/* Signatures as the entries of a forest. Its trees are the plan's bands, and a candidate shares at least the plan's
 * rows with the document that queries; deeper levels, made of the slots that follow, rank the nearest first. */
struct twin__minhash_forest;
twin_status twin__minhash_forest_create(struct twin__minhash_forest **out, twin_signatures signatures, twin_plan plan,
                                        uint64_t seed);
void twin__minhash_forest_free(struct twin__minhash_forest *forest);

struct twin__minhash_forest_query {
    const uint32_t *documents; /* those that query; they have signatures, and may be in the forest */
    size_t count;
    size_t take;  /* the most candidates for each: those with the most equal slots */
    size_t least; /* equal slots a candidate must have */
    bool (*allows)(const void *context, uint32_t document, uint32_t other); /* NULL: any candidate */
    const void *context;
    twin_exec exec;
};

/* Adds the pairs of the documents and their candidates, sorted, none twice; `more`, one per document unless NULL,
 * becomes whether there may be candidates beyond those taken. Adds to *seen how many were ranked. The same pairs
 * whatever the executor is. */
twin_status twin__minhash_forest_pairs(struct twin__pairs *out, bool *more, uint64_t *seen,
                                       const struct twin__minhash_forest *forest,
                                       struct twin__minhash_forest_query query);

#endif

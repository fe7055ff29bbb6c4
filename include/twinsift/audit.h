/* audit.h — measures the recall of a search.
 *
 * Documents drawn at random are compared exactly with all others, without signatures or bands. The recall is the share
 * of their similar pairs that the search had found, with a 95 % interval. */
#ifndef TWINSIFT_AUDIT_H
#define TWINSIFT_AUDIT_H

#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_audit_options {
    size_t documents; /* how many to draw, at most all; 0: 1000 */
    uint64_t seed;
    double threshold; /* 0: the threshold and the measure of the search; else these two are used instead */
    twin_measure measure;
    size_t top; /* 0: of the drawn documents every similar pair counts; else only the `top` most similar of each */
    twin_exec exec;
    twin_progress progress; /* reports stage "auditing" */
    uint64_t reserved[TWIN_RESERVED];
} twin_audit_options;

typedef struct twin_audit {
    uint64_t documents; /* drawn */
    uint64_t similar;   /* similar pairs they are part of */
    uint64_t found;     /* of these, pairs that the search had found */
    uint64_t wrong;     /* their pairs that the search reported although they are not similar */
    double recall;      /* found / similar; 1 when there is none to find */
    double low, high;   /* the 95 % interval of the recall (Wilson's) */
    uint64_t reserved[TWIN_RESERVED];
} twin_audit;

/* Numbers of documents of a collection. */
typedef struct twin_document_list {
    const uint32_t *items;
    size_t count;
} twin_document_list;

/* Audits the pairs of distinct documents that twin_similar_find() found in `collection`. */
TWIN_API twin_status twin_audit_run(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                                    twin_audit_options options, twin_error *error);

/* Draws some of the documents listed, which are in increasing order and without copies of each other, and compares
 * them with all that are listed. Adds each similar pair to `out`, by a, then b; is_drawn[i] becomes whether
 * documents[i] was drawn. Threshold and measure are those of the options, or of the collection's scheme if the
 * threshold is 0; top is not used. */
TWIN_API twin_status twin_audit_documents(twin_matches *out, bool *is_drawn, const twin_collection *collection,
                                          twin_document_list documents, twin_audit_options options,
                                          twin_error *error);

/* The 95 % interval (Wilson's) of the share found / of. */
TWIN_API void twin_audit_interval(double *low, double *high, uint64_t found, uint64_t of);

#ifdef __cplusplus
}
#endif
#endif

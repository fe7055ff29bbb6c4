/* similar.h — candidate pairs are verified, and the similar ones are kept.
 *
 * A candidate has to pass three tests, cheapest first: enough equal slots, sizes that allow the threshold, and the
 * exact similarity of the two sets, which are read again from the input. The bound on equal slots is four standard
 * errors below the threshold: of true pairs at the threshold itself it loses, with 128 slots, up to 8 in 100,000 for
 * thresholds up to 0.9, and 33 at 0.99. Every pair that is reported is true; a pair that is missing did not share a
 * band, or is one of these few.
 *
 * Pairs by containment are found by their rare shingles, without signatures, and none is missed. */
#ifndef TWINSIFT_SIMILAR_H
#define TWINSIFT_SIMILAR_H

#include <twinsift/bands.h>
#include <twinsift/collection.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of two documents, a < b, and their similarity. */
typedef struct twin_match {
    uint32_t a, b;
    double similarity;
} twin_match;

typedef enum twin_verify {
    TWIN_VERIFY_EXACT,    /* the exact similarity, at least the threshold */
    TWIN_VERIFY_ESTIMATE, /* the share of equal slots, at least the threshold; Jaccard only */
    TWIN_VERIFY_NONE,     /* every candidate, with the share of equal slots */
} twin_verify;

/* How candidates are found. */
typedef enum twin_method {
    TWIN_METHOD_BANDS,  /* all pairs that share a band */
    TWIN_METHOD_FOREST, /* the nearest of each document, by a forest (forest.h) with one tree per band of the plan;
                           Jaccard only. Candidates share at least as many slots of a tree as the plan has rows */
} twin_method;

/* Which pairs are reported for documents with equal sets. */
typedef enum twin_copies {
    TWIN_COPIES_FIRST, /* each copy once, with the first of its kind; pairs of different sets between firsts */
    TWIN_COPIES_ALL,   /* every pair of documents */
    TWIN_COPIES_NONE,  /* only pairs of different sets, between firsts */
    /* Between two collections, FIRST pairs each document with the first document of the other collection that has
       the same set: for m and n such documents, m + n - 1 pairs. */
} twin_copies;

/* All zeros: exact verification, with the collection's own scheme. */
typedef struct twin_similar_options {
    double threshold; /* 0: threshold, measure and plan are those of the collection's scheme; else in (0, 1], and */
    twin_measure measure;    /* these three are used instead, over the same signatures. No bands: planned as */
    twin_band_options bands; /* twin_scheme_complete() does. Pairs by containment are found without bands. */
    twin_verify verify;
    twin_method method;
    size_t top; /* FOREST: a pair is kept if one document is among the `top` most similar of the other; 0: 10 */
    size_t matches_in_memory; /* the most matches held in memory; more are sorted in a temporary file, and then only
                                 twin_similar_each() reports them. 0: no limit. Ignored by FOREST and by
                                 `first_of_crowds` */
    const char *temp_folder;  /* for that file; NULL: "/tmp" */
    size_t memory_bytes;      /* about how much the search may use in all, beside the collection: what has the choice
                                 takes more passes instead. 0: a default that is fast */
    twin_exec exec;
    twin_progress progress; /* reports stages "pairing" and "verifying" */

    /* For twin_similar_between(), with BANDS and EXACT: find only as many pairs as tell which documents of `first` have any,
     * so that a family on both sides does not cost the product of their sizes. In a crowd of near-copies a document is paired
     * with its copy and with the first that is similar; in families by containment perhaps with one only. */
    bool first_of_crowds;
    uint64_t reserved[TWIN_RESERVED];
} twin_similar_options;

typedef struct twin_similar_counts {
    uint64_t candidates; /* pairs that were considered: of a band, a forest, a crowd or a class of short texts */
    uint64_t verified;   /* pairs whose sets were compared */
    uint64_t similar;    /* pairs at or above the threshold */
    uint64_t crowds;     /* groups of documents connected by large buckets, such as those of one template */
    uint64_t largest_crowds[3]; /* documents of the largest, largest first */
    double pairing_seconds, verifying_seconds;
    uint64_t reserved[TWIN_RESERVED];
} twin_similar_counts;

/* The similar pairs of a collection. */
typedef struct twin_similar twin_similar;

/* Finds the similar pairs among the distinct documents of a collection, which must outlive the result; release
 * with twin_similar_free(). */
TWIN_API twin_status twin_similar_find(twin_similar **out, const twin_collection *collection,
                                       twin_similar_options options, twin_error *error);
TWIN_API void twin_similar_free(twin_similar *similar);

/* The same for pairs between two collections that were read by the same scheme: a is a document of `first` and b one of
 * `second`. Pairs within either are not searched. Both must outlive the result; not for audits and clusters. */
TWIN_API twin_status twin_similar_between(twin_similar **out, const twin_collection *first,
                                          const twin_collection *second, twin_similar_options options,
                                          twin_error *error);

TWIN_API twin_similar_counts twin_similar_count(const twin_similar *similar);

/* The pairs of distinct documents, sorted by a, then b; none if `matches_in_memory` was set. */
TWIN_API size_t twin_similar_matches(const twin_match **out, const twin_similar *similar);

/* Calls `visit` for each pair, with those of copies that `copies` selects, sorted by a, then b. Nothing is stored.
 * The visit returns false to stop; the call then returns TWIN_ESTOPPED. */
typedef bool twin_match_visit(void *context, twin_match match);
TWIN_API twin_status twin_similar_each(const twin_similar *similar, twin_copies copies, twin_match_visit *visit,
                                       void *context);

/* A growing array of matches; begin with {0} and end with twin_matches_clear(). */
typedef struct twin_matches {
    twin_match *items;
    size_t count, capacity;
    struct twin__match_runs *runs; /* private: matches that are not in memory */
    uint64_t candidates, verified; /* as in twin_similar_counts, where they are known; else 0 */
} twin_matches;
TWIN_API void twin_matches_clear(twin_matches *matches);

/* A set to compare with a collection. All of it is borrowed. */
typedef struct twin_similar_query {
    const twin_bands *bands;   /* the collection's buckets */
    const uint32_t *signature; /* of the set */
    twin_set set;
} twin_similar_query;

/* Replaces `out` by the distinct documents of the collection that are similar to the query, most similar first;
 * `b` is the document and `a` is 0. Threads may query at once, each with its own scratch. */
TWIN_API twin_status twin_similar_to(twin_matches *out, const twin_collection *collection,
                                     twin_similar_options options, twin_similar_query query, twin_scratch *scratch,
                                     twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

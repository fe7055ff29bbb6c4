/* similar.h — candidate pairs are verified, and the similar ones are kept.
 *
 * A candidate has to pass three tests, cheapest first: enough equal slots, sizes that allow the threshold, and the
 * exact similarity of the two sets, which are read again from the input. The bound on equal slots is four standard
 * errors below the threshold: of true pairs at the threshold itself it loses, with 128 slots, up to 8 in 100,000 for
 * thresholds up to 0.9, and 33 at 0.99. Every pair that is reported is true; a pair that is missing did not share a
 * band, or is one of these few.
 *
 * Pairs by containment are found by their rare shingles, without signatures, and none is missed but of documents that are
 * `incomplete`. */
#ifndef TWINSIFT_SIMILAR_H
#define TWINSIFT_SIMILAR_H

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
    TWIN_METHOD_FOREST, /* the nearest of each document, by an LSH forest with one tree per band of the plan;
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
    size_t spill_after;      /* the most matches held in memory; more are sorted in a temporary file, and cannot be
                           clustered. 0: no limit. Ignored by FOREST and by `existence_only` */
    const char *temp_folder; /* for that file; NULL: "/tmp"; "": none, and more matches are TWIN_ELIMIT */
    size_t memory_bytes;     /* about how much the search may use in all, beside the collection: what has the choice
                                 takes more passes instead. 0: a default that is fast */
    twin_exec exec;
    twin_progress progress; /* reports stages "pairing" and "verifying" */

    /* For twin_similar_between(), with BANDS and EXACT: find only as many pairs as say which documents of `first` have any,
     * so that near-copies on both sides do not cost the product of their numbers. Among pages of one template a document is
     * paired with its copy and with the first that is similar; by containment perhaps with one only. */
    bool existence_only;
    uint64_t reserved[TWIN_RESERVED];
} twin_similar_options;

typedef struct twin_similar_counts {
    uint64_t
        candidates; /* pairs that were considered: of a band, a forest, a template group or a class of short texts */
    uint64_t verified;          /* pairs whose sets were compared */
    uint64_t similar;           /* pairs at or above the threshold */
    uint64_t template_groups;   /* groups of documents connected by large buckets, such as those of one template */
    uint64_t largest_groups[3]; /* documents of the largest, largest first */
    double pairing_seconds, verifying_seconds;
    uint64_t
        incomplete; /* documents of a template group that were compared with thousands of others, of which hardly one in
                     * a thousand was similar, and then with the likeliest only; by containment, documents that have much
                     * in common with many others, and were compared with the likeliest. Pairs of theirs may be missing,
                     * which an audit measures */
    uint64_t reserved[TWIN_RESERVED - 1];
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

/* Calls `visit` for each pair, with those of copies that `copies` selects, sorted by a, then b. Nothing is stored.
 * The visit returns false to stop; the call then returns TWIN_ESTOPPED. */
typedef bool twin_match_visit(void *context, twin_match match);
TWIN_API twin_status twin_similar_each(const twin_similar *similar, twin_copies copies, twin_match_visit *visit,
                                       void *context);

/* ---- groups */

/* Which documents are kept when near-duplicates are dropped, in the order of the collection. One that has not been
 * dropped is kept, and the documents that are similar to it are dropped for it; chains do not count, and a copy has the
 * keeper of its first. keeper[i] becomes the document that is kept for i, i itself if it is kept, and similarity[i] the
 * similarity of the two, 1 if i is kept. Both arrays have room for all documents of the collection. TWIN_EINVAL for pairs
 * between two collections, and if `spill_after` was exceeded. */
TWIN_API twin_status twin_cluster_documents(uint32_t *keeper, double *similarity, const twin_similar *similar);

/* A document of a group, and its similarity to the document that is kept, which identifies the group. */
typedef struct twin_member {
    uint32_t group, document;
    double similarity;
} twin_member;

/* Calls `visit` for the members of each group of at least two documents: groups in the order of their kept documents,
 * and in each group the kept document first, then the others in increasing order. keeper[i] is the document kept for
 * i. The visit returns false to stop; the call then returns TWIN_ESTOPPED. */
typedef bool twin_member_visit(void *context, twin_member member);
TWIN_API twin_status twin_cluster_each(const uint32_t *keeper, const double *similarity, size_t documents,
                                       twin_member_visit *visit, void *context);

/* ---- the recall of a search: documents drawn at random are compared exactly with all others, without signatures or
 * bands. It is the share of their similar pairs that the search had found, with a 95 % interval. */

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

/* Audits the pairs of distinct documents that twin_similar_find() found in `collection`. */
TWIN_API twin_status twin_audit_run(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                                    twin_audit_options options, twin_error *error);

/* ---- one of several parts of the work of several machines (dedup.h), numbered from 0. {0}: all of it. */
typedef struct twin_part {
    uint32_t number, of;
} twin_part;

#ifdef __cplusplus
}
#endif
#endif

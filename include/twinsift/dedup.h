/* dedup.h — which documents of a collection are kept when its near-duplicates are dropped.
 *
 * Documents are considered in an order of preference. A document that is similar to one already kept is dropped for the
 * first such document; any other is kept. So every dropped document has been compared with the one kept for it, and no
 * two kept documents are similar as far as the search finds them. In a chain of documents, each similar to the next,
 * only those similar to a kept one are dropped, unless `chain` is set.
 *
 * Documents with an empty set are similar to none and always kept. */
#ifndef TWINSIFT_DEDUP_H
#define TWINSIFT_DEDUP_H

#include <twinsift/edit_join.h>
#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which of several similar documents is preferred. Except for TWIN_PREFER_FIRST and TWIN_PREFER_LAST the result does not
 * depend on the order of the input: ties go to the smaller digest of the text, then to the smaller id, and only then to the earlier
 * document. */
typedef enum twin_preference {
    TWIN_PREFER_FIRST,    /* in the order of the input */
    TWIN_PREFER_LONGEST,  /* the most bytes of text, as it is in the input */
    TWIN_PREFER_SHORTEST, /* the fewest */
    TWIN_PREFER_MOST,     /* the largest value of a field. Numbers, also as strings, are compared as numbers; other
                             strings are larger than numbers and compared byte by byte. A document without the field,
                             or with another value in it, comes last */
    TWIN_PREFER_LEAST,    /* the smallest; without the field, last again */
    TWIN_PREFER_LAST,     /* in the reverse order of the input */
} twin_preference;

typedef struct twin_dedup_options {
    twin_similar_options search; /* which documents are similar; only by bands, verified exactly */
    twin_preference preference;
    const char *field; /* of MOST and LEAST */
    const bool
        *excluded; /* unless NULL, one per document: those that are dropped in any case, together with their copies;
                      no document is dropped for them */
    bool chain;    /* groups are connected components: a document is also dropped if a chain of similar documents
                      connects it with the kept one */

    /* Unless NULL, the collection is one of texts, and these say which are similar; of `search`, only `exec`, `progress`,
     * `memory_bytes` and `temp_folder` are used. The pairs that are found are in memory, 16 bytes each: where most texts are similar to many
     * others those with kept texts, otherwise, and with `chain`, all. */
    const twin_edit_join_options *by_edits;

    /* Unless NULL, one per document: the smallest is preferred, and `preference` decides among equal ones. For an order
     * that the caller knows, also of documents in memory, which have no fields. */
    const uint32_t *ranks;
    uint64_t reserved[TWIN_RESERVED];
} twin_dedup_options;

typedef struct twin_dedup_counts {
    uint64_t documents;
    uint64_t kept;
    uint64_t exact_copies;      /* dropped for a document with the same set */
    uint64_t near_copies;       /* dropped for a similar one */
    uint64_t excluded;          /* by the caller, copies included */
    uint64_t groups;            /* kept documents for which others were dropped */
    uint64_t bytes, kept_bytes; /* of records, where they are lines */
    uint64_t without_field;     /* of the documents that are similar to others, those without the field of the rule */
    twin_similar_counts search;
    uint64_t reserved[TWIN_RESERVED];
} twin_dedup_counts;

typedef struct twin_dedup twin_dedup;

/* Decides for all documents of the collection, which must outlive the result; release with twin_dedup_free(). */
TWIN_API twin_status twin_dedup_find(twin_dedup **out, const twin_collection *collection, twin_dedup_options options,
                                     twin_error *error);
TWIN_API void twin_dedup_free(twin_dedup *dedup);

/* Keeps all documents of the collection, similar or not, except those that are excluded, one flag per document. */
TWIN_API twin_status twin_dedup_without(twin_dedup **out, const twin_collection *collection, const bool *excluded,
                                        twin_error *error);

TWIN_API twin_dedup_counts twin_dedup_count(const twin_dedup *dedup);

/* For each document the one that is kept for it, itself if it is kept; TWIN_DEDUP_NONE if it is excluded. */
#define TWIN_DEDUP_NONE UINT32_MAX
TWIN_API const uint32_t *twin_dedup_keepers(const twin_dedup *dedup);

/* For each document its similarity to the one kept for it, by the measure of the search; 1 if it is kept. With `chain`
 * it may be below the threshold. */
TWIN_API const double *twin_dedup_similarities(const twin_dedup *dedup);

/* A group: a kept document, and those dropped for it. */
typedef struct twin_dedup_group {
    uint32_t keeper;
    const uint32_t *dropped; /* in the order of the input */
    size_t count;
} twin_dedup_group;

/* The groups of at least two documents, in the order of the kept documents. The array lives as long as the result. */
TWIN_API size_t twin_dedup_groups(const twin_dedup_group **out, const twin_dedup *dedup);

/* The recall of a run: kept documents drawn at random are compared with all other kept ones. */
typedef struct twin_dedup_audit {
    uint64_t documents; /* drawn */
    uint64_t missed;    /* of these, documents that are similar to another kept one and should have been dropped */
    double recall;      /* estimated: near-copies dropped / (those and the ones missed); exact copies do not count */
    double low, high;   /* the 95 % interval of the recall; both are the recall if all kept documents were drawn */
    uint64_t reserved[TWIN_RESERVED];
} twin_dedup_audit;

/* `collection` and `options` are those of twin_dedup_find(). Threshold, measure and top of `audit` are not used. */
TWIN_API twin_status twin_dedup_audit_run(twin_dedup_audit *out, const twin_dedup *dedup,
                                          const twin_collection *collection, twin_dedup_options options,
                                          twin_audit_options audit, twin_error *error);

/* ---- step by step, on several machines
 *
 * Shards are signed one by one (twin_collection_write), candidates are found for some of the bands at a time, matches for
 * some of the candidates at a time, and all matches together decide which documents are kept. Each step writes a file; the
 * result is that of twin_dedup_find(). Every step needs the signatures of all shards. Files of parts may be given in any
 * order: TWIN_EINVAL when a part is missing or repeated, or when the files belong to another collection. Jaccard
 * similarity only, and without `excluded`. */

/* Finds the candidates of a part of the bands and writes them. */
TWIN_API twin_status twin_dedup_write_candidates(const twin_collection *collection, twin_similar_options options,
                                                 twin_part part, twin_sink sink, twin_error *error);

/* Finds the matches of a part of the candidates and writes them, together with the rule by which documents are kept.
 * `options->search` is zero except for executor, memory and progress. */
TWIN_API twin_status twin_dedup_write_matches(const twin_collection *collection, twin_saved_files candidates,
                                              const twin_dedup_options *options, twin_part part, twin_sink sink,
                                              twin_error *error);

/* Decides from all matches, by the rule that was written with them: preference, field and `chain` of the options are not
 * used. */
TWIN_API twin_status twin_dedup_decide(twin_dedup **out, const twin_collection *collection, twin_saved_files matches,
                                       const twin_dedup_options *options, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

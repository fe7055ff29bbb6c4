/* dedup.h — which documents of a collection stay when its near-duplicates go.
 *
 * Documents are taken in an order of preference. One that is similar to a document that stays is dropped for the first
 * such document; otherwise it stays. So whatever is dropped was compared with the document that stays for it, and
 * of two documents that stay none would have been dropped for the other. A chain of documents, each similar to the
 * next, loses only those similar to one that stays, unless chains are asked for.
 *
 * Documents without a set, too short for a single shingle, are similar to none and always stay. */
#ifndef TWINSIFT_DEDUP_H
#define TWINSIFT_DEDUP_H

#include <twinsift/audit.h>
#include <twinsift/candidates.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which of similar documents is preferred. For all but the first rule what follows does not depend on the order of the
 * input: of equally good documents the one with the smaller digest of its text is preferred, then the one with the
 * smaller id, and only then the earlier one. */
typedef enum twin_preference {
    TWIN_PREFER_FIRST,    /* in the order of the input */
    TWIN_PREFER_LONGEST,  /* the most bytes of text, as it is in the input */
    TWIN_PREFER_SHORTEST, /* the fewest */
    TWIN_PREFER_MOST,  /* the largest value of a field. Numbers are compared as numbers; other values are larger than
                             numbers and compared byte by byte. A document without the field comes last */
    TWIN_PREFER_LEAST, /* the smallest; without the field, last again */
} twin_preference;

typedef struct twin_dedup_options {
    twin_similar_options search; /* which documents are similar. Exactly verified, by bands */
    twin_preference preference;
    const char *field; /* of MOST and LEAST */
    const bool
        *excluded; /* unless NULL, one per document: those that go in any case, for reasons of the caller, and with
                             them their copies; nothing is dropped for them */
    bool chain;    /* groups are connected components: a document is dropped also if others connect it to the one that
                   stays */
} twin_dedup_options;

typedef struct twin_dedup_counts {
    uint64_t documents;
    uint64_t kept;
    uint64_t exact_copies;      /* dropped for a document with the same set */
    uint64_t near_copies;       /* dropped for a similar one */
    uint64_t excluded;          /* by the caller, copies included */
    uint64_t groups;            /* documents that stay for others */
    uint64_t bytes, kept_bytes; /* of records, where they are lines */
    twin_similar_counts search;
} twin_dedup_counts;

typedef struct twin_dedup twin_dedup;

/* Decides for all documents of the collection, which must outlive the result; release with twin_dedup_free(). */
TWIN_API twin_status twin_dedup_find(twin_dedup **out, const twin_collection *collection, twin_dedup_options options,
                                     twin_error *error);
TWIN_API void twin_dedup_free(twin_dedup *dedup);

TWIN_API twin_dedup_counts twin_dedup_count(const twin_dedup *dedup);

/* For each document the one that stays for it, itself if it stays; TWIN_DEDUP_NONE if it is excluded. */
#define TWIN_DEDUP_NONE UINT32_MAX
TWIN_API const uint32_t *twin_dedup_keepers(const twin_dedup *dedup);

/* For each document its similarity to the one that stays for it, by the measure of the search; 1 if it stays. In a chain
 * it may be below the threshold. */
TWIN_API const double *twin_dedup_similarities(const twin_dedup *dedup);

/* A group: the document that stays, and those dropped for it. */
typedef struct twin_dedup_group {
    uint32_t keeper;
    const uint32_t *dropped; /* in the order of the input */
    size_t count;
} twin_dedup_group;

/* The groups of two documents and more, in the order of the documents that stay. The array lives as long as the result. */
TWIN_API size_t twin_dedup_groups(const twin_dedup_group **out, const twin_dedup *dedup);

/* How much of what is similar was dropped: some of the documents that stay are compared with all others that stay. */
typedef struct twin_dedup_audit {
    uint64_t documents; /* drawn */
    uint64_t missed;    /* of these, documents that should have gone for another that stays */
    double recall;      /* estimated: near-copies dropped / (those and the ones missed); exact copies do not count */
    double low, high;   /* the 95 % interval of the recall; both are the recall if all that stay were drawn */
} twin_dedup_audit;

/* `collection` and `options` are those of twin_dedup_find(); of the audit's, threshold, measure and top are not used. */
TWIN_API twin_status twin_dedup_audit_run(twin_dedup_audit *out, const twin_dedup *dedup,
                                          const twin_collection *collection, twin_dedup_options options,
                                          twin_audit_options audit, twin_error *error);

/* ---- step by step, on several machines
 *
 * Documents are read and signed shard by shard (twin_collection_write), candidates are found for some of the bands at a
 * time (twin_candidates_find), matches for some of the candidates at a time, and from all matches follows which documents stay.
 * The outcome of each step is a file, and the result is that of twin_dedup_find(). Every step needs the whole
 * collection, that is, the signatures of all shards. By Jaccard similarity only, and without `excluded`. */

/* Matches that, with those of the other parts, decide which documents stay. Uses up the candidates, which must be those of
 * all bands: they can only be freed afterwards. `options.search` is zero but for executor and progress. */
TWIN_API twin_status twin_dedup_match(twin_matches *out, const twin_collection *collection,
                                      twin_candidates *candidates, const twin_dedup_options *options, twin_part part,
                                      twin_error *error);

/* To a file, together with the rule which documents stay; and from the files of all parts. The rule becomes that of the files; its field
 * is stored in `field`, which must outlive it. */
TWIN_API twin_status twin_dedup_write_matches(const twin_matches *matches, const twin_collection *collection,
                                              const twin_dedup_options *rule, twin_part part, FILE *file,
                                              twin_error *error);
TWIN_API twin_status twin_dedup_read_matches(twin_matches *out, twin_dedup_options *rule, twin_buffer *field,
                                             const twin_collection *collection, twin_saved_files saved,
                                             twin_error *error);

/* Decides from all matches, which are sorted by a, then b. */
TWIN_API twin_status twin_dedup_decide(twin_dedup **out, const twin_collection *collection,
                                       const twin_matches *matches, const twin_dedup_options *options,
                                       twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* edit_join.h — pairs of texts by edit distance.
 *
 * Two texts are similar if their indel ratio (twin_edit_ratio) is at least `ratio`, if their edit distance
 * (twin_edit_distance) is at most `edits`, or both, as the options say. Both count characters of the normalised texts.
 *
 * Every pair that is reported has been compared exactly. Candidates are found by the length of the texts:
 * - up to 64 characters: all texts of compatible length are compared;
 * - up to 256 characters and four edits: by segments or deletions that similar texts must share;
 * - longer texts: by a forest over MinHash signatures of their q-grams, which can miss pairs.
 * The first two miss none, but are left to the forest where they would take much longer.
 * docs/decisions/0042-edit-distance-join.md has the recall and the cost. */
#ifndef TWINSIFT_EDIT_JOIN_H
#define TWINSIFT_EDIT_JOIN_H

#include <twinsift/edit.h>
#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_edit_join_options {
    double ratio;                 /* the lowest indel ratio, up to 1; 0: any if edits are limited, else 0.8 */
    bool limit_edits;             /* whether `edits` applies */
    size_t edits;                 /* the most edits; 0: only equal texts */
    size_t grams;                 /* q, the characters of a q-gram; 0: two to five, by the length of the texts */
    twin_minhash_options minhash; /* of the q-grams; 128 slots find at least 99 of 100 pairs with a ratio of 0.95 */
    size_t
        top; /* a pair is kept if one text is among the `top` most similar of the other, or, between two collections, if
                    the first is among those of the second; all pairs are in memory then. 0: all pairs are kept */
    bool packed;        /* store pairs in half the memory where possible; then twin_similar_matches() returns none */
    size_t spill_after; /* pairs held in memory per worker; more are sorted in a temporary file, and then only
                                 twin_similar_each() reports them, and they cannot be clustered. 0: all */
    const char *temp_folder; /* for that file; NULL: "/tmp" */
    twin_exec exec;
    twin_progress progress; /* reports stage "pairing" */
    uint64_t reserved[TWIN_RESERVED];
} twin_edit_join_options;

/* Finds the similar pairs among the distinct documents of a collection of texts (twin_collection_options.texts),
 * which must outlive the result; release with twin_similar_free(). The similarity of a match is the indel ratio. In
 * large groups of texts that are alike but below the threshold, each text is compared with its most promising
 * candidates only, so the time grows with the documents and the pairs found, not with their square. TWIN_EINVAL if
 * the collection was not read as texts. */
TWIN_API twin_status twin_edit_join_find(twin_similar **out, const twin_collection *collection,
                                         twin_edit_join_options options, twin_error *error);

/* The same for pairs between two collections of texts: a is a document of `first` and b one of `second`. Pairs within
 * either are not searched. Both must outlive the result; not for audits and clusters. The time depends mostly on the
 * smaller collection: each of its texts is looked up in the other, or compared with all of like length. */
TWIN_API twin_status twin_edit_join_between(twin_similar **out, const twin_collection *first,
                                            const twin_collection *second, twin_edit_join_options options,
                                            twin_error *error);

/* Audits the pairs that twin_edit_join_find() found with the options `join`: the drawn documents are compared,
 * text by text, with all others of a length that can be near. Threshold, measure and top are not used. */
TWIN_API twin_status twin_audit_edits(twin_audit *out, const twin_collection *collection, const twin_similar *similar,
                                      twin_edit_join_options join, twin_audit_options options, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

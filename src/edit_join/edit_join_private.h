/* edit_join_private.h — what the files of the edit join, and its audit, share: class.c decides when two texts are near,
 * edit_join.c searches for pairs class by class, in one of three ways: tiles.c compares all short texts, keys.c looks
 * up what near texts must share, gram_forest.c finds most. */
#ifndef TWIN_EDIT_JOIN_EDIT_JOIN_PRIVATE_H
#define TWIN_EDIT_JOIN_EDIT_JOIN_PRIVATE_H

#include <twinsift/edit_join.h>

#include "base/scratch.h"
#include "edit_join/edit_pairs.h"
#include "edit_join/short_texts.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"

/* ---- class.c */

/* Fills in what is zero and checks the rest, the collection too. */
twin_status twin__edit_join_complete(twin_edit_join_options *options, const twin_collection *collection,
                                     twin_error *error);

/* The longest text, in characters, that can be near to one of `length`. */
size_t twin__edit_join_reach(twin_edit_join_options options, size_t length);

/* The indel ratio of two texts that are near, and -1 of others. */
twin_status twin__edit_join_compare(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                    twin_edit_join_options options);

/* ---- edit_join.c */

/* Distinct documents of a collection: pairs among them are wanted; or, unless `first` is 0, those of one of the first
 * ones and one of the others, and then none is missed. */
struct twin__edit_part {
    const uint32_t *documents;
    size_t count, first;
};

/* Adds the near pairs of a part to `out`, in no certain order, and the counts to `counts`. Of the options, those that
 * are about where pairs are kept do not count. */
twin_status twin__edit_join_part(twin_matches *out, twin_similar_counts *counts, const twin_collection *collection,
                                 struct twin__edit_part part, const twin_edit_join_options *options,
                                 twin_error *error);

/* ---- class.c: a class */

/* Distinct documents in order of their length, of which each of the first `middle` is sought among those after it. Or,
 * between two collections, the first `middle` in order of their length and then the others, among which they are
 * sought. */
struct twin__edit_class {
    const uint32_t *documents;
    size_t middle, count;
    bool is_between;
    const struct twin__provider *provider; /* of their texts */
    twin_edit_join_options options;        /* complete */
    twin_edit_scratch *scratch;            /* one per worker */
    twin_similar *similar;                 /* gets the counts, and what a forest finds, as matches in any order */
    struct twin__edit_pairs *pairs;        /* gets what is found otherwise, in any order */
};

static inline size_t twin__edit_class_length(const struct twin__edit_class *class, size_t position)
{
    return class->provider->size(class->provider, class->documents[position]);
}

/* The fewest and the most characters of a text of the class. */
static inline size_t twin__edit_class_shortest(const struct twin__edit_class *class)
{
    size_t first = twin__edit_class_length(class, 0),
           other = twin__edit_class_length(class, class->is_between ? class->middle : 0);
    return first < other ? first : other;
}

static inline size_t twin__edit_class_longest(const struct twin__edit_class *class)
{
    size_t last = twin__edit_class_length(class, class->count - 1),
           other = twin__edit_class_length(class, class->middle - 1);
    return last > other ? last : other;
}

/* Whether the class seeks pairs of the texts at two positions, and their lengths allow them to be near; `context` is
 * the class. */
bool twin__edit_class_allows(const void *context, uint32_t position, uint32_t other);

/* Pairs of positions become pairs of documents. */
void twin__edit_class_name(const struct twin__edit_class *class, struct twin__pairs *pairs);

/* Compares pairs of documents, adds those that are near to `out`, and adds up the time it takes. */
twin_status twin__edit_class_verify(twin_matches *out, const struct twin__edit_class *class,
                                    const struct twin__pairs *pairs, twin_error *error);

/* ---- tiles.c */

/* Replaces `out` by the pairs that are near, in no certain order, of each of the first `middle` patterns and the texts
 * after it; or, where `texts` are others than `patterns`, all of them. The options are complete, and allow fewer than 64
 * edits or any number. */
twin_status twin__tiles_compare(struct twin__edit_pairs *out, const struct twin__short_texts *patterns, size_t middle,
                                const struct twin__short_texts *texts, twin_edit_join_options options);

/* About how much work that is. Work is counted in looks at an entry of a list, all operations as many of them: no time of a
 * machine enters, since the choice of a method must be the same everywhere. `firsts` and `counts` are how many of the
 * first ones, and of all or of the others, have each length. */
double twin__tiles_cost(const size_t firsts[TWIN__EDIT64 + 1], const size_t counts[TWIN__EDIT64 + 1], bool is_between,
                        twin_edit_join_options options);

/* ---- keys.c */

/* Adds all near pairs of a class to those found. *done becomes false, and nothing is added, when the edits are too many
 * for this, the texts too long, or when it is expected to take more than `worth` looks, or, if that is 0, more than a
 * forest. */
twin_status twin__edit_join_by_keys(bool *done, const struct twin__edit_class *class, double worth,
                                    twin_error *error);

/* ---- gram_forest.c */

/* What it keeps from class to class: signatures, which two classes share, and memory. */
struct twin__gram_forest;
twin_status twin__gram_forest_create(struct twin__gram_forest **out, size_t documents, int workers);
void twin__gram_forest_free(struct twin__gram_forest *forest);

/* Adds near pairs of the class to its matches, in no certain order. Classes follow each other in one order of
 * documents, unless they are between two collections. */
twin_status twin__gram_forest_search(struct twin__gram_forest *forest, const struct twin__edit_class *class,
                                     twin_error *error);

#endif

/* similar_private.h — the result of a join.
 *
 *   engine.c          from a provider to its similar pairs
 *   candidates.c      candidates from bands
 *   gate.c            which candidates are worth comparing
 *   verify.c          compares them
 *   similar.c         the public face: pairs of a collection, or between two
 *   between.c         what differs between two
 *   similar_each.c    pairs of documents from pairs of distinct ones */
#ifndef TWIN_JOIN_SIMILAR_PRIVATE_H
#define TWIN_JOIN_SIMILAR_PRIVATE_H

#include <twinsift/similar.h>

#include "join/candidates.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "lsh/bands.h"

/* ---- pairs of texts by edit distance, eight bytes each: there may be a hundred million of them */

/* A pair is one number, in the order of a, then b: documents a < b, 28 bits each, and how many characters one has
 * that the other has not, 8 bits. */
enum { TWIN__PACKED_DOCUMENTS = 1 << 28, TWIN__PACKED_INDELS = 255 };

static inline uint64_t twin__packed_pair(uint32_t a, uint32_t b, size_t indels)
{
    return (uint64_t)(a < b ? a : b) << 36 | (uint64_t)(a < b ? b : a) << 8 | indels;
}

static inline uint32_t twin__packed_a(uint64_t pair)
{
    return (uint32_t)(pair >> 36);
}

static inline uint32_t twin__packed_b(uint64_t pair)
{
    return (uint32_t)(pair >> 8) & (TWIN__PACKED_DOCUMENTS - 1);
}

static inline size_t twin__packed_indels(uint64_t pair)
{
    return pair & TWIN__PACKED_INDELS;
}

struct twin__packed_pairs {
    uint64_t *items;
    size_t count;
};

/* A pair as a match, with the indel ratio of the texts, whose lengths the collection knows; and all of them, added
 * (similar.c). */
twin_match twin__packed_match(uint64_t pair, const twin_collection *collection);
twin_status twin__packed_pairs_unpack(twin_matches *out, struct twin__packed_pairs pairs,
                                      const twin_collection *collection);

struct twin_similar {
    const twin_collection *collection;
    const twin_collection *other;     /* of which the second documents of pairs are; NULL: all are of the same */
    twin_measure measure;             /* by which they are similar, */
    double threshold;                 /* and how much at least; not for edits */
    twin_matches matches;             /* of distinct documents, sorted by a, then b */
    struct twin__packed_pairs packed; /* the same by edit distance; then there are no matches */
    twin_similar_counts counts;
};

/* ---- engine.c */

/* Adds the similar pairs among the documents of the provider to `out`, sorted by a, then b; `out` is empty before. The
 * same pairs whatever the executor is. A failure also fills `error`. */
twin_status twin__engine_find(twin_matches *out, twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_error *error);

/* TWIN_EINVAL and a sentence when the options, complete, do not go together. */
twin_status twin__engine_accepts(const twin_similar_options *options, twin_error *error);

/* Finds what some of the bands give; the measure is Jaccard similarity. */
twin_status twin__engine_find_bands(struct twin__bands_found *out, const struct twin__provider *provider,
                                    const twin_similar_options *options, twin_part part);

/* ---- similar_each.c */

/* Visits the partners of one document, sorted, and empties the list. */
twin_status twin__similar_visit_partners(twin_matches *partners, twin_match_visit *visit, void *context);

/* ---- between.c */

/* Finds for each document of the first collection that has any similar one in the second at least one of these; the options
 * are for `existence_only`. */
twin_status twin__between_any(twin_matches *out, twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_error *error);

/* twin_similar_each() for pairs between two collections. */
twin_status twin__between_each(const twin_similar *similar, twin_copies copies, twin_match_visit *visit,
                               void *context);

/* ---- similar.c */

/* The pairs of distinct documents, sorted by a, then b; none if `spill_after` was set. Of two collections, documents of the
 * second are numbered behind those of the first. */
size_t twin__similar_matches(const twin_match **out, const twin_similar *similar);

/* ---- engine.c: from the documents of a provider to their similar pairs ---- */

/* similar.c: takes from the scheme what the options leave to it, and checks that all of it goes together. */
twin_status twin__similar_complete(twin_similar_options *options, const twin_scheme *own, twin_error *error);

/* Finds the similar pairs among the documents of the provider and then visits them, sorted by a, then b: the same
 * pairs whatever the executor is. With `spill_after` of the options no more are held in memory. TWIN_ESTOPPED
 * if the visit returned false. A failure also fills `error`. */
twin_status twin__engine_each(twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_match_visit *visit, void *context,
                              twin_error *error);

/* What is enough to decide which documents are kept, in an order of preference (twin__cluster_keepers). */
struct twin__deciding_options {
    const twin_similar_options *search; /* by Jaccard similarity or containment, verified exactly */

    bool chain; /* connected components are wanted: similar pairs that connect them, and no order */

    /* *out becomes all documents of the provider, of those listed the more preferred first; called once at most. */
    twin_status (*order)(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                         twin_error *error);
    void *context;
    bool by_number; /* that order is the one of their numbers */

    size_t most_room; /* for the sets of groups, about, in units of eight bytes; 0: a default */
};

/* The same for fewer pairs: of groups only as many as decide which documents are kept. From candidates that were found
 * before, which are used up: then only those of one part. Documents connected by candidates are in the same part, so
 * that each part can be joined by itself. NULL: they are found here, and it is the whole. */
struct twin__engine_part {
    struct twin__bands_found *found;
    twin_part part;
};
twin_status twin__engine_find_part(twin_matches *out, twin_similar_counts *counts,
                                   const struct twin__provider *provider,
                                   const struct twin__deciding_options *options, struct twin__engine_part part,
                                   twin_error *error);

#endif

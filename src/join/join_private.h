/* join_private.h — small things that many files of the join use: what they ask of a provider, copies
 * of a document. */
#ifndef TWIN_JOIN_JOIN_PRIVATE_H
#define TWIN_JOIN_JOIN_PRIVATE_H

#include <twinsift/similar.h>

#include "base/union_find.h"
#include "collection/provider.h"
#include "kernels/sort.h"

/* What is searched for. */
enum twin__join_mode {
    TWIN__JOIN_ALL,     /* all similar pairs */
    TWIN__JOIN_KEPT,    /* pairs from which it follows which documents are kept */
    TWIN__JOIN_CONNECT, /* pairs that connect components, and no others */
};

/* ---- switches ---- */

/* For tests alone, which see that each mechanism changes how long the join takes and not what it finds. {0}: as usual; a
 * mechanism that is true is left out, and what it replaces or avoids is done instead. Each is read in one place. */
struct twin__join_switches {
    enum { TWIN__GROUPS_CHOSEN, TWIN__GROUPS_JOINED, TWIN__GROUPS_LISTED } groups; /* that there are (groups.c) */
    bool large_buckets;           /* are made groups: with pairs alone there is none (engine.c) */
    bool loose_groups;            /* beside dense ones (groups.c) */
    bool deep_bands, drawn_bands; /* of a group; of all documents at low thresholds (deep_bands.c) */
    bool bucket_bits;             /* pass over pairs with too few equal slots (candidates.c) */
    bool gate;                    /* before the exact comparison (gate.c) */
    bool rounds;                  /* of pairs that may make others needless (pair_rounds.c) */
    bool dense_pairs;             /* are compared by the index of sets (verify.c) */
    bool tile_cache, item_tables; /* verify_tiles.c */
    bool frequent_items;          /* are bits; all are listed (items.c) */
    /* set_index.c: bounds on what is compared; and only as many posting lists as are enough, the shorter. */
    bool block_bits, margin, hits, short_lists;
    bool single_items;  /* are left out after the first phase (set_batch.c) */
    bool small_batches; /* while a group may become connected (set_join.c) */
    bool bound;         /* on comparisons in vain (set_join.c) */
    /* By containment (engine.c, containment_probes.c); probes, not all items. */
    bool contained_first, colours, probes;
};
extern struct twin__join_switches twin__switched_off;

/* What a join adds to. */
struct twin__join_counts {
    uint64_t compared; /* pairs */
    uint64_t
        incomplete; /* documents for which so many others were looked at in vain that some may have been missed */
};

/* ---- documents of a provider ---- */

/* Whether the pair is wanted. */
static inline bool twin__provider_wants(const struct twin__provider *provider, uint32_t a, uint32_t b)
{
    return provider->split == 0 || (a < provider->split) != (b < provider->split);
}

static inline const uint32_t *twin__provider_signature(const struct twin__provider *provider, uint32_t document)
{
    if (provider->spill)
        twin__spill_touch(provider->spill, TWIN__SPILL_AROUND);
    return provider->signatures.rows + (size_t)document * provider->signatures.slots;
}

/* How many slots of two documents' signatures are equal. */
static inline size_t twin__provider_agreement(const struct twin__provider *provider, uint32_t a, uint32_t b)
{
    return twin_minhash_agreement(twin__provider_signature(provider, a), twin__provider_signature(provider, b),
                                  provider->signatures.slots);
}

static inline twin_set twin__content_set(struct twin__content content)
{
    return (twin_set){ content.bytes, content.size / sizeof(uint64_t) };
}

/* The set of a document; it lives until the same worker fetches again. A failure also fills `error`. */
static inline twin_status twin__provider_set(twin_set *out, const struct twin__provider *provider, uint32_t document,
                                             int worker, twin_error *error)
{
    struct twin__content content;
    twin_status status = provider->fetch(&content, provider, document, worker, error);
    if (status == TWIN_OK)
        *out = twin__content_set(content);
    return status;
}

/* Its items, in any order, some perhaps more than once: where they need not be sorted. */
static inline twin_status twin__provider_items(twin_set *out, const struct twin__provider *provider,
                                               uint32_t document, int worker, twin_error *error)
{
    struct twin__content content;
    twin_status status = (provider->fetch_items ? provider->fetch_items : provider->fetch)(&content, provider,
                                                                                           document, worker, error);
    if (status == TWIN_OK)
        *out = twin__content_set(content);
    return status;
}

/* ---- sizes of tables ---- */

/* The least number of bits with which `count` places can be numbered, from `least` to `most`. */
static inline unsigned twin__bits_for(size_t count, unsigned least, unsigned most)
{
    unsigned bits = least;
    while (bits < most && (size_t)1 << bits < count)
        bits++;
    return bits;
}

/* ---- copies (similar_each.c): the documents that each stands for, by a set that they have in common, or as keeper ---- */

/* Those of document d are same[begins[d]] .. same[begins[d + 1] - 1], in increasing order. Begin with {0}, end with
 * twin__copies_clear(). */
struct twin__copies {
    size_t *begins;
    uint32_t *same;
};

/* firsts[i] is the document that stands for i. */
twin_status twin__copies_list(struct twin__copies *out, const uint32_t *firsts, size_t documents);
void twin__copies_clear(struct twin__copies *copies);

/* ---- cluster.c: groups from any matches ---- */

/* Connected components: group[i] becomes the smallest document that a chain of matches connects with i; i itself if
 * it has no match. `group` has room for `documents` numbers. TWIN_EINVAL when a match names a document that does not
 * exist. */
twin_status twin__cluster_components(uint32_t *group, size_t documents, const twin_match *matches, size_t count);

/* Which documents are kept when near-duplicates are dropped. Documents are considered in the given order (order[0]
 * first; NULL: 0, 1, 2, …). One that has not been dropped is kept, and the documents that it matches directly are
 * dropped for it; chains of matches do not count. keeper[i] becomes the document that is kept for i, i itself if it is
 * kept; similarity[i], unless `similarity` is NULL, the similarity of the two (1 if i is kept). */
twin_status twin__cluster_keepers(uint32_t *keeper, double *similarity, size_t documents, const twin_match *matches,
                                  size_t count, const uint32_t *order);

/* ---- gate.c: the signature gate: which candidate pairs are worth their exact similarity ----
 *
 * Two sets of Jaccard similarity J agree in each of k slots with probability J, so the share of equal slots has mean J
 * and variance J(1 - J)/k. A pair passes when it has no fewer equal slots than lie four standard errors below what
 * is expected at the threshold. Of true pairs at the threshold about 3 in 100,000 are lost; exactly, with 128 slots, up
 * to 8 for thresholds up to 0.9, and 33 at 0.99, where the distribution is skewed. Of pairs above the threshold fewer
 * are lost, and of those far below it hardly any has to be fetched and compared. Where nothing follows the gate, the
 * estimate itself must reach the threshold. */
/* The least number of equal slots at which a pair of this Jaccard similarity is worth comparing. */
size_t twin__gate_least(double similarity, size_t slots);

/* The least number of equal slots at which the estimate reaches this similarity. */
size_t twin__gate_least_estimated(double similarity, size_t slots);

struct twin__gate {
    size_t slots;
    size_t least; /* equal slots of any pair; 0: no pair is refused */
};

/* The gate before `verify`. */
struct twin__gate twin__gate_make(twin_measure measure, double threshold, twin_verify verify, size_t slots);

bool twin__gate_passes(const struct twin__gate *gate, const struct twin__provider *provider, uint32_t a, uint32_t b);

/* ---- signatures as sets ---- */

/* So what joins sets can join signatures. The set of a signature has an item for each slot and its value. Two of them have
 * as many items in common as the signatures have equal slots. */

/* Borrows the provider, and has a buffer for each of `workers` workers; end with twin__signature_provider_clear(). */
twin_status twin__signature_provider(struct twin__provider *out, const struct twin__provider *of, int workers);
void twin__signature_provider_clear(struct twin__provider *provider);

/* The Jaccard similarity that such sets have if and only if `least` of their slots are equal or more, and the number of
 * slots that are equal if it is `similarity`. */
double twin__signature_threshold(size_t least, size_t slots);
size_t twin__signature_equal(double similarity, size_t slots);

#endif

/* provider.h — documents that can be joined, wherever they are.
 *
 * Candidates, gate and verifier see documents through this and nothing else: a collection read from files
 * (twin__collection_provider), the sets of an index (index/view_provider.c), and whatever comes later, such as
 * signatures spilled to disk. Signatures are one array because kernels, and one day a GPU, take them in batches; sets
 * and texts are fetched one at a time because they may have to be read again from where they came. */
#ifndef TWIN_COLLECTION_PROVIDER_H
#define TWIN_COLLECTION_PROVIDER_H

#include "lsh/bands.h"
#include <twinsift/collection.h>

#include "base/spill.h"

/* What a document is compared by: the items of its set, or its normalised text. */
struct twin__content {
    const void *bytes;
    size_t size; /* in bytes */
};

struct twin__provider {
    size_t count; /* documents are numbered from 0 to count - 1 */
    twin_signatures
        signatures; /* of all documents; lists those to be joined. No rows where only texts are provided. */

    /* The number of items of a document's set; 0 when it is not known. */
    uint64_t (*size)(const struct twin__provider *provider, uint32_t document);

    /* The content of a document. It lives until the same worker fetches again. A failure also fills `error`. */
    twin_status (*fetch)(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error);

    /* The items of a document's set, in any order, some perhaps more than once: faster than the set. As fetch()
     * otherwise. NULL: there are only sets, or texts. */
    twin_status (*fetch_items)(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                               int worker, twin_error *error);

    /* Whether a document's set is too large to be fetched; and the similarity of two documents of which one is. NULL:
     * none is. */
    bool (*is_long)(const struct twin__provider *provider, uint32_t document);
    twin_status (*compare_long)(double *out, const struct twin__provider *provider, const uint32_t documents[2],
                                twin_measure measure, int worker, twin_error *error);

    struct twin__spill *spill; /* the file in which the signatures are; NULL: in memory */
    void *context;             /* the implementation's own */

    uint32_t split; /* unless 0, only pairs of a document below this and one from it on are wanted */
};

/* ---- a collection as a provider of sets, or of texts if it was read as texts */

/* It borrows the collection, and has a scratch for each of `workers` workers; end with
 * twin__collection_provider_clear(). `other`, unless NULL, is a collection with the same scheme, of sets or texts like the first:
 * its documents are numbered after those of the first, and pairs between the two are wanted. Signatures have to be one
 * array, so both are copied, to a file if the first may not take so much memory: TWIN_EIO and errno when that fails. */
twin_status twin__collection_provider(struct twin__provider *out, const twin_collection *collection,
                                      const twin_collection *other, int workers);
void twin__collection_provider_clear(struct twin__provider *provider);

#endif

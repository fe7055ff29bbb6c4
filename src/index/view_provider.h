/* view_provider.h — the sets of an index as a provider of the join. */
#ifndef TWIN_INDEX_VIEW_PROVIDER_H
#define TWIN_INDEX_VIEW_PROVIDER_H

#include "collection/provider.h"
#include "index/view.h"

/* Sets that are not empty; the provider's documents are their positions in `sets`. */
struct twin__index_provider {
    struct twin__provider provider;
    twin_index_view **views; /* borrowed: a view per worker */
    struct twin__index_provided_set {
        uint64_t number, size;
        uint64_t first;   /* the first document that has it */
        uint64_t members; /* how many have */
    } * sets;
    uint32_t *signatures, *documents;
    size_t count, capacity, signature_capacity;
};
twin_status twin__index_provider_init(struct twin__index_provider *out, twin_index_view **views, twin_error *error);
void twin__index_provider_clear(struct twin__index_provider *sets);

#endif

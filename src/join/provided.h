/* provided.h — what the join asks of a provider. */
#ifndef TWIN_JOIN_PROVIDED_H
#define TWIN_JOIN_PROVIDED_H

#include "collection/provider.h"

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

/* Its items, in any order, some perhaps more than once: for whoever does not need them sorted. */
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

#endif

/* join_private.h — small things that many files of the join use: what they ask of a provider, sorting, disjoint sets,
 * copies of a document. */
#ifndef TWIN_JOIN_JOIN_PRIVATE_H
#define TWIN_JOIN_JOIN_PRIVATE_H

#include <stdlib.h>
#include <twinsift/similar.h>

#include "collection/provider.h"
#include "kernels/sort.h"

/* What is searched for. */
enum twin__join_mode {
    TWIN__JOIN_ALL,     /* all similar pairs */
    TWIN__JOIN_KEPT,    /* pairs from which it follows which documents are kept */
    TWIN__JOIN_CONNECT, /* pairs that connect components, and no others */
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

/* ---- sorting, sizes of tables ---- */

/* Sorts the numbers; false when out of memory: then they are as they were. */
static inline bool twin__sort_numbers(uint64_t *items, size_t count)
{
    uint64_t *spare = malloc((count + 1) * sizeof *spare);
    if (!spare)
        return false;
    twin__sort(items, count, spare, count);
    free(spare);
    return true;
}

/* The least number of bits with which `count` places can be numbered, from `least` to `most`. */
static inline unsigned twin__bits_for(size_t count, unsigned least, unsigned most)
{
    unsigned bits = least;
    while (bits < most && (size_t)1 << bits < count)
        bits++;
    return bits;
}

/* ---- disjoint sets: parent[i] starts as i, and the root of a group is its least member ---- */

/* Path halving (Tarjan and van Leeuwen 1984): each step also shortens the path for later searches. */
static inline uint32_t twin__union_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The same where other threads search too: nothing is changed. */
static inline uint32_t twin__union_find(const uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

static inline void twin__union_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = twin__union_root(parent, a);
    b = twin__union_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
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

#endif

/* preference.c — the order in which documents are preferred.
 *
 * What a rule looks at is not kept by a collection, so the documents are read again, in parallel, each into a key.
 * Only documents that are similar to some other come here. */
#include "dedup/preference.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Smaller keys are preferred. */
struct key {
    uint64_t value;
    twin_digest digest; /* of the text as it is in the input */
    twin_text id;
    uint32_t document;
};

struct keys {
    const twin_collection *collection;
    twin_preference preference;
    struct key *items;
    twin_scratch *scratches; /* one per worker */
    struct twin__first_failure failure;
};

static uint64_t value_of(const twin_document *document, twin_preference preference)
{
    uint64_t length = document->text.length;
    return preference == TWIN_PREFER_LONGEST ? UINT64_MAX - length : length;
}

static void make_keys(void *context, size_t begin, size_t end, int worker)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    struct keys *keys = context;
    for (size_t i = begin; i < end; i++) {
        struct key *key = &keys->items[i];
        twin_document document;
        twin_error error = { 0 };
        if (twin_collection_document(&document, keys->collection, &keys->scratches[worker], key->document, &error) !=
            TWIN_OK) {
            twin__keep_first_failure(&keys->failure, i, &error);
            return;
        }
        key->value = value_of(&document, keys->preference);
        key->digest = twin_hash_digest(plain, document.text.bytes, document.text.length);
        key->id = twin_collection_id(NULL, keys->collection, key->document);
    }
}

static int compare_ids(twin_text a, twin_text b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->digest.high != y->digest.high)
        return x->digest.high < y->digest.high ? -1 : 1;
    if (x->digest.low != y->digest.low)
        return x->digest.low < y->digest.low ? -1 : 1;
    int order = compare_ids(x->id, y->id);
    return order ? order : (x->document > y->document) - (x->document < y->document);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static twin_status sort_by_keys(uint32_t *documents, size_t count, struct keys *keys, twin_exec exec,
                                twin_error *error)
{
    enum { PIECE = 64 };
    for (size_t i = 0; i < count; i++)
        keys->items[i].document = documents[i];
    twin_exec_for(exec, count, PIECE, make_keys, keys);
    twin_status status = twin__first_failure(error, &keys->failure);
    if (status != TWIN_OK)
        return status;
    qsort(keys->items, count, sizeof *keys->items, by_key);
    for (size_t i = 0; i < count; i++)
        documents[i] = keys->items[i].document;
    return TWIN_OK;
}

twin_status twin__preference_sort(uint32_t *documents, size_t count, const twin_collection *collection,
                                  twin_preference preference, twin_exec exec, twin_error *error)
{
    if (count < 2)
        return TWIN_OK;
    if (preference == TWIN_PREFER_FIRST) {
        qsort(documents, count, sizeof *documents, by_number);
        return TWIN_OK;
    }
    struct keys keys = { .collection = collection, .preference = preference, .failure = TWIN__NO_FAILURE };
    keys.items = malloc(count * sizeof *keys.items);
    keys.scratches = calloc((size_t)exec.workers, sizeof *keys.scratches);
    twin_status status =
        keys.items && keys.scratches ? sort_by_keys(documents, count, &keys, exec, error) : twin__fail_memory(error);
    for (int i = 0; keys.scratches && i < exec.workers; i++)
        twin_scratch_clear(&keys.scratches[i]);
    free(keys.scratches);
    free(keys.items);
    return status;
}

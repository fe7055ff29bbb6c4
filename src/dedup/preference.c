/* preference.c — the order in which documents are preferred.
 *
 * What a rule looks at is not kept by a collection, so the documents are read again, in parallel, each into a key.
 * Only documents that are similar to some other come here. */
#include "dedup/preference.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"

/* Smaller keys are preferred. */
struct key {
    uint64_t value;     /* of LONGEST and SHORTEST */
    char *copy;         /* of the field's value */
    twin_text field;    /* of MOST and LEAST; NULL bytes: missing */
    long double number; /* what it is if it is a number: ids and times in nanoseconds need 64 bits */
    bool is_number;
    bool is_reversed;   /* MOST: larger ones are preferred */
    twin_digest digest; /* of the text as it is in the input */
    twin_text id;
    uint32_t document;
};

struct keys {
    const twin_collection *collection;
    struct twin__preference preference;
    struct key *items;
    size_t count;
    atomic_size_t done;
    twin_scratch *scratches;  /* one per worker */
    twin_read_buffers *rooms; /* for fields, likewise */
};

static uint64_t value_of(const twin_document *document, twin_preference preference)
{
    uint64_t length = document->text.length;
    return preference == TWIN_PREFER_LONGEST ? UINT64_MAX - length : length;
}

/* With a decimal point, whatever the locale of the program. */
static twin_status read_number(struct key *key, twin_error *error)
{
    char *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return twin__fail_memory(error);
    key->number = strtold_l(key->field.bytes, &end, plain);
    key->is_number =
        key->field.length > 0 && end == key->field.bytes + key->field.length && key->number == key->number;
    freelocale(plain);
    return TWIN_OK;
}

static twin_status take_field(struct key *key, const struct keys *keys, const twin_document *document, int worker,
                              twin_error *error)
{
    twin_text value;
    twin_status status = twin_input_field(&value, twin_collection_input(keys->collection), &keys->rooms[worker],
                                          document, keys->preference.field, error);
    if (status != TWIN_OK || !value.bytes)
        return status;
    char *copy = malloc(value.length + 1);
    if (!copy)
        return twin__fail_memory(error);
    memcpy(copy, value.bytes, value.length);
    copy[value.length] = '\0';
    key->copy = copy;
    key->field = (twin_text){ copy, value.length };
    return read_number(key, error);
}

static twin_status make_key(struct key *key, const struct keys *keys, int worker, twin_error *error)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    twin_document document;
    twin_status status =
        twin_collection_document(&document, keys->collection, &keys->scratches[worker], key->document, error);
    if (status != TWIN_OK)
        return status;
    key->digest = twin_hash_digest(plain, document.text.bytes, document.text.length);
    key->id = twin_collection_id(NULL, keys->collection, key->document);
    key->is_reversed = keys->preference.rule == TWIN_PREFER_MOST;
    if (keys->preference.field)
        return take_field(key, keys, &document, worker, error);
    key->value = value_of(&document, keys->preference.rule);
    return TWIN_OK;
}

static twin_status make_keys(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct keys *keys = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = make_key(&keys->items[i], keys, worker, error);
    twin_progress progress = keys->preference.progress;
    size_t done = atomic_fetch_add(&keys->done, end - begin) + end - begin;
    if (progress.report)
        progress.report(progress.context, &twin__stage_ordering, done, keys->count);
    return status;
}

static int compare_texts(twin_text a, twin_text b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* Missing fields last, numbers before other values. */
static int compare_fields(const struct key *x, const struct key *y)
{
    if (!x->field.bytes || !y->field.bytes)
        return (x->field.bytes == NULL) - (y->field.bytes == NULL);
    int order = x->is_number != y->is_number ? (x->is_number ? -1 : 1)
                : x->is_number               ? (x->number > y->number) - (x->number < y->number)
                                             : compare_texts(x->field, y->field);
    return x->is_reversed ? -order : order;
}

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int field = compare_fields(x, y);
    if (field)
        return field;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->digest.high != y->digest.high)
        return x->digest.high < y->digest.high ? -1 : 1;
    if (x->digest.low != y->digest.low)
        return x->digest.low < y->digest.low ? -1 : 1;
    int order = compare_texts(x->id, y->id);
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
        keys->items[i] = (struct key){ .document = documents[i] };
    twin_status status = twin__exec_try(exec, count, PIECE, make_keys, keys, error);
    if (status != TWIN_OK)
        return status;
    qsort(keys->items, count, sizeof *keys->items, by_key);
    size_t without_field = 0;
    for (size_t i = 0; i < count; i++) {
        documents[i] = keys->items[i].document;
        without_field += keys->preference.field && !keys->items[i].field.bytes;
    }
    if (keys->preference.without_field)
        *keys->preference.without_field = without_field;
    return TWIN_OK;
}

twin_status twin__preference_sort(uint32_t *documents, size_t count, const twin_collection *collection,
                                  struct twin__preference preference, twin_exec exec, twin_error *error)
{
    if (count < 2)
        return TWIN_OK;
    if (preference.rule == TWIN_PREFER_FIRST) {
        qsort(documents, count, sizeof *documents, by_number);
        return TWIN_OK;
    }
    struct keys keys = { .collection = collection, .preference = preference, .count = count };
    keys.items = calloc(count, sizeof *keys.items);
    keys.scratches = calloc((size_t)exec.workers, sizeof *keys.scratches);
    keys.rooms = calloc((size_t)exec.workers, sizeof *keys.rooms);
    twin_status status = keys.items && keys.scratches && keys.rooms
                             ? sort_by_keys(documents, count, &keys, exec, error)
                             : twin__fail_memory(error);
    for (size_t i = 0; keys.items && i < count; i++)
        free(keys.items[i].copy);
    for (int i = 0; keys.scratches && keys.rooms && i < exec.workers; i++) {
        twin_scratch_clear(&keys.scratches[i]);
        twin_read_buffers_clear(&keys.rooms[i]);
    }
    free(keys.scratches);
    free(keys.rooms);
    free(keys.items);
    return status;
}

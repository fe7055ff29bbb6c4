/* preference.c — the order in which documents are preferred.
 *
 * What a rule looks at is not kept by a collection, so the documents are read again, in parallel, each into a key.
 * Only documents that are similar to some other come here. Where memory is limited, keys that fill their share of it
 * are sorted and written to a file, and in the end these runs are merged (preference_keys.h). */
#include "dedup/preference.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "dedup/preference_keys.h"
#include "input/documents.h"
#include "kernels/sort.h"

struct keys {
    const twin_collection *collection;
    struct twin__preference preference;
    struct twin__key *items;
    size_t first, room, most_bytes; /* items from `first` on are being made; as many as fit; and of their fields */
    size_t total;                   /* of all documents to be sorted */
    atomic_size_t done, field_bytes;
    twin_scratch *scratches;  /* one per worker */
    twin_read_buffers *rooms; /* for fields, likewise */
    struct twin__key_runs runs;
};

static uint64_t value_of(const twin_document *document, twin_preference preference)
{
    uint64_t length = document->text.length;
    return preference == TWIN_PREFER_LONGEST ? UINT64_MAX - length : length;
}

/* With a decimal point, whatever the locale of the program. */
static twin_status read_field_number(struct twin__key *key, twin_error *error)
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

static twin_status take_field(struct twin__key *key, struct keys *keys, const twin_document *document, int worker,
                              twin_error *error)
{
    twin_text value;
    twin_status status = twin__input_field(&value, twin__collection_input(keys->collection), &keys->rooms[worker],
                                           document, keys->preference.field, error);
    if (status != TWIN_OK || !value.bytes)
        return status;
    char *copy = malloc(value.length + 1);
    if (!copy)
        return twin__fail_memory(error);
    memcpy(copy, value.bytes, value.length);
    copy[value.length] = '\0';
    key->field.bytes = copy;
    key->field.length = value.length;
    atomic_fetch_add_explicit(&keys->field_bytes, value.length + 1, memory_order_relaxed);
    return read_field_number(key, error);
}

static twin_status make_key(struct twin__key *key, struct keys *keys, int worker, twin_error *error)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    twin_document document;
    twin_status status =
        twin__collection_document(&document, keys->collection, &keys->scratches[worker], key->document, error);
    if (status != TWIN_OK)
        return status;
    key->digest = twin_hash_digest(plain, document.text.bytes, document.text.length);
    key->id = twin_collection_entry_of(keys->collection, key->document).id;
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
        status = make_key(&keys->items[keys->first + i], keys, worker, error);
    size_t done = atomic_fetch_add(&keys->done, end - begin) + end - begin;
    return status == TWIN_OK ? twin__report(&twin__stage_ordering, done, keys->total) : status;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_number_descending(const void *a, const void *b)
{
    return by_number(b, a);
}

enum { FEWEST = 1024 }; /* keys, however little memory there is */

/* Makes the keys of as many of the documents as have room; *count becomes how many these are. */
static twin_status fill_keys(size_t *count, struct keys *keys, const uint32_t *documents, twin_exec exec,
                             twin_error *error)
{
    enum { PIECE = 64 };
    const size_t wanted = *count < keys->room ? *count : keys->room;
    const size_t step = keys->most_bytes == SIZE_MAX ? wanted : FEWEST;
    twin_status status = TWIN_OK;
    *count = 0;
    while (*count < wanted && status == TWIN_OK && atomic_load(&keys->field_bytes) <= keys->most_bytes) {
        size_t some = wanted - *count < step ? wanted - *count : step;
        keys->first = *count;
        for (size_t i = 0; i < some; i++)
            keys->items[*count + i] = (struct twin__key){ .document = documents[*count + i] };
        *count += some;
        status = twin__exec_try(exec, some, PIECE, make_keys, keys, error);
    }
    return status;
}

static void free_fields(struct keys *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)keys->items[i].field.bytes);
    atomic_store(&keys->field_bytes, 0);
}

/* All keys fit into memory, or the first, or the next of them go to a file. */
static twin_status sort_some(uint32_t *documents, size_t *count, size_t *without_field, struct keys *keys,
                             twin_exec exec, twin_error *error)
{
    size_t left = *count;
    twin_status status = fill_keys(count, keys, documents, exec, error);
    if (status == TWIN_OK)
        qsort(keys->items, *count, sizeof *keys->items, twin__key_compare);
    if (status == TWIN_OK && (*count < left || keys->runs.count))
        status = twin__key_runs_write(&keys->runs, keys->items, *count, error);
    for (size_t i = 0; i < *count && status == TWIN_OK && !keys->runs.count; i++) {
        documents[i] = keys->items[i].document;
        *without_field += !keys->items[i].field.bytes;
    }
    free_fields(keys, *count);
    return status;
}

static twin_status sort_by_keys(uint32_t *documents, struct keys *keys, twin_exec exec, twin_error *error)
{
    size_t without_field = 0;
    twin_status status = TWIN_OK;
    for (size_t done = 0, count; done < keys->total && status == TWIN_OK; done += count) {
        count = keys->total - done;
        status = sort_some(documents + done, &count, &without_field, keys, exec, error);
    }
    if (status == TWIN_OK && keys->runs.count) {
        free(keys->items);
        keys->items = NULL;
        status = twin__key_runs_merge(documents, &without_field, &keys->runs, keys->collection, error);
    }
    if (status == TWIN_OK && keys->preference.without_field)
        *keys->preference.without_field = keys->preference.field ? without_field : 0;
    return status;
}

/* A quarter of the memory is for keys and fields; matches and numbers per document have the rest. */
static void set_room(struct keys *keys, size_t memory)
{
    enum { SHARE = 8 };
    keys->room = keys->total;
    keys->most_bytes = SIZE_MAX;
    if (memory == 0)
        return;
    size_t fit = memory / SHARE / sizeof *keys->items * (keys->preference.field ? 1 : 2);
    fit = fit > FEWEST ? fit : FEWEST;
    keys->room = keys->room < fit ? keys->room : fit;
    keys->most_bytes = memory / SHARE;
}

static twin_status sort_by_rule(uint32_t *documents, size_t count, const twin_collection *collection,
                                struct twin__preference preference, twin_exec exec, twin_error *error)
{
    if (count < 2)
        return TWIN_OK;
    if (preference.rule == TWIN_PREFER_FIRST || preference.rule == TWIN_PREFER_LAST) {
        qsort(documents, count, sizeof *documents,
              preference.rule == TWIN_PREFER_FIRST ? by_number : by_number_descending);
        return TWIN_OK;
    }
    struct keys keys = { .collection = collection, .preference = preference, .total = count };
    keys.runs = (struct twin__key_runs){ .folder = preference.folder ? preference.folder : "/tmp", .fd = -1 };
    set_room(&keys, preference.memory_bytes);
    keys.items = calloc(keys.room, sizeof *keys.items);
    keys.scratches = calloc((size_t)exec.workers, sizeof *keys.scratches);
    keys.rooms = calloc((size_t)exec.workers, sizeof *keys.rooms);
    twin_status status = keys.items && keys.scratches && keys.rooms ? sort_by_keys(documents, &keys, exec, error)
                                                                    : twin__fail_memory(error);
    for (int i = 0; keys.scratches && keys.rooms && i < exec.workers; i++) {
        twin__scratch_clear(&keys.scratches[i]);
        twin__read_buffers_clear(&keys.rooms[i]);
    }
    twin__key_runs_clear(&keys.runs);
    free(keys.scratches);
    free(keys.rooms);
    free(keys.items);
    return status;
}

/* The documents of one rank lie between others, and are put in order among themselves. */
static twin_status sort_equal(uint32_t *documents, const uint64_t *keys, size_t count,
                              const twin_collection *collection, struct twin__preference preference, twin_exec exec,
                              twin_error *error)
{
    size_t *const without_field = preference.without_field, some = 0, all = 0;
    preference.without_field = &some;
    twin_status status = TWIN_OK;
    for (size_t begin = 0, end; begin < count && status == TWIN_OK; begin = end) {
        for (end = begin; end < count && keys[end] >> 32 == keys[begin] >> 32; end++)
            documents[end] = (uint32_t)keys[end];
        some = 0;
        status = sort_by_rule(documents + begin, end - begin, collection, preference, exec, error);
        all += some;
    }
    if (status == TWIN_OK && without_field)
        *without_field = all;
    return status;
}

twin_status twin__preference_sort(uint32_t *documents, size_t count, const twin_collection *collection,
                                  struct twin__preference preference, twin_exec exec, twin_error *error)
{
    if (!preference.ranks)
        return sort_by_rule(documents, count, collection, preference, exec, error);
    uint64_t *keys = malloc((2 * count + 1) * sizeof *keys);
    if (!keys)
        return twin__fail_memory(error);
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t)preference.ranks[documents[i]] << 32 | documents[i];
    twin__sort(keys, count, keys + count, count);
    twin_status status = sort_equal(documents, keys, count, collection, preference, exec, error);
    free(keys);
    return status;
}

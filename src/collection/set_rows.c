/* set_rows.c — sets that come as rows "set element": gathered under their names, kept whole, signed.
 *
 * Workers hash names and elements of their chunks. In the order of the input each name gets the number of its set, by
 * a hash table, and the row becomes a pair of that number and the element. At the end the elements of each set are
 * brought together by counting, and workers sort and sign the sets. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "collection/collection_private.h"
#include "sketch/set.h"

struct twin__set_rows {
    /* The sets, numbered as they first appear; their names are the collection's ids. */
    struct name {
        uint64_t hash;
        size_t begin;
        uint32_t length;
    } * names;
    size_t count, name_capacity;
    uint32_t *table; /* open addressing by name hash: a set's number plus one, or 0 */
    size_t table_size;

    /* The rows as they came; afterwards each set's elements together, set s from start[s], size[s] of them. */
    uint32_t *row_set;
    uint64_t *element;
    size_t row_count, set_capacity, element_capacity;
    size_t *start, *size;
};

twin_set twin__set_rows_get(const struct twin__set_rows *rows, uint32_t set)
{
    return (twin_set){ rows->element + rows->start[set], rows->size[set] };
}

void twin__set_rows_free(struct twin__set_rows *rows)
{
    if (!rows)
        return;
    free(rows->names);
    free(rows->table);
    free(rows->row_set);
    free(rows->element);
    free(rows->start);
    free(rows->size);
    free(rows);
}

/* By any worker: hashes the name and the element of a row. */
static twin_status add_row(struct twin__chunk_result *result, const twin_document *row)
{
    if (!TWIN__ARRAY_GROW(&result->rows, &result->row_capacity, result->row_count, 1))
        return TWIN_ENOMEM;
    size_t name = result->ids.length;
    twin_status status = twin_buffer_append(&result->ids, row->id.bytes, row->id.length);
    if (status != TWIN_OK)
        return status;
    result->rows[result->row_count++] = (struct twin__set_row){
        .name_hash = twin__id_hash(row->id),
        .element = twin_hash_bytes(twin_signer_scheme(result->collection->signer)->shingle.hash, row->text.bytes,
                                   row->text.length),
        .name = name,
        .name_length = (uint32_t)row->id.length,
        .weight = row->weight ? row->weight : 1,
    };
    result->bytes += row->record.length;
    return TWIN_OK;
}

static size_t find_slot(const struct twin__set_rows *rows, const char *ids, uint64_t hash, twin_text name)
{
    size_t mask = rows->table_size - 1, slot = hash & mask;
    for (; rows->table[slot]; slot = (slot + 1) & mask) {
        const struct name *known = &rows->names[rows->table[slot] - 1];
        if (known->hash == hash && known->length == name.length &&
            memcmp(ids + known->begin, name.bytes, name.length) == 0)
            break;
    }
    return slot;
}

static twin_status grow_table(struct twin__set_rows *rows)
{
    if (rows->count * 2 < rows->table_size)
        return TWIN_OK;
    size_t size = rows->table_size ? rows->table_size * 2 : 1024;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return TWIN_ENOMEM;
    for (size_t set = 0; set < rows->count; set++) {
        size_t slot = rows->names[set].hash & (size - 1);
        while (table[slot])
            slot = (slot + 1) & (size - 1);
        table[slot] = (uint32_t)set + 1;
    }
    free(rows->table);
    rows->table = table;
    rows->table_size = size;
    return TWIN_OK;
}

/* The number of the set with this name, which is given one if it is new. */
static twin_status number_of_set(uint32_t *out, twin_collection *collection, uint64_t hash, twin_text name)
{
    struct twin__set_rows *rows = collection->rows;
    twin_status status = grow_table(rows);
    if (status != TWIN_OK)
        return status;
    size_t slot = find_slot(rows, collection->ids.bytes, hash, name);
    if (rows->table[slot]) {
        *out = rows->table[slot] - 1;
        return TWIN_OK;
    }
    if (rows->count == UINT32_MAX - 1)
        return TWIN_ELIMIT;
    if (!TWIN__ARRAY_GROW(&rows->names, &rows->name_capacity, rows->count, 1))
        return TWIN_ENOMEM;
    size_t begin = collection->ids.length;
    status = twin_buffer_append(&collection->ids, name.bytes, name.length);
    if (status != TWIN_OK)
        return status;
    rows->names[rows->count] = (struct name){ hash, begin, (uint32_t)name.length };
    *out = (uint32_t)rows->count++;
    rows->table[slot] = *out + 1;
    return TWIN_OK;
}

static twin_status append_rows(twin_collection *collection, struct twin__chunk_result *result,
                               struct twin__reader *reader, twin_error *error)
{
    (void)error;
    (void)reader; /* neither positions nor ids made from them are kept */
    struct twin__set_rows *rows = collection->rows;
    size_t items = 0;
    for (size_t i = 0; i < result->row_count; i++)
        items += result->rows[i].weight;
    if (!TWIN__ARRAY_GROW(&rows->row_set, &rows->set_capacity, rows->row_count, items) ||
        !TWIN__ARRAY_GROW(&rows->element, &rows->element_capacity, rows->row_count, items))
        return TWIN_ENOMEM;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct twin__set_row *row = &result->rows[i];
        twin_text name = { result->ids.bytes + row->name, row->name_length };
        uint32_t set;
        twin_status status = number_of_set(&set, collection, row->name_hash, name);
        if (status != TWIN_OK)
            return status;
        for (uint32_t copy = 0; copy < row->weight; copy++, rows->row_count++) {
            rows->row_set[rows->row_count] = set;
            rows->element[rows->row_count] = row->element;
        }
    }
    return TWIN_OK;
}

/* Brings the elements of each set together. */
static twin_status gather_rows(struct twin__set_rows *rows)
{
    rows->start = calloc(rows->count + 2, sizeof *rows->start);
    rows->size = calloc(rows->count + 1, sizeof *rows->size);
    uint64_t *grouped = malloc((rows->row_count + 1) * sizeof *grouped);
    if (!rows->start || !rows->size || !grouped) {
        free(grouped);
        return TWIN_ENOMEM;
    }
    for (size_t row = 0; row < rows->row_count; row++)
        rows->size[rows->row_set[row]]++;
    for (size_t set = 0; set < rows->count; set++)
        rows->start[set + 1] = rows->start[set] + rows->size[set];
    memset(rows->size, 0, rows->count * sizeof *rows->size);
    for (size_t row = 0; row < rows->row_count; row++) {
        uint32_t set = rows->row_set[row];
        grouped[rows->start[set] + rows->size[set]++] = rows->element[row];
    }
    free(rows->element);
    free(rows->row_set);
    rows->element = grouped;
    rows->row_set = NULL;
    return TWIN_OK;
}

struct signing {
    twin_collection *collection;
    twin_items *spare; /* one per worker */
    atomic_int status;
};

static void sign_sets(void *context, size_t begin, size_t end, int worker)
{
    struct signing *signing = context;
    twin_collection *collection = signing->collection;
    struct twin__set_rows *rows = collection->rows;
    for (size_t s = begin; s < end; s++) {
        twin_items items = { rows->element + rows->start[s], rows->size[s], rows->size[s] };
        twin_set set;
        twin_status status = twin_signer_scheme(collection->signer)->multiset
                                 ? twin__items_number(&items, &signing->spare[worker])
                                 : TWIN_OK;
        if (status == TWIN_OK)
            status = twin__set_make(&set, &items, &signing->spare[worker]);
        if (status != TWIN_OK) {
            atomic_store(&signing->status, status);
            return;
        }
        rows->size[s] = set.count;
        twin_signer_sign(collection->signatures + s * collection->slots, collection->signer, set.items, set.count);
        collection->entries[s] = (struct twin__entry){ .digest = twin__set_digest(set),
                                                       .id = rows->names[s].begin,
                                                       .id_length = rows->names[s].length,
                                                       .size = (uint32_t)set.count,
                                                       .has_id = true };
    }
}

static twin_status sign_all(twin_collection *collection, twin_exec exec)
{
    size_t count = collection->rows->count;
    if (!TWIN__ARRAY_GROW(&collection->entries, &collection->entry_capacity, 0, count) ||
        !TWIN__ARRAY_GROW(&collection->signatures, &collection->signature_capacity, 0, count * collection->slots))
        return TWIN_ENOMEM;
    struct signing signing = { .collection = collection };
    signing.spare = calloc((size_t)exec.workers, sizeof *signing.spare);
    if (!signing.spare)
        return TWIN_ENOMEM;
    twin_status status = twin__exec_run(exec, count, 64, sign_sets, &signing, NULL);
    for (int i = 0; i < exec.workers; i++)
        twin__items_clear(&signing.spare[i]);
    free(signing.spare);
    collection->count = count;
    return status == TWIN_OK ? (twin_status)atomic_load(&signing.status) : status;
}

twin_status twin__read_set_rows(twin_collection *collection, const twin_collection_options *options,
                                twin_error *error)
{
    collection->rows = calloc(1, sizeof *collection->rows);
    if (!collection->rows)
        return TWIN_ENOMEM;
    const struct twin__chunk_kind kind = { add_row, append_rows };
    twin_status status = twin__read_chunks(collection, kind, options, error);
    if (status == TWIN_OK)
        status = gather_rows(collection->rows);
    return status == TWIN_OK ? sign_all(collection, options->exec) : status;
}

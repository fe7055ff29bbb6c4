/* writer.c — the records of one transaction: what is there is found, and changed.
 *
 * What is looked up by hash (ids, digests of sets) is in sorted runs as earlier transactions left them, and in a hash
 * table for what this transaction has added; at the end its new postings become a run (postings.c). */
#include "index/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "index/verified.h"

twin_status twin__index_writer_open(struct twin__index_writer *writer, struct twin__index_writing *writing)
{
    const twin_index *index = writing->index;
    *writer = (struct twin__index_writer){ .writing = writing,
                                           .documents.first = writing->counts.next_document,
                                           .sets.first = writing->counts.next_set };
    writer->signature = malloc(twin__index_slots(&index->options) * sizeof *writer->signature);
    if (!writer->signature)
        return twin__fail_memory(writing->error);
    twin_status status = twin__store_cursor_open(&writer->members, writing->txn, TWIN__INDEX_MEMBERS, writing->error);
    if (status == TWIN_OK)
        status = twin__index_lists_get(&writer->ids, index, writing->txn, TWIN__INDEX_POSTINGS_OF_IDS, 0, 1,
                                       writing->error);
    if (status == TWIN_OK)
        status = twin__index_lists_get(&writer->digests, index, writing->txn, TWIN__INDEX_POSTINGS_OF_SETS,
                                       index->options.scheme.plan.bands, 1, writing->error);
    if (status == TWIN_OK)
        status = twin__index_lists_verify(index, &writer->ids, writing->error);
    if (status == TWIN_OK)
        status = twin__index_lists_verify(index, &writer->digests, writing->error);
    return status;
}

void twin__index_writer_close(struct twin__index_writer *writer)
{
    twin__store_cursor_close(&writer->members);
    twin__index_lists_clear(&writer->ids);
    twin__index_lists_clear(&writer->digests);
    free(writer->documents.list);
    free(writer->documents.table);
    free(writer->sets.list);
    free(writer->sets.table);
    twin__index_unwritten_clear(&writer->unwritten);
    twin_buffer_clear(&writer->record);
    free(writer->signature);
}

/* ---- new postings ---- */

static void enter_posting(struct twin__index_new_postings *all, size_t position)
{
    size_t slot = all->list[position].hash & (all->slots - 1);
    while (all->table[slot])
        slot = (slot + 1) & (all->slots - 1);
    all->table[slot] = (uint32_t)position + 1;
}

static bool grow_table(struct twin__index_new_postings *all)
{
    size_t slots = all->slots ? 2 * all->slots : 64;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return false;
    free(all->table);
    all->table = table;
    all->slots = slots;
    for (size_t i = 0; i < all->count; i++)
        enter_posting(all, i);
    return true;
}

bool twin__index_writer_add_posting(struct twin__index_new_postings *all, struct twin__index_new_posting posting)
{
    if (all->count >= UINT32_MAX / 2 || !TWIN__ARRAY_GROW(&all->list, &all->capacity, all->count, 1))
        return false;
    all->list[all->count] = posting;
    if (2 * (all->count + 1) >= all->slots && !grow_table(all))
        return false;
    enter_posting(all, all->count++);
    return true;
}

twin_status twin__index_writer_remove_posting(struct twin__index_writer *writer, struct twin__index_new_postings *all,
                                              enum twin__index_postings kind, uint64_t number)
{
    if (number < all->first)
        return twin__index_runs_mark_removed(writer->writing, kind, number);
    all->list[number - all->first].skip = true;
    return TWIN_OK;
}

/* ---- single records ---- */

twin_status twin__index_writer_damaged(const struct twin__index_writer *writer, const char *what)
{
    return twin__index_fail_damaged(writer->writing->error, writer->writing->index, what);
}

/* Writes writer->record. */
static twin_status put_record(struct twin__index_writer *writer, enum twin__index_table table, uint64_t number,
                              enum twin__store_put how)
{
    struct twin__bytes value = { writer->record.bytes, writer->record.length };
    return twin__store_put(writer->writing->txn, table, number, value, how, writer->writing->error);
}

twin_status twin__index_writer_delete_record(struct twin__index_writer *writer, enum twin__index_table table,
                                             uint64_t number)
{
    return twin__store_delete(writer->writing->txn, table, number, NULL, writer->writing->error);
}

twin_status twin__index_writer_put_member(struct twin__index_writer *writer, uint64_t set, uint32_t label,
                                          uint64_t document, enum twin__store_put how)
{
    unsigned char member[TWIN__INDEX_MEMBER_BYTES];
    twin__index_member_encode(member, label, document);
    return twin__store_put(writer->writing->txn, TWIN__INDEX_MEMBERS, set,
                           (struct twin__bytes){ member, sizeof member }, how, writer->writing->error);
}

twin_status twin__index_writer_delete_member(struct twin__index_writer *writer, uint64_t set, uint32_t label,
                                             uint64_t document)
{
    unsigned char member[TWIN__INDEX_MEMBER_BYTES];
    twin__index_member_encode(member, label, document);
    return twin__store_delete(writer->writing->txn, TWIN__INDEX_MEMBERS, set,
                              &(struct twin__bytes){ member, sizeof member }, writer->writing->error);
}

static struct twin__index_source source_of(const struct twin__index_writer *writer)
{
    return (struct twin__index_source){ writer->writing->index, writer->writing->txn };
}

twin_status twin__index_writer_get_document(struct twin__index_document_record *out, bool *found,
                                            struct twin__index_writer *writer, uint64_t number)
{
    return twin__index_get_document(out, found, source_of(writer), number, writer->writing->error);
}

twin_status twin__index_writer_get_set(struct twin__index_set_record *out, bool *found,
                                       struct twin__index_writer *writer, uint64_t number)
{
    return twin__index_get_set(out, found, writer->signature, source_of(writer), number, writer->writing->error);
}

twin_status twin__index_writer_put_set(struct twin__index_writer *writer, uint64_t number,
                                       const struct twin__index_set_record *set, const uint32_t *signature,
                                       enum twin__store_put how)
{
    size_t slots = twin__index_slots(&writer->writing->index->options);
    if (twin__index_set_encode(&writer->record, set, signature, slots) != TWIN_OK)
        return twin__fail_memory(writer->writing->error);
    return put_record(writer, TWIN__INDEX_SETS, number, how);
}

twin_status twin__index_writer_put_document(struct twin__index_writer *writer, uint64_t number,
                                            const struct twin__index_document_record *document,
                                            enum twin__store_put how)
{
    if (twin__index_document_encode(&writer->record, document) != TWIN_OK)
        return twin__fail_memory(writer->writing->error);
    return put_record(writer, TWIN__INDEX_DOCUMENTS, number, how);
}

/* ---- finding what is there ---- */

/* Called for each number with the hash; true ends the search. */
typedef twin_status is_it(bool *yes, struct twin__index_writer *writer, uint64_t number, const void *what);

static twin_status has_id(bool *yes, struct twin__index_writer *writer, uint64_t number, const void *what)
{
    const twin_text *id = what;
    struct twin__index_document_record document;
    twin_status status = twin__index_writer_get_document(&document, yes, writer, number);
    *yes = status == TWIN_OK && *yes && document.id.length == id->length &&
           memcmp(document.id.bytes, id->bytes, id->length) == 0;
    return status;
}

static twin_status has_digest(bool *yes, struct twin__index_writer *writer, uint64_t number, const void *what)
{
    const twin_digest *digest = what;
    struct twin__index_set_record set;
    twin_status status = twin__index_writer_get_set(&set, yes, writer, number);
    *yes = status == TWIN_OK && *yes && set.digest.low == digest->low && set.digest.high == digest->high;
    return status;
}

static twin_status search_new(bool *found, uint64_t *out, struct twin__index_writer *writer,
                              const struct twin__index_new_postings *all, uint32_t hash, is_it *visit,
                              const void *what)
{
    twin_status status = TWIN_OK;
    size_t slot = hash & (all->slots - 1);
    for (; all->slots && all->table[slot] && status == TWIN_OK; slot = (slot + 1) & (all->slots - 1)) {
        const struct twin__index_new_posting *posting = &all->list[all->table[slot] - 1];
        if (posting->hash != hash || posting->skip)
            continue;
        *out = posting->number;
        status = visit(found, writer, *out, what);
        if (*found)
            break;
    }
    return status;
}

static twin_status search_old(bool *found, uint64_t *out, struct twin__index_writer *writer,
                              const struct twin__index_lists *lists, uint32_t hash, is_it *visit, const void *what)
{
    twin_status status = TWIN_OK;
    for (size_t run = 0; run < lists->run_count; run++) {
        struct twin__index_list list = lists->lists[run];
        for (size_t i = twin__index_list_find(list, hash); i < list.count; i++) {
            uint64_t entry = twin__index_list_entry(list, i);
            if (entry >> 32 != hash)
                break;
            *out = lists->runs[run].first + (uint32_t)entry;
            status = visit(found, writer, *out, what);
            if (status != TWIN_OK || *found)
                return status;
        }
    }
    return status;
}

twin_status twin__index_writer_find_id(bool *found, uint64_t *out, struct twin__index_writer *writer, twin_text id,
                                       uint32_t hash, bool old)
{
    *found = false;
    twin_status status = search_new(found, out, writer, &writer->documents, hash, has_id, &id);
    return status != TWIN_OK || *found || !old ? status
                                               : search_old(found, out, writer, &writer->ids, hash, has_id, &id);
}

twin_status twin__index_writer_find_set(bool *found, uint64_t *out, struct twin__index_writer *writer,
                                        const struct twin__index_draft_entry *entry, bool old)
{
    uint32_t hash = twin__index_digest_hash(entry->digest);
    *found = false;
    if (entry->set_size == 0) {
        *found = writer->writing->counts.empty_set > 0;
        *out = writer->writing->counts.empty_set - 1;
        return TWIN_OK;
    }
    twin_status status = search_new(found, out, writer, &writer->sets, hash, has_digest, &entry->digest);
    return status != TWIN_OK || *found || !old
               ? status
               : search_old(found, out, writer, &writer->digests, hash, has_digest, &entry->digest);
}

/* ---- the end ---- */

twin_status twin__index_writer_finish_run(struct twin__index_writer *writer, struct twin__index_new_postings *all,
                                          enum twin__index_postings kind)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!all->list[i].skip)
            all->list[count++] = all->list[i];
    return twin__index_runs_append(writer->writing, kind, all->list, count);
}

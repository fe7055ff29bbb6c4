/* write.c — documents are added and removed, a batch in one transaction.
 *
 * Records with numbers that only grow are appended to their tables. The hashes of ids and digests of a whole batch
 * are looked up in the runs beforehand, in sorted order, so that for most documents one glance at a mark replaces a
 * search in every run. The records themselves, and how they are found, are in writer.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "index/blocks.h"
#include "index/draft.h"
#include "index/writer.h"
#include "kernels/sort.h"

/* ---- looking ahead ---- */

/* Which entries of a batch have an id or a digest whose hash is in a run. Most have none. Looked up one by one, each
 * would wait for memory in every run; in the order of their hashes all are found in one walk. */
enum { OLD_ID = 1, OLD_SET = 2 };

struct ahead {
    unsigned char *marks; /* of each entry */
    uint64_t *keys;       /* its hash in the high half, its position in the low */
    uint64_t *spare;
    size_t count;
};

static void mark_old(struct ahead *ahead, const struct twin__index_lists *lists, unsigned char mark)
{
    twin__sort(ahead->keys, ahead->count, ahead->spare, ahead->count);
    for (size_t run = 0; run < lists->run_count; run++) {
        struct twin__index_list list = lists->lists[run];
        size_t at = 0;
        for (size_t i = 0; i < ahead->count; i++) {
            uint32_t hash = (uint32_t)(ahead->keys[i] >> 32);
            at = twin__index_list_find_from(list, at, hash);
            if (at < list.count && twin__index_list_entry(list, at) >> 32 == hash)
                ahead->marks[(uint32_t)ahead->keys[i]] |= mark;
        }
    }
}

static void look_ahead(struct ahead *ahead, const struct twin__index_writer *writer,
                       const struct twin__index_batch *batch)
{
    for (int which = 0; which < 2; which++) {
        ahead->count = 0;
        for (size_t i = 0; i < batch->draft_count; i++)
            for (size_t j = batch->drafts[i].begin; j < batch->drafts[i].count; j++) {
                const struct twin__index_draft_entry *entry = &batch->drafts[i].entries[j];
                twin_text id = { batch->drafts[i].bytes.bytes + entry->id, entry->id_length };
                uint64_t hash =
                    which ? twin__index_digest_hash(entry->digest) : twin__index_id_hash(writer->writing->index, id);
                ahead->keys[ahead->count] = hash << 32 | ahead->count;
                ahead->count++;
            }
        mark_old(ahead, which ? &writer->digests : &writer->ids, which ? OLD_SET : OLD_ID);
    }
}

/* ---- removing ---- */

static twin_status remove_set(struct twin__index_writer *writer, uint64_t number,
                              const struct twin__index_set_record *set)
{
    bool kept = writer->writing->index->options.keep != TWIN_KEEP_NONE && set->size > 0;
    twin_status status = twin__index_writer_delete_record(writer, TWIN__INDEX_SETS, number);
    if (status == TWIN_OK && kept)
        status = twin__index_blocks_remove(writer->writing, &writer->unwritten, number);
    if (status != TWIN_OK)
        return status;
    writer->writing->counts.sets--;
    if (set->size)
        return twin__index_writer_remove_posting(writer, &writer->sets, TWIN__INDEX_POSTINGS_OF_SETS, number);
    writer->writing->counts.empty_set = 0;
    return TWIN_OK;
}

/* The smallest number among the members, which are sorted by label: the first of each label is compared. */
static twin_status find_first(uint64_t *out, struct twin__index_writer *writer, uint64_t set)
{
    struct twin__store_record member;
    twin_error *error = writer->writing->error;
    *out = UINT64_MAX;
    twin_status status = twin__store_seek(&member, &writer->members, set, TWIN__STORE_AT, error);
    while (status == TWIN_OK && member.value.at) {
        unsigned char next[TWIN__INDEX_MEMBER_BYTES];
        uint32_t label;
        uint64_t document;
        if (!twin__index_member_decode(&label, &document, member.value))
            return twin__index_writer_damaged(writer, "a member of a set is not what it should be");
        *out = document < *out ? document : *out;
        if (label == UINT32_MAX)
            return TWIN_OK;
        twin__index_member_encode(next, label + 1, 0);
        status =
            twin__store_seek_value(&member, &writer->members, set, (struct twin__bytes){ next, sizeof next }, error);
    }
    return status;
}

static twin_status leave_set(struct twin__index_writer *writer, uint64_t number, uint64_t document)
{
    struct twin__index_set_record set;
    twin_status status = twin__index_writer_get_set(&set, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    writer->writing->counts.too_short -= set.size == 0;
    if (set.members <= 1)
        return remove_set(writer, number, &set);
    set.members--;
    if (set.first == document)
        status = find_first(&set.first, writer, number);
    return status == TWIN_OK ? twin__index_writer_put_set(writer, number, &set, writer->signature, TWIN__STORE_SET)
                             : status;
}

static twin_status remove_document(struct twin__index_writer *writer, uint64_t number)
{
    struct twin__index_document_record document;
    twin_status status = twin__index_writer_get_document(&document, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    status = twin__index_writer_delete_record(writer, TWIN__INDEX_DOCUMENTS, number);
    if (status == TWIN_OK)
        status = twin__index_writer_remove_posting(writer, &writer->documents, TWIN__INDEX_POSTINGS_OF_IDS, number);
    if (status == TWIN_OK)
        status = twin__index_writer_delete_member(writer, document.set, document.label, number);
    if (status == TWIN_OK)
        status = leave_set(writer, document.set, number);
    writer->writing->counts.documents--;
    return status;
}

/* ---- adding ---- */

/* A set with its first document. Numbers only grow, so it goes to the end of each table. */
static twin_status new_set(uint64_t *out, struct twin__index_writer *writer,
                           const struct twin__index_draft_entry *entry, const uint32_t *signature, const char *kept)
{
    uint64_t number = *out = writer->writing->counts.next_set++, document = writer->writing->counts.next_document;
    struct twin__index_set_record set = {
        .size = entry->set_size, .members = 1, .first = document, .digest = entry->digest
    };
    bool empty = entry->set_size == 0;
    struct twin__index_new_posting posting = { number, signature, twin__index_digest_hash(entry->digest),
                                               .skip = empty };
    if (!twin__index_writer_add_posting(&writer->sets, posting))
        return twin__fail_memory(writer->writing->error);
    if (empty)
        writer->writing->counts.empty_set = number + 1;
    writer->writing->counts.sets++;
    writer->writing->counts.too_short += empty;
    twin_status status = twin__index_writer_put_set(writer, number, &set, signature, TWIN__STORE_APPEND);
    if (status == TWIN_OK && entry->kept_length)
        status = twin__index_blocks_add(writer->writing, &writer->unwritten,
                                        (struct twin__index_kept){ number, { kept, entry->kept_length } });
    return status == TWIN_OK
               ? twin__index_writer_put_member(writer, number, entry->label, document, TWIN__STORE_APPEND)
               : status;
}

static twin_status join_set(struct twin__index_writer *writer, uint64_t number, uint32_t label)
{
    struct twin__index_set_record set;
    twin_status status = twin__index_writer_get_set(&set, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    set.members++;
    writer->writing->counts.too_short += set.size == 0;
    status = twin__index_writer_put_set(writer, number, &set, writer->signature, TWIN__STORE_SET);
    return status == TWIN_OK ? twin__index_writer_put_member(writer, number, label,
                                                             writer->writing->counts.next_document, TWIN__STORE_ADD)
                             : status;
}

static twin_status new_document(struct twin__index_writer *writer, const struct twin__index_document_record *document,
                                uint32_t id_hash)
{
    uint64_t number = writer->writing->counts.next_document++;
    if (!twin__index_writer_add_posting(&writer->documents,
                                        (struct twin__index_new_posting){ .number = number, .hash = id_hash }))
        return twin__fail_memory(writer->writing->error);
    writer->writing->counts.documents++;
    return twin__index_writer_put_document(writer, number, document, TWIN__STORE_APPEND);
}

/* A document whose set stays: only its label or time is new. */
static twin_status relabel(struct twin__index_writer *writer, uint64_t number,
                           const struct twin__index_document_record *document)
{
    struct twin__index_document_record old;
    twin_status status = twin__index_writer_get_document(&old, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    uint32_t label = old.label;
    status = twin__index_writer_put_document(writer, number, document, TWIN__STORE_SET);
    if (status != TWIN_OK || label == document->label)
        return status;
    status = twin__index_writer_delete_member(writer, document->set, label, number);
    return status == TWIN_OK
               ? twin__index_writer_put_member(writer, document->set, document->label, number, TWIN__STORE_ADD)
               : status;
}

static twin_status write_entry(struct twin__index_writer *writer, const struct twin__index_draft *draft, size_t i,
                               uint64_t first, unsigned char marks)
{
    const struct twin__index_draft_entry *entry = &draft->entries[i];
    const twin_index *index = writer->writing->index;
    struct twin__index_document_record document = { .time = entry->time,
                                                    .label = entry->label,
                                                    .id_is_number = entry->id_is_number,
                                                    .id = { draft->bytes.bytes + entry->id, entry->id_length } };
    uint32_t id_hash = twin__index_id_hash(index, document.id);
    uint64_t number = 0;
    bool there, known;
    twin_status status = twin__index_writer_find_id(&there, &number, writer, document.id, id_hash, marks & OLD_ID);
    if (status == TWIN_OK)
        status = twin__index_writer_find_set(&known, &document.set, writer, entry, marks & OLD_SET);
    if (status != TWIN_OK)
        return status;
    writer->change.added += !there;
    writer->change.replaced += there;
    writer->change.repeated += there && number >= first;
    writer->change.too_short += entry->set_size == 0;

    struct twin__index_document_record old = { 0 };
    if (there)
        status = twin__index_writer_get_document(&old, NULL, writer, number);
    if (status == TWIN_OK && there && known && old.set == document.set)
        return relabel(writer, number, &document);
    if (status == TWIN_OK && there)
        status = remove_document(writer, number);
    if (status == TWIN_OK && known)
        status = join_set(writer, document.set, document.label);
    else if (status == TWIN_OK)
        status = new_set(&document.set, writer, entry, draft->signatures + i * twin__index_slots(&index->options),
                         draft->bytes.bytes + entry->kept);
    return status == TWIN_OK ? new_document(writer, &document, id_hash) : status;
}

struct batch_writing {
    struct twin__index_batch *batch;
    twin_index_change change;
};

static twin_status write_marked(struct twin__index_writer *writer, const struct twin__index_batch *batch,
                                const unsigned char *marks)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < batch->draft_count && status == TWIN_OK; i++) {
        const struct twin__index_draft *draft = &batch->drafts[i];
        for (size_t j = draft->begin; j < draft->count && status == TWIN_OK; j++) {
            status = twin__poll();
            if (status == TWIN_OK)
                status = write_entry(writer, draft, j, batch->first, *marks++);
        }
        writer->change.repaired += draft->repaired;
        writer->change.unspaced += draft->unspaced;
        writer->change.bytes += draft->text_bytes;
    }
    return status;
}

static twin_status write_entries(struct twin__index_writer *writer, const struct twin__index_batch *batch)
{
    size_t count = batch->count;
    uint64_t *keys = count < UINT32_MAX ? malloc(count * (2 * sizeof *keys + 1)) : NULL;
    if (!keys)
        return twin__fail_memory(writer->writing->error);
    struct ahead ahead = { .marks = (unsigned char *)(keys + 2 * count), .keys = keys, .spare = keys + count };
    memset(ahead.marks, 0, count);
    look_ahead(&ahead, writer, batch);
    twin_status status = write_marked(writer, batch, ahead.marks);
    free(keys);
    return status;
}

static twin_status write_drafts(struct twin__index_writing *writing, void *context)
{
    struct batch_writing *part = context;
    struct twin__index_writer writer;
    twin_status status = twin__index_writer_open(&writer, writing);
    if (!part->batch->written) /* another attempt finds the same number */
        part->batch->first = writing->counts.next_document;
    if (status == TWIN_OK)
        status = write_entries(&writer, part->batch);
    if (status == TWIN_OK)
        status = twin__index_blocks_finish(writing, &writer.unwritten);
    if (status == TWIN_OK)
        status = twin__index_writer_finish_run(&writer, &writer.sets, TWIN__INDEX_POSTINGS_OF_SETS);
    if (status == TWIN_OK)
        status = twin__index_writer_finish_run(&writer, &writer.documents, TWIN__INDEX_POSTINGS_OF_IDS);
    part->change = writer.change;
    twin__index_writer_close(&writer);
    return status;
}

twin_status twin__index_batch_write(twin_index_change *change, twin_index *index, struct twin__index_batch *batch,
                                    twin_error *error)
{
    struct batch_writing part = { .batch = batch };
    if (batch->count == 0)
        return TWIN_OK;
    twin_status status = twin__index_transact(index, write_drafts, &part, error);
    if (status != TWIN_OK)
        return status;
    twin__index_batch_empty(batch);
    batch->written = true;
    if (!change)
        return TWIN_OK;
    change->added += part.change.added;
    change->replaced += part.change.replaced;
    change->repeated += part.change.repeated;
    change->too_short += part.change.too_short;
    change->repaired += part.change.repaired;
    change->unspaced += part.change.unspaced;
    change->bytes += part.change.bytes;
    change->batches++;
    return TWIN_OK;
}

/* ---- removing by id ---- */

struct removal {
    const twin_text *ids;
    size_t count;
    bool *found;
    uint64_t removed;
};

static twin_status write_removal(struct twin__index_writing *writing, void *context)
{
    struct removal *removal = context;
    struct twin__index_writer writer;
    twin_status status = twin__index_writer_open(&writer, writing);
    removal->removed = 0;
    for (size_t i = 0; i < removal->count && status == TWIN_OK; i++) {
        bool there = false;
        uint64_t number = 0;
        status = twin__index_writer_find_id(&there, &number, &writer, removal->ids[i],
                                            twin__index_id_hash(writing->index, removal->ids[i]), true);
        if (status == TWIN_OK && there)
            status = remove_document(&writer, number);
        removal->removed += there;
        if (removal->found)
            removal->found[i] = there;
    }
    twin__index_writer_close(&writer);
    return status;
}

twin_status twin_index_remove(bool *found, twin_index_change *change, twin_index *index, const twin_text *ids,
                              size_t count, twin_error *error)
{
    if (!index || (count && !ids))
        return twin__fail_null(error, index ? "ids" : "index");
    for (size_t i = 0; i < count; i++)
        if (ids[i].length && !ids[i].bytes)
            return twin__fail_null(error, "ids[i].bytes");
    struct removal removal = { .ids = ids, .count = count, .found = found };
    twin_status status = twin__index_transact(index, write_removal, &removal, error);
    if (status == TWIN_OK && change) {
        change->removed += removal.removed;
        change->batches++;
    }
    return status;
}

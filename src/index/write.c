/* write.c — documents are added and removed, a batch in one transaction.
 *
 * Records with numbers that only grow are appended to their tables. What is looked up by hash (ids, digests of sets) is in
 * sorted runs as earlier transactions left them, and in a hash table for what this transaction has added; at the end its new
 * postings become a run (postings.c). The hashes of a whole batch are looked up in the runs beforehand, in sorted order,
 * so that for most documents one glance at a mark replaces a search in every run. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "index/blocks.h"
#include "index/postings.h"
#include "index/verified.h"
#include "index/write.h"
#include "kernels/sort.h"

/* What is new in a transaction is in no run yet: a hash table leads to it, whose slots hold positions in the list, plus
 * one. */
struct new_postings {
    struct twin__index_new_posting *list;
    size_t count, capacity;
    uint64_t first; /* the number of the first; the others follow */
    uint32_t *table;
    size_t slots; /* a power of two, more than twice the count; or 0 */
};

/* The state of one transaction. */
struct writer {
    struct twin__index_writing *writing;
    struct twin__store_cursor members;
    struct twin__index_lists ids, digests; /* as earlier transactions left them */
    struct new_postings documents, sets;
    struct twin__index_unwritten unwritten;
    twin_buffer record;
    uint32_t *signature;
    twin_index_change change;
};

static twin_status open_writer(struct writer *writer, struct twin__index_writing *writing)
{
    const twin_index *index = writing->index;
    *writer = (struct writer){ .writing = writing,
                               .documents.first = writing->counts.next_document,
                               .sets.first = writing->counts.next_set };
    writer->signature = malloc(index->options.scheme.minhash.slots * sizeof *writer->signature);
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

static void close_writer(struct writer *writer)
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

static void enter(struct new_postings *all, size_t position)
{
    size_t slot = all->list[position].hash & (all->slots - 1);
    while (all->table[slot])
        slot = (slot + 1) & (all->slots - 1);
    all->table[slot] = (uint32_t)position + 1;
}

static bool grow_table(struct new_postings *all)
{
    size_t slots = all->slots ? 2 * all->slots : 64;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return false;
    free(all->table);
    all->table = table;
    all->slots = slots;
    for (size_t i = 0; i < all->count; i++)
        enter(all, i);
    return true;
}

static bool add_posting(struct new_postings *all, struct twin__index_new_posting posting)
{
    if (all->count >= UINT32_MAX / 2 || !TWIN__ARRAY_GROW(&all->list, &all->capacity, all->count, 1))
        return false;
    all->list[all->count] = posting;
    if (2 * (all->count + 1) >= all->slots && !grow_table(all))
        return false;
    enter(all, all->count++);
    return true;
}

/* Of this transaction, or in a run. */
static twin_status remove_posting(struct writer *writer, struct new_postings *all, enum twin__index_postings kind,
                                  uint64_t number)
{
    if (number < all->first)
        return twin__index_runs_mark_removed(writer->writing, kind, number);
    all->list[number - all->first].skip = true;
    return TWIN_OK;
}

/* ---- single records ---- */

static twin_status damaged(const struct writer *writer, const char *what)
{
    return twin__index_fail_damaged(writer->writing->error, writer->writing->index, what);
}

/* A record. `found` false: there is none, as when a run still names a removed one; NULL: then it is damage. */
static twin_status get(struct twin__bytes *out, bool *found, struct writer *writer, enum twin__index_table table,
                       uint64_t number)
{
    twin_status status = twin__store_get(out, writer->writing->txn, table, number, writer->writing->error);
    if (found)
        *found = out->at != NULL;
    return status == TWIN_OK && !out->at && !found ? damaged(writer, "a record that is referred to is missing")
                                                   : status;
}

/* Writes writer->record. */
static twin_status put(struct writer *writer, enum twin__index_table table, uint64_t number, enum twin__store_put how)
{
    struct twin__bytes value = { writer->record.bytes, writer->record.length };
    return twin__store_put(writer->writing->txn, table, number, value, how, writer->writing->error);
}

static twin_status delete_record(struct writer *writer, enum twin__index_table table, uint64_t number)
{
    return twin__store_delete(writer->writing->txn, table, number, NULL, writer->writing->error);
}

static twin_status put_member(struct writer *writer, uint64_t set, uint32_t label, uint64_t document,
                              enum twin__store_put how)
{
    unsigned char member[TWIN__INDEX_MEMBER_BYTES];
    twin__index_member_encode(member, label, document);
    return twin__store_put(writer->writing->txn, TWIN__INDEX_MEMBERS, set,
                           (struct twin__bytes){ member, sizeof member }, how, writer->writing->error);
}

static twin_status delete_member(struct writer *writer, uint64_t set, uint32_t label, uint64_t document)
{
    unsigned char member[TWIN__INDEX_MEMBER_BYTES];
    twin__index_member_encode(member, label, document);
    return twin__store_delete(writer->writing->txn, TWIN__INDEX_MEMBERS, set,
                              &(struct twin__bytes){ member, sizeof member }, writer->writing->error);
}

static twin_status get_document(struct twin__index_document_record *out, bool *found, struct writer *writer,
                                uint64_t number)
{
    struct twin__bytes value;
    twin_status status = get(&value, found, writer, TWIN__INDEX_DOCUMENTS, number);
    if (status != TWIN_OK || (found && !*found))
        return status;
    return twin__index_document_decode(out, value) ? TWIN_OK
                                                   : damaged(writer, "a document does not fit its checksum");
}

/* The signature goes to writer->signature. */
static twin_status get_set(struct twin__index_set_record *out, bool *found, struct writer *writer, uint64_t number)
{
    size_t slots = writer->writing->index->options.scheme.minhash.slots;
    struct twin__bytes value;
    twin_status status = get(&value, found, writer, TWIN__INDEX_SETS, number);
    if (status != TWIN_OK || (found && !*found))
        return status;
    return twin__index_set_decode(out, writer->signature, slots, value)
               ? TWIN_OK
               : damaged(writer, "a signature does not fit its checksum");
}

static twin_status put_set(struct writer *writer, uint64_t number, const struct twin__index_set_record *set,
                           const uint32_t *signature, enum twin__store_put how)
{
    size_t slots = writer->writing->index->options.scheme.minhash.slots;
    if (twin__index_set_encode(&writer->record, set, signature, slots) != TWIN_OK)
        return twin__fail_memory(writer->writing->error);
    return put(writer, TWIN__INDEX_SETS, number, how);
}

static twin_status put_document(struct writer *writer, uint64_t number,
                                const struct twin__index_document_record *document, enum twin__store_put how)
{
    if (twin__index_document_encode(&writer->record, document) != TWIN_OK)
        return twin__fail_memory(writer->writing->error);
    return put(writer, TWIN__INDEX_DOCUMENTS, number, how);
}

/* ---- finding what is there ---- */

/* Called for each number with the hash; true ends the search. */
typedef twin_status is_it(bool *yes, struct writer *writer, uint64_t number, const void *what);

static twin_status has_id(bool *yes, struct writer *writer, uint64_t number, const void *what)
{
    const twin_text *id = what;
    struct twin__index_document_record document;
    twin_status status = get_document(&document, yes, writer, number);
    *yes = status == TWIN_OK && *yes && document.id.length == id->length &&
           memcmp(document.id.bytes, id->bytes, id->length) == 0;
    return status;
}

static twin_status has_digest(bool *yes, struct writer *writer, uint64_t number, const void *what)
{
    const twin_digest *digest = what;
    struct twin__index_set_record set;
    twin_status status = get_set(&set, yes, writer, number);
    *yes = status == TWIN_OK && *yes && set.digest.low == digest->low && set.digest.high == digest->high;
    return status;
}

static twin_status search_new(bool *found, uint64_t *out, struct writer *writer, const struct new_postings *all,
                              uint32_t hash, is_it *visit, const void *what)
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

static twin_status search_old(bool *found, uint64_t *out, struct writer *writer,
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

/* `old` false: the hash is in no run. */
static twin_status find_id(bool *found, uint64_t *out, struct writer *writer, twin_text id, uint32_t hash, bool old)
{
    *found = false;
    twin_status status = search_new(found, out, writer, &writer->documents, hash, has_id, &id);
    return status != TWIN_OK || *found || !old ? status
                                               : search_old(found, out, writer, &writer->ids, hash, has_id, &id);
}

/* The empty set is in no run; its number is among the counts. */
static twin_status find_set(bool *found, uint64_t *out, struct writer *writer,
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

/* ---- looking ahead ---- */

/* Which entries of a batch have an id or a digest whose hash is in a run. Most have none. Looked up one by one, each would
 * wait for memory in every run; in the order of their hashes all are found in one walk. */
enum { OLD_ID = 1, OLD_SET = 2 };

struct ahead {
    unsigned char *marks; /* of each entry */
    uint64_t *keys;       /* its hash in the high half, its position in the low */
    uint64_t *spare;
    size_t count;
};

static void mark_old(struct ahead *ahead, const struct twin__index_lists *lists, unsigned char mark)
{
    twin__sort(ahead->keys, ahead->spare, ahead->count);
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

static void look_ahead(struct ahead *ahead, const struct writer *writer, const struct twin__index_batch *batch)
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

static twin_status remove_set(struct writer *writer, uint64_t number, const struct twin__index_set_record *set)
{
    bool kept = writer->writing->index->options.keep != TWIN_KEEP_NONE && set->size > 0;
    twin_status status = delete_record(writer, TWIN__INDEX_SETS, number);
    if (status == TWIN_OK && kept)
        status = twin__index_blocks_remove(writer->writing, &writer->unwritten, number);
    if (status != TWIN_OK)
        return status;
    writer->writing->counts.sets--;
    if (set->size)
        return remove_posting(writer, &writer->sets, TWIN__INDEX_POSTINGS_OF_SETS, number);
    writer->writing->counts.empty_set = 0;
    return TWIN_OK;
}

/* The smallest number among the members, which are sorted by label: the first of each label is compared. */
static twin_status find_first(uint64_t *out, struct writer *writer, uint64_t set)
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
            return damaged(writer, "a member of a set is not what it should be");
        *out = document < *out ? document : *out;
        if (label == UINT32_MAX)
            return TWIN_OK;
        twin__index_member_encode(next, label + 1, 0);
        status =
            twin__store_seek_value(&member, &writer->members, set, (struct twin__bytes){ next, sizeof next }, error);
    }
    return status;
}

static twin_status leave_set(struct writer *writer, uint64_t number, uint64_t document)
{
    struct twin__index_set_record set;
    twin_status status = get_set(&set, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    writer->writing->counts.too_short -= set.size == 0;
    if (set.members <= 1)
        return remove_set(writer, number, &set);
    set.members--;
    if (set.first == document)
        status = find_first(&set.first, writer, number);
    return status == TWIN_OK ? put_set(writer, number, &set, writer->signature, TWIN__STORE_SET) : status;
}

static twin_status remove_document(struct writer *writer, uint64_t number)
{
    struct twin__index_document_record document;
    twin_status status = get_document(&document, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    status = delete_record(writer, TWIN__INDEX_DOCUMENTS, number);
    if (status == TWIN_OK)
        status = remove_posting(writer, &writer->documents, TWIN__INDEX_POSTINGS_OF_IDS, number);
    if (status == TWIN_OK)
        status = delete_member(writer, document.set, document.label, number);
    if (status == TWIN_OK)
        status = leave_set(writer, document.set, number);
    writer->writing->counts.documents--;
    return status;
}

/* ---- adding ---- */

/* A set with its first document. Numbers only grow, so it goes to the end of each table. */
static twin_status new_set(uint64_t *out, struct writer *writer, const struct twin__index_draft_entry *entry,
                           const uint32_t *signature, const char *kept)
{
    uint64_t number = *out = writer->writing->counts.next_set++, document = writer->writing->counts.next_document;
    struct twin__index_set_record set = {
        .size = entry->set_size, .members = 1, .first = document, .digest = entry->digest
    };
    bool empty = entry->set_size == 0;
    struct twin__index_new_posting posting = { number, signature, twin__index_digest_hash(entry->digest),
                                               .skip = empty };
    if (!add_posting(&writer->sets, posting))
        return twin__fail_memory(writer->writing->error);
    if (empty)
        writer->writing->counts.empty_set = number + 1;
    writer->writing->counts.sets++;
    writer->writing->counts.too_short += empty;
    twin_status status = put_set(writer, number, &set, signature, TWIN__STORE_APPEND);
    if (status == TWIN_OK && entry->kept_length)
        status = twin__index_blocks_add(writer->writing, &writer->unwritten,
                                        (struct twin__index_kept){ number, { kept, entry->kept_length } });
    return status == TWIN_OK ? put_member(writer, number, entry->label, document, TWIN__STORE_APPEND) : status;
}

static twin_status join_set(struct writer *writer, uint64_t number, uint32_t label)
{
    struct twin__index_set_record set;
    twin_status status = get_set(&set, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    set.members++;
    writer->writing->counts.too_short += set.size == 0;
    status = put_set(writer, number, &set, writer->signature, TWIN__STORE_SET);
    return status == TWIN_OK
               ? put_member(writer, number, label, writer->writing->counts.next_document, TWIN__STORE_ADD)
               : status;
}

static twin_status new_document(struct writer *writer, const struct twin__index_document_record *document,
                                uint32_t id_hash)
{
    uint64_t number = writer->writing->counts.next_document++;
    if (!add_posting(&writer->documents, (struct twin__index_new_posting){ .number = number, .hash = id_hash }))
        return twin__fail_memory(writer->writing->error);
    writer->writing->counts.documents++;
    return put_document(writer, number, document, TWIN__STORE_APPEND);
}

/* A document whose set stays: only its label or time is new. */
static twin_status relabel(struct writer *writer, uint64_t number, const struct twin__index_document_record *document)
{
    struct twin__index_document_record old;
    twin_status status = get_document(&old, NULL, writer, number);
    if (status != TWIN_OK)
        return status;
    uint32_t label = old.label;
    status = put_document(writer, number, document, TWIN__STORE_SET);
    if (status != TWIN_OK || label == document->label)
        return status;
    status = delete_member(writer, document->set, label, number);
    return status == TWIN_OK ? put_member(writer, document->set, document->label, number, TWIN__STORE_ADD) : status;
}

static twin_status write_entry(struct writer *writer, const struct twin__index_draft *draft, size_t i, uint64_t first,
                               unsigned char marks)
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
    twin_status status = find_id(&there, &number, writer, document.id, id_hash, marks & OLD_ID);
    if (status == TWIN_OK)
        status = find_set(&known, &document.set, writer, entry, marks & OLD_SET);
    if (status != TWIN_OK)
        return status;
    writer->change.added += !there;
    writer->change.replaced += there;
    writer->change.repeated += there && number >= first;
    writer->change.too_short += entry->set_size == 0;

    struct twin__index_document_record old = { 0 };
    if (there)
        status = get_document(&old, NULL, writer, number);
    if (status == TWIN_OK && there && known && old.set == document.set)
        return relabel(writer, number, &document);
    if (status == TWIN_OK && there)
        status = remove_document(writer, number);
    if (status == TWIN_OK && known)
        status = join_set(writer, document.set, document.label);
    else if (status == TWIN_OK)
        status = new_set(&document.set, writer, entry, draft->signatures + i * index->options.scheme.minhash.slots,
                         draft->bytes.bytes + entry->kept);
    return status == TWIN_OK ? new_document(writer, &document, id_hash) : status;
}

static twin_status write_run(struct writer *writer, struct new_postings *all, enum twin__index_postings kind)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!all->list[i].skip)
            all->list[count++] = all->list[i];
    return twin__index_runs_append(writer->writing, kind, all->list, count);
}

struct batch_writing {
    struct twin__index_batch *batch;
    twin_index_change change;
};

static twin_status write_marked(struct writer *writer, const struct twin__index_batch *batch,
                                const unsigned char *marks)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < batch->draft_count && status == TWIN_OK; i++) {
        const struct twin__index_draft *draft = &batch->drafts[i];
        for (size_t j = draft->begin; j < draft->count && status == TWIN_OK; j++)
            status = write_entry(writer, draft, j, batch->first, *marks++);
        writer->change.repaired += draft->repaired;
        writer->change.unspaced += draft->unspaced;
        writer->change.bytes += draft->text_bytes;
    }
    return status;
}

static twin_status write_entries(struct writer *writer, const struct twin__index_batch *batch)
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
    struct writer writer;
    twin_status status = open_writer(&writer, writing);
    if (!part->batch->written) /* another attempt finds the same number */
        part->batch->first = writing->counts.next_document;
    if (status == TWIN_OK)
        status = write_entries(&writer, part->batch);
    if (status == TWIN_OK)
        status = twin__index_blocks_finish(writing, &writer.unwritten);
    if (status == TWIN_OK)
        status = write_run(&writer, &writer.sets, TWIN__INDEX_POSTINGS_OF_SETS);
    if (status == TWIN_OK)
        status = write_run(&writer, &writer.documents, TWIN__INDEX_POSTINGS_OF_IDS);
    part->change = writer.change;
    close_writer(&writer);
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

/* ---- documents from memory ---- */

enum { CHUNK = 64 }; /* documents that a worker takes at once */

struct drafting {
    const twin_index *index;
    const twin_index_document *documents;
    size_t count;
    struct drafter {
        struct twin__index_draft draft;
        twin_scratch scratch;
        twin_status status;
    } * drafters;
    struct twin__index_batch batch;
    twin_status status;
};

static void prepare_chunk(void *context, size_t piece, int worker)
{
    struct drafting *drafting = context;
    struct drafter *drafter = &drafting->drafters[worker];
    size_t begin = piece * CHUNK, end = begin + CHUNK < drafting->count ? begin + CHUNK : drafting->count;
    twin__index_draft_empty(&drafter->draft);
    drafter->status = TWIN_OK;
    for (size_t i = begin; i < end && drafter->status == TWIN_OK; i++)
        drafter->status =
            twin__index_draft_add(&drafter->draft, drafting->index, &drafter->scratch, &drafting->documents[i]);
}

static void collect_chunk(void *context, size_t piece, int worker)
{
    (void)piece;
    struct drafting *drafting = context;
    struct drafter *drafter = &drafting->drafters[worker];
    if (drafting->status == TWIN_OK)
        drafting->status = drafter->status;
    if (drafting->status == TWIN_OK && !twin__index_batch_take(&drafting->batch, &drafter->draft))
        drafting->status = TWIN_ENOMEM;
}

static bool ids_are_good(const twin_index_document *documents, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (documents[i].id.length == 0 || documents[i].id.length > UINT32_MAX)
            return false;
    return true;
}

twin_status twin_index_add(twin_index_change *change, twin_index *index, const twin_index_document *documents,
                           size_t count, twin_exec exec, twin_error *error)
{
    if (!index || (count && !documents))
        return twin__fail_null(error, index ? "documents" : "index");
    twin_status status = twin__exec_complete(&exec, error);
    if (status != TWIN_OK)
        return status;
    if (!ids_are_good(documents, count))
        return twin__fail(error, TWIN_EINVAL, "%s: a document needs an id to be added", index->path);
    struct drafting drafting = { .index = index, .documents = documents, .count = count };
    drafting.drafters = calloc((size_t)exec.workers, sizeof *drafting.drafters);
    if (!drafting.drafters)
        return twin__fail_memory(error);
    twin_exec_in_order(exec, (count + CHUNK - 1) / CHUNK, prepare_chunk, collect_chunk, &drafting);
    status = drafting.status;
    if (status != TWIN_OK)
        twin__fail(error, status, "%s: %s", index->path, twin_status_text(status));
    else
        status = twin__index_batch_write(change, index, &drafting.batch, error);
    for (int i = 0; i < exec.workers; i++) {
        twin__index_draft_clear(&drafting.drafters[i].draft);
        twin_scratch_clear(&drafting.drafters[i].scratch);
    }
    twin__index_batch_clear(&drafting.batch);
    free(drafting.drafters);
    return status;
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
    struct writer writer;
    twin_status status = open_writer(&writer, writing);
    removal->removed = 0;
    for (size_t i = 0; i < removal->count && status == TWIN_OK; i++) {
        bool there = false;
        uint64_t number = 0;
        status = find_id(&there, &number, &writer, removal->ids[i],
                         twin__index_id_hash(writing->index, removal->ids[i]), true);
        if (status == TWIN_OK && there)
            status = remove_document(&writer, number);
        removal->removed += there;
        if (removal->found)
            removal->found[i] = there;
    }
    close_writer(&writer);
    return status;
}

twin_status twin_index_remove(bool *found, twin_index_change *change, twin_index *index, const twin_text *ids,
                              size_t count, twin_error *error)
{
    if (!index || (count && !ids))
        return twin__fail_null(error, index ? "ids" : "index");
    struct removal removal = { .ids = ids, .count = count, .found = found };
    twin_status status = twin__index_transact(index, write_removal, &removal, error);
    if (status == TWIN_OK && change) {
        change->removed += removal.removed;
        change->batches++;
    }
    return status;
}

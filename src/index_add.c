/* index_add.c — adds and removes. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "grow.h"
#include "index_parts.h"

/* A transaction at work. Sets that are new in it stand in no run yet. */
struct writer {
    struct twin__writing *writing;
    MDB_cursor *ids, *digests, *members;
    twin_buffer record;
    uint32_t *signature;
    uint64_t first_new;               /* the number of the first new set */
    struct twin__newcomer *newcomers; /* of each new set; without a signature when it is empty or gone again */
    size_t newcomer_count, newcomer_capacity;
    twin_index_change change;
};

static MDB_dbi table_of(const struct writer *writer, enum twin__table table)
{
    return writer->writing->index->tables[table];
}

static twin_status open_writer(struct writer *writer, struct twin__writing *writing)
{
    *writer = (struct writer){ .writing = writing, .first_new = writing->counts.next_set };
    writer->signature = malloc(writing->index->options.minhash.slots * sizeof *writer->signature);
    if (!writer->signature)
        return twin__fail_memory(writing->error);
    int code = mdb_cursor_open(writing->txn, table_of(writer, TWIN__IDS), &writer->ids);
    if (code == MDB_SUCCESS)
        code = mdb_cursor_open(writing->txn, table_of(writer, TWIN__DIGESTS), &writer->digests);
    if (code == MDB_SUCCESS)
        code = mdb_cursor_open(writing->txn, table_of(writer, TWIN__MEMBERS), &writer->members);
    return twin__said(writing, code);
}

static void close_writer(struct writer *writer)
{
    MDB_cursor *cursors[] = { writer->ids, writer->digests, writer->members };
    for (size_t i = 0; i < 3; i++)
        if (cursors[i])
            mdb_cursor_close(cursors[i]);
    twin_buffer_clear(&writer->record);
    free(writer->signature);
    free(writer->newcomers);
}

/* ---- single records ---- */

static twin_status damaged(const struct writer *writer, const char *what)
{
    return twin__fail_damaged(writer->writing->error, writer->writing->index, what);
}

static twin_status get(MDB_val *out, struct writer *writer, enum twin__table table, uint64_t number)
{
    MDB_val key = twin__number_key(&number);
    int code = mdb_get(writer->writing->txn, table_of(writer, table), &key, out);
    return code == MDB_NOTFOUND ? damaged(writer, "a record that is referred to is missing")
                                : twin__said(writer->writing, code);
}

static twin_status put(struct writer *writer, enum twin__table table, uint64_t number, const void *bytes,
                       size_t length, unsigned flags)
{
    MDB_val key = twin__number_key(&number), value = { length, (void *)bytes };
    return twin__said(writer->writing, mdb_put(writer->writing->txn, table_of(writer, table), &key, &value, flags));
}

/* Deletes a record, or of several under one number the one of these bytes. */
static twin_status drop(struct writer *writer, enum twin__table table, uint64_t number, const void *bytes,
                        size_t length)
{
    MDB_val key = twin__number_key(&number), value = { length, (void *)bytes };
    int code = mdb_del(writer->writing->txn, table_of(writer, table), &key, bytes ? &value : NULL);
    return code == MDB_NOTFOUND ? damaged(writer, "a record that is to be removed is missing")
                                : twin__said(writer->writing, code);
}

static twin_status get_document(struct twin__document *out, struct writer *writer, uint64_t number)
{
    MDB_val value;
    twin_status status = get(&value, writer, TWIN__DOCUMENTS, number);
    if (status == TWIN_OK && !twin__document_decode(out, twin__bytes_of(value)))
        return damaged(writer, "a document does not fit its checksum");
    return status;
}

/* The signature goes to writer->signature. */
static twin_status get_set(struct twin__set *out, struct writer *writer, uint64_t number)
{
    MDB_val value;
    twin_status status = get(&value, writer, TWIN__SETS, number);
    if (status == TWIN_OK && !twin__set_decode(out, writer->signature, writer->writing->index->options.minhash.slots,
                                               twin__bytes_of(value)))
        return damaged(writer, "a signature does not fit its checksum");
    return status;
}

static twin_status put_set(struct writer *writer, uint64_t number, const struct twin__set *set,
                           const uint32_t *signature, unsigned flags)
{
    size_t slots = writer->writing->index->options.minhash.slots;
    if (twin__set_encode(&writer->record, set, signature, slots) != TWIN_OK)
        return twin__fail_memory(writer->writing->error);
    return put(writer, TWIN__SETS, number, writer->record.bytes, writer->record.length, flags);
}

static twin_status put_document(struct writer *writer, uint64_t number, const struct twin__document *document,
                                unsigned flags)
{
    if (twin__document_encode(&writer->record, document) != TWIN_OK)
        return twin__fail_memory(writer->writing->error);
    return put(writer, TWIN__DOCUMENTS, number, writer->record.bytes, writer->record.length, flags);
}

/* ---- finding what is there ---- */

/* Hears of each number under a key; true ends the search with it. */
typedef twin_status is_it(bool *yes, struct writer *writer, uint64_t number, const void *what);

static twin_status search(bool *found, uint64_t *out, struct writer *writer, MDB_cursor *cursor, uint64_t number,
                          is_it *visit, const void *what)
{
    MDB_val key = twin__number_key(&number), value;
    twin_status status = TWIN_OK;
    *found = false;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET);
    while (code == MDB_SUCCESS && status == TWIN_OK && !*found) {
        if (!twin__number_of(out, value))
            return damaged(writer, "a list of numbers holds something else");
        status = visit(found, writer, *out, what);
        if (status == TWIN_OK && !*found)
            code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_DUP);
    }
    return status != TWIN_OK || code == MDB_NOTFOUND ? status : twin__said(writer->writing, code);
}

static twin_status has_id(bool *yes, struct writer *writer, uint64_t number, const void *what)
{
    const twin_text *id = what;
    struct twin__document document;
    twin_status status = get_document(&document, writer, number);
    *yes = status == TWIN_OK && document.id.length == id->length &&
           memcmp(document.id.bytes, id->bytes, id->length) == 0;
    return status;
}

static twin_status has_digest(bool *yes, struct writer *writer, uint64_t number, const void *what)
{
    const twin_digest *digest = what;
    struct twin__set set;
    twin_status status = get_set(&set, writer, number);
    *yes = status == TWIN_OK && set.digest.low == digest->low && set.digest.high == digest->high;
    return status;
}

/* ---- removing ---- */

static twin_status remove_set(struct writer *writer, uint64_t number, const struct twin__set *set)
{
    bool kept = writer->writing->index->options.keep != TWIN_KEEP_NONE && set->size > 0;
    twin_status status = drop(writer, TWIN__SETS, number, NULL, 0);
    if (status == TWIN_OK)
        status = drop(writer, TWIN__DIGESTS, set->digest.low, &number, sizeof number);
    if (status == TWIN_OK && kept)
        status = drop(writer, TWIN__KEPT, number, NULL, 0);
    if (status != TWIN_OK)
        return status;
    writer->writing->counts.sets--;
    if (set->size == 0)
        return TWIN_OK;
    if (number < writer->first_new)
        return twin__runs_bury(writer->writing, number);
    writer->newcomers[number - writer->first_new].signature = NULL;
    return TWIN_OK;
}

/* The smallest number among the members: the first of each label is looked at. */
static twin_status find_first(uint64_t *out, struct writer *writer, uint64_t set)
{
    MDB_val key = twin__number_key(&set), value;
    *out = UINT64_MAX;
    int code = mdb_cursor_get(writer->members, &key, &value, MDB_SET_KEY);
    while (code == MDB_SUCCESS) {
        unsigned char next[TWIN__MEMBER_BYTES];
        uint32_t label;
        uint64_t document;
        if (!twin__member_decode(&label, &document, value))
            return damaged(writer, "a member of a set is not what it should be");
        *out = document < *out ? document : *out;
        if (label == UINT32_MAX)
            return TWIN_OK;
        twin__member_encode(next, label + 1, 0);
        key = twin__number_key(&set);
        value = (MDB_val){ sizeof next, next };
        code = mdb_cursor_get(writer->members, &key, &value, MDB_GET_BOTH_RANGE);
    }
    return code == MDB_NOTFOUND ? TWIN_OK : twin__said(writer->writing, code);
}

static twin_status leave_set(struct writer *writer, uint64_t number, uint64_t document)
{
    struct twin__set set;
    twin_status status = get_set(&set, writer, number);
    if (status != TWIN_OK)
        return status;
    writer->writing->counts.too_short -= set.size == 0;
    if (set.members <= 1)
        return remove_set(writer, number, &set);
    set.members--;
    if (set.first == document)
        status = find_first(&set.first, writer, number);
    return status == TWIN_OK ? put_set(writer, number, &set, writer->signature, 0) : status;
}

static twin_status remove_document(struct writer *writer, uint64_t number, uint64_t id_hash)
{
    struct twin__document document;
    unsigned char member[TWIN__MEMBER_BYTES];
    twin_status status = get_document(&document, writer, number);
    if (status != TWIN_OK)
        return status;
    twin__member_encode(member, document.label, number);
    status = drop(writer, TWIN__DOCUMENTS, number, NULL, 0);
    if (status == TWIN_OK)
        status = drop(writer, TWIN__IDS, id_hash, &number, sizeof number);
    if (status == TWIN_OK)
        status = drop(writer, TWIN__MEMBERS, document.set, member, sizeof member);
    if (status == TWIN_OK)
        status = leave_set(writer, document.set, number);
    writer->writing->counts.documents--;
    return status;
}

/* ---- adding ---- */

static twin_status put_member(struct writer *writer, uint64_t set, uint32_t label, uint64_t document, unsigned flags)
{
    unsigned char member[TWIN__MEMBER_BYTES];
    twin__member_encode(member, label, document);
    return put(writer, TWIN__MEMBERS, set, member, sizeof member, flags);
}

/* A set with its first document. Numbers only grow, so it goes to the end of each table. */
static twin_status new_set(uint64_t *out, struct writer *writer, const struct twin__draft_entry *entry,
                           const uint32_t *signature, const char *kept)
{
    uint64_t number = *out = writer->writing->counts.next_set++, document = writer->writing->counts.next_document;
    struct twin__set set = { .size = entry->set_size, .members = 1, .first = document, .digest = entry->digest };
    if (!twin__grow(&writer->newcomers, &writer->newcomer_capacity, writer->newcomer_count, 1,
                    sizeof *writer->newcomers))
        return twin__fail_memory(writer->writing->error);
    writer->newcomers[writer->newcomer_count++] =
        (struct twin__newcomer){ number, entry->set_size ? signature : NULL };
    writer->writing->counts.sets++;
    writer->writing->counts.too_short += entry->set_size == 0;
    twin_status status = put_set(writer, number, &set, signature, MDB_APPEND);
    if (status == TWIN_OK)
        status = put(writer, TWIN__DIGESTS, entry->digest.low, &number, sizeof number, MDB_NODUPDATA);
    if (status == TWIN_OK && entry->kept_length)
        status = put(writer, TWIN__KEPT, number, kept, entry->kept_length, MDB_APPEND);
    return status == TWIN_OK ? put_member(writer, number, entry->label, document, MDB_APPEND) : status;
}

static twin_status join_set(struct writer *writer, uint64_t number, uint32_t label)
{
    struct twin__set set;
    twin_status status = get_set(&set, writer, number);
    if (status != TWIN_OK)
        return status;
    set.members++;
    writer->writing->counts.too_short += set.size == 0;
    status = put_set(writer, number, &set, writer->signature, 0);
    return status == TWIN_OK ? put_member(writer, number, label, writer->writing->counts.next_document, MDB_NODUPDATA)
                             : status;
}

static twin_status new_document(struct writer *writer, const struct twin__document *document, uint64_t id_hash)
{
    uint64_t number = writer->writing->counts.next_document++;
    twin_status status = put_document(writer, number, document, MDB_APPEND);
    writer->writing->counts.documents++;
    return status == TWIN_OK ? put(writer, TWIN__IDS, id_hash, &number, sizeof number, MDB_NODUPDATA) : status;
}

/* A document whose set stays: only its label or time is new. */
static twin_status relabel(struct writer *writer, uint64_t number, const struct twin__document *document)
{
    struct twin__document old;
    unsigned char member[TWIN__MEMBER_BYTES];
    twin_status status = get_document(&old, writer, number);
    if (status != TWIN_OK)
        return status;
    uint32_t label = old.label;
    status = put_document(writer, number, document, 0);
    if (status != TWIN_OK || label == document->label)
        return status;
    twin__member_encode(member, label, number);
    status = drop(writer, TWIN__MEMBERS, document->set, member, sizeof member);
    return status == TWIN_OK ? put_member(writer, document->set, document->label, number, MDB_NODUPDATA) : status;
}

static twin_status write_entry(struct writer *writer, const struct twin__draft *draft, size_t i)
{
    const struct twin__draft_entry *entry = &draft->entries[i];
    const twin_index *index = writer->writing->index;
    struct twin__document document = { .time = entry->time,
                                       .label = entry->label,
                                       .id_is_number = entry->id_is_number,
                                       .id = { draft->bytes.bytes + entry->id, entry->id_length } };
    uint64_t id_hash = twin__index_id_hash(index, document.id), number = 0;
    bool there, known;
    twin_status status = search(&there, &number, writer, writer->ids, id_hash, has_id, &document.id);
    if (status == TWIN_OK)
        status =
            search(&known, &document.set, writer, writer->digests, entry->digest.low, has_digest, &entry->digest);
    if (status != TWIN_OK)
        return status;
    writer->change.added += !there;
    writer->change.replaced += there;
    writer->change.too_short += entry->set_size == 0;

    struct twin__document old = { 0 };
    if (there)
        status = get_document(&old, writer, number);
    if (status == TWIN_OK && there && known && old.set == document.set)
        return relabel(writer, number, &document);
    if (status == TWIN_OK && there)
        status = remove_document(writer, number, id_hash);
    if (status == TWIN_OK && known)
        status = join_set(writer, document.set, document.label);
    else if (status == TWIN_OK)
        status = new_set(&document.set, writer, entry, draft->signatures + i * index->options.minhash.slots,
                         draft->bytes.bytes + entry->kept);
    return status == TWIN_OK ? new_document(writer, &document, id_hash) : status;
}

/* Of the new sets those that are still there and not empty become a run. */
static twin_status write_run(struct writer *writer)
{
    size_t count = 0;
    for (size_t i = 0; i < writer->newcomer_count; i++)
        if (writer->newcomers[i].signature)
            writer->newcomers[count++] = writer->newcomers[i];
    return twin__runs_append(writer->writing, writer->newcomers, count);
}

struct batch_writing {
    const struct twin__batch *batch;
    twin_index_change change;
};

static twin_status write_batch(struct twin__writing *writing, void *context)
{
    struct batch_writing *part = context;
    struct writer writer;
    twin_status status = open_writer(&writer, writing);
    for (size_t i = 0; i < part->batch->draft_count; i++) {
        const struct twin__draft *draft = &part->batch->drafts[i];
        for (size_t j = 0; j < draft->count && status == TWIN_OK; j++)
            status = write_entry(&writer, draft, j);
        writer.change.repaired += draft->repaired;
        writer.change.bytes += draft->text_bytes;
    }
    if (status == TWIN_OK)
        status = write_run(&writer);
    part->change = writer.change;
    close_writer(&writer);
    return status;
}

twin_status twin__batch_write(twin_index_change *change, twin_index *index, struct twin__batch *batch,
                              twin_error *error)
{
    struct batch_writing part = { .batch = batch };
    if (batch->count == 0)
        return TWIN_OK;
    twin_status status = twin__transact(index, write_batch, &part, error);
    if (status != TWIN_OK)
        return status;
    twin__batch_empty(batch);
    if (!change)
        return TWIN_OK;
    change->added += part.change.added;
    change->replaced += part.change.replaced;
    change->too_short += part.change.too_short;
    change->repaired += part.change.repaired;
    change->bytes += part.change.bytes;
    change->batches++;
    return TWIN_OK;
}

/* ---- documents from memory ---- */

enum { TOGETHER = 64 }; /* documents that a worker takes at once */

struct drafting {
    const twin_index *index;
    const twin_index_document *documents;
    size_t count;
    struct drafter {
        struct twin__draft draft;
        twin_scratch scratch;
        twin_status status;
    } * drafters;
    struct twin__batch batch;
    twin_status status;
};

static void work_out_some(void *context, size_t piece, int worker)
{
    struct drafting *drafting = context;
    struct drafter *drafter = &drafting->drafters[worker];
    size_t begin = piece * TOGETHER, end = begin + TOGETHER < drafting->count ? begin + TOGETHER : drafting->count;
    twin__draft_empty(&drafter->draft);
    drafter->status = TWIN_OK;
    for (size_t i = begin; i < end && drafter->status == TWIN_OK; i++)
        drafter->status =
            twin__draft_add(&drafter->draft, drafting->index, &drafter->scratch, &drafting->documents[i]);
}

static void take_some(void *context, size_t piece, int worker)
{
    (void)piece;
    struct drafting *drafting = context;
    struct drafter *drafter = &drafting->drafters[worker];
    if (drafting->status == TWIN_OK)
        drafting->status = drafter->status;
    if (drafting->status == TWIN_OK && !twin__batch_take(&drafting->batch, &drafter->draft))
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
    if (!ids_are_good(documents, count))
        return twin__fail(error, TWIN_EINVAL, "%s: a document needs an id to be added", index->path);
    struct drafting drafting = { .index = index, .documents = documents, .count = count };
    drafting.drafters = calloc((size_t)exec.workers, sizeof *drafting.drafters);
    if (!drafting.drafters)
        return twin__fail_memory(error);
    twin_exec_in_order(exec, (count + TOGETHER - 1) / TOGETHER, work_out_some, take_some, &drafting);
    twin_status status = drafting.status;
    if (status != TWIN_OK)
        twin__fail(error, status, "%s: %s", index->path, twin_status_text(status));
    else
        status = twin__batch_write(change, index, &drafting.batch, error);
    for (int i = 0; i < exec.workers; i++) {
        twin__draft_clear(&drafting.drafters[i].draft);
        twin_scratch_clear(&drafting.drafters[i].scratch);
    }
    twin__batch_clear(&drafting.batch);
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

static twin_status write_removal(struct twin__writing *writing, void *context)
{
    struct removal *removal = context;
    struct writer writer;
    twin_status status = open_writer(&writer, writing);
    removal->removed = 0;
    for (size_t i = 0; i < removal->count && status == TWIN_OK; i++) {
        bool there = false;
        uint64_t number, id_hash = twin__index_id_hash(writing->index, removal->ids[i]);
        status = search(&there, &number, &writer, writer.ids, id_hash, has_id, &removal->ids[i]);
        if (status == TWIN_OK && there)
            status = remove_document(&writer, number, id_hash);
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
    struct removal removal = { .ids = ids, .count = count, .found = found };
    twin_status status = twin__transact(index, write_removal, &removal, error);
    if (status == TWIN_OK && change) {
        change->removed += removal.removed;
        change->batches++;
    }
    return status;
}

/* file_messages.c — the records and signatures of messages in a store.
 *
 * Both tables have blocks: block b has the messages numbered b·256 .. b·256 + 255, so a store reads one only when it is
 * wanted. A commit writes the blocks at the end, to which messages were added, and those in which messages were
 * removed; it deletes the blocks at the beginning whose messages have all expired. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mail/file_private.h"

enum {
    MESSAGES = TWIN__MAIL_MESSAGES,
    SIGNATURES = TWIN__MAIL_SIGNATURES,
    CHECK_BYTES = TWIN__MAIL_CHECK_BYTES,
    BLOCK = TWIN__MAIL_BLOCK,
};

/* The bytes of a message in one of the two tables. */
static size_t entry_bytes(unsigned table)
{
    return table == MESSAGES ? sizeof(struct twin__mail_record) : sizeof(struct twin__mail_signature);
}

/* Where a block ends: it is full, unless the messages up to `next` are all that were learnt. */
static uint64_t block_end(uint64_t block, uint64_t next)
{
    return (block + 1) * BLOCK < next ? (block + 1) * BLOCK : next;
}

/* Writes a block in one of the two tables; the entries of messages that have expired are zero. */
static twin_status save_block(twin__store_txn *txn, const struct twin__remembered *r, uint64_t block, unsigned table,
                              twin_error *error)
{
    size_t size = entry_bytes(table);
    uint64_t begin = block * BLOCK, end = block_end(block, r->first + r->count);
    void *room;
    size_t length = CHECK_BYTES + (size_t)(end - begin) * size;
    twin_status status = twin__store_reserve(&room, txn, table, block, length, TWIN__STORE_SET, error);
    if (status != TWIN_OK)
        return status;
    unsigned char *at = (unsigned char *)room + CHECK_BYTES;
    memset(at, 0, length - CHECK_BYTES);
    for (uint64_t n = begin; n < end; n++, at += size) {
        if (n < r->first)
            continue;
        struct twin__mail_signature signature = twin__remembered_signature(r, n);
        memcpy(at, table == MESSAGES ? (const void *)twin__remembered_at(r, n) : &signature, size);
    }
    twin__mail_put_check(room, length, block);
    return TWIN_OK;
}

static twin_status save_both(twin__store_txn *txn, const struct twin__remembered *r, uint64_t block,
                             twin_error *error)
{
    twin_status status = save_block(txn, r, block, MESSAGES, error);
    return status == TWIN_OK ? save_block(txn, r, block, SIGNATURES, error) : status;
}

twin_status twin__mail_save_messages(twin__store_txn *txn, const struct twin__remembered *r,
                                     const struct twin__mail_saved *saved, twin_error *error)
{
    twin_status status = TWIN_OK;
    uint64_t next = r->first + r->count, blocks = (saved->next + BLOCK - 1) / BLOCK;
    /* Blocks whose messages have all expired. The file has those of saved->first .. saved->next - 1. */
    for (uint64_t b = saved->first / BLOCK; b < blocks && b < r->first / BLOCK && status == TWIN_OK; b++) {
        status = twin__store_delete(txn, MESSAGES, b, NULL, error);
        if (status == TWIN_OK)
            status = twin__store_delete(txn, SIGNATURES, b, NULL, error);
    }
    for (size_t i = 0; i < r->touched_count && status == TWIN_OK; i++)
        if (r->touched[i] >= r->first && r->touched[i] < saved->next)
            status = save_both(txn, r, r->touched[i] / BLOCK, error);
    uint64_t from = saved->next > r->first ? saved->next : r->first;
    for (uint64_t b = from / BLOCK; b * BLOCK < next && status == TWIN_OK; b++)
        status = save_both(txn, r, b, error);
    return status;
}

/* Finds the entries of a block in one of the two tables, which has those of messages up to `next`. */
static twin_status get_block(const unsigned char **out, twin__store_txn *txn, unsigned table, uint64_t block,
                             uint64_t next, const twin__store *store, twin_error *error)
{
    struct twin__bytes value;
    *out = NULL;
    twin_status status = twin__store_get(&value, txn, table, block, error);
    if (status != TWIN_OK)
        return status;
    if (!value.at || value.length != CHECK_BYTES + (block_end(block, next) - block * BLOCK) * entry_bytes(table) ||
        !twin__mail_check_fits(value, block))
        return twin__store_fail_damaged(error, store, "a block of messages");
    *out = (const unsigned char *)value.at + CHECK_BYTES;
    return TWIN_OK;
}

static twin_status load_block(struct twin__model *out, uint64_t block, uint64_t next, twin__store_txn *txn,
                              const twin__store *store, twin_error *error)
{
    const unsigned char *records, *signatures = NULL;
    uint64_t begin = block * BLOCK, end = block_end(block, next);
    twin_status status = get_block(&records, txn, MESSAGES, block, next, store, error);
    if (status == TWIN_OK)
        status = get_block(&signatures, txn, SIGNATURES, block, next, store, error);
    if (status != TWIN_OK || !records || !signatures)
        return status;
    for (uint64_t i = out->remembered.first > begin ? out->remembered.first - begin : 0; i < end - begin; i++) {
        struct twin__mail_record record;
        struct twin__mail_signature signature;
        memcpy(&record, records + i * sizeof record, sizeof record);
        memcpy(&signature, signatures + i * sizeof signature, sizeof signature);
        if (record.label >= out->label_count)
            return twin__store_fail_damaged(error, store, "a message");
        status = twin__model_remember(out, &record, &signature);
        if (status != TWIN_OK)
            return twin__fail_status(error, status);
    }
    return TWIN_OK;
}

twin_status twin__mail_load_messages(struct twin__model *out, uint64_t next, twin__store_txn *txn,
                                     const twin__store *store, twin_error *error)
{
    uint64_t first = out->remembered.first;
    /* What the state says is not believed before the blocks are there. */
    struct twin__store_sizes sizes;
    twin_status status = twin__store_measure(&sizes, txn, error);
    if (status != TWIN_OK)
        return status;
    uint64_t blocks = sizes.records[MESSAGES], count = next - first;
    if (twin__remembered_reserve(&out->remembered, count < blocks * BLOCK ? count : blocks * BLOCK) != TWIN_OK)
        return twin__fail_memory(error);
    for (uint64_t b = first / BLOCK; status == TWIN_OK && first < next && b * BLOCK < next; b++)
        status = load_block(out, b, next, txn, store, error);
    return status;
}

/* Records in the file are read as they are, unless they are few and lie anywhere. */
static twin_status lend_block(struct twin__mail_lent *out, struct twin__mail_loan *loan, uint64_t block,
                              uint64_t next, twin__store_txn *txn, const twin__store *store, twin_error *error)
{
    const unsigned char *records;
    twin_status status = get_block(&records, txn, MESSAGES, block, next, store, error);
    if (status == TWIN_OK)
        status = get_block(&out->signatures, txn, SIGNATURES, block, next, store, error);
    if (status == TWIN_OK && (uintptr_t)records % _Alignof(struct twin__mail_record) != 0) {
        memcpy(loan->last, records, (block_end(block, next) - block * BLOCK) * sizeof loan->last[0]);
        records = (const unsigned char *)loan->last;
    }
    out->records = (const void *)records;
    return status;
}

/* Counts the messages of each label. */
static bool count_lent(struct twin__model *model)
{
    struct twin__remembered *r = &model->remembered;
    r->live = 0;
    for (unsigned i = 0; i < model->label_count; i++)
        model->labels[i].messages = 0;
    size_t count;
    for (uint64_t n = r->first; n < r->first + r->count; n += count) {
        const struct twin__mail_record *records = twin__remembered_run(&count, r, n);
        for (size_t i = 0; i < count; i++) {
            if (records[i].label >= model->label_count)
                return false;
            model->labels[records[i].label].messages += !(records[i].flags & TWIN__MAIL_REMOVED);
        }
    }
    for (unsigned i = 0; i < model->label_count; i++)
        r->live += model->labels[i].messages;
    return true;
}

twin_status twin__mail_lend_messages(struct twin__mail_loan *loan, struct twin__model *model, uint64_t next,
                                     twin__store_txn *txn, const twin__store *store, twin_error *error)
{
    struct twin__remembered *r = &model->remembered;
    size_t blocks = next > r->first ? (size_t)((next + BLOCK - 1) / BLOCK - r->first / BLOCK) : 0;
    twin_status status = TWIN_OK;
    loan->blocks = calloc(blocks + 1, sizeof *loan->blocks);
    if (!loan->blocks)
        return twin__fail_memory(error);
    for (size_t i = 0; i < blocks && status == TWIN_OK; i++)
        status = lend_block(&loan->blocks[i], loan, r->first / BLOCK + i, next, txn, store, error);
    if (status != TWIN_OK)
        return status;
    r->lent = loan->blocks;
    r->count = (size_t)(next - r->first);
    return count_lent(model) ? TWIN_OK : twin__store_fail_damaged(error, store, "a message");
}

uint64_t twin__mail_record_bytes(const struct twin__remembered *r)
{
    enum { PAGE = 4096, PAGE_HEAD = 16 };
    uint64_t value = CHECK_BYTES + BLOCK * entry_bytes(MESSAGES), next = r->first + r->count;
    uint64_t blocks = r->count ? (next + BLOCK - 1) / BLOCK - r->first / BLOCK : 0;
    return blocks * ((PAGE_HEAD + value + PAGE - 1) / PAGE * PAGE);
}

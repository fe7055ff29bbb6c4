/* file_messages.c — the records and signatures of messages in a store, in columns.
 *
 * A value has what a column knows of the messages of some number / 1,024, or of number / 256 where that is much. A store
 * reads it only when it is wanted: one check visits all records and the heads of all signatures, and of the others what
 * these point to. A commit writes the values at the end, to which messages were added, and the records among which some were
 * removed; it deletes the values at the beginning whose messages have all expired. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mail/file_private.h"

enum {
    CHECK_BYTES = TWIN__MAIL_CHECK_BYTES,
    BLOCK = TWIN__MAIL_BLOCK,
    COLUMNS = TWIN__MAIL_COLUMNS,
    OLD_RECORDS = COLUMNS, /* before version 4, and signatures as a whole */
    OLD_SIGNATURES,
    FIRST_COLUMNS = 4, /* the version */
    TOGETHER = 4 * BLOCK,
};

static const struct column {
    unsigned table;
    uint64_t first_key;
    uint32_t together; /* messages in a value */
    size_t bytes;      /* of an entry */
} columns[] = {
    [TWIN__MAIL_RECORDS] = { TWIN__MAIL_MESSAGES, (uint64_t)1 << 63, TOGETHER, sizeof(struct twin__mail_record) },
    [TWIN__MAIL_HEADS] = { TWIN__MAIL_SIGNATURES, (uint64_t)1 << 62, TOGETHER, TWIN__MAIL_HEAD },
    [TWIN__MAIL_TAILS] = { TWIN__MAIL_SIGNATURES, 0, BLOCK, TWIN__MAIL_TAIL },
    [TWIN__MAIL_SHAPES] = { TWIN__MAIL_SIGNATURES, (uint64_t)1 << 63, TOGETHER, TWIN__MAIL_SHAPE },
    [OLD_RECORDS] = { TWIN__MAIL_MESSAGES, 0, BLOCK, sizeof(struct twin__mail_record) },
    [OLD_SIGNATURES] = { TWIN__MAIL_SIGNATURES, 0, BLOCK, TWIN__MAIL_SLOTS },
};

/* How many entries a value has: it is full, unless the messages up to `next` are all that were learnt. */
static uint64_t entries_of(const struct column *column, uint64_t value, uint64_t next)
{
    uint64_t left = next - value * column->together;
    return left < column->together ? left : column->together;
}

/* ---- writing */

/* The entries of messages that have expired are zero. */
static twin_status save_value(twin__store_txn *txn, const struct twin__remembered *r, int column, uint64_t value,
                              twin_error *error)
{
    const struct column *c = &columns[column];
    uint64_t begin = value * c->together, end = begin + entries_of(c, value, r->first + r->count);
    size_t length = CHECK_BYTES + (size_t)(end - begin) * c->bytes;
    void *room;
    twin_status status =
        twin__store_reserve(&room, txn, c->table, c->first_key | value, length, TWIN__STORE_SET, error);
    if (status != TWIN_OK)
        return status;
    unsigned char *at = (unsigned char *)room + CHECK_BYTES;
    size_t gone = begin < r->first ? (size_t)(r->first - begin) : 0;
    memset(at, 0, gone * c->bytes);
    memcpy(at + gone * c->bytes, twin__remembered_entry(r, (enum twin__mail_column)column, begin + gone),
           (size_t)(end - begin - gone) * c->bytes);
    twin__mail_put_check(room, length, c->first_key | value);
    return TWIN_OK;
}

/* Deletes the values of messages `first` to `next` of which none is `kept` or later. */
static twin_status delete_values(twin__store_txn *txn, int column, uint64_t first, uint64_t next, uint64_t kept,
                                 twin_error *error)
{
    const struct column *c = &columns[column];
    uint64_t end = (next + c->together - 1) / c->together, gone = kept / c->together;
    twin_status status = TWIN_OK;
    for (uint64_t v = first / c->together; v < end && v < gone && status == TWIN_OK; v++)
        status = twin__store_delete(txn, c->table, c->first_key | v, NULL, error);
    return status;
}

/* The file has those of saved->first .. saved->next - 1. */
static twin_status save_column(twin__store_txn *txn, const struct twin__remembered *r,
                               const struct twin__mail_saved *saved, int column, twin_error *error)
{
    const struct column *c = &columns[column];
    bool is_new = saved->version < FIRST_COLUMNS; /* the column */
    uint64_t next = r->first + r->count, from = saved->next > r->first && !is_new ? saved->next : r->first;
    twin_status status = is_new ? TWIN_OK : delete_values(txn, column, saved->first, saved->next, r->first, error);
    for (uint64_t v = from / c->together; v * c->together < next && status == TWIN_OK; v++)
        status = save_value(txn, r, column, v, error);
    return status;
}

twin_status twin__mail_save_messages(twin__store_txn *txn, const struct twin__remembered *r,
                                     const struct twin__mail_saved *saved, twin_error *error)
{
    twin_status status = TWIN_OK;
    if (saved->version < FIRST_COLUMNS)
        for (int column = OLD_RECORDS; column <= OLD_SIGNATURES && status == TWIN_OK; column++)
            status = delete_values(txn, column, saved->first, saved->next, UINT64_MAX, error);
    else
        for (size_t i = 0; i < r->touched_count && status == TWIN_OK; i++)
            if (r->touched[i] >= r->first && r->touched[i] < saved->next)
                status = save_value(txn, r, TWIN__MAIL_RECORDS, r->touched[i] / TOGETHER, error);
    for (int column = 0; column < COLUMNS && status == TWIN_OK; column++)
        status = save_column(txn, r, saved, column, error);
    return status;
}

/* ---- reading */

/* Finds the entry of a message, and with it those that follow in its block. */
static twin_status find(const unsigned char **out, struct twin__mail_reading *reading, int column, uint64_t number,
                        twin_error *error)
{
    const struct column *c = &columns[column];
    uint64_t value = number / c->together, key = c->first_key | value;
    if (reading->last[column].number != value + 1) {
        struct twin__bytes found;
        twin_status status = twin__store_get(&found, reading->txn, c->table, key, error);
        if (status != TWIN_OK)
            return status;
        if (!found.at || found.length != CHECK_BYTES + entries_of(c, value, reading->next) * c->bytes ||
            !twin__mail_check_fits(found, key))
            return twin__store_fail_damaged(error, reading->store, "a block of messages");
        reading->last[column].number = value + 1;
        reading->last[column].entries = (const unsigned char *)found.at + CHECK_BYTES;
    }
    *out = reading->last[column].entries + number % c->together * c->bytes;
    return TWIN_OK;
}

static twin_status find_signature(struct twin__mail_signature *out, struct twin__mail_reading *reading,
                                  uint64_t number, twin_error *error)
{
    static const int parts[] = { TWIN__MAIL_HEADS, TWIN__MAIL_TAILS, TWIN__MAIL_SHAPES };
    bool is_old = reading->version < FIRST_COLUMNS;
    const unsigned char *entry = NULL;
    size_t done = 0;
    for (int i = 0; i < (is_old ? 1 : 3); i++) {
        int column = is_old ? OLD_SIGNATURES : parts[i];
        twin_status status = find(&entry, reading, column, number, error);
        if (status != TWIN_OK)
            return status;
        assert(entry);
        memcpy(out->slots + done, entry, columns[column].bytes);
        done += columns[column].bytes;
    }
    return TWIN_OK;
}

twin_status twin__mail_load_messages(struct twin__model *out, struct twin__mail_reading reading, twin_error *error)
{
    uint64_t first = out->remembered.first;
    /* What the state says is not believed before the blocks are there. */
    struct twin__store_sizes sizes;
    twin_status status = twin__store_measure(&sizes, reading.txn, error);
    if (status != TWIN_OK)
        return status;
    uint64_t most = sizes.records[TWIN__MAIL_MESSAGES] * TOGETHER, count = reading.next - first;
    int records = reading.version < FIRST_COLUMNS ? OLD_RECORDS : TWIN__MAIL_RECORDS;
    if (twin__remembered_reserve(&out->remembered, count < most ? count : most) != TWIN_OK)
        return twin__fail_memory(error);
    for (uint64_t n = first; n < reading.next; n++) {
        struct twin__mail_record record;
        struct twin__mail_signature signature;
        const unsigned char *entry = NULL;
        status = find(&entry, &reading, records, n, error);
        if (status == TWIN_OK)
            status = find_signature(&signature, &reading, n, error);
        if (status != TWIN_OK)
            return status;
        assert(entry);
        memcpy(&record, entry, sizeof record);
        if (record.label >= out->label_count)
            return twin__store_fail_damaged(error, reading.store, "a message");
        status = twin__model_remember(out, &record, &signature);
        if (status != TWIN_OK)
            return twin__fail_status(error, status);
    }
    return TWIN_OK;
}

/* ---- lending */

/* Of what is damaged there are zeros, and the loan says so. */
static const void *lend_block(struct twin__mail_lender *lender, enum twin__mail_column column, uint64_t block)
{
    static uint64_t zeros[BLOCK * TWIN__MAIL_TAIL / sizeof(uint64_t)];
    struct twin__mail_loan *loan = (struct twin__mail_loan *)lender;
    const void **lent = &loan->blocks[block - loan->first][column];
    const unsigned char *entries = (const unsigned char *)zeros;
    const void *known = *lent;
    if (known)
        return known;
    if (loan->status == TWIN_OK)
        loan->status = find(&entries, &loan->reading, column, block * BLOCK, loan->error);
    /* Records in the file are read as they are, unless they are few and lie anywhere. */
    if (column == TWIN__MAIL_RECORDS && (uintptr_t)entries % _Alignof(struct twin__mail_record) != 0) {
        uint64_t left = loan->reading.next - block * BLOCK;
        memcpy(loan->last, entries, (left < BLOCK ? left : BLOCK) * sizeof loan->last[0]);
        entries = (const unsigned char *)loan->last;
    }
    return *lent = entries;
}

/* Counts the messages of each label, and those of the item's sender, while each block is still near. */
static bool count_lent(struct twin__model *model, const struct twin__mail_item *item)
{
    struct twin__remembered *r = &model->remembered;
    r->live = 0;
    model->lent_senders = (struct twin__sender_counts){ .address = { 0 } };
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
        twin__senders_count(&model->lent_senders, records, count, item);
    }
    for (unsigned i = 0; i < model->label_count; i++)
        r->live += model->labels[i].messages;
    return true;
}

twin_status twin__mail_lend_messages(struct twin__mail_loan *loan, struct twin__model *model,
                                     const struct twin__mail_item *item, struct twin__mail_reading reading,
                                     twin_error *error)
{
    struct twin__remembered *r = &model->remembered;
    size_t blocks = reading.next > r->first ? (size_t)((reading.next + BLOCK - 1) / BLOCK - r->first / BLOCK) : 0;
    loan->blocks = calloc(blocks + 1, sizeof *loan->blocks);
    if (!loan->blocks)
        return twin__fail_memory(error);
    loan->lender.get = lend_block;
    loan->reading = reading;
    loan->first = r->first / BLOCK;
    loan->error = error;
    r->lender = &loan->lender;
    r->count = (size_t)(reading.next - r->first);
    bool good = count_lent(model, item);
    if (loan->status != TWIN_OK)
        return loan->status;
    return good ? TWIN_OK : twin__store_fail_damaged(error, reading.store, "a message");
}

uint64_t twin__mail_record_bytes(const struct twin__remembered *r)
{
    enum { PAGE = 4096, PAGE_HEAD = 16 };
    uint64_t value = CHECK_BYTES + TOGETHER * sizeof(struct twin__mail_record), next = r->first + r->count;
    uint64_t blocks = r->count ? (next + TOGETHER - 1) / TOGETHER - r->first / TOGETHER : 0;
    return blocks * ((PAGE_HEAD + value + PAGE - 1) / PAGE * PAGE);
}

/* file_examples.c — messages whose features a model keeps, in its file: examples of the second voter, and what is
 * taught again. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mail/file_private.h"

enum { EXAMPLE_HEAD = 24, REHEARSED_PER_VALUE = 16 };

/* ---- examples of the second voter */

/* The label and the judge come before the number of the message. */
enum { LABEL_SHIFT = 48, JUDGE_SHIFT = 47 };

static uint64_t example_key(uint64_t slot, uint64_t number)
{
    return slot << JUDGE_SHIFT | number;
}

static twin_status save_example(twin__store_txn *txn, uint64_t slot, const struct twin__margin_example *example,
                                twin_error *error)
{
    unsigned char *value = malloc(EXAMPLE_HEAD + twin__mail_features_room(example->counts));
    if (!value)
        return twin__fail_memory(error);
    twin__put8(value + 8, example->turn);
    memcpy(value + 16, &example->alpha, 4);
    twin__put4(value + 20, example->positive | (uint32_t)example->calm << 1);
    unsigned char *end = twin__mail_put_features(value + EXAMPLE_HEAD, example->places, example->counts);
    uint64_t key = example_key(slot, example->number);
    struct twin__bytes bytes = { value, (size_t)(end - value) };
    twin__mail_put_check(value, bytes.length, key);
    twin_status status = twin__store_put(txn, TWIN__MAIL_EXAMPLES, key, bytes, TWIN__STORE_SET, error);
    free(value);
    return status;
}

/* Both lists are increasing: what is in the file and no longer in memory is deleted. */
static twin_status save_examples(twin__store_txn *txn, uint64_t slot, const struct twin__margin *margin,
                                 const struct twin__mail_saved_examples *saved, twin_error *error)
{
    twin_status status = TWIN_OK;
    size_t old = 0;
    for (size_t i = 0; i <= margin->count && status == TWIN_OK; i++) {
        uint64_t number = i < margin->count ? margin->examples[i]->number : UINT64_MAX;
        for (; old < saved->count && saved->numbers[old] < number && status == TWIN_OK; old++)
            status =
                twin__store_delete(txn, TWIN__MAIL_EXAMPLES, example_key(slot, saved->numbers[old]), NULL, error);
        old += old < saved->count && saved->numbers[old] == number;
        if (i < margin->count && !margin->examples[i]->stored && status == TWIN_OK)
            status = save_example(txn, slot, margin->examples[i], error);
    }
    return status;
}

static twin_status load_example(struct twin__margin *out, uint32_t *places, struct twin__store_record record,
                                uint32_t version, const twin__store *store, twin_error *error)
{
    const unsigned char *at = record.value.at, *end = at + record.value.length;
    struct twin__margin_example head = { .number = record.key & (((uint64_t)1 << JUDGE_SHIFT) - 1), .stored = true };
    struct twin__features features;
    if (record.value.length < EXAMPLE_HEAD || !twin__mail_check_fits(record.value, record.key))
        return twin__store_fail_damaged(error, store, "an example");
    head.turn = twin__get8(at + 8);
    memcpy(&head.alpha, at + 16, 4);
    head.positive = twin__get4(at + 20) & 1;
    head.calm = twin__get4(at + 20) >> 1 & 7;
    at += EXAMPLE_HEAD;
    if (!twin__mail_get_features(&features, places, &at, end, version) || at != end ||
        !(head.alpha > 0 && (double)head.alpha <= TWIN__MARGIN_COST))
        return twin__store_fail_damaged(error, store, "an example");
    twin_status status = twin__margin_restore(out, &head, &features);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* Calls `load` with each record of a table that belongs to a label. */
typedef twin_status load_record(struct twin__mail_label *label, uint32_t *places, struct twin__store_record record,
                                uint32_t version, const twin__store *store, twin_error *error);

static twin_status load_table(struct twin__model *out, unsigned table, unsigned label_shift, load_record *load,
                              uint32_t version, twin__store_txn *txn, const twin__store *store, twin_error *error)
{
    struct twin__store_cursor cursor = { 0 };
    struct twin__store_record record;
    uint32_t *places = malloc((size_t)TWIN__FEATURE_BLOCKS * TWIN__FEATURE_PLACES * sizeof *places);
    if (!places)
        return twin__fail_memory(error);
    twin_status status = twin__store_cursor_open(&cursor, txn, table, error);
    if (status == TWIN_OK)
        status = twin__store_move(&record, &cursor, TWIN__STORE_FIRST, error);
    while (status == TWIN_OK && record.value.at) {
        uint64_t label = record.key >> label_shift;
        status = label < out->label_count ? load(&out->labels[label], places, record, version, store, error)
                                          : twin__store_fail_damaged(error, store, "a label");
        if (status == TWIN_OK)
            status = twin__store_move(&record, &cursor, TWIN__STORE_NEXT, error);
    }
    twin__store_cursor_close(&cursor);
    free(places);
    return status;
}

/* ---- rehearsal */

static uint64_t rehearsal_key(unsigned label, size_t part)
{
    return (uint64_t)label << 32 | part;
}

static twin_status save_rehearsal_part(twin__store_txn *txn, unsigned label, const struct twin__rehearsal *rehearsal,
                                       size_t part, twin_error *error)
{
    struct twin__rehearsed **slots = rehearsal->slots + part * REHEARSED_PER_VALUE;
    size_t room = TWIN__MAIL_CHECK_BYTES;
    for (size_t i = 0; i < REHEARSED_PER_VALUE; i++)
        room += 8 + (slots[i] ? twin__mail_features_room(slots[i]->counts) : 0);
    unsigned char *value = malloc(room);
    if (!value)
        return twin__fail_memory(error);
    unsigned char *at = value + TWIN__MAIL_CHECK_BYTES;
    for (size_t i = 0; i < REHEARSED_PER_VALUE; i++) {
        twin__put8(at, slots[i] ? slots[i]->number + 1 : 0);
        at += 8;
        if (slots[i])
            at = twin__mail_put_features(at, slots[i]->places, slots[i]->counts);
    }
    uint64_t key = rehearsal_key(label, part);
    struct twin__bytes bytes = { value, (size_t)(at - value) };
    twin__mail_put_check(value, bytes.length, key);
    twin_status status = twin__store_put(txn, TWIN__MAIL_REHEARSAL, key, bytes, TWIN__STORE_SET, error);
    free(value);
    return status;
}

static twin_status save_rehearsal(twin__store_txn *txn, unsigned label, const struct twin__rehearsal *rehearsal,
                                  twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t part = 0; part < TWIN__REHEARSED / REHEARSED_PER_VALUE && rehearsal->slots; part++) {
        bool changed = false;
        for (size_t i = 0; i < REHEARSED_PER_VALUE; i++)
            changed = changed || rehearsal->changed[part * REHEARSED_PER_VALUE + i];
        if (changed && status == TWIN_OK)
            status = save_rehearsal_part(txn, label, rehearsal, part, error);
    }
    return status;
}

static twin_status load_rehearsal(struct twin__mail_label *label, uint32_t *places, struct twin__store_record record,
                                  uint32_t version, const twin__store *store, twin_error *error)
{
    const unsigned char *at = (const unsigned char *)record.value.at + TWIN__MAIL_CHECK_BYTES,
                        *end = at - TWIN__MAIL_CHECK_BYTES + record.value.length;
    if (!twin__mail_check_fits(record.value, record.key))
        return twin__store_fail_damaged(error, store, "a message to be taught again");
    for (size_t i = 0; i < REHEARSED_PER_VALUE; i++) {
        struct twin__features features;
        uint64_t number = end - at >= 8 ? twin__get8(at) : 0;
        bool good = end - at >= 8;
        at += good ? 8 : 0;
        if (good && number == 0)
            continue;
        if (!good || !twin__mail_get_features(&features, places, &at, end, version))
            return twin__store_fail_damaged(error, store, "a message to be taught again");
        twin_status status = twin__rehearsal_add(&label->rehearsal, number - 1, &features);
        if (status != TWIN_OK)
            return twin__fail_status(error, status);
    }
    return at == end ? TWIN_OK : twin__store_fail_damaged(error, store, "a message to be taught again");
}

static twin_status load_label_example(struct twin__mail_label *label, uint32_t *places,
                                      struct twin__store_record record, uint32_t version, const twin__store *store,
                                      twin_error *error)
{
    struct twin__content *content = &label->content[record.key >> JUDGE_SHIFT & 1];
    if (!content->cells)
        return twin__store_fail_damaged(error, store, "an example");
    return load_example(&content->margin, places, record, version, store, error);
}

/* ---- both */

twin_status twin__mail_save_examples(twin__store_txn *txn, unsigned label, const struct twin__mail_label *known,
                                     const struct twin__mail_saved_examples saved[TWIN__JUDGES], twin_error *error)
{
    twin_status status = save_rehearsal(txn, label, &known->rehearsal, error);
    for (int by = 0; by < TWIN__JUDGES && status == TWIN_OK && twin__label_learns(known); by++)
        status =
            save_examples(txn, (uint64_t)label << 1 | (uint64_t)by, &known->content[by].margin, &saved[by], error);
    return status;
}

twin_status twin__mail_load_examples(struct twin__model *out, uint32_t version, twin__store_txn *txn,
                                     const twin__store *store, twin_error *error)
{
    twin_status status =
        load_table(out, TWIN__MAIL_EXAMPLES, LABEL_SHIFT, load_label_example, version, txn, store, error);
    if (status == TWIN_OK)
        status = load_table(out, TWIN__MAIL_REHEARSAL, 32, load_rehearsal, version, txn, store, error);
    return status;
}

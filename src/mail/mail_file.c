/* mail_file.c — a mail model in a store.
 *
 *     table       key                       value
 *     meta        "format", "state"         below
 *                 "texts"                   check, the most bytes of a text (4); not there if none are kept
 *                 "thresholds"              check, then for each label what is not of it is below, and the median of its own
 *                                           messages (doubles); not there, or of fewer labels, where earlier programs wrote; some
 *                                           wrote two more
 *     messages    2^63 + number / 1024      check, then a record of 40 bytes for each of these numbers
 *                 2^62 + number / 16        the beginnings of texts, if they are kept: file_texts.c
 *     signatures  2^62 + number / 1024      check, then the first 16 bytes of a signature for each, which are of words
 *                 number / 256              check, then the next 96 bytes for each, of words
 *                 2^63 + number / 1024      check, then the last 16, of the structure of HTML (all 255: none). Versions 1 to 3
 *                                           have all 128 bytes under number / 256, at first 128 of words,
 *                                           and there the records, too
 *     weights     label · 2^32 + 2·c        check, then cells c·8188 .. of the linear learner: weight and squares, floats
 *                 label · 2^32 + 2·c + 1    check, then weights c·16376 .. of the second voter: floats
 *                 the same + 2^30           of the learners of what is seen
 *                 the same + 2^31           check, then record c of changes: count (4 bytes), places, then for each place
 *                                           its cell, or its weight
 *     examples    label · 2^48 + number     check, turn (8 bytes), α (float), flags (4 bytes: 1 positive, 2 · calm),
 *                                           features
 *     rehearsal   label · 2^32 + slot / 16  check, then for each of 16 slots the number of its message plus 1 (8 bytes; 0:
 *                                           empty) and, unless it is empty, features
 *
 *     features    four counts (4 bytes each), and the places of all blocks (versions 1, 2: words, windows): each as its distance to the one before, minus
 *                 1 after the first, in groups of 7 bits, the last of which has its high bit clear
 *
 *     format   0  8  magic "TWINMAIL"        state   0  8  last transaction
 *              8  4  version, 4                      8  8  first number     16  8  next number
 *             12  4  bits of a place                24  8  messages learnt since the model was created
 *             16 16  key                            32  8  labels
 *             32  8  most messages kept             40  8  label of the last message learnt
 *             40  8  days kept                      48  8  how many in a row had it
 *             48  8  check value of the hash        56     for each label: 8 threshold (double), 16 messages taught to
 *                                                          its second voter: of others, of it; 64 name, zero-padded;
 *                                                          8 records of changes: of the linear learner, of the second
 *                                                          voter; again of what is seen (not in version 2;
 *                                                          version 1 had none)
 *             56  8  check                                 8  check
 *
 * A check is the XXH3 of the rest of the value, seeded with the key. Numbers are in the machine's order: so are LMDB's pages.
 * Messages are in blocks, and weights in parts of 64 KiB, because a store reads all small values when it is
 * opened, and long ones only when they are wanted. This file has what is in "meta"; file_messages.c, file_weights.c and so
 * on have the other tables. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "mail/file_private.h"

enum {
    META = TWIN__MAIL_META,
    MESSAGES = TWIN__MAIL_MESSAGES,
    SIGNATURES = TWIN__MAIL_SIGNATURES,
    WEIGHTS = TWIN__MAIL_WEIGHTS,
    EXAMPLES = TWIN__MAIL_EXAMPLES,
    REHEARSAL = TWIN__MAIL_REHEARSAL,
};
static const struct twin__store_table tables[] = {
    [META] = { "meta", TWIN__STORE_NAMES },
    [MESSAGES] = { "messages", TWIN__STORE_NUMBERS },
    [SIGNATURES] = { "signatures", TWIN__STORE_NUMBERS },
    [WEIGHTS] = { "weights", TWIN__STORE_NUMBERS },
    [EXAMPLES] = { "examples", TWIN__STORE_NUMBERS },
    [REHEARSAL] = { "rehearsal", TWIN__STORE_NUMBERS },
};
static const char *const names[] = {
    [TWIN__MAIL_META_FORMAT] = "format",
    [TWIN__MAIL_META_TEXTS] = "texts",
    [TWIN__MAIL_META_STATE] = "state",
    [TWIN__MAIL_META_THRESHOLDS] = "thresholds",
};
const struct twin__store_schema twin__mail_schema = { "a mail model", tables, sizeof tables / sizeof tables[0],
                                                      names };

static const char MAGIC[8] = { 'T', 'W', 'I', 'N', 'M', 'A', 'I', 'L' };
static const char HASH_CHECK[] = "twinsift mail: is this the same hash?";

enum {
    VERSION = 4,
    CHECK_BYTES = TWIN__MAIL_CHECK_BYTES,
    FORMAT_BYTES = 64,
    STATE_HEAD = 56,
    STATE_NAME = 8 + 16, /* where a label's name begins */
    STATE_CHANGES = STATE_NAME + TWIN_MAIL_LABEL_BYTES + 1,
    STATE_LABEL = STATE_CHANGES + 4 * TWIN__MAIL_LEARNERS,
};

int twin__mail_learners(uint32_t version)
{
    return version < 3 ? 2 : TWIN__MAIL_LEARNERS;
}

/* The bytes of a label in the state. */
static size_t label_bytes(uint32_t version)
{
    return version == 1 ? STATE_CHANGES : STATE_CHANGES + 4 * (size_t)twin__mail_learners(version);
}

static uint64_t check_of(const unsigned char *value, size_t length, uint64_t key)
{
    return XXH3_64bits_withSeed(value + CHECK_BYTES, length - CHECK_BYTES, key);
}

void twin__mail_put_check(void *value, size_t length, uint64_t key)
{
    twin__put8(value, check_of(value, length, key));
}

bool twin__mail_check_fits(struct twin__bytes value, uint64_t key)
{
    return value.length >= CHECK_BYTES && twin__get8(value.at) == check_of(value.at, value.length, key);
}

/* ---- saved */

void twin__mail_saved_clear(struct twin__mail_saved *saved)
{
    for (unsigned i = 0; i < TWIN_MAIL_MAX_LABELS; i++) {
        for (int by = 0; by < TWIN__JUDGES; by++)
            free(saved->examples[i][by].numbers);
        for (int learner = 0; learner < TWIN__MAIL_LEARNERS; learner++)
            free(saved->weights[i][learner].values);
    }
    *saved = (struct twin__mail_saved){ 0 };
}

static twin_status note_examples(struct twin__mail_saved_examples *out, const struct twin__margin *margin)
{
    uint64_t *numbers = realloc(out->numbers, (margin->count + 1) * sizeof *numbers);
    if (!numbers)
        return TWIN_ENOMEM;
    out->numbers = numbers;
    out->count = margin->count;
    for (size_t i = 0; i < margin->count; i++) {
        numbers[i] = margin->examples[i]->number;
        margin->examples[i]->stored = true;
    }
    return TWIN_OK;
}

twin_status twin__mail_saved_update(struct twin__mail_saved *saved, struct twin__model *model, uint64_t transaction)
{
    twin_status status = TWIN_OK;
    for (unsigned l = 0; l < model->label_count && status == TWIN_OK; l++) {
        struct twin__mail_label *label = &model->labels[l];
        for (int by = 0; by < TWIN__JUDGES && status == TWIN_OK; by++)
            status = note_examples(&saved->examples[l][by], &label->content[by].margin);
        if (status == TWIN_OK && twin__label_learns(label))
            status = twin__mail_note_weights(saved, l, label);
        memset(label->rehearsal.changed, 0, sizeof label->rehearsal.changed);
    }
    saved->transaction = transaction;
    saved->version = VERSION;
    saved->first = model->remembered.first;
    saved->next = model->remembered.first + model->remembered.count;
    model->remembered.touched_count = 0;
    twin__mail_texts_clear(&model->texts);
    return status;
}

/* ---- meta */

static twin_status save_format(twin__store_txn *txn, const struct twin__model *model, twin_error *error)
{
    unsigned char value[FORMAT_BYTES];
    twin_hash hash = { .family = TWIN_HASH_SIP, .key = { model->key[0], model->key[1] } };
    memcpy(value, MAGIC, sizeof MAGIC);
    twin__put4(value + 8, VERSION);
    twin__put4(value + 12, TWIN__FEATURE_BITS);
    memcpy(value + 16, model->key, 16);
    twin__put8(value + 32, model->options.keep_messages);
    twin__put8(value + 40, model->options.keep_days);
    twin__put8(value + 48, twin_hash_bytes(hash, HASH_CHECK, sizeof HASH_CHECK - 1));
    twin__put8(value + 56, XXH3_64bits(value, 56));
    twin_status status = twin__store_put(txn, META, TWIN__MAIL_META_FORMAT,
                                         (struct twin__bytes){ value, sizeof value }, TWIN__STORE_SET, error);
    unsigned char texts[CHECK_BYTES + 4];
    twin__put4(texts + CHECK_BYTES, TWIN__MAIL_TEXT_BYTES);
    twin__mail_put_check(texts, sizeof texts, 0);
    if (status == TWIN_OK && !model->options.without_texts)
        status = twin__store_put(txn, META, TWIN__MAIL_META_TEXTS, (struct twin__bytes){ texts, sizeof texts },
                                 TWIN__STORE_SET, error);
    return status;
}

/* Whether texts are kept. */
static twin_status load_texts(struct twin__model *out, twin__store_txn *txn, const twin__store *store,
                              twin_error *error)
{
    struct twin__bytes value;
    twin_status status = twin__store_get(&value, txn, META, TWIN__MAIL_META_TEXTS, error);
    if (status == TWIN_OK && value.at && !twin__mail_check_fits(value, 0))
        status = twin__store_fail_damaged(error, store, "its parameters");
    out->options.without_texts = status != TWIN_OK || !value.at;
    return status;
}

static twin_status save_state(twin__store_txn *txn, const struct twin__model *model,
                              const struct twin__mail_saved *saved, twin_error *error)
{
    unsigned char value[STATE_HEAD + TWIN_MAIL_MAX_LABELS * STATE_LABEL + CHECK_BYTES] = { 0 },
                                                                          *at = value + STATE_HEAD;
    const uint64_t numbers[] = { twin__store_number(txn),
                                 model->remembered.first,
                                 model->remembered.first + model->remembered.count,
                                 model->learnt,
                                 model->label_count,
                                 model->streak_label,
                                 model->streak };
    memcpy(value, numbers, sizeof numbers);
    for (unsigned i = 0; i < model->label_count; i++, at += STATE_LABEL) {
        memcpy(at, &model->labels[i].thresholds.above, 8);
        memcpy(at + 8, model->labels[i].content[TWIN__BY_ALL].margin.taught, 16);
        memcpy(at + STATE_NAME, model->labels[i].name, strlen(model->labels[i].name));
        uint32_t changes[TWIN__MAIL_LEARNERS] = { 0 };
        if (twin__label_learns(&model->labels[i]))
            twin__mail_count_changes(changes, i, &model->labels[i], saved);
        memcpy(at + STATE_CHANGES, changes, sizeof changes);
    }
    size_t length = (size_t)(at - value);
    twin__put8(at, XXH3_64bits(value, length));
    return twin__store_put(txn, META, TWIN__MAIL_META_STATE, (struct twin__bytes){ value, length + CHECK_BYTES },
                           TWIN__STORE_SET, error);
}

static twin_status load_format(struct twin__model *out, uint32_t *version, twin__store_txn *txn,
                               const twin__store *store, twin_error *error)
{
    struct twin__bytes value;
    uint64_t key[2];
    twin_status status = twin__store_get(&value, txn, META, TWIN__MAIL_META_FORMAT, error);
    if (status != TWIN_OK)
        return status;
    const unsigned char *at = value.at;
    if (!at || value.length < sizeof MAGIC || memcmp(at, MAGIC, sizeof MAGIC) != 0)
        return twin__fail(error, TWIN_EFORMAT, "%s is not a mail model of twinsift", twin__store_path(store));
    if (value.length >= 12 && twin__get4(at + 8) > VERSION)
        return twin__fail(error, TWIN_EUNSUPPORTED, "%s was written by a newer version of twinsift; use that one",
                          twin__store_path(store));
    if (value.length != FORMAT_BYTES || twin__get8(at + 56) != XXH3_64bits(at, 56) || twin__get4(at + 8) == 0 ||
        twin__get4(at + 12) != TWIN__FEATURE_BITS)
        return twin__store_fail_damaged(error, store, "its parameters");
    *version = twin__get4(at + 8);
    memcpy(key, at + 16, sizeof key);
    twin_hash hash = { .family = TWIN_HASH_SIP, .key = { key[0], key[1] } };
    if (twin__get8(at + 48) != twin_hash_bytes(hash, HASH_CHECK, sizeof HASH_CHECK - 1))
        return twin__fail(error, TWIN_EFORMAT, "%s was written by a library whose hash function gives other values",
                          twin__store_path(store));
    status = twin__model_init(
        out, (twin_mail_options){ .keep_messages = twin__get8(at + 32), .keep_days = twin__get8(at + 40) }, key);
    return status == TWIN_OK ? load_texts(out, txn, store, error) : twin__fail_status(error, status);
}

/* A label's name in the file ends within its 64 bytes. */
static twin_status load_labels(struct twin__model *out, struct twin__mail_saved *saved, const unsigned char *at,
                               uint64_t count, const twin__store *store, twin_error *error)
{
    for (uint64_t i = 0; i < count; i++, at += label_bytes(saved->version)) {
        unsigned number;
        if (at[STATE_CHANGES - 1] != 0)
            return twin__store_fail_damaged(error, store, "a label");
        twin_status status = twin__model_add_label(&number, out, (const char *)at + STATE_NAME, error);
        if (status == TWIN_ENOMEM)
            return status;
        if (status != TWIN_OK || number != i)
            return twin__store_fail_damaged(error, store, "a label");
        memcpy(&out->labels[number].thresholds.above, at, 8);
        for (int by = 0; by < TWIN__JUDGES; by++)
            memcpy(out->labels[number].content[by].margin.taught, at + 8, 16);
        for (int l = 0; l < twin__mail_learners(saved->version) && saved->version > 1; l++)
            saved->weights[number][l].changes = twin__get4(at + STATE_CHANGES + 4 * l);
    }
    return TWIN_OK;
}

static twin_status load_state(struct twin__model *out, struct twin__mail_saved *saved, twin__store_txn *txn,
                              const twin__store *store, twin_error *error)
{
    struct twin__bytes value;
    twin_status status = twin__store_get(&value, txn, META, TWIN__MAIL_META_STATE, error);
    if (status != TWIN_OK)
        return status;
    const unsigned char *at = value.at;
    if (!at || value.length < STATE_HEAD + CHECK_BYTES ||
        twin__get8(at + value.length - CHECK_BYTES) != XXH3_64bits(at, value.length - CHECK_BYTES))
        return twin__store_fail_damaged(error, store, "its state");
    uint64_t numbers[7];
    memcpy(numbers, at, sizeof numbers);
    if (numbers[0] != saved->transaction || numbers[1] > numbers[2] || numbers[2] - numbers[1] > UINT32_MAX ||
        numbers[4] > TWIN_MAIL_MAX_LABELS ||
        value.length != STATE_HEAD + numbers[4] * label_bytes(saved->version) + CHECK_BYTES)
        return twin__store_fail_damaged(error, store, "its state");
    saved->first = numbers[1];
    saved->next = numbers[2];
    out->remembered.first = numbers[1];
    out->learnt = numbers[3];
    out->streak_label = (unsigned)numbers[5];
    out->streak = numbers[6];
    status = load_labels(out, saved, at + STATE_HEAD, numbers[4], store, error);
    return status == TWIN_OK ? twin__mail_load_thresholds(out, txn, store, error) : status;
}

/* ---- the whole */

twin_status twin__mail_save(twin__store_txn *txn, const struct twin__model *model,
                            const struct twin__mail_saved *saved, twin_error *error)
{
    twin_status status = saved->version == VERSION ? TWIN_OK : save_format(txn, model, error);
    if (status == TWIN_OK)
        status = twin__mail_save_messages(txn, &model->remembered, saved, error);
    if (status == TWIN_OK)
        status = twin__mail_save_texts(txn, model, saved, error);
    for (unsigned i = 0; i < model->label_count && status == TWIN_OK; i++) {
        status = twin__mail_save_examples(txn, i, &model->labels[i], saved->examples[i], error);
        if (status == TWIN_OK && twin__label_learns(&model->labels[i]))
            status = twin__mail_save_weights(txn, i, &model->labels[i], saved, error);
    }
    if (status == TWIN_OK)
        status = twin__mail_save_thresholds(txn, model, error);
    return status == TWIN_OK ? save_state(txn, model, saved, error) : status;
}

/* Versions 1 and 2 know nothing of what is seen, and have a word's weights in the place of what is always on. */
static void take_old_content(struct twin__mail_label *label)
{
    struct twin__content *all = &label->content[TWIN__BY_ALL];
    all->cells[TWIN__FEATURE_ALWAYS] = (struct twin__linear_cell){ 0 };
    all->margin.weights[TWIN__FEATURE_ALWAYS] = 0;
    twin__label_copy(label);
}

/* All that has another form in the file is written again. */
static void renew(struct twin__mail_saved *saved, struct twin__model *model)
{
    for (unsigned l = 0; l < model->label_count; l++) {
        struct twin__mail_label *label = &model->labels[l];
        const struct twin__margin *margin = &label->content[TWIN__BY_ALL].margin;
        for (size_t i = 0; i < margin->count; i++)
            margin->examples[i]->stored = false;
        for (size_t i = 0; i < TWIN__REHEARSED && label->rehearsal.slots; i++)
            label->rehearsal.changed[i] = label->rehearsal.slots[i] != NULL;
        for (int learner = 0; learner < TWIN__MAIL_LEARNERS; learner++)
            saved->weights[l][learner].bytes = SIZE_MAX / 2; /* more than is kept as changes */
    }
}

/* What is in the file is what was loaded, but for its version. */
static twin_status note_loaded(struct twin__mail_saved *saved, struct twin__model *model, twin_error *error)
{
    uint32_t version = saved->version;
    if (twin__mail_saved_update(saved, model, saved->transaction) != TWIN_OK)
        return twin__fail_memory(error);
    saved->version = version; /* of which the signatures have another form before version 4 */
    if (version < 3)
        renew(saved, model);
    return TWIN_OK;
}

twin_status twin__mail_load(struct twin__model *out, struct twin__mail_saved *saved, twin__store_txn *txn,
                            uint64_t number, enum twin__mail_use use, const twin__store *store, twin_error *error)
{
    saved->transaction = number;
    twin_status status = load_format(out, &saved->version, txn, store, error);
    out->without_weights = use == TWIN__MAIL_FOR_FEW_CHECKS;
    if (status == TWIN_OK)
        status = load_state(out, saved, txn, store, error);
    if (use == TWIN__MAIL_FOR_FEW_CHECKS)
        return status;
    if (status == TWIN_OK)
        status = twin__mail_load_messages(
            out,
            (struct twin__mail_reading){ .txn = txn, .store = store, .version = saved->version, .next = saved->next },
            error);
    for (unsigned i = 0; i < out->label_count && status == TWIN_OK; i++)
        if (twin__label_learns(&out->labels[i])) {
            status = twin__mail_load_weights(&out->labels[i], i, (struct twin__mail_places){ 0 }, saved, txn, store,
                                             error);
            if (status == TWIN_OK && saved->version < 3)
                take_old_content(&out->labels[i]);
        }
    if (status == TWIN_OK && use == TWIN__MAIL_FOR_LEARNING)
        status = twin__mail_load_examples(out, saved->version, txn, store, error);
    if (status == TWIN_OK && use == TWIN__MAIL_FOR_LEARNING)
        status = note_loaded(saved, out, error);
    return status;
}

twin_status twin__mail_file_sizes(twin_mail_info *out, const struct twin__remembered *remembered, twin__store *store,
                                  twin_error *error)
{
    twin__store_txn *txn;
    struct twin__store_sizes sizes;
    twin_status status = twin__store_begin_read(&txn, store, error);
    if (status != TWIN_OK)
        return status;
    status = twin__store_measure(&sizes, txn, error);
    out->bytes = sizes.file_bytes;
    out->message_bytes = sizes.bytes[MESSAGES];
    if (out->keeps_texts && out->message_bytes > twin__mail_record_bytes(remembered)) {
        out->text_bytes = out->message_bytes - twin__mail_record_bytes(remembered);
        out->message_bytes -= out->text_bytes;
    }
    out->signature_bytes = sizes.bytes[SIGNATURES];
    out->weight_bytes = sizes.bytes[WEIGHTS] + sizes.bytes[EXAMPLES] + sizes.bytes[REHEARSAL];
    twin__store_end_read(txn);
    return status;
}

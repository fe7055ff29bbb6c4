/* mail_file.c — a mail model in a store.
 *
 *     table       key                       value
 *     meta        "format", "state"         below
 *     messages    number / 256              check, then a record of 40 bytes for each number from 256·key on
 *     signatures  number / 256              check, then a signature of 128 bytes for each
 *     weights     label · 2^32 + 2·c        check, then cells c·8188 .. of the linear learner: weight and squares, floats
 *                 label · 2^32 + 2·c + 1    check, then weights c·16376 .. of the second voter: floats
 *     examples    label · 2^48 + number     check, turn (8 bytes), α (float), flags (4 bytes: 1 positive, 2 · calm),
 *                                           features
 *     rehearsal   label · 2^32 + slot / 16  check, then for each of 16 slots the number of its message plus 1 (8 bytes; 0:
 *                                           empty) and, unless it is empty, features
 *
 *     features    two counts (4 bytes each), and the places of both blocks: each as its distance to the one before, minus
 *                 1 after the first, in groups of 7 bits, the last of which has its high bit clear
 *
 *     format   0  8  magic "TWINMAIL"        state   0  8  last transaction
 *              8  4  version, 1                      8  8  first number     16  8  next number
 *             12  4  bits of a place                24  8  messages learnt since the model was created
 *             16 16  key                            32  8  labels
 *             32  8  most messages kept             40  8  label of the last message learnt
 *             40  8  days kept                      48  8  how many in a row had it
 *             48  8  check value of the hash        56     for each label: 8 threshold (double), 16 messages taught to
 *                                                          its second voter: of others, of it; 64 name, zero-padded
 *             56  8  check                                 8  check
 *
 * A check is the XXH3 of the rest of the value, seeded with the key. Numbers are in the machine's order: so are LMDB's pages.
 * Messages are in blocks, and weights in parts of 64 KiB, because a store reads all small values when it is
 * opened, and long ones only when they are wanted. */
#include "mail/mail_file.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"

enum { META, MESSAGES, SIGNATURES, WEIGHTS, EXAMPLES, REHEARSAL };
static const struct twin__store_table tables[] = {
    [META] = { "meta", TWIN__STORE_NAMES },
    [MESSAGES] = { "messages", TWIN__STORE_NUMBERS },
    [SIGNATURES] = { "signatures", TWIN__STORE_NUMBERS },
    [WEIGHTS] = { "weights", TWIN__STORE_NUMBERS },
    [EXAMPLES] = { "examples", TWIN__STORE_NUMBERS },
    [REHEARSAL] = { "rehearsal", TWIN__STORE_NUMBERS },
};
const struct twin__store_schema twin__mail_schema = { "a mail model", tables, sizeof tables / sizeof tables[0] };

static const char MAGIC[8] = "TWINMAIL";
static const char HASH_CHECK[] = "twinsift mail: is this the same hash?";

enum {
    VERSION = 1,
    CHECK_BYTES = 8,
    FORMAT_BYTES = 64,
    STATE_HEAD = 56,
    STATE_LABEL = 8 + 16 + TWIN_MAIL_LABEL_BYTES + 1,
    BLOCK = 256,           /* messages */
    PART_BYTES = 8188 * 8, /* of weights: with its check and LMDB's head, sixteen pages */
    EXAMPLE_HEAD = 24,
    REHEARSED_PER_VALUE = 16,
};

static uint64_t check_of(const unsigned char *value, size_t length, uint64_t key)
{
    return XXH3_64bits_withSeed(value + CHECK_BYTES, length - CHECK_BYTES, key);
}

static bool check_fits(struct twin__bytes value, uint64_t key)
{
    return value.length >= CHECK_BYTES && twin__get8(value.at) == check_of(value.at, value.length, key);
}

/* ---- saved */

void twin__mail_saved_clear(struct twin__mail_saved *saved)
{
    for (unsigned i = 0; i < TWIN_MAIL_MAX_LABELS; i++)
        free(saved->examples[i].numbers);
    *saved = (struct twin__mail_saved){ 0 };
}

twin_status twin__mail_saved_update(struct twin__mail_saved *saved, struct twin__model *model, uint64_t transaction)
{
    struct twin__mail_saved now = { .transaction = transaction,
                                    .first = model->remembered.first,
                                    .next = model->remembered.first + model->remembered.count };
    for (unsigned l = 0; l < model->label_count; l++) {
        const struct twin__margin *margin = &model->labels[l].content.margin;
        now.examples[l].numbers = malloc((margin->count + 1) * sizeof(uint64_t));
        if (!now.examples[l].numbers) {
            twin__mail_saved_clear(&now);
            return TWIN_ENOMEM;
        }
        for (size_t i = 0; i < margin->count; i++)
            now.examples[l].numbers[now.examples[l].count++] = margin->examples[i]->number;
    }
    for (unsigned l = 0; l < model->label_count; l++)
        for (size_t i = 0; i < model->labels[l].content.margin.count; i++)
            model->labels[l].content.margin.examples[i]->stored = true;
    for (unsigned l = 0; l < model->label_count; l++)
        memset(model->labels[l].rehearsal.changed, 0, sizeof model->labels[l].rehearsal.changed);
    model->remembered.touched_count = 0;
    twin__mail_saved_clear(saved);
    *saved = now;
    return TWIN_OK;
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
    return twin__store_put_named(txn, META, "format", (struct twin__bytes){ value, sizeof value }, error);
}

static twin_status save_state(twin__store_txn *txn, const struct twin__model *model, twin_error *error)
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
        memcpy(at, &model->labels[i].threshold, 8);
        memcpy(at + 8, model->labels[i].content.margin.taught, 16);
        memcpy(at + 24, model->labels[i].name, strlen(model->labels[i].name));
    }
    size_t length = (size_t)(at - value);
    twin__put8(at, XXH3_64bits(value, length));
    return twin__store_put_named(txn, META, "state", (struct twin__bytes){ value, length + CHECK_BYTES }, error);
}

static twin_status load_format(struct twin__model *out, twin__store_txn *txn, const twin__store *store,
                               twin_error *error)
{
    struct twin__bytes value;
    uint64_t key[2];
    twin_status status = twin__store_get_named(&value, txn, META, "format", error);
    if (status != TWIN_OK)
        return status;
    const unsigned char *at = value.at;
    if (!at || value.length < sizeof MAGIC || memcmp(at, MAGIC, sizeof MAGIC) != 0)
        return twin__fail(error, TWIN_EFORMAT, "%s is not a mail model of twinsift", twin__store_path(store));
    if (value.length >= 12 && twin__get4(at + 8) > VERSION)
        return twin__fail(error, TWIN_EUNSUPPORTED, "%s was written by a newer version of twinsift; use that one",
                          twin__store_path(store));
    if (value.length != FORMAT_BYTES || twin__get8(at + 56) != XXH3_64bits(at, 56) || twin__get4(at + 8) != VERSION ||
        twin__get4(at + 12) != TWIN__FEATURE_BITS)
        return twin__store_fail_damaged(error, store, "its parameters");
    memcpy(key, at + 16, sizeof key);
    twin_hash hash = { .family = TWIN_HASH_SIP, .key = { key[0], key[1] } };
    if (twin__get8(at + 48) != twin_hash_bytes(hash, HASH_CHECK, sizeof HASH_CHECK - 1))
        return twin__fail(error, TWIN_EFORMAT, "%s was written by a library whose hash gives other numbers",
                          twin__store_path(store));
    status = twin__model_init(
        out, (twin_mail_options){ .keep_messages = twin__get8(at + 32), .keep_days = twin__get8(at + 40) }, key);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* A label's name in the file ends within its 64 bytes. */
static twin_status load_labels(struct twin__model *out, const unsigned char *at, uint64_t count,
                               const twin__store *store, twin_error *error)
{
    for (uint64_t i = 0; i < count; i++, at += STATE_LABEL) {
        unsigned number;
        if (at[STATE_LABEL - 1] != 0)
            return twin__store_fail_damaged(error, store, "a label");
        twin_status status = twin__model_add_label(&number, out, (const char *)at + 24, error);
        if (status == TWIN_ENOMEM)
            return status;
        if (status != TWIN_OK || number != i)
            return twin__store_fail_damaged(error, store, "a label");
        memcpy(&out->labels[number].threshold, at, 8);
        memcpy(out->labels[number].content.margin.taught, at + 8, 16);
    }
    return TWIN_OK;
}

static twin_status load_state(struct twin__model *out, struct twin__mail_saved *saved, twin__store_txn *txn,
                              const twin__store *store, twin_error *error)
{
    struct twin__bytes value;
    twin_status status = twin__store_get_named(&value, txn, META, "state", error);
    if (status != TWIN_OK)
        return status;
    const unsigned char *at = value.at;
    if (!at || value.length < STATE_HEAD + CHECK_BYTES ||
        twin__get8(at + value.length - CHECK_BYTES) != XXH3_64bits(at, value.length - CHECK_BYTES))
        return twin__store_fail_damaged(error, store, "its state");
    uint64_t numbers[7];
    memcpy(numbers, at, sizeof numbers);
    if (numbers[0] != saved->transaction || numbers[1] > numbers[2] || numbers[2] - numbers[1] > UINT32_MAX ||
        numbers[4] > TWIN_MAIL_MAX_LABELS || value.length != STATE_HEAD + numbers[4] * STATE_LABEL + CHECK_BYTES)
        return twin__store_fail_damaged(error, store, "its state");
    saved->first = numbers[1];
    saved->next = numbers[2];
    out->remembered.first = numbers[1];
    out->learnt = numbers[3];
    out->streak_label = (unsigned)numbers[5];
    out->streak = numbers[6];
    return load_labels(out, at + STATE_HEAD, numbers[4], store, error);
}

/* ---- messages */

/* Writes the block of messages in one of two tables. */
static twin_status save_block(twin__store_txn *txn, const struct twin__remembered *r, uint64_t block, unsigned table,
                              twin_error *error)
{
    size_t size = table == MESSAGES ? sizeof(struct twin__mail_record) : sizeof(struct twin__mail_signature);
    uint64_t begin = block * BLOCK, next = r->first + r->count, end = begin + BLOCK < next ? begin + BLOCK : next;
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
    twin__put8(room, check_of(room, length, block));
    return TWIN_OK;
}

static twin_status save_both(twin__store_txn *txn, const struct twin__remembered *r, uint64_t block,
                             twin_error *error)
{
    twin_status status = save_block(txn, r, block, MESSAGES, error);
    return status == TWIN_OK ? save_block(txn, r, block, SIGNATURES, error) : status;
}

static twin_status save_messages(twin__store_txn *txn, const struct twin__remembered *r,
                                 const struct twin__mail_saved *saved, twin_error *error)
{
    twin_status status = TWIN_OK;
    uint64_t next = r->first + r->count, blocks = (saved->next + BLOCK - 1) / BLOCK;
    /* Blocks whose messages have all expired. The file has those of saved->first .. saved->next - 1. */
    for (uint64_t b = saved->first / BLOCK; b < blocks && b < r->first / BLOCK && status == TWIN_OK; b++) {
        status = twin__store_delete(txn, MESSAGES, b, error);
        if (status == TWIN_OK)
            status = twin__store_delete(txn, SIGNATURES, b, error);
    }
    for (size_t i = 0; i < r->touched_count && status == TWIN_OK; i++)
        if (r->touched[i] >= r->first && r->touched[i] < saved->next)
            status = save_both(txn, r, r->touched[i] / BLOCK, error);
    uint64_t from = saved->next > r->first ? saved->next : r->first;
    for (uint64_t b = from / BLOCK; b * BLOCK < next && status == TWIN_OK; b++)
        status = save_both(txn, r, b, error);
    return status;
}

static twin_status load_block(struct twin__model *out, uint64_t block, uint64_t next, twin__store_txn *txn,
                              const twin__store *store, twin_error *error)
{
    struct twin__bytes records, signatures;
    uint64_t begin = block * BLOCK, end = begin + BLOCK < next ? begin + BLOCK : next, count = end - begin;
    twin_status status = twin__store_get(&records, txn, MESSAGES, block, error);
    if (status == TWIN_OK)
        status = twin__store_get(&signatures, txn, SIGNATURES, block, error);
    if (status != TWIN_OK)
        return status;
    if (!records.at || !signatures.at || records.length != CHECK_BYTES + count * sizeof(struct twin__mail_record) ||
        signatures.length != CHECK_BYTES + count * sizeof(struct twin__mail_signature) ||
        !check_fits(records, block) || !check_fits(signatures, block))
        return twin__store_fail_damaged(error, store, "a block of messages");
    for (uint64_t i = out->remembered.first > begin ? out->remembered.first - begin : 0; i < count; i++) {
        struct twin__mail_record record;
        struct twin__mail_signature signature;
        memcpy(&record, (const char *)records.at + CHECK_BYTES + i * sizeof record, sizeof record);
        memcpy(&signature, (const char *)signatures.at + CHECK_BYTES + i * sizeof signature, sizeof signature);
        if (record.label >= out->label_count)
            return twin__store_fail_damaged(error, store, "a message");
        status = twin__model_remember(out, &record, &signature);
        if (status != TWIN_OK)
            return twin__fail_status(error, status);
    }
    return TWIN_OK;
}

/* ---- weights */

static uint64_t weight_key(unsigned label, size_t part, bool second)
{
    return (uint64_t)label << 32 | part << 1 | second;
}

static twin_status save_weights(twin__store_txn *txn, unsigned label, bool second, const void *weights, size_t bytes,
                                twin_error *error)
{
    for (size_t part = 0; part * PART_BYTES < bytes; part++) {
        size_t left = bytes - part * PART_BYTES, length = left < PART_BYTES ? left : PART_BYTES;
        uint64_t key = weight_key(label, part, second);
        void *room;
        twin_status status =
            twin__store_reserve(&room, txn, WEIGHTS, key, CHECK_BYTES + length, TWIN__STORE_SET, error);
        if (status != TWIN_OK)
            return status;
        memcpy((char *)room + CHECK_BYTES, (const char *)weights + part * PART_BYTES, length);
        twin__put8(room, check_of(room, CHECK_BYTES + length, key));
    }
    return TWIN_OK;
}

static twin_status load_weights(void *weights, size_t bytes, unsigned label, bool second, twin__store_txn *txn,
                                const twin__store *store, twin_error *error)
{
    for (size_t part = 0; part * PART_BYTES < bytes; part++) {
        size_t left = bytes - part * PART_BYTES, length = left < PART_BYTES ? left : PART_BYTES;
        uint64_t key = weight_key(label, part, second);
        struct twin__bytes value;
        twin_status status = twin__store_get(&value, txn, WEIGHTS, key, error);
        if (status != TWIN_OK)
            return status;
        if (!value.at || value.length != CHECK_BYTES + length || !check_fits(value, key))
            return twin__store_fail_damaged(error, store, "its weights");
        memcpy((char *)weights + part * PART_BYTES, (const char *)value.at + CHECK_BYTES, length);
    }
    return TWIN_OK;
}

enum {
    CELL_BYTES = TWIN__FEATURE_PLACES * (int)sizeof(struct twin__linear_cell),
    MARGIN_BYTES = TWIN__FEATURE_PLACES * (int)sizeof(float),
};

/* ---- examples of the second voter */

static uint64_t example_key(unsigned label, uint64_t number)
{
    return (uint64_t)label << 48 | number;
}

static unsigned char *put_places(unsigned char *at, const uint32_t *places, uint32_t count)
{
    uint32_t next = 0; /* the least that the next one can be */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t gap = places[i] - next;
        for (; gap >= 0x80; gap >>= 7)
            *at++ = (unsigned char)(gap | 0x80);
        *at++ = (unsigned char)gap;
        next = places[i] + 1;
    }
    return at;
}

/* False when they are not increasing places, or end too early. */
static bool get_places(const unsigned char **at, const unsigned char *end, uint32_t *places, uint32_t count)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t gap = 0;
        unsigned shift = 0;
        do {
            if (*at == end || shift > 21)
                return false;
            gap |= (uint64_t)(**at & 0x7f) << shift;
            shift += 7;
        } while (*(*at)++ & 0x80);
        if (next + gap >= TWIN__FEATURE_PLACES)
            return false;
        places[i] = (uint32_t)(next + gap);
        next = next + gap + 1;
    }
    return true;
}

/* The most bytes of features: places have 18 bits, at most three groups of 7. */
static size_t features_room(const uint32_t counts[TWIN__FEATURE_BLOCKS])
{
    return 8 + 3 * ((size_t)counts[0] + counts[1]);
}

static unsigned char *put_features(unsigned char *at, const uint32_t *places, const uint32_t counts[2])
{
    twin__put4(at, counts[0]);
    twin__put4(at + 4, counts[1]);
    at = put_places(at + 8, places, counts[0]);
    return put_places(at, places + counts[0], counts[1]);
}

/* `places` has room for two full blocks. */
static bool get_features(struct twin__features *out, uint32_t *places, const unsigned char **at,
                         const unsigned char *end)
{
    if (end - *at < 8)
        return false;
    *out = (struct twin__features){ .places = { places, places + TWIN__FEATURE_PLACES },
                                    .counts = { twin__get4(*at), twin__get4(*at + 4) } };
    *at += 8;
    return out->counts[0] <= TWIN__FEATURE_PLACES && out->counts[1] <= TWIN__FEATURE_PLACES &&
           get_places(at, end, places, out->counts[0]) &&
           get_places(at, end, places + TWIN__FEATURE_PLACES, out->counts[1]);
}

static twin_status save_example(twin__store_txn *txn, unsigned label, const struct twin__margin_example *example,
                                twin_error *error)
{
    unsigned char *value = malloc(EXAMPLE_HEAD + features_room(example->counts));
    if (!value)
        return twin__fail_memory(error);
    twin__put8(value + 8, example->turn);
    memcpy(value + 16, &example->alpha, 4);
    twin__put4(value + 20, example->positive | (uint32_t)example->calm << 1);
    unsigned char *end = put_features(value + EXAMPLE_HEAD, example->places, example->counts);
    uint64_t key = example_key(label, example->number);
    struct twin__bytes bytes = { value, (size_t)(end - value) };
    twin__put8(value, check_of(value, bytes.length, key));
    twin_status status = twin__store_put(txn, EXAMPLES, key, bytes, TWIN__STORE_SET, error);
    free(value);
    return status;
}

/* Both lists are increasing: what is in the file and no longer in memory is deleted. */
static twin_status save_examples(twin__store_txn *txn, unsigned label, const struct twin__margin *margin,
                                 const struct twin__mail_saved_examples *saved, twin_error *error)
{
    twin_status status = TWIN_OK;
    size_t old = 0;
    for (size_t i = 0; i <= margin->count && status == TWIN_OK; i++) {
        uint64_t number = i < margin->count ? margin->examples[i]->number : UINT64_MAX;
        for (; old < saved->count && saved->numbers[old] < number && status == TWIN_OK; old++)
            status = twin__store_delete(txn, EXAMPLES, example_key(label, saved->numbers[old]), error);
        old += old < saved->count && saved->numbers[old] == number;
        if (i < margin->count && !margin->examples[i]->stored && status == TWIN_OK)
            status = save_example(txn, label, margin->examples[i], error);
    }
    return status;
}

static twin_status load_example(struct twin__margin *out, uint32_t *places, struct twin__store_record record,
                                const twin__store *store, twin_error *error)
{
    const unsigned char *at = record.value.at, *end = at + record.value.length;
    struct twin__margin_example head = { .number = record.key & (((uint64_t)1 << 48) - 1), .stored = true };
    struct twin__features features;
    if (record.value.length < EXAMPLE_HEAD || !check_fits(record.value, record.key))
        return twin__store_fail_damaged(error, store, "an example");
    head.turn = twin__get8(at + 8);
    memcpy(&head.alpha, at + 16, 4);
    head.positive = twin__get4(at + 20) & 1;
    head.calm = twin__get4(at + 20) >> 1 & 3;
    at += EXAMPLE_HEAD;
    if (!get_features(&features, places, &at, end) || at != end ||
        !(head.alpha > 0 && (double)head.alpha <= TWIN__MARGIN_COST))
        return twin__store_fail_damaged(error, store, "an example");
    twin_status status = twin__margin_restore(out, &head, &features);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* Calls `load` with each record of a table that belongs to a label. */
typedef twin_status load_record(struct twin__mail_label *label, uint32_t *places, struct twin__store_record record,
                                const twin__store *store, twin_error *error);

static twin_status load_table(struct twin__model *out, unsigned table, unsigned label_shift, load_record *load,
                              twin__store_txn *txn, const twin__store *store, twin_error *error)
{
    struct twin__store_cursor cursor = { 0 };
    struct twin__store_record record;
    uint32_t *places = malloc(2 * TWIN__FEATURE_PLACES * sizeof *places);
    if (!places)
        return twin__fail_memory(error);
    twin_status status = twin__store_cursor_open(&cursor, txn, table, error);
    if (status == TWIN_OK)
        status = twin__store_move(&record, &cursor, TWIN__STORE_FIRST, error);
    while (status == TWIN_OK && record.value.at) {
        uint64_t label = record.key >> label_shift;
        status = label < out->label_count ? load(&out->labels[label], places, record, store, error)
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
    size_t room = CHECK_BYTES;
    for (size_t i = 0; i < REHEARSED_PER_VALUE; i++)
        room += 8 + (slots[i] ? features_room(slots[i]->counts) : 0);
    unsigned char *value = malloc(room);
    if (!value)
        return twin__fail_memory(error);
    unsigned char *at = value + CHECK_BYTES;
    for (size_t i = 0; i < REHEARSED_PER_VALUE; i++) {
        twin__put8(at, slots[i] ? slots[i]->number + 1 : 0);
        at += 8;
        if (slots[i])
            at = put_features(at, slots[i]->places, slots[i]->counts);
    }
    uint64_t key = rehearsal_key(label, part);
    struct twin__bytes bytes = { value, (size_t)(at - value) };
    twin__put8(value, check_of(value, bytes.length, key));
    twin_status status = twin__store_put(txn, REHEARSAL, key, bytes, TWIN__STORE_SET, error);
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
                                  const twin__store *store, twin_error *error)
{
    const unsigned char *at = (const unsigned char *)record.value.at + CHECK_BYTES,
                        *end = at - CHECK_BYTES + record.value.length;
    if (!check_fits(record.value, record.key))
        return twin__store_fail_damaged(error, store, "a message to be taught again");
    for (size_t i = 0; i < REHEARSED_PER_VALUE; i++) {
        struct twin__features features;
        uint64_t number = end - at >= 8 ? twin__get8(at) : 0;
        bool good = end - at >= 8;
        at += good ? 8 : 0;
        if (good && number == 0)
            continue;
        if (!good || !get_features(&features, places, &at, end))
            return twin__store_fail_damaged(error, store, "a message to be taught again");
        twin_status status = twin__rehearsal_add(&label->rehearsal, number - 1, &features);
        if (status != TWIN_OK)
            return twin__fail_status(error, status);
    }
    return at == end ? TWIN_OK : twin__store_fail_damaged(error, store, "a message to be taught again");
}

static twin_status load_label_example(struct twin__mail_label *label, uint32_t *places,
                                      struct twin__store_record record, const twin__store *store, twin_error *error)
{
    if (!label->content.cells)
        return twin__store_fail_damaged(error, store, "an example");
    return load_example(&label->content.margin, places, record, store, error);
}

/* ---- the whole */

twin_status twin__mail_save(twin__store_txn *txn, const struct twin__model *model,
                            const struct twin__mail_saved *saved, twin_error *error)
{
    twin_status status = saved->transaction ? TWIN_OK : save_format(txn, model, error);
    if (status == TWIN_OK)
        status = save_messages(txn, &model->remembered, saved, error);
    for (unsigned i = 0; i < model->label_count && status == TWIN_OK; i++) {
        const struct twin__content *content = &model->labels[i].content;
        status = save_rehearsal(txn, i, &model->labels[i].rehearsal, error);
        if (!content->cells || status != TWIN_OK)
            continue;
        status = save_weights(txn, i, false, content->cells, CELL_BYTES, error);
        if (status == TWIN_OK)
            status = save_weights(txn, i, true, content->margin.weights, MARGIN_BYTES, error);
        if (status == TWIN_OK)
            status = save_examples(txn, i, &content->margin, &saved->examples[i], error);
    }
    return status == TWIN_OK ? save_state(txn, model, error) : status;
}

twin_status twin__mail_load(struct twin__model *out, struct twin__mail_saved *saved, twin__store_txn *txn,
                            uint64_t number, bool to_learn, const twin__store *store, twin_error *error)
{
    saved->transaction = number;
    twin_status status = load_format(out, txn, store, error);
    if (status == TWIN_OK)
        status = load_state(out, saved, txn, store, error);
    uint64_t next = saved->next;
    for (uint64_t b = saved->first / BLOCK; status == TWIN_OK && saved->first < next && b * BLOCK < next; b++)
        status = load_block(out, b, next, txn, store, error);
    for (unsigned i = 0; i < out->label_count && status == TWIN_OK; i++) {
        struct twin__content *content = &out->labels[i].content;
        if (!content->cells)
            continue;
        status = load_weights(content->cells, CELL_BYTES, i, false, txn, store, error);
        if (status == TWIN_OK)
            status = load_weights(content->margin.weights, MARGIN_BYTES, i, true, txn, store, error);
    }
    if (status == TWIN_OK && to_learn)
        status = load_table(out, EXAMPLES, 48, load_label_example, txn, store, error);
    if (status == TWIN_OK && to_learn)
        status = load_table(out, REHEARSAL, 32, load_rehearsal, txn, store, error);
    if (status == TWIN_OK && twin__mail_saved_update(saved, out, number) != TWIN_OK)
        status = twin__fail_memory(error);
    return status;
}

twin_status twin__mail_file_sizes(twin_mail_info *out, twin__store *store, twin_error *error)
{
    twin__store_txn *txn;
    twin_status status = twin__store_bytes(&out->bytes, store, error);
    if (status == TWIN_OK)
        status = twin__store_begin_read(&txn, store, error);
    if (status != TWIN_OK)
        return status;
    out->message_bytes = twin__store_table_bytes(txn, MESSAGES);
    out->signature_bytes = twin__store_table_bytes(txn, SIGNATURES);
    out->weight_bytes = twin__store_table_bytes(txn, WEIGHTS) + twin__store_table_bytes(txn, EXAMPLES) +
                        twin__store_table_bytes(txn, REHEARSAL);
    twin__store_end_read(txn);
    return TWIN_OK;
}

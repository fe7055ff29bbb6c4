/* sketches.c — what sites that share a key exchange: labels, digests of senders, signatures, and weights.
 *
 *      0   8  magic "TWINSKET"                  message    0   8  keyed hash of what identifies it
 *      8   4  version, 1                                   8   8  of its sender's address; 0: none
 *     12   4  flags: 1 weights follow                     16   8  of its sender's domain; 0: none
 *     16   8  check value of the key                      24   4  when it was learnt, seconds since 1970
 *     24   8  messages                                    28   2  label
 *     32   4  labels                                      30   2  zero
 *     36   4  bits of a place, 18                         32 128  signature
 *     40      labels, 64 bytes each: a name, zero-padded
 *             messages, 160 bytes each, the oldest first
 *             weights, of each label: 4 bytes, 0 if it has none; else 1, the threshold (double), messages taught to the
 *             second voter (16), count (4), places as in a model's features, for each place three floats: weight,
 *             squares, weight of the second voter
 *         8   SipHash-1-3 of everything before
 *
 * Numbers are little-endian. Hashes, also the last one, are keyed: a file of another key, or one that was changed, is
 * refused. Only what was learnt here is written, not what was imported. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/hash.h>

#include "base/error.h"
#include "mail/file_private.h"
#include "mail/mail_private.h"

static const char MAGIC[8] = { 'T', 'W', 'I', 'N', 'S', 'K', 'E', 'T' };
static const char KEY_CHECK[] = "twinsift sketches: is this the same key?";

enum {
    VERSION = 1,
    WITH_WEIGHTS = 1,
    HEAD = 40,
    NAME = TWIN_MAIL_LABEL_BYTES + 1,
    MESSAGE_HEAD = 32,
    MESSAGE = MESSAGE_HEAD + TWIN__MAIL_SLOTS,
    CHECK = 8,
    WEIGHTS_HEAD = 4 + 8 + 16 + 4,
    WEIGHT = 12,
};

static uint64_t keyed(const struct twin__model *model, const void *bytes, size_t length)
{
    twin_hash hash = { .family = TWIN_HASH_SIP, .key = { model->key[0], model->key[1] } };
    return twin_hash_bytes(hash, bytes, length);
}

static void put(unsigned char *out, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(number >> 8 * i);
}

static uint64_t get(const unsigned char *at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

static void put_float(unsigned char *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(out, bits, sizeof bits);
}

static float get_float(const unsigned char *at)
{
    uint32_t bits = (uint32_t)get(at, sizeof bits);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- writing */

static bool is_exported(const struct twin__mail_record *record)
{
    return !(record->flags & (TWIN__MAIL_REMOVED | TWIN__MAIL_IMPORTED));
}

static twin_status write_head(twin_buffer *out, const struct twin__model *model, uint64_t messages, bool weights)
{
    unsigned char head[HEAD];
    memcpy(head, MAGIC, sizeof MAGIC);
    put(head + 8, VERSION, 4);
    put(head + 12, weights ? WITH_WEIGHTS : 0, 4);
    put(head + 16, keyed(model, KEY_CHECK, sizeof KEY_CHECK - 1), 8);
    put(head + 24, messages, 8);
    put(head + 32, model->label_count, 4);
    put(head + 36, TWIN__FEATURE_BITS, 4);
    twin_status status = twin_buffer_append(out, head, sizeof head);
    for (unsigned i = 0; i < model->label_count && status == TWIN_OK; i++)
        status = twin_buffer_append(out, model->labels[i].name, NAME);
    return status;
}

static twin_status write_message(twin_buffer *out, const struct twin__remembered *r, uint64_t number)
{
    unsigned char message[MESSAGE] = { 0 };
    const struct twin__mail_record *record = twin__remembered_at(r, number);
    struct twin__mail_signature signature = twin__remembered_signature(r, number);
    put(message, record->id, 8);
    put(message + 8, record->address, 8);
    put(message + 16, record->domain, 8);
    put(message + 24, record->time, 4);
    put(message + 28, record->label, 2);
    memcpy(message + MESSAGE_HEAD, signature.slots, TWIN__MAIL_SLOTS);
    return twin_buffer_append(out, message, sizeof message);
}

static bool has_weight(const struct twin__content *content, size_t place)
{
    const struct twin__linear_cell *cell = &content->cells[place];
    return fpclassify(cell->weight) != FP_ZERO || fpclassify(cell->squares) != FP_ZERO ||
           fpclassify(content->margin.weights[place]) != FP_ZERO;
}

/* `places` has room for all. */
static twin_status write_weights(twin_buffer *out, const struct twin__mail_label *label, uint32_t *places)
{
    const struct twin__content *content = &label->content[TWIN__BY_ALL];
    unsigned char head[WEIGHTS_HEAD] = { 0 };
    if (!content->cells)
        return twin_buffer_append(out, head, 4);
    uint32_t count = 0;
    for (size_t i = 0; i < TWIN__FEATURE_PLACES; i++)
        if (has_weight(content, i))
            places[count++] = (uint32_t)i;
    put(head, 1, 4);
    uint64_t threshold;
    memcpy(&threshold, &label->thresholds.above, sizeof threshold);
    put(head + 4, threshold, 8);
    put(head + 12, content->margin.taught[0], 8);
    put(head + 20, content->margin.taught[1], 8);
    put(head + 28, count, 4);
    if (twin_buffer_append(out, head, sizeof head) != TWIN_OK ||
        twin_buffer_reserve(out, count * (size_t)(3 + WEIGHT)) != TWIN_OK)
        return TWIN_ENOMEM;
    unsigned char *at = (unsigned char *)out->bytes + out->length;
    at = twin__mail_put_places(at, places, count);
    for (uint32_t i = 0; i < count; i++, at += WEIGHT) {
        put_float(at, content->cells[places[i]].weight);
        put_float(at + 4, content->cells[places[i]].squares);
        put_float(at + 8, content->margin.weights[places[i]]);
    }
    out->length = (size_t)((char *)at - out->bytes);
    return TWIN_OK;
}

static twin_status write_all_weights(twin_buffer *out, const struct twin__model *model)
{
    uint32_t *places = malloc(TWIN__FEATURE_PLACES * sizeof *places);
    twin_status status = places ? TWIN_OK : TWIN_ENOMEM;
    for (unsigned i = 0; i < model->label_count && status == TWIN_OK; i++)
        status = write_weights(out, &model->labels[i], places);
    free(places);
    return status;
}

static twin_status write_sketches(twin_buffer *out, const struct twin__model *model, bool weights)
{
    const struct twin__remembered *r = &model->remembered;
    uint64_t count = 0, end = r->first + r->count;
    size_t begin = out->length;
    for (uint64_t n = r->first; n < end; n++)
        count += is_exported(twin__remembered_at(r, n));
    twin_status status = write_head(out, model, count, weights);
    for (uint64_t n = r->first; n < end && status == TWIN_OK; n++)
        if (is_exported(twin__remembered_at(r, n)))
            status = write_message(out, r, n);
    if (status == TWIN_OK && weights)
        status = write_all_weights(out, model);
    unsigned char check[CHECK];
    put(check, keyed(model, out->bytes + begin, out->length - begin), CHECK);
    return status == TWIN_OK ? twin_buffer_append(out, check, CHECK) : status;
}

twin_status twin_mail_export(twin_buffer *out, twin_mail *mail, twin_mail_export_options options, twin_error *error)
{
    if (!out || !mail)
        return twin__fail_null(error, out ? "mail" : "out");
    twin_status status = twin__check_reserved(error, options.reserved, "an export");
    if (status == TWIN_OK)
        status = twin__mail_load_for_checks(mail, error);
    if (status != TWIN_OK)
        return status;
    size_t length = out->length;
    status = write_sketches(out, &mail->model, options.weights);
    if (status != TWIN_OK)
        out->length = length;
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* ---- reading */

/* A file whose head and end are as they should be. */
struct sketches {
    const unsigned char *labels, *messages, *weights, *end;
    uint64_t message_count;
    unsigned label_count;
    bool has_weights;
};

static twin_status fail_damaged(twin_error *error)
{
    return twin__fail(error, TWIN_EFORMAT, "the sketches are damaged");
}

static twin_status read_head(struct sketches *out, const struct twin__model *model, twin_text bytes,
                             twin_error *error)
{
    const unsigned char *at = (const unsigned char *)bytes.bytes;
    if (bytes.length < sizeof MAGIC || memcmp(at, MAGIC, sizeof MAGIC) != 0)
        return twin__fail(error, TWIN_EFORMAT, "these are not sketches that 'twinsift mail export' wrote");
    if (bytes.length >= 12 && get(at + 8, 4) > VERSION)
        return twin__fail(error, TWIN_EUNSUPPORTED, "the sketches were written by a newer version of twinsift");
    if (bytes.length < HEAD + CHECK || get(at + 8, 4) != VERSION || get(at + 36, 4) != TWIN__FEATURE_BITS)
        return fail_damaged(error);
    if (get(at + 16, 8) != keyed(model, KEY_CHECK, sizeof KEY_CHECK - 1))
        return twin__fail(error, TWIN_EINVAL,
                          "the sketches were made with another key than the model has; sites that exchange sketches "
                          "create their models with the same key");
    size_t room = bytes.length - HEAD - CHECK;
    uint64_t labels = get(at + 32, 4), messages = get(at + 24, 8);
    if (get(at + bytes.length - CHECK, CHECK) != keyed(model, at, bytes.length - CHECK) ||
        labels > TWIN_MAIL_MAX_LABELS || labels * NAME > room || messages > (room - labels * NAME) / MESSAGE)
        return fail_damaged(error);
    *out = (struct sketches){ .labels = at + HEAD,
                              .messages = at + HEAD + labels * NAME,
                              .end = at + bytes.length - CHECK,
                              .message_count = messages,
                              .label_count = (unsigned)labels,
                              .has_weights = get(at + 12, 4) & WITH_WEIGHTS };
    out->weights = out->messages + messages * MESSAGE;
    return out->has_weights || out->weights == out->end ? TWIN_OK : fail_damaged(error);
}

/* Everything is looked at before anything is changed. */
static bool labels_are_good(const struct sketches *s)
{
    for (unsigned i = 0; i < s->label_count; i++)
        if (s->labels[i * NAME + NAME - 1] != 0 || !twin__model_is_label((const char *)s->labels + i * NAME))
            return false;
    for (uint64_t i = 0; i < s->message_count; i++)
        if (get(s->messages + i * MESSAGE + 28, 2) >= s->label_count)
            return false;
    return true;
}

static const char *name_of(const struct sketches *s, uint64_t label)
{
    return (const char *)s->labels + label * NAME;
}

static struct twin__mail_item item_of(const unsigned char *message)
{
    struct twin__mail_item item = { .id = get(message, 8),
                                    .address = get(message + 8, 8),
                                    .domain = get(message + 16, 8) };
    memcpy(item.signature.slots, message + MESSAGE_HEAD, TWIN__MAIL_SLOTS);
    return item;
}

static twin_status change(twin_mail_effect *out, twin_mail *mail, enum twin__mail_act act,
                          const struct twin__mail_item *item, const char *label, int64_t time, twin_error *error)
{
    twin_status status = twin__mail_act(out, &mail->model, act, item, label, time, error);
    if (status == TWIN_OK && mail->store && *out == TWIN_MAIL_LEARNT) {
        status = twin__mail_queue_add(&mail->queue, act, item, label, time);
        if (status != TWIN_OK)
            twin__fail_status(error, status);
    }
    return status;
}

/* The newest come last. What does not fit beside what is remembered is left out, the oldest first. */
static twin_status import_messages(twin_mail_imported *out, twin_mail *mail, const struct sketches *s,
                                   twin_error *error)
{
    const struct twin__model *model = &mail->model;
    uint64_t room = model->options.keep_messages > model->remembered.live
                        ? model->options.keep_messages - model->remembered.live
                        : 0;
    uint64_t first = s->message_count > room ? s->message_count - room : 0;
    out->left_out = first;
    twin_status status = TWIN_OK;
    for (uint64_t i = first; i < s->message_count && status == TWIN_OK; i++) {
        const unsigned char *message = s->messages + i * MESSAGE;
        struct twin__mail_item item = item_of(message);
        twin_mail_effect effect = TWIN_MAIL_KNOWN;
        status = change(&effect, mail, TWIN__MAIL_IMPORT, &item, name_of(s, get(message + 28, 2)),
                        (int64_t)get(message + 24, 4), error);
        out->messages += effect == TWIN_MAIL_LEARNT;
        out->known += effect != TWIN_MAIL_LEARNT;
    }
    return status;
}

/* Reads the weights of a label, if it has any. False when they are damaged. */
static bool read_weights(struct twin__mail_weights *weights, bool *found, uint32_t *places, const unsigned char **at,
                         const unsigned char *end)
{
    *found = false;
    if (end - *at < 4 || get(*at, 4) > 1)
        return false;
    *found = get(*at, 4) == 1;
    if (!*found) {
        *at += 4;
        return true;
    }
    if (end - *at < WEIGHTS_HEAD)
        return false;
    uint64_t bits = get(*at + 4, 8), count = get(*at + 28, 4);
    memset(weights, 0, sizeof *weights);
    memcpy(&weights->threshold, &bits, sizeof bits);
    weights->taught[0] = get(*at + 12, 8);
    weights->taught[1] = get(*at + 20, 8);
    *at += WEIGHTS_HEAD;
    if (!isfinite(weights->threshold) || count > TWIN__FEATURE_PLACES ||
        !twin__mail_get_places(at, end, places, (uint32_t)count) || (uint64_t)(end - *at) / WEIGHT < count)
        return false;
    for (uint64_t i = 0; i < count; i++, *at += WEIGHT) {
        float weight = get_float(*at), squares = get_float(*at + 4), second = get_float(*at + 8);
        if (!isfinite(weight) || !isfinite(squares) || squares < 0 || !isfinite(second))
            return false;
        weights->cells[places[i]] = (struct twin__linear_cell){ weight, squares };
        weights->margin[places[i]] = second;
    }
    return true;
}

/* Calls for each label with weights, once to look and once to take them. */
static twin_status walk_weights(twin_mail *mail, const struct sketches *s, bool take, twin_error *error)
{
    struct twin__mail_weights *weights = malloc(sizeof *weights);
    uint32_t *places = malloc(TWIN__FEATURE_PLACES * sizeof *places);
    twin_status status = weights && places ? TWIN_OK : twin__fail_memory(error);
    const unsigned char *at = s->weights;
    for (unsigned i = 0; i < s->label_count && status == TWIN_OK; i++) {
        bool found;
        twin_mail_effect effect;
        struct twin__mail_item item = { .features = { .places = { (const uint32_t *)(const void *)weights },
                                                      .counts = { sizeof *weights / 4 } } };
        if (!read_weights(weights, &found, places, &at, s->end))
            status = fail_damaged(error);
        else if (found && take)
            status = change(&effect, mail, TWIN__MAIL_ADOPT, &item, name_of(s, i), 0, error);
    }
    free(weights);
    free(places);
    return status == TWIN_OK && at != s->end ? fail_damaged(error) : status;
}

twin_status twin_mail_import(twin_mail_imported *out, twin_mail *mail, twin_text sketches, twin_error *error)
{
    struct sketches s = { 0 };
    twin_mail_imported counts = { 0 };
    if (!mail || !sketches.bytes)
        return twin__fail_null(error, mail ? "sketches" : "mail");
    if (mail->use != TWIN__MAIL_FOR_LEARNING)
        return twin__fail(error, TWIN_EINVAL, "the model was opened for reading");
    twin_status status = twin__mail_refresh(mail, error);
    if (status == TWIN_OK)
        status = read_head(&s, &mail->model, sketches, error);
    if (status == TWIN_OK && !labels_are_good(&s))
        status = fail_damaged(error);
    if (status == TWIN_OK && s.has_weights)
        status = walk_weights(mail, &s, false, error);
    if (status != TWIN_OK)
        return status;
    counts.weights = s.has_weights && mail->model.learnt == 0;
    if (counts.weights)
        status = walk_weights(mail, &s, true, error);
    if (status == TWIN_OK)
        status = import_messages(&counts, mail, &s, error);
    if (status == TWIN_ENOMEM)
        mail->stale = mail->store != NULL;
    if (out)
        *out = counts;
    return status;
}

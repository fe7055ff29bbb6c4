/* file_weights.c — the weights of a model in its file.
 *
 * A message taught changes some two thousand weights, which lie in almost all pages of three megabytes. So the weights as a
 * whole are written seldom, in parts of 64 KiB, and in between records of changes: which weights have other values than
 * those in the file, and which. Loading reads the parts and then the records. When these have grown to half of the whole
 * it is written again. What the file has is known from a copy of the weights as they were saved. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mail/file_private.h"

enum {
    PART_BYTES = 8188 * 8, /* with its check and LMDB's head, sixteen pages */
    CHANGES_HEAD = TWIN__MAIL_CHECK_BYTES + 4,
    MOST_CHANGES = 1000, /* records, each of which is looked up when the model is loaded */
};

/* The weights of one of the learners of a label. */
struct weights {
    float *values;
    size_t width; /* floats per place */
    uint64_t key; /* of its first part */
};

static struct weights weights_of(const struct twin__mail_label *known, unsigned label, int learner)
{
    const struct twin__content *content = &known->content[learner / 2];
    uint64_t key = (uint64_t)label << 32 | (uint64_t)(learner / 2) << 30 | (uint64_t)(learner % 2);
    return learner % 2 ? (struct weights){ content->margin.weights, 1, key }
                       : (struct weights){ &content->cells->weight, 2, key };
}

static size_t bytes_of(const struct weights *w)
{
    return TWIN__FEATURE_PLACES * w->width * sizeof(float);
}

static uint64_t part_key(const struct weights *w, size_t part)
{
    return w->key | part << 1;
}

static uint64_t changes_key(const struct weights *w, size_t number)
{
    return part_key(w, number) | (uint64_t)1 << 31;
}

static size_t part_length(const struct weights *w, size_t part)
{
    size_t left = bytes_of(w) - part * PART_BYTES;
    return left < PART_BYTES ? left : PART_BYTES;
}

/* ---- what to write */

struct plan {
    uint32_t changed; /* places */
    size_t bytes;     /* of their record, at most */
    bool whole;       /* write all of them instead */
};

/* Whether the floats of a place differ, as bits: a zero may change its sign. */
static inline bool is_changed(const float *values, const float *saved, size_t place, size_t width)
{
    uint64_t a = 0, b = 0;
    memcpy(&a, values + place * width, width * sizeof(float));
    memcpy(&b, saved + place * width, width * sizeof(float));
    return a != b;
}

static uint32_t count_changed(const struct weights *w, const float *saved)
{
    uint32_t count = 0;
    if (w->width == 1)
        for (size_t i = 0; i < TWIN__FEATURE_PLACES; i++)
            count += is_changed(w->values, saved, i, 1);
    else
        for (size_t i = 0; i < TWIN__FEATURE_PLACES; i++)
            count += is_changed(w->values, saved, i, 2);
    return count;
}

/* From the same weights follows the same plan: it is made again once the transaction is committed. */
static struct plan make_plan(const struct weights *w, const struct twin__mail_saved_weights *saved)
{
    struct plan plan = { .whole = !saved->values };
    if (plan.whole)
        return plan;
    plan.changed = count_changed(w, saved->values);
    plan.bytes = CHANGES_HEAD + plan.changed * (3 + w->width * sizeof(float));
    plan.whole = saved->bytes + plan.bytes > bytes_of(w) / 2 || saved->changes >= MOST_CHANGES;
    return plan;
}

void twin__mail_count_changes(uint32_t out[TWIN__MAIL_LEARNERS], unsigned label, const struct twin__mail_label *known,
                              const struct twin__mail_saved *saved)
{
    for (int learner = 0; learner < TWIN__MAIL_LEARNERS; learner++) {
        const struct weights w = weights_of(known, label, learner);
        const struct twin__mail_saved_weights *before = &saved->weights[label][learner];
        struct plan plan = make_plan(&w, before);
        out[learner] = plan.whole ? 0 : before->changes + (plan.changed > 0);
    }
}

/* ---- writing */

static twin_status save_whole(twin__store_txn *txn, const struct weights *w,
                              const struct twin__mail_saved_weights *saved, twin_error *error)
{
    for (uint32_t i = 0; i < saved->changes; i++) {
        twin_status status = twin__store_delete(txn, TWIN__MAIL_WEIGHTS, changes_key(w, i), NULL, error);
        if (status != TWIN_OK)
            return status;
    }
    for (size_t part = 0; part * PART_BYTES < bytes_of(w); part++) {
        size_t length = part_length(w, part);
        uint64_t key = part_key(w, part);
        void *room;
        twin_status status = twin__store_reserve(&room, txn, TWIN__MAIL_WEIGHTS, key, TWIN__MAIL_CHECK_BYTES + length,
                                                 TWIN__STORE_SET, error);
        if (status != TWIN_OK)
            return status;
        memcpy((char *)room + TWIN__MAIL_CHECK_BYTES, (const char *)w->values + part * PART_BYTES, length);
        twin__mail_put_check(room, TWIN__MAIL_CHECK_BYTES + length, key);
    }
    return TWIN_OK;
}

/* The record: check, count (4 bytes), places, and the floats of each. */
static size_t write_changes(unsigned char *out, uint32_t *places, const struct weights *w, const float *saved)
{
    uint32_t count = 0;
    for (size_t i = 0; i < TWIN__FEATURE_PLACES; i++)
        if (is_changed(w->values, saved, i, w->width))
            places[count++] = (uint32_t)i;
    twin__put4(out + TWIN__MAIL_CHECK_BYTES, count);
    unsigned char *at = twin__mail_put_places(out + CHANGES_HEAD, places, count);
    size_t size = w->width * sizeof(float);
    for (uint32_t i = 0; i < count; i++, at += size)
        memcpy(at, w->values + places[i] * w->width, size);
    return (size_t)(at - out);
}

static twin_status save_changes(twin__store_txn *txn, const struct weights *w,
                                const struct twin__mail_saved_weights *saved, struct plan plan, twin_error *error)
{
    unsigned char *value = malloc(plan.bytes);
    uint32_t *places = malloc((plan.changed + 1) * sizeof *places);
    twin_status status = TWIN_ENOMEM;
    if (!value || !places) {
        twin__fail_memory(error);
    } else {
        uint64_t key = changes_key(w, saved->changes);
        struct twin__bytes bytes = { value, write_changes(value, places, w, saved->values) };
        twin__mail_put_check(value, bytes.length, key);
        status = twin__store_put(txn, TWIN__MAIL_WEIGHTS, key, bytes, TWIN__STORE_SET, error);
    }
    free(value);
    free(places);
    return status;
}

twin_status twin__mail_save_weights(twin__store_txn *txn, unsigned label, const struct twin__mail_label *known,
                                    const struct twin__mail_saved *saved, twin_error *error)
{
    twin_status status = TWIN_OK;
    for (int learner = 0; learner < TWIN__MAIL_LEARNERS && status == TWIN_OK; learner++) {
        const struct weights w = weights_of(known, label, learner);
        const struct twin__mail_saved_weights *before = &saved->weights[label][learner];
        struct plan plan = make_plan(&w, before);
        if (plan.whole)
            status = save_whole(txn, &w, before, error);
        else if (plan.changed)
            status = save_changes(txn, &w, before, plan, error);
    }
    return status;
}

twin_status twin__mail_note_weights(struct twin__mail_saved *saved, unsigned label,
                                    const struct twin__mail_label *known)
{
    for (int learner = 0; learner < TWIN__MAIL_LEARNERS; learner++) {
        const struct weights w = weights_of(known, label, learner);
        struct twin__mail_saved_weights *s = &saved->weights[label][learner];
        if (s->values) {
            struct plan plan = make_plan(&w, s);
            s->bytes = plan.whole ? 0 : s->bytes + (plan.changed ? plan.bytes : 0);
            s->changes = plan.whole ? 0 : s->changes + (plan.changed > 0);
        } else {
            s->values = malloc(bytes_of(&w)); /* they were loaded, with their changes, or saved for the first time */
        }
        if (!s->values)
            return TWIN_ENOMEM;
        memcpy(s->values, w.values, bytes_of(&w));
    }
    return TWIN_OK;
}

/* ---- reading */

/* The floats of the places that are wanted, of those from `first` on. */
static void take_part(const struct weights *w, struct twin__mail_places wanted, const char *floats, size_t first,
                      size_t count)
{
    size_t size = w->width * sizeof(float), i = 0, end = wanted.count;
    if (!wanted.places) {
        memcpy(w->values + first * w->width, floats, count * size);
        return;
    }
    while (i < end) { /* the first that is in it */
        size_t middle = i + (end - i) / 2;
        if (wanted.places[middle] < first)
            i = middle + 1;
        else
            end = middle;
    }
    for (; i < wanted.count && wanted.places[i] < first + count; i++)
        memcpy(w->values + i * w->width, floats + (wanted.places[i] - first) * size, size);
}

static twin_status load_whole(const struct weights *w, struct twin__mail_places wanted, twin__store_txn *txn,
                              const twin__store *store, twin_error *error)
{
    for (size_t part = 0; part * PART_BYTES < bytes_of(w); part++) {
        size_t length = part_length(w, part);
        struct twin__bytes value;
        twin_status status = twin__store_get(&value, txn, TWIN__MAIL_WEIGHTS, part_key(w, part), error);
        if (status != TWIN_OK)
            return status;
        if (!value.at || value.length != TWIN__MAIL_CHECK_BYTES + length ||
            !twin__mail_check_fits(value, part_key(w, part)))
            return twin__store_fail_damaged(error, store, "its weights");
        size_t size = w->width * sizeof(float);
        take_part(w, wanted, (const char *)value.at + TWIN__MAIL_CHECK_BYTES, part * (PART_BYTES / size),
                  length / size);
    }
    return TWIN_OK;
}

static bool apply_changes(const struct weights *w, struct twin__mail_places wanted, struct twin__bytes value)
{
    if (value.length < CHANGES_HEAD)
        return false;
    const unsigned char *at = (const unsigned char *)value.at + CHANGES_HEAD;
    size_t size = w->width * sizeof(float), left = value.length - CHANGES_HEAD;
    uint32_t count = twin__get4((const unsigned char *)value.at + TWIN__MAIL_CHECK_BYTES), next = 0;
    if (count > left / size)
        return false;
    const unsigned char *floats = at + left - count * size, *end = floats; /* behind the places */
    size_t k = 0;
    for (uint32_t i = 0; i < count; i++, floats += size) {
        if (!twin__mail_get_place(&next, &at, end))
            return false;
        uint32_t place = next - 1;
        while (k < wanted.count && wanted.places[k] < place)
            k++;
        if (!wanted.places)
            memcpy(w->values + place * w->width, floats, size);
        else if (k < wanted.count && wanted.places[k] == place)
            memcpy(w->values + k * w->width, floats, size);
    }
    return at == end;
}

static twin_status load_changes(const struct weights *w, struct twin__mail_places wanted,
                                struct twin__mail_saved_weights *saved, twin__store_txn *txn,
                                const twin__store *store, twin_error *error)
{
    saved->bytes = 0;
    for (uint32_t i = 0; i < saved->changes; i++) {
        struct twin__bytes value;
        uint64_t key = changes_key(w, i);
        twin_status status = twin__store_get(&value, txn, TWIN__MAIL_WEIGHTS, key, error);
        if (status != TWIN_OK)
            return status;
        if (!value.at || !twin__mail_check_fits(value, key) || !apply_changes(w, wanted, value))
            return twin__store_fail_damaged(error, store, "changes of its weights");
        saved->bytes += value.length;
    }
    return TWIN_OK;
}

twin_status twin__mail_load_weights(const struct twin__mail_label *known, unsigned label,
                                    struct twin__mail_places wanted, struct twin__mail_saved *saved,
                                    twin__store_txn *txn, const twin__store *store, twin_error *error)
{
    twin_status status = TWIN_OK;
    for (int learner = 0; learner < twin__mail_learners(saved->version) && status == TWIN_OK; learner++) {
        const struct weights w = weights_of(known, label, learner);
        status = load_whole(&w, wanted, txn, store, error);
        if (status == TWIN_OK)
            status = load_changes(&w, wanted, &saved->weights[label][learner], txn, store, error);
    }
    return status;
}

/* mail_explain.c — what a verdict rests on: the words with the largest weights, and the messages that were learnt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mail/mail_private.h"

/* ---- words */

struct strongest {
    const struct twin__content *content;
    double scale; /* of a weight */
    bool is_seen;
    twin_mail_word *out;
    uint32_t *places;
    size_t count, most;
};

static void copy_text(char *out, size_t room, twin_text text)
{
    size_t length = text.length < room - 1 ? text.length : room - 1;
    memcpy(out, text.bytes, length);
    out[length] = 0;
}

/* Keeps the word if it is among the strongest so far; the list is sorted. */
static void keep_strong(void *context, uint32_t place, twin_text kind, twin_text word)
{
    struct strongest *s = context;
    double weight =
        ((double)s->content->cells[place].weight + 4 * (double)s->content->margin.weights[place]) / 2 * s->scale;
    size_t i = s->count;
    for (size_t k = 0; k < s->count; k++)
        if (s->places[k] == place)
            return;
    if (i == s->most && fabs(s->out[i - 1].weight) >= fabs(weight))
        return;
    if (i == s->most)
        i--;
    else
        s->count++;
    for (; i > 0 && fabs(s->out[i - 1].weight) < fabs(weight); i--) {
        s->out[i] = s->out[i - 1];
        s->places[i] = s->places[i - 1];
    }
    s->out[i] = (twin_mail_word){ .weight = weight, .is_seen = s->is_seen };
    s->places[i] = place;
    copy_text(s->out[i].kind, sizeof s->out[i].kind, kind);
    copy_text(s->out[i].word, sizeof s->out[i].word, word);
}

/* The strongest of the words that are seen, or of the others, as their learners weigh them. */
static twin_status list_strong(struct strongest *s, struct twin__model *model, const struct twin__mail_label *label,
                               const struct twin__features *features, const twin_message *message)
{
    struct twin__features shown = s->is_seen ? twin__features_seen(*features) : *features;
    s->content = &label->content[s->is_seen ? TWIN__BY_SEEN : TWIN__BY_ALL];
    s->scale = twin__feature_scale(&shown, TWIN__SEEN_WORDS);
    return twin__features_name(model->maker, message, s->is_seen, keep_strong, s);
}

twin_status twin_mail_explain(twin_mail_word *out, size_t *count, twin_mail *mail, const char *label,
                              const twin_message *message, twin_error *error)
{
    struct twin__mail_item item = { 0 };
    if (!out || !count || !label)
        return twin__fail_null(error, !out ? "out" : !count ? "count" : "label");
    size_t most = *count;
    *count = 0;
    if (!mail || !message)
        return twin__fail_null(error, mail ? "message" : "mail");
    twin_status status = twin__mail_refresh(mail, error);
    if (status != TWIN_OK || most == 0)
        return status;
    unsigned number = twin__model_label(&mail->model, label);
    if (number >= mail->model.label_count || !twin__label_learns(&mail->model.labels[number]))
        return TWIN_OK; /* nothing is known of it */
    status = twin__mail_prepare(&item, mail, message, error);
    if (status != TWIN_OK)
        return status;
    uint32_t *places = calloc(most, sizeof *places);
    if (!places)
        return twin__fail_memory(error);
    const struct twin__mail_label *known = &mail->model.labels[number];
    for (int seen = 1; seen >= 0 && status == TWIN_OK; seen--) {
        size_t room = seen ? (most + 1) / 2 : most - *count; /* half of the room for what is seen */
        struct strongest s = { .is_seen = seen, .out = out + *count, .places = places, .most = room };
        if (room)
            status = list_strong(&s, &mail->model, known, &item.features, message);
        *count += s.count;
    }
    free(places);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* ---- messages */

twin_status twin_mail_text(twin_buffer *out, twin_mail *mail, uint64_t number, twin_error *error)
{
    if (!out || !mail)
        return twin__fail_null(error, out ? "mail" : "out");
    twin_mail_known known;
    twin_status status = twin_mail_known_at(&known, mail, number, error);
    const struct twin__mail_text *text = twin__mail_texts_find(&mail->model.texts, number);
    if (status != TWIN_OK || text)
        return text ? twin_buffer_append(out, text->bytes, text->length) : status;
    twin__store *store = mail->borrowed ? mail->lent : mail->store;
    if (!store || mail->model.options.without_texts)
        return TWIN_OK;
    twin__store_txn *txn;
    status = twin__store_begin_read(&txn, store, error);
    if (status != TWIN_OK)
        return status;
    status = twin__mail_load_text(out, number, txn, store, error);
    twin__store_end_read(txn);
    return status;
}

twin_status twin_mail_text_of(twin_buffer *out, const twin_message *message)
{
    if (!out || !message)
        return twin__fail_null(NULL, out ? "message" : "out");
    return twin__mail_cut(out, message->subject, message->text);
}

twin_status twin_mail_known_at(twin_mail_known *out, twin_mail *mail, uint64_t number, twin_error *error)
{
    if (!out || !mail)
        return twin__fail_null(error, out ? "mail" : "out");
    const struct twin__remembered *r = &mail->model.remembered;
    twin_status status = mail->use == TWIN__MAIL_FOR_FEW_CHECKS ? twin__mail_refresh(mail, error) : TWIN_OK;
    if (status != TWIN_OK)
        return status;
    if (!twin__remembered_has(r, number))
        return twin__fail(error, TWIN_EINVAL, "no message of this number is remembered");
    const struct twin__mail_record *record = twin__remembered_at(r, number);
    *out = (twin_mail_known){ .label = mail->model.labels[record->label].name, .time = record->time };
    return TWIN_OK;
}

twin_status twin_mail_find(twin_mail_known *out, bool *found, twin_mail *mail, const twin_message *message,
                           twin_error *error)
{
    struct twin__mail_item item;
    if (!out || !found || !mail || !message)
        return twin__fail_null(error, !out ? "out" : !found ? "found" : !mail ? "mail" : "message");
    *found = false;
    twin_status status = twin__mail_refresh(mail, error);
    if (status == TWIN_OK)
        status = twin__mail_prepare(&item, mail, message, error);
    if (status != TWIN_OK)
        return status;
    const struct twin__remembered *r = &mail->model.remembered;
    uint64_t number = twin__remembered_find(r, item.id);
    *found = number != UINT64_MAX && !(twin__remembered_at(r, number)->flags & TWIN__MAIL_IMPORTED);
    return *found ? twin_mail_known_at(out, mail, number, error) : TWIN_OK;
}

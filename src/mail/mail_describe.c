/* mail_describe.c — what a model knows: its labels, how well it has judged, and its sizes. */
#include <math.h>

#include "base/error.h"
#include "mail/mail_private.h"

enum { LAST_JUDGED = 1000 }; /* messages that the accuracy is of */

static void describe_labels(twin_mail_info *out, const struct twin__model *model)
{
    const struct twin__remembered *r = &model->remembered;
    for (unsigned i = 0; i < model->label_count; i++) {
        const struct twin__mail_label *label = &model->labels[i];
        out->labels[out->count++] =
            (twin_mail_label_info){ .name = label->name,
                                    .messages = label->messages,
                                    .threshold = twin__label_learns(label) ? label->thresholds.above : NAN };
    }
    for (uint64_t n = r->first; n < r->first + r->count; n++) {
        const struct twin__mail_record *record = twin__remembered_at(r, n);
        twin_mail_label_info *label = &out->labels[record->label];
        if (record->flags & TWIN__MAIL_REMOVED)
            continue;
        out->imported += (record->flags & TWIN__MAIL_IMPORTED) != 0;
        if (!label->oldest || record->time < label->oldest)
            label->oldest = record->time;
        if (record->time > label->newest)
            label->newest = record->time;
    }
}

/* How the last messages that were learnt had been judged before. */
static void describe_accuracy(twin_mail_info *out, const struct twin__remembered *r)
{
    for (uint64_t n = r->first + r->count; n-- > r->first && out->judged < LAST_JUDGED;) {
        const struct twin__mail_record *record = twin__remembered_at(r, n);
        if (record->flags & TWIN__MAIL_REMOVED || isnan(record->score))
            continue;
        out->judged++;
        out->unsure += record->verdict == 0;
        out->right += record->verdict == (uint32_t)record->label + 1;
    }
    out->wrong = out->judged - out->unsure - out->right;
}

twin_status twin_mail_describe(twin_mail_info *out, twin_mail *mail, twin_error *error)
{
    if (!out || !mail)
        return twin__fail_null(error, out ? "mail" : "out");
    twin_status status = twin__mail_refresh(mail, error);
    if (status != TWIN_OK)
        return status;
    const struct twin__model *model = &mail->model;
    *out = (twin_mail_info){ .messages = model->remembered.live,
                             .learnt = model->learnt,
                             .keep_messages = model->options.keep_messages,
                             .keep_days = model->options.keep_days,
                             .keeps_texts = !model->options.without_texts };
    describe_labels(out, model);
    describe_accuracy(out, &model->remembered);
    return mail->store ? twin__mail_file_sizes(out, &model->remembered, mail->store, error) : TWIN_OK;
}

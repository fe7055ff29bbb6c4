/* mail_queue.c — what was learnt and is not in the file yet. */
#include "mail/mail_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

struct twin__mail_job {
    enum twin__mail_act act;
    int64_t time;
    char label[TWIN_MAIL_LABEL_BYTES + 1];
    struct twin__mail_item item; /* its features are in `places`, its texts behind them */
    uint32_t places[];
};

void twin__mail_queue_clear(struct twin__mail_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++)
        free(queue->jobs[i]);
    free(queue->jobs);
    *queue = (struct twin__mail_queue){ 0 };
}

twin_status twin__mail_act(twin_mail_effect *out, struct twin__model *model, enum twin__mail_act act,
                           const struct twin__mail_item *item, const char *label, int64_t time, twin_error *error)
{
    unsigned number;
    twin_status status;
    if (act == TWIN__MAIL_FORGET) {
        status = twin__model_forget(out, model, item);
        return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
    }
    status = twin__model_add_label(&number, model, label, error);
    if (status != TWIN_OK)
        return status;
    if (act == TWIN__MAIL_ADOPT) {
        struct twin__mail_weights *weights = malloc(sizeof *weights); /* the words need not be aligned as it is */
        if (!weights)
            return twin__fail_memory(error);
        memcpy(weights, item->features.places[0], sizeof *weights);
        twin__model_adopt(model, number, weights);
        free(weights);
        *out = TWIN_MAIL_LEARNT;
    } else if (act == TWIN__MAIL_IMPORT) {
        status = twin__model_import(out, model, item, number, time);
    } else {
        status = twin__model_learn(out, model, item, number, time, act == TWIN__MAIL_CORRECT);
    }
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

twin_status twin__mail_queue_add(struct twin__mail_queue *queue, enum twin__mail_act act,
                                 const struct twin__mail_item *item, const char *label, int64_t time)
{
    const struct twin__features *features = &item->features;
    size_t total = (size_t)features->counts[0] + features->counts[1];
    size_t texts = item->subject.length + item->text.length;
    struct twin__mail_job *job = malloc(sizeof *job + total * sizeof job->places[0] + texts);
    if (!job || !twin__array_grow(&queue->jobs, &queue->capacity, queue->count, 1, sizeof(void *))) {
        free(job);
        return TWIN_ENOMEM;
    }
    *job = (struct twin__mail_job){ .act = act, .time = time, .item = *item };
    memcpy(job->label, label, strlen(label) + 1);
    uint32_t *at = job->places;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        if (features->counts[b])
            memcpy(at, features->places[b], features->counts[b] * sizeof *at);
        job->item.features.places[b] = at;
        at += features->counts[b];
    }
    char *text = (char *)at;
    job->item.subject.bytes = text;
    job->item.text.bytes = text + item->subject.length;
    if (item->subject.length)
        memcpy(text, item->subject.bytes, item->subject.length);
    if (item->text.length)
        memcpy(text + item->subject.length, item->text.bytes, item->text.length);
    queue->jobs[queue->count++] = job;
    return TWIN_OK;
}

twin_status twin__mail_queue_replay(const struct twin__mail_queue *queue, struct twin__model *model,
                                    twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < queue->count && status == TWIN_OK; i++) {
        const struct twin__mail_job *job = queue->jobs[i];
        twin_mail_effect effect;
        status = twin__mail_act(&effect, model, job->act, &job->item, job->label, job->time, error);
    }
    return status;
}

/* mail_queue.c — what was learnt and is not in the file yet. */
#include "mail/mail_queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "mail/packed_features.h"

struct twin__mail_job {
    enum twin__mail_act act;
    int64_t time;
    char label[TWIN_MAIL_LABEL_BYTES + 1];
    struct twin__mail_item item; /* without its features, and without its opening, which is not learnt */
    uint32_t features[];         /* packed; of TWIN__MAIL_ADOPT as they are. The texts lie behind them. */
};

void twin__mail_queue_empty(struct twin__mail_queue *queue)
{
    twin__arena_reset(&queue->arena);
    queue->count = 0;
}

void twin__mail_queue_clear(struct twin__mail_queue *queue)
{
    twin__arena_clear(&queue->arena);
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

static void *align(char *at)
{
    uintptr_t most = _Alignof(max_align_t) - 1;
    return at + (-(uintptr_t)at & most);
}

/* Weights are no places; they are copied as they are, and their number is in the item. */
static size_t features_bytes(enum twin__mail_act act, const struct twin__features *features)
{
    return act == TWIN__MAIL_ADOPT ? features->counts[0] * sizeof(uint32_t) : twin__packed_bytes(features);
}

twin_status twin__mail_queue_add(struct twin__mail_queue *queue, enum twin__mail_act act,
                                 const struct twin__mail_item *item, const char *label, int64_t time)
{
    size_t bytes = features_bytes(act, &item->features), texts = item->subject.length + item->text.length;
    char *taken =
        twin__arena_take(&queue->arena, _Alignof(max_align_t) + sizeof(struct twin__mail_job) + bytes + texts);
    if (!taken || !twin__array_grow(&queue->jobs, &queue->capacity, queue->count, 1, sizeof(void *)))
        return TWIN_ENOMEM;
    struct twin__mail_job *job = align(taken);
    *job = (struct twin__mail_job){ .act = act, .time = time, .item = *item };
    job->item.opening = (struct twin__features){ 0 };
    memcpy(job->label, label, strlen(label) + 1);
    if (act == TWIN__MAIL_ADOPT)
        memcpy(job->features, item->features.places[0], bytes);
    else
        twin__features_pack(job->features, &item->features);
    char *text = (char *)job->features + bytes;
    job->item.subject.bytes = text;
    job->item.text.bytes = text + item->subject.length;
    if (item->subject.length)
        memcpy(text, item->subject.bytes, item->subject.length);
    if (item->text.length)
        memcpy(text + item->subject.length, item->text.bytes, item->text.length);
    queue->jobs[queue->count++] = job;
    return TWIN_OK;
}

/* Does one job again; *places is grown to hold the features of any. */
static twin_status replay(const struct twin__mail_job *job, uint32_t **places, size_t *capacity,
                          struct twin__model *model, twin_error *error)
{
    struct twin__mail_item item = job->item;
    if (job->act == TWIN__MAIL_ADOPT) {
        item.features.places[0] = job->features;
    } else {
        if (!TWIN__ARRAY_GROW(places, capacity, 0, twin__packed_count(job->features) + 1))
            return twin__fail_memory(error);
        item.features = twin__features_unpack(*places, job->features);
    }
    twin_mail_effect effect;
    return twin__mail_act(&effect, model, job->act, &item, job->label, job->time, error);
}

twin_status twin__mail_queue_replay(const struct twin__mail_queue *queue, struct twin__model *model,
                                    twin_error *error)
{
    uint32_t *places = NULL;
    size_t capacity = 0;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < queue->count && status == TWIN_OK; i++)
        status = replay(queue->jobs[i], &places, &capacity, model, error);
    free(places);
    return status;
}

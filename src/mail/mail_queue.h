/* mail_queue.h — what was learnt and is not in the file yet, so that it can be done again on top of what another
 * process has written meanwhile. */
#ifndef TWIN_MAIL_QUEUE_H
#define TWIN_MAIL_QUEUE_H

#include "mail/arena.h"
#include "mail/model.h"

enum twin__mail_act {
    TWIN__MAIL_LEARN,
    TWIN__MAIL_CORRECT,
    TWIN__MAIL_FORGET,
    TWIN__MAIL_IMPORT, /* an item without features */
    TWIN__MAIL_ADOPT,  /* an item whose first block is a struct twin__mail_weights, in words of four bytes */
};

struct twin__mail_job;

/* Begin with {0}. Emptying keeps the memory for the next batch, which is as large. */
struct twin__mail_queue {
    struct twin__mail_job **jobs;
    size_t count, capacity;
    struct twin__arena arena; /* of the jobs */
};
void twin__mail_queue_empty(struct twin__mail_queue *queue);
void twin__mail_queue_clear(struct twin__mail_queue *queue);

/* Does something to a model; the label of TWIN__MAIL_FORGET is not used. */
twin_status twin__mail_act(twin_mail_effect *out, struct twin__model *model, enum twin__mail_act act,
                           const struct twin__mail_item *item, const char *label, int64_t time, twin_error *error);

/* Keeps a copy of it. Does all of it again. */
twin_status twin__mail_queue_add(struct twin__mail_queue *queue, enum twin__mail_act act,
                                 const struct twin__mail_item *item, const char *label, int64_t time);
twin_status twin__mail_queue_replay(const struct twin__mail_queue *queue, struct twin__model *model,
                                    twin_error *error);

#endif

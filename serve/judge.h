/* judge.h — one message judged, for servers: a handle on the model, a reader, and the verdict, which lasts as long as
 * both are held. */
#ifndef TWIN_SERVE_JUDGE_H
#define TWIN_SERVE_JUDGE_H

#include "models.h"

struct judged {
    twin_mail_verdict verdict;
    const twin_message *message;
    twin_message_reader *reader; /* private, as is `use` */
    struct model_use use;
};

/* Judges a message, with the model of `user` where each has one. No model yet is TWIN_EINVAL, with a sentence. End it
 * with judge_end(), whatever the status. `trusted` may be NULL. */
twin_status judge_begin(struct judged *out, struct models *models, const char *user, twin_text raw,
                        const twin_bloom *trusted, twin_error *error);
void judge_end(struct judged *judged, struct models *models);

#endif

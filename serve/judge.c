/* judge.c — one message judged. */
#include "judge.h"

#include <stdio.h>

twin_status judge_begin(struct judged *out, struct models *models, const char *user, twin_text raw,
                        const twin_bloom *trusted, twin_error *error)
{
    *out = (struct judged){ 0 };
    twin_status status = models_take(&out->use, models, user, error);
    if (status == TWIN_OK && !out->use.exists) {
        snprintf(error->message, sizeof error->message, "there is no model yet; 'twinsift mail learn' creates it");
        return TWIN_EINVAL;
    }
    if (status == TWIN_OK)
        status = twin_message_reader_create(&out->reader, (twin_message_options){ 0 });
    if (status == TWIN_OK)
        status = twin_message_read(&out->message, out->reader, raw);
    if (status == TWIN_OK)
        status = twin_mail_check(&out->verdict, out->use.mail, out->message,
                                 (twin_mail_check_options){ .trusted = trusted }, error);
    return status;
}

void judge_end(struct judged *judged, struct models *models)
{
    twin_message_reader_free(judged->reader);
    if (judged->use.mail)
        models_give_back(models, &judged->use);
}

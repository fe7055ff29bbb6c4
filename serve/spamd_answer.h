/* spamd_answer.h — answers of SpamAssassin's protocol. */
#ifndef TWIN_SERVE_SPAMD_ANSWER_H
#define TWIN_SERVE_SPAMD_ANSWER_H

#include "judge.h"
#include "spamd_request.h"

/* As sysexits.h numbers and names them. */
enum spamd_status {
    SPAMD_OK = 0,
    SPAMD_DATAERR = 65,
    SPAMD_NOUSER = 67,
    SPAMD_UNAVAILABLE = 69,
    SPAMD_TEMPFAIL = 75,
    SPAMD_PROTOCOL = 76,
    SPAMD_TIMEOUT = 79,
};

/* A score as users of SpamAssassin know it: 5 and more is spam. The log odds are scaled so that the threshold of the
 * model is 5, and the verdict and the first decimal always agree. */
double spamd_points(const twin_mail_verdict *verdict);

/* Appends the answer to anything but TELL, PING and SKIP. `raw` is the message. */
twin_status spamd_answer(twin_buffer *out, const struct spamd_request *request, const struct judged *judged,
                         twin_text raw);

/* Appends the answer to TELL. */
twin_status spamd_answer_tell(twin_buffer *out, const struct spamd_request *request, twin_mail_effect effect);

/* Appends the answer to PING, and one that says why there is no other. */
twin_status spamd_answer_ping(twin_buffer *out);
twin_status spamd_answer_error(twin_buffer *out, enum spamd_status status, const char *sentence);

#endif

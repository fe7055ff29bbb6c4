/* mail_bulk.h — many messages checked by several threads, with results in the order of the messages. */
#ifndef TWIN_MAIL_BULK_H
#define TWIN_MAIL_BULK_H

#include "mail_model.h"

/* Called with each verdict in turn, by the thread that began; `mail` knows what it refers to. False, after reporting
 * an error, stops. */
typedef bool mail_bulk_visit(void *context, twin_mail *mail, const twin_mail_verdict *verdict, twin_text path);

/* Checks the messages that the arguments name. On false the error has been reported. */
bool mail_check_bulk(struct mail_request *request, twin_mail *mail, twin_mail_check_options options, twin_exec exec,
                     mail_bulk_visit *visit, void *context);

#endif

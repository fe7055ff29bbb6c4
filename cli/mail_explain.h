/* mail_explain.h — a verdict in words: which evidence spoke, how strongly, and what in the message did. */
#ifndef TWIN_MAIL_EXPLAIN_H
#define TWIN_MAIL_EXPLAIN_H

#include "support/mail_evidence.h"

/* Prints the evidence below a verdict, and the nearest known message beside this one, if its text is kept. */
void explain_verdict(twin_mail *mail, const twin_message *message, const twin_mail_verdict *verdict, bool color);

#endif

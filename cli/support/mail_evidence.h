/* mail_evidence.h — the evidence for a verdict: its words, and all of it as JSON. */
#ifndef TWIN_SUPPORT_MAIL_EVIDENCE_H
#define TWIN_SUPPORT_MAIL_EVIDENCE_H

#include "record.h"

enum { MAIL_MOST_WORDS = 12 };

/* The words that count most for a label; returns how many there are. */
size_t mail_words(twin_mail_word out[MAIL_MOST_WORDS], twin_mail *mail, const twin_message *message,
                  const char *label);

/* The best label, the step that decided, and how much of the message is known. */
void record_step(struct record *record, const twin_mail_verdict *verdict);

/* The list "evidence": of each label the scores, the senders, the nearest messages and, if the message is given, its
 * words and the texts of the nearest. */
void record_evidence(struct record *record, twin_mail *mail, const twin_message *message,
                     const twin_mail_verdict *verdict);

#endif

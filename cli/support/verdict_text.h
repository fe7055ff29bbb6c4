/* verdict_text.h — a verdict on a message as words: for lines of results, and for headers. */
#ifndef TWIN_SUPPORT_VERDICT_TEXT_H
#define TWIN_SUPPORT_VERDICT_TEXT_H

#include <twinsift/twinsift.h>

enum { VERDICT_REASON_ROOM = 128, VERDICT_ABOUT_ROOM = 160 + VERDICT_REASON_ROOM, VERDICT_HEADERS = 3 };

bool verdict_is_spam(const twin_mail_verdict *verdict);

/* "spam", any other label, or "unsure". */
const char *verdict_name(const twin_mail_verdict *verdict);

/* The nearest known message of any label; NULL: there is none. */
const twin_mail_lookalike *verdict_nearest(const twin_mail_verdict *verdict);

/* The evidence that counted most, in `out`: "content", "lookalike" with the number of the known message and its
 * similarity, or "sender" with how often mail from the address was learnt, or "trusted". */
const char *verdict_reason(char out[VERDICT_REASON_ROOM], const twin_mail_verdict *verdict);

/* The headers X-Spam-Flag, X-Spam-Score and X-Twinsift of a message, which refer to the rest of this. */
struct verdict_headers {
    twin_message_header fields[VERDICT_HEADERS];
    char score[32], about[VERDICT_ABOUT_ROOM];
};
void verdict_headers_write(struct verdict_headers *out, const twin_mail_verdict *verdict);

#endif

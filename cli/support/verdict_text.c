/* verdict_text.c — a verdict on a message as words. */
#include "verdict_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool verdict_is_spam(const twin_mail_verdict *verdict)
{
    return verdict->label && strcmp(verdict->label, TWIN_MAIL_SPAM) == 0;
}

const char *verdict_name(const twin_mail_verdict *verdict)
{
    return verdict->label ? verdict->label : "unsure";
}

const twin_mail_lookalike *verdict_nearest(const twin_mail_verdict *verdict)
{
    const twin_mail_lookalike *best = NULL;
    for (size_t i = 0; i < 2 * verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i / 2];
        const twin_mail_lookalike *one = i % 2 ? &e->nearest_other : &e->nearest;
        if (one->similarity > (best ? best->similarity : 0))
            best = one;
    }
    return best;
}

const char *verdict_reason(char out[VERDICT_REASON_ROOM], const twin_mail_verdict *verdict)
{
    const char *name = twin_name_of(TWIN_NAMES_MAIL_REASON, verdict->reason);
    const twin_mail_lookalike *nearest = verdict_nearest(verdict);
    const twin_mail_sender *senders = &verdict->evidence[0].senders;
    if (verdict->reason == TWIN_MAIL_BY_LOOKALIKE && nearest)
        snprintf(out, VERDICT_REASON_ROOM, "%s %" PRIu64 " %.2f", name, nearest->number, nearest->similarity);
    else if (verdict->reason == TWIN_MAIL_BY_SENDER && senders->trusted)
        snprintf(out, VERDICT_REASON_ROOM, "%s trusted", name);
    else if (verdict->reason == TWIN_MAIL_BY_SENDER && verdict->count > 0)
        snprintf(out, VERDICT_REASON_ROOM, "%s %" PRIu64, name, (uint64_t)senders->address + senders->address_others);
    else if (verdict->count > 1 && verdict->best && !verdict->label) /* which label it would be */
        snprintf(out, VERDICT_REASON_ROOM, "%s for %s", name, verdict->best);
    else
        snprintf(out, VERDICT_REASON_ROOM, "%s", name);
    return out;
}

static twin_message_header header(const char *name, const char *value)
{
    return (twin_message_header){ { name, strlen(name) }, { value, strlen(value) } };
}

void verdict_headers_write(struct verdict_headers *out, const twin_mail_verdict *verdict)
{
    char reason[VERDICT_REASON_ROOM];
    bool is_of_spam = !verdict->best || strcmp(verdict->best, TWIN_MAIL_SPAM) == 0;
    snprintf(out->score, sizeof out->score, "%.6f", is_of_spam ? verdict->score : 1 / (1 + exp(-verdict->log_odds)));
    snprintf(out->about, sizeof out->about, "%s, score=%s, reason=%s", verdict_name(verdict), out->score,
             verdict_reason(reason, verdict));
    out->fields[0] = header("X-Spam-Flag", verdict_is_spam(verdict) ? "YES" : "NO");
    out->fields[1] = header("X-Spam-Score", out->score);
    out->fields[2] = header("X-Twinsift", out->about);
}

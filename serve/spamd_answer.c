/* spamd_answer.c — answers of SpamAssassin's protocol.
 *
 * Clients of version 1.3 and later get the length and the verdict as headers; before that, reports and symbols have the
 * verdict alone and messages the length alone, and before 1.2 messages have neither. */
#include "spamd_answer.h"

#include "support/verdict_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double REQUIRED = 5, MOST = 99.9;

double spamd_points(const twin_mail_verdict *verdict)
{
    double threshold = verdict->threshold > 0 ? verdict->threshold : 1;
    double points = round(verdict->log_odds / threshold * REQUIRED * 10) / 10;
    if (!(points > -MOST))
        points = -MOST;
    if (points > MOST)
        points = MOST;
    if (verdict_is_spam(verdict))
        return points < REQUIRED ? REQUIRED : points;
    return points < REQUIRED ? points : REQUIRED - 0.1;
}

static twin_status print(twin_buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static twin_status print(twin_buffer *out, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return TWIN_EINVAL;
    return twin_buffer_append(out, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* ---- the bodies of answers */

/* "TWINSIFT_SPAM,TWINSIFT_CONTENT": the label, and the evidence that counted most. */
static void write_symbols(char *out, size_t room, const twin_mail_verdict *verdict)
{
    snprintf(out, room, "TWINSIFT_%s,TWINSIFT_%s", verdict_name(verdict),
             twin_name_of(TWIN_NAMES_MAIL_REASON, verdict->reason));
    for (; *out; out++)
        *out = *out == '-' || *out == '.' ? '_' : (char)toupper((unsigned char)*out);
}

static twin_status report_label(twin_buffer *out, const twin_mail_evidence *e)
{
    const twin_mail_sender *s = &e->senders;
    twin_status status = print(out, "%s: %+.2f = content %+.2f, sender %+.2f, lookalike %+.2f; %s above %+.2f\n",
                               e->label, e->score, e->content, e->sender, e->lookalike, e->label, e->above);
    if (status == TWIN_OK)
        status = print(
            out,
            "  address learnt %" PRIu32 " time%s as %s, %" PRIu32 " otherwise; domain %" PRIu32 " and %" PRIu32 "\n",
            s->address, s->address == 1 ? "" : "s", e->label, s->address_others, s->domain, s->domain_others);
    if (status == TWIN_OK && e->nearest.similarity > 0)
        status =
            print(out, "  nearest: message %" PRIu64 ", similarity %.2f\n", e->nearest.number, e->nearest.similarity);
    return status;
}

static twin_status report(twin_buffer *out, const twin_mail_verdict *verdict)
{
    char reason[VERDICT_REASON_ROOM];
    twin_status status = print(out, "twinsift: %s, probability of spam %.6f, %.1f points, %.1f required; %s\n\n",
                               verdict_name(verdict), verdict->score, spamd_points(verdict), REQUIRED,
                               verdict_reason(reason, verdict));
    for (size_t i = 0; i < verdict->count && status == TWIN_OK; i++)
        status = report_label(out, &verdict->evidence[i]);
    return status;
}

/* The message with our headers, and the one that rules for SpamAssassin look at. */
static twin_status mark(twin_buffer *out, const twin_mail_verdict *verdict, twin_text raw)
{
    struct verdict_headers headers;
    char symbols[2 * TWIN_MAIL_LABEL_BYTES], about[256 + sizeof symbols];
    write_symbols(symbols, sizeof symbols, verdict);
    int length = snprintf(about, sizeof about, "%s, score=%.1f required=%.1f tests=%s",
                          verdict_is_spam(verdict) ? "Yes" : "No", spamd_points(verdict), REQUIRED, symbols);
    verdict_headers_write(&headers, verdict);
    twin_message_header fields[VERDICT_HEADERS + 1] = { headers.fields[0],
                                                        { { "X-Spam-Status", 13 }, { about, (size_t)length } } };
    memcpy(fields + 2, headers.fields + 1, (VERDICT_HEADERS - 1) * sizeof *fields);
    return twin_message_pass(out, raw, fields, VERDICT_HEADERS + 1);
}

/* What ends the headers ends the text: an empty line, which is kept. */
static void cut_after_headers(twin_buffer *text)
{
    size_t at = 0;
    while (at < text->length) {
        const char *newline = memchr(text->bytes + at, '\n', text->length - at);
        size_t next = newline ? (size_t)(newline + 1 - text->bytes) : text->length;
        bool is_empty = next == at + 1 || (next == at + 2 && text->bytes[at] == '\r');
        at = next;
        if (is_empty)
            text->length = at;
    }
}

static twin_status write_body(twin_buffer *out, const struct spamd_request *request, const twin_mail_verdict *verdict,
                              twin_text raw)
{
    char symbols[2 * TWIN_MAIL_LABEL_BYTES];
    twin_status status = TWIN_OK;
    switch (request->command) {
    case SPAMD_SYMBOLS:
        write_symbols(symbols, sizeof symbols, verdict);
        return print(out, request->version < 13 ? "%s\r\n" : "%s", symbols);
    case SPAMD_REPORT_IFSPAM: return verdict_is_spam(verdict) ? report(out, verdict) : TWIN_OK;
    case SPAMD_REPORT: return report(out, verdict);
    case SPAMD_PROCESS: return mark(out, verdict, raw);
    case SPAMD_HEADERS:
        status = mark(out, verdict, raw);
        cut_after_headers(out);
        return status;
    default: return TWIN_OK;
    }
}

/* ---- answers */

/* The lines before the body. */
static twin_status write_head(twin_buffer *out, const struct spamd_request *request, const twin_mail_verdict *verdict,
                              size_t length)
{
    bool is_message = request->command == SPAMD_PROCESS || request->command == SPAMD_HEADERS;
    bool with_length =
        request->command != SPAMD_CHECK && (request->version >= 13 || (is_message && request->version == 12));
    bool with_verdict = !is_message || request->version >= 13;
    bool says_yes = request->command == SPAMD_REPORT_IFSPAM;
    twin_status status = print(out, "SPAMD/1.1 0 EX_OK\r\n");
    if (status == TWIN_OK && with_length)
        status = print(out, "Content-length: %zu\r\n", length);
    if (status == TWIN_OK && with_verdict)
        status = print(out, "Spam: %s ; %.1f / %.1f\r\n",
                       verdict_is_spam(verdict) ? (says_yes ? "Yes" : "True")
                       : says_yes               ? "No"
                                                : "False",
                       spamd_points(verdict), REQUIRED);
    bool is_bare = is_message && request->version < 12;
    return status == TWIN_OK && !is_bare ? print(out, "\r\n") : status;
}

twin_status spamd_answer(twin_buffer *out, const struct spamd_request *request, const struct judged *judged,
                         twin_text raw)
{
    twin_buffer body = { 0 };
    twin_status status = write_body(&body, request, &judged->verdict, raw);
    if (status == TWIN_OK)
        status = write_head(out, request, &judged->verdict, body.length);
    if (status == TWIN_OK && body.length > 0)
        status = twin_buffer_append(out, body.bytes, body.length);
    twin_buffer_clear(&body);
    return status;
}

/* What was done, no more: clients read in it whether a message was new. What is learnt is also what sketches export,
 * which is the only way in which others hear of it; so a message that is known is reported, and one that is no longer
 * spam is revoked. */
twin_status spamd_answer_tell(twin_buffer *out, const struct spamd_request *request, twin_mail_effect effect)
{
    bool changed = effect == TWIN_MAIL_LEARNT || effect == TWIN_MAIL_CORRECTED || effect == TWIN_MAIL_FORGOTTEN;
    const char *set = "", *removed = "";
    if (request->set & SPAMD_LOCAL && changed)
        set = request->set & SPAMD_REMOTE ? "DidSet: local,remote\r\n" : "DidSet: local\r\n";
    else if (request->set & SPAMD_REMOTE)
        set = "DidSet: remote\r\n";
    if (request->remove & SPAMD_LOCAL && changed)
        removed = request->remove & SPAMD_REMOTE ? "DidRemove: local,remote\r\n" : "DidRemove: local\r\n";
    else if (request->remove & SPAMD_REMOTE)
        removed = "DidRemove: remote\r\n";
    return print(out, "SPAMD/1.1 0 EX_OK\r\n%s%s\r\n\r\n", set, removed);
}

twin_status spamd_answer_ping(twin_buffer *out)
{
    return print(out, "SPAMD/1.5 0 PONG\r\n");
}

twin_status spamd_answer_error(twin_buffer *out, enum spamd_status status, const char *sentence)
{
    static const struct {
        enum spamd_status status;
        const char *text;
    } names[] = {
        { SPAMD_DATAERR, "EX_DATAERR" },
        { SPAMD_NOUSER, "EX_NOUSER" },
        { SPAMD_UNAVAILABLE, "Service Unavailable:" },
        { SPAMD_TEMPFAIL, "EX_TEMPFAIL" },
        { SPAMD_PROTOCOL, "Bad header line:" },
        { SPAMD_TIMEOUT, "Timeout:" },
    };
    const char *name = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            name = names[i].text;
    /* No empty line, as spamd has none: spamc takes one for the end of a success. */
    return print(out, "SPAMD/1.0 %d %s %s\r\n", (int)status, name, sentence);
}

/* mail_explain.c — a verdict in words.
 *
 * For each label: how the score adds up, how often its sender was learnt, the nearest messages, and the words with the
 * largest weights; then the nearest message of all next to this one. The same as fields of JSON. */
#include "mail_explain.h"

#include "mail_model.h"
#include "show_diff.h"
#include "support/escape.h"
#include "support/messages.h"
#include "support/terminal.h"
#include "support/verdict_text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 12, COLUMNS = 110 };

static void print_nearest(twin_mail *mail, const char *what, const twin_mail_lookalike *nearest)
{
    twin_mail_known known;
    char day[MAIL_DAY_ROOM];
    if (nearest->similarity <= 0 || twin_mail_known_at(&known, mail, nearest->number, NULL) != TWIN_OK)
        return;
    printf("    %-11s message %" PRIu64 ", similarity %.2f, learnt as %s on %s", what, nearest->number,
           nearest->similarity, known.label, mail_day(day, known.time));
    printf(nearest->copies > 1 ? "; %" PRIu32 " copies\n" : "\n", nearest->copies);
}

static void print_label(twin_mail *mail, const twin_mail_evidence *e)
{
    const twin_mail_sender *s = &e->senders;
    printf("  %s: %+.2f", e->label, e->score);
    if (!s->trusted) /* else it is less than what they add up to */
        printf(" = content %+.2f, sender %+.2f, lookalike %+.2f", e->content, e->sender, e->lookalike);
    printf("; %s above %+.2f, not below %+.2f\n", e->label, e->above, e->below);
    printf("    sender      address learnt %" PRIu32 " time%s as %s, %" PRIu32 " otherwise; domain %" PRIu32
           " and %" PRIu32 "%s\n",
           s->address, s->address == 1 ? "" : "s", e->label, s->address_others, s->domain, s->domain_others,
           s->trusted ? "; trusted" : "");
    print_nearest(mail, "nearest", &e->nearest);
    print_nearest(mail, "other", &e->nearest_other);
}

static size_t find_words(twin_mail_word out[MOST_WORDS], twin_mail *mail, const twin_message *message,
                         const char *label)
{
    size_t count = MOST_WORDS;
    return twin_mail_explain(out, &count, mail, label, message, NULL) == TWIN_OK ? count : 0;
}

/* ---- side by side */

static void print_beside(twin_text known, twin_text text, bool color)
{
    twin_edit_spans spans = { 0 };
    size_t columns = terminal_columns(STDOUT_FILENO);
    struct diff_style style = { color, columns ? columns : COLUMNS, SIZE_MAX };
    if (twin_diff(&spans, known, text, (twin_diff_options){ .join = 2 }) != TWIN_OK ||
        !print_side_by_side(stdout, known, text, &spans, style))
        fail_status("the comparison", TWIN_ENOMEM, NULL);
    twin_edit_spans_clear(&spans);
}

static void show_nearest(twin_mail *mail, const twin_message *message, const twin_mail_verdict *verdict, bool color)
{
    const twin_mail_lookalike *nearest = verdict_nearest(verdict);
    twin_buffer known = { 0 }, text = { 0 };
    twin_error error = { 0 };
    if (!nearest)
        return;
    twin_status status = twin_mail_text(&known, mail, nearest->number, &error);
    if (status == TWIN_OK)
        status = twin_mail_text_of(&text, message);
    if (status != TWIN_OK)
        fail_status("the nearest message", status, &error);
    else if (known.length) {
        printf("  message %" PRIu64 ", and this one:\n\n", nearest->number);
        print_beside((twin_text){ known.bytes, known.length }, (twin_text){ text.bytes, text.length }, color);
    }
    twin_buffer_clear(&known);
    twin_buffer_clear(&text);
}

void explain_verdict(twin_mail *mail, const twin_message *message, const twin_mail_verdict *verdict, bool color)
{
    twin_mail_word words[MOST_WORDS];
    for (size_t i = 0; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        print_label(mail, e);
        if (verdict->is_brief)
            printf("    brief       a few words: not called %s for its content alone\n", e->label);
        if (e->is_contested)
            printf("    contested   much speaks for %s, too\n", e->label);
        size_t count = find_words(words, mail, message, e->label);
        for (size_t k = 0; k < count; k++) {
            printf("    %+6.2f      ", words[k].weight);
            escape_message(stdout, words[k].kind, strlen(words[k].kind));
            printf(": ");
            escape_message(stdout, words[k].word, strlen(words[k].word));
            printf("\n");
        }
    }
    show_nearest(mail, message, verdict, color);
}

static void record_known_text(struct record *record, twin_mail *mail, uint64_t number)
{
    twin_buffer text = { 0 };
    twin_error error = { 0 };
    twin_status status = twin_mail_text(&text, mail, number, &error);
    if (status != TWIN_OK)
        fail_status("the nearest message", status, &error);
    else if (text.length)
        record_text(record, "text", (twin_text){ text.bytes, text.length });
    twin_buffer_clear(&text);
}

static void record_nearest(struct record *record, twin_mail *mail, const char *name,
                           const twin_mail_lookalike *nearest, bool with_text)
{
    twin_mail_known known;
    if (nearest->similarity <= 0 || twin_mail_known_at(&known, mail, nearest->number, NULL) != TWIN_OK)
        return;
    record_object(record, name);
    record_count(record, "number", nearest->number);
    record_string(record, "label", known.label);
    record_fixed(record, "similarity", nearest->similarity, 4);
    record_count(record, "copies", nearest->copies);
    record_count(record, "time", (uint64_t)known.time);
    if (with_text)
        record_known_text(record, mail, nearest->number);
    record_object_end(record);
}

static void record_sender(struct record *record, const twin_mail_sender *sender)
{
    record_object(record, "sender_counts");
    record_count(record, "address", sender->address);
    record_count(record, "address_others", sender->address_others);
    record_count(record, "domain", sender->domain);
    record_count(record, "domain_others", sender->domain_others);
    record_flag(record, "trusted", sender->trusted);
    record_object_end(record);
}

static void record_words(struct record *record, twin_mail *mail, const twin_message *message, const char *label)
{
    twin_mail_word words[MOST_WORDS];
    size_t count = find_words(words, mail, message, label);
    record_list(record, "words");
    for (size_t k = 0; k < count; k++) {
        record_object(record, NULL);
        record_string(record, "kind", words[k].kind);
        record_string(record, "word", words[k].word);
        record_fixed(record, "weight", words[k].weight, 4);
        record_object_end(record);
    }
    record_list_end(record);
}

void record_evidence(struct record *record, twin_mail *mail, const twin_message *message,
                     const twin_mail_verdict *verdict)
{
    record_list(record, "evidence");
    for (size_t i = 0; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        record_object(record, NULL);
        record_string(record, "label", e->label);
        record_fixed(record, "score", e->score, 6);
        record_fixed(record, "content", e->content, 6);
        record_fixed(record, "sender", e->sender, 6);
        record_fixed(record, "lookalike", e->lookalike, 6);
        record_fixed(record, "above", e->above, 6);
        record_fixed(record, "below", e->below, 6);
        record_flag(record, "contested", e->is_contested);
        record_sender(record, &e->senders);
        record_nearest(record, mail, "nearest", &e->nearest, message);
        record_nearest(record, mail, "nearest_other", &e->nearest_other, message);
        if (message)
            record_words(record, mail, message, e->label);
        record_object_end(record);
    }
    record_list_end(record);
}

/* mail_explain.c — a verdict in words.
 *
 * For each label: how the score adds up, how often its sender was learnt, the nearest messages, and the words with the
 * largest weights; then the nearest message of all next to this one. */
#include "mail_model.h"
#include "support/mail_evidence.h"

#include "show.h"
#include "support/escape.h"
#include "support/messages.h"
#include "support/terminal.h"
#include "support/verdict_text.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 110 };

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
    twin_mail_word words[MAIL_MOST_WORDS];
    for (size_t i = 0; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        print_label(mail, e);
        if (verdict->is_brief)
            printf("    brief       a few words: not called %s for its content alone\n", e->label);
        if (e->is_unfounded)
            printf("    unfounded   what is seen, sender and lookalikes say %+.2f: too little to call it %s\n",
                   e->grounds, e->label);
        if (e->is_contested)
            printf("    contested   much speaks for %s, too\n", e->label);
        size_t count = mail_words(words, mail, message, e->label);
        for (size_t k = 0; k < count; k++) {
            if (!words[k].is_seen && (k == 0 || words[k - 1].is_seen))
                printf("    and of what is not seen:\n");
            printf("    %+6.2f      ", words[k].weight);
            escape_message(stdout, words[k].kind, strlen(words[k].kind));
            printf(": ");
            escape_message(stdout, words[k].word, strlen(words[k].word));
            printf("\n");
        }
    }
    show_nearest(mail, message, verdict, color);
}

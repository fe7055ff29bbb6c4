/* mail_explain.c — a verdict in words.
 *
 * First its reason, and the step that decided. Then for each label: how the score adds up, how often its sender was learnt, the nearest messages, and the words with the
 * largest weights; then the nearest message of all next to this one. */
#include "mail_model.h"
#include "support/mail_evidence.h"

#include "show.h"
#include "support/escape.h"
#include "support/messages.h"
#include "support/terminal.h"
#include "support/verdict_text.h"

#include <ctype.h>
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
    if (nearest->copies > 1)
        printf("; %" PRIu32 " copies", nearest->copies);
    if (nearest->alike)
        printf("; %" PRIu32 " with the same structure of HTML", nearest->alike);
    printf("\n");
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

/* ---- the reason */

/* Whether a person would take it for a word: three letters, and of what is written, not of how it is packed. */
static bool is_reason(const twin_mail_word *word)
{
    int letters = 0;
    for (const char *at = word->word; *at; at++)
        letters += isalpha((unsigned char)*at) || (unsigned char)*at >= 0x80;
    return letters >= 3 && strncmp(word->kind, "part ", 5) != 0;
}

/* The words of what is seen that speak for the verdict. */
static void print_reasons(const twin_mail_word *words, size_t count, double sign)
{
    enum { MOST = 4 };
    int printed = 0;
    printf("its words");
    for (size_t k = 0; k < count && printed < MOST; k++) {
        if (!words[k].is_seen || sign * words[k].weight <= 0 || !is_reason(&words[k]))
            continue;
        printf(printed++ ? ", " : ": ");
        escape_message(stdout, words[k].kind, strlen(words[k].kind));
        printf(" ");
        escape_message(stdout, words[k].word, strlen(words[k].word));
    }
    if (printed == 0)
        printf(", of which none says much by itself");
}

static void print_reason(twin_mail *mail, const twin_message *message, const twin_mail_verdict *verdict,
                         const twin_mail_evidence *best)
{
    twin_mail_word words[64]; /* of which few may speak for it */
    size_t count = sizeof words / sizeof words[0];
    char reason[VERDICT_REASON_ROOM];
    printf("  %s for ", verdict_name(verdict));
    if (verdict->reason == TWIN_MAIL_BY_CONTENT &&
        twin_mail_explain(words, &count, mail, best->label, message, NULL) == TWIN_OK)
        print_reasons(words, count, best->score < 0 ? -1 : 1);
    else
        printf("its %s", verdict_reason(reason, verdict));
    printf("\n");
}

/* First what a person would want to know: the reason, and the step that decided. */
static void print_verdict(twin_mail *mail, const twin_message *message, const twin_mail_verdict *verdict)
{
    enum { PERCENT = 100 };
    static const double LITTLE = 0.5;
    const twin_mail_step_info *step = twin_mail_step_about(verdict->step);
    for (size_t i = 0; i < verdict->count; i++)
        if (verdict->label && strcmp(verdict->evidence[i].label, verdict->best) == 0)
            print_reason(mail, message, verdict, &verdict->evidence[i]);
    printf("  %-11s %s\n", step->name, step->sentence);
    if (verdict->known < LITTLE || verdict->step == TWIN_MAIL_UNKNOWN_WORDS)
        printf("  %-11s %s of this message is known (%.0f %% of its words)\n", "known",
               verdict->known < LITTLE ? "little" : "not enough", PERCENT * verdict->known);
}

void explain_verdict(twin_mail *mail, const twin_message *message, const twin_mail_verdict *verdict, bool color)
{
    twin_mail_word words[MAIL_MOST_WORDS];
    print_verdict(mail, message, verdict);
    for (size_t i = 0; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        print_label(mail, e);
        printf("    grounds     %+.2f of what is seen, sender and lookalikes\n", e->grounds);
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

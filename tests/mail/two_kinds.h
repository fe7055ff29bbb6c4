/* two_kinds.h — messages of two kinds of text, from senders of their own, and models that learn them. */
#ifndef TEST_TWO_KINDS_H
#define TEST_TWO_KINDS_H

#include <math.h>

#include "base/random.h"
#include "model_frame.h"

enum { ROOM = 4096 };

static const char *const spam_words[] = { "pills",  "cheap",  "offer", "winner", "casino", "loan",   "free",
                                          "credit", "deluxe", "click", "bonus",  "watch",  "replica" };
static const char *const good_words[] = { "meeting", "report",  "patch", "review",  "Tuesday", "budget",  "kernel",
                                          "lunch",   "minutes", "draft", "version", "thanks",  "attached" };
static const char *const common_words[] = { "the", "of", "and", "you", "for", "with", "this", "from", "have", "are" };

static inline size_t write_message(char out[ROOM], uint64_t number, bool spam)
{
    uint64_t state = number * 2 + spam;
    size_t n = (size_t)snprintf(out, ROOM,
                                "From: %s%d@%s.example.org\nTo: me@example.net\nSubject: message %d\n"
                                "Message-ID: <%llu.%d@example.org>\n\n",
                                spam ? "offer" : "ann", (int)(number % 7), spam ? "bulk" : "work", (int)number,
                                (unsigned long long)number, spam);
    for (int i = 0; i < 60; i++) {
        uint64_t r = twin__random_next(&state);
        const char *word = r % 3 == 0 ? common_words[r / 3 % 10]
                           : spam     ? spam_words[r / 3 % 13]
                                      : good_words[r / 3 % 13];
        n += (size_t)snprintf(out + n, ROOM - n, "%s%c", word, i % 10 == 9 ? '\n' : ' ');
    }
    return n;
}

static inline const twin_message *message_of(uint64_t number, bool spam)
{
    static char text[ROOM];
    return read_bytes(text, write_message(text, number, spam));
}

static inline twin_mail *make(twin_mail_options options)
{
    twin_mail *mail;
    options.key = key;
    assert_int_equal(twin_mail_create_in_memory(&mail, options), TWIN_OK);
    return mail;
}

static inline twin_mail_effect learn(twin_mail *mail, uint64_t number, bool spam)
{
    twin_mail_effect effect;
    assert_int_equal(
        twin_mail_learn(&effect, mail, message_of(number, spam), spam ? "spam" : "ham", 1000 + (int64_t)number, NULL),
        TWIN_OK);
    return effect;
}

static inline void assert_called(const twin_mail_verdict *verdict, const char *label)
{
    if (!verdict->label || strcmp(verdict->label, label) != 0)
        print_message("called %s, not %s: %g, content %g, sender %g, lookalike %g\n",
                      verdict->label ? verdict->label : "unsure", label, verdict->log_odds,
                      verdict->evidence[0].content, verdict->evidence[0].sender, verdict->evidence[0].lookalike);
    assert_non_null(verdict->label);
    assert_string_equal(verdict->label, label);
}

static inline twin_mail_verdict check(twin_mail *mail, uint64_t number, bool spam)
{
    twin_mail_verdict verdict;
    twin_error error = { 0 };
    if (twin_mail_check(&verdict, mail, message_of(number, spam), (twin_mail_check_options){ 0 }, &error) != TWIN_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < verdict.count; i++) { /* the parts are those of the whole */
        const twin_mail_evidence *e = &verdict.evidence[i];
        assert_true(e->senders.trusted || fabs(e->score - (e->content + e->sender + e->lookalike)) < 1e-9);
    }
    return verdict;
}

static inline double score(twin_mail *mail, uint64_t number, bool spam)
{
    return check(mail, number, spam).log_odds;
}

#endif

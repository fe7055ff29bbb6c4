/* mail_evidence.c — the evidence for a verdict, as JSON. */
#include "mail_evidence.h"

#include "messages.h"

size_t mail_words(twin_mail_word out[MAIL_MOST_WORDS], twin_mail *mail, const twin_message *message,
                  const char *label)
{
    size_t count = MAIL_MOST_WORDS;
    return twin_mail_explain(out, &count, mail, label, message, NULL) == TWIN_OK ? count : 0;
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
    record_count(record, "alike", nearest->alike);
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
    twin_mail_word words[MAIL_MOST_WORDS];
    size_t count = mail_words(words, mail, message, label);
    record_list(record, "words");
    for (size_t k = 0; k < count; k++) {
        record_object(record, NULL);
        record_string(record, "kind", words[k].kind);
        record_string(record, "word", words[k].word);
        record_fixed(record, "weight", words[k].weight, 4);
        record_flag(record, "seen", words[k].is_seen);
        record_object_end(record);
    }
    record_list_end(record);
}

void record_step(struct record *record, const twin_mail_verdict *verdict)
{
    const twin_mail_step_info *step = twin_mail_step_about(verdict->step);
    if (verdict->best)
        record_string(record, "best", verdict->best);
    record_string(record, "step", step->name);
    record_string(record, "because", step->sentence);
    record_fixed(record, "known", verdict->known, 4);
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
        record_fixed(record, "grounds", e->grounds, 6);
        record_sender(record, &e->senders);
        record_nearest(record, mail, "nearest", &e->nearest, message);
        record_nearest(record, mail, "nearest_other", &e->nearest_other, message);
        if (message)
            record_words(record, mail, message, e->label);
        record_object_end(record);
    }
    record_list_end(record);
}

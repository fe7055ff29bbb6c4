/* route_mail.c — messages are judged and learnt. */
#include "server.h"

#include "support/mail_evidence.h"
#include "support/verdict_text.h"

#include <stdlib.h>
#include <string.h>

static bool has_mail(struct exchange *exchange)
{
    if (twin_message_available() != TWIN_OK) {
        exchange_fail(exchange, 501, "unsupported", twin_error_last(TWIN_EUNSUPPORTED));
        return false;
    }
    if (exchange->server->models)
        return true;
    exchange_fail(exchange, 404, "model", "this server has no mail model; start it with --model");
    return false;
}

static bool take_model(struct model_use *out, struct exchange *exchange)
{
    twin_error error = { 0 };
    if (!has_mail(exchange))
        return false;
    twin_status status = models_take(out, exchange->server->models, exchange_parameter(exchange, "model"), &error);
    if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    return status == TWIN_OK;
}

/* ---- checking */

static void record_nearest(struct record *record, struct model_use *use, const twin_mail_verdict *verdict,
                           twin_text text)
{
    const twin_mail_lookalike *nearest = verdict_nearest(verdict);
    twin_mail_known known;
    if (!nearest || twin_mail_known_at(&known, use->mail, nearest->number, NULL) != TWIN_OK) {
        record_null(record, "nearest");
        return;
    }
    record_object(record, "nearest");
    record_string(record, "label", known.label);
    record_fixed(record, "similarity", nearest->similarity, 4);
    record_count(record, "number", nearest->number);
    record_count(record, "copies", nearest->copies);
    record_count(record, "time", (uint64_t)known.time);
    if (text.length)
        record_text(record, "text", text);
    else
        record_null(record, "text");
    record_object_end(record);
}

/* The strongest words for the label that is first in the evidence: spam, where there is spam. */
static void record_words(struct record *record, twin_mail *mail, const twin_message *message,
                         const twin_mail_verdict *verdict, size_t most)
{
    twin_mail_word words[100];
    size_t count = most < 100 ? most : 100;
    record_list(record, "words");
    if (verdict->count == 0 || count == 0 ||
        twin_mail_explain(words, &count, mail, verdict->evidence[0].label, message, NULL) != TWIN_OK)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        record_object(record, NULL);
        record_string(record, "kind", words[i].kind);
        record_string(record, "word", words[i].word);
        record_fixed(record, "weight", words[i].weight, 4);
        record_object_end(record);
    }
    record_list_end(record);
}

static twin_text text_in(const twin_buffer *buffer)
{
    return (twin_text){ buffer->bytes ? buffer->bytes : "", buffer->length };
}

/* The nearest message, and this one as the page shows it beside that, with the differences. */
static void record_beside(struct record *record, struct exchange *exchange, struct model_use *use,
                          const twin_message *message, const twin_mail_verdict *verdict)
{
    const twin_mail_lookalike *nearest = verdict_nearest(verdict);
    twin_buffer own = { 0 }, known = { 0 };
    twin_text none = { "", 0 };
    if (nearest && models_text(&known, exchange->server->models, use, nearest->number) != TWIN_OK)
        known.length = 0;
    (void)twin_mail_text_of(&own, message);
    record_nearest(record, use, verdict, text_in(&known));
    record_text(record, "subject", message->subject);
    record_text(record, "from", message->address_count ? message->addresses[0].address : none);
    record_text(record, "from_name", message->address_count ? message->addresses[0].name : none);
    record_text(record, "text", text_in(&own));
    if (known.length)
        (void)record_differences(record, text_in(&known), text_in(&own));
    else
        record_null(record, "differences");
    twin_buffer_clear(&own);
    twin_buffer_clear(&known);
}

/* The label under which this message was learnt, by which a change can be undone. */
static void record_learnt(struct record *record, struct model_use *use, const twin_message *message)
{
    twin_mail_known known;
    bool found;
    if (twin_mail_find(&known, &found, use->mail, message, NULL) == TWIN_OK && found)
        record_string(record, "learnt_as", known.label);
    else
        record_null(record, "learnt_as");
}

static void record_verdict(struct record *record, const twin_mail_verdict *verdict)
{
    if (verdict->label)
        record_string(record, "label", verdict->label);
    else
        record_null(record, "label");
    record_fixed(record, "score", verdict->score, 6);
    record_string(record, "reason", twin_name_of(TWIN_NAMES_MAIL_REASON, verdict->reason));
    record_fixed(record, "log_odds", verdict->log_odds, 6);
    record_fixed(record, "threshold", verdict->threshold, 6);
    record_step(record, verdict);
}

/* Judges a message, and writes the verdict behind the id, if there is one. */
static void check(struct exchange *exchange, struct model_use *use, twin_text raw, const struct json_name *id)
{
    bool explain = exchange_parameter(exchange, "explain");
    double words = MAIL_MOST_WORDS;
    const twin_message *message;
    twin_mail_verdict verdict;
    twin_error error = { 0 };
    if (explain && !exchange_number(exchange, &words, "explain", 0, 1e6))
        return;
    twin_status status = twin_message_read(&message, exchange->worker->reader, raw);
    if (status == TWIN_OK)
        status = twin_mail_check(&verdict, use->mail, message, (twin_mail_check_options){ 0 }, &error);
    if (status != TWIN_OK) {
        exchange_fail_status(exchange, status, &error);
        return;
    }
    metrics_verdict(exchange->server->metrics, verdict.label);
    struct record record = record_begin(exchange->out, true);
    if (id)
        record_id(&record, "id", id->text, id->is_number);
    record_verdict(&record, &verdict);
    if (explain) {
        record_learnt(&record, use, message);
        record_evidence(&record, use->mail, NULL, &verdict);
        record_words(&record, use->mail, message, &verdict, (size_t)words);
        record_beside(&record, exchange, use, message, &verdict);
    }
    record_end(&record);
}

void answer_mail_check(struct exchange *exchange)
{
    struct model_use use;
    if (!take_model(&use, exchange))
        return;
    check(exchange, &use, exchange->body, NULL);
    models_give_back(exchange->server->models, &use);
}

void answer_mail_check_line(struct exchange *exchange, twin_text line)
{
    struct json_name id = { 0 };
    twin_text message;
    bool has_id = false;
    const struct json_field fields[] = { { "id", JSON_NAME, &id, &has_id },
                                         { "message", JSON_TEXT, &message, NULL },
                                         { NULL, JSON_OTHERS, NULL, NULL } };
    struct model_use use;
    if (!read_json(exchange, line, fields, 3) || !take_model(&use, exchange))
        return;
    check(exchange, &use, message, has_id ? &id : NULL);
    models_give_back(exchange->server->models, &use);
}

/* ---- learning */

static void learnt(void *context, const struct model_outcome *outcome)
{
    static const char *const effects[] = { [TWIN_MAIL_LEARNT] = "learnt",
                                           [TWIN_MAIL_KNOWN] = "known",
                                           [TWIN_MAIL_CORRECTED] = "corrected",
                                           [TWIN_MAIL_FORGOTTEN] = "forgotten",
                                           [TWIN_MAIL_UNKNOWN] = "unknown" };
    struct exchange *exchange = context;
    if (outcome->status == TWIN_OK) {
        struct record record = record_begin(exchange->out, true);
        record_string(&record, "effect", effects[outcome->effect]);
        record_end(&record);
    } else {
        twin_error error = { .status = outcome->status };
        snprintf(error.message, sizeof error.message, "%s", outcome->sentence);
        exchange_fail_status(exchange, outcome->status, &error);
    }
    exchange_finish(exchange);
}

static void change(struct exchange *exchange, enum model_change what)
{
    struct model_order order = { exchange_parameter(exchange, "model"), what, exchange_parameter(exchange, "label"),
                                 exchange->body };
    twin_error error = { 0 };
    if (!has_mail(exchange)) {
        exchange_finish(exchange);
        return;
    }
    if (what != MODEL_FORGET && !order.label) {
        exchange_fail(exchange, 400, "invalid", "the parameter \"label\" is missing");
        exchange_finish(exchange);
        return;
    }
    twin_status status = models_submit(exchange->server->models, order, learnt, exchange, &error);
    if (status != TWIN_OK) {
        exchange_fail_status(exchange, status, &error);
        exchange_finish(exchange);
    }
}

void answer_mail_learn(struct exchange *exchange)
{
    change(exchange, MODEL_LEARN);
}

void answer_mail_correct(struct exchange *exchange)
{
    change(exchange, MODEL_CORRECT);
}

void answer_mail_forget(struct exchange *exchange)
{
    change(exchange, MODEL_FORGET);
}

/* ---- the model */

static void record_label(struct record *record, const twin_mail_label_info *label)
{
    record_object(record, NULL);
    record_string(record, "label", label->name);
    record_count(record, "messages", label->messages);
    record_fixed(record, "threshold", label->threshold, 4);
    record_count(record, "oldest", label->messages ? (uint64_t)label->oldest : 0);
    record_count(record, "newest", label->messages ? (uint64_t)label->newest : 0);
    record_object_end(record);
}

void answer_mail_info(struct exchange *exchange)
{
    struct model_use use;
    twin_mail_info info;
    twin_error error = { 0 };
    if (!take_model(&use, exchange))
        return;
    twin_status status = twin_mail_describe(&info, use.mail, &error);
    if (status == TWIN_OK) {
        struct record record = record_begin(exchange->out, true);
        record_flag(&record, "exists", use.exists);
        record_count(&record, "messages", info.messages);
        record_count(&record, "learnt", info.learnt);
        record_count(&record, "bytes", use.bytes);
        record_count(&record, "loaded", (uint64_t)use.loaded);
        record_list(&record, "labels");
        for (size_t i = 0; i < info.count; i++)
            record_label(&record, &info.labels[i]);
        record_list_end(&record);
        record_object(&record, "last_thousand");
        record_count(&record, "judged", info.judged);
        record_count(&record, "right", info.right);
        record_count(&record, "wrong", info.wrong);
        record_count(&record, "unsure", info.unsure);
        record_object_end(&record);
        record_end(&record);
    } else {
        exchange_fail_status(exchange, status, &error);
    }
    models_give_back(exchange->server->models, &use);
}

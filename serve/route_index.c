/* route_index.c — documents of indexes: queried, read, added, removed. */
#include "server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_MATCHES = 1000,  /* of a query */
    MOST_COMPARED = 2000, /* of a query: what a stranger may cost; decision 166 */
    BATCH_DOCUMENTS = 1000,
    BATCH_BYTES = 8 << 20,
    MOST_LISTED = 200,
};

static bool take_index(struct index_use *out, struct exchange *exchange)
{
    bool found;
    twin_error error = { 0 };
    twin_status status = indexes_take(out, &found, exchange->server->indexes, exchange->names[0], &error);
    if (!found)
        exchange_fail(exchange, 404, "index", "there is no index of this name");
    else if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    return found && status == TWIN_OK;
}

/* ---- what is there */

static void write_info(struct exchange *exchange, const struct index_use *use)
{
    twin_index_info info;
    twin_error error = { 0 };
    twin_buffer scheme = { 0 };
    twin_scheme shown = use->options.scheme;
    twin_status status = twin_index_describe(&info, use->view, &error);
    bool keyed = shown.shingle.hash.family == TWIN_HASH_SIP;
    if (keyed) /* its key is secret: shown as if it had none */
        shown.shingle.hash = twin_hash_member(TWIN_HASH_XXH3, 0);
    if (status == TWIN_OK)
        status = twin_scheme_write(&scheme, &shown);
    if (status != TWIN_OK) {
        exchange_fail_status(exchange, status, &error);
    } else {
        struct record record = record_begin(exchange->out, true);
        record_string(&record, "name", exchange->names[0]);
        record_count(&record, "documents", info.documents);
        record_count(&record, "sets", info.sets);
        record_count(&record, "bytes", info.bytes);
        record_string(&record, "keep", twin_name_of(TWIN_NAMES_KEEP, use->options.keep));
        record_number(&record, "threshold", shown.threshold, 6);
        record_count(&record, "bands", shown.plan.bands);
        record_count(&record, "rows", shown.plan.rows);
        record_flag(&record, "keyed", keyed);
        if (!keyed)
            record_text(&record, "scheme", (twin_text){ scheme.bytes, scheme.length });
        record_end(&record);
    }
    twin_buffer_clear(&scheme);
}

void answer_index_info(struct exchange *exchange)
{
    struct index_use use;
    if (!take_index(&use, exchange))
        return;
    write_info(exchange, &use);
    indexes_give_back(exchange->server->indexes, &use);
}

void answer_indexes(struct exchange *exchange)
{
    struct record record = record_begin(exchange->out, true);
    record_list(&record, "indexes");
    for (size_t i = 0; i < indexes_count(exchange->server->indexes); i++)
        record_string(&record, NULL, indexes_name(exchange->server->indexes, i));
    record_list_end(&record);
    record_end(&record);
}

/* ---- queries */

struct query {
    struct json_name id;
    twin_text text;
    double threshold;
    uint64_t top;
    bool has_id, has_threshold, has_top;
};

static void record_entry(struct record *record, const twin_index_entry *entry)
{
    record_id(record, "id", entry->id, entry->id_is_number);
    record_count(record, "label", entry->label);
    record_count(record, "time", entry->time);
}

static void run_query(struct exchange *exchange, const struct query *query)
{
    struct index_use use;
    twin_index_answer answer = { 0 };
    twin_error error = { 0 };
    twin_index_query_options options = { .threshold = query->threshold,
                                         .top =
                                             query->has_top && query->top < MOST_MATCHES ? query->top : MOST_MATCHES,
                                         .most_compared = MOST_COMPARED };
    if (!(query->threshold >= 0 && query->threshold <= 1)) {
        exchange_fail(exchange, 400, "invalid", "the threshold must be above 0 and at most 1");
        return;
    }
    if (!take_index(&use, exchange))
        return;
    twin_status status = twin_index_query(&answer, use.view, options, query->text, &error);
    if (status != TWIN_OK) {
        exchange_fail_status(exchange, status, &error);
    } else {
        struct record record = record_begin(exchange->out, true);
        if (query->has_id)
            record_id(&record, "id", query->id.text, query->id.is_number);
        record_list(&record, "matches");
        for (size_t i = 0; i < answer.count; i++) {
            record_object(&record, NULL);
            record_entry(&record, &answer.entries[i]);
            record_fixed(&record, "similarity", answer.entries[i].similarity, 4);
            record_object_end(&record);
        }
        record_list_end(&record);
        record_flag(&record, "incomplete", answer.incomplete || answer.count == MOST_MATCHES);
        record_flag(&record, "estimated", answer.estimated);
        record_end(&record);
    }
    twin_index_answer_clear(&answer);
    indexes_give_back(exchange->server->indexes, &use);
}

static bool read_query(struct query *out, struct exchange *exchange, twin_text text, bool of_line)
{
    bool no_id;
    const struct json_field fields[] = { { "text", JSON_TEXT, &out->text, NULL },
                                         { "threshold", JSON_NUMBER, &out->threshold, &out->has_threshold },
                                         { "top", JSON_COUNT, &out->top, &out->has_top },
                                         { "id", JSON_NAME, &out->id, of_line ? &out->has_id : &no_id } };
    return read_json(exchange, text, fields, of_line ? 4 : 3);
}

void answer_query(struct exchange *exchange)
{
    struct query query = { 0 };
    if (exchange->content == CONTENT_TEXT) {
        double top = MOST_MATCHES;
        query.text = exchange->body;
        query.has_top = true;
        if (!exchange_number(exchange, &query.threshold, "threshold", 0, 1) ||
            !exchange_number(exchange, &top, "top", 1, 1e9))
            return;
        query.top = (uint64_t)top;
        run_query(exchange, &query);
    } else if (read_query(&query, exchange, exchange->body, false)) {
        run_query(exchange, &query);
    }
}

void answer_query_line(struct exchange *exchange, twin_text line)
{
    struct query query = { 0 };
    if (read_query(&query, exchange, line, true))
        run_query(exchange, &query);
}

/* ---- one document */

static twin_text id_of(const struct exchange *exchange)
{
    return (twin_text){ exchange->names[1], strlen(exchange->names[1]) };
}

static void write_document(struct exchange *exchange, const struct index_use *use, const twin_index_entry *entry)
{
    struct record record = record_begin(exchange->out, true);
    twin_error error = { 0 };
    twin_text text;
    record_entry(&record, entry);
    record_count(&record, "shingles", entry->set_size);
    if (use->options.keep == TWIN_KEEP_TEXT && twin_index_text(&text, use->view, *entry, &error) == TWIN_OK)
        record_text(&record, "text", text);
    record_end(&record);
}

void answer_document_get(struct exchange *exchange)
{
    struct index_use use;
    twin_index_entry entry;
    bool found = false;
    twin_error error = { 0 };
    if (!take_index(&use, exchange))
        return;
    twin_status status = twin_index_find(&entry, &found, use.view, id_of(exchange), &error);
    if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    else if (!found)
        exchange_fail(exchange, 404, "document", "there is no document of this id");
    else
        write_document(exchange, &use, &entry);
    indexes_give_back(exchange->server->indexes, &use);
}

static bool is_of_texts(struct exchange *exchange)
{
    struct index_use use;
    if (!take_index(&use, exchange))
        return false;
    bool texts = use.options.format == TWIN_INPUT_DOCUMENTS;
    indexes_give_back(exchange->server->indexes, &use);
    if (!texts)
        exchange_fail(exchange, 400, "invalid", "this index is of sets, not of texts");
    return texts;
}

static void write_change(struct exchange *exchange, const twin_index_change *change)
{
    struct record record = record_begin(exchange->out, true);
    record_count(&record, "added", change->added);
    record_count(&record, "replaced", change->replaced);
    record_count(&record, "removed", change->removed);
    record_count(&record, "problems", change->problems);
    record_end(&record);
}

/* A document of a request, or the record of one on a line, with an id and perhaps with fields of others. */
static bool read_document(twin_index_document *out, struct exchange *exchange, twin_text text, bool of_line)
{
    uint64_t label = 0, time_given = 0;
    bool has_label, has_time = false;
    struct json_name id = { 0 };
    const struct json_field fields[] = { { "text", JSON_TEXT, &out->text, NULL },
                                         { "label", JSON_COUNT, &label, &has_label },
                                         { "time", JSON_COUNT, &time_given, &has_time },
                                         { "id", JSON_NAME, &id, NULL },
                                         { NULL, JSON_OTHERS, NULL, NULL } };
    if (!read_json(exchange, text, fields, of_line ? 5 : 3))
        return false;
    if (label > UINT32_MAX || (of_line && id.text.length == 0)) {
        exchange_fail(exchange, 400, "invalid",
                      label > UINT32_MAX ? "the label must be below 2^32" : "the id is empty");
        return false;
    }
    out->label = (uint32_t)label;
    out->time = has_time ? time_given : (uint64_t)time(NULL);
    if (of_line) {
        out->id = id.text;
        out->id_is_number = id.is_number;
    }
    return true;
}

void answer_document_put(struct exchange *exchange)
{
    twin_index_document document = { .id = id_of(exchange), .text = exchange->body, .time = (uint64_t)time(NULL) };
    twin_index_change change = { 0 };
    twin_error error = { 0 };
    if (!is_of_texts(exchange))
        return;
    if (exchange->content == CONTENT_JSON && !read_document(&document, exchange, exchange->body, false))
        return;
    twin_status status = indexes_write(&change, exchange->server->indexes, exchange->names[0], &document, 1, &error);
    if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    else
        write_change(exchange, &change);
}

void answer_document_delete(struct exchange *exchange)
{
    bool found = false;
    twin_error error = { 0 };
    if (!is_of_texts(exchange))
        return;
    twin_status status =
        indexes_remove(&found, exchange->server->indexes, exchange->names[0], id_of(exchange), &error);
    if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    else if (!found)
        exchange_fail(exchange, 404, "document", "there is no document of this id");
    else
        write_change(exchange, &(twin_index_change){ .removed = 1 });
}

/* ---- many documents */

struct gathered {
    twin_index_document documents[BATCH_DOCUMENTS];
    char *copies[BATCH_DOCUMENTS]; /* id and text of each */
    size_t count, bytes;
    twin_index_change change;
    bool failed;
};

static void drop_batch(struct gathered *gathered)
{
    for (size_t i = 0; i < gathered->count; i++)
        free(gathered->copies[i]);
    gathered->count = gathered->bytes = 0;
}

static void free_gathered(void *state)
{
    drop_batch(state);
    free(state);
}

static void write_batch(struct exchange *exchange, struct gathered *gathered)
{
    twin_index_change change = { 0 };
    twin_error error = { 0 };
    if (gathered->count == 0 || gathered->failed)
        return;
    twin_status status = indexes_write(&change, exchange->server->indexes, exchange->names[0], gathered->documents,
                                       gathered->count, &error);
    if (status != TWIN_OK) {
        exchange_fail_status(exchange, status, &error);
        gathered->failed = true; /* one error: the next batches would fail as well, or leave a hole */
    }
    gathered->change.added += change.added;
    gathered->change.replaced += change.replaced;
    drop_batch(gathered);
}

static struct gathered *gathered_of(struct exchange *exchange)
{
    if (!exchange->state && is_of_texts(exchange)) {
        exchange->state = calloc(1, sizeof(struct gathered));
        exchange->free_state = free_gathered;
    }
    return exchange->state;
}

void answer_documents_line(struct exchange *exchange, twin_text line)
{
    twin_index_document document = { 0 };
    struct gathered *gathered = gathered_of(exchange);
    if (!gathered || gathered->failed)
        return;
    if (!read_document(&document, exchange, line, true)) {
        gathered->change.problems++;
        return;
    }
    char *copy = malloc(document.id.length + document.text.length + 1);
    if (!copy) {
        gathered->failed = true;
        exchange_fail_status(exchange, TWIN_ENOMEM, NULL);
        return;
    }
    memcpy(copy, document.id.bytes, document.id.length);
    memcpy(copy + document.id.length, document.text.bytes, document.text.length);
    document.text.bytes = copy + document.id.length;
    document.id.bytes = copy;
    gathered->copies[gathered->count] = copy;
    gathered->documents[gathered->count++] = document;
    gathered->bytes += document.text.length;
    if (gathered->count == BATCH_DOCUMENTS || gathered->bytes >= BATCH_BYTES)
        write_batch(exchange, gathered);
}

void answer_documents_end(struct exchange *exchange)
{
    struct gathered *gathered = gathered_of(exchange);
    if (!gathered)
        return;
    write_batch(exchange, gathered);
    if (!gathered->failed)
        write_change(exchange, &gathered->change);
}

/* ---- the first documents, for choosing one */

struct listing {
    struct record *record;
    size_t left;
};

static bool list_document(void *context, const twin_index_entry *entry)
{
    struct listing *listing = context;
    record_object(listing->record, NULL);
    record_entry(listing->record, entry);
    record_object_end(listing->record);
    return --listing->left > 0;
}

void answer_documents_list(struct exchange *exchange)
{
    struct index_use use;
    twin_error error = { 0 };
    if (!take_index(&use, exchange))
        return;
    struct record record = record_begin(exchange->out, true);
    struct listing listing = { &record, MOST_LISTED };
    record_list(&record, "documents");
    twin_status status = twin_index_each(use.view, list_document, &listing, &error);
    record_list_end(&record);
    record_flag(&record, "incomplete", status == TWIN_ESTOPPED);
    record_end(&record);
    if (status != TWIN_OK && status != TWIN_ESTOPPED)
        exchange_fail_status(exchange, status, &error);
    indexes_give_back(exchange->server->indexes, &use);
}

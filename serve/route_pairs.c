/* route_pairs.c — the similar pairs and groups of documents that come with the request. */
#include "server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_DOCUMENTS = 20000,
    MOST_BYTES = 64 << 20,
    MOST_FOUND = 1000000, /* pairs, 16 bytes each */
    MOST_PAIRS = 5000,    /* in the answer */
};

struct documents {
    twin_memory_document *list;
    size_t count, capacity, bytes;
    bool failed;
};

static void free_documents(void *state)
{
    struct documents *documents = state;
    for (size_t i = 0; i < documents->count; i++)
        free((char *)documents->list[i].text.bytes); /* one copy of text and id */
    free(documents->list);
    free(documents);
}

static bool grow(struct documents *documents)
{
    if (documents->count < documents->capacity)
        return true;
    size_t capacity = documents->capacity ? 2 * documents->capacity : 64;
    twin_memory_document *list = realloc(documents->list, capacity * sizeof *list);
    if (!list)
        return false;
    documents->list = list;
    documents->capacity = capacity;
    return true;
}

static bool keep(struct exchange *exchange, struct documents *documents, twin_text text, const struct json_name *id)
{
    size_t bytes = text.length + id->text.length + 1;
    char *copy = exchange_charge(exchange, bytes + sizeof *documents->list) && grow(documents) ? malloc(bytes) : NULL;
    if (!copy)
        return false;
    memcpy(copy, text.bytes, text.length);
    memcpy(copy + text.length, id->text.bytes, id->text.length);
    documents->list[documents->count++] =
        (twin_memory_document){ { copy, text.length }, { copy + text.length, id->text.length }, id->is_number };
    documents->bytes += text.length;
    /* cppcheck-suppress memleak ; it is in the list */
    return true;
}

void answer_pairs_line(struct exchange *exchange, twin_text line)
{
    char number[24];
    struct json_name id;
    twin_text text;
    bool has_id = false;
    const struct json_field fields[] = { { "id", JSON_NAME, &id, &has_id },
                                         { "text", JSON_TEXT, &text, NULL },
                                         { NULL, JSON_OTHERS, NULL, NULL } };
    if (!exchange->state) {
        exchange->state = calloc(1, sizeof(struct documents));
        exchange->free_state = free_documents;
    }
    struct documents *documents = exchange->state;
    if (!documents || documents->failed || !read_json(exchange, line, fields, 3))
        return;
    if (!has_id) { /* as the command calls it */
        int length = snprintf(number, sizeof number, "%" PRIu64, exchange->line_number);
        id = (struct json_name){ { number, (size_t)length }, false };
    }
    bool many = documents->count == MOST_DOCUMENTS || documents->bytes + text.length > MOST_BYTES;
    if (!many && keep(exchange, documents, text, &id))
        return;
    documents->failed = true;
    if (many)
        exchange_fail(exchange, 413, "limit", "more than 20,000 documents, or 64 MiB of text: use the command line");
    else
        exchange_fail(exchange, 503, "memory", "out of memory for the documents of all requests; try again later");
}

/* ---- pairs */

struct found {
    twin_input *input;
    twin_collection *collection;
    twin_similar *similar;
};

static twin_status find(struct found *out, struct exchange *exchange, const struct documents *documents,
                        double threshold, twin_error *error)
{
    twin_progress progress = exchange_progress(exchange);
    twin_similar_options search = { .spill_after = MOST_FOUND, .temp_folder = "", .progress = progress };
    twin_collection_options options = { .scheme = twin_scheme_default(), .progress = progress };
    options.scheme.threshold = threshold;
    options.scheme.plan = (twin_plan){ 0 };
    twin_status status = twin_scheme_complete(&options.scheme, error);
    if (status == TWIN_OK)
        status =
            twin_input_from_texts(&out->input, documents->list, documents->count, (twin_input_options){ 0 }, error);
    if (status == TWIN_OK)
        status = twin_collection_read(&out->collection, out->input, options, error);
    if (status == TWIN_OK)
        status = twin_similar_find(&out->similar, out->collection, search, error);
    return status;
}

struct listing {
    struct record *record;
    const twin_collection *collection;
    size_t count;
};

static bool list_pair(void *context, twin_match match)
{
    struct listing *listing = context;
    if (listing->count++ == MOST_PAIRS)
        return false;
    record_object(listing->record, NULL);
    record_document(listing->record, "a", listing->collection, match.a);
    record_document(listing->record, "b", listing->collection, match.b);
    record_fixed(listing->record, "similarity", match.similarity, 4);
    record_object_end(listing->record);
    return true;
}

/* Groups are lists of ids, the kept document first. */
struct grouping {
    struct record *record;
    const twin_collection *collection;
    uint32_t group;
    bool open;
};

static bool list_member(void *context, twin_member member)
{
    struct grouping *grouping = context;
    if (grouping->open && member.group != grouping->group) {
        record_list_end(grouping->record);
        grouping->open = false;
    }
    if (!grouping->open)
        record_list(grouping->record, NULL);
    grouping->open = true;
    grouping->group = member.group;
    record_document(grouping->record, NULL, grouping->collection, member.document);
    return true;
}

static twin_status record_groups(struct record *record, const struct found *found)
{
    size_t count = twin_collection_count(found->collection).documents;
    uint32_t *keeper = calloc(count + 1, sizeof *keeper);
    double *similarity = calloc(count + 1, sizeof *similarity);
    twin_status status =
        keeper && similarity ? twin_cluster_documents(keeper, similarity, found->similar) : TWIN_ENOMEM;
    struct grouping grouping = { .record = record, .collection = found->collection };
    record_list(record, "groups");
    if (status == TWIN_OK)
        status = twin_cluster_each(keeper, similarity, count, list_member, &grouping);
    if (grouping.open)
        record_list_end(record);
    record_list_end(record);
    free(keeper);
    free(similarity);
    return status;
}

static twin_status write_pairs(struct exchange *exchange, const struct found *found, double threshold)
{
    char command[80];
    struct record record = record_begin(exchange->out, true);
    struct listing listing = { &record, found->collection, 0 };
    record_list(&record, "pairs");
    twin_status status = twin_similar_each(found->similar, TWIN_COPIES_FIRST, list_pair, &listing);
    record_list_end(&record);
    bool incomplete = status == TWIN_ESTOPPED;
    if (status == TWIN_OK || incomplete)
        status = record_groups(&record, found);
    record_count(&record, "documents", twin_collection_count(found->collection).documents);
    record_flag(&record, "incomplete", incomplete);
    snprintf(command, sizeof command, "twinsift pairs --threshold %g FILE", threshold);
    record_string(&record, "command", command);
    record_end(&record);
    return status;
}

void answer_pairs_end(struct exchange *exchange)
{
    static struct documents none;
    struct documents *documents = exchange->state ? exchange->state : &none;
    double threshold = 0.8;
    struct found found = { 0 };
    twin_error error = { 0 };
    if (documents->failed)
        return;
    if (!exchange_number(exchange, &threshold, "threshold", 0.01, 1))
        return;
    twin_status status = find(&found, exchange, documents, threshold, &error);
    if (status == TWIN_OK)
        status = write_pairs(exchange, &found, threshold);
    if (status == TWIN_ESTOPPED)
        exchange_stopped(exchange);
    else if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    twin_similar_free(found.similar);
    twin_collection_free(found.collection);
    twin_input_free(found.input);
}

/* dedup_known.c — documents that an index or another collection has.
 *
 * Indexes are queried by the workers that read the collection, while they have the text of a document at hand: the
 * input is read once. What is found is kept per worker, with the position of the document, and sorted out when the
 * collection has been read. Another collection is joined with the one that was read. */
#include "dedup.h"

#include "index_file.h"
#include "support/messages.h"
#include "support/progress.h"

#include <stdlib.h>
#include <string.h>

/* What a worker has found. */
struct known_found {
    uint32_t source;
    uint64_t offset; /* of the document */
    struct known_match match;
};

struct known_worker {
    twin_index_view **views; /* one per index */
    twin_index_answer answer;
    struct known_found *found;
    size_t count, capacity;
    twin_buffer ids;
    uint64_t incomplete; /* queries with more candidates than were compared, and no match */
};

struct known_indexes {
    struct known_request request;
    twin_index **indexes;
    struct known_worker *workers;
};

static void close_indexes(struct known_indexes *indexes)
{
    if (!indexes)
        return;
    for (int i = 0; indexes->workers && i < indexes->request.exec.workers; i++) {
        struct known_worker *worker = &indexes->workers[i];
        for (size_t k = 0; worker->views && k < indexes->request.count; k++)
            twin_index_view_free(worker->views[k]);
        free(worker->views);
        twin_index_answer_clear(&worker->answer);
        free(worker->found);
        twin_buffer_clear(&worker->ids);
    }
    for (size_t k = 0; indexes->indexes && k < indexes->request.count; k++)
        twin_index_close(indexes->indexes[k]);
    free(indexes->workers);
    free(indexes->indexes);
    free(indexes);
}

void known_clear(struct known *known)
{
    close_indexes(known->indexes);
    free(known->matches);
    free(known->excluded);
    twin_buffer_clear(&known->ids);
    *known = (struct known){ 0 };
}

twin_text known_id(const struct known *known, const struct known_match *match)
{
    return (twin_text){ known->ids.bytes + match->id, match->id_length };
}

static bool no_memory(void)
{
    return refuse_status("the input", TWIN_ENOMEM, NULL);
}

static bool append_id(twin_buffer *ids, struct known_match *match, twin_text id)
{
    match->id = ids->length;
    match->id_length = id.length;
    return twin_buffer_append(ids, id.bytes, id.length) == TWIN_OK;
}

/* ---- querying indexes ---- */

/* Similarities are those of the index; that is worth a remark if they mean something else than the others do. */
static void remark_rule(const char *path, const twin_index *index, const twin_scheme *scheme)
{
    twin_scheme own = twin_index_options_of(index).scheme;
    if (own.shingle.kind != scheme->shingle.kind || own.shingle.width != scheme->shingle.width ||
        own.normal != scheme->normal)
        warn("%s: is queried by its own rule, %s:%zu%s; documents of the input are compared by %s:%zu%s", path,
             twin_name_of(TWIN_NAMES_SHINGLE_KIND, own.shingle.kind), own.shingle.width,
             own.normal == TWIN_NORMAL_FOLD ? "" : " --raw",
             twin_name_of(TWIN_NAMES_SHINGLE_KIND, scheme->shingle.kind), scheme->shingle.width,
             scheme->normal == TWIN_NORMAL_FOLD ? "" : " --raw");
}

/* Opens an index, with a view for each worker. */
static bool open_index(struct known_indexes *indexes, size_t number)
{
    twin_error error = { 0 };
    const char *path = indexes->request.paths[number];
    twin_status status = twin_index_open(&indexes->indexes[number], path, TWIN_INDEX_READ, &error);
    for (int i = 0; i < indexes->request.exec.workers && status == TWIN_OK; i++)
        status = twin_index_view_create(&indexes->workers[i].views[number], indexes->indexes[number], &error);
    if (status != TWIN_OK) {
        fail_status(path, status, &error);
    } else if (!indexes->request.quiet) {
        warn_answers(path, indexes->indexes[number], indexes->request.threshold);
        remark_rule(path, indexes->indexes[number], indexes->request.scheme);
    }
    return status == TWIN_OK;
}

static bool make_workers(struct known_indexes *indexes)
{
    indexes->indexes = calloc(indexes->request.count, sizeof(twin_index *));
    indexes->workers = calloc((size_t)indexes->request.exec.workers, sizeof *indexes->workers);
    for (int i = 0; indexes->workers && i < indexes->request.exec.workers; i++) {
        indexes->workers[i].views = calloc(indexes->request.count, sizeof(twin_index_view *));
        if (!indexes->workers[i].views)
            return false;
    }
    return indexes->indexes && indexes->workers;
}

bool known_begin(struct known *known, struct known_request request)
{
    struct known_indexes *indexes = calloc(1, sizeof *indexes);
    known->indexes = indexes;
    if (!indexes)
        return no_memory();
    indexes->request = request;
    if (!make_workers(indexes))
        return no_memory();
    for (size_t i = 0; i < request.count; i++)
        if (!open_index(indexes, i))
            return false;
    return true;
}

static twin_status keep_answer(struct known_worker *worker, const twin_document *document, const char *path)
{
    const twin_index_entry *nearest = &worker->answer.entries[0];
    if (worker->count == worker->capacity) {
        size_t capacity = worker->capacity ? 2 * worker->capacity : 256;
        struct known_found *longer = realloc(worker->found, capacity * sizeof *longer);
        if (!longer)
            return TWIN_ENOMEM;
        worker->found = longer;
        worker->capacity = capacity;
    }
    struct known_found *found = &worker->found[worker->count];
    *found = (struct known_found){ document->position.source,
                                   document->position.offset,
                                   { .file = path,
                                     .id_is_number = nearest->id_is_number,
                                     .number = KNOWN_IN_INDEX,
                                     .similarity = nearest->similarity } };
    if (!append_id(&worker->ids, &found->match, nearest->id))
        return TWIN_ENOMEM;
    worker->count++;
    return TWIN_OK;
}

twin_status known_examine(void *context, const twin_document *document, int number, twin_error *error)
{
    const struct known_indexes *indexes = ((struct known *)context)->indexes;
    struct known_worker *worker = &indexes->workers[number];
    twin_index_query_options options = { .threshold = indexes->request.threshold, .top = 1 };
    for (size_t i = 0; i < indexes->request.count; i++) {
        twin_status status = twin_index_query(&worker->answer, worker->views[i], options, document->text, error);
        if (status != TWIN_OK)
            return status;
        worker->incomplete += worker->answer.incomplete && worker->answer.count == 0;
        if (worker->answer.count)
            return keep_answer(worker, document, indexes->request.paths[i]);
    }
    return TWIN_OK;
}

static int by_position(const void *a, const void *b)
{
    const struct known_found *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Makes a match, without a file, for each document. */
static bool make_matches(struct known *known, const twin_collection *collection)
{
    known->count = twin_collection_count(collection).documents;
    if (!known->matches)
        known->matches = calloc(known->count + 1, sizeof *known->matches);
    return known->matches || no_memory();
}

/* Both what a worker found and documents are taken in the order of the input. */
static bool take_found(struct known *known, struct known_worker *worker, const twin_collection *collection)
{
    size_t ids = known->ids.length, at = 0;
    if (twin_buffer_append(&known->ids, worker->ids.bytes, worker->ids.length) != TWIN_OK)
        return no_memory();
    if (worker->count)
        qsort(worker->found, worker->count, sizeof *worker->found, by_position);
    for (uint32_t d = 0; d < known->count && at < worker->count; d++) {
        twin_position position = twin_collection_entry_of(collection, d).position;
        struct known_found here = { .source = position.source, .offset = position.offset };
        while (at < worker->count && by_position(&worker->found[at], &here) < 0)
            at++; /* a document that was left out after all */
        if (at == worker->count || by_position(&worker->found[at], &here) != 0)
            continue;
        known->matches[d] = worker->found[at++].match;
        known->matches[d].id += ids;
    }
    return true;
}

static void warn_about_queries(const struct known_indexes *indexes)
{
    uint64_t incomplete = 0;
    for (int i = 0; i < indexes->request.exec.workers; i++)
        incomplete += indexes->workers[i].incomplete;
    if (incomplete && !indexes->request.quiet)
        warn_incomplete(indexes->request.count == 1 ? indexes->request.paths[0] : "the indexes", incomplete, 0);
}

bool known_collect(struct known *known, const twin_collection *collection)
{
    bool good = make_matches(known, collection);
    for (int i = 0; known->indexes && i < known->indexes->request.exec.workers && good; i++)
        good = take_found(known, &known->indexes->workers[i], collection);
    if (known->indexes)
        warn_about_queries(known->indexes);
    close_indexes(known->indexes);
    known->indexes = NULL;
    return good;
}

/* ---- another collection ---- */

struct between {
    struct known *known;
    const twin_input *input; /* of the other */
    const twin_collection *other;
    bool no_memory;
};

/* The most similar one is named, of equals the first. */
static bool take_match(void *context, twin_match found)
{
    struct between *between = context;
    struct known_match *match = &between->known->matches[found.a];
    if (match->file && match->similarity >= found.similarity)
        return true;
    twin_collection_entry entry = twin_collection_entry_of(between->other, found.b);
    match->file = twin_input_name(between->input, entry.position.source);
    match->id_is_number = entry.id_is_number;
    match->number = found.b;
    match->similarity = found.similarity;
    between->no_memory = !append_id(&between->known->ids, match, entry.id);
    return !between->no_memory;
}

bool known_between(struct known *known, const twin_collection *collection, const twin_input *input,
                   const twin_collection *other, twin_similar_options search)
{
    struct between between = { .known = known, .input = input, .other = other };
    known->other = other;
    twin_similar *similar = NULL;
    twin_error error = { 0 };
    if (!make_matches(known, collection))
        return false;
    if (known->count == 0)
        return true;
    search.existence_only = true;
    twin_status status = twin_similar_between(&similar, collection, other, search, &error);
    if (status == TWIN_OK)
        status = twin_similar_each(similar, TWIN_COPIES_FIRST, take_match, &between);
    progress_clear();
    if (between.no_memory)
        status = TWIN_ENOMEM;
    if (status != TWIN_OK)
        fail_status("--against", status, &error);
    twin_similar_free(similar);
    return status == TWIN_OK;
}

bool known_finish(struct known *known)
{
    known->excluded = calloc(known->count + 1, sizeof *known->excluded);
    if (!known->excluded)
        return no_memory();
    for (size_t i = 0; i < known->count; i++)
        known->excluded[i] = known->matches[i].file != NULL;
    return true;
}

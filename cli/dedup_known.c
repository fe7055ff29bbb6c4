/* dedup_known.c — documents that an index or another collection has, and adding to an index what it has not.
 *
 * An index is queried before the collection is read; both see the documents of the input in the same order, so a match
 * is found by the number of its document. Another collection is joined with the one that was read. */
#include "dedup_known.h"

#include "support/messages.h"
#include "support/progress.h"

#include <stdlib.h>

void known_clear(struct known *known)
{
    free(known->matches);
    free(known->excluded);
    twin_buffer_clear(&known->ids);
    *known = (struct known){ 0 };
}

twin_text known_id(const struct known *known, const struct known_match *match)
{
    return (twin_text){ known->ids.bytes + match->id, match->id_length };
}

/* ---- querying ---- */

struct query {
    struct known *known;
    const char *path;
    size_t next; /* the document whose answer comes next */
    bool no_memory;
};

static struct known_match *match_at(struct known *known, size_t number)
{
    if (number >= known->capacity) {
        size_t capacity = number < 512 ? 1024 : 2 * (number + 1);
        struct known_match *longer = realloc(known->matches, capacity * sizeof *longer);
        if (!longer)
            return NULL;
        known->matches = longer;
        known->capacity = capacity;
    }
    for (; known->count <= number; known->count++)
        known->matches[known->count] = (struct known_match){ 0 };
    return &known->matches[number];
}

static bool keep_id(struct known *known, struct known_match *match, twin_text id)
{
    match->id = known->ids.length;
    match->id_length = id.length;
    return twin_buffer_append(&known->ids, id.bytes, id.length) == TWIN_OK;
}

static bool take_answer(void *context, twin_text id, bool id_is_number, const twin_index_answer *answer)
{
    (void)id, (void)id_is_number;
    struct query *query = context;
    struct known_match *match = match_at(query->known, query->next++);
    if (!match)
        return !(query->no_memory = true);
    if (match->file || answer->count == 0)
        return true;
    const twin_index_entry *nearest = &answer->entries[0];
    *match = (struct known_match){ .file = query->path,
                                   .id_is_number = nearest->id_is_number,
                                   .similarity = nearest->similarity };
    query->no_memory = !keep_id(query->known, match, nearest->id);
    return !query->no_memory;
}

static bool query_index(struct query *query, twin_index *index, const twin_input *input,
                        twin_index_query_input_options options)
{
    twin_error error = { 0 };
    options.query.top = 1;
    options.answer = take_answer;
    options.context = query;
    twin_status status = twin_index_query_input(NULL, index, input, options, &error);
    progress_clear();
    if (query->no_memory)
        status = TWIN_ENOMEM;
    if (status != TWIN_OK)
        fail_status(query->path, status, query->no_memory ? NULL : &error);
    return status == TWIN_OK;
}

static twin_index *open_index(const char *path, twin_index_access access)
{
    twin_index *index;
    twin_error error = { 0 };
    twin_status status = twin_index_open(&index, path, access, &error);
    if (status == TWIN_OK)
        return index;
    fail_status(path, status, &error);
    return NULL;
}

bool known_find(struct known *known, const char *path, const twin_input *input, double threshold, twin_exec exec,
                twin_progress progress)
{
    struct query query = { .known = known, .path = path };
    twin_index *index = open_index(path, TWIN_INDEX_READ);
    if (!index)
        return false;
    twin_index_query_input_options options = { .query = { .threshold = threshold },
                                               .exec = exec,
                                               .progress = progress };
    bool good = query_index(&query, index, input, options);
    twin_index_close(index);
    return good;
}

/* ---- another collection ---- */

struct between {
    struct known *known;
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
    twin_position position = twin_collection_position(between->other, found.b);
    twin_text id = twin_collection_id(&match->id_is_number, between->other, found.b);
    match->file = twin_input_name(twin_collection_input(between->other), position.source);
    match->similarity = found.similarity;
    between->no_memory = !keep_id(between->known, match, id);
    return !between->no_memory;
}

bool known_between(struct known *known, const twin_collection *collection, const twin_collection *other,
                   twin_exec exec, twin_progress progress)
{
    struct between between = { .known = known, .other = other };
    size_t documents = twin_collection_count(collection).documents;
    twin_similar *similar = NULL;
    twin_error error = { 0 };
    if (documents == 0)
        return true;
    twin_status status = match_at(known, documents - 1) ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin_similar_between(&similar, collection, other,
                                      (twin_similar_options){ .exec = exec, .progress = progress }, &error);
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

bool known_finish(struct known *known, size_t documents)
{
    if (known->count == 0 && documents == 0)
        return true;
    if (known->count != documents) {
        fail("the input has changed while it was read");
        return false;
    }
    known->excluded = calloc(documents, sizeof *known->excluded);
    if (!known->excluded) {
        fail_status("the input", TWIN_ENOMEM, NULL);
        return false;
    }
    for (size_t i = 0; i < documents; i++)
        known->excluded[i] = known->matches[i].file != NULL;
    return true;
}

/* ---- adding ---- */

/* Documents of one transaction. Their texts are copies, as each is read into the same buffers. */
struct batch {
    twin_index_document *documents;
    size_t *texts; /* where each text begins */
    size_t count;
    twin_buffer bytes;
};

enum { BATCH_DOCUMENTS = 20000, BATCH_BYTES = 128 << 20 };

static twin_status add_batch(struct batch *batch, twin_index *index, twin_exec exec, twin_error *error)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->documents[i].text.bytes = batch->bytes.bytes + batch->texts[i];
    twin_status status = twin_index_add(NULL, index, batch->documents, batch->count, exec, error);
    batch->count = batch->bytes.length = 0;
    return status;
}

static twin_status take_document(struct batch *batch, const twin_collection *collection, twin_scratch *scratch,
                                 uint32_t number, twin_error *error)
{
    twin_document document;
    twin_status status = twin_collection_document(&document, collection, scratch, number, error);
    if (status != TWIN_OK)
        return status;
    twin_index_document *added = &batch->documents[batch->count];
    *added = (twin_index_document){ .text = { NULL, document.text.length } };
    added->id = twin_collection_id(&added->id_is_number, collection, number);
    batch->texts[batch->count++] = batch->bytes.length;
    return twin_buffer_append(&batch->bytes, document.text.bytes, document.text.length);
}

static twin_status add_documents(struct batch *batch, twin_index *index, const twin_collection *collection,
                                 const twin_dedup *dedup, twin_exec exec, twin_error *error)
{
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    uint64_t documents = twin_collection_count(collection).documents;
    twin_scratch scratch = { 0 };
    twin_status status = TWIN_OK;
    for (uint32_t i = 0; i < documents && status == TWIN_OK; i++) {
        if (keepers[i] != i)
            continue;
        status = take_document(batch, collection, &scratch, i, error);
        if (status == TWIN_OK && (batch->count == BATCH_DOCUMENTS || batch->bytes.length >= BATCH_BYTES))
            status = add_batch(batch, index, exec, error);
    }
    if (status == TWIN_OK && batch->count)
        status = add_batch(batch, index, exec, error);
    twin_scratch_clear(&scratch);
    return status;
}

bool add_kept(const char *path, const twin_collection *collection, const twin_dedup *dedup, twin_exec exec)
{
    twin_error error = { 0 };
    struct batch batch = { .documents = calloc(BATCH_DOCUMENTS, sizeof *batch.documents),
                           .texts = calloc(BATCH_DOCUMENTS, sizeof *batch.texts) };
    twin_index *index = open_index(path, TWIN_INDEX_WRITE);
    twin_status status = batch.documents && batch.texts ? TWIN_OK : TWIN_ENOMEM;
    if (index && status == TWIN_OK)
        status = add_documents(&batch, index, collection, dedup, exec, &error);
    if (status != TWIN_OK)
        fail_status(path, status, &error);
    bool good = index && status == TWIN_OK;
    twin_index_close(index);
    free(batch.documents);
    free(batch.texts);
    twin_buffer_clear(&batch.bytes);
    return good;
}

/* search.c — similar pairs of texts, and which texts are kept. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* A search: texts, perhaps others to compare them with, and the rules. The fields up to `exec` are arguments. */
struct search {
    struct texts *texts, *others;
    struct scheme scheme;
    bool by_edits;
    double edit_ratio;
    Py_ssize_t most_edits; /* negative: any number */
    PyObject *progress;
    const uint32_t *order; /* in which the texts are read; NULL: as they are */
    twin_exec exec;
    Py_ssize_t memory;  /* bytes for the search and what is kept of texts; the rest is in files. 0: no limit */
    const char *folder; /* for these; NULL: "/tmp" */

    struct run run;
    struct texts_source source, other_source;
    twin_input *input, *other_input;
    twin_collection *collection, *other_collection;
    twin_error error;
};

static void search_clear(struct search *search)
{
    twin_collection_free(search->collection);
    twin_collection_free(search->other_collection);
    twin_input_free(search->input);
    twin_input_free(search->other_input);
    scheme_clear(&search->scheme);
}

/* ---- reading ---- */

/* A document that is left out would shift the numbers of those behind it. */
static twin_status check_lengths(const struct texts *texts, twin_error *error)
{
    for (size_t i = 0; i < texts->count; i++)
        if (texts->items[i].length > UINT32_MAX) {
            PyOS_snprintf(error->message, sizeof error->message, "text %zu has more than 4 GiB", i);
            return TWIN_ELIMIT;
        }
    return TWIN_OK;
}

static twin_status read_texts(twin_collection **out, twin_input **input, struct texts_source *source,
                              struct search *search)
{
    twin_collection_options options = { .scheme = search->scheme.scheme,
                                        .texts = search->by_edits,
                                        .ids_may_repeat = search->memory > 0,
                                        .memory_bytes = (size_t)search->memory / 2,
                                        .temp_folder = search->folder,
                                        .exec = search->exec,
                                        .progress = run_progress(&search->run) };
    twin_status status = check_lengths(source->texts, &search->error);
    if (status == TWIN_OK)
        status = texts_open(input, source, &search->error);
    return status == TWIN_OK ? twin_collection_read(out, *input, options, &search->error) : status;
}

static twin_status read_both(struct search *search)
{
    search->source = (struct texts_source){ search->texts, &search->run, search->order };
    search->other_source = (struct texts_source){ search->others, &search->run, NULL };
    twin_status status = read_texts(&search->collection, &search->input, &search->source, search);
    if (status == TWIN_OK && search->others)
        status = read_texts(&search->other_collection, &search->other_input, &search->other_source, search);
    return status;
}

/* ---- arguments and reports ---- */

static bool texts_or_none(struct texts **out, PyObject *object)
{
    *out = object == Py_None ? NULL : texts_of(object);
    return *out || object == Py_None;
}

bool dict_take(PyObject *dictionary, const char *name, PyObject *value)
{
    bool good = value && PyDict_SetItemString(dictionary, name, value) == 0;
    Py_XDECREF(value);
    return good;
}

static bool put(PyObject *report, const char *name, uint64_t value)
{
    return dict_take(report, name, PyLong_FromUnsignedLongLong(value));
}

static bool put_collection(PyObject *report, const twin_collection *collection)
{
    twin_collection_counts counts = twin_collection_count(collection);
    return put(report, "documents", counts.documents) && put(report, "bytes", counts.bytes) &&
           put(report, "copies", counts.copies) && put(report, "too_short", counts.too_short) &&
           put(report, "ill_formed", counts.ill_formed) && put(report, "unspaced", counts.unspaced);
}

static bool put_counts(PyObject *report, twin_similar_counts counts)
{
    return put(report, "candidates", counts.candidates) && put(report, "verified", counts.verified) &&
           put(report, "similar", counts.similar) &&
           dict_take(report, "pairing_seconds", PyFloat_FromDouble(counts.pairing_seconds)) &&
           dict_take(report, "verifying_seconds", PyFloat_FromDouble(counts.verifying_seconds));
}

static PyObject *begin_report(const struct search *search, twin_similar_counts counts)
{
    PyObject *report = PyDict_New();
    if (report && put_collection(report, search->collection) && put_counts(report, counts))
        return report;
    Py_XDECREF(report);
    return NULL;
}

/* ---- pairs ---- */

/* Pairs as three arrays that grow together. */
struct columns {
    uint32_t *a, *b;
    double *similarity;
    size_t count, capacity;
    bool failed;
    struct run *run;
};

/* The array with more room, or as it was, and `failed`. */
static void *grown(void *array, size_t bytes, bool *failed)
{
    void *larger = realloc(array, bytes);
    if (larger)
        return larger;
    *failed = true;
    return array;
}

static bool columns_grow(struct columns *columns)
{
    size_t capacity = columns->capacity ? columns->capacity + columns->capacity / 2 : 1024;
    columns->a = grown(columns->a, capacity * sizeof *columns->a, &columns->failed);
    columns->b = grown(columns->b, capacity * sizeof *columns->b, &columns->failed);
    columns->similarity = grown(columns->similarity, capacity * sizeof *columns->similarity, &columns->failed);
    columns->capacity = capacity;
    return !columns->failed;
}

static bool add_pair(void *context, twin_match match)
{
    struct columns *columns = context;
    if (columns->count == columns->capacity && !columns_grow(columns))
        return false;
    columns->a[columns->count] = match.a;
    columns->b[columns->count] = match.b;
    columns->similarity[columns->count++] = match.similarity;
    return run_goes_on(columns->run);
}

static twin_edit_join_options edit_options(struct search *search)
{
    return (twin_edit_join_options){ .ratio = search->edit_ratio,
                                     .limit_edits = search->most_edits >= 0,
                                     .edits = search->most_edits >= 0 ? (size_t)search->most_edits : 0,
                                     .minhash = search->scheme.scheme.minhash,
                                     .exec = search->exec,
                                     .progress = run_progress(&search->run) };
}

static twin_similar_options search_options(struct search *search)
{
    return (twin_similar_options){ .exec = search->exec,
                                   .progress = run_progress(&search->run),
                                   .memory_bytes = (size_t)search->memory / 2,
                                   .temp_folder = search->folder };
}

static twin_status find_pairs(twin_similar **out, struct search *search)
{
    twin_similar_options options = search_options(search);
    if (search->by_edits) {
        twin_edit_join_options edits = edit_options(search);
        edits.packed = true;
        return search->others
                   ? twin_edit_join_between(out, search->collection, search->other_collection, edits, &search->error)
                   : twin_edit_join_find(out, search->collection, edits, &search->error);
    }
    if (search->others)
        return twin_similar_between(out, search->collection, search->other_collection, options, &search->error);
    return twin_similar_find(out, search->collection, options, &search->error);
}

static twin_status list_pairs(struct columns *columns, const twin_similar *similar, twin_copies copies)
{
    twin_status status = twin_similar_each(similar, copies, add_pair, columns);
    return columns->failed ? TWIN_ENOMEM : status;
}

static PyObject *pairs_result(const struct search *search, struct columns *columns, twin_similar_counts counts)
{
    PyObject *a = array_new(ARRAY_UINT32, columns->a, columns->count, 0);
    PyObject *b = array_new(ARRAY_UINT32, columns->b, columns->count, 0);
    PyObject *similarity = array_new(ARRAY_DOUBLE, columns->similarity, columns->count, 0);
    *columns = (struct columns){ .count = columns->count };
    PyObject *report = begin_report(search, counts);
    if (a && b && similarity && report && put(report, "pairs", columns->count))
        return Py_BuildValue("(NNNN)", a, b, similarity, report);
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(similarity);
    Py_XDECREF(report);
    return NULL;
}

static PyObject *run_pairs(struct search *search, twin_copies copies)
{
    struct columns columns = { .run = &search->run };
    twin_similar *similar = NULL;
    twin_similar_counts counts = { 0 };
    run_begin(&search->run, search->progress);
    twin_status status = read_both(search);
    if (status == TWIN_OK)
        status = find_pairs(&similar, search);
    if (status == TWIN_OK)
        status = list_pairs(&columns, similar, copies);
    if (status == TWIN_OK)
        counts = twin_similar_count(similar);
    twin_similar_free(similar);
    bool good = run_end(&search->run) && status == TWIN_OK;
    PyObject *result = good ? pairs_result(search, &columns, counts) : raise_status(status, &search->error, NULL);
    free(columns.a);
    free(columns.b);
    free(columns.similarity);
    return result;
}

/* pairs(texts, others or None, scheme, copies, edit ratio or a negative number, most edits, threads, progress, memory,
 * folder or None) */
PyObject *py_pairs(PyObject *module, PyObject *args)
{
    (void)module;
    struct search search = { 0 };
    PyObject *texts, *others;
    int copies, threads;
    if (!PyArg_ParseTuple(args, "OOO&idniO|nz", &texts, &others, scheme_convert, &search.scheme, &copies,
                          &search.edit_ratio, &search.most_edits, &threads, &search.progress, &search.memory,
                          &search.folder))
        return NULL;
    PyObject *result = NULL;
    search.by_edits = search.edit_ratio >= 0;
    search.texts = texts_of(texts);
    if (search.texts && texts_or_none(&search.others, others) && make_exec(&search.exec, threads))
        result = run_pairs(&search, (twin_copies)copies);
    search_clear(&search);
    return result;
}

/* ---- dedup ---- */

struct dedup_request {
    struct search search;
    twin_preference preference;
    bool chain;
    bool *excluded;
    twin_dedup *dedup;
};

static bool exclude(void *context, twin_match match)
{
    ((bool *)context)[match.a] = true;
    return true;
}

/* Which texts the other collection has. */
static twin_status find_excluded(struct dedup_request *request)
{
    struct search *search = &request->search;
    twin_similar *similar = NULL;
    twin_similar_options options = { .exec = search->exec,
                                     .progress = run_progress(&search->run),
                                     .existence_only = true };
    twin_edit_join_options edits = edit_options(search);
    request->excluded = calloc(search->texts->count + 1, sizeof *request->excluded);
    if (!request->excluded)
        return TWIN_ENOMEM;
    twin_status status =
        search->by_edits
            ? twin_edit_join_between(&similar, search->collection, search->other_collection, edits, &search->error)
            : twin_similar_between(&similar, search->collection, search->other_collection, options, &search->error);
    if (status == TWIN_OK)
        status = twin_similar_each(similar, TWIN_COPIES_FIRST, exclude, request->excluded);
    twin_similar_free(similar);
    return status;
}

static twin_status decide(struct dedup_request *request)
{
    struct search *search = &request->search;
    twin_status status = read_both(search);
    if (status == TWIN_OK && search->others)
        status = find_excluded(request);
    if (status != TWIN_OK)
        return status;
    twin_edit_join_options edits = edit_options(search);
    twin_dedup_options options = { .by_edits = search->by_edits ? &edits : NULL,
                                   .search = search_options(search),
                                   .preference = request->preference,
                                   .excluded = request->excluded,
                                   .chain = request->chain };
    return twin_dedup_find(&request->dedup, search->collection, options, &search->error);
}

static bool put_dedup(PyObject *report, twin_dedup_counts counts)
{
    return put(report, "kept", counts.kept) && put(report, "exact_copies", counts.exact_copies) &&
           put(report, "near_copies", counts.near_copies) && put(report, "groups", counts.groups) &&
           put(report, "excluded", counts.excluded);
}

/* The text that was read as document `number`. */
static uint32_t text_at(const struct search *search, uint32_t number)
{
    return search->order ? search->order[number] : number;
}

static PyObject *dedup_result(const struct dedup_request *request)
{
    size_t count = request->search.texts->count;
    const uint32_t *keepers = twin_dedup_keepers(request->dedup);
    const double *similarities = twin_dedup_similarities(request->dedup);
    twin_dedup_counts counts = twin_dedup_count(request->dedup);
    void *mask = NULL, *kept = NULL, *keeper = NULL, *similarity = NULL;
    PyObject *arrays[] = { array_create(ARRAY_BOOL, &mask, count, 0),
                           array_create(ARRAY_UINT32, &kept, counts.kept, 0),
                           array_create(ARRAY_UINT32, &keeper, count, 0),
                           array_create(ARRAY_DOUBLE, &similarity, count, 0) };
    PyObject *report = begin_report(&request->search, counts.search);
    if (!arrays[0] || !arrays[1] || !arrays[2] || !arrays[3] || !report || !put_dedup(report, counts)) {
        for (size_t i = 0; i < 4; i++)
            Py_XDECREF(arrays[i]);
        Py_XDECREF(report);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one = text_at(&request->search, i), other = keepers[i];
        ((uint32_t *)keeper)[one] = other == TWIN_DEDUP_NONE ? other : text_at(&request->search, other);
        ((double *)similarity)[one] = similarities[i];
        ((bool *)mask)[one] = other == i;
    }
    uint32_t *next = kept;
    for (uint32_t i = 0; i < count; i++)
        if (((bool *)mask)[i])
            *next++ = i;
    return Py_BuildValue("(NNNNN)", arrays[0], arrays[1], arrays[2], arrays[3], report);
}

static PyObject *run_dedup(struct dedup_request *request)
{
    run_begin(&request->search.run, request->search.progress);
    twin_status status = decide(request);
    bool good = run_end(&request->search.run) && status == TWIN_OK;
    PyObject *result = good ? dedup_result(request) : raise_status(status, &request->search.error, NULL);
    twin_dedup_free(request->dedup);
    free(request->excluded);
    return result;
}

/* dedup(texts, others or None, scheme, preference, chain, edit ratio or a negative number, most edits, order or
 * None, threads, progress, memory, folder or None) */
PyObject *py_dedup(PyObject *module, PyObject *args)
{
    (void)module;
    struct dedup_request request = { 0 };
    struct search *search = &request.search;
    PyObject *texts, *others;
    int preference, chain, threads;
    Py_buffer order;
    if (!PyArg_ParseTuple(args, "OOO&ipdnz*iO|nz", &texts, &others, scheme_convert, &search->scheme, &preference,
                          &chain, &search->edit_ratio, &search->most_edits, &order, &threads, &search->progress,
                          &search->memory, &search->folder))
        return NULL;
    PyObject *result = NULL;
    request.preference = (twin_preference)preference;
    request.chain = chain;
    search->by_edits = search->edit_ratio >= 0;
    search->texts = texts_of(texts);
    search->order = order.buf;
    if (search->texts && texts_or_none(&search->others, others) && make_exec(&search->exec, threads))
        result = run_dedup(&request);
    search_clear(search);
    PyBuffer_Release(&order);
    return result;
}

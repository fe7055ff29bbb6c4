/* index.c — an index on disk.
 *
 * Threads may share an index. A call that is under way counts as a user, and closing waits for none: it refuses. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

struct index {
    PyObject ob_base;
    twin_index *index; /* NULL: closed */
    PyObject *path;
    unsigned users;
};

/* ---- opening and closing ---- */

/* index_create(path, scheme, keep, replace) */
PyObject *py_index_create(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path = NULL;
    struct scheme scheme = { 0 };
    const char *keep;
    int replace;
    twin_index_options options = { .format = TWIN_INPUT_DOCUMENTS };
    twin_error error = { 0 };
    if (!PyArg_ParseTuple(args, "O&O&sp", PyUnicode_FSConverter, &path, scheme_convert, &scheme, &keep, &replace))
        return NULL;
    int value = twin_value_of(TWIN_NAMES_KEEP, keep);
    twin_status status = value < 0 ? TWIN_EINVAL : TWIN_OK;
    options.keep = (twin_keep)value;
    const char *name = PyBytes_AsString(path);
    options.scheme = scheme.scheme;
    if (status == TWIN_OK) {
        Py_BEGIN_ALLOW_THREADS
        status = twin_index_create(name, options, replace, &error);
        Py_END_ALLOW_THREADS
    }
    PyObject *result = status == TWIN_OK ? Py_NewRef(Py_None) : raise_status(status, &error, path);
    scheme_clear(&scheme);
    Py_DECREF(path);
    return result;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = { "path", "write", NULL };
    PyObject *path = NULL;
    int write;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&p", names, PyUnicode_FSConverter, &path, &write))
        return NULL;
    struct index *self = (struct index *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        Py_DECREF(path);
        return NULL;
    }
    self->path = path;
    twin_error error = { 0 };
    twin_status status;
    const char *name = PyBytes_AsString(path);
    twin_index *index = NULL;
    Py_BEGIN_ALLOW_THREADS
    status = twin_index_open(&index, name, write ? TWIN_INDEX_WRITE : TWIN_INDEX_READ, &error);
    Py_END_ALLOW_THREADS
    self->index = index;
    if (status == TWIN_OK)
        return (PyObject *)self;
    raise_status(status, &error, path);
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void drop(PyObject *object)
{
    struct index *self = (struct index *)object;
    PyTypeObject *type = Py_TYPE(object);
    twin_index_close(self->index);
    Py_XDECREF(self->path);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *close_index(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct index *self = (struct index *)object;
    if (self->users)
        return raise_status(TWIN_EBUSY, &(twin_error){ .message = "another thread is using the index" }, NULL);
    twin_index_close(self->index);
    self->index = NULL;
    Py_RETURN_NONE;
}

/* Begins a call: the index, or NULL and an exception. */
static struct index *use(PyObject *object)
{
    struct index *self = (struct index *)object;
    if (!self->index) {
        PyErr_SetString(PyExc_ValueError, "the index is closed");
        return NULL;
    }
    self->users++;
    return self;
}

static PyObject *fail(struct index *self, twin_status status, const twin_error *error)
{
    return raise_status(status, error, self->path);
}

/* ---- documents ---- */

/* An id that was a number comes back as one. */
static PyObject *id_object(twin_text id, bool is_number)
{
    PyObject *words = PyUnicode_DecodeUTF8(id.bytes, (Py_ssize_t)id.length, "surrogateescape");
    if (!is_number || !words)
        return words;
    PyObject *number = PyObject_CallFunction((PyObject *)&PyLong_Type, "O", words);
    if (!number) {
        PyErr_Clear();
        number = PyFloat_FromString(words);
    }
    Py_DECREF(words);
    return number;
}

/* (id, similarity, label, time, document, set, set_size) */
static PyObject *entry_object(const twin_index_entry *entry)
{
    PyObject *id = id_object(entry->id, entry->id_is_number);
    if (!id)
        return NULL;
    return Py_BuildValue("(NdkKKKK)", id, entry->similarity, (unsigned long)entry->label,
                         (unsigned long long)entry->time, (unsigned long long)entry->document,
                         (unsigned long long)entry->set, (unsigned long long)entry->set_size);
}

/* ([entry ...], estimated, incomplete) */
static PyObject *answer_object(const twin_index_answer *answer)
{
    PyObject *list = PyList_New((Py_ssize_t)answer->count);
    for (size_t i = 0; list && i < answer->count; i++) {
        PyObject *entry = entry_object(&answer->entries[i]);
        if (!entry || PyList_SetItem(list, (Py_ssize_t)i, entry) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list ? Py_BuildValue("(NOO)", list, answer->estimated ? Py_True : Py_False,
                                answer->incomplete ? Py_True : Py_False)
                : NULL;
}

/* ---- writing ---- */

struct addition {
    const struct texts *ids, *texts;
    const char *are_numbers;
    struct run run;
};

static twin_status get(void *context, uint64_t number, twin_memory_document *out)
{
    struct addition *addition = context;
    if (!run_goes_on(&addition->run))
        return TWIN_ESTOPPED;
    *out = (twin_memory_document){ .text = addition->texts->items[number],
                                   .id = addition->ids->items[number],
                                   .id_is_number = addition->are_numbers[number] };
    return TWIN_OK;
}

static PyObject *change_object(const twin_index_change *change)
{
    return Py_BuildValue("{sKsKsKsKsKsKsK}", "added", (unsigned long long)change->added, "replaced",
                         (unsigned long long)change->replaced, "repeated", (unsigned long long)change->repeated,
                         "too_short", (unsigned long long)change->too_short, "ill_formed",
                         (unsigned long long)change->ill_formed, "bytes", (unsigned long long)change->bytes,
                         "batches", (unsigned long long)change->batches);
}

static PyObject *add_texts(struct index *self, struct addition *addition, twin_index_add_options options,
                           PyObject *progress)
{
    twin_input *input = NULL;
    twin_index_change change = { 0 };
    twin_error error = { 0 };
    options.progress = run_progress(&addition->run);
    run_begin(&addition->run, progress);
    twin_memory_source source = { addition->texts->count, get, addition };
    twin_input_options documents = { .format = TWIN_INPUT_DOCUMENTS };
    twin_status status = twin_input_from_callback(&input, source, documents, &error);
    if (status == TWIN_OK)
        status = twin_index_add_input(&change, self->index, input, options, &error);
    twin_input_free(input);
    return run_end(&addition->run) && status == TWIN_OK ? change_object(&change) : fail(self, status, &error);
}

/* add(ids, flags, texts, label, time, threads, progress); a flag of 1 says that the id is a number. */
static PyObject *add(PyObject *object, PyObject *args)
{
    PyObject *ids, *texts, *progress;
    Py_ssize_t flags;
    unsigned long label;
    unsigned long long time;
    int threads;
    struct addition addition;
    twin_index_add_options options = { .strict = true };
    if (!PyArg_ParseTuple(args, "Oy#OkKiO", &ids, &addition.are_numbers, &flags, &texts, &label, &time, &threads,
                          &progress))
        return NULL;
    addition.ids = texts_of(ids);
    addition.texts = addition.ids ? texts_of(texts) : NULL;
    if (!addition.texts || !make_exec(&options.exec, threads))
        return NULL;
    if (addition.ids->count != addition.texts->count || (size_t)flags != addition.ids->count) {
        PyErr_Format(PyExc_ValueError, "%zu ids for %zu texts", addition.ids->count, addition.texts->count);
        return NULL;
    }
    options.label = (uint32_t)label;
    options.time = time;
    struct index *self = use(object);
    if (!self)
        return NULL;
    PyObject *result = add_texts(self, &addition, options, progress);
    self->users--;
    return result;
}

/* remove(ids): a list of whether each was there. */
static PyObject *remove_ids(PyObject *object, PyObject *ids)
{
    struct texts *texts = texts_of(ids);
    struct index *self = texts ? use(object) : NULL;
    if (!self)
        return NULL;
    bool *found = calloc(texts->count + 1, sizeof *found);
    twin_error error = { 0 };
    twin_status status = found ? TWIN_OK : TWIN_ENOMEM;
    if (found) {
        Py_BEGIN_ALLOW_THREADS
        status = twin_index_remove(found, NULL, self->index, texts->items, texts->count, &error);
        Py_END_ALLOW_THREADS
    }
    PyObject *list = status == TWIN_OK ? PyList_New(0) : fail(self, status, &error);
    for (size_t i = 0; list && found && i < texts->count; i++)
        if (PyList_Append(list, found[i] ? Py_True : Py_False) != 0)
            Py_CLEAR(list);
    free(found);
    self->users--;
    return list;
}

/* ---- reading ---- */

/* A view belongs to one thread, so each call makes its own. */
static twin_index_view *view_of(struct index *self)
{
    twin_index_view *view = NULL;
    twin_error error = { 0 };
    twin_status status = twin_index_view_create(&view, self->index, &error);
    if (status != TWIN_OK)
        fail(self, status, &error);
    return view;
}

static bool query_options(twin_index_query_options *out, double threshold, Py_ssize_t top, Py_ssize_t compared)
{
    if (!(threshold >= 0 && threshold <= 1)) {
        PyErr_SetString(PyExc_ValueError, "threshold must be above 0 and at most 1");
        return false;
    }
    if (top < 0 || compared < 0) {
        PyErr_SetString(PyExc_ValueError, "top and most_compared must not be negative");
        return false;
    }
    *out =
        (twin_index_query_options){ .threshold = threshold, .top = (size_t)top, .most_compared = (size_t)compared };
    return true;
}

/* query(text, threshold, top, most compared) */
static PyObject *query(PyObject *object, PyObject *args)
{
    PyObject *given;
    double threshold;
    Py_ssize_t top, compared;
    twin_text text;
    twin_index_query_options options;
    if (!PyArg_ParseTuple(args, "Odnn", &given, &threshold, &top, &compared) || !text_of(&text, given, "the text") ||
        !query_options(&options, threshold, top, compared))
        return NULL;
    struct index *self = use(object);
    twin_index_view *view = self ? view_of(self) : NULL;
    PyObject *result = NULL;
    if (view) {
        twin_index_answer answer = { 0 };
        twin_error error = { 0 };
        twin_status status;
        Py_BEGIN_ALLOW_THREADS
        status = twin_index_query(&answer, view, options, text, &error);
        Py_END_ALLOW_THREADS
        result = status == TWIN_OK ? answer_object(&answer) : fail(self, status, &error);
        twin_index_answer_clear(&answer);
        twin_index_view_free(view);
    }
    if (self)
        self->users--;
    return result;
}

/* The answers to all texts, or NULL and an exception. */
static PyObject *query_texts(struct index *self, twin_index_query_many_options options, const struct texts *texts,
                             PyObject *progress)
{
    twin_index_answer *answers = calloc(texts->count + 1, sizeof *answers);
    twin_error error = { 0 };
    struct run run;
    if (!answers)
        return PyErr_NoMemory();
    options.progress = run_progress(&run);
    run_begin(&run, progress);
    twin_status status = twin_index_query_many(answers, self->index, options, texts->items, texts->count, &error);
    bool good = run_end(&run) && status == TWIN_OK;
    PyObject *list = good ? PyList_New((Py_ssize_t)texts->count) : fail(self, status, &error);
    for (size_t i = 0; i < texts->count; i++) {
        PyObject *answer = list ? answer_object(&answers[i]) : NULL;
        if (list && (!answer || PyList_SetItem(list, (Py_ssize_t)i, answer) != 0))
            Py_CLEAR(list);
        twin_index_answer_clear(&answers[i]);
    }
    free(answers);
    return list;
}

/* query_many(texts, threshold, top, most compared, threads, progress) */
static PyObject *query_many(PyObject *object, PyObject *args)
{
    PyObject *given, *progress;
    double threshold;
    Py_ssize_t top, compared;
    int threads;
    twin_index_query_many_options options = { 0 };
    if (!PyArg_ParseTuple(args, "OdnniO", &given, &threshold, &top, &compared, &threads, &progress) ||
        !query_options(&options.query, threshold, top, compared) || !make_exec(&options.exec, threads))
        return NULL;
    struct texts *texts = texts_of(given);
    struct index *self = texts ? use(object) : NULL;
    if (!self)
        return NULL;
    PyObject *list = query_texts(self, options, texts, progress);
    self->users--;
    return list;
}

/* What to read of a document. */
typedef PyObject *entry_reader(struct index *self, twin_index_view *view, const twin_index_entry *entry);

static PyObject *read_entry(struct index *self, twin_index_view *view, const twin_index_entry *entry)
{
    (void)self, (void)view;
    return entry_object(entry);
}

static PyObject *read_text(struct index *self, twin_index_view *view, const twin_index_entry *entry)
{
    twin_text text;
    twin_error error = { 0 };
    twin_status status = twin_index_text(&text, view, *entry, &error);
    return status == TWIN_OK ? PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.length, "replace")
                             : fail(self, status, &error);
}

/* The document with an id, or None. */
static PyObject *find(PyObject *object, PyObject *id, entry_reader *read)
{
    twin_text text;
    struct index *self = text_of(&text, id, "an id") ? use(object) : NULL;
    twin_index_view *view = self ? view_of(self) : NULL;
    PyObject *result = NULL;
    if (view) {
        twin_index_entry entry;
        bool found = false;
        twin_error error = { 0 };
        twin_status status;
        Py_BEGIN_ALLOW_THREADS
        status = twin_index_find(&entry, &found, view, text, &error);
        Py_END_ALLOW_THREADS
        if (status != TWIN_OK)
            fail(self, status, &error);
        else
            result = found ? read(self, view, &entry) : Py_NewRef(Py_None);
        twin_index_view_free(view);
    }
    if (self)
        self->users--;
    return result;
}

static PyObject *get_entry(PyObject *object, PyObject *id)
{
    return find(object, id, read_entry);
}

static PyObject *get_text(PyObject *object, PyObject *id)
{
    return find(object, id, read_text);
}

/* ---- all documents, all pairs: ids are gathered without the GIL, and become objects afterwards ---- */

struct gathered {
    twin_buffer bytes;
    twin_buffer records; /* of struct gathered_id */
    struct run run;
    bool failed;
};

struct gathered_id {
    size_t offset, length;
    double similarity; /* of a pair, with its second id */
    bool is_number;
};

static bool gather(struct gathered *gathered, const twin_index_entry *entry, double similarity)
{
    struct gathered_id record = { gathered->bytes.length, entry->id.length, similarity, entry->id_is_number };
    gathered->failed = twin_buffer_append(&gathered->bytes, entry->id.bytes, entry->id.length) != TWIN_OK ||
                       twin_buffer_append(&gathered->records, &record, sizeof record) != TWIN_OK;
    return !gathered->failed;
}

static bool visit_entry(void *context, const twin_index_entry *entry)
{
    struct gathered *gathered = context;
    return gather(gathered, entry, 0) && run_goes_on(&gathered->run);
}

static bool visit_pair(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    struct gathered *gathered = context;
    return gather(gathered, a, similarity) && gather(gathered, b, similarity) && run_goes_on(&gathered->run);
}

static PyObject *gathered_object(const struct gathered *gathered, size_t number)
{
    const struct gathered_id *record = (const struct gathered_id *)(const void *)gathered->records.bytes + number;
    twin_text id = { gathered->bytes.bytes + record->offset, record->length };
    return id_object(id, record->is_number);
}

static PyObject *gathered_pair(const struct gathered *gathered, size_t number)
{
    const struct gathered_id *record = (const struct gathered_id *)(const void *)gathered->records.bytes;
    PyObject *a = gathered_object(gathered, 2 * number), *b = gathered_object(gathered, 2 * number + 1);
    return a && b ? Py_BuildValue("(NNd)", a, b, record[2 * number].similarity) : NULL;
}

static PyObject *gathered_list(const struct gathered *gathered, bool pairs)
{
    size_t count = gathered->records.length / sizeof(struct gathered_id) / (pairs ? 2 : 1);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *item = pairs ? gathered_pair(gathered, i) : gathered_object(gathered, i);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *gathered_result(struct gathered *gathered, struct index *self, twin_status status,
                                 const twin_error *error, bool pairs)
{
    PyObject *result = NULL;
    if (run_end(&gathered->run) && status == TWIN_OK)
        result = gathered_list(gathered, pairs);
    else
        fail(self, gathered->failed ? TWIN_ENOMEM : status, error);
    twin_buffer_clear(&gathered->bytes);
    twin_buffer_clear(&gathered->records);
    self->users--;
    return result;
}

static PyObject *ids(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct gathered gathered = { .failed = false };
    twin_error error = { 0 };
    twin_index_view *view = NULL;
    struct index *self = use(object);
    if (!self)
        return NULL;
    run_begin(&gathered.run, NULL);
    twin_status status = twin_index_view_create(&view, self->index, &error);
    if (status == TWIN_OK)
        status = twin_index_each(view, visit_entry, &gathered, &error);
    twin_index_view_free(view);
    return gathered_result(&gathered, self, status, &error, false);
}

/* pairs(threshold, copies, threads, progress) */
static PyObject *pairs(PyObject *object, PyObject *args)
{
    struct gathered gathered = { .failed = false };
    twin_index_pairs_options options = { .threshold = 0 };
    twin_error error = { 0 };
    int copies, threads;
    PyObject *progress;
    if (!PyArg_ParseTuple(args, "diiO", &options.threshold, &copies, &threads, &progress) ||
        !make_exec(&options.exec, threads))
        return NULL;
    struct index *self = use(object);
    if (!self)
        return NULL;
    options.copies = (twin_copies)copies;
    options.progress = run_progress(&gathered.run);
    run_begin(&gathered.run, progress);
    twin_status status = twin_index_pairs(self->index, options, visit_pair, &gathered, &error);
    return gathered_result(&gathered, self, status, &error, true);
}

/* ---- state ---- */

static PyObject *count(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct index *self = use(object);
    twin_index_view *view = self ? view_of(self) : NULL;
    PyObject *result = view ? PyLong_FromUnsignedLongLong(twin_index_documents(view)) : NULL;
    twin_index_view_free(view);
    if (self)
        self->users--;
    return result;
}

static PyObject *info_object(const twin_index_info *info)
{
    return Py_BuildValue(
        "{sKsKsKsKsKsKsKsKsKsKsKsK}", "documents", (unsigned long long)info->documents, "sets",
        (unsigned long long)info->sets, "too_short", (unsigned long long)info->too_short, "removed_sets",
        (unsigned long long)info->removed_sets, "runs", (unsigned long long)info->runs, "bytes",
        (unsigned long long)info->bytes, "free_bytes", (unsigned long long)info->free_bytes, "document_bytes",
        (unsigned long long)info->document_bytes, "signature_bytes", (unsigned long long)info->signature_bytes,
        "band_bytes", (unsigned long long)info->band_bytes, "kept_bytes", (unsigned long long)info->kept_bytes,
        "largest_bucket", (unsigned long long)info->largest_bucket);
}

static PyObject *info(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct index *self = use(object);
    twin_index_view *view = self ? view_of(self) : NULL;
    PyObject *result = NULL;
    if (view) {
        twin_index_info info;
        twin_error error = { 0 };
        twin_status status;
        Py_BEGIN_ALLOW_THREADS
        status = twin_index_describe(&info, view, &error);
        twin_index_view_free(view);
        Py_END_ALLOW_THREADS
        result = status == TWIN_OK ? info_object(&info) : fail(self, status, &error);
    }
    if (self)
        self->users--;
    return result;
}

static PyObject *check(PyObject *object, PyObject *progress)
{
    struct index *self = use(object);
    twin_index_view *view = self ? view_of(self) : NULL;
    PyObject *result = NULL;
    if (view) {
        struct run run;
        twin_error error = { 0 };
        run_begin(&run, progress);
        twin_status status = twin_index_check(view, run_progress(&run), &error);
        twin_index_view_free(view);
        result = run_end(&run) && status == TWIN_OK ? Py_NewRef(Py_None) : fail(self, status, &error);
    }
    if (self)
        self->users--;
    return result;
}

/* index_compact(path) */
PyObject *py_index_compact(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path = NULL;
    struct run run;
    twin_error error = { 0 };
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    run_begin(&run, NULL);
    twin_status status = twin_index_compact(name, run_progress(&run), &error);
    PyObject *result = run_end(&run) && status == TWIN_OK ? Py_NewRef(Py_None) : raise_status(status, &error, path);
    Py_DECREF(path);
    return result;
}

static PyObject *scheme_of(PyObject *object, void *closure)
{
    (void)closure;
    struct index *self = use(object);
    if (!self)
        return NULL;
    twin_index_options options = twin_index_options_of(self->index);
    PyObject *line = scheme_line(&options.scheme);
    self->users--;
    return line ? Py_BuildValue("(Ns)", line, twin_name_of(TWIN_NAMES_KEEP, options.keep)) : NULL;
}

static PyMethodDef methods[] = {
    { "close", close_index, METH_NOARGS, NULL },
    { "add", add, METH_VARARGS, NULL },
    { "remove", remove_ids, METH_O, NULL },
    { "query", query, METH_VARARGS, NULL },
    { "query_many", query_many, METH_VARARGS, NULL },
    { "get", get_entry, METH_O, NULL },
    { "text", get_text, METH_O, NULL },
    { "ids", ids, METH_NOARGS, NULL },
    { "pairs", pairs, METH_VARARGS, NULL },
    { "info", info, METH_NOARGS, NULL },
    { "check", check, METH_O, NULL },
    { "count", count, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef getters[] = {
    { "options", scheme_of, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "Index(path, write): an open index." },
    { Py_tp_new, make },
    { Py_tp_dealloc, drop },
    { Py_tp_methods, methods },
    { Py_tp_getset, getters },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "twinsift._core.Index",
    .basicsize = sizeof(struct index),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool index_setup(PyObject *module)
{
    return type_add(module, &spec) != NULL;
}

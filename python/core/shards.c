/* shards.c — what engines that divide a collection need of each document, and the groups that they make of it. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- signing ---- */

/* What is written for each text. */
struct shard_columns {
    uint64_t *digests; /* of the normalised text, low and high */
    uint64_t *keys;    /* of the bands */
    unsigned char *sketches;
    bool *empty;
};

static size_t sketch_bytes(const twin_scheme *scheme)
{
    return (scheme->minhash.slots + 1) / 2;
}

/* The hashes that were made for the digest are signed, unless occurrences have to be counted first. */
static twin_status sign_shard(struct shard_columns out, size_t i, const twin_signer *signer, twin_scratch **scratch,
                              uint32_t *signature, twin_text text)
{
    const twin_scheme *scheme = twin_signer_scheme(signer);
    twin_text normalised;
    const uint64_t *hashes;
    size_t count;
    twin_status status = twin_signer_shingles(&normalised, &hashes, &count, signer, scratch, text);
    if (status != TWIN_OK)
        return status;
    twin_digest digest = twin_hash_digest(scheme->shingle.hash, normalised.bytes, normalised.length);
    out.digests[2 * i] = digest.low;
    out.digests[2 * i + 1] = digest.high;
    out.empty[i] = count == 0;
    if (scheme->multiset)
        status = twin_signer_text(signature, NULL, signer, scratch, text);
    else
        twin_signer_sign(signature, signer, hashes, count);
    twin_band_keys(out.keys + i * scheme->plan.bands, signature, scheme->plan);
    twin_shard_sketch(out.sketches + i * sketch_bytes(scheme), signature, scheme);
    return status;
}

static twin_status sign_shards(struct shard_columns out, const twin_signer *signer, const struct texts *texts,
                               struct run *run)
{
    uint32_t *signature = malloc(twin_signer_scheme(signer)->minhash.slots * sizeof *signature);
    twin_scratch *scratch = NULL;
    twin_status status = signature ? TWIN_OK : TWIN_ENOMEM;
    for (size_t i = 0; i < texts->count && status == TWIN_OK; i++)
        status = run_goes_on(run) ? sign_shard(out, i, signer, &scratch, signature, texts->items[i]) : TWIN_ESTOPPED;
    twin_scratch_free(scratch);
    free(signature);
    return status;
}

/* shard_sign(signer, texts): digests of the normalised texts, band keys, sketches, and whether the set is empty. */
PyObject *py_shard_sign(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *signer_object, *texts_object;
    if (!PyArg_ParseTuple(args, "OO", &signer_object, &texts_object))
        return NULL;
    const twin_signer *signer = signer_of(signer_object);
    const struct texts *texts = signer ? texts_of(texts_object) : NULL;
    if (!texts)
        return NULL;
    const twin_scheme *scheme = twin_signer_scheme(signer);
    void *digests = NULL, *keys = NULL, *sketches = NULL, *empty = NULL;
    PyObject *all = Py_BuildValue("(NNNN)", array_create(ARRAY_UINT64, &digests, texts->count, 2),
                                  array_create(ARRAY_UINT64, &keys, texts->count, scheme->plan.bands),
                                  array_create(ARRAY_UINT8, &sketches, texts->count, sketch_bytes(scheme)),
                                  array_create(ARRAY_BOOL, &empty, texts->count, 0));
    if (!all)
        return NULL;
    struct run run;
    run_begin(&run, NULL);
    twin_status status = sign_shards((struct shard_columns){ digests, keys, sketches, empty }, signer, texts, &run);
    if (run_end(&run) && status == TWIN_OK)
        return all;
    Py_DECREF(all);
    return raise_status(status, NULL, NULL);
}

static void digest_texts(uint64_t *digests, const struct texts *texts)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    for (size_t i = 0; i < texts->count; i++) {
        twin_digest digest = twin_hash_digest(plain, texts->items[i].bytes, texts->items[i].length);
        digests[2 * i] = digest.high;
        digests[2 * i + 1] = digest.low;
    }
}

/* shard_digests(texts): of the texts as they are, by which equally preferred ones are told apart. */
PyObject *py_shard_digests(PyObject *module, PyObject *object)
{
    (void)module;
    const struct texts *texts = texts_of(object);
    void *data;
    PyObject *array = texts ? array_create(ARRAY_UINT64, &data, texts->count, 2) : NULL;
    if (!array)
        return NULL;
    PyThreadState *state = PyEval_SaveThread();
    digest_texts(data, texts);
    PyEval_RestoreThread(state);
    return array;
}

/* ---- groups ---- */

struct unions {
    PyObject ob_base;
    twin_unions *unions;
    PyThread_type_lock lock;
};

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = { NULL };
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "", names))
        return NULL;
    struct unions *self = (struct unions *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self)
        return NULL;
    self->lock = PyThread_allocate_lock();
    if (self->lock && twin_unions_create(&self->unions) == TWIN_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return PyErr_NoMemory();
}

static void drop(PyObject *object)
{
    struct unions *self = (struct unions *)object;
    PyTypeObject *type = Py_TYPE(object);
    twin_unions_free(self->unions);
    if (self->lock)
        PyThread_free_lock(self->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* Numbers of 64 bits. The count of the first buffer becomes *count, if that is 0; the others must have as many. */
static bool check_rows(const Py_buffer *view, size_t item, size_t *count)
{
    size_t rows = (size_t)view->len / item;
    if ((size_t)view->len % item != 0 || (*count && rows != *count)) {
        PyErr_SetString(PyExc_ValueError, "columns must have as many rows as each other");
        return false;
    }
    *count = rows;
    return true;
}

/* add(a, b): unites a[i] with b[i]. */
static PyObject *add(PyObject *object, PyObject *args)
{
    struct unions *self = (struct unions *)object;
    Py_buffer a, b;
    if (!PyArg_ParseTuple(args, "y*y*", &a, &b))
        return NULL;
    size_t count = 0;
    bool good = a.len == b.len && check_rows(&a, sizeof(uint64_t), &count);
    twin_status status = TWIN_OK;
    if (good) {
        lock_take(self->lock);
        Py_BEGIN_ALLOW_THREADS
        status = twin_unions_add(self->unions, a.buf, b.buf, count);
        Py_END_ALLOW_THREADS
        PyThread_release_lock(self->lock);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "columns must have as many rows as each other");
    }
    PyBuffer_Release(&a);
    PyBuffer_Release(&b);
    if (good && status == TWIN_OK)
        Py_RETURN_NONE;
    return raise_status(status, NULL, NULL);
}

/* Edges on their way to the unions, some at a time. */
struct pending {
    twin_unions *unions;
    struct run *run;
    uint64_t a[1024], b[1024];
    size_t count;
    twin_status status;
};

static bool flush(struct pending *pending)
{
    if (pending->status == TWIN_OK && !run_goes_on(pending->run))
        pending->status = TWIN_ESTOPPED;
    if (pending->status == TWIN_OK)
        pending->status = twin_unions_add(pending->unions, pending->a, pending->b, pending->count);
    pending->count = 0;
    return pending->status == TWIN_OK;
}

static bool visit(void *context, uint64_t a, uint64_t b)
{
    struct pending *pending = context;
    pending->a[pending->count] = a;
    pending->b[pending->count++] = b;
    return pending->count < sizeof pending->a / sizeof pending->a[0] || flush(pending);
}

static twin_status unite_rows(struct pending *pending, const twin_scheme *scheme, twin_shard_rows rows,
                              twin_error *error)
{
    twin_edges *edges = NULL;
    twin_status status = twin_edges_create(&edges, scheme, visit, pending, error);
    if (status == TWIN_OK)
        status = twin_edges_add(edges, rows, error);
    if (status == TWIN_OK)
        status = twin_edges_end(edges);
    twin_edges_free(edges);
    if (pending->count)
        (void)flush(pending);
    return pending->status != TWIN_OK ? pending->status : status;
}

/* add_rows(scheme, keys, documents, sketches): unites the documents that rows, sorted by key, connect. */
static PyObject *add_rows(PyObject *object, PyObject *args)
{
    struct unions *self = (struct unions *)object;
    struct scheme scheme = { 0 };
    Py_buffer keys, documents, sketches;
    if (!PyArg_ParseTuple(args, "O&y*y*y*", scheme_convert, &scheme, &keys, &documents, &sketches))
        return NULL;
    size_t count = (size_t)keys.len / sizeof(uint64_t);
    bool good = check_rows(&keys, sizeof(uint64_t), &count) && check_rows(&documents, sizeof(uint64_t), &count) &&
                check_rows(&sketches, sketch_bytes(&scheme.scheme), &count);
    twin_error error = { 0 };
    twin_status status = TWIN_OK;
    if (good) {
        struct run run;
        struct pending pending = { .unions = self->unions, .run = &run };
        twin_shard_rows rows = {
            .keys = keys.buf, .documents = documents.buf, .sketches = sketches.buf, .count = count
        };
        lock_take(self->lock);
        run_begin(&run, NULL);
        status = unite_rows(&pending, &scheme.scheme, rows, &error);
        good = run_end(&run);
        PyThread_release_lock(self->lock);
    }
    PyBuffer_Release(&keys);
    PyBuffer_Release(&documents);
    PyBuffer_Release(&sketches);
    scheme_clear(&scheme);
    if (good && status == TWIN_OK)
        Py_RETURN_NONE;
    return raise_status(status, &error, NULL);
}

/* list(): the documents that have an edge, in increasing order, and the group of each. */
static PyObject *list(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct unions *self = (struct unions *)object;
    void *documents = NULL, *groups = NULL;
    lock_take(self->lock);
    size_t count = 0;
    twin_unions_list(NULL, NULL, &count, self->unions);
    PyObject *both = Py_BuildValue("(NN)", array_create(ARRAY_UINT64, &documents, count, 0),
                                   array_create(ARRAY_UINT64, &groups, count, 0));
    twin_status status = TWIN_OK;
    if (both) {
        Py_BEGIN_ALLOW_THREADS
        status = twin_unions_list(documents, groups, &count, self->unions);
        Py_END_ALLOW_THREADS
    }
    PyThread_release_lock(self->lock);
    if (!both || status == TWIN_OK)
        return both;
    Py_DECREF(both);
    return raise_status(status, NULL, NULL);
}

static PyMethodDef methods[] = {
    { "add", add, METH_VARARGS, NULL },
    { "add_rows", add_rows, METH_VARARGS, NULL },
    { "list", list, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "Unions(): groups of documents that edges unite." },
    { Py_tp_new, make },
    { Py_tp_dealloc, drop },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "twinsift._core.Unions",
    .basicsize = sizeof(struct unions),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool shards_setup(PyObject *module)
{
    return type_add(module, &spec) != NULL;
}

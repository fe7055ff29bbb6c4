/* scheme.c — schemes as lines of text, and signers. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- schemes ---- */

void scheme_clear(struct scheme *scheme)
{
    twin_buffer_clear(&scheme->words);
}

int scheme_convert(PyObject *line, void *out)
{
    struct scheme *scheme = out;
    twin_text text;
    twin_error error = { 0 };
    if (!line) { /* parsing failed later */
        scheme_clear(scheme);
        return 1;
    }
    if (!text_of(&text, line, "a scheme"))
        return 0;
    twin_status status = twin_scheme_read(&scheme->scheme, &scheme->words, text, &error);
    if (status == TWIN_OK)
        return Py_CLEANUP_SUPPORTED;
    scheme_clear(scheme);
    raise_status(status == TWIN_EFORMAT ? TWIN_EINVAL : status, &error, NULL);
    return 0;
}

PyObject *scheme_line(const twin_scheme *scheme)
{
    twin_buffer line = { 0 };
    twin_status status = twin_scheme_write(&line, scheme);
    PyObject *text = status == TWIN_OK ? PyUnicode_DecodeUTF8(line.bytes, (Py_ssize_t)line.length, NULL)
                                       : raise_status(status, NULL, NULL);
    twin_buffer_clear(&line);
    return text;
}

/* The words of the arguments, as names; NULL or "" are the defaults. */
struct scheme_words {
    const char *shingle, *measure, *hash, *sketch, *normal;
};

static twin_status read_words(twin_scheme *scheme, const struct scheme_words *words)
{
    const char *const given[] = { words->measure, words->hash, words->sketch, words->normal };
    static const twin_names names[] = { TWIN_NAMES_MEASURE, TWIN_NAMES_HASH_FAMILY, TWIN_NAMES_SKETCH,
                                        TWIN_NAMES_NORMAL };
    int values[4];
    twin_status status = twin_shingle_parse(&scheme->shingle, words->shingle);
    for (int i = 0; i < 4 && status == TWIN_OK; i++) {
        values[i] = twin_value_of(names[i], given[i]);
        status = values[i] < 0 ? TWIN_EINVAL : TWIN_OK;
    }
    if (status != TWIN_OK)
        return status;
    scheme->measure = (twin_measure)values[0];
    scheme->shingle.hash.family = (twin_hash_family)values[1];
    scheme->minhash.sketch = (twin_sketch)values[2];
    scheme->normal = (twin_normal)values[3];
    return twin_hash_available(scheme->shingle.hash.family);
}

static bool read_sizes(twin_scheme *scheme, Py_ssize_t hashes, Py_ssize_t bands, Py_ssize_t rows)
{
    if (hashes < 1 || bands < 0 || rows < 0) {
        PyErr_SetString(PyExc_ValueError,
                        hashes < 1 ? "hashes must be at least 1" : "bands and rows must not be negative");
        return false;
    }
    if ((bands == 0) != (rows == 0)) {
        PyErr_SetString(PyExc_ValueError, "bands and rows must be given together");
        return false;
    }
    scheme->minhash.slots = (size_t)hashes;
    scheme->plan = (twin_plan){ (size_t)bands, (size_t)rows };
    return true;
}

/* scheme(shingle, measure, hash, sketch, normal, threshold, hashes, bands, rows, seed, multiset): the line. */
PyObject *py_scheme(PyObject *module, PyObject *args)
{
    (void)module;
    struct scheme_words words;
    twin_scheme scheme = { 0 };
    Py_ssize_t hashes, bands, rows;
    PyObject *seed_object;
    int multiset;
    if (!PyArg_ParseTuple(args, "sssssdnnnO!p", &words.shingle, &words.measure, &words.hash, &words.sketch,
                          &words.normal, &scheme.threshold, &hashes, &bands, &rows, &PyLong_Type, &seed_object,
                          &multiset))
        return NULL;
    unsigned long long seed = PyLong_AsUnsignedLongLong(seed_object);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_SetString(PyExc_ValueError, "seed must be 0 to 2**64 - 1");
        return NULL;
    }
    if (!(scheme.threshold > 0)) {
        PyErr_SetString(PyExc_ValueError, "threshold must be above 0 and at most 1");
        return NULL;
    }
    if (!read_sizes(&scheme, hashes, bands, rows))
        return NULL;
    twin_error error = { 0 };
    twin_status status = read_words(&scheme, &words);
    scheme.multiset = multiset;
    twin_scheme_seed(&scheme, seed);
    if (status == TWIN_OK)
        status = twin_scheme_complete(&scheme, &error);
    return status == TWIN_OK ? scheme_line(&scheme) : raise_status(status, &error, NULL);
}

bool make_exec(twin_exec *out, int threads)
{
    if (threads < 0) {
        PyErr_SetString(PyExc_ValueError, "threads must not be negative");
        return false;
    }
    twin_status status = twin_exec_make(out, threads == 1 ? TWIN_EXEC_SERIAL : TWIN_EXEC_PTHREADS, threads);
    if (status != TWIN_OK)
        raise_status(status, NULL, NULL);
    return status == TWIN_OK;
}

/* ---- signers ---- */

struct signer {
    PyObject ob_base;
    twin_signer *signer;
};

static size_t slots_of(const struct signer *self)
{
    return twin_signer_scheme(self->signer)->minhash.slots;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct scheme scheme = { 0 };
    twin_error error = { 0 };
    static char *names[] = { "scheme", NULL };
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&", names, scheme_convert, &scheme))
        return NULL;
    struct signer *self = (struct signer *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    twin_status status = self ? twin_signer_create(&self->signer, &scheme.scheme, &error) : TWIN_OK;
    scheme_clear(&scheme);
    if (status == TWIN_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return raise_status(status, &error, NULL);
}

static void drop(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    twin_signer_free(((struct signer *)self)->signer);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* One text is signed with the GIL, unless it is long. */
static PyObject *sign(PyObject *object, PyObject *argument)
{
    enum { LONG = 10000 };
    struct signer *self = (struct signer *)object;
    twin_text text;
    void *signature;
    if (!text_of(&text, argument, "the text"))
        return NULL;
    PyObject *array = array_create(ARRAY_UINT32, &signature, slots_of(self), 0);
    if (!array)
        return NULL;
    twin_scratch *scratch = NULL;
    PyThreadState *state = text.length > LONG ? PyEval_SaveThread() : NULL;
    twin_status status = twin_signer_text(signature, NULL, self->signer, &scratch, text);
    twin_scratch_free(scratch);
    if (state)
        PyEval_RestoreThread(state);
    if (status == TWIN_OK)
        return array;
    Py_DECREF(array);
    return raise_status(status, NULL, NULL);
}

/* sign_many(texts, threads, progress) */
static PyObject *sign_many(PyObject *object, PyObject *args)
{
    struct signer *self = (struct signer *)object;
    PyObject *input, *progress;
    int threads;
    twin_exec exec;
    void *signatures;
    if (!PyArg_ParseTuple(args, "OiO", &input, &threads, &progress) || !make_exec(&exec, threads))
        return NULL;
    struct texts *texts = texts_of(input);
    PyObject *array = texts ? array_create(ARRAY_UINT32, &signatures, texts->count, slots_of(self)) : NULL;
    if (!array)
        return NULL;
    struct run run;
    run_begin(&run, progress);
    twin_signer_many_options options = { .exec = exec, .progress = run_progress(&run) };
    twin_status status = twin_signer_many(signatures, NULL, self->signer, texts->items, texts->count, options);
    if (run_end(&run) && status == TWIN_OK)
        return array;
    Py_DECREF(array);
    return raise_status(status, NULL, NULL);
}

/* Rows of as many 32-bit numbers as a signature has, one after the other. */
static bool check_signatures(const Py_buffer *view, size_t slots)
{
    size_t row = slots * sizeof(uint32_t);
    if (view->itemsize != sizeof(uint32_t) || (size_t)view->len % row != 0 ||
        (view->ndim == 2 && (size_t)view->shape[1] != slots)) {
        PyErr_Format(PyExc_ValueError, "signatures must be rows of %zu numbers of 32 bits, as this signer makes them",
                     slots);
        return false;
    }
    return true;
}

/* band_keys(signatures): an array of a key for each band. */
static PyObject *band_keys(PyObject *object, PyObject *signatures)
{
    struct signer *self = (struct signer *)object;
    size_t slots = slots_of(self);
    twin_plan plan = twin_signer_scheme(self->signer)->plan;
    Py_buffer view;
    void *data;
    if (PyObject_GetBuffer(signatures, &view, PyBUF_ND | PyBUF_FORMAT) != 0)
        return NULL;
    size_t count = (size_t)view.len / (slots * sizeof(uint32_t));
    PyObject *array = check_signatures(&view, slots) ? array_create(ARRAY_UINT64, &data, count, plan.bands) : NULL;
    if (array) {
        uint64_t *keys = data;
        const uint32_t *rows = view.buf;
        Py_BEGIN_ALLOW_THREADS
        for (size_t i = 0; i < count; i++)
            twin_band_keys(keys + i * plan.bands, rows + i * slots, plan);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&view);
    return array;
}

static PyObject *scheme_of(PyObject *object, void *closure)
{
    (void)closure;
    return scheme_line(twin_signer_scheme(((struct signer *)object)->signer));
}

static PyMethodDef methods[] = {
    { "sign", sign, METH_O, NULL },
    { "sign_many", sign_many, METH_VARARGS, NULL },
    { "band_keys", band_keys, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef getters[] = {
    { "scheme", scheme_of, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "Signer(scheme): makes signatures." },
    { Py_tp_new, make },
    { Py_tp_dealloc, drop },
    { Py_tp_methods, methods },
    { Py_tp_getset, getters },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "twinsift._core.Signer",
    .basicsize = sizeof(struct signer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

static PyTypeObject *signer_type;

const twin_signer *signer_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, signer_type))
        return ((struct signer *)object)->signer;
    PyErr_SetString(PyExc_TypeError, "expected Signer");
    return NULL;
}

bool signer_setup(PyObject *module)
{
    signer_type = type_add(module, &spec);
    return signer_type != NULL;
}

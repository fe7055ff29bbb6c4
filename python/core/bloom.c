/* bloom.c — Bloom filters and counting filters.
 *
 * One thread may change a filter while no other uses it, so each has a lock. Single items are looked up with the GIL,
 * since that takes less time than giving it away. */
#include "core.h"

#include <stdlib.h>

enum { ITEMS_AT_ONCE = 1 << 16 }; /* items between looks whether to stop */

struct bloom {
    PyObject ob_base;
    twin_bloom *bloom;
    PyThread_type_lock lock;
};

static PyTypeObject *bloom_type;

/* ---- making them ---- */

static PyObject *bloom_object(PyTypeObject *type, twin_bloom *bloom)
{
    struct bloom *self = (struct bloom *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        twin_bloom_free(bloom);
        return NULL;
    }
    self->bloom = bloom;
    self->lock = PyThread_allocate_lock();
    if (self->lock)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return PyErr_NoMemory();
}

/* Bloom(capacity, error, cell bits) */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    unsigned long long capacity;
    twin_bloom_options options = { .items = 0 };
    if (!PyArg_ParseTuple(args, "KdI", &capacity, &options.rate, &options.cell_bits))
        return NULL;
    options.items = capacity;
    twin_bloom *bloom = NULL;
    twin_status status = twin_bloom_create(&bloom, options);
    return status == TWIN_OK ? bloom_object(type, bloom) : raise_status(status, NULL, NULL);
}

/* bloom_load(path): a copy in memory that can be changed. */
PyObject *py_bloom_load(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path = NULL;
    twin_bloom *mapped = NULL, *bloom = NULL;
    twin_error error = { 0 };
    twin_status status;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    status = twin_bloom_open(&mapped, name, (twin_bloom_open_options){ .access = TWIN_BLOOM_READ }, &error);
    if (status == TWIN_OK)
        status = twin_bloom_copy(&bloom, mapped);
    twin_bloom_free(mapped);
    Py_END_ALLOW_THREADS
    PyObject *result = status == TWIN_OK ? bloom_object(bloom_type, bloom) : raise_status(status, &error, path);
    Py_DECREF(path);
    return result;
}

static void drop(PyObject *object)
{
    struct bloom *self = (struct bloom *)object;
    PyTypeObject *type = Py_TYPE(object);
    twin_bloom_free(self->bloom);
    if (self->lock)
        PyThread_free_lock(self->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* save(path, replace) */
static PyObject *save(PyObject *object, PyObject *args)
{
    struct bloom *self = (struct bloom *)object;
    PyObject *path = NULL;
    int replace;
    twin_error error = { 0 };
    twin_status status;
    if (!PyArg_ParseTuple(args, "O&p", PyUnicode_FSConverter, &path, &replace))
        return NULL;
    const char *name = PyBytes_AsString(path);
    lock_take(self->lock);
    Py_BEGIN_ALLOW_THREADS
    status = twin_bloom_save(self->bloom, name, replace, &error);
    Py_END_ALLOW_THREADS
    PyThread_release_lock(self->lock);
    PyObject *result = status == TWIN_OK ? Py_NewRef(Py_None) : raise_status(status, &error, path);
    Py_DECREF(path);
    return result;
}

/* ---- one item ---- */

static PyObject *add(PyObject *object, PyObject *item)
{
    struct bloom *self = (struct bloom *)object;
    twin_text text;
    if (!text_of(&text, item, "an item"))
        return NULL;
    lock_take(self->lock);
    bool fresh = twin_bloom_add(self->bloom, text.bytes, text.length);
    PyThread_release_lock(self->lock);
    return PyBool_FromLong(fresh);
}

static int contains(PyObject *object, PyObject *item)
{
    struct bloom *self = (struct bloom *)object;
    twin_text text;
    if (!text_of(&text, item, "an item"))
        return -1;
    lock_take(self->lock);
    bool found = twin_bloom_may_contain(self->bloom, text.bytes, text.length);
    PyThread_release_lock(self->lock);
    return found;
}

static PyObject *remove_item(PyObject *object, PyObject *item)
{
    struct bloom *self = (struct bloom *)object;
    twin_text text;
    if (!text_of(&text, item, "an item"))
        return NULL;
    lock_take(self->lock);
    bool removed = twin_bloom_remove(self->bloom, text.bytes, text.length);
    PyThread_release_lock(self->lock);
    return PyBool_FromLong(removed);
}

static PyObject *count(PyObject *object, PyObject *item)
{
    struct bloom *self = (struct bloom *)object;
    twin_text text;
    if (!text_of(&text, item, "an item"))
        return NULL;
    lock_take(self->lock);
    uint32_t times = twin_bloom_count(self->bloom, text.bytes, text.length);
    PyThread_release_lock(self->lock);
    return PyLong_FromUnsignedLong(times);
}

/* ---- many items ---- */

/* Looks the items up, or, without `answers`, adds them; `sum` becomes how many were there, or were new. */
static bool each_batch(struct bloom *self, const struct texts *items, bool *answers, size_t *sum)
{
    struct run run;
    bool more = true;
    *sum = 0;
    lock_take(self->lock);
    run_begin(&run, NULL);
    for (size_t i = 0; more && i < items->count; i += ITEMS_AT_ONCE) {
        size_t left = items->count - i, n = left < ITEMS_AT_ONCE ? left : ITEMS_AT_ONCE;
        const twin_text *some = items->items + i;
        *sum += answers ? twin_bloom_may_contain_many(answers + i, self->bloom, some, n)
                        : twin_bloom_add_many(NULL, self->bloom, some, n);
        more = run_goes_on(&run);
    }
    bool good = run_end(&run);
    PyThread_release_lock(self->lock);
    return good;
}

/* update(items): how many were new. */
static PyObject *update(PyObject *object, PyObject *given)
{
    size_t fresh;
    const struct texts *items = texts_of(given);
    return items && each_batch((struct bloom *)object, items, NULL, &fresh) ? PyLong_FromSize_t(fresh) : NULL;
}

static PyObject *contains_many(PyObject *object, PyObject *given)
{
    void *found;
    size_t sum;
    const struct texts *items = texts_of(given);
    PyObject *array = items ? array_create(ARRAY_BOOL, &found, items->count, 0) : NULL;
    if (array && each_batch((struct bloom *)object, items, found, &sum))
        return array;
    Py_XDECREF(array);
    return NULL;
}

/* unite(other): a new filter of the items of both. */
static PyObject *unite(PyObject *object, PyObject *given)
{
    struct bloom *self = (struct bloom *)object;
    twin_bloom *both = NULL;
    if (!PyObject_TypeCheck(given, bloom_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a filter");
        return NULL;
    }
    struct bloom *other = (struct bloom *)given;
    twin_status status;
    lock_take(self->lock);
    Py_BEGIN_ALLOW_THREADS
    status = twin_bloom_copy(&both, self->bloom);
    Py_END_ALLOW_THREADS
    PyThread_release_lock(self->lock);
    if (status == TWIN_OK) {
        lock_take(other->lock);
        Py_BEGIN_ALLOW_THREADS
        status = twin_bloom_unite(NULL, both, other->bloom);
        Py_END_ALLOW_THREADS
        PyThread_release_lock(other->lock);
    }
    if (status == TWIN_OK)
        return bloom_object(bloom_type, both);
    twin_bloom_free(both);
    return raise_status(status, NULL, NULL);
}

static PyObject *info(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct bloom *self = (struct bloom *)object;
    twin_bloom_info info;
    lock_take(self->lock);
    Py_BEGIN_ALLOW_THREADS
    twin_bloom_describe(&info, self->bloom);
    Py_END_ALLOW_THREADS
    PyThread_release_lock(self->lock);
    return Py_BuildValue("{sKsdsKsIsdsdsOsI}", "capacity", (unsigned long long)info.planned_items, "error",
                         info.planned_rate, "bytes", (unsigned long long)info.bytes, "functions",
                         info.shape.functions, "items", info.items, "error_now", info.rate, "past_plan",
                         info.past_plan ? Py_True : Py_False, "cell_bits", info.shape.cell_bits);
}

static PyMethodDef methods[] = {
    { "save", save, METH_VARARGS, NULL },
    { "add", add, METH_O, NULL },
    { "remove", remove_item, METH_O, NULL },
    { "count", count, METH_O, NULL },
    { "update", update, METH_O, NULL },
    { "contains_many", contains_many, METH_O, NULL },
    { "unite", unite, METH_O, NULL },
    { "info", info, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "Bloom(capacity, error, cell_bits): a filter." },
    { Py_tp_new, make },
    { Py_tp_dealloc, drop },
    { Py_tp_methods, methods },
    { Py_sq_contains, contains },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "twinsift._core.Bloom",
    .basicsize = sizeof(struct bloom),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool bloom_setup(PyObject *module)
{
    bloom_type = type_add(module, &spec);
    return bloom_type != NULL;
}

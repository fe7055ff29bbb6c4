/* array.c — arrays of numbers that offer their memory through the buffer protocol. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *format;
    size_t size;
} kinds[ARRAY_KINDS] = {
    [ARRAY_BOOL] = { "?", sizeof(bool) },       [ARRAY_UINT8] = { "B", sizeof(uint8_t) },
    [ARRAY_UINT32] = { "I", sizeof(uint32_t) }, [ARRAY_UINT64] = { "Q", sizeof(uint64_t) },
    [ARRAY_DOUBLE] = { "d", sizeof(double) },
};

static PyTypeObject *array_type;

size_t array_item_size(enum array_kind kind)
{
    return kinds[kind].size;
}

struct array *array_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, array_type))
        return (struct array *)object;
    PyErr_SetString(PyExc_TypeError, "expected an array of twinsift");
    return NULL;
}

/* ---- making them ---- */

PyObject *array_new(enum array_kind kind, void *data, size_t rows, size_t columns)
{
    struct array *array = PyObject_New(struct array, array_type);
    if (!array) {
        free(data);
        return NULL;
    }
    Py_ssize_t size = (Py_ssize_t)kinds[kind].size, width = columns ? (Py_ssize_t)columns * size : size;
    array->owner = NULL;
    array->data = data;
    array->kind = kind;
    array->dimensions = columns ? 2 : 1;
    array->shape[0] = (Py_ssize_t)rows;
    array->shape[1] = (Py_ssize_t)columns;
    array->strides[0] = width;
    array->strides[1] = size;
    return (PyObject *)array;
}

PyObject *array_create(enum array_kind kind, void **data, size_t rows, size_t columns)
{
    size_t each = kinds[kind].size * (columns ? columns : 1);
    *data = calloc(rows ? rows : 1, each);
    return *data ? array_new(kind, *data, rows, columns) : PyErr_NoMemory();
}

/* Array(other): the same numbers, for classes derived from it. */
static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *other = NULL;
    if (keywords && PyDict_Size(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "no keywords are expected");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O", &other))
        return NULL;
    struct array *source = array_of(other);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct array *array = source ? (struct array *)allocate(type, 0) : NULL;
    if (!array)
        return NULL;
    PyObject base = array->ob_base;
    *array = *source;
    array->ob_base = base;
    array->owner = Py_NewRef(source->owner ? source->owner : other);
    return (PyObject *)array;
}

static void drop(PyObject *self)
{
    struct array *array = (struct array *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (array->owner)
        Py_DECREF(array->owner);
    else
        free(array->data);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- the buffer protocol ---- */

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct array *array = (struct array *)self;
    if (flags & PyBUF_WRITABLE) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "results of twinsift are read-only");
        return -1;
    }
    *view = (Py_buffer){ .buf = array->data,
                         .obj = Py_NewRef(self),
                         .len = array->shape[0] * array->strides[0],
                         .itemsize = (Py_ssize_t)kinds[array->kind].size,
                         .readonly = 1,
                         .ndim = array->dimensions,
                         .format = flags & PyBUF_FORMAT ? (char *)kinds[array->kind].format : NULL,
                         .shape = flags & PyBUF_ND ? array->shape : NULL,
                         .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? array->strides : NULL };
    return 0;
}

static Py_ssize_t length(PyObject *self)
{
    return ((struct array *)self)->shape[0];
}

static PyType_Slot slots[] = {
    { Py_tp_doc, "A read-only array of numbers: a buffer." },
    { Py_tp_new, make },
    { Py_tp_dealloc, drop },
    { Py_bf_getbuffer, get_buffer },
    { Py_sq_length, length },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "twinsift._core.Array",
    .basicsize = sizeof(struct array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool array_setup(PyObject *module)
{
    array_type = type_add(module, &spec);
    return array_type != NULL;
}

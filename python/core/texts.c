/* texts.c — texts come in: from any iterable of str, bytes and None, or from Arrow (arrow_in.c).
 *
 * An iterable becomes a tuple first, so that nothing can change while it is read without the GIL. Nothing else is
 * copied: each text borrows from its object, which the tuple holds. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_AT_ONCE = 1 << 20 }; /* items between looks for signals */

struct texts_object {
    PyObject ob_base;
    struct texts texts;
};

static PyTypeObject *texts_type;

struct texts *texts_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, texts_type))
        return &((struct texts_object *)object)->texts;
    PyErr_SetString(PyExc_TypeError, "expected Texts");
    return NULL;
}

bool texts_reserve(struct texts *texts, size_t more)
{
    if (more <= texts->capacity - texts->count)
        return true;
    size_t wanted = texts->count + more;
    wanted = wanted > texts->capacity + texts->capacity / 2 ? wanted : texts->capacity + texts->capacity / 2;
    twin_text *items = realloc(texts->items, wanted * sizeof *items);
    if (!items) {
        PyErr_NoMemory();
        return false;
    }
    texts->items = items;
    texts->capacity = wanted;
    return true;
}

bool texts_append(struct texts *texts, twin_text text)
{
    if (!texts_reserve(texts, 1))
        return false;
    texts->items[texts->count++] = text;
    return true;
}

/* ---- one item ---- */

/* The bytes of a str or bytes. False for anything else, with an exception only where making UTF-8 has failed. */
static bool borrow(twin_text *out, PyObject *object)
{
    Py_ssize_t length = 0;
    const char *bytes = NULL;
    if (PyUnicode_Check(object))
        bytes = PyUnicode_AsUTF8AndSize(object, &length);
    else if (PyBytes_Check(object) && PyBytes_AsStringAndSize(object, (char **)&bytes, &length) != 0)
        bytes = NULL;
    *out = (twin_text){ bytes ? bytes : "", (size_t)length };
    return bytes != NULL;
}

/* What borrow() has refused, by name. */
static bool refuse(PyObject *object, const char *what)
{
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_ValueError, "%s has a lone surrogate, which is not text", what);
        }
        return false;
    }
    PyObject *name = PyType_GetName(Py_TYPE(object));
    if (name)
        PyErr_Format(PyExc_TypeError, "%s must be str or bytes, not %U", what, name);
    Py_XDECREF(name);
    return false;
}

bool text_of(twin_text *out, PyObject *object, const char *what)
{
    return borrow(out, object) || refuse(object, what);
}

/* None, and what pandas puts in its place: NaN and its own NA. */
static bool is_missing(PyObject *object)
{
    if (object == Py_None)
        return true;
    if (PyFloat_Check(object)) {
        double value = PyFloat_AsDouble(object);
        return value != value;
    }
    PyObject *name = PyType_GetName(Py_TYPE(object));
    bool missing = name && PyUnicode_CompareWithASCIIString(name, "NAType") == 0;
    Py_XDECREF(name);
    return missing;
}

static bool append_object(struct texts *texts, PyObject *object, const char *what)
{
    twin_text text;
    if (!borrow(&text, object) && (PyErr_Occurred() || !is_missing(object))) {
        char name[64];
        PyOS_snprintf(name, sizeof name, "%s %zu", what, texts->count);
        return refuse(object, name);
    }
    return texts_append(texts, text);
}

/* ---- the object ---- */

static bool is_iterable(PyObject *object)
{
    return PyObject_HasAttrString(object, "__iter__") || PySequence_Check(object);
}

static bool read_items(struct texts *texts, PyObject *object, const char *what)
{
    if (!is_iterable(object)) {
        PyObject *name = PyType_GetName(Py_TYPE(object));
        if (name)
            PyErr_Format(PyExc_TypeError, "expected many %ss, such as a list or an Arrow array, not %U", what, name);
        Py_XDECREF(name);
        return false;
    }
    PyObject *items = PySequence_Tuple(object);
    if (!items)
        return false;
    texts->owner = items;
    Py_ssize_t count = PyTuple_Size(items);
    bool good = texts_reserve(texts, (size_t)count);
    for (Py_ssize_t i = 0; good && i < count; i++)
        good =
            append_object(texts, PyTuple_GetItem(items, i), what) && (i % ITEMS_AT_ONCE || PyErr_CheckSignals() == 0);
    return good;
}

static bool read_object(struct texts *texts, PyObject *object, const char *column, const char *what)
{
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object)) {
        PyErr_Format(PyExc_TypeError, "expected many %ss, such as a list, not a single one", what);
        return false;
    }
    int arrow = arrow_read(texts, object, column);
    return arrow != 0 ? arrow > 0 : read_items(texts, object, what);
}

static void drop(PyObject *self)
{
    struct texts *texts = &((struct texts_object *)self)->texts;
    PyTypeObject *type = Py_TYPE(self);
    arrow_release(texts);
    free(texts->items);
    Py_XDECREF(texts->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = { "texts", "column", "what", NULL };
    PyObject *object;
    const char *column = "text", *what = "text";
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|ss", names, &object, &column, &what))
        return NULL;
    PyObject *self = ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self || read_object(&((struct texts_object *)self)->texts, object, column, what))
        return self;
    Py_DECREF(self);
    return NULL;
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((struct texts_object *)self)->texts.count;
}

/* A text, with U+FFFD in place of what is not UTF-8. */
static PyObject *item(PyObject *self, Py_ssize_t number)
{
    struct texts *texts = &((struct texts_object *)self)->texts;
    if (number < 0 || (size_t)number >= texts->count) {
        PyErr_SetString(PyExc_IndexError, "there is no such text");
        return NULL;
    }
    twin_text text = texts->items[number];
    return PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.length, "replace");
}

static PyType_Slot slots[] = {
    { Py_tp_doc, "Texts(texts, column='text', what='text'): texts that are ready to be read without the GIL." },
    { Py_tp_new, make },
    { Py_tp_dealloc, drop },
    { Py_sq_length, length },
    { Py_sq_item, item },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "twinsift._core.Texts",
    .basicsize = sizeof(struct texts_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool texts_setup(PyObject *module)
{
    texts_type = type_add(module, &spec);
    return texts_type != NULL;
}

/* ---- as an input of the library ---- */

static twin_status get(void *context, uint64_t number, twin_memory_document *out)
{
    const struct texts_source *source = context;
    if (!run_goes_on(source->run))
        return TWIN_ESTOPPED;
    out->text = source->texts->items[source->order ? source->order[number] : number];
    return TWIN_OK;
}

twin_status texts_open(twin_input **out, struct texts_source *source, twin_error *error)
{
    twin_memory_source memory = { source->texts->count, get, source };
    return twin_input_from_callback(out, memory, (twin_input_options){ .format = TWIN_INPUT_DOCUMENTS }, error);
}

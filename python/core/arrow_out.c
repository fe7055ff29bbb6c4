/* arrow_out.c — arrays leave as Arrow: through capsules, without a copy, and without pyarrow.
 *
 * What is exported is described by a `table`: arrays and their names. Each array of the interface holds its own
 * reference to the Python object whose memory it shows, since a consumer may keep a child longer than its parent. */
#include "arrow_abi.h"
#include "core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 8, NAME_BYTES = 32 };

struct table {
    size_t count;
    bool is_struct; /* otherwise the only array itself */
    struct array *arrays[MOST_COLUMNS];
    char names[MOST_COLUMNS][NAME_BYTES];
};

static const char *const formats[ARRAY_KINDS] = {
    [ARRAY_BOOL] = "b", [ARRAY_UINT8] = "C", [ARRAY_UINT32] = "I", [ARRAY_UINT64] = "L", [ARRAY_DOUBLE] = "g"
};

/* ---- schemas ---- */

struct schema_node {
    char format[24], name[NAME_BYTES];
    struct ArrowSchema *children[MOST_COLUMNS];
};

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->private_data);
    schema->release = NULL;
}

static bool make_schema(struct ArrowSchema *out, const char *format, const char *name)
{
    struct schema_node *node = calloc(1, sizeof *node);
    if (!node)
        return false;
    snprintf(node->format, sizeof node->format, "%s", format);
    snprintf(node->name, sizeof node->name, "%s", name);
    *out = (struct ArrowSchema){ .format = node->format,
                                 .name = node->name,
                                 .children = node->children,
                                 .release = release_schema,
                                 .private_data = node };
    return true;
}

static struct ArrowSchema *add_schema_child(struct ArrowSchema *parent, const char *format, const char *name)
{
    struct ArrowSchema *child = malloc(sizeof *child);
    if (!child || !make_schema(child, format, name)) {
        free(child);
        return NULL;
    }
    parent->children[parent->n_children++] = child;
    return child;
}

static bool describe_array(struct ArrowSchema *out, const struct array *array, const char *name)
{
    char format[24];
    if (array->dimensions == 1)
        return make_schema(out, formats[array->kind], name);
    snprintf(format, sizeof format, "+w:%zd", array->shape[1]);
    return make_schema(out, format, name) && add_schema_child(out, formats[array->kind], "item");
}

static bool describe_table(struct ArrowSchema *out, const struct table *table)
{
    out->release = NULL;
    if (!table->is_struct)
        return describe_array(out, table->arrays[0], "");
    bool good = make_schema(out, "+s", "");
    for (size_t i = 0; good && i < table->count; i++)
        good = add_schema_child(out, formats[table->arrays[i]->kind], table->names[i]) != NULL;
    return good;
}

/* ---- arrays ---- */

struct array_node {
    PyObject *owner; /* of the memory shown; NULL: none */
    unsigned char *bits;
    const void *buffers[2];
    struct ArrowArray *children[MOST_COLUMNS];
};

static void release_array(struct ArrowArray *array)
{
    struct array_node *node = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (node->children[i]->release)
            node->children[i]->release(node->children[i]);
        free(node->children[i]);
    }
    if (node->owner && Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(node->owner);
        PyGILState_Release(state);
    }
    free(node->bits);
    free(node);
    array->release = NULL;
}

/* An array without buffers but for the validity, which is absent. */
static struct array_node *make_array(struct ArrowArray *out, size_t length)
{
    struct array_node *node = calloc(1, sizeof *node);
    if (node)
        *out = (struct ArrowArray){ .length = (int64_t)length,
                                    .n_buffers = 1,
                                    .buffers = node->buffers,
                                    .children = node->children,
                                    .release = release_array,
                                    .private_data = node };
    return node;
}

/* Arrow's booleans are bits. */
static bool pack_bits(struct array_node *node, const bool *values, size_t count)
{
    node->bits = calloc(count / 8 + 1, 1);
    if (!node->bits)
        return false;
    for (size_t i = 0; i < count; i++)
        node->bits[i / 8] |= (unsigned char)(values[i] << (i % 8));
    node->buffers[1] = node->bits;
    return true;
}

static bool show_numbers(struct ArrowArray *out, struct array *array)
{
    size_t count = (size_t)array->shape[0] * (array->dimensions == 2 ? (size_t)array->shape[1] : 1);
    struct array_node *node = make_array(out, count);
    if (!node)
        return false;
    out->n_buffers = 2;
    if (array->kind == ARRAY_BOOL)
        return pack_bits(node, array->data, count);
    node->buffers[1] = array->data;
    node->owner = Py_NewRef((PyObject *)array);
    return true;
}

static bool add_array_child(struct ArrowArray *parent, struct array *array)
{
    struct ArrowArray *child = calloc(1, sizeof *child);
    if (!child)
        return false;
    parent->children[parent->n_children++] = child;
    return show_numbers(child, array);
}

static bool show_table(struct ArrowArray *out, const struct table *table)
{
    struct array *first = table->arrays[0];
    out->release = NULL;
    if (!table->is_struct && first->dimensions == 1)
        return show_numbers(out, first);
    const struct array_node *node = make_array(out, (size_t)first->shape[0]); /* which `out` owns */
    bool good = node != NULL;
    for (size_t i = 0; good && i < table->count; i++)
        good = add_array_child(out, table->arrays[i]);
    return good;
}

/* ---- capsules ---- */

static void drop_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release)
        schema->release(schema);
    free(schema);
}

static void drop_array(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release)
        array->release(array);
    free(array);
}

static PyObject *schema_capsule(const struct table *table)
{
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    if (schema && describe_table(schema, table))
        return PyCapsule_New(schema, "arrow_schema", drop_schema);
    if (schema && schema->release)
        schema->release(schema);
    free(schema);
    return PyErr_NoMemory();
}

static PyObject *array_capsule(const struct table *table)
{
    struct ArrowArray *array = calloc(1, sizeof *array);
    if (array && show_table(array, table))
        return PyCapsule_New(array, "arrow_array", drop_array);
    if (array && array->release)
        array->release(array);
    free(array);
    return PyErr_NoMemory();
}

/* The arguments (names or None, arrays); the arrays are borrowed. */
static bool read_table(struct table *out, PyObject *args)
{
    PyObject *names, *arrays;
    if (!PyArg_ParseTuple(args, "OO!", &names, &PyTuple_Type, &arrays))
        return false;
    *out = (struct table){ .count = (size_t)PyTuple_Size(arrays), .is_struct = names != Py_None };
    if (out->count == 0 || out->count > MOST_COLUMNS) {
        PyErr_SetString(PyExc_ValueError, "too many arrays, or none");
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        out->arrays[i] = array_of(PyTuple_GetItem(arrays, (Py_ssize_t)i));
        PyObject *name = out->is_struct ? PyTuple_GetItem(names, (Py_ssize_t)i) : NULL;
        const char *bytes = name ? PyUnicode_AsUTF8AndSize(name, NULL) : "";
        if (!out->arrays[i] || !bytes)
            return false;
        snprintf(out->names[i], NAME_BYTES, "%s", bytes);
    }
    return true;
}

PyObject *py_arrow_array(PyObject *module, PyObject *args)
{
    (void)module;
    struct table table;
    if (!read_table(&table, args))
        return NULL;
    PyObject *schema = schema_capsule(&table), *array = schema ? array_capsule(&table) : NULL;
    if (!array) {
        Py_XDECREF(schema);
        return NULL;
    }
    return Py_BuildValue("(NN)", schema, array);
}

/* ---- streams ---- */

struct stream {
    struct table table; /* holds references */
    bool is_done;
};

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct stream *own = stream->private_data;
    return describe_table(out, &own->table) ? 0 : ENOMEM;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct stream *own = stream->private_data;
    *out = (struct ArrowArray){ .release = NULL };
    if (own->is_done)
        return 0;
    own->is_done = true;
    PyGILState_STATE state = PyGILState_Ensure();
    bool good = show_table(out, &own->table);
    PyGILState_Release(state);
    return good ? 0 : ENOMEM;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
    struct stream *own = stream->private_data;
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        for (size_t i = 0; i < own->table.count; i++)
            Py_DECREF((PyObject *)own->table.arrays[i]);
        PyGILState_Release(state);
    }
    free(own);
    stream->release = NULL;
}

static void drop_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release)
        stream->release(stream);
    free(stream);
}

PyObject *py_arrow_stream(PyObject *module, PyObject *args)
{
    (void)module;
    struct table table;
    if (!read_table(&table, args))
        return NULL;
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    struct stream *own = malloc(sizeof *own);
    if (!stream || !own) {
        free(stream);
        free(own);
        return PyErr_NoMemory();
    }
    *own = (struct stream){ .table = table };
    for (size_t i = 0; i < table.count; i++)
        Py_INCREF((PyObject *)table.arrays[i]);
    *stream = (struct ArrowArrayStream){ stream_schema, stream_next, stream_error, stream_release, own };
    return PyCapsule_New(stream, "arrow_array_stream", drop_stream);
}

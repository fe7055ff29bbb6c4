/* arrow_in.c — texts come in as Arrow, through capsules, without a copy.
 *
 * An object is asked for a stream first and for a single array then. The arrays are kept until the texts are freed, so
 * that each text can borrow its bytes. What the interface cannot tell is how long a buffer is; what it can, is checked:
 * offsets that decrease or are negative, buffers that are missing, children that are shorter than their parent. */
#include "arrow_abi.h"
#include "core.h"

#include <stdlib.h>
#include <string.h>

struct arrow_chunk {
    struct ArrowArray array;
};

/* How the values of a column are stored. */
enum layout { LAYOUT_OFFSETS32, LAYOUT_OFFSETS64, LAYOUT_VIEWS, LAYOUT_FIXED, LAYOUT_NULL };

/* A column of texts: which child of the arrays it is, and its types. */
struct column {
    const char *name;
    int64_t child; /* -1: the arrays themselves */
    enum layout layout;
    int64_t width;     /* of FIXED */
    const char *index; /* of a dictionary: the format of its indices; NULL: no dictionary */
};

/* A part of an array that is read. */
struct slice {
    const struct ArrowArray *array;
    int64_t offset, length;
};

static bool refuse(const char *format)
{
    PyErr_Format(PyExc_TypeError,
                 "an Arrow column of format \"%s\" is not text: expected strings, bytes or a dictionary of these",
                 format);
    return false;
}

static bool damaged(const char *what)
{
    PyErr_Format(PyExc_ValueError, "an Arrow array is damaged: %s", what);
    return false;
}

/* ---- types ---- */

static bool read_layout(struct column *column, const char *format)
{
    static const struct {
        const char *format;
        enum layout layout;
    } known[] = { { "u", LAYOUT_OFFSETS32 }, { "z", LAYOUT_OFFSETS32 }, { "U", LAYOUT_OFFSETS64 },
                  { "Z", LAYOUT_OFFSETS64 }, { "vu", LAYOUT_VIEWS },    { "vz", LAYOUT_VIEWS },
                  { "n", LAYOUT_NULL } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(format, known[i].format) == 0) {
            column->layout = known[i].layout;
            return true;
        }
    if (strncmp(format, "w:", 2) != 0)
        return refuse(format);
    column->layout = LAYOUT_FIXED;
    column->width = strtoll(format + 2, NULL, 10);
    return column->width >= 0 ? true : refuse(format);
}

static bool read_value_type(struct column *column, const struct ArrowSchema *schema)
{
    if (!schema->dictionary)
        return read_layout(column, schema->format);
    column->index = schema->format;
    if (strlen(schema->format) != 1 || !strchr("cCsSiIlL", schema->format[0]))
        return refuse(schema->format);
    return schema->dictionary->dictionary ? refuse("dictionary of dictionaries")
                                          : read_layout(column, schema->dictionary->format);
}

static bool no_column(const struct column *column, const struct ArrowSchema *schema)
{
    PyObject *names = PyList_New(0), *text = NULL, *comma = PyUnicode_FromString(", ");
    for (int64_t i = 0; names && i < schema->n_children; i++) {
        PyObject *name = PyUnicode_FromString(schema->children[i]->name ? schema->children[i]->name : "");
        if (!name || PyList_Append(names, name) != 0)
            PyErr_Clear();
        Py_XDECREF(name);
    }
    text = names && comma ? PyUnicode_Join(comma, names) : NULL;
    if (text)
        PyErr_Format(PyExc_ValueError, "the table has no column \"%s\"; it has: %U", column->name, text);
    Py_XDECREF(names);
    Py_XDECREF(comma);
    Py_XDECREF(text);
    return false;
}

/* Of a struct, which is what a table is, the column is taken. */
static bool read_schema(struct column *column, const struct ArrowSchema *schema)
{
    column->child = -1;
    if (strcmp(schema->format, "+s") != 0)
        return read_value_type(column, schema);
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->name && strcmp(schema->children[i]->name, column->name) == 0) {
            column->child = i;
            return read_value_type(column, schema->children[i]);
        }
    return no_column(column, schema);
}

/* ---- values ---- */

static bool is_valid(const struct ArrowArray *array, int64_t row)
{
    const unsigned char *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
    return !bits || array->null_count == 0 || (bits[row / 8] >> (row % 8) & 1);
}

static const void *buffer_of(const struct ArrowArray *array, int64_t number)
{
    return number < array->n_buffers ? array->buffers[number] : NULL;
}

/* Bytes begin .. end of the values. */
static bool stretch(twin_text *out, const struct ArrowArray *array, int64_t begin, int64_t end)
{
    const char *bytes = buffer_of(array, 2);
    if (begin < 0 || end < begin)
        return damaged("its offsets decrease");
    if (!bytes && end > begin)
        return damaged("a buffer is missing");
    *out = (twin_text){ bytes ? bytes + begin : "", (size_t)(end - begin) };
    return true;
}

/* A view: four bytes of length, then twelve of text, or four of prefix, the number of a buffer, and an offset. */
static bool view(twin_text *out, const struct ArrowArray *array, int64_t row)
{
    enum { VIEW = 16, INLINE = 12 };
    const char *bytes = (const char *)array->buffers[1] + row * VIEW;
    int32_t length, number, offset;
    memcpy(&length, bytes, 4);
    if (length < 0)
        return damaged("a view has a negative length");
    if (length <= INLINE) {
        *out = (twin_text){ bytes + 4, (size_t)length };
        return true;
    }
    memcpy(&number, bytes + 8, 4);
    memcpy(&offset, bytes + 12, 4);
    /* The last buffer has the sizes of those between. */
    if (number < 0 || number >= array->n_buffers - 3 || offset < 0)
        return damaged("a view points to no buffer");
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    if (!sizes || (int64_t)offset + length > sizes[number])
        return damaged("a view ends behind its buffer");
    *out = (twin_text){ (const char *)array->buffers[2 + number] + offset, (size_t)length };
    return true;
}

static bool value(twin_text *out, const struct column *column, const struct ArrowArray *array, int64_t row)
{
    const void *buffer = buffer_of(array, 1);
    *out = (twin_text){ "", 0 };
    if (column->layout == LAYOUT_NULL || !is_valid(array, row))
        return true;
    if (!buffer)
        return column->layout == LAYOUT_FIXED && column->width == 0 ? true : damaged("a buffer is missing");
    const int32_t *offsets = buffer;
    const int64_t *wide = buffer;
    switch (column->layout) {
    case LAYOUT_OFFSETS32: return stretch(out, array, offsets[row], offsets[row + 1]);
    case LAYOUT_OFFSETS64: return stretch(out, array, wide[row], wide[row + 1]);
    case LAYOUT_VIEWS: return view(out, array, row);
    default: *out = (twin_text){ (const char *)buffer + row * column->width, (size_t)column->width }; return true;
    }
}

static int64_t index_at(const void *indices, const char *format, int64_t row)
{
    switch (format[0]) {
    case 'c': return ((const int8_t *)indices)[row];
    case 'C': return ((const uint8_t *)indices)[row];
    case 's': return ((const int16_t *)indices)[row];
    case 'S': return ((const uint16_t *)indices)[row];
    case 'i': return ((const int32_t *)indices)[row];
    case 'I': return ((const uint32_t *)indices)[row];
    default: return ((const int64_t *)indices)[row]; /* above 2^63 it is negative, and refused */
    }
}

static bool dictionary_value(twin_text *out, const struct column *column, const struct ArrowArray *array, int64_t row)
{
    const struct ArrowArray *words = array->dictionary;
    *out = (twin_text){ "", 0 };
    if (!is_valid(array, row))
        return true;
    if (!words || !buffer_of(array, 1))
        return damaged("a dictionary is missing");
    int64_t index = index_at(array->buffers[1], column->index, row);
    if (index < 0 || index >= words->length)
        return damaged("an index is outside its dictionary");
    return value(out, column, words, words->offset + index);
}

/* Whether row `row` of the struct itself is a value; a null struct has no text. */
static bool row_is_valid(const struct slice *outer, int64_t row)
{
    return !outer->array || is_valid(outer->array, outer->offset + row);
}

static bool append_slice(struct texts *texts, const struct column *column, struct slice slice, struct slice outer)
{
    if (!texts_reserve(texts, (size_t)slice.length))
        return false;
    for (int64_t i = 0; i < slice.length; i++) {
        int64_t row = slice.offset + i;
        twin_text text = { "", 0 };
        bool good = !row_is_valid(&outer, i) || (column->index ? dictionary_value(&text, column, slice.array, row)
                                                               : value(&text, column, slice.array, row));
        if (!good)
            return false;
        texts->items[texts->count++] = text;
    }
    return true;
}

static bool append_array(struct texts *texts, const struct column *column, const struct ArrowArray *array)
{
    struct slice slice = { array, array->offset, array->length }, outer = { 0 };
    if (array->length < 0 || array->offset < 0)
        return damaged("its length is negative");
    if (column->child >= 0) {
        const struct ArrowArray *child = column->child < array->n_children ? array->children[column->child] : NULL;
        if (!child || child->length < array->offset + array->length)
            return damaged("a column is shorter than the table");
        outer = slice;
        slice = (struct slice){ child, child->offset + array->offset, array->length };
    }
    return append_slice(texts, column, slice, outer);
}

/* ---- arrays and streams ---- */

/* Whoever made the arrays may run Python code when they are released, which must not meet, or lose, an exception that is
 * on its way. */
struct raised {
    PyObject *type, *value, *trace;
};

static struct raised put_aside(void)
{
    struct raised raised;
    PyErr_Fetch(&raised.type, &raised.value, &raised.trace);
    return raised;
}

static void bring_back(struct raised raised)
{
    PyErr_Restore(raised.type, raised.value, raised.trace);
}

/* Takes over an array, which is released with the texts, also if this fails. */
static bool take_array(struct texts *texts, const struct column *column, struct ArrowArray *array)
{
    struct arrow_chunk *chunks = realloc(texts->chunks, (texts->chunk_count + 1) * sizeof *chunks);
    if (!chunks) {
        array->release(array);
        PyErr_NoMemory();
        return false;
    }
    texts->chunks = chunks;
    chunks[texts->chunk_count].array = *array;
    array->release = NULL;
    return append_array(texts, column, &chunks[texts->chunk_count++].array);
}

void arrow_release(struct texts *texts)
{
    struct raised raised = put_aside();
    for (size_t i = 0; i < texts->chunk_count; i++)
        if (texts->chunks[i].array.release)
            texts->chunks[i].array.release(&texts->chunks[i].array);
    free(texts->chunks);
    texts->chunks = NULL;
    texts->chunk_count = 0;
    bring_back(raised);
}

static bool stream_failed(struct ArrowArrayStream *stream)
{
    const char *why = stream->get_last_error(stream);
    if (!PyErr_Occurred())
        raise_error("the Arrow stream failed: %s", why ? why : "it does not say why");
    return false;
}

static bool read_stream(struct texts *texts, struct column *column, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema = { .release = NULL };
    if (stream->get_schema(stream, &schema) != 0)
        return stream_failed(stream);
    bool good = read_schema(column, &schema), more = good;
    while (more) {
        struct ArrowArray array = { .release = NULL };
        int status;
        /* Whoever makes the arrays may use threads that need the GIL. */
        Py_BEGIN_ALLOW_THREADS
        status = stream->get_next(stream, &array);
        Py_END_ALLOW_THREADS
        more = status == 0 && array.release;
        if (status != 0)
            good = stream_failed(stream);
        else if (more)
            more = good = take_array(texts, column, &array) && PyErr_CheckSignals() == 0;
    }
    struct raised raised = put_aside();
    schema.release(&schema);
    bring_back(raised);
    return good;
}

static int read_stream_capsule(struct texts *texts, struct column *column, PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream)
        return -1;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream was read before, and can be read only once");
        return -1;
    }
    bool good = read_stream(texts, column, stream);
    struct raised raised = put_aside();
    stream->release(stream);
    bring_back(raised);
    return good ? 1 : -1;
}

static int read_array_capsules(struct texts *texts, struct column *column, PyObject *pair)
{
    PyObject *first, *second;
    if (!PyArg_ParseTuple(pair, "OO;__arrow_c_array__() must return two capsules", &first, &second))
        return -1;
    struct ArrowSchema *schema = PyCapsule_GetPointer(first, "arrow_schema");
    struct ArrowArray *array = schema ? PyCapsule_GetPointer(second, "arrow_array") : NULL;
    if (!array)
        return -1;
    if (!schema->release || !array->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow array was read before, and can be read only once");
        return -1;
    }
    return read_schema(column, schema) && take_array(texts, column, array) ? 1 : -1;
}

/* Calls a method without arguments; NULL without an exception if the object has none of that name. */
static PyObject *call(PyObject *object, const char *method)
{
    PyObject *function = PyObject_GetAttrString(object, method);
    if (!function) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        return NULL;
    }
    PyObject *answer = PyObject_CallObject(function, NULL);
    Py_DECREF(function);
    return answer;
}

int arrow_read(struct texts *texts, PyObject *object, const char *name)
{
    struct column column = { .name = name };
    PyObject *answer = call(object, "__arrow_c_stream__");
    if (answer || PyErr_Occurred()) {
        int done = answer ? read_stream_capsule(texts, &column, answer) : -1;
        Py_XDECREF(answer);
        return done;
    }
    answer = call(object, "__arrow_c_array__");
    int done = answer ? read_array_capsules(texts, &column, answer) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(answer);
    return done;
}

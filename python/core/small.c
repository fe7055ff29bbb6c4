/* small.c — two texts, and plans. */
#include "core.h"

#include <string.h>

/* Two texts as arguments, and whatever else the format says. */
static bool two_texts(twin_text *a, twin_text *b, PyObject *first, PyObject *second)
{
    return text_of(a, first, "a") && text_of(b, second, "b");
}

static twin_status similarity_of(double *out, const struct scheme *scheme, twin_text a, twin_text b)
{
    twin_signer *signer = NULL;
    twin_scratch *scratches[2];
    twin_set sets[2];
    memset(scratches, 0, sizeof scratches);
    twin_status status = twin_signer_create(&signer, &scheme->scheme, NULL);
    if (status == TWIN_OK)
        status = twin_signer_text(NULL, &sets[0], signer, &scratches[0], a);
    if (status == TWIN_OK)
        status = twin_signer_text(NULL, &sets[1], signer, &scratches[1], b);
    if (status == TWIN_OK)
        *out = twin_set_similarity(sets[0], sets[1], scheme->scheme.measure);
    twin_scratch_free(scratches[0]);
    twin_scratch_free(scratches[1]);
    twin_signer_free(signer);
    return status;
}

/* similarity(a, b, scheme) */
PyObject *py_similarity(PyObject *module, PyObject *args)
{
    (void)module;
    struct scheme scheme = { 0 };
    PyObject *first, *second;
    twin_text a, b;
    double similarity = 0;
    twin_status status = TWIN_OK;
    if (!PyArg_ParseTuple(args, "OOO&", &first, &second, scheme_convert, &scheme))
        return NULL;
    bool good = two_texts(&a, &b, first, second);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = similarity_of(&similarity, &scheme, a, b);
        Py_END_ALLOW_THREADS
    }
    scheme_clear(&scheme);
    if (!good)
        return NULL;
    return status == TWIN_OK ? PyFloat_FromDouble(similarity) : raise_status(status, NULL, NULL);
}

/* A comparison by edits, which takes long for long texts. */
struct edits {
    twin_text a, b;
    twin_normal normal; /* of a ratio */
    size_t most, distance;
    double ratio;
};

static twin_status distance_of(void *context)
{
    struct edits *edits = context;
    twin_scratch *scratch = NULL;
    twin_status status =
        twin_edit_distance(&edits->distance, &scratch, edits->a, edits->b, TWIN_EDIT_CHARS, edits->most);
    twin_scratch_free(scratch);
    return status;
}

static twin_status ratio_of(void *context)
{
    struct edits *edits = context;
    twin_buffer texts[2] = { { 0 }, { 0 } };
    twin_scratch *scratch = NULL;
    twin_status status = twin_text_normalise(&texts[0], NULL, edits->a, edits->normal);
    if (status == TWIN_OK)
        status = twin_text_normalise(&texts[1], NULL, edits->b, edits->normal);
    if (status == TWIN_OK)
        status = twin_edit_ratio(&edits->ratio, &scratch, (twin_text){ texts[0].bytes, texts[0].length },
                                 (twin_text){ texts[1].bytes, texts[1].length }, TWIN_EDIT_CHARS, 0);
    twin_scratch_free(scratch);
    twin_buffer_clear(&texts[0]);
    twin_buffer_clear(&texts[1]);
    return status;
}

/* Without the GIL; false with an exception. */
static bool compare(struct edits *edits, twin_status (*call)(void *context))
{
    struct run run;
    run_begin(&run, NULL);
    twin_status status = twin_progress_watch(run_progress(&run), call, edits);
    if (run_end(&run) && status == TWIN_OK)
        return true;
    raise_status(status, NULL, NULL);
    return false;
}

/* edit_distance(a, b, limit): None if it is more; a negative limit is none. */
PyObject *py_edit_distance(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *first, *second;
    Py_ssize_t limit;
    struct edits edits = { .distance = 0 };
    if (!PyArg_ParseTuple(args, "OOn", &first, &second, &limit) || !two_texts(&edits.a, &edits.b, first, second))
        return NULL;
    edits.most = limit < 0 ? TWIN_EDIT_MAX_LENGTH : (size_t)limit;
    if (!compare(&edits, distance_of))
        return NULL;
    return edits.distance == TWIN_EDIT_FAR ? Py_NewRef(Py_None) : PyLong_FromSize_t(edits.distance);
}

/* edit_ratio(a, b, normal): of the normalised texts. */
PyObject *py_edit_ratio(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *first, *second;
    const char *name;
    struct edits edits = { .ratio = 0 };
    if (!PyArg_ParseTuple(args, "OOs", &first, &second, &name) || !two_texts(&edits.a, &edits.b, first, second))
        return NULL;
    int normal = twin_value_of(TWIN_NAMES_NORMAL, name);
    if (normal < 0)
        return raise_status(TWIN_EINVAL, NULL, NULL);
    edits.normal = (twin_normal)normal;
    return compare(&edits, ratio_of) ? PyFloat_FromDouble(edits.ratio) : NULL;
}

static PyObject *span_text(twin_text text, uint32_t begin, uint32_t length)
{
    return PyUnicode_DecodeUTF8(text.bytes + begin, length, "replace");
}

static PyObject *span_object(const twin_edit_span *span, twin_text a, twin_text b)
{
    static const char *const kinds[] = { "=", "~", "+", "-" };
    PyObject *first = span_text(a, span->a_begin, span->a_length);
    PyObject *second = span_text(b, span->b_begin, span->b_length);
    return first && second ? Py_BuildValue("(sNN)", kinds[span->kind], first, second) : NULL;
}

/* diff(a, b): a list of (kind, text of a, text of b), word by word. */
PyObject *py_diff(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *first, *second;
    twin_text a, b;
    if (!PyArg_ParseTuple(args, "OO", &first, &second) || !two_texts(&a, &b, first, second))
        return NULL;
    twin_edit_spans spans = { 0 };
    twin_status status = twin_diff(&spans, a, b, (twin_diff_options){ .join = 1 });
    PyObject *list = status == TWIN_OK ? PyList_New(0) : raise_status(status, NULL, NULL);
    for (size_t i = 0; list && i < spans.count; i++) {
        PyObject *span = span_object(&spans.spans[i], a, b);
        if (!span || PyList_Append(list, span) != 0)
            Py_CLEAR(list);
        Py_XDECREF(span);
    }
    twin_edit_spans_clear(&spans);
    return list;
}

/* ---- plans ---- */

static PyObject *plan_object(twin_status status, twin_plan plan)
{
    return status == TWIN_OK ? Py_BuildValue("(nn)", (Py_ssize_t)plan.bands, (Py_ssize_t)plan.rows)
                             : raise_status(status, NULL, NULL);
}

/* plan(reject similarity, probability, accept similarity, probability, most slots): (bands, rows) */
PyObject *py_plan(PyObject *module, PyObject *args)
{
    (void)module;
    twin_plan_point reject, accept;
    Py_ssize_t most;
    twin_plan plan = { 0 };
    if (!PyArg_ParseTuple(args, "ddddn", &reject.similarity, &reject.probability, &accept.similarity,
                          &accept.probability, &most))
        return NULL;
    twin_status status = twin_plan_from_errors(&plan, reject, accept, (size_t)most);
    return plan_object(status, plan);
}

/* plan_slots(threshold, recall, slots): (bands, rows) */
PyObject *py_plan_slots(PyObject *module, PyObject *args)
{
    (void)module;
    twin_plan_point accept;
    Py_ssize_t slots;
    twin_plan plan = { 0 };
    if (!PyArg_ParseTuple(args, "ddn", &accept.similarity, &accept.probability, &slots))
        return NULL;
    twin_status status = twin_plan_from_slots(&plan, accept, slots < 0 ? 0 : (size_t)slots);
    return plan_object(status, plan);
}

/* plan_probability(bands, rows, similarity) */
PyObject *py_plan_probability(PyObject *module, PyObject *args)
{
    (void)module;
    Py_ssize_t bands, rows;
    double similarity;
    if (!PyArg_ParseTuple(args, "nnd", &bands, &rows, &similarity))
        return NULL;
    return PyFloat_FromDouble(twin_plan_probability((twin_plan){ (size_t)bands, (size_t)rows }, similarity));
}

/* mail.c — the mail filter. A model is used by one thread at a time, so each has a lock. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 1000 };

struct mail {
    PyObject ob_base;
    twin_mail *mail; /* NULL: closed */
    twin_message_reader *reader;
    PyThread_type_lock lock;
    PyObject *path;
};

/* ---- opening and closing ---- */

/* mail_create(path, keep messages, keep days, texts, replace) */
PyObject *py_mail_create(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *path = NULL;
    unsigned long long messages, days;
    int texts, replace;
    twin_error error = { 0 };
    if (!PyArg_ParseTuple(args, "O&KKpp", PyUnicode_FSConverter, &path, &messages, &days, &texts, &replace))
        return NULL;
    twin_mail_options options = { .keep_messages = messages, .keep_days = days, .without_texts = !texts };
    twin_status status = twin_message_available();
    const char *name = PyBytes_AsString(path);
    if (status == TWIN_OK) {
        Py_BEGIN_ALLOW_THREADS
        status = twin_mail_create(name, options, replace, &error);
        Py_END_ALLOW_THREADS
    }
    PyObject *result = status == TWIN_OK ? Py_NewRef(Py_None) : raise_status(status, &error, path);
    Py_DECREF(path);
    return result;
}

static twin_status open_mail(struct mail *self, bool write, twin_error *error)
{
    twin_status status = twin_message_available();
    if (status == TWIN_OK)
        status = twin_message_reader_create(&self->reader, (twin_message_options){ .max_bytes = 0 });
    const char *name = PyBytes_AsString(self->path);
    if (status == TWIN_OK) {
        Py_BEGIN_ALLOW_THREADS
        status = twin_mail_open(&self->mail, name, write ? TWIN_MAIL_WRITE : TWIN_MAIL_READ, error);
        Py_END_ALLOW_THREADS
    }
    return status;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = { "path", "write", NULL };
    PyObject *path = NULL;
    int write;
    twin_error error = { 0 };
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&p", names, PyUnicode_FSConverter, &path, &write))
        return NULL;
    struct mail *self = (struct mail *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        Py_DECREF(path);
        return NULL;
    }
    self->path = path;
    self->lock = PyThread_allocate_lock();
    twin_status status = self->lock ? open_mail(self, write, &error) : TWIN_ENOMEM;
    if (status == TWIN_OK)
        return (PyObject *)self;
    raise_status(status, &error, path);
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void drop(PyObject *object)
{
    struct mail *self = (struct mail *)object;
    PyTypeObject *type = Py_TYPE(object);
    twin_mail_close(self->mail);
    twin_message_reader_free(self->reader);
    if (self->lock)
        PyThread_free_lock(self->lock);
    Py_XDECREF(self->path);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *close_mail(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct mail *self = (struct mail *)object;
    lock_take(self->lock);
    twin_mail_close(self->mail);
    self->mail = NULL;
    PyThread_release_lock(self->lock);
    Py_RETURN_NONE;
}

/* ---- calls: what is done with a message, without the GIL ---- */

struct call {
    struct mail *self;
    const char *label;
    long long time;
    twin_mail_effect effect;
    twin_mail_verdict verdict;
    twin_mail_word *words;
    size_t word_count;
    twin_error error;
};

typedef twin_status action(struct call *call, const twin_message *message);

static twin_status learn(struct call *call, const twin_message *message)
{
    return twin_mail_learn(&call->effect, call->self->mail, message, call->label, call->time, &call->error);
}

static twin_status correct(struct call *call, const twin_message *message)
{
    return twin_mail_correct(&call->effect, call->self->mail, message, call->label, call->time, &call->error);
}

static twin_status forget(struct call *call, const twin_message *message)
{
    return twin_mail_forget(&call->effect, call->self->mail, message, &call->error);
}

static twin_status check(struct call *call, const twin_message *message)
{
    twin_mail_check_options options = { .method = TWIN_MAIL_ALL };
    return twin_mail_check(&call->verdict, call->self->mail, message, options, &call->error);
}

static twin_status explain(struct call *call, const twin_message *message)
{
    return twin_mail_explain(call->words, &call->word_count, call->self->mail, call->label, message, &call->error);
}

/* Takes the lock, which the caller gives back with finish(), since strings of a verdict live until the model changes. */
static bool perform(struct call *call, PyObject *raw, action *act)
{
    twin_text text;
    if (!text_of(&text, raw, "a message"))
        return false;
    struct mail *self = call->self;
    const twin_message *message;
    lock_take(self->lock);
    if (!self->mail) {
        PyErr_SetString(PyExc_ValueError, "the model is closed");
        PyThread_release_lock(self->lock);
        return false;
    }
    twin_status status;
    Py_BEGIN_ALLOW_THREADS
    status = twin_message_read(&message, self->reader, text);
    if (status == TWIN_OK)
        status = act(call, message);
    Py_END_ALLOW_THREADS
    if (status == TWIN_OK)
        return true;
    raise_status(status, &call->error, self->path);
    PyThread_release_lock(self->lock);
    return false;
}

static PyObject *finish(struct call *call, PyObject *result)
{
    PyThread_release_lock(call->self->lock);
    return result;
}

/* ---- learning ---- */

static PyObject *change(PyObject *object, PyObject *args, action *act)
{
    static const char *const effects[] = { [TWIN_MAIL_LEARNT] = "learnt",
                                           [TWIN_MAIL_KNOWN] = "known",
                                           [TWIN_MAIL_CORRECTED] = "corrected",
                                           [TWIN_MAIL_FORGOTTEN] = "forgotten",
                                           [TWIN_MAIL_UNKNOWN] = "unknown" };
    struct call call = { .self = (struct mail *)object };
    PyObject *raw;
    if (!PyArg_ParseTuple(args, "OsL", &raw, &call.label, &call.time) || !perform(&call, raw, act))
        return NULL;
    return finish(&call, PyUnicode_FromString(effects[call.effect]));
}

/* learn(raw, label, time), correct(raw, label, time), forget(raw, "", 0): what it did. */
static PyObject *py_learn(PyObject *object, PyObject *args)
{
    return change(object, args, learn);
}

static PyObject *py_correct(PyObject *object, PyObject *args)
{
    return change(object, args, correct);
}

static PyObject *py_forget(PyObject *object, PyObject *args)
{
    return change(object, args, forget);
}

static PyObject *commit(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct mail *self = (struct mail *)object;
    twin_error error = { 0 };
    twin_status status = TWIN_OK;
    lock_take(self->lock);
    if (self->mail) {
        Py_BEGIN_ALLOW_THREADS
        status = twin_mail_commit(self->mail, &error);
        Py_END_ALLOW_THREADS
    } else
        PyErr_SetString(PyExc_ValueError, "the model is closed");
    PyThread_release_lock(self->lock);
    if (PyErr_Occurred())
        return NULL;
    return status == TWIN_OK ? Py_NewRef(Py_None) : raise_status(status, &error, self->path);
}

/* ---- checking ---- */

/* (label, messages, content, sender, lookalike, score, nearest similarity) */
static PyObject *evidence_object(const twin_mail_evidence *evidence)
{
    return Py_BuildValue("(sKddddd)", evidence->label, (unsigned long long)evidence->messages, evidence->content,
                         evidence->sender, evidence->lookalike, evidence->score, evidence->nearest.similarity);
}

/* (label or None, score, reason, log odds, threshold, [evidence ...]) */
static PyObject *verdict_object(const twin_mail_verdict *verdict)
{
    PyObject *list = PyList_New((Py_ssize_t)verdict->count);
    for (size_t i = 0; list && i < verdict->count; i++) {
        PyObject *evidence = evidence_object(&verdict->evidence[i]);
        if (!evidence || PyList_SetItem(list, (Py_ssize_t)i, evidence) != 0)
            Py_CLEAR(list);
    }
    return list ? Py_BuildValue("(zdsddN)", verdict->label, verdict->score,
                                twin_name_of(TWIN_NAMES_MAIL_REASON, verdict->reason), verdict->log_odds,
                                verdict->threshold, list)
                : NULL;
}

static PyObject *py_check(PyObject *object, PyObject *raw)
{
    struct call call = { .self = (struct mail *)object };
    return perform(&call, raw, check) ? finish(&call, verdict_object(&call.verdict)) : NULL;
}

/* [(kind, word, weight) ...] */
static PyObject *words_object(const twin_mail_word *words, size_t count)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *text = PyUnicode_DecodeUTF8(words[i].word, (Py_ssize_t)strlen(words[i].word), "replace");
        PyObject *word = text ? Py_BuildValue("(sNd)", words[i].kind, text, words[i].weight) : NULL;
        if (!word || PyList_Append(list, word) != 0)
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    return list;
}

/* explain(raw, label, most) */
static PyObject *py_explain(PyObject *object, PyObject *args)
{
    struct call call = { .self = (struct mail *)object };
    PyObject *raw;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(args, "Osn", &raw, &call.label, &most))
        return NULL;
    call.word_count = most < 0 ? 0 : most < MOST_WORDS ? (size_t)most : MOST_WORDS;
    call.words = calloc(call.word_count + 1, sizeof *call.words);
    if (!call.words)
        return PyErr_NoMemory();
    PyObject *result = NULL;
    if (perform(&call, raw, explain))
        result = finish(&call, words_object(call.words, call.word_count));
    free(call.words);
    return result;
}

static PyMethodDef methods[] = {
    { "close", close_mail, METH_NOARGS, NULL },    { "learn", py_learn, METH_VARARGS, NULL },
    { "correct", py_correct, METH_VARARGS, NULL }, { "forget", py_forget, METH_VARARGS, NULL },
    { "commit", commit, METH_NOARGS, NULL },       { "check", py_check, METH_O, NULL },
    { "explain", py_explain, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_doc, "Mail(path, write): an open model." },
    { Py_tp_new, make },
    { Py_tp_dealloc, drop },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "twinsift._core.Mail",
    .basicsize = sizeof(struct mail),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

bool mail_setup(PyObject *module)
{
    return type_add(module, &spec) != NULL;
}

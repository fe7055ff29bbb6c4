/* errors.c — statuses of the library become exceptions of the usual kinds. */
#include "core.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static PyObject *error_type, *format_error, *busy_error, *limit_error, *unsupported_error;

static bool add(PyObject **out, PyObject *module, const char *name, const char *doc, PyObject *base)
{
    char full[64];
    PyOS_snprintf(full, sizeof full, "twinsift.%s", name);
    *out = PyErr_NewExceptionWithDoc(full, doc, base, NULL);
    return *out && PyModule_AddObjectRef(module, name, *out) == 0;
}

bool errors_add(PyObject *module)
{
    return add(&error_type, module, "Error", "What twinsift could not do. The base of its other exceptions.", NULL) &&
           add(&format_error, module, "FormatError",
               "A file is damaged, truncated, of another format or of a newer version.", error_type) &&
           add(&busy_error, module, "BusyError", "In use by another process or handle; try again later.",
               error_type) &&
           add(&limit_error, module, "LimitError", "More than the format or the type can hold.", error_type) &&
           add(&unsupported_error, module, "UnsupportedError", "Valid, but not in this build of twinsift.",
               error_type);
}

static bool ends_with(const char *sentence, const char *words)
{
    size_t length = strlen(sentence), tail = strlen(words);
    return tail <= length && memcmp(sentence + length - tail, words, tail) == 0;
}

/* To the library a file that exists is an argument that is wrong; to Python it is an error of the system. */
static bool exists(const char *sentence)
{
    return ends_with(sentence, ": already exists");
}

/* The library ends a sentence about the system with what the system said. */
static int errno_of(const char *sentence)
{
    static const int known[] = { ENOENT, EACCES, EEXIST, ENOTDIR, EISDIR, ENOSPC, EROFS,       EMFILE,
                                 ENFILE, EFBIG,  EPERM,  ELOOP,   EDQUOT, ENODEV, ENAMETOOLONG };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (ends_with(sentence, strerror(known[i])))
            return known[i];
    return exists(sentence) ? EEXIST : EIO;
}

/* OSError makes itself a FileNotFoundError and the like from its number. */
static void raise_os_error(PyObject *words, const char *sentence, PyObject *path)
{
    PyObject *name = path ? PyUnicode_DecodeFSDefault(PyBytes_AsString(path)) : Py_NewRef(Py_None);
    PyObject *error = name ? PyObject_CallFunction(PyExc_OSError, "iON", errno_of(sentence), words, name) : NULL;
    if (!error)
        return;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
}

static PyObject *type_of(twin_status status)
{
    switch (status) {
    case TWIN_EINVAL: return PyExc_ValueError;
    case TWIN_EFORMAT: return format_error;
    case TWIN_EUNSUPPORTED: return unsupported_error;
    case TWIN_ELIMIT: return limit_error;
    case TWIN_EBUSY: return busy_error;
    default: return error_type;
    }
}

PyObject *raise_status(twin_status status, const twin_error *error, PyObject *path)
{
    if (PyErr_Occurred())
        return NULL;
    if (status == TWIN_ENOMEM)
        return PyErr_NoMemory();
    const char *sentence = error && error->message[0] ? error->message : twin_error_last(status);
    PyObject *words = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "replace");
    if (!words)
        return NULL;
    if (status == TWIN_EIO || (status == TWIN_EINVAL && exists(sentence)))
        raise_os_error(words, sentence, path);
    else
        PyErr_SetObject(type_of(status), words);
    Py_DECREF(words);
    return NULL;
}

void raise_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(error_type, format, arguments);
    va_end(arguments);
}

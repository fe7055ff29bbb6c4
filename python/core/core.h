/* core.h — what the files of the extension module share.
 *
 * The module is thin: arguments in, one call of libtwinsift without the GIL, results as buffers. The package around it
 * (src/twinsift) has the defaults, the classes and the documentation. It uses the limited API of CPython 3.11, so one
 * file serves that and later versions. */
#ifndef TWINSIFT_PYTHON_CORE_H
#define TWINSIFT_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <pthread.h>
#include <stdatomic.h>
#include <twinsift/twinsift.h>

/* ---- errors.c */

/* twinsift.Error and the exceptions derived from it. */
bool errors_add(PyObject *module);

/* Raises what a status stands for, with the library's sentence; `path`, unless NULL, is the filename of an OSError. An
 * exception that a callback has raised stays. Returns NULL. */
PyObject *raise_status(twin_status status, const twin_error *error, PyObject *path);

/* Raises twinsift.Error with a formatted sentence, for foreign code that fails without an exception. */
void raise_error(const char *format, ...);

/* ---- run.c: a call of the library without the GIL */

/* While it lasts, the thread that began it looks for signals, and calls `progress`, about twenty times a second. */
struct run {
    PyThreadState *state;
    PyObject *progress; /* a callable (stage, unit, done, total); NULL: none */
    pthread_t caller;
    double next_look; /* in seconds of the monotonic clock */
    atomic_bool stopped;
    unsigned unseen; /* calls of run_goes_on() since the clock was read */
};

/* Releases the GIL. */
void run_begin(struct run *run, PyObject *progress);

/* Takes the GIL back. False, with an exception set, if a signal handler or `progress` has raised. */
bool run_end(struct run *run);

/* Whether to go on; any worker may ask, as often as it likes. */
bool run_goes_on(struct run *run);

/* What to give to calls of the library. */
twin_progress run_progress(struct run *run);

/* Registers with atexit, so that runs of daemon threads stop before the interpreter goes. */
bool run_setup(PyObject *module);

/* A lock for objects that one thread uses at a time. Waits without the GIL. */
void lock_take(PyThread_type_lock lock);

/* ---- array.c: results as buffers and Arrow arrays */

/* What the numbers of an array are. */
enum array_kind { ARRAY_BOOL, ARRAY_UINT8, ARRAY_UINT32, ARRAY_UINT64, ARRAY_DOUBLE, ARRAY_KINDS };

bool array_setup(PyObject *module);

/* A read-only array of `rows` rows of `columns` numbers (0: one-dimensional). Takes `data`, which was allocated by
 * malloc(), also if it fails. */
PyObject *array_new(enum array_kind kind, void *data, size_t rows, size_t columns);

/* The same with memory of its own, of zeros, which *data becomes. */
PyObject *array_create(enum array_kind kind, void **data, size_t rows, size_t columns);

/* The parts of an array, for arrow_out.c; NULL and a TypeError for another object. */
struct array {
    PyObject ob_base;
    PyObject *owner; /* whose data it is; NULL: its own */
    void *data;
    enum array_kind kind;
    int dimensions;
    Py_ssize_t shape[2], strides[2];
};
struct array *array_of(PyObject *object);
size_t array_item_size(enum array_kind kind);

/* ---- arrow_out.c
 *
 * arrow_array(names, arrays): the capsules of a schema and an array, a struct of one-dimensional arrays; or, if names is
 * None, the only array itself. arrow_stream(names, arrays): the capsule of a stream that has just that. */
PyObject *py_arrow_array(PyObject *module, PyObject *args);
PyObject *py_arrow_stream(PyObject *module, PyObject *args);

/* ---- texts.c: inputs */

struct arrow_chunk;

/* Texts that someone else owns: `items` borrows from `owner`, a tuple, or from chunks of Arrow arrays. */
struct texts {
    PyObject *owner;
    struct arrow_chunk *chunks;
    size_t chunk_count;
    twin_text *items;
    size_t count, capacity;
};

bool texts_setup(PyObject *module);

/* The texts of a Texts object, or NULL and a TypeError. */
struct texts *texts_of(PyObject *object);

/* The input that reads them; `run` is asked whether to go on. */
struct texts_source {
    const struct texts *texts;
    struct run *run;
    const uint32_t *order; /* the numbers of the texts, as they are read; NULL: 0, 1, 2, … */
};
twin_status texts_open(twin_input **out, struct texts_source *source, twin_error *error);

/* A str or bytes as a text that it owns. False, with an exception that names `what`, for anything else. */
bool text_of(twin_text *out, PyObject *object, const char *what);

/* ---- arrow_in.c */

/* Appends the texts of an object with Arrow capsules; of tables, the column `name`. 1: done, 0: it has none, -1: an
 * exception. */
int arrow_read(struct texts *texts, PyObject *object, const char *name);
void arrow_release(struct texts *texts);
bool texts_append(struct texts *texts, twin_text text);
bool texts_reserve(struct texts *texts, size_t more);

/* ---- scheme.c */

/* A converter for PyArg_Parse: fills a scheme, complete, from its line, such as "shingle=auto:9 threshold=0.8". The
 * words are those of the struct. */
struct scheme {
    twin_scheme scheme;
    twin_buffer words;
};
int scheme_convert(PyObject *line, void *out);
void scheme_clear(struct scheme *scheme);
PyObject *py_scheme(PyObject *module, PyObject *args);
PyObject *scheme_line(const twin_scheme *scheme);

/* Workers: 0: one per processor. False with an exception. */
bool make_exec(twin_exec *out, int threads);

bool signer_setup(PyObject *module);

/* The signer of a Signer object, or NULL and a TypeError. */
const twin_signer *signer_of(PyObject *object);

/* ---- shards.c */

PyObject *py_shard_sign(PyObject *module, PyObject *args);
PyObject *py_shard_digests(PyObject *module, PyObject *object);
bool shards_setup(PyObject *module);

/* ---- search.c, small.c: functions of the module */

PyObject *py_pairs(PyObject *module, PyObject *args);
PyObject *py_dedup(PyObject *module, PyObject *args);
PyObject *py_similarity(PyObject *module, PyObject *args);
PyObject *py_edit_distance(PyObject *module, PyObject *args);
PyObject *py_edit_ratio(PyObject *module, PyObject *args);
PyObject *py_diff(PyObject *module, PyObject *args);
PyObject *py_plan(PyObject *module, PyObject *args);
PyObject *py_plan_slots(PyObject *module, PyObject *args);
PyObject *py_plan_probability(PyObject *module, PyObject *args);

/* ---- index.c, bloom.c, mail.c */

PyObject *py_index_create(PyObject *module, PyObject *args);
PyObject *py_index_compact(PyObject *module, PyObject *args);
PyObject *py_bloom_load(PyObject *module, PyObject *args);
PyObject *py_mail_create(PyObject *module, PyObject *args);
bool index_setup(PyObject *module);
bool bloom_setup(PyObject *module);
bool mail_setup(PyObject *module);

/* Makes a type and adds it to the module; NULL with an exception. */
PyTypeObject *type_add(PyObject *module, PyType_Spec *spec);

/* Sets dictionary[name] to a new reference, which it takes; false if that is NULL or fails. */
bool dict_take(PyObject *dictionary, const char *name, PyObject *value);

#endif

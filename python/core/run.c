/* run.c — calls of the library without the GIL, which signals and callbacks can stop.
 *
 * The library calls back from all its workers. Only the thread that made the call has a Python state, so it alone takes
 * the GIL now and then, lets signal handlers run, and calls the caller's progress function. If one of them raises, the
 * exception waits in that state while all workers are told to stop. */
#include "core.h"

#include <time.h>

static const double BETWEEN_LOOKS = 0.05;     /* seconds; a signal is noticed within this time */
static const unsigned UNSEEN_CALLS = 64;      /* of run_goes_on() for each look at the clock */
static const long WAIT_NANOSECONDS = 5000000; /* between looks whether runs of other threads have stopped */

static atomic_bool leaving; /* the interpreter is about to go */
static atomic_int running;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void run_begin(struct run *run, PyObject *progress)
{
    run->progress = progress && progress != Py_None ? progress : NULL;
    run->caller = pthread_self();
    run->next_look = seconds() + BETWEEN_LOOKS;
    run->unseen = 0;
    atomic_init(&run->stopped, false);
    atomic_fetch_add(&running, 1);
    run->state = PyEval_SaveThread();
}

bool run_end(struct run *run)
{
    atomic_fetch_sub(&running, 1);
    PyEval_RestoreThread(run->state);
    return !PyErr_Occurred();
}

static bool call_progress(struct run *run, const twin_stage *stage, uint64_t done, uint64_t total)
{
    PyObject *answer = PyObject_CallFunction(run->progress, "szKK", stage->name, stage->unit,
                                             (unsigned long long)done, (unsigned long long)total);
    Py_XDECREF(answer);
    return answer != NULL;
}

/* On the calling thread: lets Python run, at most every BETWEEN_LOOKS seconds. */
static void look(struct run *run, const twin_stage *stage, uint64_t done, uint64_t total)
{
    double now = seconds();
    if (now < run->next_look)
        return;
    PyEval_RestoreThread(run->state);
    if (PyErr_CheckSignals() != 0 || (stage && run->progress && !call_progress(run, stage, done, total)))
        atomic_store(&run->stopped, true);
    run->state = PyEval_SaveThread();
    run->next_look = seconds() + BETWEEN_LOOKS;
}

static bool goes_on(struct run *run, const twin_stage *stage, uint64_t done, uint64_t total)
{
    if (atomic_load_explicit(&run->stopped, memory_order_relaxed))
        return false;
    if (atomic_load_explicit(&leaving, memory_order_relaxed))
        return false;
    if (pthread_equal(pthread_self(), run->caller))
        look(run, stage, done, total);
    return !atomic_load_explicit(&run->stopped, memory_order_relaxed);
}

bool run_goes_on(struct run *run)
{
    if (pthread_equal(pthread_self(), run->caller)) {
        if (++run->unseen < UNSEEN_CALLS)
            return true;
        run->unseen = 0;
    }
    return goes_on(run, NULL, 0, 0);
}

static bool report(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    return goes_on(context, stage, done, total);
}

twin_progress run_progress(struct run *run)
{
    return (twin_progress){ report, run };
}

void lock_take(PyThread_type_lock lock)
{
    if (PyThread_acquire_lock(lock, NOWAIT_LOCK))
        return;
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

/* ---- the end of the interpreter ---- */

static PyObject *leave(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    atomic_store(&leaving, true);
    Py_BEGIN_ALLOW_THREADS
    while (atomic_load(&running) > 0)
        nanosleep(&(struct timespec){ 0, WAIT_NANOSECONDS }, NULL);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* In a child no other thread lives on, so none of their runs will end. */
static void forget_runs(void)
{
    atomic_store(&running, 0);
}

static PyMethodDef leave_method = { "_leave", leave, METH_NOARGS, "Stops all runs and waits for them." };

bool run_setup(PyObject *module)
{
    (void)module;
    PyObject *function = PyCFunction_New(&leave_method, NULL), *atexit = PyImport_ImportModule("atexit");
    PyObject *done = function && atexit ? PyObject_CallMethod(atexit, "register", "O", function) : NULL;
    Py_XDECREF(function);
    Py_XDECREF(atexit);
    Py_XDECREF(done);
    return done != NULL && pthread_atfork(NULL, NULL, forget_runs) == 0;
}

/* exec.h — executors run parallel loops: one thread, POSIX threads, or OpenMP.
 *
 * A loop over n items is cut into pieces of consecutive items, and workers take pieces in order until none is left.
 * Each item writes its own slot of the result and each worker its own scratch, so the result does not depend on which
 * worker ran what. */
#ifndef TWINSIFT_EXEC_H
#define TWINSIFT_EXEC_H

#include <twinsift/names.h>
#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_EXEC_MAX_WORKERS = 1024 };

typedef enum twin_executor {
    TWIN_EXEC_SERIAL,
    TWIN_EXEC_PTHREADS,
    TWIN_EXEC_OPENMP,
} twin_executor;

/* A plain value: nothing runs between two loops. {0} is the calling thread alone. */
typedef struct twin_exec {
    twin_executor kind;
    int workers; /* up to TWIN_EXEC_MAX_WORKERS; 0 means 1, and serial always has one */
} twin_exec;

/* Processes items begin .. end-1. `worker` is 0 .. workers-1; calls with the same number never overlap. */
typedef void twin_exec_body(void *context, size_t begin, size_t end, int worker);

/* Fills `out`; workers = 0 means one per processor this process may use. TWIN_EUNSUPPORTED when the
 * executor is not in this build. */
TWIN_API twin_status twin_exec_make(twin_exec *out, twin_executor kind, int workers);

/* Runs body over 0 .. n-1 in pieces of `piece` items (at least 1), assigned in increasing order, and
 * returns when all are done. If a thread cannot be created, those already running do the remaining items. */
TWIN_API void twin_exec_for(twin_exec exec, size_t n, size_t piece, twin_exec_body *body, void *context);

/* ---- which instruction set the kernels use. The best level that this machine supports is chosen once. Every level
 * computes the same bits; selecting another is for tests and benchmarks. */

typedef enum twin_cpu {
    TWIN_CPU_SCALAR,
    TWIN_CPU_AVX2,
    TWIN_CPU_AVX512,
    TWIN_CPU_NEON, /* of 64-bit ARM, where the two before it are not */
    TWIN_CPU_LEVELS,
} twin_cpu;

/* The level in use: at first the best of this machine. */
TWIN_API twin_cpu twin_cpu_level(void);

/* Uses `level` from now on, for the whole process; call it before other threads start.
 * TWIN_EUNSUPPORTED when the machine cannot run it. */
TWIN_API twin_status twin_cpu_use(twin_cpu level);

#ifdef __cplusplus
}
#endif
#endif

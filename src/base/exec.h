/* exec.h — executors as every loop can use them, and loops that may fail. */
#ifndef TWIN_BASE_EXEC_H
#define TWIN_BASE_EXEC_H

#include <twinsift/exec.h>

/* Every public call that takes an executor calls this first, so that what follows may rely on workers >= 1: none, or a
 * serial executor, means one. TWIN_EINVAL or TWIN_EUNSUPPORTED and a sentence when there is no such executor. */
twin_status twin__exec_complete(twin_exec *exec, twin_error *error);

/* A body of twin_exec_for() that may fail. It then returns at once, and has filled `error` unless the status says it
 * all. */
typedef twin_status twin__exec_part(void *context, size_t begin, size_t end, int worker, twin_error *error);

/* As twin_exec_for(). All pieces are processed, whatever happens to others, except those not begun when the call is told
 * to stop (stages.h): TWIN_ESTOPPED. Returns the failure of the first that failed, so that many workers report what one
 * would. */
twin_status twin__exec_try(twin_exec exec, size_t n, size_t piece, twin__exec_part *body, void *context,
                           twin_error *error);

/* As twin__exec_try(), for a body that cannot fail. */
twin_status twin__exec_run(twin_exec exec, size_t n, size_t piece, twin_exec_body *body, void *context,
                           twin_error *error);

/* Called with one item at a time, by the worker that processes it. */
typedef void twin_exec_step(void *context, size_t item, int worker);

/* Runs `work` over 0 .. n-1 in parallel, and after each the same worker runs `hand_in` for it, one at a time and in
 * increasing order: results in the workers' scratch are collected as if one worker had processed all items. */
void twin__exec_in_order(twin_exec exec, size_t n, twin_exec_step *work, twin_exec_step *hand_in, void *context);

/* As twin__exec_in_order(), with steps that may fail. Nothing is handed in from the first failure on. */
typedef twin_status twin__exec_try_step(void *context, size_t item, int worker, twin_error *error);
twin_status twin__exec_try_in_order(twin_exec exec, size_t n, twin__exec_try_step *work, twin__exec_try_step *hand_in,
                                    void *context, twin_error *error);

#endif

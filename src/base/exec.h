/* exec.h — an executor as a caller gave it becomes one that every loop can use. */
#ifndef TWIN_BASE_EXEC_H
#define TWIN_BASE_EXEC_H

#include <twinsift/exec.h>

/* Every public call that takes an executor calls this first, so that what follows may rely on workers >= 1: none, or a
 * serial executor, means one. TWIN_EINVAL or TWIN_EUNSUPPORTED and a sentence when there is no such executor. */
twin_status twin__exec_complete(twin_exec *exec, twin_error *error);

#endif

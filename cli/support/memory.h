/* memory.h — how much memory a command may use. */
#ifndef TWIN_SUPPORT_MEMORY_H
#define TWIN_SUPPORT_MEMORY_H

#include "shared_options.h"

#include <stddef.h>

/* What may be kept of documents in memory, according to --memory or else to what is free: a part of that, for search
 * and sorting need some too. 0: any amount, for inputs that can be nowhere else. */
size_t collection_memory(const struct shared_options *shared);

#endif

/* memory.h — how much memory a command may use. */
#ifndef TWIN_SUPPORT_MEMORY_H
#define TWIN_SUPPORT_MEMORY_H

#include "shared_options.h"

#include <stddef.h>
#include <twinsift/similar.h>

/* What may be kept of documents in memory, according to --memory or else to what is free: a part of that, for search
 * and sorting need some too. 0: any amount, for inputs that can be nowhere else. */
size_t collection_memory(const struct shared_options *shared);

/* What the machine has, or the control group allows; UINT64_MAX: it is not known. */
uint64_t machine_memory(void);

/* A search by the scheme of the collection. With --memory it may use what the collection leaves. */
twin_similar_options search_within_memory(const struct shared_options *shared, twin_exec exec,
                                          twin_progress progress);

/* With --memory, how many bytes of input a thread reads at a time, lest many short documents become more signatures than
 * fit; 0: not given. */
size_t chunk_memory(const struct shared_options *shared);

#endif

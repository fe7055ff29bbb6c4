/* engine.h — from the documents of a provider to their similar pairs. */
#ifndef TWIN_JOIN_ENGINE_H
#define TWIN_JOIN_ENGINE_H

#include <time.h>

#include <twinsift/similar.h>

#include "join/provider.h"

static inline double twin__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* TWIN_EINVAL and a sentence when the options, complete, do not go together. */
twin_status twin__engine_accepts(const twin_similar_options *options, twin_error *error);

/* Adds the similar pairs among the documents of the provider to `out`, sorted by a, then b; `out` is empty before. The
 * same pairs whatever the executor is. A failure also fills `error`. */
twin_status twin__engine_find(twin_matches *out, twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_error *error);

#endif

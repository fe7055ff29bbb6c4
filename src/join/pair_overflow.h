/* pair_overflow.h — more candidate pairs than are to be in memory.
 *
 * Lists (lsh/pairs.h) that are full go to runs of a temporary file, each sorted by the later document of a pair, then the earlier
 * one. In the end they are read in that order, some at a time. */
#ifndef TWIN_JOIN_PAIR_OVERFLOW_H
#define TWIN_JOIN_PAIR_OVERFLOW_H

#include <pthread.h>

#include "join/join_private.h"
#include "join/matches.h"
#include "lsh/pairs.h"

struct twin__pair_overflow {
    size_t most; /* pairs in memory, of all workers together; 0: there is no overflow, and lists may grow */
    pthread_mutex_t lock;
    twin_matches matches; /* with runs: pairs as matches, the later document first, without a similarity */
};

/* Begins with no pairs. End with twin__pair_overflow_clear(), also if it fails; {0} needs no end. The folder is "/tmp"
 * if NULL. */
twin_status twin__pair_overflow_init(struct twin__pair_overflow *out, size_t most, const char *folder);
void twin__pair_overflow_clear(struct twin__pair_overflow *overflow);

/* Moves all pairs of a list to a run. Any thread may call it. A run that cannot be written is reported when pairs are
 * read. */
twin_status twin__pair_overflow_take(struct twin__pair_overflow *overflow, struct twin__pairs *pairs);

/* Reading, once all are taken. Begin with twin__pair_batches_init(), end with twin__pair_batches_clear(), also if it
 * fails. A failure also fills `error`. */
struct twin__pair_batches {
    const struct twin__pair_overflow *overflow;
    struct twin__match_cursor cursor;
    twin_match next;
    bool has_next;
};
twin_status twin__pair_batches_init(struct twin__pair_batches *out, const struct twin__pair_overflow *overflow,
                                    twin_error *error);
void twin__pair_batches_clear(struct twin__pair_batches *batches);

/* Whether a pair is still needed; `low` comes before `high`. */
typedef bool twin__pair_filter(void *context, uint32_t low, uint32_t high);

/* Replaces what is in `out` by the next pairs that pass the filter, about as many as may be in memory: all pairs of a
 * later document are in one batch. None: there are no more. */
twin_status twin__pair_batches_next(struct twin__pairs *out, struct twin__pair_batches *batches,
                                    twin__pair_filter *filter, void *context, twin_error *error);

#endif

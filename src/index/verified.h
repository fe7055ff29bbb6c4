/* verified.h — which blocks of posting lists have been found whole, for all views of a handle. */
#ifndef TWIN_INDEX_VERIFIED_H
#define TWIN_INDEX_VERIFIED_H

#include <pthread.h>

#include "index/postings.h"

enum { TWIN__INDEX_KINDS_OF_POSTINGS = 2 };

/* A run and a bit for each block of each of its lists. */
struct twin__index_known_run {
    struct twin__index_known_run *next;
    struct twin__index_run run;
    size_t uses; /* by views */
    atomic_uchar checked[];
};

struct twin__index_verified {
    pthread_mutex_t lock;
    struct twin__index_known_run *known[TWIN__INDEX_KINDS_OF_POSTINGS];
};
void twin__index_verified_init(struct twin__index_verified *verified);
void twin__index_verified_clear(struct twin__index_verified *verified);

/* Lets the lists of a view remember what has been verified, together with all views of the handle; to be forgotten
 * before they are cleared. Always with the same lists of each run. */
twin_status twin__index_verified_attach(struct twin__index_lists *lists, const twin_index *index,
                                        enum twin__index_postings kind, twin_error *error);
void twin__index_verified_detach(struct twin__index_lists *lists, const twin_index *index);

#endif

/* verified.h — posting lists are found whole before they are used, each once per handle. */
#ifndef TWIN_INDEX_VERIFIED_H
#define TWIN_INDEX_VERIFIED_H

#include <pthread.h>

#include "index/postings.h"

enum { TWIN__INDEX_KINDS_OF_POSTINGS = 2 };

/* Runs whose lists were found whole. */
struct twin__index_verified {
    pthread_mutex_t lock;
    struct twin__index_known_runs {
        struct twin__index_run *runs;
        size_t count;
    } known[TWIN__INDEX_KINDS_OF_POSTINGS];
};
void twin__index_verified_init(struct twin__index_verified *verified);
void twin__index_verified_clear(struct twin__index_verified *verified);

/* TWIN_EFORMAT when a list does not fit its checksum. */
twin_status twin__index_lists_verify(const twin_index *index, const struct twin__index_lists *lists,
                                     twin_error *error);

/* The same for lists of a transaction that reads, without those that are known. Threads may call it at once; always
 * with the same lists of each run. */
twin_status twin__index_lists_verify_once(struct twin__index_verified *verified, const twin_index *index,
                                          enum twin__index_postings kind, const struct twin__index_lists *lists,
                                          twin_error *error);

#endif

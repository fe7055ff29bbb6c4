/* preference_keys.h — what decides which of two documents is preferred, and more of it than fits into memory. */
#ifndef TWIN_DEDUP_PREFERENCE_KEYS_H
#define TWIN_DEDUP_PREFERENCE_KEYS_H

#include <twinsift/collection.h>
#include <twinsift/hash.h>

/* Smaller keys are preferred. */
struct twin__key {
    long double number; /* what the field is if it is a number: ids and times in nanoseconds need 64 bits */
    uint64_t value;     /* of LONGEST and SHORTEST */
    twin_text field;    /* of MOST and LEAST; NULL bytes: missing */
    twin_digest digest; /* of the text as it is in the input */
    twin_text id;
    uint32_t document;
    bool is_number;
    bool is_reversed; /* MOST: larger ones are preferred */
};

/* Orders two keys, as qsort() wants it; no two of one collection are equal. */
int twin__key_compare(const void *a, const void *b);

/* Sorted runs of keys in a temporary file. Begin with { .folder = ..., .fd = -1 }, end with twin__key_runs_clear(). */
struct twin__key_runs {
    const char *folder;
    int fd;           /* -1: there are no runs yet */
    uint64_t *starts; /* of each run, and the end of the last */
    size_t count, capacity;
};
void twin__key_runs_clear(struct twin__key_runs *runs);

/* Adds a run. A failure also fills `error`, as in the next. */
twin_status twin__key_runs_write(struct twin__key_runs *runs, const struct twin__key *keys, size_t count,
                                 twin_error *error);

/* Merges all runs: writes the documents of the collection, the most preferred first, to `out`, and adds to
 * *without_field how many have none. */
twin_status twin__key_runs_merge(uint32_t *out, size_t *without_field, const struct twin__key_runs *runs,
                                 const twin_collection *collection, twin_error *error);

#endif

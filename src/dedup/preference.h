/* preference.h — the order in which documents are preferred. */
#ifndef TWIN_DEDUP_PREFERENCE_H
#define TWIN_DEDUP_PREFERENCE_H

#include <twinsift/dedup.h>

struct twin__preference {
    twin_preference rule;
    const char *field;      /* of MOST and LEAST */
    twin_progress progress; /* receives "ordering", if documents are read */
    size_t *without_field;  /* unless NULL, receives how many documents do not have the field */
    size_t memory_bytes;    /* of the search, of which a part is for this; 0: any number */
    const char *folder;     /* for those that do not fit; NULL: "/tmp" */
    const uint32_t *ranks;  /* unless NULL, of each document; the rule is for those of equal rank */
};

/* Sorts the documents listed, the most preferred first. Each is read again, unless its place in the input decides. */
twin_status twin__preference_sort(uint32_t *documents, size_t count, const twin_collection *collection,
                                  struct twin__preference preference, twin_exec exec, twin_error *error);

#endif

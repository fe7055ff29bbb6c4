/* indexes.h — the indexes that are served, by name.
 *
 * Threads that query take a view and give it back; views are renewed when they are taken, so that they show the last
 * transaction, whoever made it. An index that was replaced or compacted is opened again. Documents are written by one
 * thread at a time: who finds another writing waits, and what has gathered is one transaction. The file is open for
 * writing only while that goes on, so that other processes may write, too. */
#ifndef TWIN_SERVE_INDEXES_H
#define TWIN_SERVE_INDEXES_H

#include <twinsift/twinsift.h>

struct indexes;

/* NULL: out of memory. */
struct indexes *indexes_create(void (*log)(const char *sentence));
void indexes_free(struct indexes *indexes);

/* Opens an index under a name, 1 to 64 letters, digits and -_. */
twin_status indexes_add(struct indexes *indexes, const char *name, const char *path, twin_error *error);

size_t indexes_count(const struct indexes *indexes);
const char *indexes_name(const struct indexes *indexes, size_t number);

/* Opens all again. */
void indexes_reopen(struct indexes *indexes);

/* Closes what was opened for writing and is no longer used; to be called now and then. */
void indexes_rest(struct indexes *indexes);

struct index_use {
    twin_index_view *view;
    twin_index_options options;
    const char *path;
    struct index_file *file; /* private */
    struct index_view *handle;
};

/* `found` is false if there is no index of this name. */
twin_status indexes_take(struct index_use *out, bool *found, struct indexes *indexes, const char *name,
                         twin_error *error);
void indexes_give_back(struct indexes *indexes, struct index_use *use);

/* Adds documents, or removes one: on the disk when it returns. TWIN_EBUSY: another process writes. */
twin_status indexes_write(twin_index_change *change, struct indexes *indexes, const char *name,
                          const twin_index_document *documents, size_t count, twin_error *error);
twin_status indexes_remove(bool *was_there, struct indexes *indexes, const char *name, twin_text id,
                           twin_error *error);

#endif

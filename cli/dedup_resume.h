/* dedup_resume.h — the finished stages of a dedup in files, so that a run that was killed can be continued.
 *
 * The files are those of sign, band and join, in a folder of their own in the temporary folder. Its name is made from
 * everything that the result depends on: names, sizes and dates of the inputs and of the files in them, how they are
 * read, scheme, rule. So a run finds the files of an earlier one only if it would have made the same. */
#ifndef TWIN_DEDUP_RESUME_H
#define TWIN_DEDUP_RESUME_H

#include "support/shared_options.h"

struct resume {
    char *folder; /* NULL: nothing is kept */
    int lock;     /* the folder, locked against another run that would use it */
    twin_buffer note;
};

/* Makes or finds the folder. On false the error has been reported; call resume_clear() in any case. */
bool resume_begin(struct resume *out, const struct shared_options *shared, const twin_scheme *scheme,
                  const twin_dedup_options *rule);
void resume_clear(struct resume *resume);

/* The collection that an earlier run has read; *found is false when there is none. On false the error has been
 * reported. */
bool resume_collection(twin_collection **out, bool *found, const struct resume *resume, const twin_input *input,
                       twin_collection_options options);

/* Keeps a collection that has been read. */
bool resume_keep(const struct resume *resume, const twin_collection *collection);

/* twin_dedup_find() from what an earlier run has found, keeping what is found. */
bool resume_find(twin_dedup **out, const struct resume *resume, const twin_collection *collection,
                 const twin_dedup_options *options);

/* All is done: removes the files. */
void resume_end(struct resume *resume);

#endif

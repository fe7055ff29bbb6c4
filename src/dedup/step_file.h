/* step_file.h — what the files of the steps have in common: whose they are, and which part.
 *
 * A file belongs to one collection, by its fingerprint, and has one part of the work; those of all parts are read
 * together. */
#ifndef TWIN_DEDUP_STEP_FILE_H
#define TWIN_DEDUP_STEP_FILE_H

#include <twinsift/dedup.h>

#include "base/checked_stream.h"
#include "join/candidates.h"
#include "join/matches.h"

/* The candidates of some or all bands of a collection. */
struct twin__step_candidates {
    twin_part part;
    uint64_t fingerprint; /* of the collection */
    size_t documents;     /* of it */
    struct twin__bands_found found;
};

/* A kind of files, of one collection. */
struct twin__step_files {
    const char *magic;
    uint64_t fingerprint;
};

/* Opens a stream and writes whose it is. */
void twin__step_begin(struct twin__checked_stream *stream, twin_sink sink, const struct twin__step_files *kind,
                      twin_part part, twin_error *error);

/* Reads what follows in one file. What it returns except TWIN_OK ends the reading. */
typedef twin_status twin__step_read(void *context, struct twin__checked_stream *stream);

/* Reads the files one after the other and checks that they are all parts of one collection, each once. */
twin_status twin__step_read_all(twin_saved_files saved, const struct twin__step_files *kind, twin__step_read *read,
                                void *context, twin_error *error);

/* ---- candidates_file.c */

/* Finds the candidates of some of the bands; release them with twin__step_candidates_free(). */
twin_status twin__step_candidates_find(struct twin__step_candidates **out, const twin_collection *collection,
                                       twin_similar_options options, twin_part part, twin_error *error);
void twin__step_candidates_free(struct twin__step_candidates *candidates);
twin_status twin__step_candidates_write(const struct twin__step_candidates *candidates, twin_sink sink,
                                        twin_error *error);
twin_status twin__step_candidates_read(struct twin__step_candidates **out, const twin_collection *collection,
                                       twin_saved_files saved, twin_error *error);

/* ---- matches_file.c */

twin_status twin__step_write_matches(const twin_matches *matches, const twin_collection *collection,
                                     const twin_dedup_options *rule, twin_part part, twin_sink sink,
                                     twin_error *error);

/* Release the matches with twin__step_matches_free(). `rule` becomes that of the files; the name of its field is stored in
 * `field`, which must outlive it. */
twin_status twin__step_read_matches(twin_matches **out, twin_dedup_options *rule, twin_buffer *field,
                                    const twin_collection *collection, twin_saved_files saved, twin_error *error);
void twin__step_matches_free(twin_matches *matches);

/* ---- dedup.c */

/* Whether matches can be found step by step. */
twin_status twin__step_check(const twin_collection *collection, const twin_dedup_options *options, twin_error *error);

/* The matches of one part. The candidates must be those of all bands; they can only be freed afterwards. */
twin_status twin__step_match(twin_matches **out, const twin_collection *collection,
                             struct twin__step_candidates *candidates, const twin_dedup_options *options,
                             twin_part part, twin_error *error);
twin_status twin__step_decide(twin_dedup **out, const twin_collection *collection, const twin_matches *matches,
                              const twin_dedup_options *options, twin_error *error);

#endif

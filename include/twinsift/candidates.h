/* candidates.h — the candidate pairs of a collection, found in several parts.
 *
 * Several processes or machines can each search some of the bands. Each of them needs the signatures of all documents.
 * What they write is read back as the candidates of all bands. */
#ifndef TWINSIFT_CANDIDATES_H
#define TWINSIFT_CANDIDATES_H

#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of several parts of the work, numbered from 0. {0}: all of it. */
typedef struct twin_part {
    uint32_t number, of;
} twin_part;

/* The candidates of some of the bands; release with twin_candidates_free(). */
typedef struct twin_candidates twin_candidates;
TWIN_API twin_status twin_candidates_find(twin_candidates **out, const twin_collection *collection,
                                          twin_similar_options options, twin_part part, twin_error *error);
TWIN_API void twin_candidates_free(twin_candidates *candidates);

/* Writes the candidates as a file, and reads the files of all parts, in any order. TWIN_EINVAL when a part is missing
 * or repeated, or when the files belong to another collection. */
TWIN_API twin_status twin_candidates_write(const twin_candidates *candidates, twin_sink sink, twin_error *error);
TWIN_API twin_status twin_candidates_read(twin_candidates **out, const twin_collection *collection,
                                          twin_saved_files saved, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

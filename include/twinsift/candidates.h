/* candidates.h — the candidates of a collection, found in several parts.
 *
 * Which documents share a band, and so are candidates, can be found band by band, by several processes or machines, each
 * with the signatures of all documents. What they find is put together again. */
#ifndef TWINSIFT_CANDIDATES_H
#define TWINSIFT_CANDIDATES_H

#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of several parts of the work, numbered from 0; {0}: all of it. */
typedef struct twin_part {
    uint32_t number, of;
} twin_part;

/* What is found by some of the bands; release with twin_candidates_free(). */
typedef struct twin_candidates twin_candidates;
TWIN_API twin_status twin_candidates_find(twin_candidates **out, const twin_collection *collection,
                                          twin_similar_options options, twin_part part, twin_error *error);
TWIN_API void twin_candidates_free(twin_candidates *candidates);

/* To a file, and from the files of all parts, in any order. TWIN_EINVAL when a part is missing or there twice, or they are those
 * of another collection. */
TWIN_API twin_status twin_candidates_write(const twin_candidates *candidates, FILE *file, twin_error *error);
TWIN_API twin_status twin_candidates_read(twin_candidates **out, const twin_collection *collection,
                                          twin_saved_files saved, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

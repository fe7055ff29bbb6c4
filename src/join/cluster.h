/* cluster.h — groups from any matches. */
#ifndef TWIN_JOIN_CLUSTER_H
#define TWIN_JOIN_CLUSTER_H

#include <twinsift/similar.h>

/* Connected components: group[i] becomes the smallest document that a chain of matches connects with i; i itself if
 * it has no match. `group` has room for `documents` numbers. TWIN_EINVAL when a match names a document that does not
 * exist. */
twin_status twin__cluster_components(uint32_t *group, size_t documents, const twin_match *matches, size_t count);

/* Which documents are kept when near-duplicates are dropped. Documents are considered in the given order (order[0]
 * first; NULL: 0, 1, 2, …). One that has not been dropped is kept, and the documents that it matches directly are
 * dropped for it; chains of matches do not count. keeper[i] becomes the document that is kept for i, i itself if it is
 * kept; similarity[i], unless `similarity` is NULL, the similarity of the two (1 if i is kept). */
twin_status twin__cluster_keepers(uint32_t *keeper, double *similarity, size_t documents, const twin_match *matches,
                                  size_t count, const uint32_t *order);

#endif

/* cluster.h — similar pairs become groups. */
#ifndef TWINSIFT_CLUSTER_H
#define TWINSIFT_CLUSTER_H

#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Connected components: group[i] becomes the smallest document that a chain of matches connects with i; i itself if
 * it has no match. `group` has room for `documents` numbers. TWIN_EINVAL when a match names a document that does not
 * exist. */
TWIN_API twin_status twin_cluster_components(uint32_t *group, size_t documents, const twin_match *matches,
                                             size_t count);

/* Which documents are kept when near-duplicates are dropped. Documents are considered in the given order (order[0]
 * first; NULL: 0, 1, 2, …). One that has not been dropped is kept, and the documents that it matches directly are
 * dropped for it; chains of matches do not count. keeper[i] becomes the document that is kept for i, i itself if it is
 * kept; similarity[i], unless `similarity` is NULL, the similarity of the two (1 if i is kept). */
TWIN_API twin_status twin_cluster_keepers(uint32_t *keeper, double *similarity, size_t documents,
                                          const twin_match *matches, size_t count, const uint32_t *order);

/* The same for all documents of a collection, in their order. A copy of an earlier document has the same keeper as
 * that one. Both arrays have room for all documents of the collection. TWIN_EINVAL for pairs between two collections,
 * and if `matches_in_memory` was exceeded. */
TWIN_API twin_status twin_cluster_documents(uint32_t *keeper, double *similarity, const twin_similar *similar);

/* A document of a group, and its similarity to the document that is kept, which identifies the group. */
typedef struct twin_member {
    uint32_t group, document;
    double similarity;
} twin_member;

/* Calls `visit` for the members of each group of at least two documents: groups in the order of their kept documents,
 * and in each group the kept document first, then the others in increasing order. keeper[i] is the document kept for
 * i. The visit returns false to stop; the call then returns TWIN_ESTOPPED. */
typedef bool twin_member_visit(void *context, twin_member member);
TWIN_API twin_status twin_cluster_each(const uint32_t *keeper, const double *similarity, size_t documents,
                                       twin_member_visit *visit, void *context);

#ifdef __cplusplus
}
#endif
#endif

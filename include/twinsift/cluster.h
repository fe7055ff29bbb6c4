/* cluster.h — similar pairs become groups. */
#ifndef TWINSIFT_CLUSTER_H
#define TWINSIFT_CLUSTER_H

#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Connected components: group[i] becomes the smallest document that chains of matches tie to i; a document
 * without a match is its own. `group` has room for `documents` numbers. TWIN_EINVAL when a match names a
 * document that is not there. */
TWIN_API twin_status twin_cluster_components(uint32_t *group, size_t documents, const twin_match *matches,
                                             size_t count);

/* Who stays when lookalikes go: documents are taken in the order given (order[0] first; NULL: 0, 1, 2, …),
 * and one that was not dropped yet stays and drops those it matches directly. keeper[i] becomes i for one
 * that stays, else the one that stays for it; similarity[i], unless `similarity` is NULL, how similar the two
 * are (1 for one that stays). A friend of a friend is never dropped for that alone. */
TWIN_API twin_status twin_cluster_keepers(uint32_t *keeper, double *similarity, size_t documents,
                                          const twin_match *matches, size_t count, const uint32_t *order);

#ifdef __cplusplus
}
#endif
#endif

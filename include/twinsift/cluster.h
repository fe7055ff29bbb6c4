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

/* The same for all documents of a collection, the first of similar ones stays: a document with the set of an earlier one goes
 * where that one goes. Both arrays have room for all documents of the collection. */
TWIN_API twin_status twin_cluster_documents(uint32_t *keeper, double *similarity, const twin_similar *similar);

/* A document of a group, and how similar it is to the one that stays, by which the group is named. */
typedef struct twin_member {
    uint32_t group, document;
    double similarity;
} twin_member;

/* Calls `visit` for the members of each group of two documents and more, groups in the order of their documents that stay,
 * and in each that document first, the others in increasing order. keeper[i] is the document that stays for i. The visit
 * returns false to stop; the call then returns TWIN_ESTOPPED. */
typedef bool twin_member_visit(void *context, twin_member member);
TWIN_API twin_status twin_cluster_each(const uint32_t *keeper, const double *similarity, size_t documents,
                                       twin_member_visit *visit, void *context);

#ifdef __cplusplus
}
#endif
#endif

/* keepers.h — the similar pairs within crowds that decide which documents stay. */
#ifndef TWIN_JOIN_KEEPERS_H
#define TWIN_JOIN_KEEPERS_H

#include "join/candidates.h"
#include "join/engine.h"

/* Adds to the matches, which are those outside crowds, one for each document of the crowds that
 * does not stay by all similar pairs of them (twin_cluster_keepers): that with the most preferred document of its
 * crowd that stays. Adds to *compared how many pairs were compared. The documents of crowds are put in another order,
 * also across crowds.
 * With components, of the options, instead: unites the components of documents of a crowd that a similar pair connects
 * of which at least one document stays, and adds matches that do so. Then the crowds consist of those that do not stay,
 * whose pairs with each other are not compared; or of all, if not all those with one that stays were.
 * A failure also fills `error`. */
twin_status twin__keepers_join(twin_matches *matches, uint64_t *compared, const struct twin__provider *provider,
                               struct twin__groups *crowds, const struct twin__deciding_options *options,
                               twin_error *error);

#endif

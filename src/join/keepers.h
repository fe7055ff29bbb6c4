/* keepers.h — the similar pairs within crowds that decide which documents stay. */
#ifndef TWIN_JOIN_KEEPERS_H
#define TWIN_JOIN_KEEPERS_H

#include "join/candidates.h"
#include "join/engine.h"

/* Adds to the matches, which are those outside crowds, one for each document of the crowds marked in `chosen` that
 * does not stay by all similar pairs of them (twin_cluster_keepers): that with the most preferred document of its
 * crowd that stays. Adds to *compared how many pairs were compared. The documents of crowds are put in another order,
 * also across crowds. A failure also fills `error`. */
twin_status twin__keepers_join(twin_matches *matches, uint64_t *compared, const struct twin__provider *provider,
                               struct twin__crowds *crowds, const bool *chosen,
                               const struct twin__deciding_options *options, twin_error *error);

#endif

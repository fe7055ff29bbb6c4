/* containment_keepers.h — of the pairs that twin__containment_join() finds as many as decide which documents stay. */
#ifndef TWIN_JOIN_CONTAINMENT_KEEPERS_H
#define TWIN_JOIN_CONTAINMENT_KEEPERS_H

#include "join/containment_join.h"
#include "join/engine.h"
#include "join/matches.h"

/* Adds matches by which twin__cluster_keepers() decides as by all similar pairs, with the same keeper for each
 * document that goes. A failure also fills `error`. */
twin_status twin__containment_keepers(twin_matches *out, struct twin__containment_counts *counts,
                                      const struct twin__provider *provider, struct twin__containment_options options,
                                      const struct twin__deciding_options *deciding, twin_error *error);

#endif

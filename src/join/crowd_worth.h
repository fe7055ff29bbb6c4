/* crowd_worth.h — whether a crowd is worth more than to list its pairs. */
#ifndef TWIN_JOIN_CROWD_WORTH_H
#define TWIN_JOIN_CROWD_WORTH_H

#include "join/crowds.h"

/* The processor time to fetch the documents of a crowd a few times: as sets, or else as signatures. */
double twin__crowd_fetching_seconds(const struct twin__crowd *crowd, bool sets);

/* Whether to search crowd `number` among those that stay (keepers.h) is expected to take less time than to list its pairs.
 * Neither time nor threads enter. A failure also fills `error`. */
twin_status twin__crowd_is_worth_deciding(bool *out, const struct twin__provider *provider,
                                          const struct twin__crowds *crowds, size_t number, twin_error *error);

#endif

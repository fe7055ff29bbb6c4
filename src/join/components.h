/* components.h — connected components of similar pairs, found without comparing what they connect already. */
#ifndef TWIN_JOIN_COMPONENTS_H
#define TWIN_JOIN_COMPONENTS_H

#include "join/join_private.h"
#include "join/verify.h"

/* Begin with twin__components_init(), end with twin__components_clear(), which accepts {0}. */
struct twin__components {
    uint32_t *group; /* of each document (union-find, join_private.h) */
    size_t count;    /* of documents */
};

/* Each document alone; false when out of memory. */
bool twin__components_init(struct twin__components *out, size_t documents);
void twin__components_clear(struct twin__components *components);

/* Adds the match and unites its two components, unless they are one: so all matches added are a spanning forest. */
twin_status twin__components_add(twin_matches *out, struct twin__components *components, twin_match match);

/* Adds all of `found` that connect components, from the first on, and empties it. */
twin_status twin__components_take(twin_matches *out, struct twin__components *components, twin_matches *found);

/* Afterwards group[i] is the first document of the component of i, until two are united again. */
void twin__components_flatten(struct twin__components *components);

/* Compares as many of the pairs as may connect components, and adds those that do; the list is used up. The result is
 * flat. Adds to *compared how many were compared, which does not depend on the order of the pairs or the executor. A
 * failure also fills `error`. */
twin_status twin__components_connect(twin_matches *out, struct twin__components *components, uint64_t *compared,
                                     const struct twin__provider *provider, struct twin__pairs *pairs,
                                     struct twin__verify_options options, twin_error *error);

#endif

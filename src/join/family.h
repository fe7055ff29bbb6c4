/* family.h — similar pairs among documents that have much in common: a campaign of mail, pages of one template. */
#ifndef TWIN_JOIN_FAMILY_H
#define TWIN_JOIN_FAMILY_H

#include "join/components.h"
#include "join/family_sets.h"
#include "join/verify.h"

struct twin__family {
    struct twin__family_source source; /* its documents, numbered here from 0 on */
    struct twin__set_rule rule;

    /* Lists the documents from `begin` to `end`, all before `row`, that are to be compared with `row`, in increasing
     * order; `out` has room for all of them. Returns how many. Called by all workers at once. */
    size_t (*columns)(uint32_t *out, const void *context, uint32_t row, uint32_t begin, uint32_t end);
    const void *context;

    /* Unless NULL, matches unite components, and only those that do are added. `columns` must not look at them. */
    struct twin__components *components;
};

/* Adds the pairs that reach the threshold of the rule to the matches, in the same order whatever the executor is, and
 * the number of those whose sizes allow it to *compared. Each document is fetched once, and once more for each time
 * that the documents before it fill the memory. A failure also fills `error`; many workers fail as one would. */
twin_status twin__family_join(twin_matches *out, uint64_t *compared, const struct twin__family *family,
                              twin_error *error);

#endif

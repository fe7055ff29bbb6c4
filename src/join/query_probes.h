/* query_probes.h — the items of a query by which most of its candidates are ruled out.
 *
 * Candidates made from one template have most of the query's items, and a comparison in the order of the items shows
 * only near its end that they are not similar. Here the items come first that few candidates have: a candidate that
 * lacks more of them than the threshold leaves room for is not similar, whatever the others are. Which items these
 * are is seen in a sample; any choice of them gives the right result. */
#ifndef TWIN_JOIN_QUERY_PROBES_H
#define TWIN_JOIN_QUERY_PROBES_H

#include <stdbool.h>
#include <twinsift/set.h>

enum {
    TWIN__PROBE_CLASSES = 32,
    TWIN__PROBE_SAMPLES = 16,
    TWIN__PROBE_MOST_ITEMS = 1 << 15, /* of a query; with more, too many probes would share a slot */
};

/* Probes, by some bits of an item: slot (item >> shift & mask), of 65,536 at most, is 1 if it is that of a probe,
 * otherwise 0. A set has at most as many probes as items with such slots, so it lacks the others. */
struct twin__probe_table {
    const uint8_t *slots; /* NULL: no probes */
    uint64_t mask;
    unsigned shift;
    size_t count; /* of probes */
};

struct twin__query_probes {
    twin_set query;
    unsigned shift;
    size_t slots;                         /* of a table */
    uint8_t *counts;                      /* of each item: how many sets of the sample have it */
    uint8_t *tables[TWIN__PROBE_CLASSES]; /* of the (c+1)/32 of the items that fewest have; NULL: not made yet */
};

/* The last `shift` bits of items carry no information. Without memory there will be no probes. End with
 * twin__query_probes_clear(). */
void twin__query_probes_init(struct twin__query_probes *out, twin_set query, unsigned shift);
void twin__query_probes_clear(struct twin__query_probes *probes);

/* Adds one of the TWIN__PROBE_SAMPLES sets of the sample. */
void twin__query_probes_sample(struct twin__query_probes *probes, twin_set set);

/* The probes for a candidate of `size` items that may lack `spare` of the query's: enough to rule out one that has
 * none of them. None if that would be nearly all items. */
struct twin__probe_table twin__query_probes_get(struct twin__query_probes *probes, size_t spare, uint64_t size);

#endif

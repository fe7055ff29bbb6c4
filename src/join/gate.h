/* gate.h — the signature gate: which candidate pairs are worth their exact similarity.
 *
 * Two sets of Jaccard similarity J agree in each of k slots with probability J, so the share of equal slots has mean J
 * and variance J(1 - J)/k. A pair passes when it has no fewer equal slots than lie four standard errors below what
 * is expected at the threshold. Of true pairs at the threshold about 3 in 100,000 are lost; exactly, with 128 slots, up
 * to 8 for thresholds up to 0.9, and 33 at 0.99, where the distribution is skewed. Of pairs above the threshold fewer
 * are lost, and of those far below it hardly any has to be fetched and compared. Where nothing follows the gate, the
 * estimate itself must reach the threshold. */
#ifndef TWIN_JOIN_GATE_H
#define TWIN_JOIN_GATE_H

#include <twinsift/similar.h>

#include "join/join_private.h"

/* The least number of equal slots at which a pair of this Jaccard similarity is worth comparing. */
size_t twin__gate_least(double similarity, size_t slots);

/* The least number of equal slots at which the estimate reaches this similarity. */
size_t twin__gate_least_estimated(double similarity, size_t slots);

struct twin__gate {
    size_t slots;
    size_t least; /* equal slots of any pair; 0: no pair is refused */
};

/* The gate before `verify`. */
struct twin__gate twin__gate_make(twin_measure measure, double threshold, twin_verify verify, size_t slots);

bool twin__gate_passes(const struct twin__gate *gate, const struct twin__provider *provider, uint32_t a, uint32_t b);

/* ---- signatures as sets ---- */

/* So what joins sets can join signatures. The set of a signature has an item for each slot and its value. Two of them have
 * as many items in common as the signatures have equal slots. */

/* Borrows the provider, and has a buffer for each of `workers` workers; end with twin__signature_provider_clear(). */
twin_status twin__signature_provider(struct twin__provider *out, const struct twin__provider *of, int workers);
void twin__signature_provider_clear(struct twin__provider *provider);

/* The Jaccard similarity that such sets have if and only if `least` of their slots are equal or more, and the number of
 * slots that are equal if it is `similarity`. */
double twin__signature_threshold(size_t least, size_t slots);
size_t twin__signature_equal(double similarity, size_t slots);

#endif

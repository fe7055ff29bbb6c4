/* signature_provider.h — signatures as sets, so that what joins sets can join signatures.
 *
 * The set of a signature has an item for each slot and its value. Two of them have as many items in common as the
 * signatures have equal slots. */
#ifndef TWIN_JOIN_SIGNATURE_PROVIDER_H
#define TWIN_JOIN_SIGNATURE_PROVIDER_H

#include "join/join_private.h"

/* Borrows the provider, and has a buffer for each of `workers` workers; end with twin__signature_provider_clear(). */
twin_status twin__signature_provider(struct twin__provider *out, const struct twin__provider *of, int workers);
void twin__signature_provider_clear(struct twin__provider *provider);

/* The Jaccard similarity that such sets have if and only if `least` of their slots are equal or more, and the number of
 * slots that are equal if it is `similarity`. */
double twin__signature_threshold(size_t least, size_t slots);
size_t twin__signature_equal(double similarity, size_t slots);

#endif

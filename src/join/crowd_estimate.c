/* crowd_estimate.c — pairs of a crowd by their estimates: with enough equal slots of their signatures.
 *
 * A signature is a set of slots with their values (signature_provider.h), so it is the same join over other sets. */
#include "base/error.h"
#include "join/crowd_join.h"
#include "join/signature_provider.h"

twin_status twin__crowd_join_estimates(twin_matches *out, struct twin__crowd_counts *counts,
                                       const struct twin__provider *provider, struct twin__crowd_documents documents,
                                       struct twin__crowd_options options, twin_error *error)
{
    size_t slots = provider->signatures.slots, before = out->count;
    struct twin__provider signatures;
    options.threshold = twin__signature_threshold(twin__gate_least_estimated(options.threshold, slots), slots);
    twin_status status = twin__signature_provider(&signatures, provider, options.exec.workers);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    status = twin__crowd_join(out, counts, &signatures, documents, options, error);
    for (size_t i = before; i < out->count; i++)
        out->items[i].similarity = (double)twin__signature_equal(out->items[i].similarity, slots) / (double)slots;
    twin__signature_provider_clear(&signatures);
    return status;
}

/* crowd_estimate.c — pairs of a crowd by their estimates: with enough equal slots of their signatures.
 *
 * A signature is a set of slots with their values (signature_provider.h), so it is the same join over other sets. */
#include "base/error.h"
#include "join/crowd_join.h"
#include "join/match_runs.h"
#include "join/signature_provider.h"

/* Where matches may go to a file before all are found. */
struct estimates {
    twin_matches *out;
    size_t slots;
};

static double share_of(double similarity, size_t slots)
{
    return (double)twin__signature_equal(similarity, slots) / (double)slots;
}

static bool add_estimate(void *context, twin_match match)
{
    struct estimates *estimates = context;
    match.similarity = share_of(match.similarity, estimates->slots);
    return twin__matches_add(estimates->out, match) == TWIN_OK;
}

/* The same as join_in_memory(): found in runs of their own, matches are added once they have their estimates. */
static twin_status join_in_runs(struct estimates estimates, struct twin__crowd_counts *counts,
                                const struct twin__provider *signatures, struct twin__crowd_documents documents,
                                struct twin__crowd_options options, twin_error *error)
{
    const struct twin__match_runs *runs = estimates.out->runs;
    twin_matches found = { 0 };
    twin_status status = twin__match_runs_create(&found, runs->most, runs->folder);
    if (status != TWIN_OK)
        twin__fail_status(error, status);
    if (status == TWIN_OK)
        status = twin__crowd_join(&found, counts, signatures, documents, options, error);
    if (status == TWIN_OK) {
        status = twin__matches_visit_sorted(&found, add_estimate, &estimates);
        if (status == TWIN_ESTOPPED) /* by add_estimate() */
            status = TWIN_ENOMEM;
        status = status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
    }
    twin_matches_clear(&found);
    return status;
}

static twin_status join_in_memory(struct estimates estimates, struct twin__crowd_counts *counts,
                                  const struct twin__provider *signatures, struct twin__crowd_documents documents,
                                  struct twin__crowd_options options, twin_error *error)
{
    twin_matches *out = estimates.out;
    size_t before = out->count;
    twin_status status = twin__crowd_join(out, counts, signatures, documents, options, error);
    for (size_t i = before; i < out->count; i++)
        out->items[i].similarity = share_of(out->items[i].similarity, estimates.slots);
    return status;
}

twin_status twin__crowd_join_estimates(twin_matches *out, struct twin__crowd_counts *counts,
                                       const struct twin__provider *provider, struct twin__crowd_documents documents,
                                       struct twin__crowd_options options, twin_error *error)
{
    size_t slots = provider->signatures.slots;
    struct twin__provider signatures;
    options.threshold = twin__signature_threshold(twin__gate_least_estimated(options.threshold, slots), slots);
    twin_status status = twin__signature_provider(&signatures, provider, options.exec.workers);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    status = (out->runs ? join_in_runs : join_in_memory)((struct estimates){ out, slots }, counts, &signatures,
                                                         documents, options, error);
    twin__signature_provider_clear(&signatures);
    return status;
}

/* gate.c — the signature gate. */
#include "join/gate.h"

#include <math.h>

/* Of a normal distribution 3.2 in 100,000 lie further below the mean. */
static const double STANDARD_ERRORS = 4;

size_t twin__gate_least(double similarity, size_t slots)
{
    double k = (double)slots, bound = similarity * k - STANDARD_ERRORS * sqrt(k * similarity * (1 - similarity));
    return bound > 0 ? (size_t)bound : 0;
}

size_t twin__gate_least_estimated(double similarity, size_t slots)
{
    /* 0.9 of 10 slots is 9 of them, however the product is rounded. */
    return (size_t)ceil(similarity * (double)slots - 1e-9);
}

/* Containment t of sets of sizes a <= b means a Jaccard similarity of at least t·a / (a + b - t·a). Two sizes of
 * 0 make that 0/0, which is no bound. */
size_t twin__gate_least_contained(double containment, uint64_t a, uint64_t b, size_t slots)
{
    double smaller = (double)(a < b ? a : b), larger = (double)(a < b ? b : a);
    return twin__gate_least(containment * smaller / (smaller + larger - containment * smaller), slots);
}

struct twin__gate twin__gate_make(twin_measure measure, double threshold, twin_verify verify, size_t slots)
{
    struct twin__gate gate = { .slots = slots };
    if (verify == TWIN_VERIFY_NONE)
        return gate;
    if (measure == TWIN_CONTAINMENT)
        gate.containment = threshold;
    else if (verify == TWIN_VERIFY_ESTIMATE)
        gate.least = twin__gate_least_estimated(threshold, slots);
    else
        gate.least = twin__gate_least(threshold, slots);
    return gate;
}

bool twin__gate_passes(const struct twin__gate *gate, const struct twin__provider *provider, uint32_t a, uint32_t b)
{
    size_t least = gate->least;
    if (gate->containment > 0)
        least = twin__gate_least_contained(gate->containment, provider->size(provider, a),
                                           provider->size(provider, b), gate->slots);
    return least == 0 || twin__provider_agreement(provider, a, b) >= least;
}

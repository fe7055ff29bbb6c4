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

struct twin__gate twin__gate_make(twin_measure measure, double threshold, twin_verify verify, size_t slots)
{
    struct twin__gate gate = { .slots = slots };
    if (verify == TWIN_VERIFY_NONE || measure == TWIN_CONTAINMENT) /* which bounds no number of slots */
        return gate;
    if (verify == TWIN_VERIFY_ESTIMATE)
        gate.least = twin__gate_least_estimated(threshold, slots);
    else
        gate.least = twin__gate_least(threshold, slots);
    return gate;
}

bool twin__gate_passes(const struct twin__gate *gate, const struct twin__provider *provider, uint32_t a, uint32_t b)
{
    return gate->least == 0 || twin__provider_agreement(provider, a, b) >= gate->least;
}

/* gate.c — what equal slots of signatures say: the signature gate, and signatures as sets. */
#include "join/join_private.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "kernels/sort.h"

/* ---- the gate ---- */

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
    else if (!twin__switched_off.gate)
        gate.least = twin__gate_least(threshold, slots);
    return gate;
}

bool twin__gate_passes(const struct twin__gate *gate, const struct twin__provider *provider, uint32_t a, uint32_t b)
{
    return gate->least == 0 || twin__provider_agreement(provider, a, b) >= gate->least;
}

/* ---- signatures as sets ---- */

struct source {
    const struct twin__provider *of;
    uint64_t *items; /* twice the slots per worker: a set, and what sorting needs */
};

static uint64_t size_of(const struct twin__provider *provider, uint32_t document)
{
    (void)document;
    return provider->signatures.slots;
}

/* Mixing is a bijection: different slots or values are different items. */
static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    (void)error;
    const struct source *source = provider->context;
    size_t slots = provider->signatures.slots;
    const uint32_t *signature = twin__provider_signature(source->of, document);
    uint64_t *items = source->items + 2 * slots * (size_t)worker;
    for (size_t i = 0; i < slots; i++)
        items[i] = twin__mix((uint64_t)i << 32 | signature[i]);
    twin__sort(items, slots, items + slots, slots);
    *out = (struct twin__content){ items, slots * sizeof *items };
    return TWIN_OK;
}

twin_status twin__signature_provider(struct twin__provider *out, const struct twin__provider *of, int workers)
{
    struct source *source = calloc(1, sizeof *source);
    *out = (struct twin__provider){ .count = of->count,
                                    .signatures = of->signatures,
                                    .size = size_of,
                                    .fetch = fetch,
                                    .split = of->split,
                                    .context = source };
    if (!source)
        return TWIN_ENOMEM;
    source->of = of;
    source->items = malloc(2 * of->signatures.slots * (size_t)workers * sizeof *source->items);
    if (source->items)
        return TWIN_OK;
    twin__signature_provider_clear(out);
    return TWIN_ENOMEM;
}

void twin__signature_provider_clear(struct twin__provider *provider)
{
    struct source *source = provider->context;
    if (source)
        free(source->items);
    free(source);
    *provider = (struct twin__provider){ 0 };
}

double twin__signature_threshold(size_t least, size_t slots)
{
    double between = (double)least - .5; /* far from both, however it is rounded */
    return between / (2 * (double)slots - between);
}

size_t twin__signature_equal(double similarity, size_t slots)
{
    return (size_t)lround(2 * (double)slots * similarity / (1 + similarity));
}

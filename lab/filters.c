/* filters.c — false-positive rates of Bloom filters: by formula, and observed over many filters. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* p = (1 - (1 - 1/n)^km)^k. The share of empty cells has the variance of the occupancy problem, and p moves with
 * it at the rate dp/dfill. */
static struct theory classic(twin_bloom_shape shape, double items)
{
    double n = (double)shape.cells, k = shape.functions, load = k * items / n;
    double fill = -expm1(k * items * log1p(-1 / n)), slope = k * pow(fill, k - 1);
    double fill_variance = (exp(-load) - (1 + load) * exp(-2 * load)) / n;
    return (struct theory){ pow(fill, k), slope * slope * fill_variance };
}

/* A block of k lanes of w cells holds a Poisson number of items, i; it answers yes with probability (1 - (1 -
 * 1/w)^i)^k. Items are a fixed number in all, so what is linear in i does not vary. */
static struct theory blocks(twin_bloom_shape shape, double items)
{
    double k = 8, w = 64, count = (double)shape.cells / (k * w), mean = items / count;
    double sum = 0, squares = 0, products = 0, weight = exp(-mean);
    for (int i = 0; i < 20 * (mean + 10); weight *= mean / ++i) {
        double rate = pow(1 - pow(1 - 1 / w, i), k);
        sum += weight * rate;
        squares += weight * rate * rate;
        products += weight * rate * (i - mean);
    }
    return (struct theory){ sum, (squares - sum * sum - products * products / mean) / count };
}

struct theory theory_of(twin_bloom_shape shape, double items)
{
    return shape.layout == TWIN_BLOOM_BLOCKS ? blocks(shape, items) : classic(shape, items);
}

struct trials {
    struct trial trial;
    struct outcome *outcomes; /* one for each filter */
};

/* One filter, with a member of the family and strings that no other filter has. */
static void try_one(struct outcome *out, struct trial trial, size_t number)
{
    uint64_t seed = seed_of(trial.seed, number);
    struct items items;
    twin_bloom *bloom;
    twin_bloom_info info;
    size_t most = trial.items > trial.queries ? trial.items : trial.queries;
    bool *found = need(most, sizeof *found);
    items_random(&items, trial.items + trial.queries, seed);
    trial.options.hash = twin_hash_member(trial.options.hash.family, seed);
    expect(twin_bloom_create(&bloom, trial.options), "making a filter", NULL);

    twin_bloom_add_many(NULL, bloom, items.texts, trial.items);
    size_t held = twin_bloom_may_contain_many(found, bloom, items.texts, trial.items);
    out->hits = twin_bloom_may_contain_many(found, bloom, items.texts + trial.items, trial.queries);
    out->denied = trial.items - held;
    twin_bloom_describe(&info, bloom);
    out->shape = info.shape;
    out->reported = info.rate;
    out->estimate = info.items;
    out->past_plan = info.past_plan;
    twin_bloom_free(bloom);
    items_clear(&items);
    free(found);
}

static void try_some(void *context, size_t begin, size_t end, int worker)
{
    struct trials *trials = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        try_one(&trials->outcomes[i], trials->trial, i);
}

/* Dividing hits and trials by the excess variance corrects for it. */
struct observed observe(uint64_t hits, uint64_t trials, size_t per_filter, struct theory theory)
{
    double excess = 1 + (double)per_filter * theory.variance / (theory.rate * (1 - theory.rate));
    double fewer_hits = (double)hits / excess, fewer_trials = (double)trials / excess;
    return (struct observed){ fewer_hits / fewer_trials, p_binomial(fewer_hits, fewer_trials, theory.rate),
                              interval_of(fewer_hits, fewer_trials) };
}

void try_filters(struct outcome *out, const struct lab *lab, struct trial trial)
{
    struct trials trials = { trial, need(trial.repeats, sizeof *trials.outcomes) };
    twin_exec_for(lab->exec, trial.repeats, 1, try_some, &trials);
    *out = (struct outcome){ .shape = trials.outcomes[0].shape,
                             .queries = trial.queries * trial.repeats,
                             .added = trial.items * trial.repeats };
    for (size_t i = 0; i < trial.repeats; i++) {
        out->hits += trials.outcomes[i].hits;
        out->denied += trials.outcomes[i].denied;
        out->reported += trials.outcomes[i].reported / (double)trial.repeats;
        out->estimate += trials.outcomes[i].estimate / (double)trial.repeats;
        out->past_plan += trials.outcomes[i].past_plan;
    }
    struct theory theory = theory_of(out->shape, (double)trial.items);
    out->theory = theory.rate;
    out->observed = observe(out->hits, out->queries, trial.queries, theory);
    free(trials.outcomes);
}

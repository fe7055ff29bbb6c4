/* bloom_plan.c — the cells and functions that a filter needs, and the rate that they give.
 *
 * The planner searches for the smallest filter that keeps the rate: for the classic layout over k, for blocks by
 * bisection over the load of a block. */
#include "bloom/bloom_private.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

enum { DEFAULT_ITEMS = 1000000 };
static const double DEFAULT_RATE = 0.01;
static const double SMALLEST_RATE = 1e-12, LARGEST_RATE = 0.5;

/* Below it a block layout takes over 15 % more memory than a classic one (at 0.3 % it is 7 %). */
static const double BLOCKS_FROM_RATE = 0.003;

/* Items are distinguished by 64 bits: the probability that an item has those of one of this many others. */
static double twin_chance(double items)
{
    return items * 0x1p-64;
}

/* p = (1 - e^{-km/n})^k, the textbook formula. */
static double classic_rate(double cells_per_item, unsigned functions)
{
    return pow(-expm1(-(double)functions / cells_per_item), functions);
}

/* A block that got i items has each lane's bit set with probability 1 - (1 - 1/64)^i, and blocks get a Poisson
 * number of items with mean `load`. Sizing by the mean alone is a common mistake: planned for 1 %, it gives
 * 1.46 %. Terms further than 12 standard deviations and 40 items from the mean are below 1e-15. */
static double blocks_rate(double load)
{
    double reach = 12 * sqrt(load) + 40;
    double first = fmax(1, floor(load - reach)), last = load + reach, sum = 0;
    int sign; /* lgamma() stores it in a global variable, which is not thread-safe */
    for (double i = first; i <= last; i++) {
        double lane = -expm1(i * log1p(-1.0 / BLOOM_LANE_CELLS));
        sum += exp(i * log(load) - load - lgamma_r(i + 1, &sign)) * pow(lane, BLOOM_LANES);
    }
    return fmin(sum, 1);
}

double twin_bloom_expected_rate(twin_bloom_shape shape, double items)
{
    if (items <= 0)
        return 0;
    double cells_per_item = (double)shape.cells / items, load = BLOOM_BLOCK_CELLS / cells_per_item, rate;
    if (shape.layout == TWIN_BLOOM_CLASSIC)
        rate = classic_rate(cells_per_item, shape.functions);
    else /* at 64·40 items per block every lane is full, except with probability e^-40 */
        rate = load > BLOOM_LANE_CELLS * 40 ? 1 : blocks_rate(load);
    return fmin(rate + twin_chance(items), 1);
}

uint64_t twin_bloom_bytes(twin_bloom_shape shape)
{
    return shape.cells / 8 * shape.cell_bits;
}

/* The fewest cells per item that keep the rate, over all k. */
static double classic_cells_per_item(unsigned *functions, double rate)
{
    double best = INFINITY;
    for (unsigned k = 1; k <= TWIN_BLOOM_MAX_FUNCTIONS; k++) {
        double cells = -(double)k / log1p(-pow(rate, 1.0 / k));
        if (cells < best) {
            best = cells;
            *functions = k;
        }
    }
    return best;
}

static double blocks_cells_per_item(double rate)
{
    double low = 0, high = BLOOM_BLOCK_CELLS; /* items per block: too few, too many */
    for (int step = 0; step < 100; step++) {
        double middle = (low + high) / 2;
        if (middle <= 0 || blocks_rate(middle) <= rate)
            low = middle;
        else
            high = middle;
    }
    return BLOOM_BLOCK_CELLS / low;
}

static unsigned best_functions(double cells_per_item)
{
    unsigned best = 1;
    for (unsigned k = 2; k <= TWIN_BLOOM_MAX_FUNCTIONS; k++)
        if (classic_rate(cells_per_item, k) < classic_rate(cells_per_item, best))
            best = k;
    return best;
}

static bool cell_bits_are_known(unsigned bits)
{
    return bits == 1 || bits == 4 || bits == 8 || bits == 16;
}

static twin_status check_options(const twin_bloom_options *options)
{
    if (!cell_bits_are_known(options->cell_bits))
        return twin__fail(NULL, TWIN_EINVAL, "cell_bits must be 1, 4, 8 or 16, not %u", options->cell_bits);
    if ((unsigned)options->layout > TWIN_BLOOM_CLASSIC)
        return twin__fail(NULL, TWIN_EINVAL, "unknown layout %d", (int)options->layout);
    if (twin_hash_available(options->hash.family) == TWIN_EINVAL)
        return TWIN_EINVAL;
    if (options->functions > TWIN_BLOOM_MAX_FUNCTIONS)
        return twin__fail(NULL, TWIN_EINVAL, "functions must be 1 to %d, not %u", (int)TWIN_BLOOM_MAX_FUNCTIONS,
                          options->functions);
    if (options->grows && (options->cell_bits > 1 || options->cells))
        return twin__fail(NULL, TWIN_EINVAL, "a filter that grows has cells of one bit, from items and rate");
    if (options->cells && options->layout == TWIN_BLOOM_BLOCKS)
        return twin__fail(NULL, TWIN_EINVAL, "cells cannot be chosen for the layout blocks");
    if (!options->cells && options->functions)
        return twin__fail(NULL, TWIN_EINVAL, "functions cannot be chosen without cells");
    if (!options->cells && !(options->rate >= SMALLEST_RATE && options->rate <= LARGEST_RATE))
        return twin__fail(NULL, TWIN_EINVAL, "rate must be %g to %g, not %g", SMALLEST_RATE, LARGEST_RATE,
                          options->rate);
    return twin__check_reserved(NULL, options->reserved, "a filter");
}

void twin__bloom_complete(twin_bloom_options *options)
{
    if (options->items == 0)
        options->items = DEFAULT_ITEMS;
    if (options->rate == 0)
        options->rate = DEFAULT_RATE;
    if (options->cell_bits == 0)
        options->cell_bits = 1;
}

double twin__bloom_layer_rate(double rate)
{
    return fmax(rate / 2, SMALLEST_RATE);
}

twin_status twin_bloom_plan(twin_bloom_shape *out, twin_bloom_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    twin__bloom_complete(&options);
    twin_status status = check_options(&options);
    if (status != TWIN_OK)
        return status;

    if (options.grows)
        options.rate = twin__bloom_layer_rate(options.rate);
    double items = (double)options.items, cells = (double)options.cells;
    twin_bloom_shape shape = { .cell_bits = options.cell_bits, .functions = BLOOM_LANES };
    if (options.cells) {
        shape.layout = TWIN_BLOOM_CLASSIC;
        shape.functions = options.functions ? options.functions : best_functions(cells / items);
    } else {
        bool blocks = options.layout == TWIN_BLOOM_BLOCKS ||
                      (options.layout == TWIN_BLOOM_AUTO && options.rate >= BLOCKS_FROM_RATE);
        double rate = options.rate - twin_chance(items);
        if (rate < options.rate / 2)
            return twin__fail(NULL, TWIN_ELIMIT, "64 bits cannot distinguish this many items at a rate of %g",
                              options.rate);
        shape.layout = blocks ? TWIN_BLOOM_BLOCKS : TWIN_BLOOM_CLASSIC;
        cells = items * (blocks ? blocks_cells_per_item(rate) : classic_cells_per_item(&shape.functions, rate));
    }
    /* Compared as doubles: past 2^53 cells the conversion below would be inexact. */
    if (!(cells <= (double)BLOOM_MAX_CELLS))
        return twin__fail(NULL, TWIN_ELIMIT, "the filter would need %.3g cells, more than 2^46", cells);

    shape.cells = ((uint64_t)ceil(cells) + BLOOM_BLOCK_CELLS - 1) / BLOOM_BLOCK_CELLS * BLOOM_BLOCK_CELLS;
    *out = shape;
    return TWIN_OK;
}

bool twin__bloom_shape_is_sound(twin_bloom_shape shape)
{
    if (!cell_bits_are_known(shape.cell_bits) || shape.functions == 0 || shape.functions > TWIN_BLOOM_MAX_FUNCTIONS)
        return false;
    if (shape.cells == 0 || shape.cells > BLOOM_MAX_CELLS || shape.cells % BLOOM_BLOCK_CELLS != 0)
        return false;
    return shape.layout == TWIN_BLOOM_CLASSIC ||
           (shape.layout == TWIN_BLOOM_BLOCKS && shape.functions == BLOOM_LANES);
}

/* A copy of the layer becomes the one before, and the filter itself, to which callers have a pointer, the new one. */
twin_status twin__bloom_grow(twin_bloom *bloom)
{
    size_t layers = 1;
    for (const twin_bloom *layer = bloom->older; layer; layer = layer->older)
        layers++;
    if (layers == BLOOM_MAX_LAYERS)
        return TWIN_ELIMIT;
    twin_bloom_shape shape = { 0 };
    twin_bloom *older = malloc(sizeof *older), *newer = NULL;
    uint64_t items = bloom->planned_items > UINT64_MAX / 2 ? bloom->planned_items : 2 * bloom->planned_items;
    /* Planned as the first layer of a filter of this layer's rate: it gets half of it. */
    twin_status status =
        older ? twin_bloom_plan(&shape,
                                (twin_bloom_options){ .items = items, .rate = bloom->planned_rate, .grows = true })
              : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin__bloom_make(&newer, shape);
    if (status != TWIN_OK) {
        free(older);
        return status;
    }
    *older = *bloom;
    older->path = NULL;
    older->lock = -1;
    newer->hash = bloom->hash;
    newer->planned_items = items;
    newer->planned_rate = twin__bloom_layer_rate(bloom->planned_rate);
    newer->path = bloom->path;
    newer->lock = bloom->lock;
    newer->grows = true;
    newer->older = older;
    *bloom = *newer;
    free(newer);
    return TWIN_OK;
}

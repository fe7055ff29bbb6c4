/* plan.c — bands, rows and slots from accepted error rates. */
#include <twinsift/plan.h>

#include <float.h>
#include <math.h>

#include "base/error.h"

double twin_plan_probability(twin_plan plan, double similarity)
{
    if (plan.bands == 0 || plan.rows == 0 || !(similarity >= 0))
        return 0;
    if (similarity >= 1)
        return 1;
    /* J^r may vanish next to 1; log1p and expm1 keep its digits. */
    return -expm1((double)plan.bands * log1p(-pow(similarity, (double)plan.rows)));
}

static bool is_fraction(double x)
{
    return x >= 0 && x <= 1; /* false for a NaN */
}

static bool is_point(twin_plan_point point)
{
    return is_fraction(point.similarity) && is_fraction(point.probability);
}

/* Whether any curve, however steep, is below one point and above the other. Every curve rises from
 * (0, 0) to (1, 1), and between these it is neither 0 nor 1. */
static bool can_be_met(twin_plan_point reject, twin_plan_point accept)
{
    if (reject.similarity > 0 && reject.probability <= 0)
        return false;
    if (reject.similarity >= 1 && reject.probability < 1)
        return false;
    if (accept.similarity < 1 && accept.probability >= 1)
        return false;
    if (accept.similarity <= 0 && accept.probability > 0)
        return false;
    return reject.similarity < accept.similarity || reject.probability >= accept.probability;
}

static bool reaches(size_t bands, size_t rows, twin_plan_point accept)
{
    return twin_plan_probability((twin_plan){ bands, rows }, accept.similarity) >= accept.probability;
}

/* The fewest bands of `rows` rows that reach the point; 0 when `most` do not. */
static size_t fewest_bands(size_t rows, twin_plan_point accept, size_t most)
{
    if (most == 0 || !reaches(most, rows, accept))
        return 0;
    size_t enough = most, too_few = 0;
    while (enough - too_few > 1) {
        size_t middle = too_few + (enough - too_few) / 2;
        if (reaches(middle, rows, accept))
            enough = middle;
        else
            too_few = middle;
    }
    return enough;
}

twin_status twin_plan_from_errors(twin_plan *out, twin_plan_point reject, twin_plan_point accept, size_t most_slots)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    if (!is_point(reject) || !is_point(accept) || !can_be_met(reject, accept))
        return twin__fail(NULL, TWIN_EINVAL, "no curve has at most %g at similarity %g and at least %g at %g",
                          reject.probability, reject.similarity, accept.probability, accept.similarity);

    /* More rows never need fewer bands, so the slots grow with the rows: the first plan that rejects well
     * enough is the smallest, and no other has as many slots. */
    for (size_t rows = 1; rows <= most_slots; rows++) {
        size_t bands = fewest_bands(rows, accept, most_slots / rows);
        if (bands == 0)
            break;
        twin_plan plan = { .bands = bands, .rows = rows };
        if (twin_plan_probability(plan, reject.similarity) <= reject.probability) {
            *out = plan;
            return TWIN_OK;
        }
    }
    return twin__fail(NULL, TWIN_ELIMIT, "%zu slots are not enough", most_slots);
}

twin_status twin_plan_from_slots(twin_plan *out, twin_plan_point accept, size_t slots)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    if (!is_point(accept))
        return twin__fail(NULL, TWIN_EINVAL, "a similarity and a probability must be 0 to 1, not %g and %g",
                          accept.similarity, accept.probability);
    if (slots == 0)
        return twin__fail(NULL, TWIN_EINVAL, "slots must be at least 1");

    /* The probability falls as rows are added, so those that reach the point are the first few. */
    size_t rows = 1, most = slots;
    while (rows < most) {
        size_t middle = most - (most - rows) / 2;
        if (reaches(slots / middle, middle, accept))
            rows = middle;
        else
            most = middle - 1;
    }
    *out = (twin_plan){ .bands = slots / rows, .rows = rows };
    return TWIN_OK;
}

size_t twin_plan_slots(double error)
{
    if (!(error > 0 && error <= 1))
        return 0;
    /* 0.1² is a little more than 0.01 or a little less; the last bits must not add a slot. */
    double slots = ceil(1 / error / error * (1 - 4 * DBL_EPSILON));
    return slots < 0x1p63 ? (size_t)slots : SIZE_MAX;
}

twin_status twin_plan_for_bloom(twin_plan_bloom *out, uint64_t items, double probability)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    if (items == 0)
        return twin__fail(NULL, TWIN_EINVAL, "items must be at least 1");
    if (!(probability > 0 && probability < 1))
        return twin__fail(NULL, TWIN_EINVAL, "probability must be above 0 and below 1, not %g", probability);
    double cells = ceil((double)items * -log(probability) / (M_LN2 * M_LN2));
    if (cells >= 0x1p63)
        return twin__fail(NULL, TWIN_ELIMIT, "a filter for %llu items is too large", (unsigned long long)items);

    double functions = fmax(1, round(cells / (double)items * M_LN2));
    double fill = -expm1(functions * (double)items * log1p(-1 / cells));
    *out = (twin_plan_bloom){
        .cells = (uint64_t)cells,
        .bytes = ((uint64_t)cells + 7) / 8,
        .functions = (unsigned)functions,
        .probability = pow(fill, functions),
    };
    return TWIN_OK;
}

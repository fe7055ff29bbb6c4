/* deep_bands.c — bands of more rows, for groups whose documents are alike and yet not similar.
 *
 * Where half of each text is the same, a tenth of all pairs shares one of 25 bands of five rows, and the time to pass
 * them over is quadratic. With twice as many rows one pair in a thousand does. So do fewer similar pairs; they need more
 * bands, for which there are no more slots. So slots are used again: they are shuffled, cut into bands, shuffled again,
 * and so on.
 *
 * A pair of similarity J has m equal slots of k, binomially distributed, and a band of r random slots has only equal ones
 * with probability C(m, r) / C(k, r). Of many bands all are missed with that complement to the power of their number,
 * for a given m: rounds of shuffling are independent, and within a round bands have no slot in common, which makes it
 * likelier that one of them is shared. The sum over m is what is missed. Pairs with too few equal slots do not count:
 * the gate (gate.c) would drop them.
 *
 * More rows need many more bands: which number takes the least time depends on how alike the documents of a group are,
 * which some of its pairs show. Work is counted in looks, as in groups.c. */
#include "join/groups.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"

enum { MOST_SLOTS = 1024, MOST_BANDS = 4096, SAMPLE = 1024 };

/* In looks: to make a key of a document and pass it over if it is alone in its bucket, and for each row of it; to find that a
 * pair has too few equal slots, and that it has enough, which looks at earlier bands. */
static const double PER_KEY = 1, PER_ROW = 1.0 / 16, PER_FAR = 3, PER_NEAR = 15;

/* C(equal, rows) / C(slots, rows). */
static double share_probability(size_t equal, size_t rows, size_t slots)
{
    double probability = 1;
    for (size_t i = 0; i < rows; i++)
        probability *= equal > i ? (double)(equal - i) / (double)(slots - i) : 0;
    return probability;
}

double twin__bands_shared(twin_plan plan, size_t slots, size_t equal)
{
    return (double)plan.bands * share_probability(equal, plan.rows, slots);
}

double twin__deep_plan_missed(twin_plan plan, size_t slots, double similarity, size_t least_equal)
{
    double missed = 0, log_ways = 0; /* of C(slots, equal) */
    for (size_t equal = 0; equal <= slots; equal++) {
        double unequal = (double)(slots - equal);
        if (equal >= least_equal) {
            double log_probability = log_ways + (double)equal * log(similarity);
            if (unequal > 0)
                log_probability += unequal * log1p(-similarity);
            missed += exp(log_probability) * pow(1 - share_probability(equal, plan.rows, slots), (double)plan.bands);
        }
        log_ways += log(unequal / (double)(equal + 1));
    }
    return missed;
}

/* The fewest bands of so many rows that miss no more than is allowed; 0: too many. */
static size_t fewest_bands(size_t rows, size_t slots, double similarity, size_t least_equal, double allowed)
{
    size_t too_few = 0, enough = MOST_BANDS;
    if (twin__deep_plan_missed((twin_plan){ enough, rows }, slots, similarity, least_equal) > allowed)
        return 0;
    while (enough - too_few > 1) {
        size_t middle = (enough + too_few) / 2;
        if (twin__deep_plan_missed((twin_plan){ middle, rows }, slots, similarity, least_equal) > allowed)
            too_few = middle;
        else
            enough = middle;
    }
    return enough;
}

/* Bands of one row miss next to nothing at low thresholds, and that is not what they were planned for: it is enough if
 * drawn bands do not miss more than a tenth of what was accepted. */
static double allowed_to_miss(const twin_similar_options *options)
{
    twin_plan plan = options->bands.plan;
    return plan.rows == 1 ? (1 - TWIN_SCHEME_RECALL) / 10 : 1 - twin_plan_probability(plan, options->threshold);
}

struct twin__deep_plans twin__deep_plans_make(const twin_similar_options *options, size_t slots, size_t least_equal)
{
    struct twin__deep_plans plans = { .slots = slots };
    double allowed = allowed_to_miss(options);
    for (size_t rows = options->bands.plan.rows + 1; rows <= TWIN__MOST_DRAWN_ROWS && rows <= slots; rows++) {
        plans.bands[rows] = fewest_bands(rows, slots, options->threshold, least_equal, allowed);
        if (plans.bands[rows] == 0)
            break; /* more rows need more bands */
    }
    return plans;
}

/* Whether bands of one row are what is planned for the threshold, and pairs are verified. */
static bool has_planned_rows(const twin_similar_options *options, const struct twin__gate *gate)
{
    twin_plan planned = { 0 }, plan = options->bands.plan;
    twin_plan_point accept = { options->threshold, TWIN_SCHEME_RECALL };
    return !twin__switched_off.drawn_bands && plan.rows == 1 && options->verify != TWIN_VERIFY_NONE &&
           options->bands.buckets == 0 && gate->slots <= MOST_SLOTS &&
           twin_plan_from_slots(&planned, accept, gate->slots) == TWIN_OK && planned.rows == 1 &&
           planned.bands == plan.bands;
}

twin_status twin__listing_init(struct twin__listing *out, const struct twin__gate *gate,
                               const twin_similar_options *options)
{
    enum { ROWS = 2 };
    size_t bands = has_planned_rows(options, gate)
                       ? fewest_bands(ROWS, gate->slots, options->threshold, gate->least, allowed_to_miss(options))
                       : 0;
    *out = (struct twin__listing){ .plan = options->bands.plan };
    if (bands == 0)
        return TWIN_OK;
    out->plan = (twin_plan){ bands, ROWS };
    out->order = twin__deep_order(out->plan, gate->slots);
    return out->order ? TWIN_OK : TWIN_ENOMEM;
}

void twin__listing_clear(struct twin__listing *listing)
{
    free(listing->order);
    *listing = (struct twin__listing){ 0 };
}

/* ---- choosing ---- */

/* How many slots some pairs of a group have in common. */
struct likeness {
    uint16_t equal[SAMPLE];
};

static void sample_pairs(struct likeness *out, const struct twin__provider *provider, const uint32_t *documents,
                         size_t count)
{
    uint64_t seed = count; /* not of the numbers: a part of the collection decides as the whole does */
    for (size_t i = 0; i < SAMPLE; i++) {
        size_t a = twin__random_below(&seed, count), b = twin__random_below(&seed, count - 1);
        out->equal[i] = (uint16_t)twin__provider_agreement(provider, documents[a], documents[b + (b >= a)]);
    }
}

/* What it takes to list the pairs of a group, but for comparing those that pass the gate. */
static double listing_looks(twin_plan plan, const struct likeness *likeness, size_t slots, size_t least_equal,
                            size_t documents)
{
    double keys = (double)documents * (PER_KEY + PER_ROW * (double)plan.rows), meetings = 0;
    for (size_t i = 0; i < SAMPLE; i++)
        meetings += share_probability(likeness->equal[i], plan.rows, slots) *
                    (likeness->equal[i] < least_equal ? PER_FAR : PER_NEAR);
    double pairs = (double)documents * (double)(documents - 1) / 2;
    return (double)plan.bands * (keys + pairs * meetings / SAMPLE);
}

static void choose(struct twin__group *group, const struct twin__deep_plans *plans, const struct likeness *likeness,
                   size_t least_equal)
{
    double best = group->meetings;
    for (size_t rows = 1; rows <= TWIN__MOST_DRAWN_ROWS; rows++) {
        twin_plan plan = { plans->bands[rows], rows };
        if (plan.bands == 0)
            continue;
        double looks = listing_looks(plan, likeness, plans->slots, least_equal, group->count);
        if (looks < best) {
            best = looks;
            group->deep = plan;
        }
    }
    group->meetings = best;
}

/* Whether it may take fewer. */
static bool is_considered(const struct twin__group *group)
{
    static const double LEAST = 100; /* per document: that of some fifty bands */
    return group->meetings > LEAST * (double)group->count;
}

void twin__deep_plans_choose(struct twin__groups *groups, const struct twin__provider *provider,
                             const struct twin__gate *gate, const twin_similar_options *options)
{
    struct twin__deep_plans plans = { 0 };
    if (gate->least == 0 || gate->slots > MOST_SLOTS || twin__switched_off.deep_bands)
        return;
    for (size_t i = 0; i < groups->count; i++) {
        struct twin__group *group = &groups->items[i];
        struct likeness likeness;
        if (!is_considered(group))
            continue;
        if (plans.slots == 0)
            plans = twin__deep_plans_make(options, gate->slots, gate->least);
        sample_pairs(&likeness, provider, groups->documents + group->begin, group->count);
        choose(group, &plans, &likeness, gate->least);
    }
}

/* Draws `count` of the slots, each once. */
static void draw_slots(uint16_t *out, size_t count, size_t slots, uint64_t *seed)
{
    uint16_t left[MOST_SLOTS] = { 0 };
    for (size_t i = 0; i < slots; i++)
        left[i] = (uint16_t)i;
    for (size_t i = 0; i < count; i++) {
        size_t other = i + twin__random_below(seed, slots - i);
        out[i] = left[other];
        left[other] = left[i];
    }
}

uint16_t *twin__deep_order(twin_plan plan, size_t slots)
{
    assert(plan.rows > 0 && plan.rows <= slots && slots <= MOST_SLOTS);
    size_t all = plan.bands * plan.rows, in_round = slots / plan.rows * plan.rows;
    uint16_t *order = malloc((all + 1) * sizeof *order);
    uint64_t seed = 1;
    for (size_t begin = 0; order && begin < all; begin += in_round)
        draw_slots(order + begin, all - begin < in_round ? all - begin : in_round, slots, &seed);
    return order;
}

/* scheme.c — defaults, completion and comparison of schemes.
 *
 * The policy of the planner is here and nowhere else: how much recall a threshold asks for, and what containment
 * needs. */
#include <twinsift/scheme.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "sketch/hash.h"
#include "sketch/shingle.h"
#include "sketch/signer.h"

static const double DEFAULT_THRESHOLD = 0.8;

/* Planning for similarity 1 would take one band of all rows, which a single unlucky slot defeats. */
static const double HIGHEST_PLANNED = 0.9999;

/* ---- defaults and completion ---- */

void twin_scheme_seed(twin_scheme *scheme, uint64_t seed)
{
    if (!scheme)
        return;
    scheme->shingle.hash = twin_hash_member(scheme->shingle.hash.family, seed);
    scheme->minhash.seed = seed;
}

void twin_scheme_key(twin_scheme *scheme, const uint64_t key[2])
{
    static const char purpose[] = "twinsift: the seed of signatures";
    if (!scheme || !key)
        return;
    scheme->shingle.hash = (twin_hash){ .family = TWIN_HASH_SIP, .key = { key[0], key[1] } };
    scheme->minhash.seed = twin_hash_bytes(scheme->shingle.hash, purpose, sizeof purpose - 1);
}

twin_scheme twin_scheme_default(void)
{
    twin_scheme scheme = { 0 };
    twin_scheme_seed(&scheme, 1);
    twin_scheme_complete(&scheme, NULL);
    return scheme;
}

static twin_status check_values(const twin_scheme *scheme, twin_error *error)
{
    if ((unsigned)scheme->normal > TWIN_NORMAL_BYTES)
        return twin__fail(error, TWIN_EINVAL, "unknown normalisation %d", (int)scheme->normal);
    if ((unsigned)scheme->measure > TWIN_CONTAINMENT)
        return twin__fail(error, TWIN_EINVAL, "unknown measure %d", (int)scheme->measure);
    twin_status status = twin__check_reserved(error, scheme->reserved, "the scheme");
    if (status == TWIN_OK)
        status = twin__check_reserved(error, scheme->minhash.reserved, "MinHash");
    if (status == TWIN_OK)
        status = twin__shingle_check(&scheme->shingle, error);
    if (status != TWIN_OK)
        return status;
    if (scheme->minhash.slots > TWIN_MINHASH_MAX_SLOTS)
        return twin__fail(error, TWIN_EINVAL, "a signature must have 1 to %d slots, not %zu",
                          (int)TWIN_MINHASH_MAX_SLOTS, scheme->minhash.slots);
    if (!(scheme->threshold >= 0 && scheme->threshold <= 1))
        return twin__fail(error, TWIN_EINVAL, "the threshold must be above 0 and at most 1, not %g",
                          scheme->threshold);
    return TWIN_OK;
}

static twin_status complete_plan(twin_scheme *scheme, twin_error *error)
{
    size_t slots = scheme->minhash.slots;
    twin_plan *plan = &scheme->plan;
    if (plan->bands == 0 && scheme->measure == TWIN_CONTAINMENT) {
        *plan = (twin_plan){ .bands = slots, .rows = 1 };
        return TWIN_OK;
    }
    if (plan->bands == 0) {
        double similarity = scheme->threshold < 1 ? scheme->threshold : HIGHEST_PLANNED;
        return twin_plan_from_slots(plan, (twin_plan_point){ similarity, TWIN_SCHEME_RECALL }, slots);
    }
    if (plan->rows == 0 || plan->rows > slots || plan->bands > slots / plan->rows)
        return twin__fail(error, TWIN_EINVAL, "%zu bands of %zu rows do not fit into %zu slots", plan->bands,
                          plan->rows, slots);
    return TWIN_OK;
}

/* With one row per band, the most that slots can do, a threshold below 0.053 needs more of them than usual. */
static size_t slots_for(const twin_scheme *scheme)
{
    enum { MOST = 1024 };
    double missed = log(1 - TWIN_SCHEME_RECALL), needed = ceil(missed / log1p(-scheme->threshold));
    bool planned = scheme->plan.bands == 0 && scheme->measure == TWIN_JACCARD && scheme->threshold < 1;
    if (!planned || needed <= TWIN_MINHASH_DEFAULT_SLOTS)
        return TWIN_MINHASH_DEFAULT_SLOTS;
    return needed < MOST ? (size_t)needed : MOST;
}

twin_status twin_scheme_complete(twin_scheme *scheme, twin_error *error)
{
    twin_status status = scheme ? check_values(scheme, error) : twin__fail_null(error, "scheme");
    if (status != TWIN_OK)
        return status;
    if (scheme->shingle.width == 0)
        scheme->shingle.width = twin__shingle_default_width(scheme->shingle.kind);
    if (scheme->threshold == 0)
        scheme->threshold = DEFAULT_THRESHOLD;
    if (scheme->minhash.slots == 0)
        scheme->minhash.slots = slots_for(scheme);
    return complete_plan(scheme, error);
}

/* ---- comparison ---- */

static bool equal_words(const twin_shingle_options *a, const twin_shingle_options *b)
{
    if (a->kind != TWIN_SHINGLE_STOP || (!a->stop_words && !b->stop_words))
        return true;
    if (!a->stop_words || !b->stop_words || a->stop_word_count != b->stop_word_count)
        return false;
    for (size_t i = 0; i < a->stop_word_count; i++) {
        twin_text x = a->stop_words[i], y = b->stop_words[i];
        if (x.length != y.length || (x.length && memcmp(x.bytes, y.bytes, x.length) != 0))
            return false;
    }
    return true;
}

bool twin__scheme_equal(const twin_scheme *a, const twin_scheme *b)
{
    if (!a || !b)
        return a == b;
    return a->normal == b->normal && a->shingle.kind == b->shingle.kind && a->shingle.width == b->shingle.width &&
           twin__hash_equal(a->shingle.hash, b->shingle.hash) && equal_words(&a->shingle, &b->shingle) &&
           a->minhash.sketch == b->minhash.sketch && a->minhash.slots == b->minhash.slots &&
           a->minhash.seed == b->minhash.seed && a->measure == b->measure && a->threshold == b->threshold &&
           a->plan.bands == b->plan.bands && a->plan.rows == b->plan.rows && a->multiset == b->multiset;
}

/* minhash.c — MinHash signatures, fast and classic. */
#include <twinsift/minhash.h>

#include <stdlib.h>
#include <string.h>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/kernels.h"

/* Fast similarity sketching (Dahlgaard, Knudsen, Thorup 2017) with two rounds. Each item has a
 * number for every slot: the first two bits say how it was assigned, the other thirty come from its hash.
 *
 *     00 value   the item was assigned to this slot in the first round
 *     01 value   … in the second round
 *     10 value   in neither: the slot's own function of the item
 *     all ones   an empty set
 *
 * The slot keeps the least number over the set. Later rounds cannot change a slot that the first one filled, so they
 * run only while slots are empty; the rule is the same for every set, and merging is a minimum. */
enum { ROUND_TWO = 1 << 30 };
static const uint32_t TAIL = 2u << 30;
static const uint32_t EMPTY = UINT32_MAX;

struct twin_minhash {
    twin_sketch sketch;
    size_t slots;
    uint64_t seed[3]; /* of the first round (or the classic functions), the second, and the slots' own functions */
    uint32_t *factor, *offset; /* one linear function per slot: for classic, and for slots that fast leaves empty */
    uint32_t functions[];      /* memory of the two */
};

static const char *const sketch_names[] = { [TWIN_SKETCH_FAST] = "fast", [TWIN_SKETCH_CLASSIC] = "classic" };
enum { SKETCHES = sizeof sketch_names / sizeof sketch_names[0] };

const char *twin_sketch_name(twin_sketch sketch)
{
    return twin__enum_name((int)sketch, sketch_names, SKETCHES);
}

twin_status twin_sketch_from_name(twin_sketch *out, const char *name)
{
    int sketch = twin__enum_from_name(name, sketch_names, SKETCHES);
    if (!out || sketch < 0)
        return twin__fail_name(out, "sketch", name);
    *out = (twin_sketch)sketch;
    return TWIN_OK;
}

static void draw_functions(twin_minhash *hasher, uint64_t seed)
{
    for (size_t i = 0; i < 3; i++)
        hasher->seed[i] = twin__random_next(&seed);
    for (size_t slot = 0; slot < hasher->slots; slot++) {
        uint64_t x = twin__random_next(&seed);
        hasher->factor[slot] = (uint32_t)x | 1; /* odd, so that multiplication is a bijection */
        hasher->offset[slot] = (uint32_t)(x >> 32);
    }
}

twin_status twin_minhash_create(twin_minhash **out, twin_minhash_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    if (options.slots > TWIN_MINHASH_MAX_SLOTS)
        return twin__fail(NULL, TWIN_EINVAL, "slots must be 1 to %d, not %zu", (int)TWIN_MINHASH_MAX_SLOTS,
                          options.slots);
    if ((unsigned)options.sketch >= SKETCHES)
        return twin__fail(NULL, TWIN_EINVAL, "there is no sketch number %d", (int)options.sketch);
    if (options.slots == 0)
        options.slots = TWIN_MINHASH_DEFAULT_SLOTS;
    twin_minhash *hasher = malloc(sizeof *hasher + 2 * options.slots * sizeof hasher->functions[0]);
    if (!hasher)
        return TWIN_ENOMEM;
    hasher->sketch = options.sketch;
    hasher->slots = options.slots;
    hasher->factor = hasher->functions;
    hasher->offset = hasher->functions + options.slots;
    draw_functions(hasher, options.seed);
    *out = hasher;
    return TWIN_OK;
}

void twin_minhash_free(twin_minhash *hasher)
{
    free(hasher);
}

/* Fills up to BATCH of the empty slots from their own functions. */
enum { BATCH = 128 };

static void fill_tail(uint32_t *out, const twin_minhash *hasher, const uint64_t *items, size_t count)
{
    uint32_t least[BATCH], factor[BATCH], offset[BATCH];
    uint32_t where[BATCH];
    size_t taken = 0;
    const struct kernels *kernels = twin__kernels();
    for (size_t slot = 0; slot < hasher->slots && taken < BATCH; slot++) {
        if (out[slot] != EMPTY)
            continue;
        where[taken] = (uint32_t)slot;
        factor[taken] = hasher->factor[slot];
        offset[taken] = hasher->offset[slot];
        least[taken++] = UINT32_MAX;
    }
    kernels->linear_minima(least, factor, offset, taken, items, count, hasher->seed[2]);
    for (size_t i = 0; i < taken; i++)
        out[where[i]] = TAIL | least[i] >> 2;
}

static bool any_empty(const uint32_t *out, size_t slots)
{
    bool empty = false;
    for (size_t slot = 0; slot < slots; slot++)
        empty |= out[slot] == EMPTY;
    return empty;
}

static void sign_fast(uint32_t *out, const twin_minhash *hasher, const uint64_t *items, size_t count)
{
    const struct kernels *kernels = twin__kernels();
    kernels->fast_round(out, hasher->slots, items, count, hasher->seed[0], 0);
    if (!any_empty(out, hasher->slots))
        return;
    kernels->fast_round(out, hasher->slots, items, count, hasher->seed[1], ROUND_TWO);
    while (any_empty(out, hasher->slots))
        fill_tail(out, hasher, items, count);
}

void twin_minhash_sign(uint32_t *out, const twin_minhash *hasher, const uint64_t *items, size_t count)
{
    if (!out || !hasher || (!items && count))
        return;
    memset(out, 0xFF, hasher->slots * sizeof *out);
    if (count == 0)
        return;
    if (hasher->sketch == TWIN_SKETCH_FAST)
        sign_fast(out, hasher, items, count);
    else
        twin__kernels()->linear_minima(out, hasher->factor, hasher->offset, hasher->slots, items, count,
                                       hasher->seed[0]);
}

void twin_minhash_merge(uint32_t *into, const uint32_t *other, size_t slots)
{
    for (size_t slot = 0; into && other && slot < slots; slot++)
        into[slot] = other[slot] < into[slot] ? other[slot] : into[slot];
}

size_t twin_minhash_agreement(const uint32_t *a, const uint32_t *b, size_t slots)
{
    return a && b ? twin__kernels()->agree(a, b, slots) : 0;
}

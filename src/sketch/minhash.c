/* minhash.c — MinHash signatures, fast and classic.
 *
 * Items are added in passes over the same items, so that they may come piece by piece: the first pass fills most
 * slots of the fast sketch, and further ones only those that are still empty. Kernels do the work; what is here says
 * which slots are open, and draws the functions of each slot from the seed. */
#include <twinsift/scheme.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/kernels.h"
#include "sketch/minhash.h"

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

twin_status twin__minhash_create(twin_minhash **out, twin_minhash_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    if (options.slots > TWIN_MINHASH_MAX_SLOTS)
        return twin__fail(NULL, TWIN_EINVAL, "slots must be 1 to %d, not %zu", (int)TWIN_MINHASH_MAX_SLOTS,
                          options.slots);
    if ((unsigned)options.sketch > TWIN_SKETCH_CLASSIC)
        return twin__fail(NULL, TWIN_EINVAL, "unknown sketch %d", (int)options.sketch);
    twin_status status = twin__check_reserved(NULL, options.reserved, "MinHash");
    if (status != TWIN_OK)
        return status;
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

void twin__minhash_free(twin_minhash *hasher)
{
    free(hasher);
}

/* ---- passes over the items ---- */

static bool any_empty(const uint32_t *out, size_t slots)
{
    bool empty = false;
    for (size_t slot = 0; slot < slots; slot++)
        empty |= out[slot] == EMPTY;
    return empty;
}

/* Takes up to TWIN__TAIL_BATCH of the empty slots, to be filled from their own functions. */
static void begin_tail(struct twin__minhash_pass *pass)
{
    const twin_minhash *hasher = pass->hasher;
    pass->taken = 0;
    for (size_t slot = 0; slot < hasher->slots && pass->taken < TWIN__TAIL_BATCH; slot++) {
        if (pass->out[slot] != EMPTY)
            continue;
        pass->where[pass->taken] = (uint32_t)slot;
        pass->factor[pass->taken] = hasher->factor[slot];
        pass->offset[pass->taken] = hasher->offset[slot];
        pass->least[pass->taken++] = UINT32_MAX;
    }
}

static void end_tail(struct twin__minhash_pass *pass)
{
    for (size_t i = 0; i < pass->taken; i++)
        pass->out[pass->where[i]] = TAIL | pass->least[i] >> 2;
}

void twin__minhash_begin(struct twin__minhash_pass *pass, uint32_t *out, const twin_minhash *hasher)
{
    pass->hasher = hasher;
    pass->out = out;
    pass->number = 0;
    pass->any = false;
    pass->taken = 0;
    memset(out, 0xFF, hasher->slots * sizeof *out);
}

bool twin__minhash_next(struct twin__minhash_pass *pass)
{
    if (pass->number == 0) {
        pass->number = 1;
        return true;
    }
    if (!pass->any || pass->hasher->sketch != TWIN_SKETCH_FAST)
        return false;
    if (pass->number >= 3)
        end_tail(pass);
    if (!any_empty(pass->out, pass->hasher->slots))
        return false;
    pass->number++;
    if (pass->number >= 3)
        begin_tail(pass);
    return true;
}

void twin__minhash_add(struct twin__minhash_pass *pass, const uint64_t *items, size_t count)
{
    const twin_minhash *hasher = pass->hasher;
    const struct kernels *kernels = twin__kernels();
    if (count == 0)
        return;
    pass->any = true;
    if (hasher->sketch != TWIN_SKETCH_FAST)
        kernels->linear_minima(pass->out, hasher->factor, hasher->offset, hasher->slots, items, count,
                               hasher->seed[0]);
    else if (pass->number <= 2)
        kernels->fast_round(pass->out, hasher->slots, items, count, hasher->seed[pass->number - 1],
                            pass->number == 1 ? 0 : ROUND_TWO);
    else
        kernels->linear_minima(pass->least, pass->factor, pass->offset, pass->taken, items, count, hasher->seed[2]);
}

void twin__minhash_sign(uint32_t *out, const twin_minhash *hasher, const uint64_t *items, size_t count)
{
    if (!out || !hasher || (!items && count))
        return;
    struct twin__minhash_pass pass;
    twin__minhash_begin(&pass, out, hasher);
    while (twin__minhash_next(&pass))
        twin__minhash_add(&pass, items, count);
}

void twin__minhash_merge(uint32_t *into, const uint32_t *other, size_t slots)
{
    for (size_t slot = 0; into && other && slot < slots; slot++)
        into[slot] = other[slot] < into[slot] ? other[slot] : into[slot];
}

size_t twin_minhash_agreement(const uint32_t *a, const uint32_t *b, size_t slots)
{
    return a && b ? twin__kernels()->agree(a, b, slots) : 0;
}

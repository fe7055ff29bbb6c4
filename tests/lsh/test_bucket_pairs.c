/* test_bucket_pairs.c — pairs with enough equal slots in large buckets, against a comparison of every pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "lsh/bands.h"
#include "lsh/large_buckets.h"

enum { DOCUMENTS = 270, MOST_SLOTS = 140 }; /* more than two tiles */

/* Signatures of four values, so that buckets are large; some values differ in the second byte only. Every third document is
 * that before it, with some changes. */
struct world {
    size_t slots;
    uint32_t rows[DOCUMENTS * MOST_SLOTS], documents[DOCUMENTS], groups[DOCUMENTS];
};

static void draw(struct world *world, size_t slots, uint64_t *seed)
{
    world->slots = slots;
    for (size_t i = 0; i < DOCUMENTS * slots; i++)
        world->rows[i] = (uint32_t)(twin__random_below(seed, 4) / 3 | twin__random_below(seed, 64) / 63 << 8);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        world->documents[i] = (uint32_t)i;
        world->groups[i] = (uint32_t)twin__random_below(seed, 2);
        for (size_t k = 0; i % 3 == 2 && k < slots; k++)
            if (twin__random_below(seed, 8))
                world->rows[i * slots + k] = world->rows[(i - 1) * slots + k];
    }
}

/* What was visited. */
struct visited {
    uint8_t pairs[DOCUMENTS][DOCUMENTS];
    uint64_t passed_over;
};

static void visit(void *context, uint32_t a, uint32_t b, int worker)
{
    (void)worker;
    struct visited *visited = context;
    visited->pairs[a][b]++;
}

static void pass_over(void *context, uint64_t count, int worker)
{
    (void)worker;
    struct visited *visited = context;
    visited->passed_over += count;
}

static bool share_band(const uint32_t *a, const uint32_t *b, twin_plan plan)
{
    for (size_t band = 0; band < plan.bands; band++)
        if (memcmp(a + band * plan.rows, b + band * plan.rows, plan.rows * sizeof *a) == 0)
            return true;
    return false;
}

/* What is to be visited. */
struct truth {
    bool wanted[DOCUMENTS][DOCUMENTS];
    uint32_t equal[DOCUMENTS][DOCUMENTS];
};

static void compare_all(struct truth *out, const struct world *world, twin_plan plan,
                        const struct twin__band_visits *visits)
{
    for (uint32_t b = 0; b < DOCUMENTS; b++)
        for (uint32_t a = 0; a < b; a++) {
            const uint32_t *x = world->rows + a * world->slots, *y = world->rows + b * world->slots;
            out->equal[a][b] = 0;
            for (size_t k = 0; k < world->slots; k++)
                out->equal[a][b] += x[k] == y[k];
            out->wanted[a][b] = (visits->split == 0 || (a < visits->split && b >= visits->split)) &&
                                (!visits->within || visits->within[a] == visits->within[b]) && share_band(x, y, plan);
        }
}

/* Pairs with enough equal slots are visited once, others at most once; both together are all that share a band. */
static void check(const struct visited *visited, const struct truth *truth, size_t least_equal)
{
    uint64_t sharing = 0, seen = 0;
    for (uint32_t b = 0; b < DOCUMENTS; b++)
        for (uint32_t a = 0; a < b; a++) {
            bool wanted = truth->wanted[a][b];
            if (visited->pairs[b][a] || visited->pairs[a][b] > wanted ||
                (wanted && truth->equal[a][b] >= least_equal && !visited->pairs[a][b]))
                fail_msg("documents %u and %u with %u equal slots", a, b, truth->equal[a][b]);
            sharing += wanted;
            seen += visited->pairs[a][b];
        }
    assert_true(visited->passed_over > 0);
    assert_int_equal(seen + visited->passed_over, sharing);
}

static void no_pair_with_enough_equal_slots_is_passed_over(void **unused)
{
    (void)unused;
    static struct world world;
    static struct visited visited;
    static struct truth truth;
    static const twin_plan plans[] = { { 25, 5 }, { 16, 2 }, { 12, 1 }, { 42, 3 } };
    static const size_t extra[] = { 0, 12, 3 };
    twin_cpu before = twin_cpu_level();
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        for (int kind = 0; kind < 3; kind++) {
            draw(&world, 128 + extra[kind], &seed);
            twin_signatures signatures = { world.rows, world.slots, world.documents, DOCUMENTS };
            struct twin__band_visits visits = { .pair = visit,
                                                .least_equal = world.slots * 9 / 16,
                                                .passed_over = pass_over,
                                                .within = kind == 1 ? world.groups : NULL,
                                                .split = kind == 2 ? DOCUMENTS / 3 : 0,
                                                .context = &visited };
            compare_all(&truth, &world, plans[i], &visits);
            for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                assert_int_equal(twin_cpu_use(level), TWIN_OK);
                memset(&visited, 0, sizeof visited);
                assert_int_equal(twin__bands_visit(signatures, (twin_band_options){ .plan = plans[i] },
                                                   (twin_exec){ TWIN_EXEC_SERIAL, 1 }, visits, (twin_progress){ 0 }),
                                 TWIN_OK);
                check(&visited, &truth, visits.least_equal);
            }
        }
    twin_cpu_use(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_with_enough_equal_slots_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_family.c — pairs of a family, compared by what is encoded of their sets, against comparing the sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "fetched.h"
#include "join/family.h"
#include "numbers.h"
#include "slow_set.h"

enum { DOCUMENTS = 200, MOST_ITEMS = 300, MOST_WORKERS = 5, FIRST_WORKER = 2 };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const twin_exec execs[] = { { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 2 }, { TWIN_EXEC_PTHREADS, 3 } };

/* Sets in memory. */
struct world {
    uint64_t items[DOCUMENTS][MOST_ITEMS];
    size_t sizes[DOCUMENTS];
    struct fetched fetched;
    uint32_t missing;
    unsigned every; /* of the pairs, one in so many is compared */
};

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    struct world *world = provider->context;
    assert_true(worker >= FIRST_WORKER && worker < MOST_WORKERS);
    if (document >= world->missing)
        return twin__fail(error, TWIN_EIO, "document %u cannot be read", document);
    *out = fetch_copy(&world->fetched, worker, world->items[document], world->sizes[document]);
    return TWIN_OK;
}

/* Half of the items are of one of some templates, a quarter of a vocabulary, the others are new. With `mixed` items are
 * hashes, else small numbers, which all belong to the first slots of every table. Some sets are empty. */
static void draw(struct world *world, unsigned templates, bool mixed, uint64_t seed)
{
    *world = (struct world){ .missing = UINT32_MAX, .every = 1 };
    uint64_t fresh = 100000;
    for (size_t d = 0; d < DOCUMENTS; d++) {
        uint64_t template = twin__random_below(&seed, templates), *items = world->items[d];
        size_t count = d % 50 == 7 ? 0 : 20 + twin__random_below(&seed, MOST_ITEMS - 20);
        for (size_t i = 0; i < count; i++) {
            uint64_t item = i < count / 2       ? 1000 * template + i
                            : i < 3 * count / 4 ? 50000 + twin__random_below(&seed, 400)
                                                : fresh++;
            items[i] = mixed ? twin__random_next(&(uint64_t){ item }) : item;
        }
        world->sizes[d] = make_set(items, count);
    }
}

static twin_set set_of(const struct world *world, uint32_t document)
{
    return (twin_set){ world->items[document], world->sizes[document] };
}

static bool is_wanted(const struct world *world, uint32_t row, uint32_t column)
{
    return (row * DOCUMENTS + column) % world->every == 0;
}

static size_t columns_of(uint32_t *out, const void *context, uint32_t row, uint32_t begin, uint32_t end)
{
    size_t count = 0;
    assert_true(begin <= end && end <= row);
    for (uint32_t column = begin; column < end; column++)
        if (is_wanted(context, row, column))
            out[count++] = column;
    return count;
}

static twin_status join(twin_matches *out, struct world *world, struct twin__set_rule rule, size_t most_items,
                        twin_exec exec, twin_error *error)
{
    uint32_t documents[DOCUMENTS];
    for (uint32_t d = 0; d < DOCUMENTS; d++)
        documents[d] = d;
    struct twin__provider provider = { .count = DOCUMENTS, .fetch = fetch, .context = world };
    struct twin__family family = { .source = { .provider = &provider,
                                               .documents = documents,
                                               .count = DOCUMENTS,
                                               .most_items = most_items,
                                               .exec = exec,
                                               .first_worker = FIRST_WORKER },
                                   .rule = rule,
                                   .columns = columns_of,
                                   .context = world };
    uint64_t compared = 0;
    *out = (twin_matches){ 0 };
    twin_status status = twin__family_join(out, &compared, &family, error);
    assert_true(compared >= out->count);
    return status;
}

static void assert_as_sets_are(const twin_matches *got, const struct world *world, struct twin__set_rule rule)
{
    static double similarities[DOCUMENTS][DOCUMENTS];
    size_t expected = 0;
    for (uint32_t b = 0; b < DOCUMENTS; b++)
        for (uint32_t a = 0; a < b; a++) {
            similarities[a][b] =
                is_wanted(world, b, a) ? slow_similarity(set_of(world, a), set_of(world, b), rule.measure) : -1;
            expected += similarities[a][b] >= rule.threshold;
        }
    assert_int_equal(got->count, expected);
    for (size_t i = 0; i < got->count; i++) {
        assert_true(got->items[i].a < got->items[i].b);
        assert_true(got->items[i].similarity == similarities[got->items[i].a][got->items[i].b]);
        similarities[got->items[i].a][got->items[i].b] = -1; /* once */
    }
}

static void similarities_are_those_of_sets(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    static const struct twin__set_rule rules[] = { { TWIN_JACCARD, .3 },
                                                   { TWIN_JACCARD, .8 },
                                                   { TWIN_CONTAINMENT, .5 } };
    static const unsigned every[] = { 1, 40 };
    for (unsigned templates = 1; templates <= 20; templates += 6)
        for (size_t r = 0; r < COUNT(rules); r++)
            for (size_t i = 0; i < COUNT(every); i++) {
                twin_matches got;
                draw(&world, templates, r != 1, templates);
                world.every = every[i];
                assert_int_equal(join(&got, &world, rules[r], 1 << 22, execs[0], NULL), TWIN_OK);
                assert_as_sets_are(&got, &world, rules[r]);
                twin_matches_clear(&got);
            }
}

/* From a document at a time to all of them. */
static void blocks_and_workers_change_nothing(void **state)
{
    (void)state;
    static struct world world;
    static const size_t most[] = { 1, 3000, 20000, 1 << 22 };
    struct twin__set_rule rule = { TWIN_JACCARD, .4 };
    draw(&world, 2, true, 3);
    for (size_t m = 0; m < COUNT(most); m++) {
        twin_matches first, got;
        assert_int_equal(join(&first, &world, rule, most[m], execs[0], NULL), TWIN_OK);
        assert_as_sets_are(&first, &world, rule);
        for (size_t e = 1; e < COUNT(execs); e++) {
            assert_int_equal(join(&got, &world, rule, most[m], execs[e], NULL), TWIN_OK);
            assert_int_equal(got.count, first.count);
            for (size_t i = 0; i < got.count; i++)
                assert_true(got.items[i].a == first.items[i].a && got.items[i].b == first.items[i].b);
            twin_matches_clear(&got);
        }
        twin_matches_clear(&first);
    }
}

static void many_workers_fail_as_one_would(void **state)
{
    (void)state;
    static struct world world;
    struct twin__set_rule rule = { TWIN_JACCARD, .4 };
    for (uint32_t missing = 0; missing < DOCUMENTS; missing += 13)
        for (size_t most = 3000; most <= 1 << 22; most = most == 3000 ? 1 << 22 : most + 1) {
            char message[sizeof((twin_error *)0)->message] = "";
            draw(&world, 1, true, 5);
            world.missing = missing;
            for (size_t e = 0; e < COUNT(execs); e++) {
                twin_matches got;
                twin_error error = { 0 };
                assert_int_equal(join(&got, &world, rule, most, execs[e], &error), TWIN_EIO);
                assert_int_equal(got.count, 0);
                if (e == 0)
                    memcpy(message, error.message, sizeof message);
                assert_string_equal(error.message, message);
                twin_matches_clear(&got);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(similarities_are_those_of_sets),
        cmocka_unit_test(blocks_and_workers_change_nothing),
        cmocka_unit_test(many_workers_fail_as_one_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

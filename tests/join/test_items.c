/* test_items.c — documents compared by table have the similarity of their sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <twinsift/set.h>

#include "base/random.h"
#include "join/items.h"
#include "sketch/set.h"

static twin_set set_of(twin_items *own, const twin_items *items)
{
    twin_items scratch = { 0 };
    twin_set set;
    own->count = 0;
    assert_int_equal(twin__items_reserve(own, items->count + 1), TWIN_OK);
    memcpy(own->items, items->items, items->count * sizeof *own->items);
    own->count = items->count;
    assert_int_equal(twin__set_make(&set, own, &scratch), TWIN_OK);
    twin__items_clear(&scratch);
    return set;
}

/* The same table serves one document after the other, as it does in a join. */
static void check(struct twin__item_table *table, const twin_items *a, const twin_items *b)
{
    twin_items own[2] = { 0 };
    twin_set sets[2] = { set_of(&own[0], a), set_of(&own[1], b) };
    assert_true(twin__item_table_fill(table, a->items, a->count));
    assert_int_equal(table->size, sets[0].count);
    for (twin_measure measure = TWIN_JACCARD; measure <= TWIN_CONTAINMENT; measure++)
        assert_true(twin__item_table_similarity(table, b->items, b->count, measure) ==
                    twin_set_similarity(sets[0], sets[1], measure));
    twin__items_clear(&own[0]);
    twin__items_clear(&own[1]);
}

/* An item of kind 0: mixed; 1: mixed, from few; 2: small numbers, all of one bin; 3: the ends of the range. */
static uint64_t draw(uint64_t *state, int kind, uint64_t range)
{
    uint64_t number = twin__random_next(state) % range;
    uint64_t mixed = number * 0x9E3779B97F4A7C15u;
    switch (kind) {
    case 0:
    case 1: return mixed ^ mixed >> 29;
    case 2: return number;
    default: return number % 2 ? UINT64_MAX - number / 2 : number / 2;
    }
}

static void fill(twin_items *items, uint64_t *state, size_t count, int kind)
{
    uint64_t range = kind == 0 ? 2 * count + 1 : count / 3 + 1;
    items->count = 0;
    assert_int_equal(twin__items_reserve(items, count + 1), TWIN_OK);
    for (size_t i = 0; i < count; i++)
        items->items[items->count++] = draw(state, kind, range);
}

static void tables_agree_with_sorted_sets(void **unused)
{
    (void)unused;
    static const size_t counts[] = { 0, 1, 2, 7, 8, 9, 31, 32, 33, 100, 1000, 5000 };
    enum { COUNTS = sizeof counts / sizeof *counts };
    struct twin__item_table table = { 0 };
    twin_items a = { 0 }, b = { 0 };
    uint64_t state = 5;
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < COUNTS; i++)
            for (size_t j = 0; j < COUNTS; j++) {
                fill(&a, &state, counts[i], kind);
                fill(&b, &state, counts[j], kind);
                check(&table, &a, &b);
                check(&table, &a, &a);
            }
    twin__items_clear(&a);
    twin__items_clear(&b);
    twin__item_table_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tables_agree_with_sorted_sets) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

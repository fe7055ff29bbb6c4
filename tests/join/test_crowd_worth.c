/* test_crowd_worth.c — crowds are searched among those that stay only where listing their pairs would take longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "join/crowd_worth.h"

enum { DOCUMENTS = 1000 };

/* Sets of a certain size, but the last document is too long to be fetched. */
static uint64_t items[4000];

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    (void)worker, (void)error;
    assert_true(document < DOCUMENTS - 1);
    *out = (struct twin__content){ items, *(const size_t *)provider->context * sizeof items[0] };
    return TWIN_OK;
}

static bool is_long(const struct twin__provider *provider, uint32_t document)
{
    (void)provider;
    return document == DOCUMENTS - 1;
}

static bool is_worth(size_t size, double seconds, double comparing)
{
    uint32_t documents[DOCUMENTS];
    struct twin__provider provider = { .count = DOCUMENTS, .fetch = fetch, .is_long = is_long, .context = &size };
    struct twin__crowd crowd = { .count = DOCUMENTS, .seconds = seconds, .comparing = comparing };
    struct twin__crowds crowds = { documents, &crowd, 1 };
    bool worth;
    for (uint32_t i = 0; i < DOCUMENTS; i++)
        documents[i] = DOCUMENTS - 1 - i; /* so that the long one is among the sample */
    assert_int_equal(twin__crowd_is_worth_deciding(&worth, &provider, &crowds, 0, NULL), TWIN_OK);
    return worth;
}

/* To fetch a thousand documents takes 0.06 s. */
static void families_are_searched(void **state)
{
    (void)state;
    assert_false(is_worth(2000, .05, .05));
    assert_true(is_worth(2000, .07, .065));
    assert_true(is_worth(4000, .07, .065));
}

/* To look up those of 2,000 items takes 0.6 s, and those of 200 no more than to fetch them. */
static void where_nobody_is_similar_it_depends_on_their_size(void **state)
{
    (void)state;
    assert_false(is_worth(2000, .5, 0));
    assert_true(is_worth(2000, .61, 0));
    assert_false(is_worth(4000, .61, 0));
    assert_true(is_worth(200, .07, 0));
    assert_false(is_worth(200, .05, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_searched),
        cmocka_unit_test(where_nobody_is_similar_it_depends_on_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

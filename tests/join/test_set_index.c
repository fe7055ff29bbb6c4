/* test_set_index.c — how many members a set is compared with, where each of them could be similar. What the index finds is
 * tested with the joins that use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "join/set_index.h"
#include "numbers.h"
#include "scale.h"
#include "slow_set.h"

/* A form of 100 places, in each of which eight of ten documents have the same word: any two could be similar, and nothing but
 * all of their words tells. Words that differ are one of two, so that nearly all are frequent. */
enum { PLACES = 100, FORMS = (QUICK ? 2 : 4) * TWIN__MOST_IN_VAIN, ASKED = 20 };

static uint64_t forms[FORMS][PLACES];

static void draw_forms(void)
{
    uint64_t seed = 3;
    for (size_t d = 0; d < FORMS; d++) {
        for (size_t i = 0; i < PLACES; i++) {
            uint64_t word = twin__random_below(&seed, 10);
            forms[d][i] = twin__mix(3 * i + 1 + (word < 2 ? 1 + word : 0));
        }
        assert_int_equal(make_set(forms[d], PLACES), PLACES);
    }
}

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    (void)provider, (void)worker, (void)error;
    *out = (struct twin__content){ forms[document], sizeof forms[document] };
    return TWIN_OK;
}

static void fill(struct twin__set_index *index, struct twin__index_worker *worker, double threshold)
{
    static uint32_t documents[FORMS];
    struct twin__provider provider = { .count = FORMS, .fetch = fetch };
    struct twin__set_source source = { .provider = &provider, .documents = documents, .count = FORMS };
    for (uint32_t d = 0; d < FORMS; d++)
        documents[d] = d;
    assert_int_equal(twin__set_index_init(index, &source, TWIN_JACCARD, threshold, NULL), TWIN_OK);
    for (uint32_t d = 0; d < FORMS; d++) {
        struct twin__divided_set set;
        assert_true(twin__index_divide(&set, worker, &index->frequent, (twin_set){ forms[d], PLACES }));
        assert_true(twin__set_index_add(index, d, set));
    }
}

static size_t count_similar(size_t form, double threshold)
{
    size_t similar = 0;
    for (size_t other = 0; other < form; other++)
        similar += slow_similarity((twin_set){ forms[form], PLACES }, (twin_set){ forms[other], PLACES },
                                   TWIN_JACCARD) >= threshold;
    return similar;
}

/* One in four is similar, of the least usual forms one in a hundred: all are found, however many are not. */
static void what_finds_some_is_compared_with_all(void **state)
{
    (void)state;
    struct twin__set_index index;
    struct twin__index_worker worker = { 0 };
    draw_forms();
    fill(&index, &worker, .52);
    for (size_t form = FORMS - ASKED; form < FORMS; form++) {
        uint16_t in_vain = 0;
        struct twin__index_query query = twin__set_index_query_member(&index, form);
        query.in_vain = &in_vain;
        assert_true(twin__set_index_all(&worker.scratch, &index, &query));
        assert_int_equal(worker.scratch.found_count, count_similar(form, .52));
        assert_in_range(worker.scratch.found_count, FORMS / 400, FORMS - (QUICK ? 0 : TWIN__MOST_IN_VAIN));
    }
    assert_int_equal(worker.scratch.cut, 0);
    assert_in_range(worker.scratch.compared, ASKED * (FORMS - 2 * ASKED), ASKED * FORMS);
    twin__index_worker_clear(&worker);
    twin__set_index_clear(&index);
}

/* None is similar: after so many the search ends, and is counted. */
static void what_finds_none_is_not(void **state)
{
    (void)state;
    struct twin__set_index index;
    struct twin__index_worker worker = { 0 };
    draw_forms();
    fill(&index, &worker, .85);
    uint16_t in_vain = 0;
    struct twin__index_query query = twin__set_index_query_member(&index, FORMS - 1);
    query.in_vain = &in_vain;
    assert_true(twin__set_index_all(&worker.scratch, &index, &query));
    assert_int_equal(worker.scratch.found_count, 0);
    assert_in_range(worker.scratch.compared, TWIN__MOST_IN_VAIN, TWIN__MOST_IN_VAIN + FORMS / 8);
    assert_int_equal(worker.scratch.cut, 1);
    twin__index_worker_clear(&worker);
    twin__set_index_clear(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_finds_some_is_compared_with_all),
        cmocka_unit_test(what_finds_none_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

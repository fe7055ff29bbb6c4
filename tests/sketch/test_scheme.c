/* test_scheme.c — completion against the formulas, and the text form there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twinsift/scheme.h>

#include "foreign_locale.h"
#include "random_unit.h"
#include "sketch/signer.h"

static void the_default_is_complete_and_known(void **state)
{
    (void)state;
    twin_scheme scheme = twin_scheme_default();
    assert_int_equal(scheme.shingle.kind, TWIN_SHINGLE_AUTO);
    assert_int_equal(scheme.shingle.width, 9);
    assert_int_equal(scheme.minhash.slots, 128);
    assert_int_equal(scheme.plan.bands, 25);
    assert_int_equal(scheme.plan.rows, 5);
    assert_true(scheme.threshold == 0.8 && scheme.minhash.seed == 1 && scheme.shingle.hash.seed == 1);
    twin_buffer line = { 0 };
    assert_int_equal(twin_scheme_write(&line, &scheme), TWIN_OK);
    static const char expected[] = "normal=fold shingle=auto:9 hash=xxh3:1 sketch=fast slots=128 seed=1 "
                                   "measure=jaccard threshold=0.8 bands=25 rows=5";
    assert_int_equal(line.length, sizeof expected - 1);
    assert_memory_equal(line.bytes, expected, line.length);
    twin_buffer_clear(&line);
}

/* Zeros are the default but for the seed. */
static void zeros_are_completed(void **state)
{
    (void)state;
    twin_scheme scheme = { 0 }, usual = twin_scheme_default();
    assert_int_equal(twin_scheme_complete(&scheme, NULL), TWIN_OK);
    assert_false(twin__scheme_equal(&scheme, &usual));
    twin_scheme_seed(&scheme, 1);
    assert_true(twin__scheme_equal(&scheme, &usual));
}

/* No plan with more rows reaches the recall, and the one that was chosen does, by the formula as it is written. */
static void plans_reach_the_recall_with_the_most_rows(void **state)
{
    (void)state;
    for (size_t slots = 16; slots <= 512; slots *= 2)
        for (int percent = 30; percent <= 99; percent += 3) {
            twin_scheme scheme = { .minhash.slots = slots, .threshold = percent / 100.0 };
            assert_int_equal(twin_scheme_complete(&scheme, NULL), TWIN_OK);
            size_t best = 1;
            for (size_t rows = 1; rows <= slots; rows++) {
                size_t bands = slots / rows;
                if (1 - pow(1 - pow(scheme.threshold, (double)rows), (double)bands) >= TWIN_SCHEME_RECALL)
                    best = rows;
            }
            assert_int_equal(scheme.plan.rows, best);
            assert_int_equal(scheme.plan.bands, slots / best);
        }
    twin_scheme whole = { .threshold = 1 }, contained = { .measure = TWIN_CONTAINMENT, .minhash.slots = 77 };
    assert_int_equal(twin_scheme_complete(&whole, NULL), TWIN_OK);
    assert_true(twin_plan_probability(whole.plan, 1) == 1);
    assert_int_equal(twin_scheme_complete(&contained, NULL), TWIN_OK);
    assert_int_equal(contained.plan.bands, 77);
    assert_int_equal(contained.plan.rows, 1);
}

/* By the formula: no fewer slots of one row each find a pair at the threshold. */
static void low_thresholds_get_the_slots_they_need(void **state)
{
    (void)state;
    for (int i = 7; i <= 60; i++) {
        twin_scheme scheme = { .threshold = i / 1000.0 };
        assert_int_equal(twin_scheme_complete(&scheme, NULL), TWIN_OK);
        double slots = (double)scheme.minhash.slots, missed = pow(1 - scheme.threshold, slots);
        assert_true(missed <= 1 - TWIN_SCHEME_RECALL + 1e-12);
        assert_true(slots == 128 || missed / (1 - scheme.threshold) > 1 - TWIN_SCHEME_RECALL - 1e-12);
        assert_true(twin_plan_probability(scheme.plan, scheme.threshold) >= TWIN_SCHEME_RECALL - 1e-12);
    }
    twin_scheme given = { .threshold = 0.01, .minhash.slots = 64 }, lowest = { .threshold = 1e-9 };
    assert_int_equal(twin_scheme_complete(&given, NULL), TWIN_OK);
    assert_int_equal(given.minhash.slots, 64);
    assert_int_equal(twin_scheme_complete(&lowest, NULL), TWIN_OK);
    assert_int_equal(lowest.minhash.slots, 1024);
}

static void values_out_of_range_are_named(void **state)
{
    (void)state;
    const struct {
        twin_scheme scheme;
        const char *words;
    } wrong[] = {
        { { .threshold = 1.5 }, "threshold must be above 0 and at most 1, not 1.5" },
        { { .threshold = -0.1 }, "threshold" },
        { { .threshold = NAN }, "threshold" },
        { { .minhash.slots = 70000 }, "1 to 65536 slots, not 70000" },
        { { .shingle.width = 1025 }, "1 to 1024, not 1025" },
        { { .shingle.kind = (twin_shingle_kind)9 }, "kind of shingle 9" },
        { { .normal = (twin_normal)7 }, "normalisation 7" },
        { { .measure = (twin_measure)5 }, "measure 5" },
        { { .plan = { 30, 5 } }, "30 bands of 5 rows do not fit into 128 slots" },
        { { .plan = { 3, 0 } }, "3 bands of 0 rows" },
        { { .plan = { SIZE_MAX, SIZE_MAX } }, "do not fit" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        twin_scheme scheme = wrong[i].scheme;
        twin_error error = { 0 };
        assert_int_equal(twin_scheme_complete(&scheme, &error), TWIN_EINVAL);
        if (!strstr(error.message, wrong[i].words))
            fail_msg("\"%s\" does not say \"%s\"", error.message, wrong[i].words);
    }
}

static twin_scheme draw(uint64_t *random, const twin_text *words, size_t count)
{
    twin_scheme scheme = { 0 };
    scheme.normal = (twin_normal)twin__random_below(random, 3);
    scheme.shingle.kind = (twin_shingle_kind)twin__random_below(random, 5);
    scheme.shingle.width = 1 + twin__random_below(random, 1024);
    scheme.shingle.hash.family = (twin_hash_family)twin__random_below(random, 4);
    twin_scheme_seed(&scheme, twin__random_next(random));
    if (scheme.shingle.kind == TWIN_SHINGLE_STOP && twin__random_below(random, 2)) {
        scheme.shingle.stop_words = words;
        scheme.shingle.stop_word_count = count;
    }
    scheme.minhash.sketch = (twin_sketch)twin__random_below(random, 2);
    scheme.minhash.slots = 1 + twin__random_below(random, 512);
    scheme.minhash.seed = twin__random_next(random);
    scheme.measure = (twin_measure)twin__random_below(random, 2);
    scheme.multiset = twin__random_below(random, 2);
    scheme.threshold = 1 - random_unit(random);
    if (twin__random_below(random, 2))
        scheme.plan = (twin_plan){ scheme.minhash.slots, 1 };
    return scheme;
}

static void lines_are_read_back(void **state)
{
    (void)state;
    static const char odd[] = "a,b%c \t\x01\x7F\xC3\xA9";
    const twin_text words[] = { { "the", 3 }, { odd, sizeof odd - 1 }, { "=", 1 } };
    uint64_t random = 5;
    for (int i = 0; i < 2000; i++) {
        twin_scheme scheme = draw(&random, words, i % 4), again;
        assert_int_equal(twin_scheme_complete(&scheme, NULL), TWIN_OK);
        twin_buffer line = { 0 }, other = { 0 }, room = { 0 };
        assert_int_equal(twin_scheme_write(&line, &scheme), TWIN_OK);
        twin_error error = { 0 };
        twin_status status = twin_scheme_read(&again, &room, (twin_text){ line.bytes, line.length }, &error);
        if (status != TWIN_OK)
            fail_msg("%.*s: %s", (int)line.length, line.bytes, error.message);
        assert_true(twin__scheme_equal(&scheme, &again));
        assert_int_equal(twin_scheme_write(&other, &again), TWIN_OK);
        assert_int_equal(other.length, line.length);
        assert_memory_equal(other.bytes, line.bytes, line.length);
        twin_buffer_clear(&line);
        twin_buffer_clear(&other);
        twin_buffer_clear(&room);
    }
}

/* Every single part of a scheme makes a difference. */
static void unequal_parts_make_unequal_schemes(void **state)
{
    (void)state;
    twin_scheme base = twin_scheme_default(), other[11];
    for (size_t i = 0; i < 11; i++)
        other[i] = base;
    other[0].normal = TWIN_NORMAL_BYTES;
    other[1].shingle.kind = TWIN_SHINGLE_BYTE;
    other[2].shingle.width = 8;
    other[3].shingle.hash.family = TWIN_HASH_JENKINS;
    other[4].shingle.hash.seed = 2;
    other[5].minhash.sketch = TWIN_SKETCH_CLASSIC;
    other[6].minhash.seed = 2;
    other[7].threshold = 0.81;
    other[8].plan.bands = 24;
    other[9].measure = TWIN_CONTAINMENT;
    other[10].multiset = true;
    for (size_t i = 0; i < 11; i++)
        assert_false(twin__scheme_equal(&base, &other[i]));
    assert_true(twin__scheme_equal(&base, &base));
}

static void lines_that_are_no_schemes_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "normal",
        "normal=",
        "normal=folded",
        "colour=red",
        "slots=0",
        "slots=-1",
        "slots=1x",
        "slots=99999999999",
        "threshold=2",
        "threshold=nan",
        "threshold=0",
        "threshold=0x1",
        "bands=3",
        "slots=10 slots=10",
        "hash=sip:12",
        "hash=xxh3",
        "hash=xxh4:1",
        "shingle=char",
        "shingle=char:0",
        "stop-words=a,,b",
        "stop-words=a%2",
        "stop-words=%g1",
        "seed=123456789012345678901",
        "seed=18446744073709551616",
        "multiset=1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        twin_scheme scheme;
        twin_buffer room = { 0 };
        twin_error error = { 0 };
        if (twin_scheme_read(&scheme, &room, (twin_text){ wrong[i], strlen(wrong[i]) }, &error) != TWIN_EFORMAT)
            fail_msg("\"%s\" was read", wrong[i]);
        assert_true(error.message[0]);
        assert_int_equal(error.status, TWIN_EFORMAT);
        assert_string_equal(twin_error_last(TWIN_EFORMAT), error.message);
        twin_buffer_clear(&room);
    }
    twin_scheme empty, usual = { 0 };
    twin_buffer room = { 0 };
    assert_int_equal(twin_scheme_read(&empty, &room, (twin_text){ NULL, 0 }, NULL), TWIN_OK);
    assert_int_equal(twin_scheme_complete(&usual, NULL), TWIN_OK);
    assert_true(twin__scheme_equal(&empty, &usual));
}

/* A decimal comma in the program's locale changes nothing. */
static void the_locale_makes_no_difference(void **state)
{
    begin_foreign_locale();
    the_default_is_complete_and_known(state);
    lines_are_read_back(state);
    end_foreign_locale();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_complete_and_known),
        cmocka_unit_test(zeros_are_completed),
        cmocka_unit_test(plans_reach_the_recall_with_the_most_rows),
        cmocka_unit_test(low_thresholds_get_the_slots_they_need),
        cmocka_unit_test(values_out_of_range_are_named),
        cmocka_unit_test(lines_are_read_back),
        cmocka_unit_test(unequal_parts_make_unequal_schemes),
        cmocka_unit_test(lines_that_are_no_schemes_are_refused),
        cmocka_unit_test(the_locale_makes_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

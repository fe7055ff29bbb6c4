/* test_bands.c — candidates against an exhaustive comparison of every pair in every band. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lsh/bands.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/scheme.h>
#include <xxhash.h>

#include "base/random.h"
#include "scale.h"
#include "sketch/minhash.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { ROWS = 120, SLOTS = 24 };

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };
static const twin_exec execs[] = {
    { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 2 }, { TWIN_EXEC_PTHREADS, 7 }, { TWIN_EXEC_OPENMP, 2 }
};

static bool can_run(twin_exec exec)
{
    twin_exec made;
    return twin_exec_make(&made, exec.kind, exec.workers) == TWIN_OK;
}

/* Random signatures, some of which take whole stretches from others; not every row takes part. */
struct table {
    uint32_t rows[ROWS * SLOTS];
    uint32_t documents[ROWS];
    size_t count;
};

static void draw(struct table *table, uint64_t range, uint64_t *seed)
{
    for (size_t i = 0; i < ROWS * SLOTS; i++)
        table->rows[i] = (uint32_t)twin__random_below(seed, range);
    for (int plant = 0; plant < 100; plant++) {
        size_t from = twin__random_below(seed, ROWS), to = twin__random_below(seed, ROWS);
        size_t begin = twin__random_below(seed, SLOTS), count = 1 + twin__random_below(seed, SLOTS - begin);
        memmove(table->rows + to * SLOTS + begin, table->rows + from * SLOTS + begin, count * sizeof(uint32_t));
    }
    table->count = 0;
    for (uint32_t row = 0; row < ROWS; row++)
        if (twin__random_below(seed, 10) > 0)
            table->documents[table->count++] = row;
}

static bool slow_candidate(const uint32_t *a, const uint32_t *b, twin_band_options options)
{
    for (size_t band = 0; band < options.plan.bands; band++) {
        size_t begin = band * options.plan.rows, bytes = options.plan.rows * sizeof(uint32_t);
        bool equal = memcmp(a + begin, b + begin, bytes) == 0;
        if (options.buckets)
            equal =
                XXH3_64bits(a + begin, bytes) % options.buckets == XXH3_64bits(b + begin, bytes) % options.buckets;
        if (equal)
            return true;
    }
    return false;
}

struct heard {
    pthread_mutex_t lock;
    unsigned char pairs[ROWS][ROWS];
    bool broken;
    int workers;
};

static void hear_pair(void *context, uint32_t a, uint32_t b, int worker)
{
    struct heard *heard = context;
    pthread_mutex_lock(&heard->lock);
    if (a >= b || b >= ROWS || worker < 0 || worker >= heard->workers)
        heard->broken = true;
    else
        heard->pairs[a][b]++;
    pthread_mutex_unlock(&heard->lock);
}

static const twin_band_options shapes[] = {
    { .plan = { 1, 1 } },
    { .plan = { 24, 1 } },
    { .plan = { 1, 24 } },
    { .plan = { 12, 2 } },
    { .plan = { 8, 3 } },
    { .plan = { 4, 5 } },
    { .plan = { 3, 7 } },
    { .plan = { 24, 1 }, .buckets = 50 },
    { .plan = { 8, 3 }, .buckets = 100 },
    { .plan = { 5, 4 }, .buckets = 5000 },
    { .plan = { 12, 2 }, .buckets = 1 },
    { .plan = { 1, 10 } },
};

static void check_pairs(const struct table *table, twin_band_options options, twin_exec exec)
{
    struct heard *heard = calloc(1, sizeof *heard);
    assert_non_null(heard);
    pthread_mutex_init(&heard->lock, NULL);
    heard->workers = exec.workers;
    twin_signatures signatures = { table->rows, SLOTS, table->documents, table->count };
    assert_int_equal(twin__bands_pairs(signatures, options, exec, hear_pair, heard, (twin_progress){ 0 }), TWIN_OK);
    assert_false(heard->broken);
    bool takes_part[ROWS] = { false };
    for (size_t i = 0; i < table->count; i++)
        takes_part[table->documents[i]] = true;
    for (size_t a = 0; a < ROWS; a++)
        for (size_t b = a + 1; b < ROWS; b++)
            assert_int_equal(heard->pairs[a][b],
                             takes_part[a] && takes_part[b] &&
                                 slow_candidate(table->rows + a * SLOTS, table->rows + b * SLOTS, options));
    pthread_mutex_destroy(&heard->lock);
    free(heard);
}

static void every_candidate_pair_is_told_once_and_no_other(void **state)
{
    (void)state;
    static const uint64_t ranges[] = { 2, 5, 100, UINT32_MAX };
    struct table table;
    uint64_t seed = 1;
    for (int round = 0; round < (QUICK ? 2 : 8); round++)
        for (size_t r = 0; r < COUNT(ranges); r++) {
            draw(&table, ranges[r], &seed);
            for (size_t s = 0; s < COUNT(shapes); s++)
                for (size_t e = 0; e < COUNT(execs); e++)
                    if (can_run(execs[e]))
                        check_pairs(&table, shapes[s], execs[e]);
        }
}

/* ---- the curve ---- */

static void count_pair(void *context, uint32_t a, uint32_t b, int worker)
{
    (void)worker;
    *(size_t *)context += a + 1 == b && a % 2 == 0;
}

/* 20 bands of 5 rows, over pairs of sets of a known similarity. A rate p over n pairs has a standard error of
 * sqrt(p(1-p)/n); four of them are allowed, and half a digit of the printed figure. Classic slots are independent,
 * which the formula wants; the pairs of one seed share their functions but no items, and there are many seeds. */
static void candidates_follow_the_curve(void **state)
{
    (void)state;
    static const double printed[] = { .006, .047, .186, .470, .802, .975, .9996 };
    enum { PAIRS = 40, SEEDS = QUICK ? 20 : 300, UNION = 90, CURVE_SLOTS = 100 };
    const twin_band_options options = { .plan = { 20, 5 } };
    uint32_t *rows = malloc(2 * PAIRS * CURVE_SLOTS * sizeof *rows), documents[2 * PAIRS];
    uint64_t items[UNION], seed = 3;
    assert_non_null(rows);
    for (uint32_t i = 0; i < COUNT(documents); i++)
        documents[i] = i;
    for (size_t p = 0; p < COUNT(printed); p++) {
        size_t total = UNION, common = (p + 2) * UNION / 10, /* J = .2 and so on */ only_a = (total - common) / 2,
               found = 0;
        for (uint64_t s = 0; s < SEEDS; s++) {
            twin_minhash *hasher;
            assert_int_equal(twin__minhash_create(&hasher, (twin_minhash_options){ .sketch = TWIN_SKETCH_CLASSIC,
                                                                                   .slots = CURVE_SLOTS,
                                                                                   .seed = s }),
                             TWIN_OK);
            for (size_t pair = 0; pair < PAIRS; pair++) {
                for (size_t i = 0; i < total; i++)
                    items[i] = twin__random_next(&seed);
                twin__minhash_sign(rows + 2 * pair * CURVE_SLOTS, hasher, items, only_a + common);
                twin__minhash_sign(rows + (2 * pair + 1) * CURVE_SLOTS, hasher, items + only_a, total - only_a);
            }
            twin__minhash_free(hasher);
            twin_signatures signatures = { rows, CURVE_SLOTS, documents, COUNT(documents) };
            assert_int_equal(twin__bands_pairs(signatures, options, serial, count_pair, &found, (twin_progress){ 0 }),
                             TWIN_OK);
        }
        double n = PAIRS * SEEDS, rate = (double)found / n, half_digit = p + 1 < COUNT(printed) ? .0005 : .00005;
        assert_true(fabs(rate - printed[p]) < 4 * sqrt(printed[p] * (1 - printed[p]) / n) + half_digit);
    }
    free(rows);
}

/* ---- many documents ---- */

struct sum {
    size_t pairs;
    uint64_t numbers;
};

static void add_pair(void *context, uint32_t a, uint32_t b, int worker)
{
    (void)worker;
    struct sum *sum = context;
    sum->pairs++;
    sum->numbers += ((uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a)) * 0x9E3779B97F4A7C15u;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* More than the million whose buckets have eight bits each: those that are alone are dropped in two rounds. */
static void pairs_among_many_are_those_of_equal_slots(void **state)
{
    (void)state;
    enum { MANY = 1300000 };
    uint32_t *rows = malloc(MANY * sizeof *rows), *documents = malloc(MANY * sizeof *documents);
    uint64_t *sorted = malloc(MANY * sizeof *sorted), seed = 7;
    assert_true(rows && documents && sorted);
    for (uint32_t i = 0; i < MANY; i++) {
        documents[i] = i;
        rows[i] = i % 9 == 8 ? rows[twin__random_below(&seed, i)] : (uint32_t)twin__random_next(&seed);
        sorted[i] = (uint64_t)rows[i] << 32 | i;
    }
    qsort(sorted, MANY, sizeof *sorted, by_value);
    struct sum expected = { 0 }, found = { 0 };
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = i + 1; j < MANY && sorted[i] >> 32 == sorted[j] >> 32; j++)
            add_pair(&expected, (uint32_t)sorted[i], (uint32_t)sorted[j], 0);
    twin_signatures signatures = { rows, 1, documents, MANY };
    assert_int_equal(twin__bands_pairs(signatures, (twin_band_options){ .plan = { 1, 1 } }, serial, add_pair, &found,
                                       (twin_progress){ 0 }),
                     TWIN_OK);
    assert_true(expected.pairs > MANY / 10);
    assert_int_equal(found.pairs, expected.pairs);
    assert_int_equal(found.numbers, expected.numbers);
    free(rows);
    free(documents);
    free(sorted);
}

/* ---- the rest ---- */

static void plans_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const twin_plan bad[] = { { 1, 0 }, { 1, 25 }, { 25, 1 }, { 5, 5 }, { SIZE_MAX, 2 }, { 2, SIZE_MAX } };
    struct table table;
    uint64_t seed = 4;
    draw(&table, 5, &seed);
    twin_signatures signatures = { table.rows, SLOTS, table.documents, table.count };
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(twin__bands_pairs(signatures, (twin_band_options){ .plan = bad[i] }, serial, hear_pair, NULL,
                                           (twin_progress){ 0 }),
                         TWIN_EINVAL);
    }
}

static void nothing_has_no_candidates(void **state)
{
    (void)state;
    struct table table;
    uint64_t seed = 5;
    draw(&table, 2, &seed);
    for (size_t count = 0; count < 2; count++) {
        twin_signatures signatures = { table.rows, SLOTS, table.documents, count };
        assert_int_equal(twin__bands_pairs(signatures, shapes[0], execs[1], hear_pair, NULL, (twin_progress){ 0 }),
                         TWIN_OK);
    }
}

/* ---- keys ---- */

/* The vectors of docs/format.md, from an implementation of XXH3 that shares no code with the library's. */
static void band_keys_are_those_of_the_format(void **state)
{
    (void)state;
    static const uint32_t signature[] = { 0x01020304, 0x02040608, 0x0306090c, 0x04080c10, 0x050a0f14, 0x060c1218 };
    static const uint64_t by_three[] = { 0x384dd1de4591b45c, 0xe3923082d3113694 };
    static const uint64_t by_two[] = { 0x8969409d52ef9859, 0x2c20032954d9a077, 0x240895cf3437cc3a };
    static const uint64_t by_one[] = { 0xc738ba38634321a9, 0x0443f2495bb6a71a, 0xaeb2d9d2daf09d64,
                                       0x7ffb650ecc6a8928, 0x189399d0e833bcd8, 0x60231bffa2df5a64 };
    uint64_t keys[6];
    assert_int_equal(twin_band_keys(keys, signature, (twin_plan){ 2, 3 }), TWIN_OK);
    assert_memory_equal(keys, by_three, sizeof by_three);
    assert_int_equal(twin_band_keys(keys, signature, (twin_plan){ 3, 2 }), TWIN_OK);
    assert_memory_equal(keys, by_two, sizeof by_two);
    assert_int_equal(twin_band_keys(keys, signature, (twin_plan){ 6, 1 }), TWIN_OK);
    assert_memory_equal(keys, by_one, sizeof by_one);
    assert_int_equal(twin_band_keys(keys, signature, (twin_plan){ 0, 1 }), TWIN_EINVAL);
    assert_int_equal(twin_band_keys(keys, signature, (twin_plan){ 1, 0 }), TWIN_EINVAL);
    assert_int_equal(twin_band_keys(NULL, signature, (twin_plan){ 1, 1 }), TWIN_EINVAL);
    assert_int_equal(twin_band_keys(keys, NULL, (twin_plan){ 1, 1 }), TWIN_EINVAL);
}

static void equal_rows_have_equal_keys_in_one_band_only(void **state)
{
    (void)state;
    uint32_t signature[SLOTS] = { 0 };
    uint64_t keys[SLOTS];
    assert_int_equal(twin_band_keys(keys, signature, (twin_plan){ SLOTS, 1 }), TWIN_OK);
    for (size_t i = 0; i < SLOTS; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(keys[i] != keys[j]);
}

static void keys_find_the_candidates_that_bands_find(void **state)
{
    (void)state;
    static struct table table;
    twin_band_options options = { .plan = { 8, 3 } };
    uint64_t seed = 11, a[8], b[8];
    draw(&table, 50, &seed);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < i; j++) {
            const uint32_t *x = table.rows + i * SLOTS, *y = table.rows + j * SLOTS;
            bool meet = false;
            assert_int_equal(twin_band_keys(a, x, options.plan), TWIN_OK);
            assert_int_equal(twin_band_keys(b, y, options.plan), TWIN_OK);
            for (size_t band = 0; band < options.plan.bands; band++)
                meet |= a[band] == b[band];
            assert_true(meet == slow_candidate(x, y, options));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_candidate_pair_is_told_once_and_no_other),
        cmocka_unit_test(candidates_follow_the_curve),
        cmocka_unit_test(pairs_among_many_are_those_of_equal_slots),
        cmocka_unit_test(plans_that_do_not_fit_are_refused),
        cmocka_unit_test(nothing_has_no_candidates),
        cmocka_unit_test(band_keys_are_those_of_the_format),
        cmocka_unit_test(equal_rows_have_equal_keys_in_one_band_only),
        cmocka_unit_test(keys_find_the_candidates_that_bands_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

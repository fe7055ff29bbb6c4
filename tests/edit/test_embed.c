/* test_embed.c — q-gram distance, hash vectors and features against slow implementations. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "edit/embed.h"
#include <cmocka.h>

#include "base/random.h"
#include "numbers.h"
#include "scale.h"

enum { FUNCTIONS = QUICK ? 20000 : 100000, RANDOM_PAIRS = QUICK ? 60 : 300 };

static void draw(char *out, size_t n, uint64_t letters, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (char)('a' + twin__random_below(state, letters));
}

/* Replaces, inserts or deletes this many times; the length stays, letters are dropped or added at the end. */
static void edit(char *s, size_t n, size_t edits, uint64_t letters, uint64_t *state)
{
    for (size_t e = 0; e < edits; e++) {
        size_t at = (size_t)twin__random_below(state, n);
        switch (twin__random_below(state, 3)) {
        case 0: draw(s + at, 1, letters, state); break;
        case 1:
            memmove(s + at + 1, s + at, n - at - 1);
            draw(s + at, 1, letters, state);
            break;
        default:
            memmove(s + at, s + at + 1, n - at - 1);
            draw(s + n - 1, 1, letters, state);
            break;
        }
    }
}

/* How often the gram at p occurs in the window. */
static int occurrences(const char *window, size_t w, const char *p, size_t q)
{
    int count = 0;
    for (size_t i = 0; i + q <= w; i++)
        count += memcmp(window + i, p, q) == 0;
    return count;
}

/* The l1 distance of two windows by definition: each different gram of x and y counted in both. */
static int window_distance(const char *x, const char *y, twin__embed_grams grams)
{
    int sum = 0;
    for (size_t q = grams.q_low; q <= grams.q_high; q++)
        for (size_t i = 0; i + q <= grams.window; i++) {
            if (occurrences(x, i + q - 1, x + i, q) == 0) /* first of its kind in x */
                sum += abs(occurrences(x, grams.window, x + i, q) - occurrences(y, grams.window, x + i, q));
            if (occurrences(y, i + q - 1, y + i, q) == 0 && occurrences(x, grams.window, y + i, q) == 0)
                sum += occurrences(y, grams.window, y + i, q);
        }
    return sum;
}

static double slow_distance(const char *x, const char *y, size_t n, twin__embed_grams grams)
{
    int64_t sum = 0;
    for (size_t i = 0; i + grams.window <= n; i++)
        sum += window_distance(x + i, y + i, grams);
    return (double)sum / (double)((n - grams.window + 1) * (grams.q_high - grams.q_low + 1));
}

static twin_text text(const char *bytes, size_t length)
{
    return (twin_text){ bytes, length };
}

static void gram_distance_is_what_its_definition_says(void **state_unused)
{
    (void)state_unused;
    uint64_t state = 1;
    char x[60], y[60];
    for (int round = 0; round < RANDOM_PAIRS; round++) {
        size_t n = 1 + (size_t)twin__random_below(&state, 60);
        uint64_t letters = 1 + twin__random_below(&state, 3);
        twin__embed_grams grams = { .window = 1 + (size_t)twin__random_below(&state, n) };
        grams.q_high = 1 + (size_t)twin__random_below(&state, grams.window);
        grams.q_low = 1 + (size_t)twin__random_below(&state, grams.q_high);
        draw(x, n, letters, &state);
        draw(y, n, letters, &state);
        if (round % 2) {
            memcpy(y, x, n);
            edit(y, n, 3, letters, &state);
        }
        double distance;
        assert_int_equal(twin__embed_distance(&distance, text(x, n), text(y, n), grams), TWIN_OK);
        assert_true(distance == slow_distance(x, y, n, grams));
    }
}

/* Edits lead to at most 2k(w² + n + 1)/(n - w + 1), and D never passes the number of grams in two windows. */
static void gram_distance_keeps_its_upper_bound(void **state_unused)
{
    (void)state_unused;
    enum { N = 900, W = 30 };
    uint64_t state = 2;
    char x[N], y[N];
    twin__embed_grams grams = twin__embed_paper_grams(W);
    draw(x, N, 26, &state);
    double distance = 0;
    for (size_t k = 0; k < 40; k++) {
        memcpy(y, x, N);
        edit(y, N, k, 26, &state);
        assert_int_equal(twin__embed_distance(&distance, text(x, N), text(y, N), grams), TWIN_OK);
        /* Each edit here keeps the length by a second one at the end. */
        assert_true(distance <= 2.0 * 2 * (double)k * (W * W + N + 1) / (N - W + 1));
        assert_true(k > 0 || distance == 0);
    }
    draw(y, N, 26, &state);
    assert_int_equal(twin__embed_distance(&distance, text(x, N), text(y, N), grams), TWIN_OK);
    double all = 2.0 * (W + 1) - (double)(grams.q_low + grams.q_high);
    assert_true(distance <= all && distance > 0.99 * all);
}

static void the_papers_grams_are_as_published(void **state_unused)
{
    (void)state_unused;
    twin__embed_options options = twin__embed_options_for(TWIN__EMBED_PAPER, 1000, 30, 1);
    assert_int_equal(options.grams.window, 100);
    assert_int_equal(options.grams.q_low, 67);
    assert_int_equal(options.grams.q_high, 75);
    assert_int_equal(options.bucket, 100);
}

/* Whoever computes the quantiles must get these bits. */
static void quantiles_leave_no_room_for_rounding(void **state_unused)
{
    (void)state_unused;
    double nearest = 1;
    for (int i = 0; i < 32768; i++) {
        double value = 256 * tan(3.14159265358979323846 * (i + 0.5) / 65536);
        double margin = fabs(value - floor(value) - 0.5);
        nearest = margin < nearest ? margin : nearest;
    }
    assert_true(nearest > 1e-6); /* the largest is 1.07·10^7, where a double is still good to 2·10^-9 */
}

/* The share of functions on which two texts agree. */
static double agreement(const char *x, const char *y, twin__embed_options options)
{
    twin__embedder *embedder;
    twin__embed_scratch scratch = { 0 };
    uint32_t *a = malloc(options.functions * sizeof *a), *b = malloc(options.functions * sizeof *b);
    size_t equal = 0;
    assert_int_equal(twin__embedder_create(&embedder, options), TWIN_OK);
    assert_int_equal(twin__embed_vector(a, embedder, &scratch, text(x, options.length)), TWIN_OK);
    assert_int_equal(twin__embed_vector(b, embedder, &scratch, text(y, options.length)), TWIN_OK);
    for (size_t i = 0; i < options.functions; i++)
        equal += a[i] == b[i];
    twin__embedder_free(embedder);
    twin__embed_scratch_clear(&scratch);
    free(a);
    free(b);
    return (double)equal / (double)options.functions;
}

/* With a single window all functions see one l1 distance c, and each agrees with probability p(c), independently.
 * The allowance is four standard errors, plus 10^-3 for what the table clips and the grid of 1/256 rounds. */
static void functions_collide_as_often_as_the_formula_says(void **state_unused)
{
    (void)state_unused;
    enum { W = 100 };
    static const size_t edits[] = { 1, 2, 5, 10, 40 };
    static const uint32_t buckets[] = { 20, 40, 160, 800 };
    uint64_t state = 3;
    char x[W], y[W];
    for (size_t e = 0; e < 5; e++)
        for (size_t r = 0; r < 4; r++) {
            twin__embed_grams grams = { W, 2, 4 };
            draw(x, W, 26, &state);
            memcpy(y, x, W);
            edit(y, W, edits[e], 26, &state);
            double p = twin__embed_collision(window_distance(x, y, grams), buckets[r]);
            double seen = agreement(x, y, (twin__embed_options){ W, grams, buckets[r], FUNCTIONS, state });
            assert_true(fabs(seen - p) < 4 * sqrt(p * (1 - p) / FUNCTIONS) + 1e-3);
        }
}

static void the_formula_has_its_known_values(void **state_unused)
{
    (void)state_unused;
    assert_true(fabs(twin__embed_collision(1, 1) - 0.279) < 0.0005);
    assert_true(fabs(twin__embed_collision(1, 4) - 0.619) < 0.0005);
    assert_true(fabs(twin__embed_collision(8, 1) - 0.040) < 0.0005);
    assert_true(twin__embed_collision(0, 1) == 1);
    assert_true(twin__embed_collision(1e-100, 8) == 1);
    assert_true(twin__embed_collision(1e-200, 8) == 1);
    assert_true(twin__embed_collision(1e-310, 8) == 1);
}

/* These bits are for good: stored vectors must be found again. The text is letters of the stream seeded with 4. */
static void vectors_are_the_same_on_every_machine(void **state_unused)
{
    (void)state_unused;
    enum { N = 1000, K = 300 };
    uint64_t state = 4, sum = 0;
    char x[N];
    uint32_t vector[K];
    twin__embed_scratch scratch = { 0 };
    draw(x, N, 26, &state);
    for (int preset = 0; preset < 2; preset++) {
        twin__embedder *embedder;
        twin__embed_options options = twin__embed_options_for((twin__embed_preset)preset, N, K, 5);
        assert_int_equal(twin__embedder_create(&embedder, options), TWIN_OK);
        assert_int_equal(twin__embed_vector(vector, embedder, &scratch, text(x, N)), TWIN_OK);
        for (size_t i = 0; i < K; i++)
            sum = twin__mix(sum + vector[i]);
        twin__embedder_free(embedder);
    }
    twin__embed_scratch_clear(&scratch);
    assert_int_equal(sum, 0x5e0aa7f19c426730);
}

/* Bytes past the options' length change nothing, nor does making the embedder anew; another seed changes all. */
static void vectors_depend_on_text_and_seed_alone(void **state_unused)
{
    (void)state_unused;
    enum { N = 300, K = 64 };
    static const uint64_t seeds[] = { 1, 1, 2 };
    uint64_t state = 6;
    char x[2 * N];
    uint32_t vectors[3][K], longer[K];
    twin__embedder *embedder;
    twin__embed_scratch scratch = { 0 };
    draw(x, 2 * N, 26, &state);
    for (int round = 0; round < 3; round++) {
        twin__embed_options options = twin__embed_options_for(TWIN__EMBED_DEFAULT, N, K, seeds[round]);
        assert_int_equal(twin__embedder_create(&embedder, options), TWIN_OK);
        assert_int_equal(twin__embed_vector(vectors[round], embedder, &scratch, text(x, N)), TWIN_OK);
        assert_int_equal(twin__embed_vector(longer, embedder, &scratch, text(x, 2 * N)), TWIN_OK);
        assert_memory_equal(vectors[round], longer, sizeof longer);
        assert_int_equal(twin__embed_vector(longer, embedder, &scratch, text(x, N - 1)), TWIN_EINVAL);
        twin__embedder_free(embedder);
    }
    twin__embed_scratch_clear(&scratch);
    assert_memory_equal(vectors[0], vectors[1], sizeof longer);
    assert_memory_not_equal(vectors[0], vectors[2], sizeof longer);
}

/* Options for any length make an embedder, down to one byte. */
static void every_length_has_options(void **state_unused)
{
    (void)state_unused;
    for (size_t n = 1; n < 300; n++)
        for (int preset = 0; preset < 2; preset++) {
            twin__embedder *embedder;
            assert_int_equal(
                twin__embedder_create(&embedder, twin__embed_options_for((twin__embed_preset)preset, n, 3, 1)),
                TWIN_OK);
            twin__embedder_free(embedder);
        }
}

static void wrong_options_are_refused(void **state_unused)
{
    (void)state_unused;
    const twin__embed_options good = twin__embed_options_for(TWIN__EMBED_DEFAULT, 100, 8, 1);
    twin__embed_options bad[6] = { good, good, good, good, good, good };
    bad[0].length = 3;
    bad[1].grams.q_low = 0;
    bad[2].grams.q_high = bad[2].grams.window + 1;
    bad[3].bucket = UINT32_MAX;
    bad[4].functions = SIZE_MAX;
    bad[5].grams.q_low = bad[5].grams.q_high + 1;
    for (size_t i = 0; i < 6; i++) {
        twin__embedder *embedder;
        assert_int_equal(twin__embedder_create(&embedder, bad[i]), TWIN_EINVAL);
        assert_null(embedder);
    }
}

/* |A Δ B| of two sorted arrays. */
static size_t difference(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    size_t i = 0, j = 0, common = 0;
    while (i < n && j < m) {
        common += a[i] == b[j];
        size_t advance_a = a[i] <= b[j], advance_b = b[j] <= a[i];
        i += advance_a;
        j += advance_b;
    }
    return n + m - 2 * common;
}

/* Two features are equal exactly if window and stretch are: checked against all pairs. */
static void features_name_window_and_stretch(void **state_unused)
{
    (void)state_unused;
    enum { N = 150 };
    uint64_t state = 7, features[N];
    char x[N];
    twin__embed_cells cells = { 4, 20, 8 };
    draw(x, N, 2, &state);
    assert_int_equal(twin__embed_features(features, cells, text(x, N)), N - 3);
    for (size_t i = 0; i < N - 3; i++)
        for (size_t j = 0; j < N - 3; j++) {
            bool same = memcmp(x + i, x + j, 4) == 0 && i / 20 == j / 20;
            assert_int_equal(features[i] == features[j], same);
        }
    assert_int_equal(twin__embed_features(features, cells, text(x, 3)), 0);
}

static void few_edits_change_few_features(void **state_unused)
{
    (void)state_unused;
    enum { N = 10000 };
    static char x[N], y[N];
    static uint64_t a[N], b[N];
    uint64_t state = 9;
    for (size_t k = 1; k <= 30; k += 7) {
        /* Each edit keeps the length by a second one at the end. */
        twin__embed_cells cells = twin__embed_cells_for(N, 2 * k, 10);
        draw(x, N, 26, &state);
        memcpy(y, x, N);
        edit(y, N, k, 26, &state);
        size_t n = make_set(a, twin__embed_features(a, cells, text(x, N)));
        size_t m = make_set(b, twin__embed_features(b, cells, text(y, N)));
        assert_true(difference(a, n, b, m) <= 4 * 2 * k * cells.window);
        draw(y, N, 26, &state);
        m = make_set(b, twin__embed_features(b, cells, text(y, N)));
        assert_int_equal(difference(a, n, b, m), n + m);
    }
}

static void cells_have_the_published_size(void **state_unused)
{
    (void)state_unused;
    twin__embed_cells cells = twin__embed_cells_for(1000, 1, 0);
    assert_int_equal(cells.window, 100);
    assert_int_equal(cells.step, 10);
    cells = twin__embed_cells_for(10000, 30, 0);
    assert_int_equal(cells.window, 150); /* ⌈149.4⌉ */
    assert_int_equal(cells.step, 67);
}

static bool share_a_class(size_t x, size_t y, double ratio)
{
    twin__embed_class a[TWIN__EMBED_MAX_CLASSES], b[TWIN__EMBED_MAX_CLASSES];
    size_t n = twin__embed_length_classes(a, x, ratio), m = twin__embed_length_classes(b, y, ratio);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            if (a[i].number == b[j].number) {
                assert_int_equal(a[i].shortest, b[j].shortest);
                assert_int_equal(a[i].longest, b[j].longest);
                return true;
            }
    return false;
}

static void like_lengths_share_a_class(void **state_unused)
{
    (void)state_unused;
    static const double ratios[] = { 1, 1.01, 1.105, 1.353, 2, 16 };
    twin__embed_class classes[TWIN__EMBED_MAX_CLASSES];
    for (size_t r = 0; r < 6; r++) {
        for (size_t x = 1; x < 200; x++)
            for (size_t y = x; (double)y <= ratios[r] * (double)x; y++)
                assert_true(share_a_class(x, y, ratios[r]));
        for (size_t x = 200; x < 3000000; x = x * 9 / 8 + 1)
            assert_true(share_a_class(x, (size_t)(ratios[r] * (double)x), ratios[r]));
        for (size_t x = 1; x < 3000; x++) {
            size_t count = twin__embed_length_classes(classes, x, ratios[r]);
            assert_in_range(count, 1, 2);
            for (size_t i = 0; i < count; i++)
                assert_in_range(x, classes[i].shortest, classes[i].longest);
            /* Not everything is in one class: a class ends before the square of the ratio or so. */
            assert_true((double)classes[0].longest <=
                        ratios[r] * (1.0625 * ratios[r] * (double)classes[0].shortest + 1));
        }
        assert_int_equal(twin__embed_length_classes(classes, 0, ratios[r]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gram_distance_is_what_its_definition_says),
        cmocka_unit_test(gram_distance_keeps_its_upper_bound),
        cmocka_unit_test(the_papers_grams_are_as_published),
        cmocka_unit_test(quantiles_leave_no_room_for_rounding),
        cmocka_unit_test(functions_collide_as_often_as_the_formula_says),
        cmocka_unit_test(the_formula_has_its_known_values),
        cmocka_unit_test(vectors_are_the_same_on_every_machine),
        cmocka_unit_test(vectors_depend_on_text_and_seed_alone),
        cmocka_unit_test(every_length_has_options),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(features_name_window_and_stretch),
        cmocka_unit_test(few_edits_change_few_features),
        cmocka_unit_test(cells_have_the_published_size),
        cmocka_unit_test(like_lengths_share_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

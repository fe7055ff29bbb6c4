/* test_kernels_sketch.c — every variant assigns slots, minimises and compares as the scalar one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/sketch_mix.h"
#include "scale.h"

enum { ITEMS = 300, SLOTS = 513, STEP = QUICK ? 7 : 1 };

static const size_t slot_counts[] = { 1,   2,   3,   15,  16,  17,  31,  32,  33,  64,
                                      100, 127, 128, 129, 160, 256, 257, 300, 512, SLOTS };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Room that ends where the numbers end, `offset` bytes past what malloc aligns, so that a sanitizer sees a step too
 * far and no kernel can count on alignment. */
static void *room(void **block, size_t bytes, size_t offset)
{
    *block = malloc(bytes + offset + 1);
    assert_non_null(*block);
    return (char *)*block + offset;
}

static void fill(uint32_t *numbers, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)twin__random_next(state);
}

static void use_level(int level)
{
    assert_int_equal(twin_cpu_use(level), TWIN_OK);
}

/* What is in the slots before matters too: a second round comes upon a first. */
static void deal(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed)
{
    memset(out, 0xFF, slots * sizeof *out);
    twin__kernels()->fast_round(out, slots, items, n, seed, 0);
    twin__kernels()->fast_round(out, slots, items, n, seed + 1, 1u << 30);
}

static void every_row_deals_alike(void **unused)
{
    (void)unused;
    void *block;
    uint64_t state = 1, seed = twin__random_next(&state);
    uint32_t expected[SLOTS], got[SLOTS];
    for (size_t n = 0; n <= ITEMS; n += STEP) {
        uint64_t *items = room(&block, n * sizeof *items, n % 8 * 8);
        for (size_t i = 0; i < n; i++)
            items[i] = n % 2 ? twin__random_next(&state) : i;
        for (size_t s = 0; s < COUNT(slot_counts); s++) {
            use_level(TWIN_CPU_SCALAR);
            deal(expected, slot_counts[s], items, n, seed);
            for (twin_cpu level = twin__next_level(TWIN_CPU_SCALAR); level < TWIN_CPU_LEVELS;
                 level = twin__next_level(level)) {
                use_level(level);
                deal(got, slot_counts[s], items, n, seed);
                assert_memory_equal(got, expected, slot_counts[s] * sizeof got[0]);
            }
        }
        free(block);
    }
}

static void every_row_deals_to_65536_slots_alike(void **unused)
{
    (void)unused;
    enum { MANY = 65536 };
    uint64_t state = 2, items[1000];
    uint32_t *expected = malloc(MANY * sizeof *expected), *got = malloc(MANY * sizeof *got);
    assert_true(expected && got);
    for (size_t i = 0; i < COUNT(items); i++)
        items[i] = twin__random_next(&state);
    use_level(TWIN_CPU_SCALAR);
    deal(expected, MANY, items, COUNT(items), 3);
    for (twin_cpu level = twin__next_level(TWIN_CPU_SCALAR); level < TWIN_CPU_LEVELS;
         level = twin__next_level(level)) {
        use_level(level);
        deal(got, MANY, items, COUNT(items), 3);
        assert_memory_equal(got, expected, MANY * sizeof *got);
    }
    free(expected);
    free(got);
}

static void every_row_minimises_alike(void **unused)
{
    (void)unused;
    void *blocks[4];
    uint64_t state = 4;
    uint32_t expected[SLOTS];
    for (size_t n = 0; n <= ITEMS; n += STEP)
        for (size_t s = 0; s < COUNT(slot_counts); s++) {
            size_t slots = slot_counts[s], bytes = slots * sizeof(uint32_t), offset = (n + s) % 16 * 4;
            uint64_t *items = room(&blocks[0], n * sizeof *items, n % 8 * 8), seed = twin__random_next(&state);
            uint32_t *factor = room(&blocks[1], bytes, offset), *addend = room(&blocks[2], bytes, 4);
            uint32_t *got = room(&blocks[3], bytes, offset), before[SLOTS];
            for (size_t i = 0; i < n; i++)
                items[i] = twin__random_next(&state);
            fill(factor, slots, &state);
            fill(addend, slots, &state);
            fill(before, slots, &state);
            use_level(TWIN_CPU_SCALAR);
            memcpy(expected, before, bytes);
            twin__kernels()->linear_minima(expected, factor, addend, slots, items, n, seed);
            for (twin_cpu level = twin__next_level(TWIN_CPU_SCALAR); level < TWIN_CPU_LEVELS;
                 level = twin__next_level(level)) {
                use_level(level);
                memcpy(got, before, bytes);
                twin__kernels()->linear_minima(got, factor, addend, slots, items, n, seed);
                assert_memory_equal(got, expected, bytes);
            }
            for (size_t i = 0; i < COUNT(blocks); i++)
                free(blocks[i]);
        }
}

static void every_row_counts_agreement_alike(void **unused)
{
    (void)unused;
    void *blocks[2];
    uint64_t state = 5;
    for (size_t n = 0; n <= ITEMS; n++)
        for (size_t offset = 0; offset < 64; offset += 4 * STEP) {
            uint32_t *a = room(&blocks[0], n * sizeof *a, offset),
                     *b = room(&blocks[1], n * sizeof *b, 60 - offset / 4 * 4);
            size_t equal = 0;
            for (size_t i = 0; i < n; i++) {
                a[i] = (uint32_t)twin__random_below(&state, 3) << 30;
                b[i] = (uint32_t)twin__random_below(&state, 3) << 30;
                equal += a[i] == b[i];
            }
            for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                use_level(level);
                assert_int_equal(twin__kernels()->agree(a, b, n), equal);
            }
            free(blocks[0]);
            free(blocks[1]);
        }
}

static void ascii_is_told_from_the_rest(void **unused)
{
    (void)unused;
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        use_level(level);
        for (size_t n = 0; n <= 80; n++) {
            void *block;
            char *text = room(&block, n, n % 8);
            memset(text, 0x7F, n);
            assert_true(twin__kernels()->is_ascii(text, n));
            for (size_t i = 0; i < n; i++) {
                text[i] = (char)(0x80 + i);
                assert_false(twin__kernels()->is_ascii(text, n));
                text[i] = 0;
            }
            assert_true(twin__kernels()->is_ascii(text, n));
            free(block);
        }
    }
}

/* The header's words, one item at a time. */
static void scalar_does_what_the_header_says(void **unused)
{
    (void)unused;
    use_level(TWIN_CPU_SCALAR);
    const uint64_t item = 77, seed = 99, x = twin__sketch_mix(item, seed);
    uint32_t out[10], factor[] = { 3, 5 }, offset[] = { 1, 2 }, least[] = { UINT32_MAX, 0 };
    memset(out, 0xFF, sizeof out);
    twin__kernels()->fast_round(out, 10, &item, 1, seed, 1u << 30);
    for (size_t slot = 0; slot < 10; slot++)
        assert_int_equal(out[slot], slot == (x >> 32) * 10 >> 32 ? (1u << 30 | (uint32_t)x >> 2) : UINT32_MAX);
    twin__kernels()->linear_minima(least, factor, offset, 2, &item, 1, seed);
    assert_int_equal(least[0], 3 * (uint32_t)(x >> 32) + 1);
    assert_int_equal(least[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_does_what_the_header_says),     cmocka_unit_test(every_row_deals_alike),
        cmocka_unit_test(every_row_deals_to_65536_slots_alike), cmocka_unit_test(every_row_minimises_alike),
        cmocka_unit_test(every_row_counts_agreement_alike),     cmocka_unit_test(ascii_is_told_from_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_kernels_find.c — every variant of find_string_end finds what a plain loop finds. */
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

enum { LONGEST = 200, OFFSETS = 64 };

static size_t slow_find(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == '"' || p[i] == '\\' || p[i] <= 31)
            return i;
    return n;
}

static void for_each_level(void (*check)(const struct kernels *))
{
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        check(twin__kernels());
    }
    assert_int_equal(twin_cpu_use(twin__cpu_best()), TWIN_OK);
}

/* Each byte value alone at each offset of each length: its neighbours must neither hide it nor be taken for it. */
static void check_every_byte(const struct kernels *k)
{
    char text[LONGEST];
    for (size_t n = 1; n <= 70; n++)
        for (size_t at = 0; at < n; at++)
            for (int byte = 0; byte < 256; byte++) {
                memset(text, byte % 2 ? 'x' : 0xff, n);
                text[at] = (char)byte;
                assert_int_equal(k->find_string_end(text, n), slow_find((unsigned char *)text, n));
            }
}

static void every_byte_is_found_or_passed_over_wherever_it_stands(void **unused)
{
    (void)unused;
    for_each_level(check_every_byte);
}

/* A byte that ends a string is right before and after the bytes, and must not be seen. */
static void check_every_length(const struct kernels *k)
{
    char *room = malloc(OFFSETS + LONGEST + 2);
    assert_non_null(room);
    for (size_t offset = 0; offset < OFFSETS; offset++)
        for (size_t n = 0; n <= LONGEST; n++) {
            char *text = room + 1 + offset;
            memset(text, 'a' + (int)(n % 26), n);
            text[-1] = '"';
            text[n] = '"';
            assert_int_equal(k->find_string_end(text, n), n);
            if (n)
                text[n - 1] = '\n';
            assert_int_equal(k->find_string_end(text, n), n ? n - 1 : 0);
        }
    free(room);
}

static void nothing_past_either_end_is_seen(void **unused)
{
    (void)unused;
    for_each_level(check_every_length);
}

/* Blocks of exactly the length given, so that an address sanitizer sees a read past them. */
static void check_random_text(const struct kernels *k)
{
    uint64_t state = 7;
    for (int round = 0; round < 20000; round++) {
        size_t n = twin__random_below(&state, LONGEST);
        unsigned char *text = malloc(n + !n);
        assert_non_null(text);
        for (size_t i = 0; i < n; i++)
            text[i] = twin__random_below(&state, 50) ? (unsigned char)(0x23 + twin__random_below(&state, 0x30))
                                                     : (unsigned char)twin__random_next(&state);
        assert_int_equal(k->find_string_end((char *)text, n), slow_find(text, n));
        free(text);
    }
}

static void random_texts_agree_with_the_plain_loop(void **unused)
{
    (void)unused;
    for_each_level(check_random_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_found_or_passed_over_wherever_it_stands),
        cmocka_unit_test(nothing_past_either_end_is_seen),
        cmocka_unit_test(random_texts_agree_with_the_plain_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

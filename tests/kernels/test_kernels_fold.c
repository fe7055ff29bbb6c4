/* test_kernels_fold.c — every variant folds ASCII as the scalar one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"

enum { LENGTHS = 200, ALIGNMENTS = 64, GUARD = 16 };

struct result {
    char bytes[LENGTHS + 64 + GUARD];
    size_t read, written;
    bool after_blank;
};

/* Folds from memory that ends with the text, so that a sanitizer sees a read past it. */
static void run(struct result *result, const char *text, size_t length, size_t offset, bool after_blank)
{
    char *copy = malloc(offset + length + 1);
    assert_non_null(copy);
    memcpy(copy + offset + 1, text, length);
    memset(result->bytes, '#', sizeof result->bytes);
    result->after_blank = after_blank;
    result->read =
        twin__kernels()->fold_ascii(result->bytes, &result->written, &result->after_blank, copy + offset + 1, length);
    for (size_t i = length + 64; i < sizeof result->bytes; i++)
        assert_int_equal(result->bytes[i], '#');
    free(copy);
}

static void same_as_scalar(const char *text, size_t length, size_t offset)
{
    for (int after_blank = 0; after_blank < 2; after_blank++) {
        struct result expected, got;
        twin_cpu_use(TWIN_CPU_SCALAR);
        run(&expected, text, length, offset, after_blank);
        for (twin_cpu level = twin__next_level(TWIN_CPU_SCALAR); level < TWIN_CPU_LEVELS;
             level = twin__next_level(level)) {
            twin_cpu_use(level);
            run(&got, text, length, offset, after_blank);
            assert_int_equal(got.read, expected.read);
            assert_int_equal(got.written, expected.written);
            assert_int_equal(got.after_blank, expected.after_blank);
            assert_memory_equal(got.bytes, expected.bytes, expected.written);
        }
    }
}

/* Words with a blank, two or a dozen between them, and now and then something that is not ASCII. The share of
 * each changes from text to text, from none to nearly all. */
static void draw(char *text, size_t length, uint64_t *state)
{
    static const char blanks[] = " \t\n\v\f\r";
    uint64_t blank = twin__random_below(state, 100), high = twin__random_below(state, 4) ? 0 : 3;
    for (size_t i = 0; i < length; i++) {
        if (twin__random_below(state, 100) < blank)
            text[i] = blanks[twin__random_below(state, 6)];
        else if (twin__random_below(state, 100) < high)
            text[i] = (char)(0x80 + twin__random_below(state, 0x80));
        else
            text[i] = (char)twin__random_below(state, 0x80);
    }
}

static void every_row_agrees_at_every_length_and_offset(void **unused)
{
    (void)unused;
    char text[LENGTHS];
    uint64_t state = 1;
    for (size_t length = 0; length <= LENGTHS; length++)
        for (size_t offset = 0; offset < ALIGNMENTS; offset++) {
            draw(text, length, &state);
            same_as_scalar(text, length, offset);
        }
}

static void every_row_agrees_on_every_byte_at_every_place(void **unused)
{
    (void)unused;
    char text[130];
    for (int byte = 0; byte < 256; byte++)
        for (size_t place = 0; place < sizeof text; place++) {
            memset(text, 'x', sizeof text);
            text[place] = (char)byte;
            same_as_scalar(text, sizeof text, 0);
        }
}

static void every_row_agrees_on_a_run_of_blanks_anywhere(void **unused)
{
    (void)unused;
    char text[LENGTHS];
    for (size_t begin = 0; begin < 70; begin++)
        for (size_t run_length = 0; run_length <= 130; run_length++) {
            memset(text, 'X', sizeof text);
            memset(text + begin, begin % 2 ? ' ' : '\n', run_length);
            same_as_scalar(text, sizeof text, 0);
            same_as_scalar(text, begin + run_length, 0);
        }
}

static void scalar_does_what_the_header_says(void **unused)
{
    (void)unused;
    struct result result;
    const char text[] = "\t Two  Words\r\n[and] {A-Z}@`\x7f \xC3\xA9";
    twin_cpu_use(TWIN_CPU_SCALAR);
    run(&result, text, strlen(text), 0, true);
    assert_int_equal(result.read, strlen(text) - 2);
    assert_int_equal(result.written, 25);
    assert_memory_equal(result.bytes, "two words [and] {a-z}@`\x7f ", 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_does_what_the_header_says),
        cmocka_unit_test(every_row_agrees_at_every_length_and_offset),
        cmocka_unit_test(every_row_agrees_on_every_byte_at_every_place),
        cmocka_unit_test(every_row_agrees_on_a_run_of_blanks_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

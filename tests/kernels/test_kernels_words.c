/* test_kernels_words.c — every variant finds and hashes the words of a text, and makes windows of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <twinsift/exec.h>
#include <twinsift/hash.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "scale.h"

enum { LONGEST = 10000 };

/* Words of `most` bytes at most, and of any bytes but white space, separated by one to three kinds of it or more. */
static void fill(char *bytes, size_t n, size_t most, uint64_t *state)
{
    static const char kinds[] = { ' ', '\t', '\n', '\v', '\f', '\r' };
    for (size_t i = 0; i < n;) {
        size_t length = twin__random_below(state, most) + 1;
        for (; length && i < n; length--, i++) {
            bytes[i] = (char)twin__random_below(state, 256);
            if (strchr(" \t\n\v\f\r", bytes[i])) /* also 0 */
                bytes[i] = (char)(bytes[i] | 0x60);
        }
        length = twin__random_below(state, 4) ? 1 : twin__random_below(state, 4);
        for (; length && i < n; length--, i++)
            bytes[i] = kinds[twin__random_below(state, sizeof kinds)];
    }
}

/* The words of a text, found byte by byte. */
static size_t words_of(uint64_t *out, const char *text, size_t n, uint64_t seed)
{
    size_t count = 0, begin = 0;
    for (size_t i = 0; i <= n; i++)
        if (i == n || strchr(" \t\n\v\f\r", text[i] ? text[i] : 'x')) {
            if (i > begin)
                out[count++] = twin_hash_bytes((twin_hash){ .seed = seed }, text + begin, i - begin);
            begin = i + 1;
        }
    return count;
}

/* A block of its own for every text, so that a byte read or written too much is seen by the address sanitizer. */
static void check_text(size_t n, size_t most, uint64_t *state)
{
    uint64_t seed = twin__random_below(state, 2) ? twin__random_next(state) : 0;
    char *text = malloc(n + 1);
    uint64_t *expected = malloc((n / 2 + 1) * sizeof *expected);
    assert_true(text && expected);
    char *exact = text + 1; /* also with an odd address */
    fill(exact, n, most, state);
    size_t words = words_of(expected, exact, n, seed);
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        uint64_t *got = malloc((n / 2 + 16) * sizeof *got);
        assert_non_null(got);
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        assert_int_equal(twin__kernels()->xxh3_words(got, exact, n, seed), words);
        assert_memory_equal(got, expected, words * sizeof *got);
        free(got);
    }
    free(text);
    free(expected);
}

static void every_level_hashes_the_same_words(void **unused)
{
    (void)unused;
    static const size_t longest_words[] = { 1, 3, 8, 12, 20, 400 };
    uint64_t state = 11;
    for (size_t n = 0; n <= 300; n += QUICK ? 3 : 1)
        for (size_t i = 0; i < sizeof longest_words / sizeof longest_words[0]; i++)
            check_text(n, longest_words[i], &state);
    /* Texts that are searched for white space in several steps; a word may fill several of them. */
    for (size_t n = 4080; n <= 4110; n++)
        check_text(n, 9, &state);
    for (int i = 0; i < 20; i++) {
        check_text(LONGEST - twin__random_below(&state, 100), 15, &state);
        check_text(LONGEST - twin__random_below(&state, 100), LONGEST, &state);
    }
    twin_cpu_use(twin__cpu_best());
}

static void texts_of_one_kind_of_byte_are_cut(void **unused)
{
    (void)unused;
    char text[LONGEST];
    static uint64_t got[LONGEST / 2 + 16];
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        memset(text, ' ', sizeof text);
        assert_int_equal(twin__kernels()->xxh3_words(got, text, sizeof text, 1), 0);
        memset(text, 'a', sizeof text);
        assert_int_equal(twin__kernels()->xxh3_words(got, text, sizeof text, 1), 1);
        for (size_t i = 0; i < sizeof text; i += 2)
            text[i] = ' ';
        assert_int_equal(twin__kernels()->xxh3_words(got, text, sizeof text, 1), LONGEST / 2);
        assert_int_equal(twin__kernels()->xxh3_words(NULL, text, 0, 1), 0);
    }
    twin_cpu_use(twin__cpu_best());
}

static void every_level_makes_the_same_windows(void **unused)
{
    (void)unused;
    enum { WORDS = 100 };
    const uint64_t base = 0xD1342543DE82EF95u;
    uint64_t state = 12, words[WORDS];
    for (size_t width = 1; width <= 40; width += width < 20 ? 1 : 7)
        for (size_t n = 0; n <= WORDS; n += QUICK ? 3 : 1) {
            for (size_t i = 0; i < n; i++)
                words[i] = twin__random_next(&state);
            for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                uint64_t *got = malloc(n * sizeof *got + 1);
                assert_non_null(got);
                memcpy(got, words, n * sizeof *got);
                assert_int_equal(twin_cpu_use(level), TWIN_OK);
                twin__kernels()->word_windows(got, n, width, base);
                for (size_t i = 0; i < n; i++) {
                    uint64_t sum = 0;
                    for (size_t j = i; j < i + width && j < n; j++)
                        sum = sum * base + words[j];
                    assert_true(got[i] == (i + width <= n ? twin__mix(sum) : words[i]));
                }
                free(got);
            }
        }
    twin_cpu_use(twin__cpu_best());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_hashes_the_same_words),
        cmocka_unit_test(texts_of_one_kind_of_byte_are_cut),
        cmocka_unit_test(every_level_makes_the_same_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_kernels_blanks.c — every variant finds the white space that the scalar one finds, and hashes the same
 * windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <twinsift/exec.h>
#include <twinsift/hash.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "sketch/hash.h"

enum { LONGEST = 300, OFFSETS = 9 };

/* Bytes that are white space one time in three, of every kind, and else anything. */
static void fill(char *bytes, size_t n, uint64_t *state)
{
    static const char kinds[] = { ' ', '\t', '\n', '\v', '\f', '\r', 8, 14, 31, 33, (char)0x89, (char)0xA0 };
    for (size_t i = 0; i < n; i++)
        bytes[i] = twin__random_below(state, 2) ? kinds[twin__random_below(state, sizeof kinds)]
                                                : (char)twin__random_below(state, 256);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

/* A block of its own for every length, so that a byte read too much is seen by the address sanitizer. */
static void every_level_finds_the_same_blanks(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    for (size_t n = 0; n <= LONGEST; n++)
        for (size_t offset = 0; offset < OFFSETS; offset++) {
            char *bytes = malloc(n + offset + 1);
            assert_non_null(bytes);
            fill(bytes, n + offset, &state);
            uint64_t found[LONGEST / 64 + 1];
            for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                assert_int_equal(twin_cpu_use(level), TWIN_OK);
                twin__kernels()->blanks(found, bytes + offset, n);
                for (size_t i = 0; i < (n + 63) / 64 * 64; i++) {
                    bool blank = i < n && is_blank(bytes[offset + i]);
                    assert_int_equal(found[i / 64] >> (i % 64) & 1, blank);
                }
            }
            free(bytes);
        }
    twin_cpu_use(twin__cpu_best());
}

static void every_level_hashes_the_same_windows(void **unused)
{
    (void)unused;
    uint64_t state = 8, hashes[64];
    for (size_t width = 1; width <= 20; width++)
        for (size_t count = 1; count <= 40; count++) {
            char *bytes = malloc(count + width - 1);
            assert_non_null(bytes);
            fill(bytes, count + width - 1, &state);
            for (int sip = 0; sip < 2; sip++) {
                twin_hash hash = twin_hash_member(sip ? TWIN_HASH_SIP : TWIN_HASH_XXH3, twin__random_next(&state));
                for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                    assert_int_equal(twin_cpu_use(level), TWIN_OK);
                    twin__hash_windows(hashes, hash, bytes, width, count);
                    for (size_t i = 0; i < count; i++)
                        assert_true(hashes[i] == twin_hash_bytes(hash, bytes + i, width));
                }
            }
            free(bytes);
        }
    twin_cpu_use(twin__cpu_best());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_finds_the_same_blanks),
        cmocka_unit_test(every_level_hashes_the_same_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_kernels_sip.c — eight texts hashed at once have the hashes that each has alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <twinsift/exec.h>
#include <twinsift/hash.h>

#include "base/random.h"
#include "kernels/kernels.h"

enum { MOST_WORDS = 10 };

/* Puts a random text of 8·(count - 1) to 8·count - 1 bytes at place i, and returns its hash. */
static uint64_t put_text(uint64_t *words, size_t count, size_t i, twin_hash hash, uint64_t *random)
{
    unsigned char bytes[8 * MOST_WORDS] = { 0 };
    size_t length = 8 * (count - 1) + twin__random_next(random) % 8;
    for (size_t k = 0; k < length; k++)
        bytes[k] = (unsigned char)twin__random_next(random);
    for (size_t k = 0; k < 8 * count; k++)
        words[SIP_TEXTS * (k / 8) + i] |= (uint64_t)bytes[k] << 8 * (k % 8);
    words[SIP_TEXTS * (count - 1) + i] |= (uint64_t)length << 56;
    return twin_hash_bytes(hash, bytes, length);
}

static void eight_texts_have_the_hashes_of_each(void **unused)
{
    (void)unused;
    uint64_t random = 11;
    for (int round = 0; round < 20; round++)
        for (size_t count = 1; count <= MOST_WORDS; count++) {
            twin_hash hash = { .family = TWIN_HASH_SIP,
                               .key = { twin__random_next(&random), twin__random_next(&random) } };
            uint64_t *words = calloc(SIP_TEXTS * count, sizeof *words), expected[SIP_TEXTS], found[SIP_TEXTS];
            assert_non_null(words);
            for (size_t i = 0; i < SIP_TEXTS; i++)
                expected[i] = put_text(words, count, i, hash, &random);
            for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                assert_int_equal(twin_cpu_use(level), TWIN_OK);
                twin__kernels()->sip_texts(found, words, count, hash.key);
                assert_memory_equal(found, expected, sizeof found);
            }
            free(words);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(eight_texts_have_the_hashes_of_each) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

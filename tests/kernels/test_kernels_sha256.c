/* test_kernels_sha256.c — every variant of SHA-256 does what the specification does, and that is SHA-256. */
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

/* The block of "abc" and its digest (FIPS 180-4, example 1). */
static void the_specification_gives_the_published_digest(void **unused)
{
    (void)unused;
    unsigned char block[SHA256_BLOCK] = { 'a', 'b', 'c', 0x80, [SHA256_BLOCK - 1] = 24 };
    uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    const uint32_t expected[8] = { 0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                   0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad };
    twin__sha256_blocks_scalar(state, block, 1);
    assert_memory_equal(state, expected, sizeof state);
}

static void every_variant_gives_the_same_state(void **unused)
{
    (void)unused;
    uint64_t random = 1;
    for (size_t blocks = 0; blocks <= 20; blocks++) {
        unsigned char *bytes = malloc(blocks * SHA256_BLOCK + 1);
        uint32_t begin[8], expected[8];
        assert_non_null(bytes);
        for (size_t i = 0; i <= blocks * SHA256_BLOCK; i++)
            bytes[i] = (unsigned char)twin__random_next(&random);
        for (int i = 0; i < 8; i++)
            expected[i] = begin[i] = (uint32_t)twin__random_next(&random);
        twin__sha256_blocks_scalar(expected, bytes + 1, blocks);
        for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
            uint32_t state[8];
            memcpy(state, begin, sizeof state);
            assert_int_equal(twin_cpu_use(level), TWIN_OK);
            twin__kernels()->sha256_blocks(state, bytes + 1, blocks);
            assert_memory_equal(state, expected, sizeof state);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_specification_gives_the_published_digest),
        cmocka_unit_test(every_variant_gives_the_same_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

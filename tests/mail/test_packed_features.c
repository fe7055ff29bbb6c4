/* test_packed_features.c — packed features are the same when unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "mail/packed_features.h"

enum { MOST = 3000 };

/* So many places in increasing order: from a random one on, or spread over the table, the first and the last among
 * them. */
static uint32_t draw(uint32_t out[MOST], uint32_t count, bool dense, uint64_t *random)
{
    uint32_t step = dense || count == 0 ? 1 : TWIN__FEATURE_PLACES / count;
    uint32_t first = dense ? (uint32_t)(twin__random_next(random) % (TWIN__FEATURE_PLACES - MOST)) : 0;
    for (uint32_t i = 0; i < count; i++)
        out[i] = first + i * step + (step > 1 ? (uint32_t)(twin__random_next(random) % step) : 0);
    if (!dense && count > 1) {
        out[0] = 0;
        out[count - 1] = TWIN__FEATURE_PLACES - 1;
    }
    return count;
}

static void unpacking_gives_what_was_packed(void **unused)
{
    (void)unused;
    static uint32_t a[MOST], b[MOST];
    uint64_t random = 3;
    for (int round = 0; round < 300; round++) {
        struct twin__features features = { .places = { a, b } };
        features.counts[0] =
            draw(a, (uint32_t)(twin__random_next(&random) % (round < 20 ? 3 : 500)), round % 2, &random);
        features.counts[1] = draw(b, (uint32_t)(twin__random_next(&random) % MOST), round % 3 == 0, &random);
        size_t total = (size_t)features.counts[0] + features.counts[1];
        void *packed = malloc(twin__packed_bytes(&features));
        uint32_t *places = malloc(total * sizeof *places + 1);
        assert_true(packed && places);
        twin__features_pack(packed, &features);
        assert_int_equal(twin__packed_count(packed), total);
        struct twin__features found = twin__features_unpack(places, packed);
        for (int i = 0; i < TWIN__FEATURE_BLOCKS; i++) {
            assert_int_equal(found.counts[i], features.counts[i]);
            assert_memory_equal(found.places[i], features.places[i], features.counts[i] * sizeof *places);
        }
        free(packed);
        free(places);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(unpacking_gives_what_was_packed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_digest.c — digests of attachments are what GLib's SHA-256 gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glib.h>

#include "base/random.h"
#include "mail/digest.h"

/* All lengths around the ends of blocks, where the padding changes. */
static void digests_are_the_first_bytes_of_sha_256(void **unused)
{
    (void)unused;
    uint64_t random = 7;
    for (size_t length = 0; length <= 300; length++) {
        char *bytes = malloc(length + 1);
        assert_non_null(bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)twin__random_next(&random);
        unsigned char found[16], whole[32];
        gsize size = sizeof whole;
        GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
        g_checksum_update(sum, (const guchar *)bytes, (gssize)length);
        g_checksum_get_digest(sum, whole, &size);
        g_checksum_free(sum);
        twin__digest(found, (twin_text){ bytes, length });
        assert_memory_equal(found, whole, sizeof found);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(digests_are_the_first_bytes_of_sha_256) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

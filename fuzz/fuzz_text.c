/* fuzz_text.c — any bytes become well-formed text, and folding is idempotent.
 *
 * All kernel variants must agree, folded text must pass the check unchanged, and folding it again must change
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include <twinsift/exec.h>
#include <twinsift/text.h>

#include "kernels/kernels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static uint64_t normalise(twin_buffer *out, const char *bytes, size_t length, twin_normal normal)
{
    uint64_t replaced = 0;
    require(twin_text_normalise(out, &replaced, (twin_text){ bytes, length }, normal) == TWIN_OK);
    return replaced;
}

static bool same(const twin_buffer *a, const twin_buffer *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    twin_buffer folded = { 0 }, other = { 0 };
    require(twin_cpu_use(TWIN_CPU_SCALAR) == TWIN_OK);
    uint64_t replaced = normalise(&folded, bytes, size, TWIN_NORMAL_FOLD);
    for (twin_cpu level = twin__next_level(TWIN_CPU_SCALAR); level < TWIN_CPU_LEVELS;
         level = twin__next_level(level)) {
        require(twin_cpu_use(level) == TWIN_OK);
        require(normalise(&other, bytes, size, TWIN_NORMAL_FOLD) == replaced && same(&other, &folded));
    }
    require(normalise(&other, folded.bytes, folded.length, TWIN_NORMAL_FOLD) == 0 && same(&other, &folded));
    require(normalise(&other, folded.bytes, folded.length, TWIN_NORMAL_CHECK) == 0 && same(&other, &folded));
    require(normalise(&other, bytes, size, TWIN_NORMAL_CHECK) == replaced);
    twin_buffer_clear(&folded);
    twin_buffer_clear(&other);
    return 0;
}

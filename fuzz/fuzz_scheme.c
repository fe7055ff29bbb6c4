/* fuzz_scheme.c — any bytes as a scheme's line: what is read can be written, and is read back the same. */
#include <stdlib.h>
#include <string.h>
#include <twinsift/scheme.h>

#include "sketch/signer.h"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    twin_scheme scheme, again;
    twin_buffer words = { 0 }, other_words = { 0 }, line = { 0 };
    twin_error error = { 0 };
    twin_status status = twin_scheme_read(&scheme, &words, (twin_text){ (const char *)bytes, size }, &error);
    demand(status == TWIN_OK || (status == TWIN_EFORMAT && error.message[0]));
    if (status == TWIN_OK) {
        demand(twin_scheme_write(&line, &scheme) == TWIN_OK);
        demand(twin_scheme_read(&again, &other_words, (twin_text){ line.bytes, line.length }, NULL) == TWIN_OK);
        demand(twin__scheme_equal(&scheme, &again));
    }
    twin_buffer_clear(&words);
    twin_buffer_clear(&other_words);
    twin_buffer_clear(&line);
    return 0;
}

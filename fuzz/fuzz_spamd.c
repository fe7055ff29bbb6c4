/* fuzz_spamd.c — any bytes may come to the port of spamd: a request is the same however it is cut into pieces.
 *
 * What follows the head is unpacked as if it were compressed. */
#include <stdlib.h>
#include <string.h>

#include "serve/spamd_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Byte by byte, up to the first progress; each time in a block of its own, so that nothing behind it is read. */
static enum spamd_progress read_slowly(struct spamd_request *out, const uint8_t *data, size_t size)
{
    enum spamd_progress progress = SPAMD_MORE;
    for (size_t length = 1; length <= size && progress == SPAMD_MORE; length++) {
        char *copy = malloc(length);
        require(copy);
        memcpy(copy, data, length);
        progress = spamd_read(out, (twin_text){ copy, length });
        free(copy);
    }
    return progress;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 100000 };
    struct spamd_request whole = { 0 }, pieces = { 0 };
    enum spamd_progress progress = spamd_read(&whole, (twin_text){ (const char *)data, size });
    if (size <= 2 * SPAMD_HEAD_BYTES)
        require(read_slowly(&pieces, data, size) == progress);
    if (progress == SPAMD_BAD) {
        require(whole.fault && *whole.fault);
        return 0;
    }
    if (progress == SPAMD_MORE) {
        require(size < SPAMD_HEAD_BYTES);
        return 0;
    }
    require(whole.head > 0 && whole.head <= size && whole.head <= SPAMD_HEAD_BYTES);
    require(strlen(whole.user) < sizeof whole.user && whole.command <= SPAMD_SKIP);
    require(whole.command != SPAMD_TELL || whole.set || whole.remove);
    if (size <= 2 * SPAMD_HEAD_BYTES)
        require(pieces.head == whole.head && pieces.command == whole.command && pieces.length == whole.length &&
                pieces.set == whole.set && pieces.remove == whole.remove && strcmp(pieces.user, whole.user) == 0);
    twin_buffer out = { 0 };
    twin_status status = spamd_unpack(&out, (twin_text){ (const char *)data + whole.head, size - whole.head }, MOST);
    require(status == TWIN_OK || status == TWIN_EFORMAT || status == TWIN_ELIMIT);
    require(status != TWIN_OK || out.length <= MOST);
    twin_buffer_clear(&out);
    return 0;
}

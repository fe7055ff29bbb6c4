/* fuzz_mbox.c — any bytes are an mbox file, of any dialect: its messages are all of it, in order.
 *
 * The first byte is the dialect. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/mbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    twin_mbox dialect = (twin_mbox)(data[0] % (TWIN_MBOX_NONE + 1));
    data++;
    size--;
    int fd = memfd_create("mbox", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    struct twin__mbox mbox = { 0 };
    twin_buffer scratch = { 0 };
    require(twin__mbox_scan(&mbox, fd, 0, size, dialect, NULL) == TWIN_OK);
    require(mbox.count > 0 && (dialect != TWIN_MBOX_NONE || mbox.count == 1));
    uint64_t at = 0;
    for (size_t i = 0; i < mbox.count; i++) {
        require(mbox.messages[i].offset == at && (mbox.messages[i].length > 0 || size == 0));
        at += mbox.messages[i].length;
        require(at <= size);
        twin_text stored = { (const char *)data + mbox.messages[i].offset, (size_t)mbox.messages[i].length }, text;
        require(twin__mbox_unquote(&text, &scratch, stored, dialect) == TWIN_OK);
        require(text.length <= stored.length &&
                (i == 0 || stored.length < 5 || memcmp(stored.bytes, "From ", 5) == 0));
    }
    require(at == size);
    twin_buffer_clear(&scratch);
    twin__mbox_clear(&mbox);
    close(fd);
    return 0;
}

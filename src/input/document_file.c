/* document_file.c — a file that is one document: its bytes are read, unpacked and converted. */
#include "input/document_file.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "input/failure.h"
#include "input/filter.h"
#include "input/foreign.h"
#include "input/page.h"
#include "input/unpack.h"
#include "input/utf16.h"

enum { READ_STEP = 16 << 10 };

/* Replaces the block by an open file; `too_long` when that exceeds the limit. False: errno or
 * *status says why. */
static bool read_whole(twin_buffer *block, bool *too_long, twin_status *status, int fd, uint64_t size, uint64_t limit)
{
    *too_long = size > limit;
    size_t more = size < limit ? (size_t)size + 1 : READ_STEP; /* one more, to see that the file ends there */
    block->length = 0;
    while (!*too_long) {
        *status = twin_buffer_reserve(block, more);
        if (*status != TWIN_OK)
            return false;
        size_t room = block->capacity - block->length;
        ssize_t got = twin__read_at(fd, block->bytes + block->length, room, block->length);
        if (got < 0)
            return false;
        block->length += (size_t)got;
        *too_long = block->length > limit;
        if ((size_t)got < room)
            return true;
        more = READ_STEP;
    }
    return true;
}

/* Reads the bytes as they are. */
static twin_status read_bytes(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                              int fd, twin_error *error)
{
    struct stat about;
    bool too_long, is_known = fstat(fd, &about) == 0;
    twin_status status = TWIN_OK;
    if (is_known && !S_ISREG(about.st_mode))
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "is not a regular file any more");
    else if (!is_known || !read_whole(&buffers->block, &too_long, &status, fd, (uint64_t)about.st_size,
                                      source->settings->options.max_bytes))
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be read: %m");
    else if (too_long)
        twin__record_too_long(out, source);
    return status == TWIN_OK ? status : twin__fail_memory(error);
}

/* Replaces the packed bytes by what is in them. */
static twin_status unpack(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                          int fd, twin_error *error)
{
    int unpacked;
    uint64_t size;
    twin_error why = { 0 };
    const twin_input_options *options = &source->settings->options;
    struct unpack_options how = { .name = source->name,
                                  .temp_folder = options->temp_folder,
                                  .most = (uint64_t)options->max_bytes + 1,
                                  .memory = options->memory_bytes };
    twin_status status = twin__unpack(&unpacked, &size, fd, how, &why);
    if (status == TWIN_ELIMIT) {
        twin__record_too_long(out, source);
        return TWIN_OK;
    }
    if (status == TWIN_EFORMAT || status == TWIN_EUNSUPPORTED) {
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "%s", twin__after_name(why.message, source->name));
        return TWIN_OK;
    }
    if (status != TWIN_OK)
        return twin__fail(error, status, "%s", why.message);
    status = read_bytes(out, source, buffers, unpacked, error);
    close(unpacked);
    return status;
}

/* The text in the block: converted if it is UTF-16, without a byte order mark. */
static twin_status take_text(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                             twin_error *error)
{
    twin_text text = { buffers->block.bytes, buffers->block.length };
    if (twin__is_utf16(text)) {
        buffers->text.length = 0;
        if (twin__utf16_append(&buffers->text, text) != TWIN_OK)
            return twin__fail_memory(error);
        text = (twin_text){ buffers->text.bytes, buffers->text.length };
    }
    const char *foreign = twin__foreign_file(text.bytes, text.length);
    if (foreign && source->settings->options.as != TWIN_INPUT_AS_FILES)
        twin__record_problem(out, TWIN_PROBLEM_FOREIGN, 0, "is %s", foreign);
    else if (text.length > source->settings->options.max_bytes)
        twin__record_too_long(out, source);
    size_t mark = twin__byte_order_mark(text.bytes, text.length);
    text = (twin_text){ text.bytes + mark, text.length - mark };
    out->document = (twin_document){ .text = text, .record = text };
    if (source->settings->options.as != TWIN_INPUT_AS_HTML || out->what != TWIN__RECORD_DOCUMENT)
        return TWIN_OK;
    twin_status status = twin__page_text(&out->document.text, buffers, text);
    return status == TWIN_OK ? status : twin__fail_memory(error);
}

static bool has_bytes(const struct twin__record *record, twin_status status)
{
    return status == TWIN_OK && record->what == TWIN__RECORD_DOCUMENT;
}

twin_status twin__document_from_file(struct twin__record *out, const struct twin__source *source,
                                     twin_read_buffers *buffers, int fd, const char *filtered, twin_error *error)
{
    out->what = TWIN__RECORD_DOCUMENT;
    twin_status status = filtered ? twin__filter_run(out, source, buffers, filtered, fd, error)
                                  : read_bytes(out, source, buffers, fd, error);
    const unsigned char *bytes = (const unsigned char *)buffers->block.bytes;
    if (!filtered && has_bytes(out, status) && twin__packing_of(bytes, buffers->block.length) != PACKED_NOT)
        status = unpack(out, source, buffers, fd, error);
    return has_bytes(out, status) ? take_text(out, source, buffers, error) : status;
}

twin_status twin__document_from_unpacked(struct twin__record *out, const struct twin__source *source,
                                         twin_read_buffers *buffers, int fd, twin_error *error)
{
    out->what = TWIN__RECORD_DOCUMENT;
    twin_status status = read_bytes(out, source, buffers, fd, error);
    return has_bytes(out, status) ? take_text(out, source, buffers, error) : status;
}

/* stream.c — a file read once, as it comes.
 *
 * The first bytes are held back until they show what the file is: enough of them, or a whole line, or all there are. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/stages.h"
#include "input/foreign.h"
#include "input/source.h"
#include "input/unpack.h"

struct stream {
    const char *name;
    twin_block_visit *visit;
    void *context;
    char first[TWIN__FOREIGN_BYTES];
    size_t held;
    bool began;
    twin_error *error;
};

static twin_status pass_on(const struct stream *stream, const char *bytes, size_t length)
{
    if (length == 0 || stream->visit(stream->context, bytes, length))
        return TWIN_OK;
    return twin__fail(stream->error, TWIN_ESTOPPED, "reading was stopped");
}

static twin_status begin_file(struct stream *stream)
{
    const char *advice = twin__foreign_bytes(stream->first, stream->held, TWIN_INPUT_SETS);
    size_t skip = twin__byte_order_mark(stream->first, stream->held);
    stream->began = true;
    if (advice)
        return twin__fail(stream->error, TWIN_EFORMAT, "%s %s", stream->name, advice);
    return pass_on(stream, stream->first + skip, stream->held - skip);
}

static twin_status hand_on_block(void *context, const char *bytes, size_t length)
{
    struct stream *stream = context;
    if (!stream->began) {
        size_t room = sizeof stream->first - stream->held, more = length < room ? length : room;
        memcpy(stream->first + stream->held, bytes, more);
        stream->held += more;
        bytes += more;
        length -= more;
        if (stream->held < sizeof stream->first && !memchr(stream->first, '\n', stream->held))
            return TWIN_OK;
        twin_status status = begin_file(stream);
        if (status != TWIN_OK)
            return status;
    }
    return pass_on(stream, bytes, length);
}

static twin_status read_stream(const char *path, twin_block_visit *visit, void *context, twin_progress progress,
                               twin_error *error)
{
    if (!path || !visit)
        return twin__fail_null(error, path ? "visit" : "path");
    bool is_standard = strcmp(path, "-") == 0;
    struct stream stream = {
        .name = is_standard ? "standard input" : path, .visit = visit, .context = context, .error = error
    };
    int fd = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be opened: %m", stream.name);
    struct stat about;
    bool is_regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    struct unpack_options how = { .name = stream.name,
                                  .total = is_regular ? (uint64_t)about.st_size : 0,
                                  .progress = progress,
                                  .most = UINT64_MAX }; /* nothing is stored */
    twin_status status = twin__unpack_to_sink((struct unpack_sink){ hand_on_block, &stream }, fd, how, error);
    if (status == TWIN_OK && !stream.began)
        status = begin_file(&stream);
    if (!is_standard)
        close(fd);
    return status;
}

twin_status twin_input_stream(const char *path, twin_block_visit *visit, void *context, twin_progress progress,
                              twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, progress, &twin__stage_unpacking);
    return twin__watch_end(&watch, read_stream(path, visit, context, progress, error), error);
}

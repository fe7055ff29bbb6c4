/* unpack.c — gzip, zstd and pipes become plain files.
 *
 * Bytes come from the descriptor through a decoder, if they are compressed, to put_unpacked(), which checks
 * them against the limits and writes them: to a file in memory, and once that is full to a
 * temporary file, to which its contents are moved. */
#include "input/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/sendfile.h>
#endif
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"
#include "base/file.h"
#include "base/stages.h"
#include "input/foreign.h"
#include "input/json_records.h"
#include "input/source.h"

enum {
    ROOM = 256 << 10,
    GZIP_ONLY = 15 + 16,  /* inflateInit2: the largest window, and a gzip header must be there */
    ZSTD_WINDOW_LOG = 27, /* 128 MiB: what zstd --long makes; more is for who can spare the memory */
    IN_MEMORY = 64 << 20, /* bytes of a file in memory */
    MOST_RATIO = 200,     /* text is compressed to a third or a tenth of its size, logs to a hundredth at best; */
    MOST_ANYWAY = 1 << 30 /* bytes that are unpacked at any ratio */
};

struct unpacking {
    int from, to;
    struct unpack_sink sink; /* in place of `to` */
    struct unpack_options options;
    twin_error *error;
    uint64_t read, written;
    bool in_memory, is_packed;
    uint64_t put;     /* bytes unpacked; some may have been dropped */
    uint64_t line;    /* of these, since the last line end */
    size_t have;      /* bytes of input at hand; 0 after refill(): there are no more */
    bool has_records; /* JSON becomes lines */
    struct twin__json_records records;
    unsigned char input[ROOM], output[ROOM], lines[2 * ROOM];
};

enum packing twin__packing_of(const unsigned char *bytes, size_t length)
{
    if (length >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
        return PACKED_GZIP;
    if (length < 4)
        return PACKED_NOT;
    uint32_t magic = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    bool skippable = (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
    return magic == ZSTD_MAGICNUMBER || skippable ? PACKED_ZSTD : PACKED_NOT;
}

/* Adds to the input at hand what one read() gives. */
static twin_status read_some(struct unpacking *u)
{
    ssize_t got;
    do
        got = read(u->from, u->input + u->have, ROOM - u->have);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return twin__fail(u->error, TWIN_EIO, "%s cannot be read: %m", u->options.name);
    u->have += (size_t)got;
    u->read += (uint64_t)got;
    return u->options.progress.report ? twin__report(&twin__stage_unpacking, u->read, u->options.total)
                                      : twin__poll();
}

static twin_status refill(struct unpacking *u)
{
    u->have = 0;
    return read_some(u);
}

/* ---- writing ---- */

static twin_status fail_full(const struct unpacking *u)
{
    return twin__fail(u->error, TWIN_EIO,
                      "%s cannot be unpacked: after %" PRIu64 " bytes, the temporary folder %s says: %m; --temp "
                      "names another",
                      u->options.name, u->written, u->options.temp_folder);
}

/* Moves what was written so far to the temporary folder. */
static twin_status leave_memory(struct unpacking *u)
{
    int file = twin__temporary_file(u->options.temp_folder);
    if (file < 0 && (errno == EMFILE || errno == ENFILE)) /* another folder would be no better */
        return twin__fail(u->error, TWIN_EIO,
                          "%s cannot be unpacked: %m; each compressed input stays open, so raise the limit of open "
                          "files (ulimit -n), or unpack some before",
                          u->options.name);
    if (file < 0)
        return twin__fail(u->error, TWIN_EIO,
                          "%s cannot be unpacked: no file can be made in the temporary folder %s: %m; --temp names "
                          "another",
                          u->options.name, u->options.temp_folder);
    int memory = u->to;
    u->to = file;
    u->in_memory = false;
    twin_status status = TWIN_OK;
#ifdef __linux__ /* elsewhere there is no file in memory */
    off_t at = 0;
    while (memory >= 0 && (uint64_t)at < u->written && status == TWIN_OK)
        if (sendfile(file, memory, &at, (size_t)(u->written - (uint64_t)at)) < 0 && errno != EINTR)
            status = fail_full(u);
#endif
    if (memory >= 0)
        close(memory);
    return status;
}

static twin_status write_all(struct unpacking *u, const unsigned char *bytes, size_t length)
{
    if (u->sink.put)
        return length ? u->sink.put(u->sink.context, (const char *)bytes, length) : TWIN_OK;
    if (u->in_memory && u->written + length > u->options.memory) {
        twin_status status = leave_memory(u);
        if (status != TWIN_OK)
            return status;
    }
    while (length) {
        ssize_t put = write(u->to, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && u->in_memory) { /* which has a limit of its own, or the process has */
            twin_status status = leave_memory(u);
            if (status != TWIN_OK)
                return status;
            continue;
        }
        if (put < 0)
            return fail_full(u);
        bytes += put;
        length -= (size_t)put;
        u->written += (uint64_t)put;
    }
    return TWIN_OK;
}

/* Writes lines, without what is too much of them. */
static twin_status write_lines(struct unpacking *u, const unsigned char *bytes, size_t length)
{
    uint64_t longest = u->options.longest_line;
    twin_status status = TWIN_OK;
    while (length && status == TWIN_OK) {
        const unsigned char *newline = memchr(bytes, '\n', length);
        size_t part = newline ? (size_t)(newline - bytes) : length, kept = 0;
        if (u->line < longest)
            kept = part < longest - u->line ? part : (size_t)(longest - u->line);
        status = write_all(u, bytes, kept);
        u->line += part;
        if (newline) {
            u->line = 0;
            part++;
            if (status == TWIN_OK)
                status = write_all(u, newline, 1);
        }
        bytes += part;
        length -= part;
    }
    return status;
}

static twin_status check_limit(const struct unpacking *u)
{
    uint64_t most = u->options.most;
    if (most == 0 && u->is_packed)
        most = u->read > MOST_ANYWAY / MOST_RATIO ? u->read * MOST_RATIO : MOST_ANYWAY;
    if (most == 0 || u->put <= most)
        return TWIN_OK;
    const char *option = u->options.most_option ? u->options.most_option : "--max-unpacked-bytes";
    if (!u->is_packed)
        return twin__fail(u->error, TWIN_ELIMIT, "%s is longer than %" PRIu64 " bytes; %s allows more",
                          u->options.name, most, option);
    return twin__fail(u->error, TWIN_ELIMIT,
                      "%s: %" PRIu64 " compressed bytes become more than %" PRIu64 "; %s allows more",
                      u->options.name, u->read, most, option);
}

/* Writes what is wanted of unpacked bytes. */
static twin_status put_wanted(struct unpacking *u, const unsigned char *bytes, size_t length)
{
    if (length == 0)
        return TWIN_OK;
    if (u->options.longest_line == 0)
        return write_all(u, bytes, length);
    if (u->line + length > u->options.longest_line)
        return write_lines(u, bytes, length);
    const unsigned char *newline = memrchr(bytes, '\n', length);
    u->line = newline ? (uint64_t)(bytes + length - newline - 1) : u->line + length;
    return write_all(u, bytes, length);
}

static twin_status put_records(struct unpacking *u, const unsigned char *bytes, size_t length)
{
    twin_status status = TWIN_OK;
    while (length && status == TWIN_OK) {
        size_t part = length < ROOM ? length : ROOM;
        status = put_wanted(u, u->lines,
                            twin__json_records_take(&u->records, (char *)u->lines, (const char *)bytes, part));
        bytes += part;
        length -= part;
    }
    return status;
}

/* Takes over unpacked bytes. */
static twin_status put_unpacked(struct unpacking *u, const unsigned char *bytes, size_t length)
{
    if (u->put == 0 && length) {
        const char *first = (const char *)bytes;
        u->has_records = u->options.is_json || (u->options.may_be_json && twin__begins_json_records(first, length));
        if (u->has_records) {
            size_t mark = twin__byte_order_mark(first, length);
            bytes += mark;
            length -= mark;
            u->put += mark;
        }
    }
    if (u->put == 0 && length && u->options.is_lines) {
        const char *advice = twin__foreign_bytes((const char *)bytes, length, u->options.format);
        if (advice)
            return twin__fail(u->error, TWIN_EFORMAT, "%s %s", u->options.name, advice);
    }
    u->put += length;
    twin_status status = check_limit(u);
    if (status != TWIN_OK)
        return status;
    return u->has_records ? put_records(u, bytes, length) : put_wanted(u, bytes, length);
}

/* ---- what is wrong ---- */

/* The file is not what it should be at byte `at`. */
static twin_status spoilt(struct unpacking *u, uint64_t at, const char *kind, const char *how, const char *why)
{
    return twin__fail_at(u->error, TWIN_EFORMAT, at, "%s: its %s data %s %" PRIu64 "%s", u->options.name, kind, how,
                         at, why);
}

static twin_status ends_early(struct unpacking *u, const char *kind)
{
    return spoilt(u, u->read, kind, "ends early after", " bytes");
}

static twin_status has_more(struct unpacking *u, const char *kind, uint64_t at)
{
    return spoilt(u, at, kind, "has something else behind it, at byte", "");
}

static twin_status is_damaged(struct unpacking *u, const char *kind, uint64_t at, const char *how)
{
    char why[128];
    snprintf(why, sizeof why, ": %s", how);
    return spoilt(u, at, kind, "is damaged, by byte", why);
}

/* ---- reading ---- */

static twin_status copy(struct unpacking *u)
{
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && u->have) {
        status = put_unpacked(u, u->input, u->have);
        if (status == TWIN_OK)
            status = refill(u);
    }
    return status;
}

static twin_status gzip_trouble(struct unpacking *u, const z_stream *z, int result)
{
    if (result == Z_MEM_ERROR)
        return twin__fail_memory(u->error);
    const char *how = z->msg ? z->msg : "unknown";
    if (strcmp(how, "incorrect data check") == 0)
        how = "the checksum does not match";
    return is_damaged(u, "gzip", u->read - z->avail_in, how);
}

/* Inflates what is at hand and writes it. `between` says whether a member has ended and none has begun. */
static twin_status gunzip_some(struct unpacking *u, z_stream *z, bool *between)
{
    if (*between && z->avail_in) {
        if (*z->next_in != 0x1f)
            return has_more(u, "gzip", u->read - z->avail_in);
        inflateReset(z);
        *between = false;
    }
    z->next_out = u->output;
    z->avail_out = ROOM;
    int result = inflate(z, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return gzip_trouble(u, z, result);
    *between = result == Z_STREAM_END;
    return put_unpacked(u, u->output, ROOM - z->avail_out);
}

static twin_status gunzip(struct unpacking *u)
{
    z_stream z = { .next_in = u->input, .avail_in = (uInt)u->have, .avail_out = ROOM };
    if (inflateInit2(&z, GZIP_ONLY) != Z_OK)
        return twin__fail_memory(u->error);
    bool between = false;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK) {
        /* Output that filled its room may have left more behind. */
        if (z.avail_in == 0 && (z.avail_out || between)) {
            status = refill(u);
            if (status != TWIN_OK || (u->have == 0 && between))
                break;
            if (u->have == 0) {
                status = ends_early(u, "gzip");
                break;
            }
            z.next_in = u->input;
            z.avail_in = (uInt)u->have;
        }
        status = gunzip_some(u, &z, &between);
    }
    inflateEnd(&z);
    return status;
}

static twin_status zstd_trouble(struct unpacking *u, size_t result, uint64_t at)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation: return twin__fail_memory(u->error);
    case ZSTD_error_prefix_unknown: return has_more(u, "zstd", at);
    case ZSTD_error_checksum_wrong: return is_damaged(u, "zstd", u->read, "the checksum does not match");
    case ZSTD_error_frameParameter_windowTooLarge:
        return twin__fail(u->error, TWIN_EUNSUPPORTED,
                          "%s was packed with a window over 128 MiB; unpack it with zstd --long=31 first",
                          u->options.name);
    default: return is_damaged(u, "zstd", u->read, ZSTD_getErrorName(result));
    }
}

static twin_status unzstd_with(struct unpacking *u, ZSTD_DCtx *decoder)
{
    ZSTD_inBuffer in = { u->input, u->have, 0 };
    size_t left = 1; /* 0 when a frame has ended and none has begun */
    bool full = false;
    for (;;) {
        if (in.pos == in.size && !full) {
            twin_status status = refill(u);
            if (status != TWIN_OK)
                return status;
            if (u->have == 0)
                return left ? ends_early(u, "zstd") : TWIN_OK;
            in = (ZSTD_inBuffer){ u->input, u->have, 0 };
        }
        ZSTD_outBuffer out = { u->output, ROOM, 0 };
        uint64_t at = u->read - (in.size - in.pos);
        bool had_input = in.pos < in.size;
        size_t result = ZSTD_decompressStream(decoder, &out, &in);
        if (ZSTD_isError(result))
            return zstd_trouble(u, result, at);
        /* Asked again for output alone, a decoder whose frame is done begins the next. */
        if (had_input || out.pos)
            left = result;
        full = out.pos == out.size;
        twin_status status = put_unpacked(u, u->output, out.pos);
        if (status != TWIN_OK)
            return status;
    }
}

static twin_status unzstd(struct unpacking *u)
{
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    if (!decoder)
        return twin__fail_memory(u->error);
    ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    twin_status status = unzstd_with(u, decoder);
    ZSTD_freeDCtx(decoder);
    return status;
}

static twin_status decode_all(struct unpacking *u)
{
    size_t before; /* a pipe may give its first bytes one by one */
    do {
        before = u->have;
        twin_status status = read_some(u);
        if (status != TWIN_OK)
            return status;
    } while (u->have < TWIN__PACKING_BYTES && u->have != before);
    enum packing packing = twin__packing_of(u->input, u->have);
    u->is_packed = packing != PACKED_NOT;
    switch (packing) {
    case PACKED_GZIP: return gunzip(u);
    case PACKED_ZSTD: return unzstd(u);
    default: return copy(u);
    }
}

static twin_status unpack(struct unpacking *u)
{
    twin_status status = decode_all(u);
    if (status == TWIN_OK && u->has_records && !twin__json_records_end(&u->records))
        return twin__fail(u->error, TWIN_EFORMAT,
                          "%s ends early: a bracket or quote of its JSON is not closed after %" PRIu64 " bytes",
                          u->options.name, u->put);
    return status;
}

/* Not by calloc(), for the buffers, half a megabyte, need not be zeros; release it with free(). */
static struct unpacking *begin_unpacking(int from, struct unpack_options options, twin_error *error)
{
    struct unpacking *u = malloc(sizeof *u);
    if (!u) {
        twin__fail_memory(error);
        return NULL;
    }
    u->from = from;
    u->to = -1;
    u->sink = (struct unpack_sink){ 0 };
    u->options = options;
    if (u->options.memory == 0)
        u->options.memory = IN_MEMORY;
    u->error = error;
    u->read = u->written = u->put = u->line = 0;
    u->have = 0;
    u->in_memory = u->is_packed = u->has_records = false;
    u->records = (struct twin__json_records){ 0 };
    return u;
}

twin_status twin__unpack(int *out, uint64_t *size, int from, struct unpack_options options, twin_error *error)
{
    *out = -1;
    struct unpacking *u = begin_unpacking(from, options, error);
    if (!u)
        return TWIN_ENOMEM;
    u->to = memfd_create("twinsift", MFD_CLOEXEC);
    u->in_memory = u->to >= 0;
    twin_status status = u->in_memory ? TWIN_OK : leave_memory(u);
    if (status == TWIN_OK)
        status = unpack(u);
    if (status == TWIN_OK) {
        *out = u->to;
        *size = u->written;
    } else if (u->to >= 0) {
        close(u->to);
    }
    free(u);
    return status;
}

twin_status twin__unpack_to_sink(struct unpack_sink sink, int from, struct unpack_options options, twin_error *error)
{
    struct unpacking *u = begin_unpacking(from, options, error);
    if (!u)
        return TWIN_ENOMEM;
    u->sink = sink;
    twin_status status = unpack(u);
    free(u);
    return status;
}

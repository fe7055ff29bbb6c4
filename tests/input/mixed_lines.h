/* mixed_lines.h — lines of all kinds, plain and compressed, and what is read of them. */
#ifndef TEST_MIXED_LINES_H
#define TEST_MIXED_LINES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/input.h>
#include <zlib.h>
#include <zstd.h>

#include "input_log.h"

static const char mixed[] = "\xEF\xBB\xBF{\"id\":\"a\",\"text\":\"first\"}\n"
                            "\n"
                            "{\"text\":\"no id\"}\r\n"
                            " \t\r\n"
                            "{\"id\":17,\"text\":\"seven\\nteen\",\"x\":[1,{}]}\n"
                            "{\"id\":\"b\"}\n"
                            "{\"id\":[],\"text\":\"bad id\"}\n"
                            "{\"id\":\"c\",\"text\":\"cut\n"
                            "{\"id\":null,\"text\":\"\"}\n"
                            "{\"id\":\"\",\"text\":\"\\u0000\"} x\n"
                            "{\"id\":\"\",\"text\":\"\\u0000!\"}";

static inline size_t gzip(unsigned char *out, size_t room, const void *bytes, size_t length)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)bytes;
    z.avail_in = (uInt)length;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t size = room - z.avail_out;
    deflateEnd(&z);
    return size;
}

static inline size_t zstd(unsigned char *out, size_t room, const void *bytes, size_t length)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(context, out, room, bytes, length);
    assert_false(ZSTD_isError(size));
    ZSTD_freeCCtx(context);
    return size;
}

static inline void check_log_of(const char *path, const struct log *expected)
{
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    check_same_logs(&log, expected);
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
}

static inline struct log log_of_mixed(void)
{
    const char *path = path_of("plain.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    twin_input_free(input);
    return log;
}

#endif

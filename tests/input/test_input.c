/* test_input.c — where documents come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <twinsift/input.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/random.h"
#include "input_log.h"
#include "scale.h"

enum { HUGE_LINE = (QUICK ? 10 : 100) << 20 };

/* ---- lines ---- */

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

static void lines_become_documents_and_problems_in_their_order(void **unused)
{
    (void)unused;
    const char *path = path_of("m.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    struct seen *s = log.seen;
    assert_int_equal(log.lines, 11);
    assert_int_equal(log.count, 9);
    assert_string_equal(s[0].id, "a");
    assert_string_equal(s[0].text, "first");
    assert_string_equal(s[0].record, "{\"id\":\"a\",\"text\":\"first\"}");
    assert_int_equal(s[0].position.offset, 3);
    assert_int_equal(s[0].position.line, 1);
    assert_int_equal(s[0].position.length, 25);
    assert_false(s[1].has_id);
    assert_int_equal(s[1].position.line, 3);
    assert_string_equal(s[1].record, "{\"text\":\"no id\"}");
    assert_string_equal(s[2].id, "17");
    assert_true(s[2].is_number);
    assert_string_equal(s[2].text, "seven\nteen");
    assert_int_equal(s[3].kind, TWIN_PROBLEM_NO_TEXT);
    assert_string_equal(s[3].message, "no field \"text\"");
    assert_int_equal(s[4].kind, TWIN_PROBLEM_BAD_ID);
    assert_int_equal(s[5].kind, TWIN_PROBLEM_BROKEN);
    assert_string_equal(s[5].message, "the line ends inside a string");
    assert_int_equal(s[5].column, 22);
    assert_int_equal(s[5].position.line, 8);
    assert_false(s[6].has_id);
    assert_int_equal(s[7].column, 27);
    assert_true(s[8].has_id);
    assert_int_equal(s[8].text_length, 2);
    assert_memory_equal(s[8].text, "\0!", 2);
    assert_int_equal(s[8].position.line, 11);
    clear_log(&log);
    twin_input_free(input);
}

static void fields_may_have_other_names(void **unused)
{
    (void)unused;
    const char *path = path_of("f.ndjson");
    const char lines[] = "{\"key\":\"k\",\"body\":\"b\",\"id\":{},\"text\":1}\n{\"text\":\"t\"}\n{\"body\":null}\n";
    write_file(path, lines, sizeof lines - 1);
    twin_input_options options = { .id_field = "key", .text_field = "body" };
    twin_input *input = open_one(path, options);
    struct log log = read_all(input);
    assert_int_equal(log.count, 3);
    assert_string_equal(log.seen[0].id, "k");
    assert_string_equal(log.seen[0].text, "b");
    assert_string_equal(log.seen[1].message, "no field \"body\"");
    assert_string_equal(log.seen[2].message, "the field \"body\" is not a string");
    clear_log(&log);
    twin_input_free(input);
}

static void check_every_piece_size(const char *path, size_t size, twin_input_options options)
{
    twin_input *whole = open_one(path, options);
    struct log expected = read_all(whole);
    check_fetching(whole, &expected);
    for (size_t chunk_bytes = 1; chunk_bytes <= 200; chunk_bytes++) {
        options.chunk_bytes = chunk_bytes;
        twin_input *input = open_one(path, options);
        uint64_t sum = 0;
        for (size_t i = 0; i < twin_input_chunks(input); i++) {
            assert_true(twin_input_chunk_size(input, i) <= chunk_bytes);
            sum += twin_input_chunk_size(input, i);
        }
        assert_int_equal(sum, size);
        struct log log = read_all(input);
        check_same_logs(&log, &expected);
        clear_log(&log);
        twin_input_free(input);
    }
    clear_log(&expected);
    twin_input_free(whole);
}

static const char some_rows[] = "u1\tm1\n"
                                "u1\tm2\t5\t881250949\r\n"
                                "\n"
                                "u2\tm1\t\n"
                                "no separator\n"
                                "\tm1\n"
                                "u3\t\n"
                                "u3\t\t4\n"
                                "u3\tm\r\r\n"
                                "   \r\n"
                                "u4\tthe last";

static void pieces_of_every_size_give_the_same(void **unused)
{
    (void)unused;
    const char *path = path_of("m.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    check_every_piece_size(path, sizeof mixed - 1 - 3, documents);
    write_file(path, mixed + 3, sizeof mixed - 1 - 3);
    check_every_piece_size(path, sizeof mixed - 1 - 3, documents);
    write_file(path, "\n\n\r\n\n", 5);
    check_every_piece_size(path, 5, documents);
    write_file(path, some_rows, sizeof some_rows - 1);
    check_every_piece_size(path, sizeof some_rows - 1, rows);
}

/* Lines of 0 to 60 bytes, half of them objects: every place of a cut in every place of a line. */
static void random_lines_are_the_same_in_pieces_of_every_size(void **unused)
{
    (void)unused;
    char lines[4000];
    uint64_t state = 5;
    for (int round = 0; round < (QUICK ? 3 : 20); round++) {
        size_t length = 0;
        while (length < sizeof lines - 200) {
            int width = (int)twin__random_below(&state, 40);
            const char *end = twin__random_below(&state, 4) ? "\n" : "\r\n";
            if (twin__random_below(&state, 2))
                length += (size_t)sprintf(lines + length, "{\"text\":\"%.*s\"}%s", width,
                                          "\\ttttttttttttttttttttttttttttttttttttttttttt", end);
            else
                length += (size_t)sprintf(lines + length, "%*s%s", width, width % 3 ? "" : "x", end);
        }
        length -= twin__random_below(&state, 3); /* often no newline at the end */
        const char *path = path_of("r.jsonl");
        write_file(path, lines, length);
        check_every_piece_size(path, length, documents);
    }
}

static void empty_files_have_no_pieces(void **unused)
{
    (void)unused;
    const char *paths[] = { path_of("a.jsonl"), path_of("b.jsonl"), path_of("c.jsonl"), path_of("d.jsonl") };
    write_file(paths[0], "", 0);
    write_file(paths[1], "{\"text\":\"x\"}\n", 13);
    write_file(paths[2], "\xEF\xBB\xBF", 3);
    write_file(paths[3], "{\"text\":\"y\"}\n", 13);
    twin_input *input = open_all(paths, 4, documents);
    assert_int_equal(twin_input_chunks(input), 2);
    assert_int_equal(twin_input_chunk_source(input, 0), 1);
    assert_int_equal(twin_input_chunk_source(input, 1), 3);
    struct log log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_string_equal(log.seen[1].text, "y");
    clear_log(&log);
    twin_input_free(input);
}

static void no_input_is_refused(void **unused)
{
    (void)unused;
    twin_input *input;
    twin_error error = { 0 };
    assert_int_equal(twin_input_open(&input, NULL, 0, documents, &error), TWIN_EINVAL);
    assert_null(input);
    assert_string_equal(error.message, "no input was given");
}

static void several_inputs_name_and_describe_their_lines(void **unused)
{
    (void)unused;
    const char *paths[] = { path_of("a.jsonl"), path_of("b.jsonl") };
    write_file(paths[0], "{\"text\":\"x\"}\n", 13);
    write_file(paths[1], "\n{\"text\":\"y\"}\n", 14);
    twin_input *input = open_all(paths, 2, documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_int_equal(log.seen[1].position.source, 1);

    twin_read_buffers reading = { 0 };
    twin_document got;
    char expected[600];
    assert_int_equal(twin_input_fetch(&got, input, &reading, log.seen[1].position, NULL), TWIN_OK);
    int length = snprintf(expected, sizeof expected, "%s:2", paths[1]);
    assert_int_equal(got.id.length, length);
    assert_memory_equal(got.id.bytes, expected, length);
    twin_read_buffers_clear(&reading);

    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, log.seen[1].position, 7), TWIN_OK);
    length = snprintf(expected, sizeof expected, "%s:2:7", paths[1]);
    assert_int_equal(words.length, length);
    assert_string_equal(words.bytes, expected);
    twin_position elsewhere = { .source = 2 };
    assert_int_equal(twin_input_describe(&words, input, elsewhere, 0), TWIN_EINVAL);
    assert_int_equal(twin_input_fetch(&got, input, &reading, elsewhere, NULL), TWIN_EFORMAT);
    elsewhere = (twin_position){ .source = 1, .offset = 5, .length = UINT32_MAX };
    assert_int_equal(twin_input_fetch(&got, input, &reading, elsewhere, NULL), TWIN_EFORMAT);
    twin_buffer_clear(&words);

    assert_int_equal(twin_input_sources(input), 2);
    assert_string_equal(twin_input_name(input, 1), paths[1]);
    clear_log(&log);
    twin_input_free(input);
}

static void rows_are_a_set_and_an_element(void **unused)
{
    (void)unused;
    const char *path = path_of("u.data");
    write_file(path, some_rows, sizeof some_rows - 1);
    twin_input *input = open_one(path, rows);
    struct log log = read_all(input);
    struct seen *s = log.seen;
    assert_int_equal(log.count, 9);
    assert_int_equal(log.lines, 11);
    assert_string_equal(s[0].id, "u1");
    assert_string_equal(s[0].text, "m1");
    assert_string_equal(s[1].text, "m2");
    assert_string_equal(s[1].record, "u1\tm2\t5\t881250949");
    assert_string_equal(s[2].text, "m1");
    assert_string_equal(s[3].message, "no tab in the row");
    assert_string_equal(s[4].message, "an empty name of a set");
    assert_string_equal(s[5].message, "an empty element");
    assert_string_equal(s[6].message, "an empty element");
    assert_int_equal(s[6].kind, TWIN_PROBLEM_BROKEN);
    assert_int_equal(s[6].column, 4);
    assert_string_equal(s[7].text, "m\r"); /* only one belongs to the line end */
    assert_string_equal(s[8].text, "the last");
    clear_log(&log);
    twin_input_free(input);

    write_file(path, "a,b,c\nx\ty\n", 10);
    input = open_one(path, (twin_input_options){ .format = TWIN_INPUT_SETS, .separator = ',' });
    log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_string_equal(log.seen[0].text, "b");
    assert_string_equal(log.seen[1].message, "no ',' in the row");
    clear_log(&log);
    twin_input_free(input);
}

/* Five lines, of which those of more than ten bytes are too long, wherever the pieces are cut. */
static void a_line_past_the_limit_is_a_problem(void **unused)
{
    (void)unused;
    const char lines[] =
        "a\t34567890\na\t345678901\na\t34567890\r\na\t345678901\r\nb\tabcdefghijklmnopqrstuvwxyz\nc\td";
    const char *path = path_of("rows");
    write_file(path, lines, sizeof lines - 1);
    for (size_t chunk_bytes = 1; chunk_bytes < 100; chunk_bytes++) {
        twin_input *input = open_one(
            path, (twin_input_options){ .format = TWIN_INPUT_SETS, .max_bytes = 10, .chunk_bytes = chunk_bytes });
        struct log log = read_all(input);
        assert_int_equal(log.count, 6);
        assert_int_equal(log.lines, 6);
        for (size_t i = 0; i < 6; i++) {
            assert_int_equal(log.seen[i].is_problem, i == 1 || i == 3 || i == 4);
            assert_int_equal(log.seen[i].position.line, i + 1);
            if (log.seen[i].is_problem)
                assert_int_equal(log.seen[i].kind, TWIN_PROBLEM_TOO_LONG);
        }
        assert_string_equal(log.seen[1].message, "longer than 10 bytes");
        clear_log(&log);
        twin_input_free(input);
    }
}

/* A line longer than what is read at a time, over the limit: found too long without being read to its end. */
static void a_line_far_past_the_limit_is_not_kept(void **unused)
{
    (void)unused;
    const char *path = path_of("long.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"text\":\"before\"}\n", file);
    for (int i = 0; i < 8 << 20; i++)
        putc('x', file);
    fputs("\n{\"text\":\"behind\"}\n", file);
    assert_int_equal(fclose(file), 0);
    twin_input *input = open_one(path, (twin_input_options){ .max_bytes = 100000, .chunk_bytes = 1000 });
    struct log log = read_all(input);
    assert_int_equal(log.count, 3);
    assert_int_equal(log.seen[1].kind, TWIN_PROBLEM_TOO_LONG);
    assert_int_equal(log.seen[2].position.line, 3);
    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, log.seen[1].position, 0), TWIN_OK);
    assert_non_null(strstr(words.bytes, "long.jsonl:2"));
    twin_buffer_clear(&words);
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
}

static void a_huge_line_is_read_and_its_room_given_back(void **unused)
{
    (void)unused;
    const char *path = path_of("huge.jsonl");
    char *lines = malloc(HUGE_LINE + 100);
    assert_non_null(lines);
    size_t length = (size_t)sprintf(lines, "{\"text\":\"a\"}\n{\"text\":\"");
    memset(lines + length, 'z', HUGE_LINE);
    lines[length + HUGE_LINE / 2] = '\\'; /* must be unescaped, so that a second buffer grows */
    lines[length + HUGE_LINE / 2 + 1] = 'n';
    length += HUGE_LINE;
    length += (size_t)sprintf(lines + length, "\"}\n{\"text\":\"b\"}\n");
    write_file(path, lines, length);

    twin_input *input = open_one(path, documents);
    struct log log = { 0 };
    twin_read_buffers reading = { 0 };
    for (size_t piece = 0; piece < twin_input_chunks(input); piece++) {
        assert_int_equal(twin_input_read(NULL, input, &reading, piece, visitor_of(&log), NULL), TWIN_OK);
        assert_true(reading.block.capacity + reading.text.capacity <= 8 << 20);
    }
    assert_int_equal(log.count, 3);
    assert_int_equal(log.seen[1].text_length, HUGE_LINE - 1);
    assert_int_equal(log.seen[1].text[HUGE_LINE / 2], '\n');
    assert_string_equal(log.seen[2].text, "b");
    clear_log(&log);
    twin_read_buffers_clear(&reading);
    twin_input_free(input);
    free(lines);
}

static bool stop(void *context, const twin_document *document)
{
    (void)document;
    return --*(int *)context > 0;
}

static bool no_problem(void *context, const twin_problem *problem)
{
    (void)context;
    fail_msg("%s", problem->message);
    return false;
}

static void a_visitor_may_stop(void **unused)
{
    (void)unused;
    const char *path = path_of("s.jsonl");
    write_file(path, "{\"text\":\"x\"}\n{\"text\":\"x\"}\n{\"text\":\"x\"}\n", 39);
    twin_input *input = open_one(path, documents);
    twin_read_buffers reading = { 0 };
    twin_error error = { 0 };
    int left = 2;
    twin_visitor visitor = { stop, no_problem, &left };
    assert_int_equal(twin_input_read(NULL, input, &reading, 0, visitor, &error), TWIN_ESTOPPED);
    assert_int_equal(left, 0);
    twin_read_buffers_clear(&reading);
    twin_input_free(input);
}

static void a_file_knows_what_others_did_to_it(void **unused)
{
    (void)unused;
    const char *path = path_of("t.jsonl");
    const struct timespec long_ago[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_UNCHANGED);
    assert_int_equal(truncate(path, sizeof mixed + 40), 0);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_GROWN);
    assert_int_equal(truncate(path, sizeof mixed - 2), 0);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_CHANGED);
    assert_int_equal(truncate(path, sizeof mixed - 1), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    assert_int_equal(twin_input_change_of(input, 0), TWIN_INPUT_CHANGED);
    assert_int_equal(twin_input_change_of(input, 1), TWIN_INPUT_UNCHANGED); /* there is none */
    assert_int_equal(twin_input_change_of(NULL, 0), TWIN_INPUT_UNCHANGED);
    twin_input_free(input);
}

static void a_file_cut_short_behind_our_back_is_an_error(void **unused)
{
    (void)unused;
    const char *path = path_of("t.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    assert_int_equal(truncate(path, 40), 0);
    twin_read_buffers reading = { 0 };
    twin_error error = { 0 };
    twin_document got;
    struct log none = { 0 };
    assert_int_equal(twin_input_read(NULL, input, &reading, 0, visitor_of(&none), &error), TWIN_EIO);
    assert_non_null(strstr(error.message, "became shorter"));
    assert_int_equal(twin_input_fetch(&got, input, &reading, log.seen[8].position, &error), TWIN_EIO);

    /* Other bytes of the same length: the place is there, the document is not. */
    char other[sizeof mixed];
    memset(other, '\n', sizeof other);
    write_file(path, other, sizeof mixed - 1);
    assert_int_equal(twin_input_fetch(&got, input, &reading, log.seen[0].position, &error), TWIN_EFORMAT);
    twin_read_buffers_clear(&reading);
    clear_log(&log);
    twin_input_free(input);
}

/* ---- what must be unpacked ---- */

static size_t gzip(unsigned char *out, size_t room, const void *bytes, size_t length)
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

static size_t zstd(unsigned char *out, size_t room, const void *bytes, size_t length)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(context, out, room, bytes, length);
    assert_false(ZSTD_isError(size));
    ZSTD_freeCCtx(context);
    return size;
}

static struct packer {
    size_t (*pack)(unsigned char *out, size_t room, const void *bytes, size_t length);
    const char *name, *word;
} const packers[] = { { gzip, "p.jsonl.gz", "gzip" }, { zstd, "p.jsonl.zst", "zstd" } };

static void check_log_of(const char *path, const struct log *expected)
{
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    check_same_logs(&log, expected);
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
}

static struct log log_of_mixed(void)
{
    const char *path = path_of("plain.jsonl");
    write_file(path, mixed, sizeof mixed - 1);
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    twin_input_free(input);
    return log;
}

/* In one part, in two, and with an empty one between them. */
static void packed_files_give_what_they_hold(void **unused)
{
    (void)unused;
    struct log expected = log_of_mixed();
    for (int p = 0; p < 2; p++) {
        unsigned char packed[4096];
        const char *path = path_of(packers[p].name);
        size_t size = packers[p].pack(packed, sizeof packed, mixed, sizeof mixed - 1);
        write_file(path, packed, size);
        check_log_of(path, &expected);

        size = packers[p].pack(packed, sizeof packed, mixed, 50);
        size += packers[p].pack(packed + size, sizeof packed - size, "", 0);
        size += packers[p].pack(packed + size, sizeof packed - size, mixed + 50, sizeof mixed - 1 - 50);
        write_file(path, packed, size);
        check_log_of(path, &expected);

        write_file(path_of("packed.jsonl"), packed, size); /* the bytes decide, not the name */
        check_log_of(path_of("packed.jsonl"), &expected);
    }
    clear_log(&expected);
}

static void packed_files_cut_anywhere_are_refused(void **unused)
{
    (void)unused;
    for (int p = 0; p < 2; p++) {
        unsigned char packed[4096];
        const char *path = path_of(packers[p].name);
        size_t size = packers[p].pack(packed, sizeof packed, mixed, sizeof mixed - 1);
        for (size_t length = 0; length < size; length++) {
            char words[64];
            snprintf(words, sizeof words, "ends early after %zu bytes", length);
            write_file(path, packed, length);
            check_refused(path, documents, TWIN_EFORMAT, length < (p ? 4 : 2) ? "though its name ends in" : words);
        }
    }
}

/* gzip keeps its checksum in the eight last bytes, zstd in the four last. */
static void damaged_files_are_refused(void **unused)
{
    (void)unused;
    for (int p = 0; p < 2; p++) {
        unsigned char packed[4096];
        const char *path = path_of(packers[p].name);
        size_t size = packers[p].pack(packed, sizeof packed, mixed, sizeof mixed - 1), check = size - (p ? 4 : 8);
        packed[check] ^= 1;
        write_file(path, packed, size);
        check_refused(path, documents, TWIN_EFORMAT, "the checksum does not match");
        packed[check] ^= 1;

        memcpy(packed + size, "garbage", sizeof "garbage");
        write_file(path, packed, size + sizeof "garbage");
        check_refused(path, documents, TWIN_EFORMAT, "something else behind");
        packed[size / 2] ^= 0x55;
        write_file(path, packed, size);
        check_refused(path, documents, TWIN_EFORMAT, packers[p].word);
    }
}

/* More than the rooms in which it is unpacked, and text of which a little makes a lot. */
static void large_packed_files_are_unpacked_whole(void **unused)
{
    (void)unused;
    size_t length = 0, room = 3 << 20;
    char *lines = malloc(room);
    unsigned char *packed = malloc(room);
    assert_non_null(lines);
    assert_non_null(packed);
    for (uint64_t state = 3; length < room - 200000;)
        length += (size_t)sprintf(lines + length, "{\"text\":\"%016llx%*s\"}\n",
                                  (unsigned long long)twin__random_next(&state),
                                  (int)twin__random_below(&state, length < room / 2 ? 10 : 100000), "");
    write_file(path_of("big.jsonl"), lines, length);
    twin_input *input = open_one(path_of("big.jsonl"), documents);
    struct log expected = read_all(input);
    twin_input_free(input);
    for (int p = 0; p < 2; p++) {
        write_file(path_of(packers[p].name), packed, packers[p].pack(packed, room, lines, length));
        check_log_of(path_of(packers[p].name), &expected);

        /* From memory to a file at the start, on the way, and not at all. */
        for (size_t memory = 1; memory < 2 * room; memory *= 100) {
            input = open_one(path_of(packers[p].name), (twin_input_options){ .memory_bytes = memory });
            struct log log = read_all(input);
            check_same_logs(&expected, &log);
            clear_log(&log);
            twin_input_free(input);
        }
    }
    clear_log(&expected);
    free(lines);
    free(packed);
}

/* What fits into memory needs no temporary folder. */
static void small_packed_files_stay_in_memory(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    const char *path = path_of("p.jsonl.gz");
    write_file(path, packed, gzip(packed, sizeof packed, mixed, sizeof mixed - 1));
    twin_input_free(open_one(path, (twin_input_options){ .temp_folder = "/nowhere/at/all" }));
}

static void what_unpacks_to_too_much_is_refused(void **unused)
{
    (void)unused;
    enum { LENGTH = 100000 };
    unsigned char packed[4096];
    char *lines = malloc(LENGTH);
    assert_non_null(lines);
    memset(lines, '\n', LENGTH);
    for (int p = 0; p < 2; p++) {
        const char *path = path_of(packers[p].name);
        write_file(path, packed, packers[p].pack(packed, sizeof packed, lines, LENGTH));
        twin_input_free(open_one(path, (twin_input_options){ .max_unpacked_bytes = LENGTH }));
        check_refused(path, (twin_input_options){ .max_unpacked_bytes = LENGTH - 1 }, TWIN_ELIMIT,
                      "become more than 99999; --max-unpacked-bytes allows more");
    }
    free(lines);
}

/* 1.5 GB of zeros in 46 KB, of which one is enough to see that it is no text; with a first line, the ratio decides. */
static void bombs_stop_at_a_ratio(void **unused)
{
    (void)unused;
    enum { MEBIBYTE = 1 << 20, BLOCKS = QUICK ? 10 : 1500 };
    const char *path = path_of("bomb.jsonl.zst");
    ZSTD_CCtx *context = ZSTD_createCCtx();
    char *zeros = calloc(1, MEBIBYTE), *room = malloc(MEBIBYTE);
    assert_true(context && zeros && room);
    for (int text = 0; text < 2; text++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        for (int i = 0; i < BLOCKS; i++) {
            zeros[0] = zeros[1] = (char)(text && i == 0 ? '{' : '\0');
            ZSTD_inBuffer in = { zeros, MEBIBYTE, 0 };
            ZSTD_outBuffer out = { room, MEBIBYTE, 0 };
            ZSTD_compressStream2(context, &out, &in, i + 1 < BLOCKS ? ZSTD_e_continue : ZSTD_e_end);
            assert_int_equal(in.pos, in.size);
            fwrite(room, 1, out.pos, file);
        }
        assert_int_equal(fclose(file), 0);
        if (!text)
            check_refused(path, documents, TWIN_EFORMAT, "is not text: it begins with NUL bytes");
        else if (!QUICK) /* most of its one line is dropped at once */
            check_refused(path, (twin_input_options){ .max_bytes = 1000 }, TWIN_ELIMIT,
                          "compressed bytes become more than 1073741824; --max-unpacked-bytes allows more");
    }
    free(zeros);
    free(room);
    ZSTD_freeCCtx(context);
}

/* A frame drawn by hand: magic, descriptor, window 2^(10 + byte/8), then one empty last block. */
static void zstd_windows_go_up_to_128_mebibytes(void **unused)
{
    (void)unused;
    unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x01, 0x00, 0x00 };
    const char *path = path_of("w.jsonl.zst");
    write_file(path, frame, sizeof frame);
    twin_input *input = open_one(path, documents);
    assert_int_equal(twin_input_chunks(input), 0);
    twin_input_free(input);
    frame[5] = 18 << 3;
    write_file(path, frame, sizeof frame);
    check_refused(path, documents, TWIN_EUNSUPPORTED, "window over 128 MiB");
}

static void note_progress(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    assert_string_equal(stage->name, "unpacking");
    assert_string_equal(stage->unit, "B");
    assert_true(done <= total);
    *(uint64_t *)context = done;
}

static void unpacking_tells_how_far_it_is(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    const char *path = path_of("p.jsonl.gz");
    size_t size = gzip(packed, sizeof packed, mixed, sizeof mixed - 1);
    write_file(path, packed, size);
    uint64_t done = 0;
    twin_input_free(open_one(path, (twin_input_options){ .progress = { note_progress, &done } }));
    assert_int_equal(done, size);
}

static void trouble_with_the_temporary_folder_names_it(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    const char *path = path_of("p.jsonl.gz");
    write_file(path, packed, gzip(packed, sizeof packed, mixed, sizeof mixed - 1));
    check_refused(path, (twin_input_options){ .temp_folder = "/nowhere/at/all", .memory_bytes = 1 }, TWIN_EIO,
                  "/nowhere/at/all");

    /* As a full disk would, a limit on the size of files refuses a write half way. */
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){ 100, before.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    twin_input *input;
    twin_error error = { 0 };
    twin_status status = twin_input_open(&input, &path, 1, (twin_input_options){ .temp_folder = base }, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, TWIN_EIO);
    assert_non_null(strstr(error.message, "after 100 bytes"));
    assert_non_null(strstr(error.message, base));
}

/* A pipe that holds the bytes and will give no more. */
static int pipe_of(const void *bytes, size_t length)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, length), length);
    close(ends[1]);
    return ends[0];
}

/* Of a line that is too long as much is kept as shows that it is; lines before and after it are whole. */
static void a_line_without_an_end_is_not_stored(void **unused)
{
    (void)unused;
    static const char format[] = "{\"id\":1,\"text\":\"x\"}\n%s%0*d%s{\"id\":3,\"text\":\"y\"}\n";
    static const int lengths[] = { 30, 31, 32, 33, 100, 60000 };
    char lines[61000], path[32];
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int ending = 0; ending < 2; ending++) {
            int digits = lengths[i] - 18; /* the rest of the line */
            int length = snprintf(lines, sizeof lines, format, "{\"id\":2,\"text\":\"", digits, 0,
                                  ending ? "\"}\r\n" : "\"}\n");
            int fd = pipe_of(lines, (size_t)length);
            snprintf(path, sizeof path, "/dev/fd/%d", fd);
            twin_input *input = open_one(path, (twin_input_options){ .max_bytes = 30, .chunk_bytes = 50 });
            struct log log = read_all(input);
            assert_int_equal(log.count, 3);
            assert_int_equal(log.lines, 3);
            for (size_t line = 0; line < 3; line++)
                assert_int_equal(log.seen[line].is_problem, line == 1 && lengths[i] > 30);
            assert_true(lengths[i] <= 30 || log.seen[1].kind == TWIN_PROBLEM_TOO_LONG);
            clear_log(&log);
            twin_input_free(input);
            close(fd);
        }
}

static void check_pipe(const void *bytes, size_t length, const struct log *expected)
{
    char path[32];
    int fd = pipe_of(bytes, length);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    check_log_of(path, expected);
    close(fd);

    int standard = dup(STDIN_FILENO);
    fd = pipe_of(bytes, length);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    check_log_of("-", expected);
    if (standard >= 0) {
        dup2(standard, STDIN_FILENO);
        close(standard);
    }
}

static void pipes_and_standard_input_are_read_like_files(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    struct log expected = log_of_mixed();
    check_pipe(mixed, sizeof mixed - 1, &expected);
    check_pipe(packed, gzip(packed, sizeof packed, mixed, sizeof mixed - 1), &expected);
    check_pipe(packed, zstd(packed, sizeof packed, mixed, sizeof mixed - 1), &expected);
    clear_log(&expected);
    check_pipe("", 0, &expected);

    twin_input *input = open_one("/dev/null", documents);
    assert_int_equal(twin_input_chunks(input), 0);
    twin_input_free(input);
    const char *twice[] = { "-", "-" };
    assert_int_equal(twin_input_open(&input, twice, 2, documents, NULL), TWIN_EINVAL);
}

/* As a file that was named itself: what is packed twice is unpacked once. */
static void a_document_from_a_pipe_is_unpacked_once(void **unused)
{
    (void)unused;
    static const char text[] = "a document of some words";
    unsigned char packed[256], twice[256];
    char path[32];
    size_t length = gzip(packed, sizeof packed, text, sizeof text - 1);
    size_t twice_length = gzip(twice, sizeof twice, packed, length);
    for (int times = 1; times <= 2; times++) {
        int fd = times == 1 ? pipe_of(packed, length) : pipe_of(twice, twice_length);
        snprintf(path, sizeof path, "/dev/fd/%d", fd);
        twin_input *input = open_one(path, (twin_input_options){ .as = TWIN_INPUT_AS_FILES });
        struct log log = read_all(input);
        assert_int_equal(log.count, 1);
        assert_int_equal(log.seen[0].text_length, times == 1 ? sizeof text - 1 : length);
        assert_memory_equal(log.seen[0].text, times == 1 ? text : (const char *)packed, log.seen[0].text_length);
        clear_log(&log);
        twin_input_free(input);
        close(fd);
    }
}

/* `(read line; twinsift pairs -) < file`: what was read before is not read again. */
static void standard_input_begins_where_it_stands(void **unused)
{
    (void)unused;
    const char *path = path_of("any name");
    write_file(path, "{\"text\":\"x\"}\n{\"text\":\"y\"}\n", 26);
    int standard = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(lseek(fd, 13, SEEK_SET), 13);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    twin_input *input = open_one("-", documents);
    assert_string_equal(twin_input_name(input, 0), "standard input");
    struct log log = read_all(input);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.seen[0].text, "y");
    assert_int_equal(log.seen[0].position.line, 1);
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
    if (standard >= 0) {
        dup2(standard, STDIN_FILENO);
        close(standard);
    }
}

static void what_is_no_input_is_refused_with_advice(void **unused)
{
    (void)unused;
    write_file(path_of("letter.txt"), "Dear all,\n", 10);
    write_file(path_of("picture.png"), "\x89PNG\0\0", 6);
    make_folder("folder");
    check_refused(path_of("picture.png"), documents, TWIN_EINVAL, "is not text: it has a NUL byte; extract its text");
    check_refused(path_of("missing.jsonl"), documents, TWIN_EIO, "missing.jsonl cannot be opened");
    check_refused(path_of("folder"), rows, TWIN_EINVAL, "is a folder");
    check_refused(path_of("letter.txt"), (twin_input_options){ .format = TWIN_INPUT_SETS, .separator = '\n' },
                  TWIN_EINVAL, "line end");
    write_file(path_of("not.jsonl.gz"), mixed, sizeof mixed - 1);
    check_refused(path_of("not.jsonl.gz"), documents, TWIN_EFORMAT, "is not gzip data");
}

/* ---- many threads, little memory ---- */

enum { THREADS = 4 };

struct crowd {
    const twin_input *input;
    atomic_size_t next;
    struct log *logs; /* one a piece */
};

static void *take_pieces(void *context)
{
    struct crowd *crowd = context;
    twin_read_buffers reading = { 0 };
    for (;;) {
        size_t piece = atomic_fetch_add(&crowd->next, 1);
        if (piece >= twin_input_chunks(crowd->input))
            break;
        struct log *log = &crowd->logs[piece];
        twin_input_read(&log->lines, crowd->input, &reading, piece, visitor_of(log), NULL);
    }
    twin_read_buffers_clear(&reading);
    return NULL;
}

static void check_crowd(const twin_input *input)
{
    struct log expected = read_all(input);
    size_t pieces = twin_input_chunks(input);
    struct crowd crowd = { .input = input, .logs = calloc(pieces, sizeof(struct log)) };
    assert_non_null(crowd.logs);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_pieces, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    size_t at = 0;
    for (size_t piece = 0; piece < pieces; piece++) {
        for (size_t i = 0; i < crowd.logs[piece].count; i++, at++) {
            const struct seen *seen = &crowd.logs[piece].seen[i];
            assert_true(at < expected.count);
            assert_int_equal(seen->position.offset, expected.seen[at].position.offset);
            assert_string_equal(seen->text, expected.seen[at].text);
        }
        clear_log(&crowd.logs[piece]);
    }
    assert_int_equal(at, expected.count);
    free(crowd.logs);
    clear_log(&expected);
}

static void threads_read_what_one_reads(void **unused)
{
    (void)unused;
    const char *path = path_of("c.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 2000; i++)
        fprintf(file, "{\"id\":%d,\"text\":\"line\\t%d%*s\"}\n", i, i, i % 300, "");
    assert_int_equal(fclose(file), 0);
    twin_input *input = open_one(path, (twin_input_options){ .chunk_bytes = 1000 });
    check_crowd(input);
    twin_input_free(input);

    make_folder("d");
    for (int i = 0; i < 50; i++) {
        char name[8];
        snprintf(name, sizeof name, "d/%d", i);
        write_file(path_of(name), name, strlen(name));
    }
    input = open_one(path_of("d"), (twin_input_options){ .chunk_bytes = 1 });
    check_crowd(input);
    twin_input_free(input);
}

static size_t mapped_bytes(void)
{
    char line[200];
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    return strtoul(line, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void memory_that_runs_out_is_told(void **unused)
{
    (void)unused;
    if (SANITIZED) {
        print_message("a sanitizer needs more addresses than any limit leaves: skipped\n");
        skip();
    }
    const char *path = path_of("m.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"", file);
    assert_int_equal(fseek(file, 64 << 20, SEEK_SET), 0);
    putc('\n', file);
    assert_int_equal(fclose(file), 0);
    make_folder("d");
    assert_int_equal(rename(path, path_of("d/m")), 0);
    assert_int_equal(symlink("d/m", path), 0);

    const char *paths[] = { path, path_of("d") };
    twin_input *input = open_all(paths, 2, documents);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = (struct rlimit){ mapped_bytes() + (16 << 20), before.rlim_max };
    struct log log = { 0 };
    twin_read_buffers reading = { 0 };
    twin_error error = { 0 };
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    twin_status line = twin_input_read(NULL, input, &reading, 0, visitor_of(&log), &error);
    twin_status whole = twin_input_read(NULL, input, &reading, twin_input_chunks(input) - 1, visitor_of(&log), NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(line, TWIN_ENOMEM);
    assert_int_equal(whole, TWIN_ENOMEM);
    assert_string_equal(error.message, "out of memory");
    assert_int_equal(log.count, 0);
    twin_read_buffers_clear(&reading);
    twin_input_free(input);
}

static void buffers_grow_and_refuse_the_impossible(void **unused)
{
    (void)unused;
    twin_buffer buffer = { 0 };
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(twin_buffer_append(&buffer, "abc", i % 4), TWIN_OK);
        assert_true(buffer.length <= buffer.capacity);
    }
    assert_int_equal(buffer.length, 1500);
    assert_memory_equal(buffer.bytes, "aababcaababc", 12);
    assert_int_equal(twin_buffer_reserve(&buffer, SIZE_MAX), TWIN_ENOMEM);
    assert_int_equal(twin_buffer_reserve(&buffer, PTRDIFF_MAX), TWIN_ENOMEM);
    assert_int_equal(buffer.length, 1500);
    twin_buffer_clear(&buffer);
    assert_null(buffer.bytes);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_base, remove_base)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(lines_become_documents_and_problems_in_their_order),
        IN_A_FOLDER(fields_may_have_other_names),
        IN_A_FOLDER(pieces_of_every_size_give_the_same),
        IN_A_FOLDER(random_lines_are_the_same_in_pieces_of_every_size),
        IN_A_FOLDER(empty_files_have_no_pieces),
        IN_A_FOLDER(no_input_is_refused),
        IN_A_FOLDER(several_inputs_name_and_describe_their_lines),
        IN_A_FOLDER(rows_are_a_set_and_an_element),
        IN_A_FOLDER(a_line_past_the_limit_is_a_problem),
        IN_A_FOLDER(a_line_far_past_the_limit_is_not_kept),
        IN_A_FOLDER(a_huge_line_is_read_and_its_room_given_back),
        IN_A_FOLDER(a_visitor_may_stop),
        IN_A_FOLDER(a_file_knows_what_others_did_to_it),
        IN_A_FOLDER(a_file_cut_short_behind_our_back_is_an_error),
        IN_A_FOLDER(packed_files_give_what_they_hold),
        IN_A_FOLDER(packed_files_cut_anywhere_are_refused),
        IN_A_FOLDER(damaged_files_are_refused),
        IN_A_FOLDER(large_packed_files_are_unpacked_whole),
        IN_A_FOLDER(small_packed_files_stay_in_memory),
        IN_A_FOLDER(what_unpacks_to_too_much_is_refused),
        IN_A_FOLDER(bombs_stop_at_a_ratio),
        IN_A_FOLDER(a_line_without_an_end_is_not_stored),
        IN_A_FOLDER(zstd_windows_go_up_to_128_mebibytes),
        IN_A_FOLDER(unpacking_tells_how_far_it_is),
        IN_A_FOLDER(trouble_with_the_temporary_folder_names_it),
        IN_A_FOLDER(pipes_and_standard_input_are_read_like_files),
        IN_A_FOLDER(a_document_from_a_pipe_is_unpacked_once),
        IN_A_FOLDER(standard_input_begins_where_it_stands),
        IN_A_FOLDER(what_is_no_input_is_refused_with_advice),
        IN_A_FOLDER(threads_read_what_one_reads),
        IN_A_FOLDER(memory_that_runs_out_is_told),
        cmocka_unit_test(buffers_grow_and_refuse_the_impossible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

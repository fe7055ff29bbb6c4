/* test_folder.c — folders and single files: which of them are documents, and which hold many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <twinsift/input.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "input/documents.h"
#include "input_log.h"
#include "scale.h"

/* ---- folders ---- */

static void a_folder_gives_its_files_in_byte_order(void **unused)
{
    (void)unused;
    make_folder("d");
    make_folder("d/b");
    make_folder("d/empty");
    write_file(path_of("d/b/x"), "inner", 5);
    write_file(path_of("d/b.txt"), "b dot", 5); /* '.' comes before '/' */
    write_file(path_of("d/a"), "", 0);
    write_file(path_of("d/.hidden"), "h", 1);
    write_file(path_of("d/\xff"), "last", 4);
    assert_int_equal(mkfifo(path_of("d/pipe"), 0600), 0);
    assert_int_equal(symlink("..", path_of("d/loop")), 0);
    assert_int_equal(symlink("a", path_of("d/link")), 0);
    assert_int_equal(symlink("nowhere", path_of("d/b/dangling")), 0);
    assert_int_equal(symlink("d", path_of("s")), 0);

    static const char *const ids[] = { ".hidden", "a", "b.txt", "b/x", "\xff" };
    static const char *const paths[] = { "d", "d/", "s" };
    for (int p = 0; p < 3; p++) {
        twin_input *input =
            open_one(path_of(paths[p]), (twin_input_options){ .chunk_bytes = p == 0 ? 1 : 0, .hidden = true });
        assert_int_equal(twin_input_chunks(input), p == 0 ? 5 : 1);
        assert_int_equal(twin_input_chunk_of(input, 0).size, p == 0 ? 1 : 5);
        struct log log = read_all(input);
        assert_int_equal(log.count, 5);
        for (size_t i = 0; i < 5; i++) {
            assert_string_equal(log.seen[i].id, ids[i]);
            assert_int_equal(log.seen[i].position.offset, i);
        }
        assert_int_equal(log.seen[2].text_length, 5);
        assert_memory_equal(log.seen[2].text, "b dot", 5);
        twin_buffer words = { 0 };
        assert_int_equal(twin_input_describe(&words, input, log.seen[3].position, 0), TWIN_OK);
        assert_string_equal(words.bytes, path_of(p == 2 ? "s/b/x" : "d/b/x"));
        twin_buffer_clear(&words);
        twin_read_buffers reading = { 0 };
        twin_document got;
        assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[3].position, NULL), TWIN_OK);
        assert_int_equal(got.text.length, 5);
        assert_memory_equal(got.text.bytes, "inner", 5);
        twin__read_buffers_clear(&reading);
        clear_log(&log);
        twin_input_free(input);
    }
    twin_input *input = open_one(path_of("d"), documents);
    twin_folder_info info = twin_input_folder_info(input, 0);
    assert_int_equal(info.links, 3);
    assert_int_equal(info.special, 1);
    assert_int_equal(info.hidden, 1);
    assert_int_equal(twin_input_folder_info(input, 1).links, 0);
    twin_input_free(input);
    input = open_one(path_of("d/empty"), documents);
    assert_int_equal(twin_input_chunks(input), 0);
    twin_input_free(input);
}

static void a_byte_order_mark_is_no_part_of_a_file(void **unused)
{
    (void)unused;
    make_folder("d");
    write_file(path_of("d/marked"), "\xEF\xBB\xBFtext", 7);
    write_file(path_of("d/only"), "\xEF\xBB\xBF", 3);
    write_file(path_of("d/part"), "\xEF\xBB", 2);
    twin_input *input = open_one(path_of("d"), documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 3);
    assert_int_equal(log.seen[0].text_length, 4);
    assert_memory_equal(log.seen[0].text, "text", 4);
    assert_int_equal(log.seen[1].text_length, 0);
    assert_int_equal(log.seen[2].text_length, 2);
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
}

static void files_that_changed_are_read_as_they_are_now(void **unused)
{
    (void)unused;
    make_folder("d");
    for (int i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "d/%d", i);
        write_file(path_of(name), "12345", 5);
    }
    twin_input *input = open_one(path_of("d"), (twin_input_options){ .max_bytes = 10 });
    assert_int_equal(unlink(path_of("d/0")), 0);
    assert_int_equal(unlink(path_of("d/1")), 0);
    assert_int_equal(symlink("5", path_of("d/1")), 0);
    assert_int_equal(unlink(path_of("d/2")), 0);
    assert_int_equal(mkfifo(path_of("d/2"), 0600), 0);
    write_file(path_of("d/3"), "0123456789+", 11);
    write_file(path_of("d/4"), "", 0);
    struct log log = read_all(input);
    assert_int_equal(log.count, 6);
    assert_int_equal(log.seen[0].kind, TWIN_PROBLEM_UNREADABLE);
    assert_string_equal(log.seen[0].message, "cannot be opened: No such file or directory");
    assert_int_equal(log.seen[0].position.offset, 0);
    assert_int_equal(log.seen[1].kind, TWIN_PROBLEM_UNREADABLE);
    assert_string_equal(log.seen[2].message, "is not a regular file any more");
    assert_int_equal(log.seen[3].kind, TWIN_PROBLEM_TOO_LONG);
    assert_string_equal(log.seen[4].text, "");
    assert_string_equal(log.seen[5].text, "12345");
    twin_read_buffers reading = { 0 };
    twin_document got;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[i].position, NULL), TWIN_EFORMAT);
    twin__read_buffers_clear(&reading);
    clear_log(&log);
    twin_input_free(input);
}

static void folders_and_files_without_permission_are_problems(void **unused)
{
    (void)unused;
    if (geteuid() == 0) {
        print_message("no permission is ever missing for root: skipped\n");
        skip();
    }
    make_folder("d");
    make_folder("d/closed");
    write_file(path_of("d/a"), "a", 1);
    write_file(path_of("d/closed.txt"), "c", 1);
    write_file(path_of("d/z"), "z", 1);
    assert_int_equal(chmod(path_of("d/closed"), 0), 0);
    assert_int_equal(chmod(path_of("d/z"), 0), 0);
    twin_input *input = open_one(path_of("d"), documents);
    struct log log = read_all(input);
    assert_int_equal(chmod(path_of("d/closed"), 0700), 0);
    assert_int_equal(log.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(log.seen[i].is_problem, i % 2);
        if (i % 2)
            assert_string_equal(log.seen[i].message, "cannot be opened: Permission denied");
    }
    clear_log(&log);
    twin_input_free(input);
}

/* Makes folders in folders, each named by `width` letters, with a file "leaf" in the innermost. Returns the
 * length of the path to it. */
static size_t make_deep(const char *top, size_t width, int depth)
{
    char name[256];
    memset(name, 'n', width);
    name[width] = '\0';
    int at = open(top, O_PATH | O_DIRECTORY);
    for (int i = 0; i < depth; i++) {
        assert_int_equal(mkdirat(at, name, 0700), 0);
        int next = openat(at, name, O_PATH | O_DIRECTORY);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    int leaf = openat(at, "leaf", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(leaf, "deep", 4), 4);
    close(leaf);
    close(at);
    return (width + 1) * (size_t)depth + 4;
}

/* nftw cannot walk so far down: the way is gone down and up again one name at a time. */
static void remove_deep(const char *top, size_t width, int depth)
{
    char name[256];
    memset(name, 'n', width);
    name[width] = '\0';
    for (; depth >= 0; depth--) {
        int at = open(top, O_PATH | O_DIRECTORY);
        for (int i = 0; i < depth; i++) {
            int next = openat(at, name, O_PATH | O_DIRECTORY);
            close(at);
            at = next;
        }
        unlinkat(at, "leaf", 0);
        unlinkat(at, name, AT_REMOVEDIR);
        close(at);
    }
}

static void paths_may_be_longer_than_the_system_takes_at_once(void **unused)
{
    (void)unused;
    make_folder("d");
    char top[512];
    snprintf(top, sizeof top, "%s", path_of("d"));
    for (size_t width = 100; width <= 255; width += 155) {
        size_t length = make_deep(top, width, 60);
        twin_input *input = open_one(top, documents);
        struct log log = read_all(input);
        assert_int_equal(log.count, 1);
        assert_string_equal(log.seen[0].text, "deep");
        assert_int_equal(strlen(log.seen[0].id), length);
        clear_log(&log);
        twin_input_free(input);
        remove_deep(top, width, 60);
    }
}

static void folders_nested_past_all_reason_are_problems(void **unused)
{
    (void)unused;
    make_folder("d");
    char top[512];
    snprintf(top, sizeof top, "%s", path_of("d"));
    make_deep(top, 1, 1030);
    twin_input *input = open_one(top, documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 1);
    assert_int_equal(log.seen[0].kind, TWIN_PROBLEM_UNREADABLE);
    assert_string_equal(log.seen[0].message, "cannot be opened: File name too long");
    clear_log(&log);
    twin_input_free(input);
}

/* ---- what files in a folder are ---- */

static void write_text(const char *name, const char *text)
{
    write_file(path_of(name), text, strlen(text));
}

static void check_ids(const struct log *log, const char *const *ids, size_t count)
{
    assert_int_equal(log->count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(log->seen[i].is_problem ? log->seen[i].message : log->seen[i].id, ids[i]);
}

/* Opens the folder "d" and compares the ids of its documents; a problem has its message in place of the id. */
static void check_folder(twin_input_options options, const char *const *ids, size_t count)
{
    for (size_t chunk = 1; chunk < 200; chunk += 66) {
        options.chunk_bytes = chunk;
        twin_input *input = open_one(path_of("d"), options);
        struct log log = read_all(input);
        check_ids(&log, ids, count);
        clear_log(&log);
        twin_input_free(input);
    }
}
#define CHECK_FOLDER(options, ...)                                                                                   \
    check_folder(options, (const char *const[]){ __VA_ARGS__ },                                                      \
                 sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void write_packed_text(const char *name, const char *text)
{
    gzFile file = gzopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static void json_lines_in_a_folder_are_read_line_by_line(void **unused)
{
    (void)unused;
    make_folder("d");
    make_folder("d/more");
    write_text("d/letter.txt", "Dear all");
    write_text("d/part-0.jsonl", "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n");
    write_packed_text("d/more/part-1.NDJSON.gz", "{\"id\":\"c\",\"text\":\"z\"}\n\n{\"text\":\"no id\"}\n");
    CHECK_FOLDER(documents, "letter.txt", "c", "", "a", "b");
    CHECK_FOLDER((twin_input_options){ .as = TWIN_INPUT_AS_FILES }, "letter.txt", "more/part-1.NDJSON.gz",
                 "part-0.jsonl");
    CHECK_FOLDER((twin_input_options){ .as = TWIN_INPUT_AS_JSONL }, "expected an object", "c", "", "a", "b");

    twin_input *input = open_one(path_of("d"), documents);
    assert_int_equal(twin_input_sources(input), 3);
    assert_string_equal(twin_input_name(input, 1), path_of("d/more/part-1.NDJSON.gz"));
    struct log log = read_all(input);
    twin_read_buffers reading = { 0 };
    twin_document got;
    assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[2].position, NULL), TWIN_OK);
    assert_int_equal(got.id.length, strlen("more/part-1.NDJSON.gz:3"));
    assert_memory_equal(got.id.bytes, "more/part-1.NDJSON.gz:3",
                        got.id.length); /* as ids of files are: below the folder */
    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, log.seen[2].position, 0), TWIN_OK);
    assert_string_equal(words.bytes, path_of("d/more/part-1.NDJSON.gz:3"));
    twin_buffer_clear(&words);
    twin__read_buffers_clear(&reading);
    clear_log(&log);
    twin_input_free(input);
}

static void json_lines_in_a_folder_that_cannot_be_read_are_problems(void **unused)
{
    (void)unused;
    make_folder("d");
    write_text("d/a.jsonl", "[{}");
    write_text("d/b.jsonl.gz", "not packed");
    write_text("d/c.jsonl", "{\"id\":\"c\",\"text\":\"z\"}");
    CHECK_FOLDER(documents, "ends early: a bracket or quote of its JSON is not closed after 3 bytes",
                 "is not gzip data, though its name ends in .gz", "c");
    twin_input *input = open_one(path_of("d"), documents);
    struct log log = read_all(input);
    assert_int_equal(log.seen[0].kind, TWIN_PROBLEM_UNREADABLE);
    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, log.seen[1].position, 0), TWIN_OK);
    assert_string_equal(words.bytes, path_of("d/b.jsonl.gz"));
    twin_buffer_clear(&words);
    clear_log(&log);
    twin_input_free(input);
}

static void packed_files_share_the_memory_they_may_take(void **unused)
{
    (void)unused;
    make_folder("d");
    write_packed_text("d/a.jsonl.gz", "{\"id\":\"a\",\"text\":\"x\"}\n");
    write_packed_text("d/b.jsonl.gz", "{\"id\":\"b\",\"text\":\"x\"}\n");
    twin_input_options options = { .temp_folder = "/nowhere/at/all", .memory_bytes = 44 };
    CHECK_FOLDER(options, "a", "b");
    options.memory_bytes = 43;
    check_refused(path_of("d"), options, TWIN_EIO, "b.jsonl.gz cannot be unpacked: no file can be made");
}

static void hidden_files_and_folders_are_skipped(void **unused)
{
    (void)unused;
    make_folder("d");
    make_folder("d/.git");
    write_text("d/.git/config", "x");
    write_text("d/.profile", "x");
    write_text("d/seen", "x");
    CHECK_FOLDER(documents, "seen");
    CHECK_FOLDER((twin_input_options){ .hidden = true }, ".git/config", ".profile", "seen");
    twin_input *input = open_one(path_of("d"), documents);
    assert_int_equal(twin_input_folder_info(input, 0).hidden, 2);
    twin_input_free(input);
    input = open_one(path_of("d/.git"), documents); /* it was asked for itself */
    assert_int_equal(twin_input_chunks(input), 1);
    twin_input_free(input);
}

#define GLOBS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static twin_input_options chosen(const char *const *include, const char *const *exclude)
{
    return (twin_input_options){ .include = include, .exclude = exclude };
}

static void globs_choose_files_in_folders(void **unused)
{
    (void)unused;
    static const char *const files[] = { "a.txt", "b.md", "docs/a.txt", "docs/old/c.txt", "old/b.md", "x/docs/a.md" };
    make_folder("d");
    make_folder("d/docs");
    make_folder("d/docs/old");
    make_folder("d/old");
    make_folder("d/x");
    make_folder("d/x/docs");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "d/%s", files[i]);
        write_text(name, "x");
    }
    CHECK_FOLDER(chosen(GLOBS("*.md"), NULL), "b.md", "old/b.md", "x/docs/a.md");
    CHECK_FOLDER(chosen(GLOBS("a.*", "c.[a-z]xt"), NULL), "a.txt", "docs/a.txt", "docs/old/c.txt", "x/docs/a.md");
    CHECK_FOLDER(chosen(GLOBS("docs/*"), NULL), "docs/a.txt", "docs/old/c.txt");
    CHECK_FOLDER(chosen(GLOBS("*/docs/*"), NULL), "x/docs/a.md");
    CHECK_FOLDER(chosen(GLOBS("/docs/a.txt"), NULL), "docs/a.txt");
    CHECK_FOLDER(chosen(NULL, GLOBS("old")), "a.txt", "b.md", "docs/a.txt", "x/docs/a.md");
    CHECK_FOLDER(chosen(NULL, GLOBS("docs/", "*.md")), "a.txt");
    CHECK_FOLDER(chosen(NULL, GLOBS("/old", "docs/a*")), "a.txt", "b.md", "docs/old/c.txt", "x/docs/a.md");
    CHECK_FOLDER(chosen(GLOBS("*.txt"), GLOBS("docs")), "a.txt");
    CHECK_FOLDER(chosen((const char *const[]){ NULL }, GLOBS("?", "docs", "old")), "a.txt", "b.md");
}

static void packed_texts_in_a_folder_are_unpacked(void **unused)
{
    (void)unused;
    make_folder("d");
    write_packed_text("d/a.txt.gz", "\xEF\xBB\xBFthe same text");
    write_text("d/b.txt", "the same text");
    char packed[256];
    size_t size = ZSTD_compress(packed, sizeof packed, "the same text", 13, 3);
    write_file(path_of("d/c.txt.zst"), packed, size);
    write_file(path_of("d/d.zst"), packed, size - 3);
    twin_input *input = open_one(path_of("d"), documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 4);
    for (int i = 0; i < 3; i++)
        assert_string_equal(log.seen[i].text, "the same text");
    assert_string_equal(log.seen[0].id, "a.txt.gz");
    assert_true(log.seen[3].is_problem);
    assert_int_equal(log.seen[3].kind, TWIN_PROBLEM_UNREADABLE);
    assert_string_equal(log.seen[3].message, "its zstd data ends early after 19 bytes");
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
}

static void texts_in_utf_16_are_converted(void **unused)
{
    (void)unused;
    /* "aä€😀", half a pair, and half a unit. */
    static const char little[] = "\xFF\xFE"
                                 "a\0\xE4\0\xAC\x20\x3D\xD8\x00\xDE\x00\xD8!\0x";
    static const char big[] = "\xFE\xFF\0a\0\xE4\x20\xAC\xD8\x3D\xDE\x00\xD8\x00\0!x";
    static const char expected[] = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD!\xEF\xBF\xBD";
    make_folder("d");
    write_file(path_of("d/a"), little, sizeof little - 1);
    write_file(path_of("d/b"), big, sizeof big - 1);
    write_file(path_of("d/c"), "\xFF\xFE", 2);
    write_file(path_of("d/d"), "\xFF\xFE\0\0a\0\0\0", 8);
    twin_input *input = open_one(path_of("d"), documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 4);
    assert_string_equal(log.seen[0].text, expected);
    assert_string_equal(log.seen[1].text, expected);
    assert_string_equal(log.seen[2].text, "");
    assert_string_equal(log.seen[3].message, "is UTF-32 text, which is not read");
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
}

static void files_that_are_not_text_are_problems(void **unused)
{
    (void)unused;
    char tar[512] = "name";
    snprintf(tar + 257, 6, "ustar");
    make_folder("d");
    write_text("d/a.pdf", "%PDF-1.7\n");
    write_text("d/b.jpg", "\xFF\xD8\xFF\xE0");
    write_file(path_of("d/c.bin"), "some\0bytes", 10);
    write_file(path_of("d/d.tar"), tar, sizeof tar);
    write_text("d/e.docx", "PK\3\4");
    write_text("d/f.txt", "text");
    CHECK_FOLDER(documents, "is a PDF file", "is a JPEG image", "is not text: it has a NUL byte", "is a tar archive",
                 "is a ZIP archive, or an office document made of one", "f.txt");
    CHECK_FOLDER((twin_input_options){ .as = TWIN_INPUT_AS_FILES }, "a.pdf", "b.jpg", "c.bin", "d.tar", "e.docx",
                 "f.txt");
}

static void ids_may_come_from_positions(void **unused)
{
    (void)unused;
    make_folder("d");
    write_text("d/a.txt", "x");
    write_text("d/b.jsonl", "{\"id\":\"i\",\"text\":\"x\"}\n{\"id\":{},\"text\":\"y\"}\n");
    write_text("d/c.csv", "id,text\nj,z\n");
    twin_input_options options = { .ids = TWIN_IDS_PATH_AND_LINE };
    const char *const names[] = { "d/a.txt", "d/b.jsonl:1", "d/b.jsonl:2", "d/c.csv:2" };
    twin_input *input = open_one(path_of("d"), options);
    struct log log = read_all(input);
    assert_int_equal(log.count, 4);
    twin_read_buffers reading = { 0 };
    for (int i = 0; i < 4; i++) {
        twin_document got;
        assert_int_equal(log.seen[i].has_id, i == 0);
        assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[i].position, NULL), TWIN_OK);
        assert_int_equal(got.id.length, strlen(path_of(names[i])));
        assert_memory_equal(got.id.bytes, path_of(names[i]), got.id.length);
    }
    clear_log(&log);
    twin_input_free(input);
    options.ids = TWIN_IDS_FIELD_OR_PATH;
    write_text("one.jsonl", "{\"text\":\"x\"}");
    input = open_one(path_of("one.jsonl"), options);
    log = read_all(input);
    twin_document got;
    assert_int_equal(twin__input_fetch(&got, input, &reading, log.seen[0].position, NULL), TWIN_OK);
    assert_memory_equal(got.id.bytes, path_of("one.jsonl:1"), got.id.length);
    twin__read_buffers_clear(&reading);
    clear_log(&log);
    twin_input_free(input);
    check_refused(path_of("d"), (twin_input_options){ .ids = 7 }, TWIN_EINVAL, "no such origin of ids");
}

/* ---- files that are given themselves ---- */

static void a_text_file_is_a_document(void **unused)
{
    (void)unused;
    write_text("a.txt", "\xEF\xBB\xBF"
                        "first");
    write_packed_text("b.txt.gz", "second");
    char a[600], b[600];
    strcpy(a, path_of("a.txt"));
    strcpy(b, path_of("b.txt.gz"));
    const char *const paths[] = { a, b };
    twin_input *input = open_all(paths, 2, documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_string_equal(log.seen[0].id, a);
    assert_string_equal(log.seen[0].text, "first");
    assert_string_equal(log.seen[1].id, b);
    assert_string_equal(log.seen[1].text, "second");
    check_fetching(input, &log);
    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, log.seen[1].position, 0), TWIN_OK);
    assert_string_equal(words.bytes, b);
    twin_buffer_clear(&words);
    assert_int_equal(unlink(a), 0);
    clear_log(&log);
    log = read_all(input);
    assert_string_equal(log.seen[0].message, "cannot be opened: No such file or directory");
    clear_log(&log);
    twin_input_free(input);
}

static void files_that_may_not_be_meant_as_documents_are_refused(void **unused)
{
    (void)unused;
    write_text("part-0", "\n{\"text\":\"x\"}\n");
    write_packed_text("corpus.gz", "{\"text\":\"x\"}\n");
    write_text("x.pdf", "%PDF-1.7\n");
    write_text("x.json", "[{\"text\":\"x\"}");
    check_refused(path_of("part-0"), documents, TWIN_EINVAL, "looks like JSON; use --as jsonl");
    check_refused(path_of("corpus.gz"), documents, TWIN_EINVAL, "looks like JSON; use --as jsonl");
    check_refused(path_of("x.pdf"), documents, TWIN_EINVAL, "is a PDF file; extract its text");
    check_refused(path_of("x.json"), documents, TWIN_EFORMAT, "ends early: a bracket");
    check_refused(path_of("x.json"), (twin_input_options){ .as = 9 }, TWIN_EINVAL, "no such kind of files");
    static const char *const names[] = { "part-0", "corpus.gz", "x.pdf", "x.json" };
    for (int i = 0; i < 4; i++) {
        twin_input *input = open_one(path_of(names[i]), (twin_input_options){ .as = TWIN_INPUT_AS_FILES });
        struct log log = read_all(input);
        assert_int_equal(log.count, 1);
        assert_string_equal(log.seen[0].id, path_of(names[i]));
        clear_log(&log);
        twin_input_free(input);
    }
    for (int i = 0; i < 2; i++) {
        twin_input *input = open_one(path_of(names[i]), (twin_input_options){ .as = TWIN_INPUT_AS_JSONL });
        struct log log = read_all(input);
        assert_int_equal(log.count, 1);
        assert_string_equal(log.seen[0].text, "x");
        clear_log(&log);
        twin_input_free(input);
    }
}

static void a_pipe_may_be_one_document(void **unused)
{
    (void)unused;
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "all of it\n{\n", 12), 12);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    twin_input *input = open_one(path, (twin_input_options){ .as = TWIN_INPUT_AS_FILES });
    struct log log = read_all(input);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.seen[0].text, "all of it\n{\n");
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_folder_gives_its_files_in_byte_order),
        IN_A_FOLDER(a_byte_order_mark_is_no_part_of_a_file),
        IN_A_FOLDER(files_that_changed_are_read_as_they_are_now),
        IN_A_FOLDER(folders_and_files_without_permission_are_problems),
        IN_A_FOLDER(paths_may_be_longer_than_the_system_takes_at_once),
        IN_A_FOLDER(folders_nested_past_all_reason_are_problems),
        IN_A_FOLDER(json_lines_in_a_folder_are_read_line_by_line),
        IN_A_FOLDER(json_lines_in_a_folder_that_cannot_be_read_are_problems),
        IN_A_FOLDER(packed_files_share_the_memory_they_may_take),
        IN_A_FOLDER(hidden_files_and_folders_are_skipped),
        IN_A_FOLDER(globs_choose_files_in_folders),
        IN_A_FOLDER(packed_texts_in_a_folder_are_unpacked),
        IN_A_FOLDER(texts_in_utf_16_are_converted),
        IN_A_FOLDER(files_that_are_not_text_are_problems),
        IN_A_FOLDER(ids_may_come_from_positions),
        IN_A_FOLDER(a_text_file_is_a_document),
        IN_A_FOLDER(files_that_may_not_be_meant_as_documents_are_refused),
        IN_A_FOLDER(a_pipe_may_be_one_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

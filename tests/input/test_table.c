/* test_table.c — comma- and tab-separated values with a header. */
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

#include "base/random.h"
#include "input/documents.h"
#include "input_log.h"
#include "scale.h"

static const char *table(const char *name, const char *text)
{
    const char *path = path_of(name);
    write_file(path, text, strlen(text));
    return path;
}

/* A document, or a problem with its message in place of the text. */
struct expected {
    const char *id, *text; /* id NULL: none */
    int line;
};

static void check_table(const char *path, twin_input_options options, const struct expected *expected, size_t count)
{
    for (size_t chunk = 0; chunk < 70; chunk++) { /* 0: the whole in one chunk */
        options.chunk_bytes = chunk;
        twin_input *input = open_one(path, options);
        struct log log = read_all(input);
        assert_int_equal(log.count, count);
        for (size_t i = 0; i < count; i++) {
            const struct seen *seen = &log.seen[i];
            assert_string_equal(seen->is_problem ? seen->message : seen->text, expected[i].text);
            assert_int_equal(seen->position.line, expected[i].line);
            assert_int_equal(seen->has_id, expected[i].id != NULL);
            if (expected[i].id)
                assert_string_equal(seen->id, expected[i].id);
        }
        check_fetching(input, &log);
        clear_log(&log);
        twin_input_free(input);
    }
}
#define CHECK_TABLE(path, options, ...)                                                                              \
    check_table(path, options, (const struct expected[]){ __VA_ARGS__ },                                             \
                sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

static void records_become_documents(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "\xEF\xBB\xBFid,text\n1,one\n2,two\n\n,no id\n\"3\",last"), documents,
                { "1", "one", 2 }, { "2", "two", 3 }, { NULL, "no id", 5 }, { "3", "last", 6 });
    CHECK_TABLE(table("t.tsv", "x\ttext\r\na,b\t c \r\n\r\n"), documents, { NULL, " c ", 2 });
    CHECK_TABLE(table("t.CSV", "text,id\n,1\n"), documents, { "1", "", 2 });
}

static void the_header_can_be_had(void **unused)
{
    (void)unused;
    twin_buffer header = { 0 };
    twin_input *input = open_one(table("t.csv", "\xEF\xBB\xBFid,\"te\nxt\",text\r\n1,2,3"), documents);
    assert_int_equal(twin_input_header(&header, input, 0, NULL), TWIN_OK);
    assert_int_equal(header.length, 17);
    assert_memory_equal(header.bytes, "id,\"te\nxt\",text\r\n", 17);
    assert_int_equal(twin_input_header(&header, input, 1, NULL), TWIN_OK);
    assert_int_equal(header.length, 0);
    twin_input_free(input);
    twin_buffer_clear(&header);
}

/* Asks for a column of the first record. */
static void expect_field(const char *path, const char *name, const char *expected)
{
    twin_read_buffers buffers = { 0 }, room = { 0 };
    twin_document document;
    twin_text value;
    twin_input *input = open_one(path, documents);
    struct log log = read_all(input);
    assert_int_equal(twin__input_fetch(&document, input, &buffers, log.seen[0].position, NULL), TWIN_OK);
    assert_int_equal(twin__input_field(&value, input, &room, &document, name, NULL), TWIN_OK);
    assert_int_equal(value.bytes != NULL, expected != NULL);
    if (expected) {
        assert_int_equal(value.length, strlen(expected));
        assert_memory_equal(value.bytes, expected, value.length);
    }
    clear_log(&log);
    twin__read_buffers_clear(&buffers);
    twin__read_buffers_clear(&room);
    twin_input_free(input);
}

static void every_column_can_be_had(void **unused)
{
    (void)unused;
    static const char *const texts[] = { "score,text,\"a \"\"b\"\"\"\r\n7,words,\"\"\"x\"\"\"\r\n",
                                         "\xEF\xBB\xBFscore,text,\"a \"\"b\"\"\"\n7,words,\"\"\"x\"\"\"\n" };
    for (size_t i = 0; i < 2; i++) {
        const char *path = table("t.csv", texts[i]);
        expect_field(path, "score", "7");
        expect_field(path, "text", "words");
        expect_field(path, "a \"b\"", "\"x\"");
        expect_field(path, "id", NULL);
    }
}

static void a_header_may_hold_zeros(void **unused)
{
    (void)unused;
    static const char text[] = "a\0b,text\n1,one\na\0b,text\n";
    write_file(path_of("t.csv"), text, sizeof text - 1);
    CHECK_TABLE(path_of("t.csv"), documents, { NULL, "one", 2 }, { NULL, "repeats the header", 3 });
}

static void quotes_may_hold_anything(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "\"id\",\"a \"\"b\"\"\r\nc\",text\r\n"
                               "1,,\"one\r\n, \"\"two\"\"\n\"\r\n"
                               "\"a\"\"b\",x,\"\"\"\"\n"
                               "3,x,in \"the\" middle\n"
                               "4,\"\",\"\"\n"),
                documents, { "1", "one\r\n, \"two\"\n", 3 }, { "a\"b", "\"", 6 }, { "3", "in \"the\" middle", 7 },
                { "4", "", 8 });
}

static void broken_records_are_problems(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "id,text\n1\n2,\"two\" or more\n3,three,3\n4,four\n5,\"five\n\n6,six\n"), documents,
                { NULL, "1 column, and the header has 2", 2 }, { NULL, "something follows a closing quote", 3 },
                { NULL, "3 columns, and the header has 2", 4 }, { "4", "four", 5 },
                { NULL, "a quote that is not closed", 6 }, { "6", "six", 8 });
    CHECK_TABLE(
        table("t.csv", "id,text\n1,123456\n2,\"12\n\n34567890 123456789 \n123456789 123456789 12345678\"\n3,x\n"),
        ((twin_input_options){ .max_bytes = 10 }), { "1", "123456", 2 }, { NULL, "longer than 10 bytes", 3 },
        { "3", "x", 7 });
}

/* Records behind an unclosed quote are read: the lines behind the last one with an odd number of quotes in a row. */
static void an_unclosed_quote_ends_with_its_line(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "id,text\n1,\"one\n3,three\n4,\"\"\n5,\"\"\"\"\n6,s\"\"ix"), documents,
                { NULL, "a quote that is not closed", 2 }, { "3", "three", 3 }, { "4", "", 4 }, { "5", "\"", 5 },
                { "6", "s\"\"ix", 6 });
    CHECK_TABLE(table("t.csv", "id,text\n1,one\n\"2\n\n\",\"two\n3,three\n"), documents, { "1", "one", 2 },
                { NULL, "a quote that is not closed", 3 }, { "3", "three", 6 });
    CHECK_TABLE(table("t.csv", "id,text\n1,\"one\n\"\n2,\"\"\"two"), documents, { "1", "one\n", 2 },
                { NULL, "a quote that is not closed", 4 });
    CHECK_TABLE(table("t.csv", "id,text\n1,\"123456789012345\n3,three\n"), ((twin_input_options){ .max_bytes = 10 }),
                { NULL, "a quote that is not closed", 2 }, { "3", "three", 3 });
}

/* As cat(1) makes them of several tables. */
static void headers_among_records_are_not_documents(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "id,text\n1,one\nid,text\n2,two\n\"id\",\"text\"\r\n3,id\nid,a text\n"), documents,
                { "1", "one", 2 }, { NULL, "repeats the header", 3 }, { "2", "two", 4 },
                { NULL, "repeats the header", 5 }, { "3", "id", 6 }, { "id", "a text", 7 });
    CHECK_TABLE(table("t.csv",
                      "\xEF\xBB\xBFid,text\n1,one\n\xEF\xBB\xBFid,text\n\xEF\xBB\xBF\"id\",\"text\"\n2,\xEF\xBB\xBF"),
                documents, { "1", "one", 2 }, { NULL, "repeats the header", 3 }, { NULL, "repeats the header", 4 },
                { "2", "\xEF\xBB\xBF", 5 });
    CHECK_TABLE(table("t.csv", "text\ntext\n"), documents, { NULL, "text", 2 });
    CHECK_TABLE(table("t.csv", "text,label\ntext,good\nlabel,bad\n"), documents, { NULL, "text", 2 },
                { NULL, "label", 3 });
}

/* People fill in forms with such words, and tables describe tables. */
static void records_like_headers_are_documents(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "id,name,text\n1,ann,one\n1000,id,text\nid,\"id\",text\nid,text,text\n"), documents,
                { "1", "one", 2 }, { "1000", "text", 3 }, { "id", "text", 4 }, { "id", "text", 5 });
    CHECK_TABLE(table("t.csv", "id,text,a\n1,one,1\nid,text,b\n2,two,2\n"), documents, { "1", "one", 2 },
                { "id", "text", 3 }, { "2", "two", 4 });
    CHECK_TABLE(table("t.csv", "id,text\n1,one\nid,text,more\n2,two\n"), documents, { "1", "one", 2 },
                { NULL, "3 columns, and the header has 2", 3 }, { "2", "two", 4 });
}

static void rearranged_headers_are_not_documents(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "id,text\n1,one\ntext,\"id\"\ntwo,2\ntext,text\n"), documents, { "1", "one", 2 },
                { NULL, "has the names of the header in another order, as the records below it may", 3 },
                { "two", "2", 4 }, { "text", "text", 5 });
    CHECK_TABLE(table("t.csv", "text,label\none,1\nlabel,text\n2,two\n"), documents, { NULL, "one", 2 },
                { NULL, "has the names of the header in another order, as the records below it may", 3 },
                { NULL, "2", 4 });
}

static void columns_have_names(void **unused)
{
    (void)unused;
    const char *path = table("t.csv", "key,title,\"body, all\",a.b\n1,T,\"B\"\"\",x\n2,,B,y\n");
    CHECK_TABLE(path, ((twin_input_options){ .id_field = "key", .text_field = "title" }), { "1", "T", 2 },
                { "2", "", 3 });
    CHECK_TABLE(path, ((twin_input_options){ .text_field = "a.b,title" }), { NULL, "x\nT", 2 }, { NULL, "y\n", 3 });
    check_refused(path, documents, TWIN_EFORMAT, "has no column \"text\" in its first line, \"key,title,");
    check_refused(path, (twin_input_options){ .text_field = "title", .id_field = "id" }, TWIN_EFORMAT,
                  "has no column \"id\"");
    check_refused(table("sets.tsv", "ada\tfilm\n"), documents, TWIN_EFORMAT, "or use --sets");
    check_refused(table("wide.csv", "\"a,text\n"), documents, TWIN_EFORMAT, "its first line does not end");
    write_file(path_of("excel.csv"), "\xFF\xFEi\0d\0", 6);
    check_refused(path_of("excel.csv"), documents, TWIN_EFORMAT, "is UTF-16; convert it");
}

static void the_header_shows_the_separator(void **unused)
{
    (void)unused;
    CHECK_TABLE(table("t.csv", "id;text\n1;a,b\n"), documents, { "1", "a,b", 2 });
    CHECK_TABLE(table("t.csv", "id\ttext\n1\ta,b;c\n"), documents, { "1", "a,b;c", 2 });
    CHECK_TABLE(table("t.csv", "text\na;b\n"), documents, { NULL, "a;b", 2 });
    CHECK_TABLE(table("t.csv", "\"i;d\",text\na;b,c\n"), documents, { NULL, "c", 2 });
    CHECK_TABLE(table("t.tsv", "text\na,b\n"), documents, { NULL, "a,b", 2 });
    CHECK_TABLE(table("any", "id,text\n1,x\n"), (twin_input_options){ .as = TWIN_INPUT_AS_CSV }, { "1", "x", 2 });
    CHECK_TABLE(table("any", "id\ttext\n1\tx\n"), (twin_input_options){ .as = TWIN_INPUT_AS_TSV }, { "1", "x", 2 });
}

static void empty_tables_have_no_documents(void **unused)
{
    (void)unused;
    static const char *const texts[] = { "", "\xEF\xBB\xBF", "id,text", "id,text\n" };
    for (int i = 0; i < 4; i++) {
        twin_input *input = open_one(table("t.csv", texts[i]), documents);
        assert_int_equal(twin_input_chunks(input), 0);
        twin_input_free(input);
    }
}

static void tables_may_be_packed_and_in_folders(void **unused)
{
    (void)unused;
    make_folder("d");
    gzFile file = gzopen(path_of("d/a.csv.gz"), "wb");
    assert_true(file && gzputs(file, "id,text\n1,x\n") == 12 && gzclose(file) == Z_OK);
    table("d/b.csv", "x,y\n1,2\n");
    table("d/c.tsv", "id\ttext\n2\ty\n\tz\n");
    twin_input *input = open_one(path_of("d"), documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, 4);
    assert_true(log.seen[0].is_problem && strstr(log.seen[0].message, "has no column \"text\""));
    assert_string_equal(log.seen[1].id, "1");
    assert_string_equal(log.seen[2].id, "2");
    assert_string_equal(log.seen[3].text, "z");
    clear_log(&log);
    twin_input_free(input);
}

/* ---- random tables: what was written is read ---- */

static void put(twin_buffer *out, const char *bytes, size_t length)
{
    assert_int_equal(twin_buffer_append(out, bytes, length), TWIN_OK);
}

/* A random cell, and the same as it may be written. */
static void put_cell(twin_buffer *cell, twin_buffer *out, uint64_t *random)
{
    static const char alphabet[] = "ab,;\t\"\n\r \xC3";
    size_t length = twin__random_below(random, 12);
    bool quoted = twin__random_below(random, 2);
    cell->length = 0;
    for (size_t i = 0; i < length; i++)
        put(cell, &alphabet[twin__random_below(random, quoted ? 10 : 2)], 1);
    put(cell, "", 1);
    cell->length--;
    if (quoted)
        put(out, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        put(out, cell->bytes + i, 1);
        if (cell->bytes[i] == '"')
            put(out, "\"", 1);
    }
    if (quoted)
        put(out, "\"", 1);
}

static void random_tables_are_read_as_they_were_written(void **unused)
{
    (void)unused;
    enum { TABLES = QUICK ? 30 : 200, RECORDS = 40 };
    uint64_t random = 11;
    twin_buffer out = { 0 }, id = { 0 }, texts[RECORDS] = { 0 };
    for (int t = 0; t < TABLES; t++) {
        out.length = 0;
        put(&out, "id,text\n", 8);
        for (int i = 0; i < RECORDS; i++) {
            put_cell(&id, &out, &random);
            put(&out, ",", 1);
            put_cell(&texts[i], &out, &random);
            put(&out, "\r\n", 2);
        }
        write_file(path_of("t.csv"), out.bytes, out.length);
        twin_input *input =
            open_one(path_of("t.csv"), (twin_input_options){ .chunk_bytes = 1 + twin__random_below(&random, 100) });
        struct log log = read_all(input);
        assert_int_equal(log.count, RECORDS);
        for (int i = 0; i < RECORDS; i++)
            assert_string_equal(log.seen[i].text, texts[i].bytes);
        check_fetching(input, &log);
        clear_log(&log);
        twin_input_free(input);
    }
    twin_buffer_clear(&out);
    twin_buffer_clear(&id);
    for (int i = 0; i < RECORDS; i++)
        twin_buffer_clear(&texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(records_become_documents),
        IN_A_FOLDER(the_header_can_be_had),
        IN_A_FOLDER(every_column_can_be_had),
        IN_A_FOLDER(a_header_may_hold_zeros),
        IN_A_FOLDER(quotes_may_hold_anything),
        IN_A_FOLDER(broken_records_are_problems),
        IN_A_FOLDER(an_unclosed_quote_ends_with_its_line),
        IN_A_FOLDER(headers_among_records_are_not_documents),
        IN_A_FOLDER(records_like_headers_are_documents),
        IN_A_FOLDER(rearranged_headers_are_not_documents),
        IN_A_FOLDER(columns_have_names),
        IN_A_FOLDER(the_header_shows_the_separator),
        IN_A_FOLDER(empty_tables_have_no_documents),
        IN_A_FOLDER(tables_may_be_packed_and_in_folders),
        IN_A_FOLDER(random_tables_are_read_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_json.c — one JSON object on a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/exec.h>

#include "base/random.h"
#include "base/scratch.h"
#include "input/json.h"
#include "scale.h"

enum { CASES = QUICK ? 20000 : 100000 };

static const twin_text steps[] = { { "id", 2 }, { "text", 4 } };
static const struct twin__fields fields = {
    .items = { { { "id", 2 }, &steps[0], 1 }, { { "text", 4 }, &steps[1], 1 } }, .count = 2
};

/* A line in a block of just its size, so that an address sanitizer sees a read past its end. */
static char *line_of(const char *bytes, size_t length)
{
    char *line = malloc(length + 1);
    assert_non_null(line);
    memcpy(line, bytes, length);
    line[length] = '\n';
    return line;
}

static void check_text(twin_text got, const char *expected, size_t length)
{
    assert_int_equal(got.length, length);
    assert_memory_equal(got.bytes, expected, length);
}

#define S(literal) (literal), sizeof(literal) - 1

struct good {
    const char *line;
    size_t line_length;
    enum json_kind id_kind;
    const char *id;
    size_t id_length;
    enum json_kind text_kind;
    const char *text;
    size_t text_length;
};

static const struct good good[] = {
    { S("{}"), JSON_MISSING, S(""), JSON_MISSING, S("") },
    { S(" \t{ } \r"), JSON_MISSING, S(""), JSON_MISSING, S("") },
    { S("{\"id\":\"a\",\"text\":\"b\"}"), JSON_STRING, S("a"), JSON_STRING, S("b") },
    { S("\t{ \"text\" : \"b\" , \"id\" : \"a\" } "), JSON_STRING, S("a"), JSON_STRING, S("b") },
    { S("{\"id\":\"\",\"text\":\"\"}"), JSON_STRING, S(""), JSON_STRING, S("") },
    { S("{\"id\":-0.5e+10,\"text\":null}"), JSON_NUMBER, S("-0.5e+10"), JSON_NULL, S("") },
    { S("{\"id\":0,\"text\":12}"), JSON_NUMBER, S("0"), JSON_NUMBER, S("12") },
    { S("{\"id\":[1,[],{}],\"text\":{\"text\":\"no\"}}"), JSON_OTHER, S(""), JSON_OTHER, S("") },
    { S("{\"id\":true,\"text\":false}"), JSON_OTHER, S(""), JSON_OTHER, S("") },
    { S("{\"id\":1,\"id\":\"two\",\"text\":\"x\",\"text\":null}"), JSON_STRING, S("two"), JSON_NULL, S("") },
    { S("{\"id\":\"\\u0031\",\"id\":\"\\u0032\",\"text\":\"\\n\",\"text\":\"\\t!\"}"), JSON_STRING, S("2"),
      JSON_STRING, S("\t!") },
    { S("{\"\\u0074ex\\u0074\":\"x\",\"\\u0069d\":\"y\"}"), JSON_STRING, S("y"), JSON_STRING, S("x") },
    { S("{\"a\":{\"id\":1,\"text\":\"x\"}}"), JSON_MISSING, S(""), JSON_MISSING, S("") },
    { S("{\"a\":[{\"id\":1},\"text\"],\"text \":\"x\",\"tex\":\"y\"}"), JSON_MISSING, S(""), JSON_MISSING, S("") },
    { S("{\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}"), JSON_MISSING, S(""), JSON_STRING, S("\"\\/\b\f\n\r\t") },
    { S("{\"text\":\"\\u0000x\\u007f\\u0080\\u07ff\\u0800\\uffff\"}"), JSON_MISSING, S(""), JSON_STRING,
      S("\0x\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf") },
    { S("{\"text\":\"\\ud83d\\uDE00\\udbff\\udfff\"}"), JSON_MISSING, S(""), JSON_STRING,
      S("\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf") },
    { S("{\"text\":\"\\ud83d\"}"), JSON_MISSING, S(""), JSON_STRING, S("\xef\xbf\xbd") },
    { S("{\"text\":\"\\ude00\\ud83d\"}"), JSON_MISSING, S(""), JSON_STRING, S("\xef\xbf\xbd\xef\xbf\xbd") },
    { S("{\"text\":\"\\ud83d\\u0041\"}"), JSON_MISSING, S(""), JSON_STRING,
      S("\xef\xbf\xbd"
        "A") },
    { S("{\"text\":\"\\ud83d\\ud83d\\ude00\"}"), JSON_MISSING, S(""), JSON_STRING,
      S("\xef\xbf\xbd\xf0\x9f\x98\x80") },
    { S("{\"text\":\"\\ud83d\\n\"}"), JSON_MISSING, S(""), JSON_STRING, S("\xef\xbf\xbd\n") },
    { S("{\"text\":\"\xff\xc3(\x7f\"}"), JSON_MISSING, S(""), JSON_STRING, S("\xff\xc3(\x7f") },
    { S("{\"x\":\"\xff\\ud800\\u0000\",\"y\":1E5,\"z\":0e-0}"), JSON_MISSING, S(""), JSON_MISSING, S("") },
};

static void well_formed_lines_give_their_fields(void **unused)
{
    (void)unused;
    twin_read_buffers room = { 0 };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const struct good *g = &good[i];
        char *line = line_of(g->line, g->line_length);
        struct json_line json;
        assert_int_equal(twin__json_scan(&json, &room, &fields, line, line + g->line_length + 1), TWIN_OK);
        if (json.wrong)
            fail_msg("%s: %s", g->line, json.wrong);
        assert_false(json.blank);
        assert_ptr_equal(json.end, line + g->line_length);
        assert_int_equal(json.id.kind, g->id_kind);
        assert_int_equal(json.text.kind, g->text_kind);
        check_text(json.id.text, g->id, g->id_length);
        check_text(json.text.text, g->text, g->text_length);
        free(line);
    }
    twin__read_buffers_clear(&room);
}

/* The line is in the block, which is used up. */
static void texts_are_unescaped_in_place(void **unused)
{
    (void)unused;
    twin_read_buffers room = { .in_place = true };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const struct good *g = &good[i];
        struct json_line json;
        room.block.length = 0;
        assert_int_equal(twin_buffer_append(&room.block, g->line, g->line_length), TWIN_OK);
        assert_int_equal(twin_buffer_append(&room.block, "\n", 1), TWIN_OK);
        const char *line = room.block.bytes, *end = line + room.block.length;
        assert_int_equal(twin__json_scan(&json, &room, &fields, line, end), TWIN_OK);
        assert_null(json.wrong);
        check_text(json.id.text, g->id, g->id_length);
        check_text(json.text.text, g->text, g->text_length);
        assert_true(!json.text.text.length || (json.text.text.bytes > line && json.text.text.bytes < end));
    }
    assert_null(room.text.bytes); /* no copy was made */
    twin__read_buffers_clear(&room);
}

struct bad {
    const char *line;
    size_t length;
    size_t column; /* from 0 */
    const char *wrong;
};

#define EARLY "the line ends before its object does"

static const struct bad bad[] = {
    { S("x"), 0, "expected an object" },
    { S("[]"), 0, "expected an object" },
    { S("  \"text\""), 2, "expected an object" },
    { S("{"), 1, EARLY },
    { S("{\"a\""), 4, EARLY },
    { S("{\"a\":"), 5, EARLY },
    { S("{\"a\":1"), 6, EARLY },
    { S("{\"a\":1,"), 7, EARLY },
    { S("{\"a\":["), 6, EARLY },
    { S("{\"a\":[1"), 7, EARLY },
    { S("{\"a\":-"), 6, EARLY },
    { S("{\"a\":1e"), 7, EARLY },
    { S("{\"a"), 3, "the line ends inside a string" },
    { S("{\"text\":\"abc"), 12, "the line ends inside a string" },
    { S("{\"text\":\"a\\n"), 12, "the line ends inside a string" },
    { S("{\"text\":\"\\"), 10, EARLY },
    { S("{\"text\":\"\\u00"), 9, "\\u without four hex digits" },
    { S("{\"text\":\"\\u00g0\"}"), 9, "\\u without four hex digits" },
    { S("{\"text\":\"\\u+123\"}"), 9, "\\u without four hex digits" },
    { S("{\"text\":\"\\ud83d\\u12\"}"), 15, "\\u without four hex digits" },
    { S("{\"text\":\"\\x\"}"), 9, "an unknown escape in a string" },
    { S("{\"other\":\"\\U0041\"}"), 10, "an unknown escape in a string" },
    { S("{\"text\":\"\t\"}"), 9, "a control character in a string" },
    { S("{\"other\":\"a\0\"}"), 11, "a control character in a string" },
    { S("{\"k\x1f\":1}"), 3, "a control character in a string" },
    { S("{a:1}"), 1, "expected a key in quotes" },
    { S("{,}"), 1, "expected a key in quotes" },
    { S("{\"a\":1,}"), 7, "expected a key in quotes" },
    { S("{1:2}"), 1, "expected a key in quotes" },
    { S("{\"a\" 1}"), 5, "expected ':' after a key" },
    { S("{\"a\"=1}"), 4, "expected ':' after a key" },
    { S("{\"a\":}"), 5, "expected a value" },
    { S("{\"a\":nul}"), 5, "expected a value" },
    { S("{\"a\":True}"), 5, "expected a value" },
    { S("{\"a\":'b'}"), 5, "expected a value" },
    { S("{\"a\":.5}"), 5, "expected a value" },
    { S("{\"a\":+5}"), 5, "expected a value" },
    { S("{\"a\":NaN}"), 5, "expected a value" },
    { S("{\"a\":[,]}"), 6, "expected a value" },
    { S("{\"a\":[1,]}"), 8, "expected a value" },
    { S("{\"a\":01}"), 6, "a number that begins with 0" },
    { S("{\"a\":-01}"), 7, "a number that begins with 0" },
    { S("{\"a\":-x}"), 6, "expected a digit" },
    { S("{\"a\":1.}"), 7, "expected a digit" },
    { S("{\"a\":1.e5}"), 7, "expected a digit" },
    { S("{\"a\":1e+}"), 8, "expected a digit" },
    { S("{\"id\":1.x}"), 8, "expected a digit" },
    { S("{\"a\":1 2}"), 7, "expected ',' or '}' after a value" },
    { S("{\"a\":truex}"), 9, "expected ',' or '}' after a value" },
    { S("{\"a\":0x10}"), 6, "expected ',' or '}' after a value" },
    { S("{\"a\":1]"), 6, "expected ',' or '}' after a value" },
    { S("{\"a\":[1 2]}"), 8, "expected ',' or ']' after a value" },
    { S("{\"a\":[1}}"), 7, "expected ',' or ']' after a value" },
    { S("{\"a\":1} x"), 8, "something follows the object" },
    { S("{\"a\":1}{\"b\":2}"), 7, "something follows the object" },
    { S("{\"a\":1}\0"), 7, "something follows the object" },
    { S("\xef\xbb\xbf{}"), 0, "expected an object" },
    { S("{\"a\":1/**/}"), 6, "expected ',' or '}' after a value" },
    { S("{\xa0}"), 1, "expected a key in quotes" },
};

static void broken_lines_say_what_and_where(void **unused)
{
    (void)unused;
    twin_read_buffers room = { 0 };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *line = line_of(bad[i].line, bad[i].length);
        struct json_line json;
        assert_int_equal(twin__json_scan(&json, &room, &fields, line, line + bad[i].length + 1), TWIN_OK);
        if (!json.wrong)
            fail_msg("%s passes", bad[i].line);
        assert_string_equal(json.wrong, bad[i].wrong);
        if ((size_t)(json.where - line) != bad[i].column)
            fail_msg("%s: column %zu, not %zu", bad[i].line, (size_t)(json.where - line), bad[i].column);
        assert_ptr_equal(json.end, line + bad[i].length);
        free(line);
    }
    twin__read_buffers_clear(&room);
}

/* Whatever is wrong with a line, the next one begins behind its newline. */
static void a_line_ends_at_its_newline_broken_or_not(void **unused)
{
    (void)unused;
    const char lines[] = "{\"text\":\"a\n\n  \t\n{\"text\":\"b\"}x\n{\"text\":\"c\"}\n";
    const size_t ends[] = { 10, 11, 15, 29, 42 };
    const char *line = lines, *end = lines + sizeof lines - 1;
    twin_read_buffers room = { 0 };
    for (int i = 0; i < 5; i++) {
        struct json_line json;
        assert_int_equal(twin__json_scan(&json, &room, &fields, line, end), TWIN_OK);
        assert_int_equal(json.end - lines, ends[i]);
        assert_int_equal(json.blank, i == 1 || i == 2);
        assert_int_equal(json.wrong != NULL, i == 0 || i == 3);
        line = json.end + 1;
    }
    assert_ptr_equal(line, end);
    twin__read_buffers_clear(&room);
}

static void check_nesting(int depth, char open, char close, bool fits)
{
    char line[2000];
    size_t n = (size_t)sprintf(line, "{\"a\":");
    for (int i = 1; i < depth; i++)
        n += (size_t)sprintf(line + n, open == '{' && i + 1 < depth ? "{\"a\":" : "%c", open);
    for (int i = 1; i < depth; i++)
        line[n++] = close;
    n += (size_t)sprintf(line + n, "}\n");
    struct json_line json;
    twin_read_buffers room = { 0 };
    assert_int_equal(twin__json_scan(&json, &room, &fields, line, line + n), TWIN_OK);
    if (fits)
        assert_null(json.wrong);
    else
        assert_string_equal(json.wrong, "nested deeper than 256 levels");
    twin__read_buffers_clear(&room);
}

static void nesting_has_a_limit_and_reaches_it(void **unused)
{
    (void)unused;
    check_nesting(256, '[', ']', true);
    check_nesting(257, '[', ']', false);
    check_nesting(256, '{', '}', true);
    check_nesting(257, '{', '}', false);
}

/* ---- which fields ---- */

struct chosen {
    const char *id_name, *text_name, *line;
    const char *id, *text; /* NULL: missing */
};

static const struct chosen chosen[] = {
    { "text", "text", "{\"text\":\"a\\u0062\"}", "ab", "ab" },
    { "text", "text,t", "{\"text\":\"a\\u0062\",\"t\":\"\\u0063\"}", "ab", "ab\nc" },
    { "m.id", "doc.text", "{\"m\":{\"x\":{\"id\":2},\"id\":\"\\u0031\"},\"doc\":{\"text\":\"x\"}}", "1", "x" },
    { "m.id", "doc.text", "{\"m\":[{\"id\":1}],\"doc\":\"text\",\"id\":3,\"text\":\"y\"}", NULL, NULL },
    { "id", "doc.text", "{\"doc.text\":\"a key with a dot\"}", NULL, "a key with a dot" },
    { "id", "doc.text", "{\"x\":{\"doc.text\":\"deeper\"}}", NULL, NULL },
    { "id", "a.b.c", "{\"a\":{\"b\":{\"c\":\"x\",\"b\":{\"c\":\"y\"}}},\"b\":{\"c\":\"z\"}}", NULL, "x" },
    { "id", "a.b", "{\"a\":{\"b\":\"x\"},\"a\":{\"b\":\"the last counts\"}}", NULL, "the last counts" },
    { "id", "title,body", "{\"body\":\"b\\n\",\"title\":\"t\",\"id\":7}", "7", "t\nb\n" },
    { "id", "title,body", "{\"body\":\"b\",\"title\":null}", NULL, "b" },
    { "id", "title,body", "{\"title\":\"\"}", NULL, "" },
    { "id", "title,body", "{\"other\":\"\"}", NULL, NULL },
    { "a", "a,a.b", "{\"a\":\"x\"}", "x", "x" },
    { "a.b", "a.b,a.c", "{\"a\":{\"c\":\"\\u0063\",\"b\":\"\\u0062\"}}", "b", "b\nc" },
    { "id", "a..b", "{\"a\":{\"\":{\"b\":\"no\"}},\"a..b\":\"as it is\"}", NULL, "as it is" },
};

static void check_chosen(const struct json_value *value, const char *expected)
{
    assert_int_equal(value->kind == JSON_MISSING, !expected);
    if (expected)
        check_text(value->text, expected, strlen(expected));
}

static void fields_may_be_nested_and_several(void **unused)
{
    (void)unused;
    twin_read_buffers room = { 0 };
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; i++) {
        const struct chosen *c = &chosen[i];
        struct twin__fields named;
        struct json_line json;
        char *line = line_of(c->line, strlen(c->line));
        assert_int_equal(twin__fields_init(&named, c->id_name, c->text_name, NULL), TWIN_OK);
        assert_int_equal(twin__json_scan(&json, &room, &named, line, line + strlen(c->line) + 1), TWIN_OK);
        assert_null(json.wrong);
        assert_ptr_equal(json.end, line + strlen(c->line));
        check_chosen(&json.id, c->id);
        check_chosen(&json.text, c->text);
        twin__fields_clear(&named);
        free(line);
    }
    twin__read_buffers_clear(&room);
}

static void a_text_among_several_that_is_none_is_found(void **unused)
{
    (void)unused;
    const char line[] = "{\"a\":\"x\",\"b\":{\"c\":1}}\n";
    struct twin__fields named;
    struct json_line json;
    twin_read_buffers room = { 0 };
    assert_int_equal(twin__fields_init(&named, "id", "a,b", NULL), TWIN_OK);
    assert_int_equal(twin__json_scan(&json, &room, &named, line, line + sizeof line - 1), TWIN_OK);
    assert_int_equal(json.text.kind, JSON_OTHER);
    assert_ptr_equal(json.text.begin, line + 13);
    twin__fields_clear(&named);
    twin__read_buffers_clear(&room);
}

static void impossible_names_of_fields_are_refused(void **unused)
{
    (void)unused;
    static const char *const names[] = { "", "a,", ",a", "a,,b", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct twin__fields named;
        assert_int_equal(twin__fields_init(&named, "id", names[i], NULL), TWIN_EINVAL);
        twin__fields_clear(&named);
    }
}

/* ---- random objects, written in random ways; what was meant is known ---- */

struct writer {
    char bytes[20000];
    size_t length;
    uint64_t state;
};

static bool chance(struct writer *w, uint64_t one_in)
{
    return twin__random_below(&w->state, one_in) == 0;
}

static void put(struct writer *w, const char *string)
{
    size_t length = strlen(string);
    assert_true(w->length + length < sizeof w->bytes);
    memcpy(w->bytes + w->length, string, length);
    w->length += length;
}

static void put_blanks(struct writer *w)
{
    static const char *const blanks[] = { "", "", "", "", " ", "\t", "\r", "  ", " \t \r " };
    put(w, blanks[twin__random_below(&w->state, 9)]);
}

static void put_hex(struct writer *w, unsigned code)
{
    char escape[8];
    snprintf(escape, sizeof escape, chance(w, 2) ? "\\u%04x" : "\\u%04X", code);
    put(w, escape);
}

static size_t encode(unsigned char *out, unsigned code)
{
    static const unsigned first[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code /= 64)
        out[i] = (unsigned char)(0x80 + code % 64);
    out[0] = (unsigned char)(first[length] + code);
    return length;
}

/* One character in one of its writings. */
static void put_character(struct writer *w, unsigned code)
{
    static const char short_codes[] = "\"\\/\b\f\n\r\t", *const shorts[] = { "\\\"", "\\\\", "\\/", "\\b",
                                                                             "\\f",  "\\n",  "\\r", "\\t" };
    const char *known = code && code < 0x80 ? strchr(short_codes, (int)code) : NULL;
    bool must = code < 0x20 || code == '"' || code == '\\';
    if (known && chance(w, 2)) {
        put(w, shorts[known - short_codes]);
    } else if (must || chance(w, 10)) {
        if (code >= 0x10000) {
            put_hex(w, 0xD800 + ((code - 0x10000) >> 10));
            put_hex(w, 0xDC00 + ((code - 0x10000) & 0x3FF));
        } else {
            put_hex(w, code);
        }
    } else {
        unsigned char bytes[5] = { 0 };
        bytes[encode(bytes, code)] = 0;
        put(w, (char *)bytes);
    }
}

static unsigned random_character(struct writer *w)
{
    static const unsigned limits[] = { 0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0x800, 0x10000, 0x110000 };
    unsigned code = (unsigned)twin__random_below(&w->state, limits[twin__random_below(&w->state, 9)]);
    return code >= 0xD800 && code < 0xE000 ? '"' : code;
}

/* Writes a random string, of characters that seldom or often need an escape, and keeps what it means. */
static void put_string(struct writer *w, char *meant, size_t *meant_length)
{
    size_t length = twin__random_below(&w->state, chance(w, 4) ? 200 : 12);
    bool plain = chance(w, 2);
    *meant_length = 0;
    put(w, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned code = plain && !chance(w, 40) ? 'a' + (unsigned)(i % 26) : random_character(w);
        put_character(w, code);
        *meant_length += encode((unsigned char *)meant + *meant_length, code);
    }
    put(w, "\"");
}

static void put_number(struct writer *w, char *meant, size_t *meant_length)
{
    static const char *const numbers[] = { "0",   "-0",      "7",
                                           "-12", "1.5",     "0.00",
                                           "1e9", "-2.5E-3", "12345678901234567890" };
    const char *number = numbers[twin__random_below(&w->state, 9)];
    put(w, number);
    *meant_length = strlen(number);
    memcpy(meant, number, *meant_length);
}

static void put_key(struct writer *w, const char *key)
{
    put_blanks(w);
    put(w, "\"");
    for (; *key; key++)
        put_character(w, (unsigned char)*key);
    put(w, "\"");
    put_blanks(w);
    put(w, ":");
    put_blanks(w);
}

static enum json_kind put_value(struct writer *w, char *meant, size_t *meant_length, int depth);

static void put_nested(struct writer *w, int depth)
{
    char ignored[1024];
    size_t length, members = twin__random_below(&w->state, 4);
    bool object = chance(w, 2);
    put(w, object ? "{" : "[");
    put_blanks(w);
    for (size_t i = 0; i < members; i++) {
        if (i)
            put(w, ",");
        if (object)
            put_key(w, chance(w, 2) ? "text" : "id");
        put_blanks(w);
        put_value(w, ignored, &length, depth);
        put_blanks(w);
    }
    put(w, object ? "}" : "]");
}

static enum json_kind put_value(struct writer *w, char *meant, size_t *meant_length, int depth)
{
    static const char *const words[] = { "true", "false" };
    *meant_length = 0;
    switch (twin__random_below(&w->state, depth < 4 ? 6 : 5)) {
    case 0: put(w, "null"); return JSON_NULL;
    case 1: put(w, words[chance(w, 2)]); return JSON_OTHER;
    case 2: put_number(w, meant, meant_length); return JSON_NUMBER;
    case 5: put_nested(w, depth + 1); return JSON_OTHER;
    default: put_string(w, meant, meant_length); return JSON_STRING;
    }
}

struct meant {
    enum json_kind kind;
    char bytes[1024];
    size_t length;
};

static void check_value(struct json_value got, const struct meant *meant, const struct writer *w)
{
    if (got.kind != meant->kind || got.text.length != meant->length ||
        (meant->length && memcmp(got.text.bytes, meant->bytes, meant->length) != 0))
        fail_msg("misread: %.*s", (int)w->length, w->bytes);
}

/* Writes up to six members, any of which may be one of the two fields again. */
static void put_object(struct writer *w, struct meant *id, struct meant *text)
{
    static const char *const others[] = { "", "ID", "texts", "tex", "i\"d" };
    struct meant other;
    size_t members = twin__random_below(&w->state, 7);
    put_blanks(w);
    put(w, "{");
    put_blanks(w);
    for (size_t i = 0; i < members; i++) {
        struct meant *target = chance(w, 3) ? id : chance(w, 2) ? text : &other;
        if (i)
            put(w, ",");
        if (target == &other && chance(w, 6))
            put(w, "\"\xc3\xa9\":"); /* as raw UTF-8; put_key() takes ASCII */
        else
            put_key(w, target == id ? "id" : target == text ? "text" : others[twin__random_below(&w->state, 5)]);
        target->kind = put_value(w, target->bytes, &target->length, 1);
        put_blanks(w);
    }
    put(w, "}");
    put_blanks(w);
}

static void random_objects_are_read_as_they_were_meant(void **unused)
{
    (void)unused;
    struct writer w = { .state = 11 };
    twin_read_buffers room = { 0 };
    size_t strings = 0;
    for (int i = 0; i < CASES; i++) {
        struct meant id = { .kind = JSON_MISSING }, text = { .kind = JSON_MISSING };
        w.length = 0;
        put_object(&w, &id, &text);
        char *line = line_of(w.bytes, w.length);
        struct json_line json;
        assert_int_equal(twin__json_scan(&json, &room, &fields, line, line + w.length + 1), TWIN_OK);
        if (json.wrong)
            fail_msg("%s at %zu: %.*s", json.wrong, (size_t)(json.where - line), (int)w.length, w.bytes);
        assert_ptr_equal(json.end, line + w.length);
        check_value(json.id, &id, &w);
        check_value(json.text, &text, &w);
        strings += json.text.kind == JSON_STRING;
        free(line);
    }
    assert_true(strings > CASES / 10);
    twin__read_buffers_clear(&room);
}

/* A proper prefix of an object never is one, whatever it is cut in. */
static void every_cut_object_is_broken(void **unused)
{
    (void)unused;
    struct writer w = { .state = 12 };
    twin_read_buffers room = { 0 };
    for (int i = 0; i < CASES / 200; i++) {
        struct meant id, text;
        w.length = 0;
        put_object(&w, &id, &text);
        size_t begin = 0, end = w.length;
        while (w.bytes[begin] != '{')
            begin++;
        while (w.bytes[end - 1] != '}')
            end--;
        for (size_t length = begin + 1; length < end; length++) {
            char *line = line_of(w.bytes, length);
            struct json_line json;
            assert_int_equal(twin__json_scan(&json, &room, &fields, line, line + length + 1), TWIN_OK);
            if (!json.wrong)
                fail_msg("passes: %.*s", (int)length, w.bytes);
            free(line);
        }
    }
    twin__read_buffers_clear(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_lines_give_their_fields),
        cmocka_unit_test(texts_are_unescaped_in_place),
        cmocka_unit_test(broken_lines_say_what_and_where),
        cmocka_unit_test(a_line_ends_at_its_newline_broken_or_not),
        cmocka_unit_test(nesting_has_a_limit_and_reaches_it),
        cmocka_unit_test(fields_may_be_nested_and_several),
        cmocka_unit_test(a_text_among_several_that_is_none_is_found),
        cmocka_unit_test(impossible_names_of_fields_are_refused),
        cmocka_unit_test(random_objects_are_read_as_they_were_meant),
        cmocka_unit_test(every_cut_object_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_json_records.c — JSON arrays, and objects over several lines, become JSON lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "input/json_records.h"

enum { ROOM = 1 << 14 };

/* Takes the text in pieces of so many bytes; returns whether it was whole. */
static bool take(char out[ROOM], const char *text, size_t length, size_t piece)
{
    struct twin__json_records state = { 0 };
    size_t used = 0;
    for (size_t at = 0; at < length; at += piece) {
        size_t part = length - at < piece ? length - at : piece;
        size_t more = twin__json_records_take(&state, out + used, text + at, part);
        assert_true(more <= 2 * part);
        used += more;
    }
    out[used] = '\0';
    return twin__json_records_end(&state);
}

static void check(const char *text, const char *lines, bool is_whole)
{
    char out[ROOM];
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        assert_int_equal(take(out, text, strlen(text), piece), is_whole);
        assert_string_equal(out, lines);
    }
}

static void elements_and_objects_become_lines(void **state)
{
    (void)state;
    check("[]", "", true);
    check("[{}]", "{}\n", true);
    check(" [\n {\"a\" : [1,\n{}]} ,{\r\n}\n]\n", "{\"a\" : [1, {}]}\n{  }\n", true);
    check("{\n\"a\":1\n}\n{\"b\":2}{}", "{ \"a\":1 }\n{\"b\":2}\n{}\n", true);
    check("[{\"a\":\"],}{[\\\"\\\\\"},{}]", "{\"a\":\"],}{[\\\"\\\\\"}\n{}\n", true);
    check("[1,\"a [ b\",null,[{}],true{}]", "1\n\"a [ b\"\nnull\n[{}]\ntrue\n{}\n", true);
    check("[{}][{},]", "{}\n{}\n", true);
    check("{\"a\":\"x\ny\"}", "{\"a\":\"x\ry\"}\n", true); /* a line end in a string is wrong, and stays wrong */
}

static void what_is_cut_short_is_not_whole(void **state)
{
    (void)state;
    check("[{}", "{}\n", false);
    check("{\"a\":\"}", "{\"a\":\"}", false);
    check("{\"a\":[}", "{\"a\":[}", false);
    check("[\"a", "\"a", false);
}

static void append(char *text, const char *more)
{
    strcat(text, more);
}

/* White space, of which there is none in the line. */
static void append_white(char *text, uint64_t *seed)
{
    static const char *const whites[] = { "", "\n", "\r\n", "\n\n\n" };
    append(text, whites[twin__random_below(seed, 4)]);
}

/* A value, and its line: they differ in line ends, which are blanks there. */
static void append_value(char *text, char *line, uint64_t *seed, unsigned depth)
{
    static const char *const strings[] = { "\"\"", "\"[{\"", "\"\\\"\"", "\"\\\\\"", "\"a,b}\"", "\"\\\\\\\"]\"" };
    uint64_t kind = depth ? twin__random_below(seed, 4) : 2;
    if (kind == 0) {
        append(text, "-1.5e3");
        append(line, "-1.5e3");
    } else if (kind == 1) {
        const char *string = strings[twin__random_below(seed, 6)];
        append(text, string);
        append(line, string);
    } else {
        uint64_t members = depth < 3 ? twin__random_below(seed, 4) : 0;
        append(text, kind == 2 ? "{" : "[");
        append(line, kind == 2 ? "{" : "[");
        for (uint64_t i = 0; i < members; i++) {
            size_t before = strlen(text);
            append_white(text, seed);
            for (size_t at = before; text[at]; at++)
                append(line, " ");
            append(text, i ? "," : "");
            append(line, i ? "," : "");
            append(text, kind == 2 ? "\"k\":" : "");
            append(line, kind == 2 ? "\"k\":" : "");
            append_value(text, line, seed, depth + 1);
        }
        append(text, kind == 2 ? "}" : "]");
        append(line, kind == 2 ? "}" : "]");
    }
}

static void random_arrays_become_their_elements(void **state)
{
    (void)state;
    uint64_t seed = 3;
    char text[ROOM / 4], lines[ROOM / 4], out[ROOM];
    for (int turn = 0; turn < 2000; turn++) {
        strcpy(text, "[");
        strcpy(lines, "");
        for (uint64_t i = 0, count = twin__random_below(&seed, 5); i < count; i++) {
            append(text, i ? "," : "");
            append_white(text, &seed);
            append_value(text, lines, &seed, 0);
            append_white(text, &seed);
            append(lines, "\n");
        }
        append(text, "]");
        assert_true(strlen(text) < sizeof text / 2);
        assert_true(take(out, text, strlen(text), 1 + (size_t)twin__random_below(&seed, 40)));
        assert_string_equal(out, lines);
    }
}

static bool begins(const char *text)
{
    return twin__begins_json_records(text, strlen(text));
}

static void lines_are_told_from_arrays(void **state)
{
    (void)state;
    assert_true(begins("[{\"a\":1}]") && begins(" \n\t[") && begins("\xEF\xBB\xBF[\n") && begins("{\n") &&
                begins("{ \r\n\"a\""));
    assert_false(begins("{\"a\":1}\n") || begins("") || begins("{}") || begins("a [") || begins("{ \"a\"\n"));
    assert_true(twin__begins_json_objects("[ {", 3) && twin__begins_json_objects("\n[\n\n{", 5));
    assert_false(twin__begins_json_objects("[1", 2) || twin__begins_json_objects("{", 1) ||
                 twin__begins_json_objects("[", 1) || twin__begins_json_objects("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_and_objects_become_lines),
        cmocka_unit_test(what_is_cut_short_is_not_whole),
        cmocka_unit_test(random_arrays_become_their_elements),
        cmocka_unit_test(lines_are_told_from_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

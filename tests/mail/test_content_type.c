/* test_content_type.c — what is read as a simple Content-Type means the same to GMime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <gmime/gmime.h>

#include "base/random.h"
#include "mail/content_type.h"

static const char *const common[] = {
    "text/plain",
    "TEXT/HTML; charset=\"ISO-8859-1\"",
    "text/plain; charset=utf-8; format=flowed; delsp=yes",
    "multipart/mixed; boundary=\"----=_NextPart_000_0012 (x)\"",
    "multipart/alternative;  boundary=b1_a.2-c ; charset=us-ascii",
    "application/x-zip+xml; name=\"a b; c.zip\"",
};

static void common_values_are_simple(void **unused)
{
    (void)unused;
    struct twin__content_type type;
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        assert_true(twin__content_type_read(&type, common[i]));
    assert_int_equal(type.name.length, 10);
    assert_memory_equal(type.name.bytes, "a b; c.zip", 10);
}

static void what_is_hard_is_left_to_gmime(void **unused)
{
    (void)unused;
    static const char *const hard[] = {
        "",
        "text",
        "text/plain (comment)",
        "text/plain; name=\"a\\\"b\"",
        "text/plain; name*0=a; name*1=b",
        "text/plain; name=\"=?utf-8?q?a?=\"",
        "text/plain; charset=a; charset=b",
        "text/plain; charset",
        "text/plain; charset=\"utf-8",
        "text/plain; name=a/b",
        "text/plain; name=\"\xc3\xa4\"",
    };
    struct twin__content_type type;
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++)
        assert_false(twin__content_type_read(&type, hard[i]));
}

/* ---- the same as GMime */

static void assert_same(twin_text found, const char *expected)
{
    assert_int_equal(found.bytes != NULL, expected != NULL);
    if (expected) {
        assert_int_equal(found.length, strlen(expected));
        assert_memory_equal(found.bytes, expected, found.length);
    }
}

static bool compare(GMimeParserOptions *options, const char *value)
{
    struct twin__content_type found;
    if (!twin__content_type_read(&found, value))
        return false;
    GMimeContentType *type = g_mime_content_type_parse(options, value);
    char *name = g_mime_content_type_get_mime_type(type);
    assert_same(found.type, name);
    assert_same(found.charset, g_mime_content_type_get_parameter(type, "charset"));
    assert_same(found.boundary, g_mime_content_type_get_parameter(type, "boundary"));
    assert_same(found.name, g_mime_content_type_get_parameter(type, "name"));
    assert_same(found.delsp, g_mime_content_type_get_parameter(type, "delsp"));
    g_free(name);
    g_object_unref(type);
    return true;
}

/* Puts, takes away and doubles pieces of the common values. */
static void change(char value[256], uint64_t *random)
{
    static const char *const pieces[] = { ";", "\"", " ",  "=",        "\\",      "/",  "(",
                                          "a", "*",  "=?", "charset=", "; name=", "\t", "." };
    char old[256];
    snprintf(old, sizeof old, "%s", value);
    size_t length = strlen(old), at = twin__random_next(random) % (length + 1);
    size_t from = twin__random_next(random) % (length + 1);
    switch (twin__random_next(random) % 3) {
    case 0:
        snprintf(value, 256, "%.*s%s%s", (int)at, old,
                 pieces[twin__random_next(random) % (sizeof pieces / sizeof pieces[0])], old + at);
        break;
    case 1: snprintf(value, 256, "%.*s%s", (int)at, old, at < length ? old + at + 1 : ""); break;
    default: snprintf(value, 256, "%.*s%.10s%s", (int)at, old, old + from, old + at); break;
    }
}

static void simple_values_mean_the_same_to_gmime(void **unused)
{
    (void)unused;
    g_mime_init();
    GMimeParserOptions *options = g_mime_parser_options_new();
    uint64_t random = 5;
    size_t simple = 0;
    for (int round = 0; round < 2000; round++) {
        char value[256];
        snprintf(value, sizeof value, "%s", common[(size_t)round % (sizeof common / sizeof common[0])]);
        for (int i = 0; i < 3; i++) {
            simple += compare(options, value);
            change(value, &random);
        }
    }
    assert_true(simple > 2000);
    g_mime_parser_options_free(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_values_are_simple),
        cmocka_unit_test(what_is_hard_is_left_to_gmime),
        cmocka_unit_test(simple_values_mean_the_same_to_gmime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

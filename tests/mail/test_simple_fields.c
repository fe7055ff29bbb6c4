/* test_simple_fields.c — what is read as a simple header means the same to GMime. */
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
#include "mail/mime.h"
#include "mail/simple_fields.h"

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

static bool compare_type(GMimeParserOptions *options, const char *value)
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

static const char *const pieces[] = { ";", "\"", " ",  "=",        "\\",      "/",  "(",
                                      "a", "*",  "=?", "charset=", "; name=", "\t", "." };

/* Puts, takes away and doubles pieces of the common values. */
static void change(char value[256], const char *const put[14], uint64_t *random)
{
    char old[256];
    snprintf(old, sizeof old, "%s", value);
    size_t length = strlen(old), at = twin__random_next(random) % (length + 1);
    size_t from = twin__random_next(random) % (length + 1);
    switch (twin__random_next(random) % 3) {
    case 0: snprintf(value, 256, "%.*s%s%s", (int)at, old, put[twin__random_next(random) % 14], old + at); break;
    case 1: snprintf(value, 256, "%.*s%s", (int)at, old, at < length ? old + at + 1 : ""); break;
    default: snprintf(value, 256, "%.*s%.10s%s", (int)at, old, old + from, old + at); break;
    }
}

/* Reads changed values; `compare` is whether one is simple, and fails if it means something else to GMime. Returns how many
 * are simple. */
static size_t compare_changed(const char *const *values, size_t count, const char *const put[14],
                              bool (*compare)(GMimeParserOptions *options, const char *value))
{
    static const char *charsets[] = { "utf-8", "windows-1252", NULL };
    g_mime_init();
    GMimeParserOptions *options = g_mime_parser_options_new();
    g_mime_parser_options_set_fallback_charsets(options, charsets);
    uint64_t random = 7;
    size_t simple = 0;
    for (size_t round = 0; round < 4000; round++) {
        char value[256];
        snprintf(value, sizeof value, "%s", values[round % count]);
        for (int i = 0; i < 3; i++) {
            simple += compare(options, value);
            change(value, put, &random);
        }
    }
    g_mime_parser_options_free(options);
    return simple;
}

static void simple_values_mean_the_same_to_gmime(void **unused)
{
    (void)unused;
    assert_true(compare_changed(common, sizeof common / sizeof common[0], pieces, compare_type) > 4000);
}

static bool compare_disposition(GMimeParserOptions *options, const char *value)
{
    twin_text found;
    if (!twin__disposition_read(&found, value))
        return false;
    GMimeContentDisposition *disposition = g_mime_content_disposition_parse(options, value);
    assert_same(found, g_mime_content_disposition_get_parameter(disposition, "filename"));
    g_object_unref(disposition);
    return true;
}

static void simple_dispositions_mean_the_same_to_gmime(void **unused)
{
    (void)unused;
    static const char *const values[] = { "inline", "attachment; filename=\"a b; c.zip\"",
                                          "attachment; size=12; FILENAME=invoice.pdf" };
    assert_true(compare_changed(values, 3, pieces, compare_disposition) > 4000);
}

static bool compare_date(GMimeParserOptions *options, const char *value)
{
    (void)options;
    int64_t found;
    if (!twin__date_read(&found, value))
        return false;
    GDateTime *date = g_mime_utils_header_decode_date(value);
    assert_non_null(date);
    assert_true(found == g_date_time_to_unix(date));
    g_date_time_unref(date);
    return true;
}

static void simple_dates_mean_the_same_to_gmime(void **unused)
{
    (void)unused;
    static const char *const values[] = { "Tue, 1 Jul 2003 10:52:37 +0200 (CEST)", "29 Feb 2004 23:59:59 -1159",
                                          "Mon, 31 Dec 1999 1:02:3 GMT", "Thu,  1 Mar 2100 00:00 +0480",
                                          "Sat, 28 Feb 2004 10:28:03 -0000" };
    static const char *const put[] = { "1", "0", "9", " ", ":", "-", "+", "(", ",", "Feb", "GMT", "Mar", "2", "\t" };
    assert_true(compare_changed(values, 5, put, compare_date) > 3000);

    /* Every day of five centuries, and the zones. */
    size_t simple = 0;
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 500 * 12 * 31; i++) {
        char value[64];
        snprintf(value, sizeof value, "%d %.3s %d 12:00:00 %c%02d%02d", i % 31 + 1, months + i / 31 % 12 * 3,
                 1970 + i / 31 / 12, "+-"[i % 2], i % 29, i % 67);
        simple += compare_date(NULL, value);
    }
    assert_true(simple > 140000);
}

static bool compare_words(GMimeParserOptions *options, const char *value)
{
    twin_buffer found = { 0 };
    twin_status status = twin__words_read(&found, value);
    assert_true(status == TWIN_OK || status == TWIN_EINVAL);
    if (status == TWIN_OK) {
        char *expected = g_mime_utils_header_decode_text(options, value);
        assert_same((twin_text){ found.length ? found.bytes : "", found.length }, expected);
        g_free(expected);
    }
    twin_buffer_clear(&found);
    return status == TWIN_OK;
}

static void simple_encoded_words_mean_the_same_to_gmime(void **unused)
{
    (void)unused;
    static const char *const values[] = {
        "Re: =?utf-8?Q?gr=C3=BCne_=5Fb?= and more",
        "=?UTF-8?B?5LiA5Liq5Lit5paH?= \t =?utf-8?b?5qCH6aKY?=",
        "=?utf-8?Q?a?= =?utf-8?B?YmM=?= =?UTF-8?q?d?= x=y?",
        "=?utf-8?B?w7w=?=  plain  =?utf-8?B?w7zDvA==?=",
        "=?utf-8?b?TmF0aGFuYcOrbA==?= =?utf-8?b?TMOpY2F1ZMOp?=",
    };
    static const char *const put[] = { "=?", "?=",  " ", "=", "_",  "=?utf-8?Q?a?=", "=?utf-8?B?",
                                       "\t", "=C3", "A", "?", "==", "=00",           "=?iso-8859-1?Q?=FC?=" };
    assert_true(compare_changed(values, 5, put, compare_words) > 3000);
}

/* ---- transfer.c */

static void compare_decoded(GMimeContentEncoding encoding, const char *name, const char *bytes, size_t length)
{
    GMimeEncoding state;
    char expected[256];
    twin_buffer found = { 0 };
    g_mime_encoding_init_decode(&state, encoding);
    size_t wanted = g_mime_encoding_flush(&state, bytes, length, expected);
    assert_int_equal(twin__mime_decode(&found, (twin_text){ name, strlen(name) }, (twin_text){ bytes, length }), 0);
    assert_int_equal(found.length, wanted);
    assert_memory_equal(wanted ? found.bytes : "", expected, wanted);
    twin_buffer_clear(&found);
}

static void bodies_are_decoded_as_gmime_does(void **unused)
{
    (void)unused;
    static const char letters[] = "==\r\n\n AaFfZz09+/-_?g\xfc";
    uint64_t random = 3;
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        size_t length = twin__random_next(&random) % sizeof bytes;
        for (size_t i = 0; i < length; i++) /* the first rounds have few signs of equality */
            bytes[i] = letters[twin__random_next(&random) % (sizeof letters - 1 - (round % 2 ? 2 : 0)) +
                               (round % 2 ? 2 : 0)];
        if (length && round % 4 == 1)
            bytes[length - 1 - round % (int)length] = '=';
        compare_decoded(GMIME_CONTENT_ENCODING_BASE64, "base64", bytes, length);
        compare_decoded(GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE, "quoted-printable", bytes, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_values_are_simple),
        cmocka_unit_test(what_is_hard_is_left_to_gmime),
        cmocka_unit_test(simple_values_mean_the_same_to_gmime),
        cmocka_unit_test(simple_dispositions_mean_the_same_to_gmime),
        cmocka_unit_test(simple_dates_mean_the_same_to_gmime),
        cmocka_unit_test(simple_encoded_words_mean_the_same_to_gmime),
        cmocka_unit_test(bodies_are_decoded_as_gmime_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

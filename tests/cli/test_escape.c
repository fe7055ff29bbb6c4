/* test_escape.c — ids and names as JSON, in tab-separated lines and in messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../../cli/support/escape.c"
#include "base/random.h"

static char written[4096];

static const char *as(void (*write)(FILE *, const char *, size_t), const char *bytes, size_t length)
{
    memset(written, 0, sizeof written);
    FILE *out = fmemopen(written, sizeof written - 1, "w");
    assert_non_null(out);
    write(out, bytes, length);
    assert_int_equal(fclose(out), 0);
    return written;
}

#define JSON(literal) as(escape_json, literal, sizeof(literal) - 1)
#define TSV(literal) as(escape_tsv, literal, sizeof(literal) - 1)
#define MESSAGE(literal) as(escape_message, literal, sizeof(literal) - 1)
#define HTML(literal) as(escape_html, literal, sizeof(literal) - 1)
#define BAD "\xEF\xBF\xBD"

static void plain_text_stays_as_it_is(void **state)
{
    (void)state;
    assert_string_equal(JSON(""), "\"\"");
    assert_string_equal(JSON("news/2024 a.txt\x7F"), "\"news/2024 a.txt\x7F\"");
    assert_string_equal(JSON("é 語 😀"), "\"é 語 😀\"");
    assert_string_equal(TSV("é a/b\xFF"), "é a/b\xFF");
    assert_string_equal(MESSAGE("é 語 \"a\\b\""), "é 語 \"a\\b\"");
}

static void markup_is_text(void **state)
{
    (void)state;
    assert_string_equal(HTML("<a href=\"x\">&é\n\t</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;é\n\t&lt;/a&gt;");
    assert_string_equal(HTML("a\x1B[31m\xFF\0"), "a" BAD "[31m" BAD BAD);
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    assert_string_equal(JSON("\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    assert_string_equal(JSON("a\0b\x1F"), "\"a\\u0000b\\u001f\"");
    assert_string_equal(TSV("a\tb\nc\0\x1B[31m\x7F"), "a\\x09b\\x0Ac\\x00\\x1B[31m\\x7F");
}

/* U+0080, U+009B (CSI in one character), U+009F; U+00A0 is no control. Then U+202A, U+202E, U+2066, U+2069 and their
 * neighbours, which are harmless. */
static void controls_beyond_ascii_are_escaped_too(void **state)
{
    (void)state;
    const char *controls = "\\xC2\\x80\\xC2\\x9B\\xC2\\x9F\u00A0";
    assert_string_equal(TSV("\xC2\x80\xC2\x9B\xC2\x9F\u00A0"), controls);
    assert_string_equal(MESSAGE("\xC2\x80\xC2\x9B\xC2\x9F\u00A0"), controls);
    /* U+2029, 202A, 202E, 202F, 2065, 2066, 2069, 206A; byte by byte, for a string of them would be misleading here. */
    static const char marks[] = { '\xE2', '\x80', '\xA9', '\xE2', '\x80', '\xAA', '\xE2', '\x80', '\xAE',
                                  '\xE2', '\x80', '\xAF', '\xE2', '\x81', '\xA5', '\xE2', '\x81', '\xA6',
                                  '\xE2', '\x81', '\xA9', '\xE2', '\x81', '\xAA', '\0' };
    const char *bidirectional =
        "\u2029\\xE2\\x80\\xAA\\xE2\\x80\\xAE\u202F\u2065\\xE2\\x81\\xA6\\xE2\\x81\\xA9\u206A";
    assert_string_equal(TSV(marks), bidirectional);
    assert_string_equal(MESSAGE(marks), bidirectional);
}

static void a_message_has_no_bytes_that_are_not_text(void **state)
{
    (void)state;
    assert_string_equal(MESSAGE("a\xFF\xC2z\x9B"), "a\\xFF\\xC2z\\x9B");
    assert_string_equal(MESSAGE("one\ntwo\x1B]0;x\x07"), "one\\x0Atwo\\x1B]0;x\\x07");
}

/* Replaces each \xHH by its byte. */
static size_t restore(char *out, const char *field)
{
    size_t length = 0;
    for (; *field; field++) {
        char digits[3] = { 0 };
        if (strncmp(field, "\\x", 2) != 0) {
            out[length++] = *field;
            continue;
        }
        memcpy(digits, field + 2, 2);
        out[length++] = (char)strtoul(digits, NULL, 16);
        field += 3;
    }
    return length;
}

static void fields_can_be_restored(void **state)
{
    (void)state;
    assert_string_equal(TSV("a\\x0Ab\nc\\"), "a\\x5Cx0Ab\\x0Ac\\x5C");
    uint64_t seed = 5;
    for (int round = 0; round < 20000; round++) {
        static const unsigned char likely[] = { '\\', 'x', '0', 'A', '\n', 0xC2, 0x85, 0xE2, 0x80, 0xAE, 0 };
        char bytes[40], restored[4 * sizeof bytes + 1];
        size_t length = twin__random_below(&seed, sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)likely[twin__random_below(&seed, sizeof likely)];
        assert_int_equal(restore(restored, as(escape_tsv, bytes, length)), length);
        assert_memory_equal(restored, bytes, length);
        strcpy(restored, as(escape_tsv, bytes, length));
        assert_int_equal(unescape_tsv(restored, strlen(restored)), length);
        assert_memory_equal(restored, bytes, length);
    }
}

/* Unicode 15, section 3.9, tables 3-8 to 3-11: one U+FFFD for each maximal subpart. */
static void broken_text_is_replaced_as_unicode_advises(void **state)
{
    (void)state;
    assert_string_equal(JSON("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), "\"" BAD BAD BAD BAD BAD BAD BAD BAD "A\"");
    assert_string_equal(JSON("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), "\"" BAD BAD BAD BAD BAD BAD BAD BAD "A\"");
    assert_string_equal(JSON("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), "\"" BAD BAD BAD BAD BAD "A" BAD BAD "B\"");
    assert_string_equal(JSON("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\"" BAD BAD BAD BAD "A\"");
    assert_string_equal(JSON("a\xE2\x82"), "\"a" BAD "\"");
    assert_string_equal(JSON("\xC3\""), "\"" BAD "\\\"\"");
}

static size_t encode(char *out, uint32_t c)
{
    if (c < 0x80)
        return out[0] = (char)c, 1;
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)((0xF00u >> length) | c);
    return length;
}

static void every_character_comes_through(void **state)
{
    (void)state;
    for (uint32_t c = 0x80; c <= 0x10FFFF; c++) {
        char bytes[8] = "";
        bool valid, surrogate = c >= 0xD800 && c <= 0xDFFF;
        size_t length = encode(bytes, c);
        size_t taken = character(&valid, (const unsigned char *)bytes, length);
        assert_true(valid == !surrogate);
        assert_int_equal(taken, surrogate ? 1 : length);
    }
}

/* Whatever goes in, what comes out has two quotes that are not escaped, no raw control characters, and is UTF-8. */
static void any_bytes_make_one_string(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        size_t length = twin__random_below(&seed, sizeof bytes);
        for (size_t i = 0; i < length; i++) {
            static const unsigned char likely[] = { '"', '\\', 0xE2, 0x82, 0xAC, 0xED, 0xA0, 0xF0, 0x90, '\n', 'n' };
            bool any = twin__random_below(&seed, 4) == 0;
            bytes[i] =
                (char)(any ? twin__random_below(&seed, 256) : likely[twin__random_below(&seed, sizeof likely)]);
        }
        const char *out = as(escape_json, bytes, length);
        size_t quotes = 0;
        for (size_t i = 0; out[i]; i++) {
            assert_true((unsigned char)out[i] >= 0x20);
            quotes += out[i] == '"';
            if (out[i] == '\\')
                i++;
        }
        assert_int_equal(quotes, 2);
        bool valid = true;
        for (size_t i = 0; out[i] && valid;)
            i += character(&valid, (const unsigned char *)out + i, strlen(out + i));
        assert_true(valid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays_as_it_is),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(markup_is_text),
        cmocka_unit_test(controls_beyond_ascii_are_escaped_too),
        cmocka_unit_test(a_message_has_no_bytes_that_are_not_text),
        cmocka_unit_test(fields_can_be_restored),
        cmocka_unit_test(broken_text_is_replaced_as_unicode_advises),
        cmocka_unit_test(every_character_comes_through),
        cmocka_unit_test(any_bytes_make_one_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

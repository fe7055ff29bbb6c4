/* test_parts.c — the parts of messages, compared with those that GMime's own parser finds.
 *
 * Messages are the samples and random ones: nested multiparts, messages in messages, boundaries that begin like others,
 * bodies that look like boundaries, missing ends. Compared are type and decoded size of every part, in order. */
#include <ftw.h>
#include <gmime/gmime.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "message_frame.h"
#include "scale.h"

/* ---- what GMime finds */

static void describe(GString *out, const char *type, size_t length, uint64_t size)
{
    char *lower = g_ascii_strdown(type, (gssize)length);
    g_string_append_printf(out, "%s %llu\n", lower, (unsigned long long)size);
    g_free(lower);
}

static void describe_leaf(GString *out, GMimeObject *object)
{
    char *type = g_mime_content_type_get_mime_type(g_mime_object_get_content_type(object));
    GMimeStream *stream = g_mime_stream_mem_new();
    GMimeDataWrapper *content = g_mime_part_get_content(GMIME_PART(object));
    if (content)
        g_mime_data_wrapper_write_to_stream(content, stream);
    describe(out, type, strlen(type), (uint64_t)g_mime_stream_length(stream));
    g_object_unref(stream);
    g_free(type);
}

static void describe_object(GString *out, GMimeObject *object)
{
    if (GMIME_IS_MULTIPART(object)) {
        GMimeMultipart *parts = GMIME_MULTIPART(object);
        for (int i = 0; i < g_mime_multipart_get_count(parts); i++)
            describe_object(out, g_mime_multipart_get_part(parts, i));
    } else if (GMIME_IS_MESSAGE_PART(object)) {
        GMimeMessage *inner = g_mime_message_part_get_message(GMIME_MESSAGE_PART(object));
        if (inner && g_mime_message_get_mime_part(inner))
            describe_object(out, g_mime_message_get_mime_part(inner));
    } else if (GMIME_IS_PART(object)) {
        describe_leaf(out, object);
    }
}

static char *by_gmime(const twin_buffer *raw)
{
    GMimeStream *stream = g_mime_stream_mem_new_with_buffer(raw->bytes, raw->length);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
    GString *out = g_string_new("");
    if (message && g_mime_message_get_mime_part(message))
        describe_object(out, g_mime_message_get_mime_part(message));
    if (message)
        g_object_unref(message);
    g_object_unref(parser);
    g_object_unref(stream);
    return g_string_free(out, FALSE);
}

/* ---- what we find */

static char *by_us(const twin_buffer *raw)
{
    const twin_message *message;
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ raw->bytes, raw->length }), TWIN_OK);
    GString *out = g_string_new("");
    for (size_t i = 0; i < message->part_count; i++)
        describe(out, message->parts[i].type.bytes, message->parts[i].type.length, message->parts[i].size);
    return g_string_free(out, FALSE);
}

/* We read a message whose lines end with CR LF as if they ended with LF. */
static void drop_returns(twin_buffer *raw)
{
    size_t length = 0;
    const char *newline = memchr(raw->bytes, '\n', raw->length);
    if (!newline || newline == raw->bytes || newline[-1] != '\r')
        return;
    for (size_t i = 0; i < raw->length; i++)
        if (raw->bytes[i] != '\r' || i + 1 == raw->length || raw->bytes[i + 1] != '\n')
            raw->bytes[length++] = raw->bytes[i];
    raw->length = length;
}

static void compare(twin_buffer *raw, const char *name)
{
    char *got = by_us(raw);
    drop_returns(raw);
    char *wanted = by_gmime(raw);
    if (strcmp(wanted, got) != 0)
        fail_msg("%s:\n%.*s\nGMime:\n%swe:\n%s", name, (int)raw->length, raw->bytes, wanted, got);
    g_free(wanted);
    g_free(got);
}

/* ---- random messages */

static uint64_t state;
static const char *newline;

static size_t below(size_t count)
{
    return (size_t)twin__random_below(&state, count);
}

static void add(twin_buffer *out, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_int_equal(twin_buffer_append(out, text, (size_t)length), TWIN_OK);
}

static void add_line(twin_buffer *out, const char *text)
{
    add(out, "%s%s", text, newline);
}

static void add_body(twin_buffer *out, const char *boundary)
{
    static const char *const lines[] = { "text",   "--",       "-- ", "--b",    "--b1x", "--bx--",
                                         "=3D=",   "aGVsbG8=", "",    "From x", "a: b",  "Content-Type: text/html",
                                         "--b--x", "\t--b",    "----" };
    for (size_t n = below(5); n > 0; n--)
        add_line(out, lines[below(sizeof lines / sizeof lines[0])]);
    if (below(4) == 0)
        add(out, "--%sx%s", boundary, newline); /* not the boundary */
}

static void add_part(twin_buffer *out, const char *around, int depth)
{
    static const char *const types[] = { "text/plain", "text/HTML; charset=utf-8", "application/pdf; name=x",
                                         "image/gif" };
    static const char *const encodings[] = { "base64", "quoted-printable", "7bit", "8bit" };
    size_t kind = below(depth < 4 ? 6 : 3);
    if (kind < 3) {
        if (below(3) > 0)
            add(out, "Content-Type: %s%s", types[below(4)], newline);
        if (below(2) == 0)
            add(out, "Content-Transfer-Encoding: %s%s", encodings[below(4)], newline);
        add_line(out, "");
        add_body(out, around);
    } else if (kind == 3) {
        add(out, "Content-Type: message/rfc822%s%sSubject: x%s", newline, newline, newline);
        add_part(out, around, depth + 1);
    } else {
        char boundary[32];
        snprintf(boundary, sizeof boundary, "%s%d", around, (int)below(9)); /* begins like that around it */
        add(out, "Content-Type: multipart/%s;%s boundary=\"%s\"%s%s", below(2) ? "mixed" : "alternative", newline,
            boundary, newline, newline);
        add_body(out, boundary);
        for (size_t n = 1 + below(3); n > 0; n--) {
            add(out, "--%s%s%s", boundary, below(4) ? "" : " \t", newline);
            add_part(out, boundary, depth + 1);
        }
        if (below(4) > 0)
            add(out, "--%s--%s", boundary, newline);
        if (below(3) == 0)
            add_body(out, boundary);
    }
}

static void random_messages_have_the_same_parts(void **state_unused)
{
    (void)state_unused;
    twin_buffer raw = { 0 };
    for (int i = 0; i < (QUICK ? 500 : 5000); i++) {
        char name[32];
        snprintf(name, sizeof name, "message %d", i);
        state = (uint64_t)i;
        newline = below(2) ? "\r\n" : "\n";
        raw.length = 0;
        add_line(&raw, "Subject: x");
        add_part(&raw, "b", 0);
        compare(&raw, name);
    }
    twin_buffer_clear(&raw);
}

/* ---- the samples */

static size_t samples;

static int compare_file(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)place;
    if (kind != FTW_F || strstr(path, "broken")) /* where GMime drops what it does not understand */
        return 0;
    twin_buffer raw = { 0 };
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(twin_buffer_reserve(&raw, 1 << 16), TWIN_OK);
    raw.length = fread(raw.bytes, 1, raw.capacity, file);
    fclose(file);
    compare(&raw, path);
    twin_buffer_clear(&raw);
    samples++;
    return 0;
}

static void samples_have_the_same_parts(void **state_unused)
{
    (void)state_unused;
    char folder[4096];
    snprintf(folder, sizeof folder, "%.*s/../../samples/mail", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
    assert_int_equal(nftw(folder, compare_file, 16, FTW_PHYS), 0);
    assert_true(samples >= 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_messages_have_the_same_parts),
        cmocka_unit_test(samples_have_the_same_parts),
    };
    g_mime_init();
    return cmocka_run_group_tests(tests, create_reader, free_reader);
}

/* test_hostile.c — messages made to exhaust a reader: each gives a result and a verdict, in bounded memory and work.
 *
 * Work is not measured by the clock. What could be quadratic is bounded by something that can be counted: parts,
 * headers and hosts that are kept, attributes of a tag, parsers begun for a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include <twinsift/mail.h>

#include "base/random.h"
#include "mail/message_private.h"
#include "scale.h"

/* With the default limits: 4 MiB of a message, of which the reader keeps one copy and several of its text, 1 MiB. GMime
 * keeps less. */
enum { HELD_BYTES = 16 << 20, RESIDENT_BYTES = 100 << 20 };

static twin_message_reader *reader;
static twin_mail *model;
static twin_buffer bytes;

/* ---- making messages */

static void add_bytes(const char *text, size_t length)
{
    assert_int_equal(twin_buffer_append(&bytes, text, length), TWIN_OK);
}

static void add(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_bytes(text, (size_t)length);
}

static void begin(const char *text)
{
    bytes.length = 0;
    add_bytes(text, strlen(text));
}

static void add_times(size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        add_bytes(text, strlen(text));
}

/* A model gives every message a verdict, and can learn it. */
static void judge_it(const twin_message *message)
{
    twin_mail_verdict verdict;
    assert_int_equal(twin_mail_check(&verdict, model, message, (twin_mail_check_options){ 0 }, NULL), TWIN_OK);
    assert_true(verdict.score >= 0 && verdict.score <= 1);
    assert_int_equal(twin_mail_learn(NULL, model, message, bytes.length % 2 ? "spam" : "ham", 1, NULL), TWIN_OK);
}

static const twin_message *read_it(void)
{
    const twin_message *message;
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ bytes.bytes, bytes.length }), TWIN_OK);
    judge_it(message);
    assert_true(twin__message_memory(reader) < HELD_BYTES);
    if (!SANITIZED) {
        struct rusage usage;
        assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
        assert_true((size_t)usage.ru_maxrss * 1024 < RESIDENT_BYTES + bytes.capacity);
    }
    return message;
}

static void assert_flag(const twin_message *message, uint32_t flag)
{
    assert_true(message->flags & flag);
}

/* ---- structure */

static void ten_thousand_nested_parts(void **state_unused)
{
    (void)state_unused;
    begin("");
    for (int i = 0; i < 10000; i++)
        add("Content-Type: multipart/mixed; boundary=\"b%d\"\n\n--b%d\n", i, i);
    const twin_message *message = read_it();
    assert_flag(message, TWIN_MESSAGE_MANY_PARTS);
    assert_true(message->part_count <= 200);

    begin("");
    add_times(100000, "Content-Type: message/rfc822\n\n");
    message = read_it();
    assert_flag(message, TWIN_MESSAGE_MANY_PARTS);
    assert_true(message->part_count <= 200);
}

static void a_million_parts_side_by_side(void **state_unused)
{
    (void)state_unused;
    begin("Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n");
    add_times(QUICK ? 100000 : 800000, "--b\n\n");
    const twin_message *message = read_it();
    assert_flag(message, TWIN_MESSAGE_MANY_PARTS);
    assert_true(message->part_count <= 200);
    assert_memory_equal(message->text.bytes, "first", 5);
}

static void boundaries_that_are_almost_met(void **state_unused)
{
    (void)state_unused;
    begin("");
    char name[64] = "";
    for (int i = 0; i < 32; i++) {
        strcat(name, "a");
        add("Content-Type: multipart/mixed; boundary=%s\n\n--%s\n", name, name);
    }
    add("Content-Type: text/plain\n\n");
    for (int i = 0; i < 60000; i++)
        add("--%sx\n", name);
    assert_int_equal(read_it()->part_count, 1);
}

static void fifty_megabytes_of_base64(void **state_unused)
{
    (void)state_unused;
    begin("Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n\n");
    add_times((QUICK ? 5 << 20 : 50 << 20) / 13, "QUJDREVGR0hJ\n");
    const twin_message *message = read_it();
    assert_flag(message, TWIN_MESSAGE_LONG);
    assert_true(message->raw.length <= 4 << 20);
    assert_true(message->parts[0].size <= 3 << 20);
}

static void a_hundred_thousand_headers(void **state_unused)
{
    (void)state_unused;
    begin("");
    for (int i = 0; i < 100000; i++)
        add("X-Header-%d: value\n", i);
    add("Content-Type: text/html\n\n<p>text</p>");
    const twin_message *message = read_it();
    assert_flag(message, TWIN_MESSAGE_MANY_HEADERS | TWIN_MESSAGE_HTML);
    assert_int_equal(message->header_count, 1000);
    assert_int_equal(message->text.length, 4); /* what the last header says still counts */
}

static void headers_without_end(void **state_unused)
{
    (void)state_unused;
    static const char *const texts[] = { "=?utf-8?q?", "=?utf-8?q?a?= ", "=?",    "(", "\"",
                                         "<",          "a@b,",           "Mon, ", "1", "; a*0*=b" };
    static const char *const names[] = {
        "Subject", "From", "Date", "Received", "Content-Type", "Content-Disposition"
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        begin("");
        for (size_t k = 0; k < 12; k++) {
            add("%s: from ", names[k % 6]);
            add_times((QUICK ? 70000 : 300000) / strlen(texts[i]), texts[i]);
            add("\n");
        }
        add("\ntext\n");
        const twin_message *message = read_it();
        assert_true(message->header_count <= 12);
        for (size_t k = 0; k < message->header_count; k++)
            assert_true(message->headers[k].value.length <= 3 * 65536);
        assert_true(message->address_count <= 32);
    }
}

/* ---- text */

static void a_million_invisible_characters(void **state_unused)
{
    (void)state_unused;
    begin("Subject: x\nContent-Type: text/plain; charset=utf-8\n\n");
    add_times(QUICK ? 300000 : 1000000, "v\u200b");
    const twin_message *message = read_it();
    assert_flag(message, TWIN_MESSAGE_DISGUISED | TWIN_MESSAGE_MUCH_TEXT);
    assert_true(message->text.length <= 1 << 20);
    assert_null(memmem(message->folded.bytes, message->folded.length, "\u200b", 3));

    begin("Content-Type: text/plain; charset=utf-8\n\na");
    add_times(QUICK ? 100000 : 1000000, "\u0323\u0301");
    assert_true(read_it()->folded.length < 1000);
}

static void a_million_links(void **state_unused)
{
    (void)state_unused;
    begin("Content-Type: text/html\n\n");
    for (int i = 0; i < (QUICK ? 2000 : 20000); i++)
        add("<a href=http://h%d.example.com/>x</a>", i);
    const twin_message *message = read_it();
    assert_flag(message, TWIN_MESSAGE_MANY_LINKS);
    assert_int_equal(message->link_count, 1000);

    begin("Subject: x\n\n");
    add_times(50000, "http://example.com/ ");
    message = read_it();
    assert_int_equal(message->link_count, 1);
    assert_true(message->links[0].count == 50000);
}

static void bytes_that_are_no_text(void **state_unused)
{
    (void)state_unused;
    static const char *const charsets[] = { "utf-8", "utf-7", "iso-2022-jp", "gb18030", "big5", "utf-16", "no-such" };
    uint64_t state = 1;
    char noise[100000];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)twin__random_next(&state);
    for (size_t i = 0; i < sizeof charsets / sizeof charsets[0]; i++)
        for (int html = 0; html < 2; html++) {
            begin("");
            add("Content-Type: text/%s; charset=%s\n\n", html ? "html" : "plain", charsets[i]);
            add_bytes(noise, sizeof noise);
            const twin_message *message = read_it();
            assert_null(memchr(message->text.bytes, 0, message->text.length));
        }
    begin("");
    add_bytes(noise, sizeof noise);
    read_it();
    begin("Content-Transfer-Encoding: quoted-printable\n\n");
    add_times(500000, "=\n=");
    read_it();
}

/* ---- HTML */

static void elements_without_end(void **state_unused)
{
    (void)state_unused;
    static const char *const texts[] = {
        "<b>",         "<p>",  "<table><tr><td>", "<form><li><dl>", "</i>", "<",   "&",         "<!",
        "<?",          "<!--", "<script>",        "<a '",           "\t",   "&#1", "<![CDATA[", "<select><option>",
        "<style><!--", "<a\t", "<b><i>"
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        begin("Content-Type: text/html\n\n");
        add_times((QUICK ? 20000 : 200000) / strlen(texts[i]), texts[i]);
        add_times(QUICK ? 5000 : 50000, "</i>");
        add("the end");
        read_it();
    }
}

static void text_below_many_elements_is_read(void **state_unused)
{
    (void)state_unused;
    begin("Content-Type: text/html\n\n");
    for (int i = 0; i < 5000; i++)
        add("<b>%d ", i);
    const twin_message *message = read_it();
    assert_memory_equal(message->text.bytes + message->text.length - 9, "4998 4999", 9);
    char wanted[16];
    const char *at = message->text.bytes;
    for (int i = 0; i < 5000; i++) { /* nothing is lost or repeated where all of them end */
        int length = snprintf(wanted, sizeof wanted, "%d", i);
        assert_memory_equal(at, wanted, length);
        at += length + 1;
    }
}

static void style_sheets_without_end(void **state_unused)
{
    (void)state_unused;
    static const char *const texts[] = { "@a{}", ".a{color:red}", ".a,", "/*", "{", "}", ";", "@", "a{;" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        begin("Content-Type: text/html\n\n");
        for (int k = 0; k < 10; k++) {
            add("<style>");
            add_times((QUICK ? 5000 : 50000) / strlen(texts[i]), texts[i]);
            add("</style>");
        }
        add("<b class='a a a'>text");
        assert_int_equal(read_it()->text.length, 4);
    }
}

static void attributes_without_end(void **state_unused)
{
    (void)state_unused;
    begin("Content-Type: text/html\n\n<a ");
    for (int k = 0; k < (QUICK ? 5000 : 50000); k++)
        add("a%d=\"<\" ", k);
    add(">x");
    assert_int_equal(read_it()->text.length, 1);
}

/* Learning copies of one message with ever other words and senders: what is remembered stays bounded, and so does the
 * work for each, since every message is compared with as many as are remembered. */
static void near_copies_without_end(void **state_unused)
{
    (void)state_unused;
    enum { KEPT = 500, COPIES = QUICK ? 1200 : 20000 };
    twin_mail *mail, *whole = model;
    twin_mail_info info;
    assert_int_equal(twin_mail_create_in_memory(&mail, (twin_mail_options){ .keep_messages = KEPT }), TWIN_OK);
    model = mail;
    for (int i = 0; i < COPIES; i++) {
        begin("Subject: you have won\n");
        add("From: %d@example%d.org\nMessage-ID: <%d@example.org>\n\n", i, i, i);
        add_times(20, "claim your prize today ");
        add("word%d%s", i, i % 2 ? " x" : "");
        read_it();
    }
    model = whole;
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, KEPT);
    assert_int_equal(info.learnt, COPIES);
    twin_mail_close(mail);
}

static int create_reader(void **state_unused)
{
    (void)state_unused;
    return twin_message_reader_create(&reader, (twin_message_options){ 0 }) != TWIN_OK ||
           twin_mail_create_in_memory(&model, (twin_mail_options){ 0 }) != TWIN_OK;
}

static int free_reader(void **state_unused)
{
    (void)state_unused;
    twin_message_reader_free(reader);
    twin_mail_close(model);
    twin_buffer_clear(&bytes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_nested_parts),
        cmocka_unit_test(a_million_parts_side_by_side),
        cmocka_unit_test(boundaries_that_are_almost_met),
        cmocka_unit_test(a_hundred_thousand_headers),
        cmocka_unit_test(headers_without_end),
        cmocka_unit_test(a_million_invisible_characters),
        cmocka_unit_test(a_million_links),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(elements_without_end),
        cmocka_unit_test(style_sheets_without_end),
        cmocka_unit_test(text_below_many_elements_is_read),
        cmocka_unit_test(attributes_without_end),
        cmocka_unit_test(near_copies_without_end),
        cmocka_unit_test(fifty_megabytes_of_base64),
    };
    return cmocka_run_group_tests(tests, create_reader, free_reader);
}

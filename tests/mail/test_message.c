/* test_message.c — messages and what is read from them. */
#include <twinsift/message.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static twin_message_reader *reader;

static const twin_message *read_bytes(const char *bytes, size_t length)
{
    const twin_message *message;
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ bytes, length }), TWIN_OK);
    return message;
}

static const twin_message *read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static void assert_text(twin_text text, const char *wanted)
{
    if (text.length != strlen(wanted) || memcmp(text.bytes, wanted, text.length) != 0)
        fail_msg("\"%.*s\", not \"%s\"", (int)text.length, text.bytes, wanted);
}

static void a_plain_message_has_headers_and_text(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text("From maker Mon Jan  1 00:00:00 2024\n"
                                            "Received: from mail.example.org (host7.example.net [192.0.2.7])\n"
                                            "\tby mx.example.com; Mon, 1 Jan 2024 10:00:00 +0000\n"
                                            "X-Spam-Status: Yes, score=12\n"
                                            "\ttests=A,B\n"
                                            "From: \"Ann, of Somewhere\" <Ann@Mail.Example.co.uk>\n"
                                            "Reply-To: other@example.org (The Other)\n"
                                            "Subject: =?iso-8859-1?Q?Gr=FC=DFe?= from\n"
                                            " here\n"
                                            "Message-ID: <1@example.org>\n"
                                            "Date: Mon, 01 Jan 2024 10:00:00 +0100\n"
                                            "\n"
                                            "See http://www.Example.com:80/path and https://example.com/.\n");
    assert_int_equal(message->header_count, 6);
    assert_text(message->headers[1].name, "From");
    assert_text(message->subject, "Grüße from here");
    assert_text(message->id, "1@example.org");
    assert_int_equal(message->date, 1704099600);
    assert_int_equal(message->address_count, 2);
    assert_text(message->addresses[0].address, "ann@mail.example.co.uk");
    assert_text(message->addresses[0].domain, "mail.example.co.uk");
    assert_text(message->addresses[0].registered, "example.co.uk");
    assert_text(message->addresses[0].name, "Ann, of Somewhere");
    assert_text(message->addresses[1].address, "other@example.org");
    assert_text(message->addresses[1].name, "The Other");
    assert_int_equal(message->hop_count, 1);
    assert_text(message->hops[0].hello, "mail.example.org");
    assert_text(message->hops[0].name, "host7.example.net");
    assert_text(message->hops[0].address, "192.0.2.7");
    assert_int_equal(message->link_count, 2);
    assert_text(message->links[0].host, "www.example.com");
    assert_text(message->links[1].registered, "example.com");
    assert_int_equal(message->part_count, 1);
    assert_text(message->parts[0].type, "text/plain");
    assert_int_equal(message->flags, 0);
    assert_null(memmem(message->raw.bytes, message->raw.length, "X-Spam", 6));
    assert_memory_equal(message->raw.bytes, "Received:", 9);
    assert_memory_equal(message->raw.bytes + message->header_length, "See ", 4);
}

static void parts_are_decoded(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text("Content-Type: multipart/mixed; boundary=\"outer\"\n"
                                            "\n"
                                            "ignored\n"
                                            "--outer\n"
                                            "Content-Type: multipart/alternative; boundary=inner\n"
                                            "\n"
                                            "--inner\n"
                                            "Content-Type: text/plain; charset=koi8-r\n"
                                            "Content-Transfer-Encoding: quoted-printable\n"
                                            "\n"
                                            "=D0=D2=C9=D7=C5=D4\n"
                                            "--inner\n"
                                            "Content-Type: text/html\n"
                                            "\n"
                                            "<p>via<b></b>gra <span style='display: none'>secret</span> now</p>\n"
                                            "<a href=\"http://shop.example.com/x\">buy</a>\n"
                                            "--inner--\n"
                                            "--outer\n"
                                            "Content-Type: application/pdf; name=\"Bill.PDF\"\n"
                                            "Content-Transfer-Encoding: base64\n"
                                            "\n"
                                            "aGVsbG8=\n"
                                            "--outer--\n"
                                            "ignored too\n");
    assert_int_equal(message->part_count, 3);
    assert_text(message->parts[0].text, "привет");
    assert_text(message->parts[1].text, "viagra now\nbuy");
    assert_text(message->hidden, "secret");
    assert_text(message->parts[2].extension, "pdf");
    assert_int_equal(message->parts[2].size, 5);
    assert_int_equal(message->parts[2].digest[0], 0x2c); /* SHA-256 of "hello" */
    assert_text(message->links[0].host, "shop.example.com");
    assert_int_equal(message->flags, TWIN_MESSAGE_HTML | TWIN_MESSAGE_HIDDEN);
}

static int create_reader(void **state_unused)
{
    (void)state_unused;
    return twin_message_reader_create(&reader, (twin_message_options){ 0 });
}

static int free_reader(void **state_unused)
{
    (void)state_unused;
    twin_message_reader_free(reader);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_message_has_headers_and_text),
        cmocka_unit_test(parts_are_decoded),
    };
    return cmocka_run_group_tests(tests, create_reader, free_reader);
}

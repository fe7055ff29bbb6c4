/* test_message.c — messages and what is read from them. */
#include <stdio.h>
#include <stdlib.h>

#include "message_frame.h"

#include "mail/message_private.h"

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
    assert_int_equal(message->flags, TWIN_MESSAGE_HTML | TWIN_MESSAGE_HIDDEN | TWIN_MESSAGE_DISGUISED);
}

static void files_before_mime_are_parts(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text("Subject: x\n\nsee the file\n"
                                            "begin 644 Hello There.EXE\r\n"
                                            "%:&5L;&\\\r\n"
                                            "`\r\n"
                                            "end\r\n"
                                            "begin 644 of nothing\n"
                                            "begin 0644 second.txt\n"
                                            "#86)C\n"
                                            "end\n"
                                            "and more\n");
    assert_text(message->text, "see the file\nbegin 644 of nothing\nand more\n");
    assert_int_equal(message->part_count, 3);
    assert_text(message->parts[1].name, "Hello There.EXE");
    assert_text(message->parts[1].extension, "exe");
    assert_int_equal(message->parts[1].size, 5);
    assert_int_equal(message->parts[1].digest[0], 0x2c); /* SHA-256 of "hello" */
    assert_text(message->parts[2].name, "second.txt");
    assert_int_equal(message->parts[2].digest[0], 0xba); /* of "abc" */

    message = read_text("Content-Transfer-Encoding: X-UUENCODE\n\nbegin 644 a\n#86)C\n`\nend\n");
    assert_text(message->text, "abc");
    message = read_text("Content-Transfer-Encoding: x-uuencode\n\nno file at all\n");
    assert_text(message->text, "no file at all\n");
    message = read_text("Content-Type: application/ms-tnef; name=winmail.dat\n\nx");
    assert_text(message->parts[0].name, "winmail.dat");
}

/* Blanks may be missing at the end of a line, so a file can be longer than its lines are. */
static void a_file_may_be_longer_than_its_lines(void **state_unused)
{
    (void)state_unused;
    enum { LINES = 300000 };
    static const char head[] = "Subject: x\n\nbegin 644 a\n", tail[] = "`\nend\n";
    char *raw = malloc(sizeof head + 2 * LINES + sizeof tail), *at = raw;
    assert_non_null(raw);
    at = mempcpy(at, head, sizeof head - 1);
    for (int i = 0; i < LINES; i++)
        at = mempcpy(at, "#\n", 2); /* three bytes, of which none is there */
    at = mempcpy(at, tail, sizeof tail - 1);
    twin_message_reader *fresh; /* whose buffers have no room that is left over */
    const twin_message *message;
    assert_int_equal(twin_message_reader_create(&fresh, (twin_message_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_message_read(&message, fresh, (twin_text){ raw, (size_t)(at - raw) }), TWIN_OK);
    assert_int_equal(message->part_count, 2);
    assert_int_equal(message->parts[1].size, 3 * LINES);
    twin_message_reader_free(fresh);
    free(raw);
}

static void lines_are_joined_where_a_blank_says_so(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text("Content-Type: text/plain; format=flowed; delsp=YES\n\n"
                                            "one wo \nrd, two  \r\n words\nthree\n ");
    assert_text(message->text, "one word, two words\nthree\n ");
    message = read_text("Content-Type: text/plain; format=flowed\n\none \ntwo\n");
    assert_text(message->text, "one \ntwo\n");
}

/* ---- structure */

static void a_multipart_that_lacks_its_boundary_is_text(void **state_unused)
{
    (void)state_unused;
    const twin_message *message =
        read_text("Content-Type: multipart/mixed; boundary=one\n\n--other\n\nhello\n--other--\n");
    assert_int_equal(message->part_count, 1);
    assert_non_null(memmem(message->text.bytes, message->text.length, "hello", 5));
    assert_int_equal(message->flags, TWIN_MESSAGE_MALFORMED);
    message = read_text("Content-Type: multipart/mixed\n\nhello\n");
    assert_text(message->text, "hello\n");
    assert_int_equal(message->flags, TWIN_MESSAGE_MALFORMED);
}

static void open_multiparts_end_with_those_around_them(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text("Content-Type: multipart/mixed; boundary=a\n\n"
                                            "--a\nContent-Type: multipart/mixed; boundary=b\n\n"
                                            "--b\n\none\n"
                                            "--a\n\ntwo\n"); /* neither is closed */
    assert_int_equal(message->part_count, 2);
    assert_text(message->parts[0].text, "one");
    assert_text(message->parts[1].text, "two\n");
}

static void messages_in_messages_are_read(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text("Content-Type: multipart/digest; boundary=a\n\n"
                                            "--a\n\nSubject: inner\nContent-Type: text/html\n\n<b>one</b>\n"
                                            "--a\nContent-Type: text/plain\n\ntwo\n"
                                            "--a--\n");
    assert_int_equal(message->part_count, 2);
    assert_text(message->parts[0].text, "one");
    assert_text(message->parts[1].text, "two");
    assert_text(message->subject, "");
}

static void what_is_not_a_header_begins_the_body(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text("just some text\nand more\n");
    assert_int_equal(message->flags, TWIN_MESSAGE_NO_HEADERS);
    assert_text(message->text, "just some text\nand more\n");
    message = read_text("Subject: x\nno header\ntext\n");
    assert_int_equal(message->flags, TWIN_MESSAGE_MALFORMED);
    assert_text(message->text, "no header\ntext\n");
    message = read_text("");
    assert_int_equal(message->flags, 0);
    assert_int_equal(message->raw.length, 0);
    message = read_bytes(NULL, 0);
    assert_int_equal(message->text.length, 0);
    message = read_text("Subject: only\r\n");
    assert_text(message->subject, "only");
}

/* ---- text */

static void character_sets_are_undone(void **state_unused)
{
    (void)state_unused;
    const struct {
        const char *type, *body, *wanted;
        bool bad;
    } cases[] = {
        { "; charset=iso-8859-1", "caf\xe9", "café", false },
        { "; charset=windows-1251", "\xef\xf0\xe8", "при", false },
        { "; charset=shift_jis", "\x93\xfa\x96\x7b", "日本", false },
        { "; charset=iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本", false },
        { "; charset=gb2312", "\xc4\xe3\xba\xc3", "你好", false },
        { "; charset=utf-7", "caf+AOk-", "café", false },
        { "; charset=us-ascii", "caf\xe9", "café", true },
        { "; charset=iso-8859-1", "caf\xc3\xa9", "café", false }, /* UTF-8 under a wrong name */
        { "; charset=no-such-set", "caf\xe9", "café", true },
        { "", "caf\xe9", "café", false },
        { "; charset=utf-8", "caf\xe9!", "café!", true },               /* it never was UTF-8 */
        { "; charset=utf-8", "caf\xe9 \xc3\xa9", "caf\uFFFD é", true }, /* it was, once */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "Content-Type: text/plain%s\n\n%s", cases[i].type, cases[i].body);
        const twin_message *message = read_text(text);
        assert_text(message->text, cases[i].wanted);
        assert_int_equal((message->flags & TWIN_MESSAGE_BAD_CHARSET) != 0, cases[i].bad);
    }
}

static void amp_pages_are_html(void **state_unused)
{
    (void)state_unused;
    assert_text(read_text("Content-Type: text/x-amp-html\n\n<p>to<b></b>day")->text, "today");
}

static void pages_may_name_their_character_set(void **state_unused)
{
    (void)state_unused;
    assert_text(read_text("Content-Type: text/html\n\n<META charset=koi8-r><p>\xf0\xd2\xc9\xd7\xc5\xd4")->text,
                "Привет");
    assert_text(read_text("Content-Type: text/html\n\n<meta name=a><meta http-equiv='Content-Type' "
                          "content='text/html; charset=Windows-1251'>\xcf\xf0\xe8")
                    ->text,
                "При");
    /* the header wins, and what cannot be */
    assert_text(read_text("Content-Type: text/html; charset=iso-8859-1\n\n<meta charset=koi8-r>\xe9")->text, "é");
    assert_text(read_text("Content-Type: text/html\n\n<meta charset=utf-16><meta charset=koi8-r>\xe9")->text, "é");
    assert_text(read_text("Content-Type: text/html\n\n<meta charset=>\xe9")->text, "é");
    assert_text(read_text("Content-Type: text/html\n\n<meta charset")->text, "");
}

static void hosts_are_found(void **state_unused)
{
    (void)state_unused;
    const twin_message *message = read_text(
        "Subject: x\n\nHTTP://WWW.Example.COM/a https://user:pass@host.example.co.uk:8080/?q "
        "www.example.net, mailto:x@y.example http://192.0.2.7/ http://[::1]/ http://xn--bcher-kva.example.de. "
        "http://h%6Fst.ex%61mple.org/ http://3221225993/ http://0xC0.0.02.9/ http://1a.example.fr/");
    static const char *const wanted[][2] = {
        { "www.example.com", "example.com" },  { "host.example.co.uk", "example.co.uk" },
        { "192.0.2.7", "192.0.2.7" },          { "xn--bcher-kva.example.de", "example.de" },
        { "host.example.org", "example.org" }, { "192.0.2.9", "192.0.2.9" },
        { "1a.example.fr", "example.fr" },     { "www.example.net", "example.net" },
    };
    assert_int_equal(message->link_count, sizeof wanted / sizeof wanted[0]);
    for (size_t i = 0; i < message->link_count; i++) {
        assert_text(message->links[i].host, wanted[i][0]);
        assert_text(message->links[i].registered, wanted[i][1]);
    }
}

static void senders_have_their_domains_in_the_form_of_links(void **state_unused)
{
    (void)state_unused;
    static const char *const texts[] = {
        "From: <a@B\u00fccher.example.de>\n\nhttp://b\u00fccher.example.de/\n",
        "From: <a@xn--bcher-kva.example.de.>\n\nhttp://XN--bcher-kva.example.de/\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const twin_message *message = read_text(texts[i]);
        assert_text(message->addresses[0].address, "a@xn--bcher-kva.example.de");
        assert_text(message->addresses[0].domain, "xn--bcher-kva.example.de");
        assert_text(message->addresses[0].registered, "example.de");
        assert_text(message->links[0].host, "xn--bcher-kva.example.de");
    }
}

/* As browsers read them, after WHATWG's rules for URLs. */
static void hosts_cannot_hide_in_spellings(void **state_unused)
{
    (void)state_unused;
    static const char *const cases[][2] = {
        { "http://us&#9;er@EVIL.example/", "evil.example" },
        { " ht&#10;tp://ev&#10;il.example", "evil.example" },
        { "https:\\\\evil.example\\x", "evil.example" },
        { "http:evil.example", "evil.example" },
        { "http:/evil.example/a//b.example", "evil.example" },
        { "HTTP:///evil.example", "evil.example" },
        { "/\\evil.example", "evil.example" },
        { "http&colon;&sol;&sol;evil.example/", "evil.example" },
        { "http://good.example!$&amp;'()*+,;=:x@evil.example/@c.example", "evil.example" },
        { "http://good.example@@evil.example?@c.example", "evil.example" },
        { "http://evil.example#@c.example", "evil.example" },
        { "http://evil.example:80/http://good.example/", "evil.example" },
        { "http://\u0435\u0445\u0430mple.com/", "xn--mple-43d3a6i.com" },
        { "http://XN--MPLE-43D3A6I.com/", "xn--mple-43d3a6i.com" },
        { "http://b\u00fccher.example.de/", "xn--bcher-kva.example.de" },
        { "http://evil\u3002example/", "evil.example" },
        { "http://\uff11\uff19\uff12.0.2.9/", "192.0.2.9" },
        { "http://e%D1%85ample.com/", "xn--eample-bsf.com" },
        { "http://EVIL.%ec.example/", "evil.%ec.example" }, /* no character: nothing is decoded */
        { "ftp://evil.example/", "evil.example" },
        { "mailto:a@evil.example?subject=b@good.example", "evil.example" },
        { "DATA:Text/HTML;base64,PGI+", "data:text/html" }, /* no host, but a trace of what it is */
        { "data:,x", "data:" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "Content-Type: text/html; charset=utf-8\n\n<a href=\"%s\">x</a>", cases[i][0]);
        const twin_message *message = read_text(text);
        if (message->link_count != 1)
            fail_msg("%s: %zu hosts", cases[i][0], message->link_count);
        assert_text(message->links[0].host, cases[i][1]);
    }
    static char cut[2100] = "http://";
    memset(cut + 7, 'u', 1998);
    strcpy(cut + 7 + 1998, "@\u00fc.example/"); /* what is looked at ends within a character */
    assert_int_equal(read_text(cut)->link_count, 0);
    static const char *const none[] = { "x/y", "#a", "javascript:a//b.example", "http:", "//", "cid:a@b" };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "Content-Type: text/html; charset=utf-8\n\n<a href=\"%s\">x</a>", none[i]);
        assert_int_equal(read_text(text)->link_count, 0);
    }
}

static void registered_domains_follow_the_list(void **state_unused)
{
    (void)state_unused;
    static const char *const cases[][2] = {
        { "www.example.com", "example.com" },
        { "example.com", "example.com" },
        { "com", "" },
        { "a.b.example.co.uk", "example.co.uk" },
        { "co.uk", "" },
        { "192.0.2.7", "" },
        { "2001:db8::1", "" },
        { "user.github.io", "user.github.io" },
        { "localhost", "" },
        { "", "" },
        { "..", "" },

    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        twin_text domain = twin__message_registered_domain((twin_text){ cases[i][0], strlen(cases[i][0]) });
        if (domain.length != strlen(cases[i][1]) ||
            strncmp(domain.bytes ? domain.bytes : "", cases[i][1], domain.length) != 0)
            fail_msg("%s: \"%.*s\"", cases[i][0], (int)domain.length, domain.bytes);
    }
}

/* ---- headers */

static void addresses_are_read_as_people_write_them(void **state_unused)
{
    (void)state_unused;
    static const struct {
        const char *value, *address, *name;
    } cases[] = {
        { "ann@example.org", "ann@example.org", "" },
        { "<ann@example.org>", "ann@example.org", "" },
        { "Ann <ann@example.org>", "ann@example.org", "Ann" },
        { "\"Ann, B.\" <ann@example.org>, c@d", "ann@example.org", "Ann, B." },
        { "ann@example.org (Ann B.)", "ann@example.org", "Ann B." },
        { "Ann <ann@example.org", "ann@example.org", "Ann" },
        { "=?utf-8?b?w4RubmU=?= <ann@example.org>", "ann@example.org", "Änne" },
        { "\"ann@example.org\" <other@example.com>", "other@example.com", "ann@example.org" },
        { "undisclosed", "undisclosed", "" },
        { "=?utf-8?q?Bank=2C_=3Ca=40bank.example=3E?= <x@y.example>", "x@y.example", "Bank, <a@bank.example>" },
        { "x@y.example (=?utf-8?q?=3Ca=40bank.example=3E?=)", "x@y.example", "<a@bank.example>" },
        { "\"=?utf-8?q?A=2CB?=\" <x@y.example>", "x@y.example", "A,B" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "From: %s\n\n", cases[i].value);
        const twin_message *message = read_text(text);
        assert_true(message->address_count >= 1);
        assert_text(message->addresses[0].address, cases[i].address);
        assert_text(message->addresses[0].name, cases[i].name);
    }
    assert_int_equal(read_text("From: \nReply-To: <>\n\n")->address_count, 0);
}

static void routes_are_read(void **state_unused)
{
    (void)state_unused;
    static const struct {
        const char *value, *hello, *name, *address;
    } cases[] = {
        { "from a.example (b.example [192.0.2.1]) by c", "a.example", "b.example", "192.0.2.1" },
        { "from [192.0.2.1] (helo=x.example) by c", "x.example", "", "192.0.2.1" },
        { "from y.example ([192.0.2.1] helo=x.example) by c", "x.example", "y.example", "192.0.2.1" },
        { "from a.example ([192.0.2.1]) by c", "a.example", "", "192.0.2.1" },
        { "from a (b [IPv6:2001:db8::1]) by c", "a", "b", "2001:db8::1" },
        { "from A.Example by c with SMTP", "a.example", "", "" },
        { "by c; Mon", "", "", "" },
        { "(qmail 123 invoked)", "", "", "" },
        { "from unknown (HELO x.example) (192.0.2.9) by c", "x.example", "unknown", "192.0.2.9" },
        { "from helo.example (EHLO y) by c", "y", "helo.example", "" },
        { "from a (cafe.bad.de.fe) by c", "a", "cafe.bad.de.fe", "" }, /* names, not addresses */
        { "from a (1234567.1234567.1234567.1) by c", "a", "1234567.1234567.1234567.1", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "Received: %s\n\n", cases[i].value);
        const twin_message *message = read_text(text);
        assert_int_equal(message->hop_count, 1);
        assert_text(message->hops[0].hello, cases[i].hello);
        assert_text(message->hops[0].name, cases[i].name);
        assert_text(message->hops[0].address, cases[i].address);
    }
}

static void headers_of_filters_are_known(void **state_unused)
{
    (void)state_unused;
    static const char *const theirs[] = { "X-Spam-Status",      "x-spam-flag",      "X-Bogosity",
                                          "X-Virus-Scanned",    "X-ASG-Orig-Subj",  "X-Barracuda-URL",
                                          "X-Rc-Spam",          "X-Old-Spam-Flag",  "X-Miltered",
                                          "X-Antivirus-Status", "X-Amavis-Scanned", "X-DSPAM-Result",
                                          "X-CRM114-Status",    "X-PMX-Version",    "X-IronPort-AV",
                                          "X-Twinsift",         "X-DCC-x-Metrics",  "X-Rspamd-Server" };
    static const char *const others[] = { "Subject",
                                          "X-Mailer",
                                          "X-Priority",
                                          "Received",
                                          "X-Original-To",
                                          "List-Id",
                                          "X-",
                                          "",
                                          "Authentication-Results",
                                          "X-Recipient" };
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        if (!twin__message_is_filter_header((twin_text){ theirs[i], strlen(theirs[i]) }))
            fail_msg("%s is not known", theirs[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (twin__message_is_filter_header((twin_text){ others[i], strlen(others[i]) }))
            fail_msg("%s is taken for one", others[i]);
}

/* ---- the reader */

static void nothing_remains_of_the_message_before(void **state_unused)
{
    (void)state_unused;
    const char *text = "From: a@b.example\nSubject: x\nReceived: from a (b [192.0.2.1]) by c\n"
                       "Content-Type: text/html\n\n<a href=http://a.example>x</a><p style=display:none>y";
    const twin_message *message = read_text(text);
    assert_int_equal(message->link_count, 1);
    message = read_text("A: b\n\n");
    assert_int_equal(message->header_count, 1);
    assert_int_equal(message->address_count + message->hop_count + message->link_count, 0);
    assert_int_equal(message->part_count, 1);
    assert_int_equal(message->text.length + message->hidden.length + message->folded.length, 0);
    assert_int_equal(message->subject.length + message->id.length + message->flags, 0);
    assert_true(message->date == INT64_MIN);
}

static void line_ends_make_no_difference(void **state_unused)
{
    (void)state_unused;
    static const char lines[] =
        "From: a@b.example\nSubject: a\n b\nX-Spam-Flag: NO\nContent-Type: multipart/mixed; "
        "boundary=x\n\n--x\n\nplain\r\nwww.c.example\n\n--x\nContent-Type: text/html\n\n<p>html\n--x--\nend";
    char other[2 * sizeof lines], raw[sizeof lines];
    size_t length = 0;
    for (size_t i = 0; lines[i]; i++) {
        if (lines[i] == '\n')
            other[length++] = '\r';
        other[length++] = lines[i];
    }
    other[length] = '\0';
    const twin_message *message = read_text(lines);
    snprintf(raw, sizeof raw, "%.*s", (int)message->raw.length, message->raw.bytes);
    assert_text(message->text, "plain\r\nwww.c.example\n\nhtml");
    message = read_text(other);
    assert_text(message->raw, raw);
    assert_text(message->text, "plain\r\nwww.c.example\n\nhtml");
    assert_int_equal(message->link_count, 1);
}

static void limits_can_be_set(void **state_unused)
{
    (void)state_unused;
    twin_message_reader *small;
    const twin_message *message;
    assert_int_equal(twin_message_reader_create(&small, (twin_message_options){ .max_text = 5, .max_headers = 1 }),
                     TWIN_OK);
    const char *text = "A: 1\nB: 2\nContent-Type: text/plain; charset=utf-8\n\nfourö";
    assert_int_equal(twin_message_read(&message, small, (twin_text){ text, strlen(text) }), TWIN_OK);
    assert_int_equal(message->header_count, 1);
    assert_int_equal(message->flags & ~(uint32_t)TWIN_MESSAGE_BAD_CHARSET,
                     TWIN_MESSAGE_MANY_HEADERS | TWIN_MESSAGE_MUCH_TEXT);
    assert_memory_equal(message->text.bytes, "four", 4);
    twin_message_reader_free(small);
    twin_message_reader_free(NULL);
    assert_int_equal(twin_message_read(NULL, small, (twin_text){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin_message_read(&message, NULL, (twin_text){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin_message_reader_create(NULL, (twin_message_options){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin_message_available(), TWIN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_message_has_headers_and_text),
        cmocka_unit_test(parts_are_decoded),
        cmocka_unit_test(files_before_mime_are_parts),
        cmocka_unit_test(a_file_may_be_longer_than_its_lines),
        cmocka_unit_test(lines_are_joined_where_a_blank_says_so),
        cmocka_unit_test(a_multipart_that_lacks_its_boundary_is_text),
        cmocka_unit_test(open_multiparts_end_with_those_around_them),
        cmocka_unit_test(messages_in_messages_are_read),
        cmocka_unit_test(what_is_not_a_header_begins_the_body),
        cmocka_unit_test(character_sets_are_undone),
        cmocka_unit_test(amp_pages_are_html),
        cmocka_unit_test(pages_may_name_their_character_set),
        cmocka_unit_test(hosts_are_found),
        cmocka_unit_test(senders_have_their_domains_in_the_form_of_links),
        cmocka_unit_test(hosts_cannot_hide_in_spellings),
        cmocka_unit_test(registered_domains_follow_the_list),
        cmocka_unit_test(addresses_are_read_as_people_write_them),
        cmocka_unit_test(routes_are_read),
        cmocka_unit_test(headers_of_filters_are_known),
        cmocka_unit_test(nothing_remains_of_the_message_before),
        cmocka_unit_test(line_ends_make_no_difference),
        cmocka_unit_test(limits_can_be_set),
    };
    return cmocka_run_group_tests(tests, create_reader, free_reader);
}

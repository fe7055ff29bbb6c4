/* test_mail_tricks.c — what spammers do to a message they have sent before, and that it is recognised all the same.
 *
 * A model learns a campaign and good mail as plain text. Each trick is then played on one more message of the
 * campaign. It must be read as the plain one is, where the trick is one of form, and must not be called good in any
 * case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/mail.h>

#include "base/random.h"

enum { ROOM = 65536, LEARNT = 60 };

static twin_message_reader *reader;
static twin_mail *mail;
static const uint64_t key[2] = { 3, 4 };

static const char pitch[] =
    "Buy viagra online today with the best discount for customers of our pharmacy and no doctor "
    "is needed for this order";

static const twin_message *read_text(const char *text)
{
    const twin_message *message;
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ text, strlen(text) }), TWIN_OK);
    return message;
}

static const char *const good_words[] = {
    "meeting", "report",  "patch", "review",  "tuesday", "budget",   "kernel",
    "lunch",   "minutes", "draft", "version", "thanks",  "attached", "regards"
};

/* Some words of good mail. */
static void write_good(char *out, size_t room, uint64_t seed, int words)
{
    size_t n = 0;
    for (int i = 0; i < words && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, "%s ", good_words[twin__random_next(&seed) % 14]);
}

static void learn(const char *text, const char *label)
{
    assert_int_equal(twin_mail_learn(NULL, mail, read_text(text), label, 1, NULL), TWIN_OK);
}

static int create(void **unused)
{
    (void)unused;
    static char text[ROOM], words[2048];
    if (twin_message_reader_create(&reader, (twin_message_options){ 0 }) != TWIN_OK ||
        twin_mail_create_in_memory(&mail, (twin_mail_options){ .key = key }) != TWIN_OK)
        return 1;
    for (int i = 0; i < LEARNT; i++) {
        snprintf(text, sizeof text,
                 "From: sales%d@bulk%d.example\nTo: you@example.net\nSubject: offer %d\nMessage-ID: <%d@bulk>\n\n%s "
                 "http://shop%d.pills.example/%d\n",
                 i, i, i, i, pitch, i, i);
        learn(text, "spam");
        write_good(words, sizeof words, (uint64_t)i, 40);
        snprintf(text, sizeof text,
                 "From: ann%d@work.example\nTo: you@example.net\nSubject: work %d\nMessage-ID: <%d@work>\n\n%s\n",
                 i % 5, i, i, words);
        learn(text, "ham");
    }
    return 0;
}

static int destroy(void **unused)
{
    (void)unused;
    twin_mail_close(mail);
    twin_message_reader_free(reader);
    return 0;
}

/* A message from a new sender with this body, which may begin with headers. */
static const twin_message *spam_of(const char *rest)
{
    static char text[ROOM];
    snprintf(text, sizeof text, "From: new@fresh.example\nTo: you@example.net\nSubject: offer\n%s", rest);
    return read_text(text);
}

static void assert_not_good(const twin_message *message)
{
    twin_mail_verdict verdict;
    assert_int_equal(twin_mail_check(&verdict, mail, message, (twin_mail_check_options){ 0 }, NULL), TWIN_OK);
    if (verdict.log_odds <= 0)
        print_message("log odds %g: content %g, lookalike %g\n", verdict.log_odds, verdict.evidence[0].content,
                      verdict.evidence[0].lookalike);
    assert_true(verdict.log_odds > 0);
    assert_true(!verdict.label || strcmp(verdict.label, "ham") != 0);
}

/* It is read as the plain text is, and not called good. */
static void assert_seen(const char *rest)
{
    const twin_message *message = spam_of(rest);
    static char folded[ROOM];
    snprintf(folded, sizeof folded, "%.*s", (int)message->folded.length, message->folded.bytes);
    if (!strstr(folded, "buy viagra online today with the best discount"))
        print_message("read as: %s\n", folded);
    assert_non_null(strstr(folded, "buy viagra online today with the best discount"));
    assert_not_good(message);
}

static void write_base64(char *out, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < length ? (unsigned char)text[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            *out++ = i + k > length ? '=' : digits[bits >> (18 - 6 * k) & 63];
    }
    *out = 0;
}

static void encodings_and_nesting(void **unused)
{
    (void)unused;
    static char coded[2048], text[8192];
    write_base64(coded, pitch);
    snprintf(text, sizeof text, "Content-Transfer-Encoding: base64\n\n%s\n", coded);
    assert_seen(text);
    snprintf(text, sizeof text,
             "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/related; boundary=b\n\n--b\n"
             "Content-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: base64\n\n%s\n--b--\n--a--\n",
             coded);
    assert_seen(text);
    assert_seen(
        "Content-Transfer-Encoding: quoted-printable\n\nBuy v=69agra on=\nline today with the best disc=6Funt for "
        "customers of our pharmacy\n");
    /* a rare character set */
    snprintf(
        text, sizeof text,
        "Content-Type: text/plain; charset=utf-7\n\nBuy viagra online +AHQAbwBkAGEAeQ- with the best discount\n");
    assert_seen(text);
}

static void a_harmless_alternative(void **unused)
{
    (void)unused;
    static char text[8192];
    snprintf(text, sizeof text,
             "Content-Type: multipart/alternative; boundary=a\n\n--a\nContent-Type: text/plain\n\nThanks for the "
             "report, see "
             "you on tuesday.\n--a\nContent-Type: text/html\n\n<p>%s</p>\n--a--\n",
             pitch);
    assert_seen(text);
}

static void invisible_characters(void **unused)
{
    (void)unused;
    /* zero width space, soft hyphen, word joiner, byte order mark, Hangul filler */
    assert_seen("Content-Type: text/plain; charset=utf-8\n\nBuy vi\xE2\x80\x8B"
                "ag\xC2\xADra on\xE2\x81\xA0line to\xEF\xBB\xBF"
                "day with the b\xE3\x85\xA4"
                "est discount for customers of our pharmacy\n");
}

static void letters_that_look_alike(void **unused)
{
    (void)unused;
    /* Cyrillic а, mathematical bold, full width, an accent */
    assert_seen("Content-Type: text/plain; charset=utf-8\n\nBuy vi\xD0\xB0gr\xD0\xB0 "
                "\xF0\x9D\x90\xA8\xF0\x9D\x90\xA7\xF0\x9D\x90\xA5"
                "\xF0\x9D\x90\xA2\xF0\x9D\x90\xA7\xF0\x9D\x90\x9E "
                "\xEF\xBD\x94\xEF\xBD\x8F\xEF\xBD\x84\xEF\xBD\x81\xEF\xBD\x99 with "
                "the best discount for customers of our pharmacy\n");
}

static void words_divided_by_tags_and_hidden_text(void **unused)
{
    (void)unused;
    assert_seen("Content-Type: text/html\n\nBuy via<b></b>gra on<!-- x -->line to<i>day</i> with the best "
                "disc<span></span>ount "
                "for customers of our pharmacy\n");
    assert_seen("Content-Type: text/html\n\nBuy via<span style=\"display:none\">meeting</span>gra on<span "
                "style=\"font-size:0\">report</span>line today with the best <font color=white>kernel patch "
                "review</font>discount for "
                "customers of our pharmacy\n");
}

static void text_that_looks_like_something_else(void **unused)
{
    (void)unused;
    /* a comment that is none, references by name, letters from right to left */
    assert_seen("Content-Type: text/html\n\n<title><!--</title>Buy vi&ZeroWidthSpace;agra &oopf;nline today with the "
                "best discount for customers of our pharmacy<!-- -->\n");
    assert_seen("Content-Type: text/plain; charset=utf-8\n\nBuy \xE2\x80\xAE"
                "argaiv\xE2\x80\xAC online \xE2\x80\xAEtseb eht htiw yadot\xE2\x80\xAC discount for customers of our "
                "pharmacy\n");
    /* letters of other scripts are in this order anyway */
    const twin_message *message =
        spam_of("Content-Type: text/plain; charset=utf-8\n\n\xE2\x80\xAE\xD7\x90\xD7\x91\n");
    assert_non_null(memmem(message->folded.bytes, message->folded.length, "\xD7\x90\xD7\x91", 4));
}

static twin_mail_verdict judge(const twin_message *message)
{
    twin_mail_verdict verdict;
    assert_int_equal(twin_mail_check(&verdict, mail, message, (twin_mail_check_options){ 0 }, NULL), TWIN_OK);
    return verdict;
}

/* Words that nobody sees do not count, in whatever form they are in the bytes. */
static void hidden_words_of_good_mail(void **unused)
{
    (void)unused;
    static char text[16384], words[8192];
    write_good(words, sizeof words, 5, 200);
    snprintf(text, sizeof text, "Content-Type: text/html\n\n<p>%s</p>\n", pitch);
    double shown = judge(spam_of(text)).log_odds;
    snprintf(text, sizeof text, "Content-Type: text/html\n\n<div style='display:none'>%s</div><p>%s</p>\n", words,
             pitch);
    assert_seen(text);
    assert_true(judge(spam_of(text)).log_odds > 0.8 * shown);
    snprintf(text, sizeof text, "Content-Type: text/html\n\n<p>%s %s</p>\n", words, pitch);
    assert_true(judge(spam_of(text)).log_odds < 0.5 * shown); /* they would count if they were seen */
}

/* Signatures are new in every message: with and without them a message is the same. */
static void signatures_are_not_looked_at(void **unused)
{
    (void)unused;
    static char text[16384], rest[8192];
    static const char *const names[] = { "DKIM-Signature", "ARC-Seal", "arc-message-signature",
                                         "X-Google-DKIM-Signature" };
    snprintf(rest, sizeof rest, "\n%s http://shop1.pills.example/1\n", pitch);
    twin_mail_verdict plain = judge(spam_of(rest));
    size_t n = 0;
    uint64_t state = 9;
    for (int i = 0; i < 4; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s: v=1; a=rsa-sha256; d=fresh.example;\n\tb=", names[i]);
        for (int k = 0; k < 20; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%016llx%s",
                                  (unsigned long long)twin__random_next(&state), k % 4 == 3 ? "\n\t" : "+");
        n += (size_t)snprintf(text + n, sizeof text - n, "z\n");
    }
    snprintf(text + n, sizeof text - n, "%s", rest);
    twin_mail_verdict verdict = judge(spam_of(text));
    assert_true(verdict.log_odds > 0.9 * plain.log_odds);
    assert_true(verdict.evidence[0].nearest.similarity > plain.evidence[0].nearest.similarity - 0.2);
}

static void letters_with_punctuation_and_digits(void **unused)
{
    (void)unused;
    /* The words are gone; what is left, windows of four bytes and the other words, must do. */
    assert_not_good(
        spam_of("\nBuy v.i.a.g.r.a 0nline t0day with the b3st d1scount for customers of our ph@rmacy and no "
                "doctor is needed for this order\n"));
}

static void random_words_and_numbers_at_the_end(void **unused)
{
    (void)unused;
    static char text[8192];
    snprintf(text, sizeof text, "\n%s\nxqzvt jkwpl 8841-2231 grumblefitz 77120 oktl wrtz ticket #55182\n", pitch);
    assert_seen(text);
}

static void links_that_change(void **unused)
{
    (void)unused;
    static char text[8192];
    snprintf(text, sizeof text, "\n%s http://x81.another.example/q?id=7\n", pitch);
    assert_seen(text);
    const twin_message *message = spam_of("\nhttp://a.b.pills.example/1 http://www.pills.example/2\n");
    assert_int_equal(message->link_count, 2);
    for (size_t i = 0; i < message->link_count; i++)
        assert_memory_equal(message->links[i].registered.bytes, "pills.example", 13);
}

static void padding_with_good_words(void **unused)
{
    (void)unused;
    static char text[8192], words[2048];
    write_good(words, sizeof words, 99, 12); /* half as many as the pitch has */
    snprintf(text, sizeof text, "\n%s\n%s\n", pitch, words);
    assert_seen(text);
}

/* A picture that was sent before is known by its digest, whatever it is called. */
static void only_a_picture(void **unused)
{
    (void)unused;
    static char text[2][1024];
    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof text[i],
                 "From: p%d@fresh.example\nSubject: hello\nContent-Type: multipart/mixed; "
                 "boundary=a\n\n--a\nContent-Type: "
                 "image/gif; name=\"x%d.gif\"\nContent-Transfer-Encoding: "
                 "base64\n\nR0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=\n--a--\n",
                 i, i);
    unsigned char digest[16];
    const twin_message *message = read_text(text[0]);
    assert_int_equal(message->part_count, 1);
    memcpy(digest, message->parts[0].digest, sizeof digest);
    message = read_text(text[1]);
    assert_memory_equal(digest, message->parts[0].digest, sizeof digest);
}

static void short_messages_are_not_condemned(void **unused)
{
    (void)unused;
    static const char *const texts[] = { "", "Ok", "Thank you", "Done.", "see you on tuesday" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[256];
        twin_mail_verdict verdict;
        snprintf(text, sizeof text, "From: bob@home.example\nTo: you@example.net\nSubject: Re: work\n\n%s\n",
                 texts[i]);
        assert_int_equal(twin_mail_check(&verdict, mail, read_text(text), (twin_mail_check_options){ 0 }, NULL),
                         TWIN_OK);
        assert_true(!verdict.label || strcmp(verdict.label, "spam") != 0);
    }
}

/* Where most mail is spam, what is in every message speaks for spam, and there is little else in a short one. */
static void short_messages_among_much_spam(void **unused)
{
    (void)unused;
    static char text[ROOM], words[2048];
    twin_mail *balanced = mail;
    uint64_t state = 1;
    static const char mailer[] = "X-Mailer: Quick Mail 7.0\nX-Priority: 3\nX-MSMail-Priority: Normal\n";
    assert_int_equal(twin_mail_create_in_memory(&mail, (twin_mail_options){ .key = key }), TWIN_OK);
    for (int i = 0; i < 400; i++) {
        bool good = i % 4 == 0;
        if (good)
            write_good(words, sizeof words, (uint64_t)i, 40);
        else
            snprintf(words, sizeof words, "%s%s %016llx http://shop%d.example/", pitch, i % 3 ? "" : pitch,
                     (unsigned long long)twin__random_next(&state), i);
        snprintf(text, sizeof text,
                 "%sFrom: %s%d@%s\nTo: you@example.net\nSubject: a subject\nMessage-ID: <%d@x>\nMIME-Version: "
                 "1.0\nContent-Type: text/plain\n\n%s\n",
                 good ? "" : mailer, good ? "ann" : "sales", good ? 1 : i, good ? "work.example" : "bulk.example", i,
                 words);
        learn(text, good ? "ham" : "spam");
    }
    static char short_one[1024];
    snprintf(short_one, sizeof short_one,
             "%sFrom: bob@home.example\nTo: you@example.net\nSubject: a subject\nMessage-ID: <y@x>\nMIME-Version: "
             "1.0\nContent-Type: text/plain\n\nThank you, and see you soon.\n",
             mailer);
    twin_mail_verdict verdict = judge(read_text(short_one));
    assert_true(!verdict.label || strcmp(verdict.label, "spam") != 0);
    learn(short_one, "spam"); /* but it may be spam */
    snprintf(text, sizeof text, "%s\n", short_one);
    assert_string_equal(judge(read_text(text)).label, "spam");
    twin_mail_close(mail);
    mail = balanced;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodings_and_nesting),
        cmocka_unit_test(a_harmless_alternative),
        cmocka_unit_test(invisible_characters),
        cmocka_unit_test(letters_that_look_alike),
        cmocka_unit_test(words_divided_by_tags_and_hidden_text),
        cmocka_unit_test(text_that_looks_like_something_else),
        cmocka_unit_test(hidden_words_of_good_mail),
        cmocka_unit_test(signatures_are_not_looked_at),
        cmocka_unit_test(letters_with_punctuation_and_digits),
        cmocka_unit_test(random_words_and_numbers_at_the_end),
        cmocka_unit_test(links_that_change),
        cmocka_unit_test(padding_with_good_words),
        cmocka_unit_test(only_a_picture),
        cmocka_unit_test(short_messages_are_not_condemned),
        cmocka_unit_test(short_messages_among_much_spam),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}

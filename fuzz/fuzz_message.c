/* fuzz_message.c — any bytes are a message.
 *
 * What is read is valid UTF-8, within the limits, and the same whatever was read before. A message that is passed on
 * has the same body. */
#include <stdlib.h>
#include <string.h>

#include <twinsift/mail.h>
#include <twinsift/message.h>
#include <twinsift/text.h>

#include "mail/message_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static twin_buffer scratch;

static void require_text(twin_text text)
{
    uint64_t replaced = 0;
    require(twin_text_normalise(&scratch, &replaced, text, TWIN_NORMAL_CHECK) == TWIN_OK && replaced == 0);
}

static void require_within(twin_text part, twin_text whole)
{
    require(part.length == 0 ||
            (part.bytes >= whole.bytes && part.bytes + part.length <= whole.bytes + whole.length));
}

static void check_lists(const twin_message *message)
{
    for (size_t i = 0; i < message->header_count; i++) {
        require_text(message->headers[i].name);
        require_text(message->headers[i].value);
        require(!twin__message_is_filter_header(message->headers[i].name));
    }
    for (size_t i = 0; i < message->address_count; i++) {
        require_text(message->addresses[i].address);
        require_text(message->addresses[i].name);
        require_text(message->addresses[i].domain);
        require_within(message->addresses[i].registered, message->addresses[i].domain);
    }
    for (size_t i = 0; i < message->hop_count; i++) {
        require_text(message->hops[i].hello);
        require_text(message->hops[i].name);
        require_text(message->hops[i].address);
    }
    for (size_t i = 0; i < message->link_count; i++) {
        require_text(message->links[i].host);
        require_within(message->links[i].registered, message->links[i].host);
        require(message->links[i].host.length > 0 && message->links[i].count > 0);
    }
    for (size_t i = 0; i < message->part_count; i++) {
        const twin_message_part *part = &message->parts[i];
        require_text(part->type);
        require_text(part->charset);
        require_text(part->encoding);
        require_text(part->name);
        require_text(part->extension);
        require_within(part->text, message->text);
    }
}

static void check(const twin_message *message, size_t size, twin_message_options limits)
{
    require(message->raw.length <= size && message->header_length <= message->raw.length);
    require(message->header_count <= limits.max_headers && message->part_count <= limits.max_parts);
    require(message->link_count <= limits.max_links);
    require(message->text.length <= limits.max_text && message->hidden.length <= limits.max_text);
    require_text(message->text);
    require_text(message->hidden);
    require_text(message->folded);
    require_text(message->subject);
    require_text(message->id);
    check_lists(message);
}

static bool same(twin_text a, twin_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* A model gives any message a verdict, learns it, and then knows it. */
static void judge(const twin_message *message, bool spam)
{
    static twin_mail *mail; /* has learnt all inputs before this one */
    const uint64_t key[2] = { 1, 2 };
    const twin_mail_check_options options = { 0 };
    const char *label = spam ? "spam" : "ham";
    twin_mail_verdict verdict;
    if (!mail)
        require(twin_mail_create_in_memory(&mail, (twin_mail_options){ .keep_messages = 100, .key = key }) ==
                TWIN_OK);
    require(twin_mail_check(&verdict, mail, message, options, NULL) == TWIN_OK);
    require(verdict.score >= 0 && verdict.score <= 1);
    require(twin_mail_learn(NULL, mail, message, label, 1, NULL) == TWIN_OK);
    require(twin_mail_check(&verdict, mail, message, options, NULL) == TWIN_OK);
    require(verdict.label && strcmp(verdict.label, label) == 0);
}

/* What is passed on as it is. Behind a line that is no header forged headers are removed, up to the first empty
 * line. */
static twin_text untouched(const twin_message *message)
{
    const char *begin = message->raw.bytes + message->header_length, *end = message->raw.bytes + message->raw.length;
    if (message->flags & TWIN_MESSAGE_MALFORMED && !(message->flags & TWIN_MESSAGE_NO_HEADERS)) {
        const char *empty = memmem(begin, (size_t)(end - begin), "\n\n", 2);
        begin = empty ? empty : end;
    }
    return (twin_text){ begin, (size_t)(end - begin) };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const twin_message_options usual = { .max_bytes = 4 << 20,
                                                .max_headers = 1000,
                                                .max_parts = 200,
                                                .max_text = 1 << 20,
                                                .max_links = 1000 },
                                      small = { .max_bytes = 300,
                                                .max_headers = 3,
                                                .max_parts = 3,
                                                .max_text = 30,
                                                .max_links = 2 };
    static twin_message_reader *used; /* has read all inputs before this one */
    twin_message_reader *fresh, *narrow;
    const twin_message *message, *again;
    twin_text raw = { (const char *)data, size };
    if (!used)
        require(twin_message_reader_create(&used, (twin_message_options){ 0 }) == TWIN_OK);
    require(twin_message_reader_create(&fresh, usual) == TWIN_OK);
    require(twin_message_reader_create(&narrow, small) == TWIN_OK);

    require(twin_message_read(&message, narrow, raw) == TWIN_OK);
    check(message, size, small);
    require(twin_message_read(&message, used, raw) == TWIN_OK);
    check(message, size, usual);
    require(twin_message_read(&again, fresh, raw) == TWIN_OK);
    require(same(message->text, again->text) && same(message->folded, again->folded) &&
            same(message->hidden, again->hidden) && same(message->raw, again->raw) &&
            message->flags == again->flags && message->link_count == again->link_count);

    judge(message, size % 2);

    twin_buffer passed = { 0 };
    twin_message_header added = { { "X-Twinsift", 10 }, { "spam", 4 } };
    require(twin_message_pass(&passed, raw, &added, 1) == TWIN_OK);
    twin_text body = untouched(message);
    if (size <= usual.max_bytes && !memmem(data, size, "\r\n", 2)) /* these are read as others */
        require(passed.length >= body.length &&
                same((twin_text){ passed.bytes + passed.length - body.length, body.length }, body));
    twin_buffer_clear(&passed);
    twin_message_reader_free(fresh);
    twin_message_reader_free(narrow);
    return 0;
}

/* hops.c — Received headers: "from HELLO (NAME [ADDRESS]) by …", as most programs write them; qmail and Exim write
 * "from NAME (HELO HELLO) (ADDRESS)" and "from NAME ([ADDRESS] helo=HELLO)". */
#include <string.h>

#include "base/array.h"
#include "mail/fields.h"
#include "mail/message_private.h"

enum { MAX_HOPS = 64, MAX_NAME = 255 };

static bool is_name_byte(char c)
{
    return twin__is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' || c == ':';
}

/* The word of name bytes at the start of the text. */
static twin_text name_at(twin_text text)
{
    size_t length = 0;
    while (length < text.length && length < MAX_NAME && is_name_byte(text.bytes[length]))
        length++;
    return (twin_text){ text.bytes, length };
}

static twin_text after(twin_text text, const char *at)
{
    return (twin_text){ at, (size_t)(text.bytes + text.length - at) };
}

static bool is_address(twin_text word)
{
    size_t dots = 0, colons = 0, digits = 0, letters = 0;
    for (size_t i = 0; i < word.length; i++) {
        char c = word.bytes[i];
        dots += c == '.';
        colons += c == ':';
        digits += c >= '0' && c <= '9';
        letters += (c < '0' || c > '9') && twin__hex_digit(c) >= 0;
    }
    if (dots + colons + digits + letters < word.length)
        return false;
    bool is_v4 = dots == 3 && colons + letters == 0 && word.length >= 7 && word.length <= 15;
    return is_v4 || colons >= 2;
}

/* The address in brackets: "[192.0.2.1]", "[IPv6:2001:db8::1]"; some write "(192.0.2.1)". */
static twin_text find_address(twin_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if (c != '[' && c != '(' && c != ' ')
            continue;
        twin_text word = name_at(after(text, text.bytes + i + 1));
        if (word.length > 5 && twin__is_named((twin_text){ word.bytes, 5 }, "ipv6:"))
            word = (twin_text){ word.bytes + 5, word.length - 5 };
        if (is_address(word))
            return word;
    }
    return (twin_text){ 0 };
}

/* The name after "HELO " or "helo=" in a comment; empty if there is none. */
static twin_text find_hello(twin_text text)
{
    for (size_t i = 1; i + 5 < text.length; i++) {
        twin_text word = { text.bytes + i, 4 };
        char before = text.bytes[i - 1], behind = text.bytes[i + 4];
        if ((before == '(' || before == ' ') && (behind == ' ' || behind == '=') &&
            (twin__is_named(word, "helo") || twin__is_named(word, "ehlo")))
            return name_at(after(text, text.bytes + i + 5));
    }
    return (twin_text){ 0 };
}

/* The words of "from …" end where "by …" begins. */
static twin_text from_clause(twin_text value)
{
    if (value.length < 5 || !twin__is_named((twin_text){ value.bytes, 5 }, "from "))
        return (twin_text){ 0 };
    twin_text clause = twin__trim(after(value, value.bytes + 5));
    const char *by = memmem(clause.bytes, clause.length, " by ", 4);
    if (by)
        clause.length = (size_t)(by - clause.bytes);
    return clause;
}

twin_status twin__message_add_hop(twin_message_reader *reader, twin_text value)
{
    size_t count = reader->message.hop_count;
    if (count == MAX_HOPS)
        return TWIN_OK;
    if (!TWIN__ARRAY_GROW(&reader->hops, &reader->hop_capacity, count, 1))
        return TWIN_ENOMEM;
    twin_message_hop *hop = &reader->hops[reader->message.hop_count++];
    *hop = (twin_message_hop){ 0 };
    twin_text clause = from_clause(value);
    if (clause.length == 0)
        return TWIN_OK;
    bool in_brackets = clause.bytes[0] == '[';
    twin_text hello = name_at(after(clause, clause.bytes + in_brackets));
    const char *open = memchr(clause.bytes, '(', clause.length);
    twin_text name = open ? name_at(after(clause, open + 1)) : (twin_text){ 0 };
    twin_text said = find_hello(clause);
    if (said.length > 0) {
        name = hello;
        hello = said;
    }
    if (is_address(name))
        name.length = 0;
    twin_status status = twin__message_lower(&hop->hello, &reader->arena, hello);
    if (status == TWIN_OK)
        status = twin__message_lower(&hop->name, &reader->arena, name);
    if (status == TWIN_OK)
        status = twin__message_lower(&hop->address, &reader->arena, find_address(clause));
    return status;
}

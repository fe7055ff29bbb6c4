/* addresses.c — who sent a message: the addresses of From, Reply-To, Return-Path and Sender.
 *
 * Written for what mail contains rather than for the grammar of RFC 5322: an address is what stands between angle
 * brackets, or a word with an '@'; a display name is what stands before the brackets, without its quotation marks and
 * comments. Encoded words are decoded when all is divided, so that an encoded comma or bracket divides nothing. Whatever
 * the value is, it takes one pass. */
#include <string.h>

#include "base/array.h"
#include "mail/domain.h"
#include "mail/fields.h"
#include "mail/message_private.h"
#include "mail/mime.h"

enum { MAX_ADDRESSES = 32, MAX_ADDRESS_BYTES = 320 };

/* The end of the mailbox that begins at `at`: the next comma outside quotation marks, brackets and comments. */
static const char *mailbox_end(const char *at, const char *end)
{
    bool quoted = false, angle = false;
    int comments = 0;
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (*at == '"' && !comments)
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (*at == '(')
            comments++;
        else if (*at == ')' && comments)
            comments--;
        else if (*at == '<')
            angle = true;
        else if (*at == '>')
            angle = false;
        else if (*at == ',' && !angle && !comments)
            return at;
    }
    return end;
}

static bool is_name_noise(char c)
{
    return c == '"' || c == '\'' || c == ' ' || c == '\t' || c == '(' || c == ')' || c == ':' || c == ';';
}

static twin_text trim_name(twin_text name)
{
    while (name.length > 0 && is_name_noise(name.bytes[0])) {
        name.bytes++;
        name.length--;
    }
    while (name.length > 0 && is_name_noise(name.bytes[name.length - 1]))
        name.length--;
    return name;
}

/* Splits a mailbox without angle brackets: "user@host (Name)". */
static void split_plain(twin_text *address, twin_text *name, twin_text box)
{
    const char *end = box.bytes + box.length;
    const char *at = memchr(box.bytes, '@', box.length);
    const char *begin = at ? at : box.bytes, *stop = begin;
    while (begin > box.bytes && !is_name_noise(begin[-1]))
        begin--;
    while (stop < end && !is_name_noise(*stop))
        stop++;
    *address = (twin_text){ begin, (size_t)(stop - begin) };
    const char *open = memchr(box.bytes, '(', box.length);
    *name = open ? (twin_text){ open, (size_t)(end - open) } : (twin_text){ 0 };
}

bool twin__message_names_sender(twin_message_role *role, twin_text name)
{
    static const char *const names[] = {
        [TWIN_MESSAGE_FROM] = "from",
        [TWIN_MESSAGE_REPLY_TO] = "reply-to",
        [TWIN_MESSAGE_RETURN_PATH] = "return-path",
        [TWIN_MESSAGE_SENDER] = "sender",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (name.length > 0 && twin__lower(name.bytes[0]) == names[i][0] && twin__is_named(name, names[i])) {
            *role = (twin_message_role)i;
            return true;
        }
    return false;
}

/* Replaces the text by what it reads if it has encoded words or is not ASCII. */
static twin_status decode(twin_text *text, twin_message_reader *reader)
{
    bool needs_decoding = text->length > 1 && memmem(text->bytes, text->length, "=?", 2);
    for (size_t i = 0; i < text->length && !needs_decoding; i++)
        needs_decoding = (unsigned char)text->bytes[i] >= 0x80;
    if (!needs_decoding)
        return TWIN_OK;
    twin_status status = twin__arena_copy(text, &reader->arena, *text);
    reader->decoded.length = 0;
    if (status == TWIN_OK)
        status = twin__mime_decode_words(&reader->decoded, reader->mime, text->bytes);
    if (status == TWIN_OK)
        status = twin__arena_copy(text, &reader->arena, (twin_text){ reader->decoded.bytes, reader->decoded.length });
    return status;
}

/* The domain of an address, as hosts of links are written: one with other letters, "bücher.example", becomes xn--…; one that
 * cannot be a host stays as it is. The address ends with it. */
static twin_status take_domain(twin_message_address *out, twin_message_reader *reader, size_t local)
{
    char room[TWIN__HOST_BYTES];
    twin_text domain = { out->address.bytes + local, out->address.length - local };
    twin_text plain = twin__plain_host(room, domain);
    if (plain.length > 0 && (plain.length != domain.length || memcmp(room, domain.bytes, plain.length) != 0)) {
        char *address = twin__arena_take(&reader->arena, local + plain.length);
        if (!address)
            return TWIN_ENOMEM;
        memcpy(address, out->address.bytes, local);
        memcpy(address + local, room, plain.length);
        out->address = (twin_text){ address, local + plain.length };
        domain = (twin_text){ address + local, plain.length };
    }
    out->domain = domain;
    out->registered = twin__registered_domain(&reader->known_hosts, domain);
    return TWIN_OK;
}

static twin_status add(twin_message_reader *reader, twin_message_role role, twin_text address, twin_text name)
{
    size_t count = reader->message.address_count;
    if (count == MAX_ADDRESSES || address.length == 0)
        return TWIN_OK;
    if (!TWIN__ARRAY_GROW(&reader->addresses, &reader->address_capacity, count, 1))
        return TWIN_ENOMEM;
    name = trim_name(name);
    twin_status status = decode(&address, reader);
    if (status == TWIN_OK)
        status = decode(&name, reader);
    if (status != TWIN_OK)
        return status;
    address = twin__cut(address, MAX_ADDRESS_BYTES);
    twin_message_address *added = &reader->addresses[reader->message.address_count++];
    *added = (twin_message_address){ .role = role, .name = name };
    status = twin__message_lower(&added->address, &reader->arena, address);
    if (status != TWIN_OK)
        return status;
    const char *at = memrchr(added->address.bytes, '@', added->address.length);
    return at ? take_domain(added, reader, (size_t)(at + 1 - added->address.bytes)) : TWIN_OK;
}

twin_status twin__message_add_addresses(twin_message_reader *reader, twin_message_role role, twin_text value)
{
    const char *at = value.bytes, *end = at + value.length;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && at < end) {
        const char *stop = mailbox_end(at, end);
        twin_text box = twin__trim((twin_text){ at, (size_t)(stop - at) });
        twin_text address, name;
        const char *open = memrchr(box.bytes, '<', box.length);
        if (open) {
            const char *box_end = box.bytes + box.length;
            const char *close = memchr(open, '>', (size_t)(box_end - open));
            address = twin__trim((twin_text){ open + 1, (size_t)((close ? close : box_end) - open - 1) });
            name = (twin_text){ box.bytes, (size_t)(open - box.bytes) };
        } else {
            split_plain(&address, &name, box);
        }
        status = add(reader, role, address, name);
        at = stop + 1;
    }
    return status;
}

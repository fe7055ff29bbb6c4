/* links.c — hosts that a message links to, from HTML and from addresses in plain text.
 *
 * A host is first written as programs that follow the link understand it, so that it cannot hide in another spelling, and
 * then kept once, by a hash table over the list of hosts. */
#include <arpa/inet.h>
#include <string.h>

#include "base/array.h"
#include "mail/domain.h"
#include "mail/fields.h"
#include "mail/message_private.h"

enum { MAX_HOST = 255 };

/* ---- the set of hosts */

static bool equals(twin_text a, twin_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* The slot of the host in the table, or the empty one where it would be. */
static uint32_t *slot_of(const twin_message_reader *reader, twin_text host)
{
    size_t at = (size_t)twin_hash_bytes(reader->link_hash, host.bytes, host.length);
    for (;; at++) {
        uint32_t *slot = &reader->link_table[at & (reader->link_slots - 1)];
        if (*slot == 0 || equals(reader->links[*slot - 1].host, host))
            return slot;
    }
}

/* Keeps the table at most half full. */
static twin_status grow_table(twin_message_reader *reader)
{
    if (2 * (reader->message.link_count + 1) <= reader->link_slots)
        return TWIN_OK;
    size_t slots = reader->link_slots ? 2 * reader->link_slots : 64;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return TWIN_ENOMEM;
    free(reader->link_table);
    reader->link_table = table;
    reader->link_slots = slots;
    for (size_t i = 0; i < reader->message.link_count; i++)
        *slot_of(reader, reader->links[i].host) = (uint32_t)i + 1;
    return TWIN_OK;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The host as programs that follow the link understand it: in lower case, with bytes instead of %xx, and an address that is
 * written as one number, or in another base, with four numbers. `room` has room for a host. */
static twin_text plain_host(char room[MAX_HOST], twin_text host)
{
    size_t length = 0;
    bool may_be_address = host.bytes[0] >= '0' && host.bytes[0] <= '9';
    for (size_t i = 0; i < host.length; i++) {
        room[length] = twin__lower(host.bytes[i]);
        int high = i + 2 < host.length ? digit_of(twin__lower(host.bytes[i + 1])) : -1;
        int low = high >= 0 ? digit_of(twin__lower(host.bytes[i + 2])) : -1;
        if (room[length] == '%' && low >= 0 && high + low > 0) {
            room[length] = twin__lower((char)(16 * high + low));
            i += 2;
        }
        may_be_address =
            may_be_address && (digit_of(room[length]) >= 0 || room[length] == '.' || room[length] == 'x');
        length++;
    }
    char text[MAX_HOST + 1];
    struct in_addr address;
    memcpy(text, room, length);
    text[length] = '\0';
    if (may_be_address && inet_aton(text, &address) != 0 && inet_ntop(AF_INET, &address, text, sizeof text)) {
        length = strlen(text);
        memcpy(room, text, length);
    }
    return (twin_text){ room, length };
}

twin_status twin__message_add_host(twin_message_reader *reader, twin_text host)
{
    char lower[MAX_HOST];
    while (host.length > 0 && host.bytes[host.length - 1] == '.')
        host.length--;
    if (host.length == 0 || host.length > MAX_HOST)
        return TWIN_OK;
    host = plain_host(lower, host);
    twin_status status = grow_table(reader);
    if (status != TWIN_OK)
        return status;
    uint32_t *slot = slot_of(reader, host);
    size_t count = reader->message.link_count;
    if (*slot) {
        reader->links[*slot - 1].count++;
        return TWIN_OK;
    }
    if (count == reader->limits.max_links) {
        reader->message.flags |= TWIN_MESSAGE_MANY_LINKS;
        return TWIN_OK;
    }
    if (!TWIN__ARRAY_GROW(&reader->links, &reader->link_capacity, count, 1))
        return TWIN_ENOMEM;
    twin_message_link *link = &reader->links[count];
    *link = (twin_message_link){ .count = 1 };
    status = twin__arena_copy(&link->host, &reader->arena, host);
    if (status != TWIN_OK)
        return status;
    link->registered = twin__registered_domain(link->host);
    if (link->registered.length == 0)
        link->registered = link->host;
    *slot = (uint32_t)++reader->message.link_count;
    return TWIN_OK;
}

/* ---- URLs */

static bool is_host_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '_' || c >= 0x80;
}

/* The host after "//": up to a port, path or query, after a user name. */
static twin_text host_at(const char *at, const char *end)
{
    const char *begin = at, *stop = at;
    while (stop < end && stop - at < 2 * MAX_HOST && (is_host_byte((unsigned char)*stop) || strchr("@:%", *stop))) {
        if (*stop == '@')
            begin = stop + 1;
        stop++;
    }
    const char *colon = memchr(begin, ':', (size_t)(stop - begin));
    return (twin_text){ begin, (size_t)((colon ? colon : stop) - begin) };
}

twin_status twin__message_add_url(twin_message_reader *reader, twin_text url)
{
    const char *end = url.bytes + url.length;
    size_t looked = url.length < 64 ? url.length : 64;
    const char *slashes = memmem(url.bytes, looked, "//", 2);
    if (slashes)
        return twin__message_add_host(reader, host_at(slashes + 2, end));
    if (url.length > 7 && twin__is_named((twin_text){ url.bytes, 7 }, "mailto:")) {
        const char *at = memchr(url.bytes, '@', url.length);
        return at ? twin__message_add_host(reader, host_at(at + 1, end)) : TWIN_OK;
    }
    return TWIN_OK;
}

/* Addresses with a scheme, "https://host", and those that mail programs make links of without one, "www.host". */
twin_status twin__message_find_links(twin_message_reader *reader, twin_text text)
{
    const char *at = text.bytes, *end = at + text.length;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && (at = memmem(at, (size_t)(end - at), "://", 3))) {
        at += 3;
        status = twin__message_add_host(reader, host_at(at, end));
    }
    at = text.bytes;
    while (status == TWIN_OK && (at = memmem(at, (size_t)(end - at), "www.", 4))) {
        bool is_start = at == text.bytes || !(is_host_byte((unsigned char)at[-1]) || at[-1] == '/' || at[-1] == '@');
        if (is_start)
            status = twin__message_add_host(reader, host_at(at, end));
        at += 4;
    }
    return status;
}

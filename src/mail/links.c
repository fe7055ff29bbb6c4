/* links.c — hosts that a message links to, from HTML and from addresses in plain text.
 *
 * A host is first written as programs that follow the link understand it (domain.c), and then kept once, by a hash table over
 * the list of hosts. */
#include <string.h>

#include "base/array.h"
#include "mail/domain.h"
#include "mail/fields.h"
#include "mail/message_private.h"

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

/* Adds a host in its one spelling, or what stands for one. */
static twin_status add_link(twin_message_reader *reader, twin_text host)
{
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
    link->registered = twin__registered_domain(&reader->known_hosts, link->host);
    if (link->registered.length == 0)
        link->registered = link->host;
    *slot = (uint32_t)++reader->message.link_count;
    return TWIN_OK;
}

twin_status twin__message_add_host(twin_message_reader *reader, twin_text host)
{
    char room[TWIN__HOST_BYTES];
    host = twin__plain_host(room, host);
    return host.length ? add_link(reader, host) : TWIN_OK;
}

/* ---- URLs */

static bool is_host_byte(unsigned char c)
{
    return twin__is_letter_or_digit((char)c) || c == '.' || c == '-' || c == '_' || c >= 0x80;
}

static bool ends_host(char c)
{
    return (unsigned char)c <= ' ' || c == '/' || c == '\\' || c == '?' || c == '#' || c == '<' || c == '>' ||
           c == '"';
}

/* The host after "//": up to a port, path or query, after a user name. A user name may have any characters, and what is to
 * be shown to the person who reads it. */
static twin_text host_at(const char *at, const char *end)
{
    enum { MOST = 2000 };
    const char *begin = at, *stop = at;
    while (stop < end && stop - at < MOST && !ends_host(*stop)) {
        if (*stop == '@')
            begin = stop + 1;
        stop++;
    }
    at = begin;
    while (at < stop && (is_host_byte((unsigned char)*at) || *at == '%'))
        at++;
    return (twin_text){ begin, (size_t)(at - begin) };
}

static bool is_slash(const char *at, const char *end)
{
    return at < end && (*at == '/' || *at == '\\');
}

static bool is_line_end(char c)
{
    return c == '\t' || c == '\r' || c == '\n';
}

/* Browsers leave out tabs and line ends wherever they are in a URL. `room` has room for its beginning. */
enum { MAX_URL = 2048 };

static twin_text without_line_ends(char room[MAX_URL], twin_text url)
{
    size_t i = 0, length = 0;
    while (i < url.length && !is_line_end(url.bytes[i]))
        i++;
    if (i == url.length)
        return url;
    for (i = 0; i < url.length && length < MAX_URL; i++)
        if (!is_line_end(url.bytes[i]))
            room[length++] = url.bytes[i];
    return (twin_text){ room, length };
}

/* The length of the scheme with its colon; 0: there is none. */
static size_t scheme_of(twin_text url)
{
    size_t i = 0;
    while (i < url.length && (twin__is_letter_or_digit(url.bytes[i]) || strchr("+-.", url.bytes[i])))
        i++;
    return i > 0 && i < url.length && url.bytes[i] == ':' ? i + 1 : 0;
}

/* A page or picture that is in its own address: "data:text/html,…". There is no host; its type, in lower case, leaves a trace. */
static twin_status add_contained(twin_message_reader *reader, twin_text url)
{
    enum { MOST = 64 };
    char type[MOST] = "data:";
    size_t length = 0;
    while (length < url.length && length < MOST && url.bytes[length] != ',' && url.bytes[length] != ';') {
        unsigned char c = (unsigned char)url.bytes[length];
        if (c <= ' ' || c >= 0x7f)
            break;
        type[length++] = twin__lower((char)c);
    }
    return add_link(reader, (twin_text){ type, length });
}

/* As browsers do (WHATWG): after http, https and ftp any number of slashes of either kind may stand before the host, also
 * none; elsewhere there must be two. */
twin_status twin__message_add_url(twin_message_reader *reader, twin_text url)
{
    char room[MAX_URL];
    url = without_line_ends(room, url);
    size_t scheme = scheme_of(url);
    const char *at = url.bytes + scheme, *end = url.bytes + url.length;
    twin_text name = { url.bytes, scheme };
    if (twin__is_named(name, "mailto:")) {
        const char *sign = memchr(at, '@', (size_t)(end - at));
        return sign ? twin__message_add_host(reader, host_at(sign + 1, end)) : TWIN_OK;
    }
    if (twin__is_named(name, "data:"))
        return add_contained(reader, url);
    bool is_special = twin__is_named(name, "http:") || twin__is_named(name, "https:") || twin__is_named(name, "ftp:");
    if (!is_special && !(is_slash(at, end) && is_slash(at + 1, end)))
        return TWIN_OK;
    while (is_slash(at, end))
        at++;
    return twin__message_add_host(reader, host_at(at, end));
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

/* domain.c — hosts in one spelling, and their registered domains by the public suffix list. The only user of libpsl. */
#include <arpa/inet.h>
#include <libpsl.h>
#include <stdlib.h>
#include <string.h>

#include "mail/domain.h"
#include "mail/fields.h"
#include "mail/gmime.h"

/* ---- one spelling */

static size_t replace(char room[TWIN__HOST_BYTES], twin_text text)
{
    memcpy(room, text.bytes, text.length);
    return text.length;
}

/* The host in the letters that domains have: one with others, "bücher.example", becomes "xn--bcher-kva.example", and letters
 * and dots that stand for ASCII become that. As it is if it has no such form, or GLib cannot be loaded. */
static size_t without_other_letters(char room[TWIN__HOST_BYTES], size_t length)
{
    char text[TWIN__HOST_BYTES + 1];
    bool has_others = false;
    for (size_t i = 0; i < length; i++)
        has_others |= (unsigned char)room[i] >= 0x80;
    if (!has_others)
        return length;
    memcpy(text, room, length);
    text[length] = '\0';
    const struct twin__gmime *gmime = twin__gmime();
    char *ascii = gmime ? gmime->g_hostname_to_ascii(text) : NULL;
    twin_text given = { ascii, ascii ? strlen(ascii) : 0 };
    if (given.length > 0 && given.length <= TWIN__HOST_BYTES)
        length = replace(room, given);
    free(ascii);
    return length;
}

/* An address that is written as one number, or in another base, with four numbers. */
static size_t plain_address(char room[TWIN__HOST_BYTES], size_t length)
{
    char text[TWIN__HOST_BYTES + 1];
    struct in_addr address;
    memcpy(text, room, length);
    text[length] = '\0';
    bool may_be = text[0] >= '0' && text[0] <= '9' && strspn(text, "0123456789abcdefx.") == length;
    if (!may_be || inet_aton(text, &address) == 0 || !inet_ntop(AF_INET, &address, text, sizeof text))
        return length;
    return replace(room, (twin_text){ text, strlen(text) });
}

/* The host in lower case, with bytes instead of %xx if `decode`. */
static size_t spell_out(char room[TWIN__HOST_BYTES], twin_text host, bool decode)
{
    size_t length = 0;
    for (size_t i = 0; i < host.length; i++) {
        room[length] = twin__lower(host.bytes[i]);
        int high = decode && i + 2 < host.length ? twin__hex_digit(host.bytes[i + 1]) : -1;
        int low = high >= 0 ? twin__hex_digit(host.bytes[i + 2]) : -1;
        if (room[length] == '%' && low >= 0 && high + low > 0) {
            room[length] = twin__lower((char)(16 * high + low));
            i += 2;
        }
        length++;
    }
    return length;
}

twin_text twin__plain_host(char room[TWIN__HOST_BYTES], twin_text host)
{
    while (host.length > 0 && host.bytes[host.length - 1] == '.')
        host.length--;
    if (host.length == 0 || host.length > TWIN__HOST_BYTES)
        return (twin_text){ 0 };
    size_t length = spell_out(room, host, true);
    if (!twin__is_utf8(room, length))
        length = spell_out(room, host, false);
    if (!twin__is_utf8(room, length) || memchr(room, '\0', length))
        return (twin_text){ 0 };
    length = without_other_letters(room, length);
    return (twin_text){ room, plain_address(room, length) };
}

/* ---- registered domains */

/* An address in numbers, of which libpsl knows nothing. */
static bool ends_in_number(twin_text host)
{
    size_t digits = 0;
    while (digits < host.length && host.bytes[host.length - 1 - digits] >= '0' &&
           host.bytes[host.length - 1 - digits] <= '9')
        digits++;
    return digits > 0 && (digits == host.length || host.bytes[host.length - 1 - digits] == '.');
}

static twin_text find(twin_text host)
{
    char name[TWIN__HOST_BYTES + 1];
    const psl_ctx_t *list = psl_builtin();
    if (!list || host.length == 0 || host.length > TWIN__HOST_BYTES || memchr(host.bytes, '\0', host.length) ||
        ends_in_number(host))
        return (twin_text){ 0 };
    memcpy(name, host.bytes, host.length);
    name[host.length] = '\0';
    const char *found = psl_registrable_domain(list, name);
    if (!found)
        return (twin_text){ 0 };
    size_t length = strlen(found);
    return (twin_text){ host.bytes + host.length - length, length };
}

/* Where a host is, if it is known. Hosts that share a place displace each other, which costs only time. */
static struct twin__known_host *place_of(struct twin__known_hosts *known, twin_text host)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < host.length; i++)
        hash = (hash ^ (unsigned char)host.bytes[i]) * 16777619u;
    return &known->hosts[(hash ^ hash >> 16) % TWIN__KNOWN_HOSTS];
}

twin_text twin__registered_domain(struct twin__known_hosts *known, twin_text host)
{
    if (!known || host.length == 0 || host.length > TWIN__KNOWN_HOST_BYTES)
        return find(host);
    struct twin__known_host *place = place_of(known, host);
    if (place->length != host.length || memcmp(place->host, host.bytes, host.length) != 0) {
        place->length = (unsigned char)host.length;
        place->registered = (unsigned char)find(host).length;
        memcpy(place->host, host.bytes, host.length);
    }
    size_t length = place->registered;
    return length ? (twin_text){ host.bytes + host.length - length, length } : (twin_text){ 0 };
}

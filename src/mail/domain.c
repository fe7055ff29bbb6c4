/* domain.c — registered domains, by the public suffix list. The only user of libpsl. */
#include <libpsl.h>
#include <string.h>

#include "mail/domain.h"

enum { MAX_HOST = 255 };

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
    char name[MAX_HOST + 1];
    const psl_ctx_t *list = psl_builtin();
    if (!list || host.length == 0 || host.length > MAX_HOST || memchr(host.bytes, '\0', host.length) ||
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

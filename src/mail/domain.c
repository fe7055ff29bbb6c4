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

twin_text twin__registered_domain(twin_text host)
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

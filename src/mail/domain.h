/* domain.h — hosts: one spelling, and the registered domain. */
#ifndef TWIN_MAIL_DOMAIN_H
#define TWIN_MAIL_DOMAIN_H

#include <twinsift/buffer.h>

/* The host as programs that connect to it understand it, so that it cannot hide in another spelling; `room` may be where it is.
 * Nobody follows one whose bytes are no characters: it stays as it is written, and is empty if a character of it is cut. */
enum { TWIN__HOST_BYTES = 255 };
twin_text twin__plain_host(char room[TWIN__HOST_BYTES], twin_text host);

/* Hosts whose registered domains are known already: the same few send and are linked to all the time. Begin with {0}. */
enum { TWIN__KNOWN_HOSTS = 256, TWIN__KNOWN_HOST_BYTES = 46 };
struct twin__known_hosts {
    struct twin__known_host {
        unsigned char length, registered; /* bytes of the host, and of its registered domain */
        char host[TWIN__KNOWN_HOST_BYTES];
    } hosts[TWIN__KNOWN_HOSTS];
};

/* The last labels of the host that someone registered, a part of `host`; empty if there are none. `known` may be NULL. */
twin_text twin__registered_domain(struct twin__known_hosts *known, twin_text host);

#endif

/* domain.h — registered domains. */
#ifndef TWIN_MAIL_DOMAIN_H
#define TWIN_MAIL_DOMAIN_H

#include <twinsift/buffer.h>

/* The last labels of the host that someone registered, a part of `host`; empty if there are none. */
twin_text twin__registered_domain(twin_text host);

#endif

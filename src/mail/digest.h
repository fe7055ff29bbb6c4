/* digest.h — what an attachment is known by. */
#ifndef TWIN_MAIL_DIGEST_H
#define TWIN_MAIL_DIGEST_H

#include <twinsift/buffer.h>

/* The first 16 bytes of SHA-256. */
void twin__digest(unsigned char out[16], twin_text bytes);

#endif

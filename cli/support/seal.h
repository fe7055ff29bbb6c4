/* seal.h — what tells our header from a forged one.
 *
 * Our programs remove forged headers, but not while they are stopped and the mail server passes mail on without them.
 * So a header X-Twinsift may end with the name of the host and a digest under a secret key, of the Message-ID and of
 * all that the header says: only the key makes it, and it fits no other message. */
#ifndef TWIN_SUPPORT_SEAL_H
#define TWIN_SUPPORT_SEAL_H

#include <twinsift/twinsift.h>

struct seal {
    const char *host;
    uint64_t key[2];
    bool is_keyed; /* otherwise only the host is named */
};

/* Writes "ABOUT; by=HOST; id=DIGEST" to `out`, cut if the room does not suffice. */
enum { SEAL_ROOM = 512, SEAL_HOST_BYTES = 120 };
void seal_write(char *out, size_t room, const struct seal *seal, const char *about, twin_text message_id);

/* Whether a message has one header X-Twinsift, and it is one that seal_write() made for it with this host and key. */
bool seal_holds(twin_text raw, const struct seal *seal, twin_text message_id);

#endif

/* listen.h — sockets that servers listen on: opened here, or by the service manager. */
#ifndef TWIN_SERVE_LISTEN_H
#define TWIN_SERVE_LISTEN_H

#include <stdbool.h>

enum { LISTEN_NAME_ROOM = 160 };

struct listening {
    int fd;        /* does not block; closed in programs that are run */
    bool is_local; /* loopback or in the file system: nobody from elsewhere can connect */
    bool is_inherited;
    char name[LISTEN_NAME_ROOM]; /* "127.0.0.1:783" with the port it got, "[::1]:783", "unix:/run/twinsift/spamd" */
};

/* Listens on the socket that the manager opened under the name `inherited` (NULL: it has none for us), or else at
 * `where`: ADDRESS:PORT, with brackets around an IPv6 address, or unix:PATH, a socket for its owner and group. Port 0
 * is a free one; a socket in the file system that nobody listens on is replaced. On false the error has been
 * reported. */
bool listen_at(struct listening *out, const char *where, const char *inherited);

/* Closes the socket, and removes it from the file system unless the manager opened it. */
void listen_end(struct listening *listening);

#endif

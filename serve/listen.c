/* listen.c — sockets that servers listen on. */
#include "listen.h"

#include "service.h"
#include "support/messages.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAITING = 1024 }; /* connections that were not accepted yet */

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un file;
};

static bool is_loopback(const union address *address)
{
    const struct in6_addr *six = &address->six.sin6_addr;
    if (address->any.sa_family == AF_INET)
        return ntohl(address->four.sin_addr.s_addr) >> 24 == 127;
    if (address->any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
    return address->any.sa_family == AF_UNIX;
}

/* Fills in what an open socket is. */
static bool describe(struct listening *out)
{
    union address address;
    socklen_t length = sizeof address;
    char host[INET6_ADDRSTRLEN];
    memset(&address, 0, sizeof address);
    if (getsockname(out->fd, &address.any, &length) != 0)
        return false;
    out->is_local = is_loopback(&address);
    if (address.any.sa_family == AF_UNIX) {
        snprintf(out->name, sizeof out->name, "unix:%.108s", address.file.sun_path);
    } else if (address.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &address.four.sin_addr, host, sizeof host);
        snprintf(out->name, sizeof out->name, "%s:%u", host, (unsigned)ntohs(address.four.sin_port));
    } else {
        inet_ntop(AF_INET6, &address.six.sin6_addr, host, sizeof host);
        snprintf(out->name, sizeof out->name, "[%s]:%u", host, (unsigned)ntohs(address.six.sin6_port));
    }
    return true;
}

/* ADDRESS:PORT, of which only numbers count: a name may be that of another host tomorrow. */
static bool read_address(union address *out, socklen_t *length, const char *where)
{
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(where, ':');
    size_t bytes = colon ? (size_t)(colon - where) : 0;
    bool bracketed = bytes >= 2 && where[0] == '[' && colon[-1] == ']';
    if (bytes == 0 || bytes - 2 * bracketed >= sizeof host)
        return false;
    memcpy(host, where + bracketed, bytes - 2 * bracketed);
    host[bytes - 2 * bracketed] = '\0';
    struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found;
    if (!colon[1] || getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return false;
    bool good = found->ai_addrlen <= sizeof *out;
    if (good)
        memcpy(out, found->ai_addr, found->ai_addrlen);
    *length = found->ai_addrlen;
    freeaddrinfo(found);
    return good;
}

/* A socket that is left from a process that has ended refuses connections; then, and only then, it is removed. */
static void remove_old(const struct sockaddr_un *address)
{
    struct stat about;
    if (lstat(address->sun_path, &about) != 0 || !S_ISSOCK(about.st_mode))
        return;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(fd);
}

static int open_unix(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    remove_old(&address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before = umask(0117);
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, WAITING) == 0;
    umask(before);
    if (!good && fd >= 0) {
        int reason = errno;
        close(fd);
        errno = reason;
    }
    return good ? fd : -1;
}

static int open_address(const union address *address, socklen_t length)
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, &address->any, length) == 0 && listen(fd, WAITING) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

bool listen_at(struct listening *out, const char *where, const char *inherited)
{
    union address address;
    socklen_t length;
    *out = (struct listening){ .fd = inherited ? service_socket(inherited) : -1 };
    if (out->fd >= 0) {
        fcntl(out->fd, F_SETFL, fcntl(out->fd, F_GETFL) | O_NONBLOCK);
        out->is_inherited = true;
    } else if (!where) {
        return refuse("there is no socket to listen on: neither an address nor one of the service manager");
    } else if (strncmp(where, "unix:", 5) == 0) {
        out->fd = open_unix(where + 5);
    } else if (read_address(&address, &length, where)) {
        out->fd = open_address(&address, length);
    } else {
        return refuse("%s: write ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", where);
    }
    if (out->fd < 0 || !describe(out))
        return refuse("cannot listen on %s: %s", where ? where : inherited, strerror(errno));
    return true;
}

void listen_end(struct listening *listening)
{
    if (listening->fd < 0)
        return;
    close(listening->fd);
    if (!listening->is_inherited && strncmp(listening->name, "unix:", 5) == 0)
        unlink(listening->name + 5);
    listening->fd = -1;
}

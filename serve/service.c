/* service.c — the protocols of sd_notify(3) and sd_listen_fds(3), which are a datagram and three variables. */
#include "service.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void service_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, strlen(path));
    if (*path == '@') /* a name that is in no file system */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address, length);
    close(fd);
}

int service_socket(const char *name)
{
    enum { FIRST = 3 };
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS"), *names = getenv("LISTEN_FDNAMES");
    if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid())
        return -1;
    long fds = strtol(count, NULL, 10);
    for (int i = 0; i < fds && i < 64; i++) {
        size_t length = names ? strcspn(names, ":") : 0;
        bool is_it = !*name || (names && strlen(name) == length && strncmp(names, name, length) == 0);
        if (is_it && fcntl(FIRST + i, F_SETFD, FD_CLOEXEC) == 0)
            return FIRST + i;
        names = names && names[length] ? names + length + 1 : NULL;
    }
    return -1;
}

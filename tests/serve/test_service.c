/* test_service.c — what the service manager hears, and the sockets that it or we open. */
#include "serve/listen.h"
#include "serve/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int bound(const char *name, int type)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    socklen_t length = (socklen_t)(sizeof address.sun_family + strlen(name));
    memcpy(address.sun_path, name, strlen(name));
    if (*name == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, type, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    return fd;
}

static void the_manager_hears_what_is_said_in_both_kinds_of_names(void **unused)
{
    (void)unused;
    char abstract[64], path[128], heard[64];
    snprintf(abstract, sizeof abstract, "@twinsift-test-%d", (int)getpid());
    assert_non_null(getcwd(path, sizeof path - 20));
    snprintf(path + strlen(path), 20, "/notify.%d", (int)getpid());
    const char *names[] = { abstract, path };
    for (size_t i = 0; i < 2; i++) {
        int fd = bound(names[i], SOCK_DGRAM);
        setenv("NOTIFY_SOCKET", names[i], 1);
        service_notify("READY=1");
        ssize_t length = recv(fd, heard, sizeof heard, MSG_DONTWAIT);
        assert_int_equal(length, 7);
        assert_memory_equal(heard, "READY=1", 7);
        close(fd);
        service_notify("STOPPING=1"); /* nobody listens any more */
    }
    unlink(path);
    setenv("NOTIFY_SOCKET", "relative", 1);
    service_notify("READY=1");
    unsetenv("NOTIFY_SOCKET");
    service_notify("READY=1");
}

static void sockets_are_found_by_name_and_only_by_whom_they_are_for(void **unused)
{
    (void)unused;
    char pid[32];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LISTEN_FDS", "2", 1);
    setenv("LISTEN_FDNAMES", "http:spamd", 1);
    setenv("LISTEN_PID", "1", 1);
    assert_int_equal(service_socket("spamd"), -1);
    setenv("LISTEN_PID", pid, 1);
    int kept[2] = { fcntl(3, F_DUPFD, 10), fcntl(4, F_DUPFD, 10) };
    for (int fd = 3; fd <= 4; fd++)
        assert_int_equal(dup2(0, fd), fd);
    assert_int_equal(service_socket("spamd"), 4);
    assert_int_equal(service_socket("http"), 3);
    assert_int_equal(service_socket(""), 3);
    assert_int_equal(service_socket("spam"), -1);
    setenv("LISTEN_FDS", "1", 1);
    assert_int_equal(service_socket("spamd"), -1);
    for (int fd = 3; fd <= 4; fd++) {
        close(fd);
        if (kept[fd - 3] >= 0) {
            dup2(kept[fd - 3], fd);
            close(kept[fd - 3]);
        }
    }
    unsetenv("LISTEN_PID");
}

static void a_socket_that_was_left_is_replaced_and_one_in_use_is_not(void **unused)
{
    (void)unused;
    struct listening first, second;
    struct stat about;
    close(bound("left", SOCK_STREAM)); /* as a process that was killed leaves it */
    assert_true(listen_at(&first, "unix:left", NULL));
    assert_true(first.is_local);
    assert_int_equal(stat("left", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
    assert_false(listen_at(&second, "unix:left", NULL));
    listen_end(&first);
    assert_true(stat("left", &about) != 0 && errno == ENOENT);
    FILE *file = fopen("left", "w"); /* which is not a socket, and stays */
    assert_non_null(file);
    fclose(file);
    assert_false(listen_at(&first, "unix:left", NULL));
    assert_int_equal(unlink("left"), 0);
}

static void addresses_are_read_and_known_to_be_local(void **unused)
{
    (void)unused;
    struct listening listening;
    assert_true(listen_at(&listening, "127.0.0.1:0", NULL));
    assert_true(listening.is_local);
    listen_end(&listening);
    if (listen_at(&listening, "[::1]:0", NULL)) { /* not every machine has IPv6 */
        assert_true(listening.is_local && strncmp(listening.name, "[::1]:", 6) == 0);
        listen_end(&listening);
    }
    assert_true(listen_at(&listening, "0.0.0.0:0", NULL));
    assert_false(listening.is_local);
    listen_end(&listening);
    static const char *const wrong[] = {
        "127.0.0.1", "127.0.0.1:", ":80", "[::1:80", "localhost.example:80", "1:2:3"
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(listen_at(&listening, wrong[i], NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manager_hears_what_is_said_in_both_kinds_of_names),
        cmocka_unit_test(sockets_are_found_by_name_and_only_by_whom_they_are_for),
        cmocka_unit_test(a_socket_that_was_left_is_replaced_and_one_in_use_is_not),
        cmocka_unit_test(addresses_are_read_and_known_to_be_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_spamd.c — SpamAssassin's protocol byte by byte, and clients that are slow, wrong or gone. */
#include "serve/spamd.h"
#include "serve/spamd_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static char folder[64], model[96], path[96];
static struct models *models;
static struct spamd *spamd;

#define SPAM                                                                                                         \
    "From: offers@shop.example\r\nMessage-ID: <s@x>\r\nX-Spam-Flag: NO\r\nSubject: watches\r\n\r\n"                  \
    "buy replica watches now, win a casino prize\r\n"
#define HAM                                                                                                          \
    "From: ann@club.example\r\nMessage-ID: <h@x>\r\nSubject: minutes\r\n\r\n"                                        \
    "the rowing club meets on thursday to repair the boats\r\n"

static void teach(const char *text, const char *label)
{
    twin_error error = { 0 };
    twin_mail_effect effect;
    struct model_order order = { NULL, MODEL_LEARN, label, { text, strlen(text) } };
    assert_int_equal(models_change(&effect, models, order, &error), TWIN_OK);
}

static void start_with(struct spamd_options options)
{
    char where[128];
    snprintf(where, sizeof where, "unix:%s", path);
    options.models = models;
    options.where = where;
    options.threads = 2;
    spamd = spamd_start(options);
    assert_non_null(spamd);
    assert_string_equal(spamd_name(spamd), where);
}

static int start(void **unused)
{
    (void)unused;
    twin_error error = { 0 };
    snprintf(folder, sizeof folder, "spamd.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(model, sizeof model, "%s/one.twin", folder);
    snprintf(path, sizeof path, "%s/socket", folder);
    if (models_start(&models, (struct models_options){ .path = model, .create = true }, &error) != TWIN_OK)
        return -1;
    teach(SPAM, "spam");
    teach(HAM, "ham");
    start_with((struct spamd_options){ .may_tell = true });
    return 0;
}

static int stop(void **unused)
{
    (void)unused;
    char lock[128];
    spamd_stop(spamd);
    models_stop(models);
    spamd = NULL;
    snprintf(lock, sizeof lock, "%s-lock", model);
    unlink(lock);
    unlink(model);
    return rmdir(folder);
}

/* ---- a client */

static int connect_client(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void send_bytes(int fd, const void *bytes, size_t length)
{
    assert_int_equal(send(fd, bytes, length, MSG_NOSIGNAL), length);
}

/* What comes until the server closes. */
static const char *receive_all(int fd)
{
    static char answer[1 << 16];
    size_t length = 0;
    ssize_t got;
    while ((got = recv(fd, answer + length, sizeof answer - 1 - length, 0)) > 0)
        length += (size_t)got;
    answer[length] = '\0';
    close(fd);
    return answer;
}

static const char *ask_bytes(const void *bytes, size_t length)
{
    int fd = connect_client();
    send_bytes(fd, bytes, length);
    shutdown(fd, SHUT_WR);
    return receive_all(fd);
}

static const char *ask(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *ask(const char *format, ...)
{
    char request[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && (size_t)length < sizeof request);
    return ask_bytes(request, (size_t)length);
}

/* ---- requests */

static void each_command_is_answered_as_its_version_expects(void **unused)
{
    (void)unused;
    assert_string_equal(ask("PING SPAMC/1.5\r\n\r\n"), "SPAMD/1.5 0 PONG\r\n");
    assert_string_equal(ask("PING SPAMC/1.2\r\n"), "SPAMD/1.5 0 PONG\r\n");
    assert_string_equal(ask("SKIP SPAMC/1.5\r\n\r\n"), "");
    size_t length = strlen(SPAM);
    const char *verdict = strdup(ask("CHECK SPAMC/1.5\r\nContent-length: %zu\r\n\r\n" SPAM, length));
    static const char begin[] = "SPAMD/1.1 0 EX_OK\r\nSpam: True ; ";
    assert_true(strncmp(verdict, begin, strlen(begin)) == 0);
    char *end;
    assert_true(strtod(verdict + strlen(begin), &end) >= 5);
    assert_string_equal(end, " / 5.0\r\n\r\n");
    assert_string_equal(ask("CHECK SPAMC/1.0\n\n" SPAM), verdict); /* without a length it ends with the connection */
    free((void *)verdict);
    assert_non_null(strstr(ask("CHECK SPAMC/1.5\r\n\r\n" HAM), "Spam: False ; "));
    assert_non_null(strstr(ask("SYMBOLS SPAMC/1.5\r\n\r\n" SPAM), "\r\n\r\nTWINSIFT_SPAM,TWINSIFT_"));
    const char *old = ask("SYMBOLS SPAMC/1.2\r\n\r\n" HAM);
    assert_null(strstr(old, "ontent-length"));
    assert_string_equal(old + strlen(old) - 2, "\r\n");
    assert_non_null(strstr(ask("REPORT SPAMC/1.5\r\n\r\n" HAM), "twinsift: ham, probability"));
    assert_non_null(strstr(ask("REPORT_IFSPAM SPAMC/1.5\r\n\r\n" HAM), "Content-length: 0\r\nSpam: No ; "));
    assert_non_null(strstr(ask("REPORT_IFSPAM SPAMC/1.5\r\n\r\n" SPAM), "Spam: Yes ; "));
}

static void process_returns_the_message_and_headers_its_headers(void **unused)
{
    (void)unused;
    static const char begin[] = "SPAMD/1.1 0 EX_OK\r\nContent-length: ";
    const char *answer = ask("PROCESS SPAMC/1.5\r\nContent-length: %zu\r\nUser: ann\r\n\r\n" SPAM, strlen(SPAM));
    const char *body = strstr(answer, "\r\n\r\n") + 4;
    assert_true(strncmp(answer, begin, strlen(begin)) == 0);
    assert_int_equal(strlen(body), strtoul(answer + strlen(begin), NULL, 10));
    assert_true(strncmp(body, "X-Spam-Flag: YES\r\nX-Spam-Status: Yes, score=", 44) == 0);
    assert_null(strstr(body, "X-Spam-Flag: NO"));
    assert_non_null(strstr(body, "\r\n\r\nbuy replica"));
    char *headers = strndup(body, (size_t)(strstr(body, "\r\n\r\n") + 4 - body));
    answer = ask("HEADERS SPAMC/1.4\r\nContent-length: %zu\r\n\r\n" SPAM, strlen(SPAM));
    assert_string_equal(strstr(answer, "\r\n\r\n") + 4, headers);
    answer = ask("PROCESS SPAMC/1.0\r\n\r\n" SPAM);
    assert_true(strncmp(answer, "SPAMD/1.1 0 EX_OK\r\nX-Spam-Flag: YES\r\n", 37) == 0);
    free(headers);
}

static void tell_reports_exactly_what_it_did(void **unused)
{
    (void)unused;
    static const char message[] = "Message-ID: <new@x>\r\nSubject: new\r\n\r\nsomething that nobody has seen\r\n";
    static const struct {
        const char *headers, *done;
    } turns[] = {
        { "Message-class: spam\r\nSet: local\r\n", "DidSet: local\r\n" },
        { "Message-class: spam\r\nSet: local\r\n", "" },
        { "Message-class: ham\r\nSet: local\r\nRemove: remote\r\n", "DidSet: local\r\nDidRemove: remote\r\n" },
        { "Message-class: spam\r\nSet: local,remote\r\n", "DidSet: local,remote\r\n" },
        { "Message-class: spam\r\nSet: local, remote\r\n", "DidSet: remote\r\n" },
        { "Remove: local\r\n", "DidRemove: local\r\n" },
        { "Remove: local\r\n", "" },
    };
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "SPAMD/1.1 0 EX_OK\r\n%s\r\n\r\n", turns[i].done);
        assert_string_equal(
            ask("TELL SPAMC/1.5\r\n%sContent-length: %zu\r\n\r\n%s", turns[i].headers, strlen(message), message),
            expected);
    }
    spamd_stop(spamd);
    start_with((struct spamd_options){ 0 });
    assert_non_null(strstr(ask("TELL SPAMC/1.5\r\n%sContent-length: 1\r\n\r\nx", turns[0].headers), "SPAMD/1.0 69 "));
}

static void what_is_wrong_is_refused_with_its_reason(void **unused)
{
    (void)unused;
    static const char *const wrong[][2] = {
        { "GET / HTTP/1.1\r\n\r\n", " 76 Bad header line: (unknown command)" },
        { "CHECK HTTP/1.1\r\n\r\n", " 76 Bad header line: (not SPAMC" },
        { "CHECK SPAMC/1.5\r\nnonsense\r\n\r\n", " 76 Bad header line: (header not in" },
        { "CHECK SPAMC/1.5\r\nContent-length: 1x\r\n\r\n", " 76 Bad header line: (Content-length" },
        { "CHECK SPAMC/1.5\r\nContent-length: 99999999999999999999999\r\n\r\n",
          " 76 Bad header line: (Content-length" },
        { "CHECK SPAMC/1.5\r\nContent-length: 9\r\nContent-length: 9\r\n\r\n",
          " 76 Bad header line: (Content-length" },
        { "CHECK SPAMC/1.5\r\nContent-length: 99999999999\r\n\r\n", " 65 EX_DATAERR the message is too long" },
        { "CHECK SPAMC/1.5\r\nContent-length: 9\r\n\r\nshort", " 76 Bad header line: (Content-Length mismatch" },
        { "CHECK SPAMC/1.5\r\nContent-length: 9\r\n", " 76 Bad header line: (EOF during headers)" },
        { "CHECK SPAMC/1.5\r\nCompress: lzma\r\nContent-length: 1\r\n\r\nx", " 76 Bad header line: (Compress takes" },
        { "CHECK SPAMC/1.5\r\nCompress: zlib\r\n\r\nx", " 76 Bad header line: (Compress requires" },
        { "CHECK SPAMC/1.5\r\nCompress: zlib\r\nContent-length: 1\r\n\r\nx", " 65 EX_DATAERR the message cannot" },
        { "TELL SPAMC/1.5\r\nContent-length: 1\r\n\r\nx", " 76 Bad header line: (TELL without Set" },
        { "TELL SPAMC/1.5\r\nSet: local\r\nContent-length: 1\r\n\r\nx", " 76 Bad header line: (Set without" },
        { "TELL SPAMC/1.5\r\nRemove: local\r\n\r\nx", " 76 Bad header line: (TELL without Content-length" },
        { "TELL SPAMC/1.5\r\nSet: local\r\nRemove: local\r\nContent-length: 1\r\n\r\nx",
          " 76 Bad header line: (Set and" },
        { "TELL SPAMC/1.5\r\nSet: mars\r\nContent-length: 1\r\n\r\nx", " 76 Bad header line: (Set and Remove take" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (!strstr(ask("%s", wrong[i][0]), wrong[i][1]))
            fail_msg("%s is answered by %s", wrong[i][0], ask("%s", wrong[i][0]));
    char *head = calloc(1, SPAMD_HEAD_BYTES + 100);
    memset(head, 'x', SPAMD_HEAD_BYTES + 99);
    assert_non_null(strstr(ask_bytes(head, SPAMD_HEAD_BYTES + 99), "(the headers are too long)"));
    free(head);
}

/* Compressed by zlib, to which a message of 11 MB is 11 KB: over the limit. */
static void compressed_messages_are_unpacked_up_to_the_limit(void **unused)
{
    (void)unused;
    static const char spam[] = SPAM;
    size_t most = 11000000;
    char *text = malloc(most);
    unsigned char packed[65536], request[65536 + 200];
    memset(text, 'a', most);
    memcpy(text, spam, sizeof spam - 1);
    for (int is_long = 0; is_long < 2; is_long++) {
        uLongf length = sizeof packed;
        assert_int_equal(compress2(packed, &length, (Bytef *)text, is_long ? most : strlen(SPAM), 9), Z_OK);
        int head = snprintf((char *)request, 200, "CHECK SPAMC/1.5\r\nCompress: zlib\r\nContent-length: %lu\r\n\r\n",
                            length);
        memcpy(request + head, packed, length);
        const char *answer = ask_bytes(request, (size_t)head + length);
        assert_non_null(strstr(answer, is_long ? " 65 EX_DATAERR the message is too long" : "Spam: True ; "));
    }
    free(text);
}

/* ---- clients */

static void a_request_may_come_byte_by_byte(void **unused)
{
    (void)unused;
    char request[1024];
    int length =
        snprintf(request, sizeof request, "CHECK SPAMC/1.5\r\nContent-length: %zu\r\n\r\n" SPAM, strlen(SPAM));
    int fd = connect_client();
    for (int i = 0; i < length; i++)
        send_bytes(fd, request + i, 1);
    assert_non_null(strstr(receive_all(fd), "Spam: True")); /* although it did not end its side */
}

static void clients_that_dawdle_are_dropped_and_hinder_nobody(void **unused)
{
    (void)unused;
    enum { SILENT = 40 };
    int fds[SILENT];
    spamd_stop(spamd);
    start_with((struct spamd_options){ .seconds = 3, .connections = SILENT / 2 });
    for (int i = 0; i < SILENT; i++) {
        fds[i] = connect_client();
        send_bytes(fds[i], "CHECK SPAMC/1.5\r\n", i % 17);
    }
    assert_non_null(strstr(ask("CHECK SPAMC/1.5\r\n\r\n" SPAM), "Spam: True"));
    for (int i = 0; i < SILENT; i++)
        assert_string_equal(receive_all(fds[i]), "");
    struct spamd_counts counts = spamd_count(spamd);
    for (int i = 0; i < 12000 && counts.connections > 0; i++) { /* a client hears of its end before the counter */
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
        counts = spamd_count(spamd);
    }
    assert_int_equal(counts.timeouts, SILENT);
    assert_int_equal(counts.requests, 1);
    assert_int_equal(counts.spam, 1);
}

static uint64_t count_learnt(void)
{
    struct model_use use;
    twin_mail_info info;
    twin_error error = { 0 };
    assert_int_equal(models_take(&use, models, NULL, &error), TWIN_OK);
    assert_int_equal(twin_mail_describe(&info, use.mail, &error), TWIN_OK);
    models_give_back(models, &use);
    return info.learnt;
}

static void nothing_is_learnt_from_half_a_message(void **unused)
{
    (void)unused;
    static const char half[] =
        "TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\nContent-length: 1000\r\n\r\n" SPAM;
    uint64_t before = count_learnt();
    int fd = connect_client();
    send_bytes(fd, half, strlen(half));
    struct linger reset = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    assert_non_null(strstr(ask("%s", half), "mismatch"));
    assert_int_equal(count_learnt(), before);
}

static void answers_reach_clients_that_send_too_much(void **unused)
{
    (void)unused;
    char more[200000];
    memset(more, 'x', sizeof more);
    int fd = connect_client();
    send_bytes(fd, "CHECK SPAMC/1.5\r\nContent-length: 20\r\n\r\n", 39);
    (void)!send(fd, more, sizeof more, MSG_NOSIGNAL | MSG_DONTWAIT);
    struct pollfd waiting = { .fd = fd, .events = POLLIN };
    assert_int_equal(poll(&waiting, 1, 60000), 1);
    assert_non_null(strstr(receive_all(fd), "Spam: "));
}

static void *ask_often(void *failures)
{
    for (int i = 0; i < 50; i++) {
        int fd = connect_client();
        char answer[512] = "";
        static const char request[] = "CHECK SPAMC/1.5\r\n\r\n" SPAM;
        send_bytes(fd, request, strlen(request));
        shutdown(fd, SHUT_WR);
        ssize_t got = recv(fd, answer, sizeof answer - 1, MSG_WAITALL);
        *(int *)failures += got <= 0 || !strstr(answer, "Spam: True");
        close(fd);
    }
    return NULL;
}

static void many_ask_while_some_teach(void **unused)
{
    (void)unused;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int failures[THREADS] = { 0 };
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &failures[i]), 0);
    for (int i = 0; i < 5; i++)
        assert_non_null(strstr(ask("TELL SPAMC/1.5\r\nMessage-class: ham\r\nSet: local\r\nContent-length: 29\r\n\r\n"
                                   "Subject: boats %d\n\nrowing %04d",
                                   i, i),
                               "DidSet: local"));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

static void only_this_machine_is_listened_to(void **unused)
{
    (void)unused;
    struct spamd *other = spamd_start((struct spamd_options){ .models = models, .where = "0.0.0.0:0" });
    assert_null(other);
    assert_null(spamd_start((struct spamd_options){ .models = models, .where = "nowhere" }));
    assert_null(spamd_start((struct spamd_options){ .models = models, .where = "unix:no/such/folder" }));
    other = spamd_start((struct spamd_options){ .models = models, .where = "127.0.0.1:0" });
    assert_non_null(other);
    assert_true(strncmp(spamd_name(other), "127.0.0.1:", 10) == 0 && spamd_name(other)[10] != '0');
    spamd_stop(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_command_is_answered_as_its_version_expects),
        TEST(process_returns_the_message_and_headers_its_headers),
        TEST(tell_reports_exactly_what_it_did),
        TEST(what_is_wrong_is_refused_with_its_reason),
        TEST(compressed_messages_are_unpacked_up_to_the_limit),
        TEST(a_request_may_come_byte_by_byte),
        TEST(clients_that_dawdle_are_dropped_and_hinder_nobody),
        TEST(nothing_is_learnt_from_half_a_message),
        TEST(answers_reach_clients_that_send_too_much),
        TEST(many_ask_while_some_teach),
        TEST(only_this_machine_is_listened_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

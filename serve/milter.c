/* milter.c — the filter as libmilter calls it.
 *
 * libmilter has a thread for each connection and calls a function for each step of the dialogue; a message is gathered
 * here as it will be delivered, and judged at its end. The mail server puts two headers at the top only afterwards,
 * from the envelope: who sent it and which host brought it. Mail that was learnt from a mailbox has them, so they are
 * made up here in the same form.
 *
 * libmilter waits in a thread of its own for SIGHUP, SIGTERM and SIGINT, ends at each of them within five seconds, and
 * drops what it was at. A signal goes to the first thread of a process if that one does not block it, so they come to
 * us instead. Only in its first moments, when that thread begins to wait, it may take one that is on its way to us. */
#include "milter.h"

#include "judge.h"
#include "service.h"
#include "support/messages.h"
#include "support/verdict_text.h"

#include <libmilter/mfapi.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a message that are kept to be judged: no more is read of it. */
enum { MOST_BYTES = 4 << 20 };

/* The only state outside connections. */
static const struct milter_options *options;
static struct models *models;
static atomic_int at_end;   /* messages that are being judged */
static twin_bloom *trusted; /* behind the lock: it is replaced */
static pthread_rwlock_t trusted_lock = PTHREAD_RWLOCK_INITIALIZER;

/* The headers that are ours, in the order of struct verdict_headers. */
static char *const own_names[VERDICT_HEADERS] = { "X-Spam-Flag", "X-Spam-Score", "X-Twinsift" };

struct connection {
    char *host, *hello;
    char address[INET6_ADDRSTRLEN];
    bool is_authenticated, is_incomplete; /* memory did not suffice for the message */
    twin_buffer message;
    int forged[VERDICT_HEADERS];
    unsigned long steps; /* what was agreed on */
};

static struct connection *connection_of(SMFICTX *context)
{
    return smfi_getpriv(context);
}

/* What libmilter is told when something fails that is not the sender's fault. */
static sfsistat failed(void)
{
    return options->failure == MILTER_TEMPFAIL ? SMFIS_TEMPFAIL : SMFIS_ACCEPT;
}

static const char *macro(SMFICTX *context, char *name)
{
    const char *value = smfi_getsymval(context, name);
    return value ? value : "";
}

/* ---- a message, as it will be delivered */

static void append(struct connection *connection, const char *bytes, size_t length)
{
    size_t room = MOST_BYTES - connection->message.length;
    if (twin_buffer_append(&connection->message, bytes, length < room ? length : room) != TWIN_OK)
        connection->is_incomplete = true;
}

static void append_string(struct connection *connection, const char *string)
{
    append(connection, string, strlen(string));
}

/* "Fri, 31 Jan 2026 12:00:00 +0000", in no locale. */
static void write_date(char *out, size_t room)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    struct tm t;
    if (!gmtime_r(&now, &t))
        t = (struct tm){ .tm_mday = 1, .tm_year = 70, .tm_wday = 4 };
    snprintf(out, room, "%.3s, %d %.3s %d %02d:%02d:%02d +0000", days + 3 * (size_t)t.tm_wday, t.tm_mday,
             months + 3 * (size_t)t.tm_mon, 1900 + t.tm_year, t.tm_hour, t.tm_min, t.tm_sec);
}

/* The two headers that the mail server will add for the envelope. */
static void begin_message(struct connection *connection, SMFICTX *context, const char *sender)
{
    char line[2048], date[64];
    size_t length = strlen(sender);
    bool bracketed = length >= 2 && sender[0] == '<';
    write_date(date, sizeof date);
    snprintf(
        line, sizeof line,
        "Return-Path: %s%.998s%s\r\nReceived: from %.255s (%.255s [%s])\r\n\tby %.255s with ESMTP id %.64s;\r\n\t"
        "%s\r\n",
        bracketed ? "" : "<", sender, bracketed ? "" : ">", connection->hello ? connection->hello : "unknown",
        connection->host ? connection->host : "unknown", connection->address, options->seal.host, macro(context, "i"),
        date);
    append_string(connection, line);
}

static void forget_message(struct connection *connection)
{
    connection->message.length = 0;
    connection->is_incomplete = false;
    memset(connection->forged, 0, sizeof connection->forged);
}

/* ---- the dialogue */

/* What a step answers to which the server may not want an answer. */
static sfsistat go_on(const struct connection *connection, unsigned long no_reply)
{
    return connection->steps & no_reply ? SMFIS_NOREPLY : SMFIS_CONTINUE;
}

static sfsistat negotiate(SMFICTX *context, unsigned long actions, unsigned long steps, unsigned long third,
                          unsigned long fourth, unsigned long *wanted_actions, unsigned long *wanted_steps,
                          unsigned long *wanted_third, unsigned long *wanted_fourth)
{
    (void)third;
    (void)fourth;
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection || smfi_setpriv(context, connection) != MI_SUCCESS) {
        free(connection);
        return SMFIS_REJECT; /* not the mail, but to speak: the server does without us */
    }
    connection->steps = steps & (SMFIP_NORCPT | SMFIP_NOUNKNOWN | SMFIP_NODATA | SMFIP_SKIP | SMFIP_HDR_LEADSPC |
                                 SMFIP_NR_CONN | SMFIP_NR_HELO | SMFIP_NR_HDR | SMFIP_NR_EOH);
    *wanted_actions = actions & (SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_QUARANTINE);
    *wanted_steps = connection->steps;
    *wanted_third = *wanted_fourth = 0;
    return SMFIS_CONTINUE;
}

/* A server that says it twice means the second. */
static void replace(char **string, const char *by)
{
    free(*string);
    *string = by ? strdup(by) : NULL;
}

static sfsistat begin_connection(SMFICTX *context, char *host, _SOCK_ADDR *address)
{
    struct connection *connection = connection_of(context);
    replace(&connection->host, host);
    if (address && address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((struct sockaddr_in *)address)->sin_addr, connection->address,
                  sizeof connection->address);
    else if (address && address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)address)->sin6_addr, connection->address,
                  sizeof connection->address);
    return go_on(connection, SMFIP_NR_CONN);
}

static sfsistat take_hello(SMFICTX *context, char *hello)
{
    struct connection *connection = connection_of(context);
    replace(&connection->hello, hello);
    return go_on(connection, SMFIP_NR_HELO);
}

static sfsistat take_sender(SMFICTX *context, char **arguments)
{
    struct connection *connection = connection_of(context);
    forget_message(connection);
    connection->is_authenticated = *macro(context, "{auth_authen}");
    begin_message(connection, context, arguments && arguments[0] ? arguments[0] : "<>");
    return SMFIS_CONTINUE;
}

static sfsistat take_header(SMFICTX *context, char *name, char *value)
{
    struct connection *connection = connection_of(context);
    for (size_t i = 0; i < VERDICT_HEADERS; i++)
        connection->forged[i] += strcasecmp(name, own_names[i]) == 0;
    append_string(connection, name);
    append_string(connection, connection->steps & SMFIP_HDR_LEADSPC ? ":" : ": ");
    append_string(connection, value);
    append_string(connection, "\r\n");
    return go_on(connection, SMFIP_NR_HDR);
}

static sfsistat end_headers(SMFICTX *context)
{
    struct connection *connection = connection_of(context);
    append_string(connection, "\r\n");
    return go_on(connection, SMFIP_NR_EOH);
}

static sfsistat take_body(SMFICTX *context, unsigned char *bytes, size_t length)
{
    struct connection *connection = connection_of(context);
    append(connection, (const char *)bytes, length);
    bool is_full = connection->message.length == MOST_BYTES;
    return is_full && connection->steps & SMFIP_SKIP ? SMFIS_SKIP : SMFIS_CONTINUE;
}

/* ---- the verdict */

/* From the last to the first, since those behind a header that is removed change their numbers. */
static bool remove_forged(SMFICTX *context, struct connection *connection)
{
    bool good = true;
    for (size_t i = 0; i < VERDICT_HEADERS; i++)
        for (int number = connection->forged[i]; number > 0 && good; number--)
            good = smfi_chgheader(context, own_names[i], number, NULL) == MI_SUCCESS;
    return good;
}

static bool add_headers(SMFICTX *context, const struct connection *connection, const struct judged *judged)
{
    struct verdict_headers headers;
    char about[SEAL_ROOM];
    bool good = true;
    verdict_headers_write(&headers, &judged->verdict);
    seal_write(about, sizeof about, &options->seal, headers.about, judged->message->id);
    for (int i = VERDICT_HEADERS - 1; i >= 0 && good; i--) {
        char text[SEAL_ROOM + 1];
        const char *value = i == VERDICT_HEADERS - 1 ? about : headers.fields[i].value.bytes;
        snprintf(text, sizeof text, "%s%s", connection->steps & SMFIP_HDR_LEADSPC ? " " : "", value);
        good = smfi_insheader(context, 0, own_names[i], text) == MI_SUCCESS;
    }
    return good;
}

/* One line, with nothing of the message: a mail server's log has the rest under the same id. */
static void report(SMFICTX *context, const twin_mail_verdict *verdict, const char *done)
{
    char reason[VERDICT_REASON_ROOM];
    if (!options->quiet)
        warn("%s: %s, score %.6f, %s; %s", macro(context, "i"), verdict_name(verdict), verdict->score,
             verdict_reason(reason, verdict), done);
}

static sfsistat act(SMFICTX *context, const struct connection *connection, const struct judged *judged)
{
    char refusal[128];
    const twin_mail_verdict *verdict = &judged->verdict;
    bool is_meant = verdict_is_spam(verdict) && verdict->score >= options->above;
    if (is_meant && options->action == MILTER_REJECT) {
        snprintf(refusal, sizeof refusal, "This message was classified as spam (%.64s)", macro(context, "i"));
        if (smfi_setreply(context, "550", "5.7.1", refusal) != MI_SUCCESS)
            return failed();
        report(context, verdict, "rejected");
        return SMFIS_REJECT;
    }
    if (!add_headers(context, connection, judged)) {
        warn("%s: the mail server takes no headers", macro(context, "i"));
        return failed();
    }
    if (is_meant && options->action == MILTER_QUARANTINE) {
        if (smfi_quarantine(context, "classified as spam by twinsift") != MI_SUCCESS)
            return failed();
        report(context, verdict, "quarantined");
        return SMFIS_ACCEPT;
    }
    report(context, verdict, "marked");
    return SMFIS_ACCEPT;
}

static sfsistat judge(SMFICTX *context, struct connection *connection)
{
    struct judged judged;
    twin_error error = { 0 };
    pthread_rwlock_rdlock(&trusted_lock);
    twin_text raw = { connection->message.bytes, connection->message.length };
    twin_status status = judge_begin(&judged, models, NULL, raw, trusted, &error);
    pthread_rwlock_unlock(&trusted_lock);
    sfsistat result;
    if (status == TWIN_OK) {
        result = act(context, connection, &judged);
    } else {
        warn("%s: not judged: %s", macro(context, "i"), error.message[0] ? error.message : twin_status_text(status));
        result = failed();
    }
    judge_end(&judged, models);
    return result;
}

static sfsistat end_message(SMFICTX *context)
{
    struct connection *connection = connection_of(context);
    sfsistat result = SMFIS_ACCEPT;
    at_end++;
    if (!remove_forged(context, connection) || connection->is_incomplete) {
        warn("%s: not judged: out of memory, or the mail server does not let headers be removed",
             macro(context, "i"));
        result = failed();
    } else if (!connection->is_authenticated) {
        result = judge(context, connection);
    }
    forget_message(connection);
    at_end--;
    return result;
}

static sfsistat abort_message(SMFICTX *context)
{
    struct connection *connection = connection_of(context);
    if (connection)
        forget_message(connection);
    return SMFIS_CONTINUE;
}

static sfsistat end_connection(SMFICTX *context)
{
    struct connection *connection = connection_of(context);
    if (!connection)
        return SMFIS_CONTINUE;
    twin_buffer_clear(&connection->message);
    free(connection->host);
    free(connection->hello);
    free(connection);
    smfi_setpriv(context, NULL);
    return SMFIS_CONTINUE;
}

/* ---- the process */

static bool read_trusted(void)
{
    twin_bloom *fresh = NULL, *old;
    twin_error error = { 0 };
    if (!options->trusted)
        return true;
    twin_status status = twin_bloom_open(&fresh, options->trusted, (twin_bloom_open_options){ 0 }, &error);
    if (status != TWIN_OK)
        return refuse_status(options->trusted, status, &error);
    pthread_rwlock_wrlock(&trusted_lock);
    old = trusted;
    trusted = fresh;
    pthread_rwlock_unlock(&trusted_lock);
    twin_bloom_free(old);
    return true;
}

/* libmilter's name of the socket. */
static bool name_socket(char *out, size_t room)
{
    const char *listen = options->listen, *colon = strrchr(listen, ':');
    int length;
    if (strncmp(listen, "unix:", 5) == 0)
        length = snprintf(out, room, "%s", listen);
    else if (colon && listen[0] == '[' && colon > listen + 1 && colon[-1] == ']')
        length = snprintf(out, room, "inet6:%s@%.*s", colon + 1, (int)(colon - listen - 2), listen + 1);
    else if (colon && colon > listen)
        length = snprintf(out, room, "inet:%s@%.*s", colon + 1, (int)(colon - listen), listen);
    else
        return refuse("--listen %s: write ADDRESS:PORT or unix:PATH", listen);
    return length < (int)room || refuse("--listen %s: the name is too long", listen);
}

static bool open_socket(void)
{
    static struct smfiDesc filter = {
        .xxfi_name = "twinsift",
        .xxfi_version = SMFI_VERSION,
        .xxfi_flags = SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_QUARANTINE,
        .xxfi_connect = begin_connection,
        .xxfi_helo = take_hello,
        .xxfi_envfrom = take_sender,
        .xxfi_header = take_header,
        .xxfi_eoh = end_headers,
        .xxfi_body = take_body,
        .xxfi_eom = end_message,
        .xxfi_abort = abort_message,
        .xxfi_close = end_connection,
        .xxfi_negotiate = negotiate,
    };
    char name[512];
    if (!name_socket(name, sizeof name))
        return false;
    mode_t before = umask(0117); /* of a socket in the file system: the owner and the group may connect */
    bool good = smfi_setconn(name) == MI_SUCCESS && smfi_register(filter) == MI_SUCCESS &&
                smfi_opensocket(true) == MI_SUCCESS;
    umask(before);
    return good || refuse("cannot listen on %s: %s", options->listen, strerror(errno));
}

static sem_t event; /* something has happened of: */
static atomic_bool is_reload_wanted, is_end_wanted, has_ended;

static void note_signal(int number)
{
    *(number == SIGHUP ? &is_reload_wanted : &is_end_wanted) = true;
    sem_post(&event);
}

static void *run_libmilter(void *good)
{
    *(bool *)good = smfi_main() == MI_SUCCESS;
    has_ended = true;
    sem_post(&event);
    return NULL;
}

/* The first thread must never block these signals, or libmilter would take them. */
static void take_signals(void)
{
    static const int numbers[] = { SIGHUP, SIGTERM, SIGINT };
    struct sigaction action = { .sa_handler = note_signal, .sa_flags = SA_RESTART | SA_NODEFER };
    sigset_t set;
    sigemptyset(&set);
    sem_init(&event, 0, 0);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaddset(&set, numbers[i]);
        sigaction(numbers[i], &action, NULL);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Waits until no message is at its end, for five seconds at most, and ends the process. Threads of libmilter still wait
 * for their servers, and cannot be told to leave, so nothing of theirs is taken down. Servers take the end of a
 * connection for the failure of a filter, which they are set up for. */
static void end(void)
{
    enum { TURNS = 500 };
    const struct timespec turn = { .tv_nsec = 10000000 };
    service_notify("STOPPING=1");
    int turns = 0;
    do
        nanosleep(&turn, NULL); /* also the time that the last answer takes to leave */
    while (++turns < TURNS && atomic_load(&at_end) > 0);
    if (strncmp(options->listen, "unix:", 5) == 0)
        unlink(options->listen + 5);
    fflush(NULL);
    _exit(EXIT_DONE);
}

static bool serve(void)
{
    bool good = false;
    pthread_t libmilter;
    if (pthread_create(&libmilter, NULL, run_libmilter, &good) != 0)
        return refuse_status("the milter", TWIN_ENOMEM, NULL);
    service_notify("READY=1");
    while (!has_ended) {
        sem_wait(&event);
        if (is_end_wanted)
            end();
        if (atomic_exchange(&is_reload_wanted, false))
            read_trusted();
    }
    pthread_join(libmilter, NULL);
    return good || refuse("the milter has ended: libmilter reports why in the system's log");
}

static void log_sentence(const char *sentence)
{
    warn("%s", sentence);
}

int milter_run(const struct milter_options *wanted)
{
    twin_error error = { 0 };
    options = wanted;
    take_signals();
    if (!read_trusted())
        return EXIT_ERROR;
    twin_status status =
        models_start(&models, (struct models_options){ .path = options->model, .log = log_sentence }, &error);
    bool good = status == TWIN_OK ? open_socket() && serve() : refuse_status(options->model, status, &error);
    models_stop(models);
    twin_bloom_free(trusted);
    return good ? EXIT_DONE : EXIT_ERROR;
}

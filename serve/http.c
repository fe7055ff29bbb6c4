/* http.c — the life of a request.
 *
 *     head          begin(): host, route, method, token, origin, content type, length: an error is answered at once
 *     body          take_body(): bytes are gathered; of NDJSON, full blocks go to the pool while the rest waits
 *     all there     hand_over(): to the pool of the route, with the connection suspended
 *     answered      answer(): the connection was resumed, and the answer is queued
 *
 * libmicrohttpd calls the handler for each of these, from the thread of the connection. Between suspension and
 * resumption the exchange belongs to a thread of a pool, or to who promised the answer; it never belongs to two.
 *
 * libmicrohttpd's own timeout begins anew with each byte. So each connection has a deadline for its present step, and
 * a thread shuts down the sockets of those that missed it. */
#include "http.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/messages.h"

enum {
    HEAD_BYTES = 32 << 10,   /* of a connection: request line and headers, and then a piece of the body */
    BLOCK_BYTES = 256 << 10, /* of NDJSON, worked on at once */
    OUT_IN_MEMORY = 1 << 20, /* of an answer */
    ALL_BODIES = 512 << 20,  /* bytes of bodies in memory */
    QUEUE_PER_THREAD = 64,   /* requests that wait for a pool */
    TOKEN_BYTES = 256,
    COSTLY_US = 10000,                /* of a processor; a usual query takes 100 */
    MOST_US = 10000000,               /* of a processor: a long call ends then */
    SLOWEST_BYTES_PER_SECOND = 10000, /* at which a client may send and take */
};

/* A connection, for its deadline. */
struct wire {
    struct wire *next, **at;
    int fd;
    int64_t deadline;         /* milliseconds; 0: none */
    bool is_known, is_costly; /* it had a request, and the last one was costly; of the exchange that it has */
};

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    struct pool *pools[POOLS];
    pthread_mutex_t lock; /* of wires and token */
    struct wire *wires;
    size_t wire_count;
    char token[TOKEN_BYTES];
    pthread_t reaper;
    bool has_reaper;
    atomic_bool ending, hurrying;     /* nothing more is accepted; nothing more is waited for */
    atomic_size_t active, body_bytes; /* exchanges; bytes of their bodies */
};

/* An exchange with what only this file knows of it. */
struct transfer {
    struct exchange exchange; /* first: one is the other */
    struct job job;
    struct http *http;
    struct MHD_Connection *connection;
    struct wire *wire;
    bool refused, is_over, is_done;
    bool has_line; /* a line of the body is complete */
    twin_buffer body;
    size_t charged, kept; /* of the budget of all bodies: for the body, and by the route */
    int64_t work_begun;   /* in the time of the processor */
    char *path;
    char *written; /* behind `out` */
    size_t written_bytes;
    int spill; /* the beginning of a long answer; -1: none */
    uint64_t spilled;
    struct timespec begun;
};

static struct transfer *transfer_of(struct exchange *exchange)
{
    return (struct transfer *)exchange;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static double seconds_since(struct timespec begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9;
}

/* ---- deadlines */

static void set_deadline(struct http *http, struct wire *wire, int64_t milliseconds)
{
    if (!wire)
        return;
    pthread_mutex_lock(&http->lock);
    wire->deadline = milliseconds ? now_ms() + milliseconds : 0;
    pthread_mutex_unlock(&http->lock);
}

static int64_t step_ms(const struct http *http)
{
    return (int64_t)http->options.timeout * 1000;
}

/* Milliseconds for so many bytes. */
static int64_t time_for(uint64_t bytes)
{
    return (int64_t)(bytes * 1000 / SLOWEST_BYTES_PER_SECOND);
}

static void add_wire(struct http *http, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct wire *wire = info ? calloc(1, sizeof *wire) : NULL;
    *context = wire;
    if (!wire)
        return;
    wire->fd = info->connect_fd;
    pthread_mutex_lock(&http->lock);
    wire->deadline = now_ms() + step_ms(http);
    wire->next = http->wires;
    wire->at = &http->wires;
    if (wire->next)
        wire->next->at = &wire->next;
    http->wires = wire;
    http->wire_count++;
    pthread_mutex_unlock(&http->lock);
}

static void remove_wire(struct http *http, struct wire *wire)
{
    if (!wire)
        return;
    pthread_mutex_lock(&http->lock);
    *wire->at = wire->next;
    if (wire->next)
        wire->next->at = wire->at;
    http->wire_count--;
    pthread_mutex_unlock(&http->lock);
    free(wire);
}

static void watch_connection(void *context, struct MHD_Connection *connection, void **of_socket,
                             enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        add_wire(context, connection, of_socket);
    else
        remove_wire(context, *of_socket);
}

/* Its socket stays that of the connection until remove_wire(), which waits for the lock. */
static void *reap(void *context)
{
    struct http *http = context;
    while (!atomic_load(&http->ending)) {
        usleep(200000);
        int64_t now = now_ms();
        pthread_mutex_lock(&http->lock);
        for (struct wire *wire = http->wires; wire; wire = wire->next)
            if (wire->deadline && wire->deadline < now) {
                shutdown(wire->fd, SHUT_RDWR);
                wire->deadline = 0;
            }
        pthread_mutex_unlock(&http->lock);
    }
    return NULL;
}

/* ---- exchanges */

static void open_out(struct transfer *transfer)
{
    transfer->exchange.out = open_memstream(&transfer->written, &transfer->written_bytes);
}

static struct transfer *create_transfer(struct http *http, struct MHD_Connection *connection, const char *path)
{
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        return NULL;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    transfer->exchange.server = http->options.server;
    transfer->exchange.status = MHD_HTTP_OK;
    transfer->exchange.type = "application/json";
    transfer->http = http;
    transfer->connection = connection;
    transfer->wire = info ? info->socket_context : NULL;
    transfer->spill = -1;
    transfer->path = strdup(path);
    clock_gettime(CLOCK_MONOTONIC, &transfer->begun);
    open_out(transfer);
    atomic_fetch_add(&http->active, 1);
    if (transfer->path && transfer->exchange.out)
        return transfer;
    atomic_fetch_sub(&http->active, 1);
    if (transfer->exchange.out)
        fclose(transfer->exchange.out);
    free(transfer->written);
    free(transfer->path);
    free(transfer);
    return NULL;
}

static void free_transfer(struct transfer *transfer)
{
    if (transfer->exchange.free_state)
        transfer->exchange.free_state(transfer->exchange.state);
    if (transfer->exchange.out)
        fclose(transfer->exchange.out);
    if (transfer->spill >= 0)
        close(transfer->spill);
    atomic_fetch_sub(&transfer->http->body_bytes, transfer->charged + transfer->kept);
    atomic_fetch_sub(&transfer->http->active, 1);
    twin_buffer_clear(&transfer->exchange.room);
    twin_buffer_clear(&transfer->body);
    free(transfer->written);
    free(transfer->path);
    free(transfer);
}

const char *exchange_parameter(const struct exchange *exchange, const char *name)
{
    const struct transfer *transfer = (const struct transfer *)exchange;
    const char *value = NULL;
    size_t length;
    if (MHD_lookup_connection_value_n(transfer->connection, MHD_GET_ARGUMENT_KIND, name, strlen(name), &value,
                                      &length) != MHD_YES)
        return NULL;
    return value ? value : "";
}

/* ---- the head of a request */

/* Without a path of its own, a colon and digits at the end are a port. */
static size_t length_without_port(const char *host)
{
    const char *colon = strrchr(host, ':');
    if (colon && !strchr(colon, ']') && (host[0] == '[' || strchr(host, ':') == colon))
        return (size_t)(colon - host);
    return strlen(host);
}

static bool is_known_host(const struct http *http, const char *host)
{
    static const char *const own[] = { "localhost", "127.0.0.1", "[::1]" };
    size_t length = host ? length_without_port(host) : 0;
    if (http->options.any_host)
        return true;
    for (size_t i = 0; i < sizeof own / sizeof own[0] + http->options.host_count; i++) {
        const char *name =
            i < sizeof own / sizeof own[0] ? own[i] : http->options.hosts[i - sizeof own / sizeof own[0]];
        if (length == strlen(name) && length && strncasecmp(host, name, length) == 0)
            return true;
    }
    return false;
}

/* Whether the path fits, and its names, which are cut out of `path`. */
static bool match_path(const char *names[EXCHANGE_NAMES], char *path, const char *pattern)
{
    size_t count = 0;
    while (*pattern && *path) {
        if (strcmp(pattern, "**") == 0) {
            names[count] = path;
            return true;
        }
        if (*pattern == '*') {
            size_t length = strcspn(path, "/");
            if (length == 0)
                return false;
            names[count++] = path;
            path += length;
            pattern++;
            if (*path == '/' && *pattern == '/') {
                *path++ = '\0';
                pattern++;
            }
            continue;
        }
        if (*pattern++ != *path++)
            return false;
    }
    return !*pattern && !*path;
}

static bool is_method(const struct route *route, const char *method)
{
    return strcmp(route->method, method) == 0 || (strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

/* Finds the route, or refuses: 404, or 405 if another method would do. */
static bool find_route(struct transfer *transfer, const char *path, const char *method)
{
    bool is_path = false;
    for (const struct route *route = transfer->http->options.routes; route->name; route++) {
        const char *names[EXCHANGE_NAMES] = { NULL };
        memcpy(transfer->path, path, strlen(path) + 1); /* it was cut */
        if (!match_path(names, transfer->path, route->path))
            continue;
        is_path = true;
        if (!is_method(route, method))
            continue;
        transfer->exchange.route = route;
        memcpy(transfer->exchange.names, names, sizeof names);
        return true;
    }
    if (is_path)
        exchange_fail(&transfer->exchange, MHD_HTTP_METHOD_NOT_ALLOWED, "method", "this path has no such method");
    else
        exchange_fail(&transfer->exchange, MHD_HTTP_NOT_FOUND, "route", "there is no such path");
    return false;
}

static const char *header_of(const struct transfer *transfer, const char *name)
{
    return MHD_lookup_connection_value(transfer->connection, MHD_HEADER_KIND, name);
}

/* Takes as long whatever the difference. */
static bool same_token(const char token[TOKEN_BYTES], const char *given)
{
    unsigned char difference = 0;
    size_t length = strlen(given), own = strlen(token);
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        difference |= (unsigned char)((i < length ? given[i] : 0) ^ (i < own ? token[i] : 0));
    return own > 0 && length < TOKEN_BYTES && difference == 0;
}

static bool has_token(struct transfer *transfer)
{
    const char *given = header_of(transfer, "Authorization");
    if (!given || strncasecmp(given, "Bearer ", 7) != 0)
        return false;
    pthread_mutex_lock(&transfer->http->lock);
    bool same = same_token(transfer->http->token, given + 7);
    pthread_mutex_unlock(&transfer->http->lock);
    return same;
}

/* What a browser says of the page that asks: only pages of this server may change anything. */
static bool is_own_page(const struct transfer *transfer)
{
    const char *origin = header_of(transfer, "Origin"), *site = header_of(transfer, "Sec-Fetch-Site");
    const char *host = header_of(transfer, "Host");
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return false;
    if (!origin)
        return true;
    const char *name = strstr(origin, "://");
    return name && host && strcasecmp(name + 3, host) == 0;
}

static bool may_pass(struct transfer *transfer)
{
    const struct route *route = transfer->exchange.route;
    bool guarded = route->changes || (transfer->http->options.guard_reading && strncmp(route->path, "/v1/", 4) == 0);
    if (!guarded)
        return true;
    if (!is_own_page(transfer)) {
        exchange_fail(&transfer->exchange, MHD_HTTP_FORBIDDEN, "origin", "pages of other sites may change nothing");
        return false;
    }
    if (has_token(transfer))
        return true;
    exchange_fail(&transfer->exchange, MHD_HTTP_UNAUTHORIZED, "token",
                  "this needs the token: Authorization: Bearer TOKEN");
    return false;
}

/* Whether `type` is `name`, perhaps with parameters. */
static bool is_type(const char *type, const char *name)
{
    size_t length = strlen(name);
    return strncasecmp(type, name, length) == 0 && (type[length] == '\0' || strchr(" \t;", type[length]));
}

static bool check_type(struct transfer *transfer)
{
    static const struct {
        enum content content;
        const char *name;
    } types[] = { { CONTENT_MAIL, "message/rfc822" },
                  { CONTENT_JSON, "application/json" },
                  { CONTENT_TEXT, "text/plain" },
                  { CONTENT_LINES, "application/x-ndjson" } };
    const char *type = header_of(transfer, "Content-Type");
    unsigned takes = transfer->exchange.route->takes;
    for (size_t i = 0; type && i < sizeof types / sizeof types[0]; i++)
        if ((takes & types[i].content) && is_type(type, types[i].name)) {
            transfer->exchange.content = types[i].content;
            return true;
        }
    if (!takes)
        return true;
    char sentence[160] = "the Content-Type must be ";
    for (size_t i = 0, count = 0; i < sizeof types / sizeof types[0]; i++)
        if (takes & types[i].content) {
            size_t length = strlen(sentence);
            snprintf(sentence + length, sizeof sentence - length, "%s%s", count++ ? " or " : "", types[i].name);
        }
    exchange_fail(&transfer->exchange, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "type", sentence);
    return false;
}

static bool has_lines(const struct transfer *transfer)
{
    return transfer->exchange.content == CONTENT_LINES && transfer->exchange.route->line;
}

static const char TOO_LONG[] = "the request is longer than this server takes";

static bool check_length(struct transfer *transfer)
{
    const char *length = header_of(transfer, "Content-Length");
    bool any = has_lines(transfer) || !length;
    if (any || strtoull(length, NULL, 10) <= (transfer->exchange.route->takes ? transfer->http->options.max_body : 0))
        return true;
    exchange_fail(&transfer->exchange, MHD_HTTP_CONTENT_TOO_LARGE, "length", TOO_LONG);
    return false;
}

static bool check_host(struct transfer *transfer)
{
    if (is_known_host(transfer->http, header_of(transfer, "Host")))
        return true;
    exchange_fail(&transfer->exchange, MHD_HTTP_MISDIRECTED_REQUEST, "host",
                  "the server is not known under this host; see --host");
    return false;
}

static enum MHD_Result answer(struct transfer *transfer);

/* After the head. An error is answered before the body is sent. */
static enum MHD_Result begin(struct transfer *transfer, const char *path, const char *method)
{
    const char *length = header_of(transfer, "Content-Length");
    uint64_t bytes = length ? strtoull(length, NULL, 10) : 0, most = transfer->http->options.max_body;
    set_deadline(transfer->http, transfer->wire, step_ms(transfer->http) + time_for(bytes < most ? bytes : most));
    transfer->refused = !check_host(transfer) || !find_route(transfer, path, method) || !may_pass(transfer) ||
                        !check_type(transfer) || !check_length(transfer);
    return transfer->refused ? answer(transfer) : MHD_YES;
}

/* ---- work */

static int64_t processor_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool goes_on(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)stage, (void)done, (void)total;
    const struct transfer *transfer = context;
    return !atomic_load(&transfer->http->hurrying) && processor_us() - transfer->work_begun < MOST_US;
}

twin_progress exchange_progress(struct exchange *exchange)
{
    return (twin_progress){ goes_on, transfer_of(exchange) };
}

void exchange_stopped(struct exchange *exchange)
{
    if (atomic_load(&transfer_of(exchange)->http->hurrying))
        exchange_fail(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "stopped", "the server ends");
    else
        exchange_fail(exchange, 422, "limit",
                      "this takes more than ten seconds of a processor: use the command line");
}

static void leave_work(struct transfer *transfer)
{
    struct MHD_Connection *connection = transfer->connection;
    set_deadline(transfer->http, transfer->wire, step_ms(transfer->http));
    MHD_resume_connection(connection); /* from here on the exchange is the connection's again */
}

/* Moves a long answer to a file, so that it does not fill the memory. */
static void spill_answer(struct transfer *transfer)
{
    struct exchange *exchange = &transfer->exchange;
    fflush(exchange->out);
    size_t length = transfer->written_bytes;
    if (length < OUT_IN_MEMORY)
        return;
    if (transfer->spill < 0) {
        FILE *file = tmpfile();
        transfer->spill = file ? dup(fileno(file)) : -1;
        if (file)
            fclose(file);
    }
    ssize_t put = 0;
    for (size_t at = 0; at < length && transfer->spill >= 0 && put >= 0; at += (size_t)put)
        put = pwrite(transfer->spill, transfer->written + at, length - at, (off_t)(transfer->spilled + at));
    if (transfer->spill < 0 || put < 0)
        return; /* it stays in memory */
    transfer->spilled += length;
    fclose(exchange->out);
    free(transfer->written);
    transfer->written = NULL;
    open_out(transfer);
}

/* The lines of the block that are complete, or all if no more comes. */
static void run_lines(struct transfer *transfer)
{
    struct exchange *exchange = &transfer->exchange;
    char *bytes = transfer->body.bytes;
    size_t at = 0, length = bytes ? transfer->body.length : 0;
    while (at < length && exchange->out) {
        char *end = memchr(bytes + at, '\n', length - at);
        if (!end && !transfer->is_over)
            break;
        size_t stop = end ? (size_t)(end - bytes) : length;
        twin_text line = { bytes + at, stop - at };
        exchange->line_number++;
        if (line.length && line.bytes[line.length - 1] == '\r')
            line.length--;
        exchange->line_begin = (size_t)ftello(exchange->out);
        if (line.length)
            exchange->route->line(exchange, line);
        at = end ? stop + 1 : length;
        if (ftello(exchange->out) > OUT_IN_MEMORY)
            spill_answer(transfer);
    }
    if (at) {
        memmove(bytes, bytes + at, length - at);
        transfer->body.length = length - at;
    }
    transfer->has_line = false;
    if (transfer->is_over && exchange->route->end && exchange->out) {
        exchange->line_begin = (size_t)ftello(exchange->out);
        exchange->route->end(exchange);
    }
}

static void run_job(struct job *job, struct worker *worker)
{
    struct transfer *transfer = (struct transfer *)((char *)job - offsetof(struct transfer, job));
    struct exchange *exchange = &transfer->exchange;
    bool later = exchange->route->later; /* then the exchange may be gone when run() returns */
    int64_t begun = transfer->work_begun = processor_us();
    exchange->worker = worker;
    exchange->body = (twin_text){ transfer->body.bytes ? transfer->body.bytes : "", transfer->body.length };
    if (has_lines(transfer))
        run_lines(transfer);
    else
        exchange->route->run(exchange);
    if (later)
        return;
    if (transfer->wire) {
        transfer->wire->is_known = true;
        transfer->wire->is_costly = processor_us() - begun > COSTLY_US;
    }
    transfer->is_done = transfer->is_over;
    leave_work(transfer);
}

void exchange_finish(struct exchange *exchange)
{
    struct transfer *transfer = transfer_of(exchange);
    transfer->is_done = true;
    leave_work(transfer);
}

/* Suspends the connection and has a pool work; first the one, then the other, since a pool may be done at once. */
static enum MHD_Result hand_over(struct transfer *transfer)
{
    struct http *http = transfer->http;
    const struct wire *wire = transfer->wire;
    enum pool_kind pool = transfer->exchange.route->pool;
    if (pool == POOL_INDEX && !(wire && wire->is_known))
        pool = POOL_NEW;
    else if (pool == POOL_INDEX && wire->is_costly)
        pool = POOL_SLOW;
    set_deadline(http, transfer->wire, 0);
    transfer->job.run = run_job;
    MHD_suspend_connection(transfer->connection);
    if (pool_submit(http->pools[pool], &transfer->job))
        return MHD_YES;
    transfer->exchange.line_begin = (size_t)ftello(transfer->exchange.out); /* of NDJSON, what is done stays */
    exchange_fail(&transfer->exchange, MHD_HTTP_TOO_MANY_REQUESTS, "busy", "too many requests wait; try again later");
    transfer->is_done = transfer->is_over = true;
    leave_work(transfer);
    return MHD_YES;
}

/* ---- the body */

/* False: all bodies together would be too much. */
static bool charge(struct http *http, size_t *charged, size_t bytes)
{
    if (atomic_fetch_add(&http->body_bytes, bytes) + bytes > ALL_BODIES) {
        atomic_fetch_sub(&http->body_bytes, bytes);
        return false;
    }
    *charged += bytes;
    return true;
}

bool exchange_charge(struct exchange *exchange, size_t bytes)
{
    struct transfer *transfer = transfer_of(exchange);
    return charge(transfer->http, &transfer->kept, bytes);
}

/* Clients read answers when they have sent all: until the deadline, what still comes is passed over. */
static enum MHD_Result refuse_body(struct transfer *transfer, unsigned status, const char *code, const char *sentence)
{
    struct exchange *exchange = &transfer->exchange;
    atomic_fetch_sub(&transfer->http->body_bytes, transfer->charged);
    transfer->charged = 0;
    twin_buffer_clear(&transfer->body);
    exchange->line_begin = (size_t)ftello(exchange->out); /* of NDJSON, what is done stays */
    exchange->line_number += exchange->line_number > 0;   /* the next one is meant */
    exchange_fail(exchange, status, code, sentence);
    transfer->is_done = transfer->refused = true;
    return MHD_YES;
}

/* A block is handed over before new bytes are taken, which come again when it is done: where a body is chunked, libmicrohttpd
 * would else give us the next chunk at once, while the exchange is another thread's. */
static enum MHD_Result take_body(struct transfer *transfer, const char *bytes, size_t *length)
{
    bool lines = has_lines(transfer);
    size_t taken = *length;
    bool more = transfer->body.length + taken > transfer->charged;
    if (transfer->is_done) { /* it was refused, or a pool was full in the middle of lines: nothing more is read */
        *length = 0;
        return MHD_YES;
    }
    if (transfer->has_line && transfer->body.length >= BLOCK_BYTES)
        return hand_over(transfer);
    *length = 0;
    if (transfer->body.length + taken > transfer->http->options.max_body + (lines ? BLOCK_BYTES : 0))
        return refuse_body(transfer, MHD_HTTP_CONTENT_TOO_LARGE, "length", /* it is chunked, or of one line */
                           lines ? "a line is longer than this server takes" : TOO_LONG);
    if (more && !charge(transfer->http, &transfer->charged, taken))
        return refuse_body(transfer, MHD_HTTP_SERVICE_UNAVAILABLE, "memory",
                           "out of memory for the bodies of all requests; try again later");
    if (twin_buffer_append(&transfer->body, bytes, taken) != TWIN_OK)
        return MHD_NO;
    transfer->has_line |= lines && memchr(bytes, '\n', taken);
    return MHD_YES;
}

/* ---- the answer */

static struct MHD_Response *make_response(struct transfer *transfer)
{
    struct exchange *exchange = &transfer->exchange;
    bool good = exchange->out && fflush(exchange->out) == 0;
    off_t end = good ? ftello(exchange->out) : 0; /* an error may be shorter than what it replaced */
    if (exchange->out)
        fclose(exchange->out);
    exchange->out = NULL;
    if (!good)
        return NULL;
    if (transfer->spill >= 0) {
        uint64_t all = transfer->spilled + (uint64_t)end;
        if (pwrite(transfer->spill, transfer->written, (size_t)end, (off_t)transfer->spilled) != end)
            return NULL;
        struct MHD_Response *response = MHD_create_response_from_fd64(all, transfer->spill);
        transfer->spill = -1;
        return response;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer((size_t)end, transfer->written, MHD_RESPMEM_MUST_FREE);
    transfer->written = NULL;
    return response;
}

static void add_headers(struct MHD_Response *response, const struct transfer *transfer)
{
    const struct exchange *exchange = &transfer->exchange;
    static const char *const common[][2] = {
        { "Content-Security-Policy",
          "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'" },
        { "X-Content-Type-Options", "nosniff" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
        { "Cache-Control", "no-store" },
    };
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        MHD_add_response_header(response, common[i][0], common[i][1]);
    MHD_add_response_header(response, "Content-Type",
                            has_lines(transfer) && exchange->status == MHD_HTTP_OK ? "application/x-ndjson"
                                                                                   : exchange->type);
    if (exchange->status == MHD_HTTP_TOO_MANY_REQUESTS || exchange->status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, "Retry-After", "1");
    if (exchange->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (transfer->refused || atomic_load(&transfer->http->ending))
        MHD_add_response_header(response, "Connection", "close");
}

static void add_allow(struct MHD_Response *response, struct transfer *transfer)
{
    char allow[64] = "";
    for (const struct route *route = transfer->http->options.routes; route->name; route++) {
        const char *names[EXCHANGE_NAMES];
        char *path = strdup(transfer->path);
        if (path && match_path(names, path, route->path))
            snprintf(allow + strlen(allow), sizeof allow - strlen(allow), "%s%s", allow[0] ? ", " : "",
                     route->method);
        free(path);
    }
    MHD_add_response_header(response, "Allow", allow);
}

static enum MHD_Result answer(struct transfer *transfer)
{
    struct exchange *exchange = &transfer->exchange;
    struct http *http = transfer->http;
    unsigned status = exchange->status;
    struct MHD_Response *response = make_response(transfer);
    if (!response)
        return MHD_NO;
    add_headers(response, transfer);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        add_allow(response, transfer);
    set_deadline(http, transfer->wire, step_ms(http) + time_for(transfer->spilled + transfer->written_bytes));
    enum MHD_Result result = MHD_queue_response(transfer->connection, status, response);
    MHD_destroy_response(response);
    metrics_request(http->options.metrics, exchange->route ? exchange->route->name : "none", status,
                    seconds_since(transfer->begun));
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *bytes, size_t *length, void **of_request)
{
    (void)version;
    struct transfer *transfer = *of_request;
    if (!transfer) {
        transfer = create_transfer(context, connection, path);
        *of_request = transfer;
        return transfer ? begin(transfer, path, method) : MHD_NO;
    }
    if (*length)
        return take_body(transfer, bytes, length);
    if (transfer->is_done)
        return answer(transfer);
    transfer->is_over = true;
    if (transfer->exchange.route->pool != POOL_NONE)
        return hand_over(transfer);
    transfer->exchange.route->run(&transfer->exchange);
    return answer(transfer);
}

/* The client has the answer, or is gone. */
static void complete(void *context, struct MHD_Connection *connection, void **of_request,
                     enum MHD_RequestTerminationCode how)
{
    struct http *http = context;
    struct transfer *transfer = *of_request;
    (void)connection, (void)how;
    if (!transfer)
        return;
    set_deadline(http, transfer->wire, step_ms(http));
    free_transfer(transfer);
    *of_request = NULL;
}

/* ---- the daemon */

/* %00 is left as it is, so that no name ends before its end. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    char *out = text;
    for (const char *in = text; *in; in++) {
        unsigned long value;
        char digits[3] = { in[0] == '%' ? in[1] : '\0', in[0] == '%' && in[1] ? in[2] : '\0', 0 };
        if (strlen(digits) == 2 && strspn(digits, "0123456789abcdefABCDEF") == 2 &&
            (value = strtoul(digits, NULL, 16)) != 0) {
            *out++ = (char)value;
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    return (size_t)(out - text);
}

/* Its messages may quote requests, so that only what concerns the machine is passed on. */
static void log_of_daemon(void *context, const char *format, va_list arguments)
{
    struct http *http = context;
    (void)arguments;
    if (strncmp(format, "Hit process or system resource limit", 36) == 0)
        http->options.log("a connection could not be accepted: too many files or connections are open");
}

static bool start_daemon(struct http *http)
{
    unsigned processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = processors < 2 ? 2 : processors > 4 ? 4 : processors;
    struct MHD_OptionItem more[] = {
        { MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)log_of_daemon, http },
        { MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)complete, http },
        { MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)watch_connection, http },
        { MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)unescape, NULL },
        { MHD_OPTION_LISTEN_SOCKET, http->options.socket, NULL },
        { MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)threads, NULL },
        { MHD_OPTION_CONNECTION_LIMIT, (intptr_t)http->options.connections, NULL },
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_BYTES, NULL },
        { MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)http->options.timeout * 2, NULL },
        { MHD_OPTION_END, 0, NULL },
    };
    http->daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_ITC,
                         0, NULL, NULL, handle, http, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
    return http->daemon != NULL;
}

struct http *http_start(struct http_options options)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return NULL;
    http->options = options;
    pthread_mutex_init(&http->lock, NULL);
    static const int niceness[POOLS] = { [POOL_NEW] = 10, [POOL_SLOW] = 19 };
    bool good = true;
    for (size_t i = POOL_MAIL; i < POOLS && good; i++) {
        size_t threads = i >= POOL_HEAVY ? 2 : options.threads;
        http->pools[i] = pool_start(threads, threads * QUEUE_PER_THREAD, niceness[i]);
        good = http->pools[i] != NULL;
    }
    good = good && start_daemon(http);
    good = good && pthread_create(&http->reaper, NULL, reap, http) == 0;
    http->has_reaper = good;
    if (good)
        return http;
    options.log("the server could not be started");
    http_stop(http);
    return NULL;
}

void http_set_token(struct http *http, const char *token)
{
    pthread_mutex_lock(&http->lock);
    memset(http->token, 0, sizeof http->token);
    snprintf(http->token, sizeof http->token, "%s", token);
    pthread_mutex_unlock(&http->lock);
}

void http_drain(struct http *http, unsigned seconds)
{
    int64_t until = now_ms() + (int64_t)seconds * 1000;
    (void)MHD_quiesce_daemon(http->daemon);
    atomic_store(&http->ending, true);
    while (now_ms() < until && atomic_load(&http->active) > 0)
        usleep(10000);
    atomic_store(&http->hurrying, true);
    for (size_t i = 0; i < POOLS; i++)
        pool_end(http->pools[i]);
}

void http_stop(struct http *http)
{
    if (!http)
        return;
    atomic_store(&http->ending, true);
    if (http->has_reaper)
        pthread_join(http->reaper, NULL);
    if (http->daemon) {
        (void)MHD_quiesce_daemon(http->daemon); /* else it closes the socket that listens */
        MHD_stop_daemon(http->daemon);
    }
    for (size_t i = 0; i < POOLS; i++)
        pool_free(http->pools[i]);
    pthread_mutex_destroy(&http->lock);
    free(http);
}

struct http_counts http_count(struct http *http)
{
    struct http_counts counts = { .active = atomic_load(&http->active),
                                  .body_bytes = atomic_load(&http->body_bytes) };
    pthread_mutex_lock(&http->lock);
    counts.connections = http->wire_count;
    pthread_mutex_unlock(&http->lock);
    for (size_t i = POOL_MAIL; i < POOLS; i++)
        counts.waiting[i] = http->pools[i] ? pool_waiting(http->pools[i]) : 0;
    return counts;
}

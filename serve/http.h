/* http.h — requests and answers over libmicrohttpd.
 *
 * A few threads wait for all connections (epoll); the work is done by pools, while the connection is suspended. What a
 * client may cost is bounded before any work begins: connections, bytes of the head and of the body, of all bodies
 * together, time for each step, requests in the queue of a pool.
 *
 * A route is a row of a table: method, path, what it takes, and the function that answers. It writes JSON to
 * `exchange->out` with the functions of support/record.h, or fails with a status and a sentence. NDJSON is answered
 * line by line while it comes: lines are worked on in blocks, and answers beyond a MiB wait in an unnamed file, so
 * that memory is bounded however long a request is. */
#ifndef TWIN_SERVE_HTTP_H
#define TWIN_SERVE_HTTP_H

#include <stdio.h>
#include <twinsift/twinsift.h>

#include "metrics.h"
#include "pool.h"
#include "support/record.h"

struct server; /* what routes work on: serve.c */
struct exchange;

enum pool_kind {
    POOL_NONE,
    POOL_MAIL,
    POOL_INDEX,
    POOL_NEW,   /* for indexes, of connections that had no request yet; of lower priority. Not for routes */
    POOL_HEAVY, /* texts that come with the request */
    POOL_PAIRS, /* collections that do */
    POOL_SLOW,  /* of connections whose last request was costly; of low priority. Not for routes */
    POOLS
};

enum content {
    CONTENT_MAIL = 1,  /* message/rfc822 */
    CONTENT_JSON = 2,  /* application/json */
    CONTENT_TEXT = 4,  /* text/plain */
    CONTENT_LINES = 8, /* application/x-ndjson */
};

struct route {
    const char *name;   /* in metrics */
    const char *method; /* "GET" also answers HEAD */
    const char *path;   /* segments; "*" is one name, "**" all that follows */
    enum pool_kind pool;
    unsigned takes; /* contents; 0: no body */
    bool changes;   /* needs the token */
    bool later;     /* run() sees to it that exchange_finish() is called, now or by another thread */
    void (*run)(struct exchange *exchange);
    /* For each line of NDJSON, and once more at the end; the answer is what they write. NULL: the body as a whole. */
    void (*line)(struct exchange *exchange, twin_text line);
    void (*end)(struct exchange *exchange);
};

enum { EXCHANGE_NAMES = 2 };

struct exchange {
    struct server *server;
    const struct route *route;
    const char *names[EXCHANGE_NAMES]; /* of the path */
    twin_text body;
    enum content content;
    struct worker *worker; /* of the thread that works on it */
    FILE *out;
    unsigned status;      /* 200 unless set */
    const char *type;     /* of the answer; application/json unless set */
    twin_buffer room;     /* for what was read from JSON */
    uint64_t line_number; /* NDJSON: counted from 1 */
    size_t line_begin;    /* in `out`: an error drops what was written from here on */
    void *state;          /* of the route, across lines */
    void (*free_state)(void *state);
};

/* The value of a parameter in the query string; NULL: there is none. "" if it has no value. */
const char *exchange_parameter(const struct exchange *exchange, const char *name);

/* The same as a number, which stays as it is where there is no value. False: it is no number from `least` to `most`, and the
 * answer says so. */
bool exchange_number(struct exchange *exchange, double *out, const char *name, double least, double most);

/* The answer becomes an error; what was written before is dropped. Of NDJSON it is the answer to this line only.
 * The status is one of HTTP, the code a word for programs, and the sentence for people. */
void exchange_fail(struct exchange *exchange, unsigned status, const char *code, const char *sentence);
void exchange_fail_at(struct exchange *exchange, const char *sentence, size_t offset); /* 400, "invalid" */
void exchange_fail_status(struct exchange *exchange, twin_status status, const twin_error *error);

/* Counts memory that the route holds until the exchange ends among the bodies. False: all together hold too much. */
bool exchange_charge(struct exchange *exchange, size_t bytes);

/* The progress of a long call in the thread that works on the exchange: it ends when its time of a processor is over,
 * which is then a refusal for exchange_stopped(), and when the server does not wait for it any longer. */
twin_progress exchange_progress(struct exchange *exchange);
void exchange_stopped(struct exchange *exchange);

/* Of a route that answers later: the answer is written, by any thread. */
void exchange_finish(struct exchange *exchange);

struct http;

struct http_options {
    struct server *server;
    const struct route *routes; /* ended by zeros */
    struct metrics *metrics;
    int socket; /* that listens; the caller closes it */
    const char *const *hosts;
    size_t host_count;
    bool any_host;      /* a unix socket, which no browser reaches */
    bool guard_reading; /* also reading needs the token, but for the page and whether the server is alive */
    size_t threads, connections, max_body;
    unsigned timeout;
    void (*log)(const char *sentence);
};

/* Starts to answer. NULL: it could not, and the log says why. */
struct http *http_start(struct http_options options);

/* The token from now on; copied. */
void http_set_token(struct http *http, const char *token);

/* Accepts no more connections, waits for what has begun (`seconds` at most), and ends. Work that others still have to
 * finish must be finished before the second call. */
void http_drain(struct http *http, unsigned seconds);
void http_stop(struct http *http);

struct http_counts {
    size_t connections, active, body_bytes, waiting[POOLS];
};
struct http_counts http_count(struct http *http);

#endif

/* spamd.h — SpamAssassin's protocol, so that whatever asks its spamd can ask us: spamc, Exim, Dovecot's plugins,
 * Haraka, MailScanner. What SpamAssassin's rules say is not part of it.
 *
 * Anyone who can connect can ask, and there is no password in the protocol. So it is spoken on loopback and on sockets
 * in the file system only, and nobody teaches unless that was asked for. */
#ifndef TWIN_SERVE_SPAMD_H
#define TWIN_SERVE_SPAMD_H

#include "metrics.h"
#include "models.h"

struct spamd;

struct spamd_options {
    struct models *models;
    struct metrics *metrics;           /* which counts requests and verdicts; NULL: nobody does */
    void (*log)(const char *sentence); /* called by any thread when something fails; may be NULL */
    const char *where;                 /* ADDRESS:PORT or unix:PATH, as listen_at() takes it */
    bool may_tell;                     /* TELL teaches the model */
    size_t threads;                    /* that judge; 0: two per processor, four at least */
    size_t connections;   /* at once; 0: 1,000. Beyond, the one that has kept its request waiting longest is closed */
    size_t message_bytes; /* of a message, unpacked; 0: 10 MB */
    size_t all_bytes;     /* of all requests that have come in part or as a whole; 0: 256 MB */
    unsigned seconds;     /* in which a request must be there, and an answer be taken; 0: 30 */
};

struct spamd_counts {
    uint64_t requests, spam, told, faults, timeouts;
    size_t connections;
};

/* Starts to listen. NULL: the error has been reported. */
struct spamd *spamd_start(struct spamd_options options);

/* Accepts nothing more, gives those that are connected five seconds, and ends. NULL is accepted. */
void spamd_stop(struct spamd *spamd);

/* Where it listens. */
const char *spamd_name(const struct spamd *spamd);

/* Since the start; connections: now. */
struct spamd_counts spamd_count(struct spamd *spamd);

#endif

/* spamd_request.h — a request of SpamAssassin's protocol, as it comes from the network.
 *
 *     CHECK SPAMC/1.5\r\n
 *     Content-length: 1234\r\n
 *     User: ann\r\n
 *     \r\n
 *     1234 bytes of a message
 *
 * Lines end with CR LF or LF. Without a length the message ends with the connection. Headers that are not known are
 * ignored. PING and SKIP before version 1.5 are a line alone. */
#ifndef TWIN_SERVE_SPAMD_REQUEST_H
#define TWIN_SERVE_SPAMD_REQUEST_H

#include "models.h"

enum spamd_command {
    SPAMD_CHECK,
    SPAMD_SYMBOLS,
    SPAMD_REPORT,
    SPAMD_REPORT_IFSPAM,
    SPAMD_PROCESS,
    SPAMD_HEADERS,
    SPAMD_TELL,
    SPAMD_PING,
    SPAMD_SKIP,
};

enum {
    SPAMD_HEAD_BYTES = 8192, /* of the lines before the message */
    SPAMD_LOCAL = 1,         /* of Set and Remove */
    SPAMD_REMOTE = 2,
};

struct spamd_request {
    enum spamd_command command;
    int version;                      /* 15 is 1.5 */
    bool has_length;                  /* of the message; otherwise it ends with the connection */
    uint64_t length;                  /* as sent */
    bool is_compressed;               /* by zlib */
    char user[MODELS_USER_BYTES + 1]; /* "": not given */
    const char *label;                /* by Message-class: spam, ham or NULL */
    unsigned set, remove;             /* SPAMD_LOCAL | SPAMD_REMOTE */
    size_t head;                      /* bytes before the message */
    const char *fault;                /* what is wrong with it */
    size_t at;                        /* private: the line that comes next */
};

enum spamd_progress {
    SPAMD_MORE, /* the head has no end yet */
    SPAMD_HEAD, /* it was read; the message follows */
    SPAMD_BAD,  /* it is wrong: `fault` is a sentence for the client */
};

/* Reads on in all that has come so far. `request` is zeros the first time. */
enum spamd_progress spamd_read(struct spamd_request *request, twin_text bytes);

/* Appends the message to `out`, unpacked. TWIN_EFORMAT: it is damaged; TWIN_ELIMIT: longer than `most` bytes. */
twin_status spamd_unpack(twin_buffer *out, twin_text packed, size_t most);

#endif

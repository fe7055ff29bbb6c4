/* serve.h — the server, as its command starts it. */
#ifndef TWIN_SERVE_SERVE_H
#define TWIN_SERVE_SERVE_H

#include "support/options.h"

struct serve_options {
    const char *http;            /* ADDRESS:PORT or unix:PATH; NULL: 127.0.0.1:8377, or the socket of systemd */
    const char *model;           /* a model, or a folder of them; NULL: none */
    struct option_texts indexes; /* NAME=FILE, or FILE */
    struct option_texts hosts;   /* names under which the server may be addressed, besides those of loopback */
    const char *token_file;      /* NULL: a token is drawn, on loopback */
    const char *spamd;           /* where to speak the protocol of spamd; NULL: nowhere */
    bool spamd_tell;             /* to teach by it */
    bool demo;                   /* serve the samples */
    uint64_t threads;            /* that work on requests of a kind; 0: four per processor, eight at least */
    uint64_t connections;        /* the most at once */
    uint64_t max_body;           /* bytes of a request */
    uint64_t timeout;            /* seconds for each step of a request */
};

/* Whether the server is in this program. */
bool serve_available(void);

/* Serves until SIGTERM or SIGINT, and returns the exit status. */
int serve_run(const struct serve_options *options);

#endif

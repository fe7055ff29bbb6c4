/* milter.h — judges the mail that a mail server receives, before it accepts it. */
#ifndef TWIN_SERVE_MILTER_H
#define TWIN_SERVE_MILTER_H

#include "support/seal.h"

enum milter_action { MILTER_MARK, MILTER_QUARANTINE, MILTER_REJECT };
enum milter_failure { MILTER_ACCEPT, MILTER_TEMPFAIL };

struct milter_options {
    const char *model;
    const char *listen;  /* ADDRESS:PORT or unix:PATH */
    const char *trusted; /* a filter of addresses; NULL: none */
    enum milter_action action;
    double above; /* the least score of spam to which something else is done than to mark it */
    enum milter_failure failure;
    struct seal seal;
    bool quiet; /* no line for each message */
};

/* Serves until SIGTERM or SIGINT, and returns the exit status; SIGHUP reads the filter of trusted addresses again. */
int milter_run(const struct milter_options *wanted);

#endif

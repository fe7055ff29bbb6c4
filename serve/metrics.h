/* metrics.h — what the server counts: for Prometheus, and for the page. Nothing of a request's content is kept. */
#ifndef TWIN_SERVE_METRICS_H
#define TWIN_SERVE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "support/record.h"

struct metrics;

struct metrics *metrics_create(void);
void metrics_free(struct metrics *metrics);

/* A request that was answered; the name of its route is a constant. */
void metrics_request(struct metrics *metrics, const char *route, unsigned status, double seconds);

/* A verdict; NULL: unsure. */
enum metrics_verdict { METRICS_SPAM, METRICS_HAM, METRICS_OTHER, METRICS_UNSURE, METRICS_VERDICTS };
void metrics_verdict(struct metrics *metrics, const char *label);

/* A sentence of the log, without content of requests. */
void metrics_error(struct metrics *metrics, const char *sentence);

/* The text format of Prometheus, but for what others add. */
void metrics_write(FILE *out, struct metrics *metrics);

/* Fields of an object: requests and latency of the last minute, verdicts of the last hour by minute, last errors. */
void metrics_record(struct record *record, struct metrics *metrics);

#endif

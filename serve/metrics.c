/* metrics.c — counters by route and status, latencies in buckets, and rings of the last seconds and minutes.
 *
 * One lock guards everything: a request takes it once, for some dozens of instructions. */
#include "metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUTES = 48, CLASSES = 6, BUCKETS = 12, SECONDS = 60, MINUTES = 60, ERRORS = 20 };

/* Upper bounds of the buckets, in seconds. */
static const double bounds[BUCKETS] = { 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30 };
static const char *const verdict_names[METRICS_VERDICTS] = { "spam", "ham", "other", "unsure" };

struct of_route {
    const char *name;
    uint64_t by_class[CLASSES]; /* 1xx .. 5xx */
    uint64_t by_bucket[BUCKETS + 1];
    double seconds;
};

struct second {
    int64_t at;
    uint32_t requests, by_bucket[BUCKETS + 1];
};

struct minute {
    int64_t at;
    uint32_t verdicts[METRICS_VERDICTS];
};

struct metrics {
    pthread_mutex_t lock;
    struct of_route routes[ROUTES];
    size_t route_count;
    uint64_t verdicts[METRICS_VERDICTS];
    struct second seconds[SECONDS];
    struct minute minutes[MINUTES];
    struct {
        int64_t at;
        char sentence[256];
    } errors[ERRORS];
    uint64_t error_count;
    int64_t started;
};

/* Steps of the wall clock do not matter here. */
static int64_t now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

struct metrics *metrics_create(void)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics)
        return NULL;
    pthread_mutex_init(&metrics->lock, NULL);
    metrics->started = now_seconds();
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    pthread_mutex_destroy(&metrics->lock);
    free(metrics);
}

static struct of_route *find_route(struct metrics *metrics, const char *name)
{
    size_t i = 0;
    while (i < metrics->route_count && strcmp(metrics->routes[i].name, name) != 0)
        i++;
    if (i == ROUTES)
        return &metrics->routes[ROUTES - 1];
    if (i == metrics->route_count)
        metrics->routes[metrics->route_count++].name = name;
    return &metrics->routes[i];
}

static size_t bucket_of(double seconds)
{
    size_t bucket = 0;
    while (bucket < BUCKETS && seconds > bounds[bucket])
        bucket++;
    return bucket;
}

void metrics_request(struct metrics *metrics, const char *route, unsigned status, double seconds)
{
    size_t bucket = bucket_of(seconds);
    int64_t now = now_seconds();
    pthread_mutex_lock(&metrics->lock);
    struct of_route *r = find_route(metrics, route);
    r->by_class[status / 100 < CLASSES ? status / 100 : 0]++;
    r->by_bucket[bucket]++;
    r->seconds += seconds;
    struct second *second = &metrics->seconds[now % SECONDS];
    if (second->at != now)
        *second = (struct second){ .at = now };
    second->requests++;
    second->by_bucket[bucket]++;
    pthread_mutex_unlock(&metrics->lock);
}

void metrics_verdict(struct metrics *metrics, const char *label)
{
    enum metrics_verdict verdict = !label                       ? METRICS_UNSURE
                                   : strcmp(label, "spam") == 0 ? METRICS_SPAM
                                   : strcmp(label, "ham") == 0  ? METRICS_HAM
                                                                : METRICS_OTHER;
    int64_t now = now_seconds() / 60;
    pthread_mutex_lock(&metrics->lock);
    metrics->verdicts[verdict]++;
    struct minute *minute = &metrics->minutes[now % MINUTES];
    if (minute->at != now)
        *minute = (struct minute){ .at = now };
    minute->verdicts[verdict]++;
    pthread_mutex_unlock(&metrics->lock);
}

void metrics_error(struct metrics *metrics, const char *sentence)
{
    pthread_mutex_lock(&metrics->lock);
    size_t i = metrics->error_count++ % ERRORS;
    metrics->errors[i].at = (int64_t)time(NULL);
    snprintf(metrics->errors[i].sentence, sizeof metrics->errors[i].sentence, "%s", sentence);
    pthread_mutex_unlock(&metrics->lock);
}

/* ---- Prometheus */

static void write_latency(FILE *out, const struct of_route *r)
{
    uint64_t sum = 0;
    for (size_t b = 0; b < BUCKETS; b++) {
        sum += r->by_bucket[b];
        fprintf(out, "twinsift_request_seconds_bucket{route=\"%s\",le=\"%g\"} %" PRIu64 "\n", r->name, bounds[b],
                sum);
    }
    sum += r->by_bucket[BUCKETS];
    fprintf(out, "twinsift_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", r->name, sum);
    fprintf(out, "twinsift_request_seconds_sum{route=\"%s\"} %.6f\n", r->name, r->seconds);
    fprintf(out, "twinsift_request_seconds_count{route=\"%s\"} %" PRIu64 "\n", r->name, sum);
}

void metrics_write(FILE *out, struct metrics *metrics)
{
    pthread_mutex_lock(&metrics->lock);
    fprintf(out, "# HELP twinsift_requests_total Requests that were answered.\n"
                 "# TYPE twinsift_requests_total counter\n");
    for (size_t i = 0; i < metrics->route_count; i++)
        for (size_t c = 1; c < CLASSES; c++)
            if (metrics->routes[i].by_class[c])
                fprintf(out, "twinsift_requests_total{route=\"%s\",status=\"%zuxx\"} %" PRIu64 "\n",
                        metrics->routes[i].name, c, metrics->routes[i].by_class[c]);
    fprintf(out, "# HELP twinsift_request_seconds From the head of a request to its answer.\n"
                 "# TYPE twinsift_request_seconds histogram\n");
    for (size_t i = 0; i < metrics->route_count; i++)
        write_latency(out, &metrics->routes[i]);
    fprintf(out, "# HELP twinsift_mail_verdicts_total Messages that were checked.\n"
                 "# TYPE twinsift_mail_verdicts_total counter\n");
    for (size_t i = 0; i < METRICS_VERDICTS; i++)
        fprintf(out, "twinsift_mail_verdicts_total{label=\"%s\"} %" PRIu64 "\n", verdict_names[i],
                metrics->verdicts[i]);
    fprintf(out,
            "# HELP twinsift_errors_total Errors of the server, as in its log.\n"
            "# TYPE twinsift_errors_total counter\ntwinsift_errors_total %" PRIu64 "\n"
            "# HELP twinsift_uptime_seconds Since the server was started.\n"
            "# TYPE twinsift_uptime_seconds gauge\ntwinsift_uptime_seconds %" PRId64 "\n",
            metrics->error_count, now_seconds() - metrics->started);
    pthread_mutex_unlock(&metrics->lock);
}

/* ---- the page */

/* The bound below which this share of the requests of the last minute were answered; 0: there was none. */
static double percentile(const struct metrics *metrics, int64_t now, double share)
{
    uint64_t by_bucket[BUCKETS + 1] = { 0 }, all = 0, sum = 0;
    for (size_t i = 0; i < SECONDS; i++)
        for (size_t b = 0; b <= BUCKETS && now - metrics->seconds[i].at < SECONDS; b++)
            by_bucket[b] += metrics->seconds[i].by_bucket[b];
    for (size_t b = 0; b <= BUCKETS; b++)
        all += by_bucket[b];
    for (size_t b = 0; b < BUCKETS && all; b++)
        if ((double)(sum += by_bucket[b]) >= share * (double)all)
            return bounds[b];
    return all ? bounds[BUCKETS - 1] : 0;
}

static void record_requests(struct record *record, const struct metrics *metrics, int64_t now)
{
    uint64_t sum = 0;
    record_list(record, "requests");
    for (int64_t at = now - SECONDS + 1; at < now; at++) {
        const struct second *second = &metrics->seconds[(at % SECONDS + SECONDS) % SECONDS];
        uint32_t count = second->at == at ? second->requests : 0;
        record_count(record, NULL, count);
        sum += count;
    }
    record_list_end(record);
    record_fixed(record, "requests_per_second", (double)sum / (SECONDS - 1), 2);
    record_number(record, "latency_p50", percentile(metrics, now, 0.5), 3);
    record_number(record, "latency_p99", percentile(metrics, now, 0.99), 3);
}

static void record_verdicts(struct record *record, const struct metrics *metrics, int64_t now)
{
    record_list(record, "verdicts");
    for (int64_t at = now - MINUTES + 1; at <= now; at++) {
        const struct minute *minute = &metrics->minutes[(at % MINUTES + MINUTES) % MINUTES];
        record_list(record, NULL);
        for (size_t i = 0; i < METRICS_VERDICTS; i++)
            record_count(record, NULL, minute->at == at ? minute->verdicts[i] : 0);
        record_list_end(record);
    }
    record_list_end(record);
}

static void record_errors(struct record *record, const struct metrics *metrics)
{
    uint64_t begin = metrics->error_count > ERRORS ? metrics->error_count - ERRORS : 0;
    record_list(record, "errors");
    for (uint64_t i = metrics->error_count; i-- > begin;) {
        record_object(record, NULL);
        record_count(record, "time", (uint64_t)metrics->errors[i % ERRORS].at);
        record_string(record, "message", metrics->errors[i % ERRORS].sentence);
        record_object_end(record);
    }
    record_list_end(record);
}

void metrics_record(struct record *record, struct metrics *metrics)
{
    pthread_mutex_lock(&metrics->lock);
    int64_t now = now_seconds();
    record_count(record, "uptime", (uint64_t)(now - metrics->started));
    record_requests(record, metrics, now);
    record_list(record, "verdict_labels");
    for (size_t i = 0; i < METRICS_VERDICTS; i++)
        record_string(record, NULL, verdict_names[i]);
    record_list_end(record);
    record_verdicts(record, metrics, now / 60);
    record_errors(record, metrics);
    pthread_mutex_unlock(&metrics->lock);
}

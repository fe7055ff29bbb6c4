/* serve.c — the life of the server: it starts, waits for signals, and ends when it has done what it had begun.
 *
 * The signals are blocked before the first thread is started, so that all threads have them blocked and only
 * sigtimedwait() takes them. At the end, in this order: no more connections; requests and their answers; changes that
 * wait for the writer of models; the rest. */
#include "serve.h"

#include "demo.h"
#include "listen.h"
#include "server.h"
#include "service.h"
#include "spamd.h"
#include "support/keys.h"
#include "support/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_TOKEN = 16, MOST_TOKEN = 250, DRAIN_SECONDS = 20 };

static const char DEFAULT_ADDRESS[] = "127.0.0.1:8377";

static struct metrics *metrics; /* for the log, which has many callers */

/* What goes wrong in the server; never what is in a request. */
static void log_sentence(const char *sentence)
{
    warn("%s", sentence);
    metrics_error(metrics, sentence);
}

/* ---- tokens */

static bool read_token(char out[MOST_TOKEN + 2], const char *path)
{
    struct stat s;
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse("%s: could not be opened: %s", path, strerror(errno));
    bool safe = fstat(fileno(file), &s) == 0 && (s.st_mode & 077) == 0;
    bool got = fgets(out, MOST_TOKEN + 2, file) != NULL;
    fclose(file);
    if (!safe)
        return refuse("%s: others may read the token; chmod 600 %s", path, path);
    size_t length = got ? strcspn(out, "\r\n") : 0;
    out[length] = '\0';
    if (length < LEAST_TOKEN || length > MOST_TOKEN || strspn(out, " ") == length)
        return refuse("%s: the first line must be a token of %d to %d characters", path, LEAST_TOKEN, MOST_TOKEN);
    return true;
}

static bool draw_token(char out[MOST_TOKEN + 2])
{
    unsigned char bits[16];
    if (!draw_random(bits, sizeof bits))
        return false;
    for (size_t i = 0; i < sizeof bits; i++)
        snprintf(out + 2 * i, 3, "%02x", bits[i]);
    return true;
}

/* ---- starting */

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool start_models(struct server *server, const char *path)
{
    twin_error error = { 0 };
    struct models_options wanted = { .path = path, .create = true, .log = log_sentence };
    if (!path)
        return true;
    server->many_models = wanted.per_user = is_folder(path);
    twin_status status = models_start(&server->models, wanted, &error);
    return status == TWIN_OK || refuse_status(path, status, &error);
}

/* "news" of "/var/lib/news.twin". */
static void name_of_path(char out[128], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, 128, "%s", slash ? slash + 1 : path);
    char *end = strrchr(out, '.');
    if (end && strcmp(end, ".twin") == 0)
        *end = '\0';
}

static bool add_index(struct server *server, const char *text)
{
    char name[128];
    twin_error error = { 0 };
    const char *equals = strchr(text, '='), *path = equals ? equals + 1 : text;
    if (equals && equals - text < (ptrdiff_t)sizeof name)
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    else
        name_of_path(name, path);
    twin_status status = indexes_add(server->indexes, name, path, &error);
    return status == TWIN_OK || refuse_status(path, status, &error);
}

static bool start_indexes(struct server *server, const struct demo *demo)
{
    server->indexes = indexes_create(log_sentence);
    if (!server->indexes)
        return refuse_status("the server", TWIN_ENOMEM, NULL);
    for (size_t i = 0; i < server->options->indexes.count; i++)
        if (!add_index(server, server->options->indexes.items[i]))
            return false;
    return !demo || add_index(server, demo->index);
}

static bool start_listening(struct listening *out, const struct serve_options *options)
{
    if (!listen_at(out, options->http ? options->http : DEFAULT_ADDRESS, options->http ? NULL : "http"))
        return false;
    if (out->is_local || options->token_file)
        return true;
    return refuse("%s: others can reach this address: --token-file is needed", out->name);
}

/* If it is wanted. */
static bool start_spamd(struct server *server)
{
    const struct serve_options *options = server->options;
    if (!options->spamd && service_socket("spamd") < 0)
        return true;
    if (!server->models)
        return refuse("--spamd needs a mail model: --model");
    server->spamd = spamd_start((struct spamd_options){ .models = server->models,
                                                        .metrics = server->metrics,
                                                        .log = log_sentence,
                                                        .where = options->spamd,
                                                        .may_tell = options->spamd_tell });
    if (server->spamd)
        warn("spamc and others: %s", spamd_name(server->spamd));
    return server->spamd;
}

static size_t count_threads(const struct serve_options *options)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (options->threads)
        return options->threads;
    return processors < 2 ? 8 : (size_t)processors * 4;
}

static bool start_http(struct server *server, const struct listening *listening)
{
    const struct serve_options *options = server->options;
    bool is_unix = strncmp(listening->name, "unix:", 5) == 0;
    char token[MOST_TOKEN + 2];
    if (!(options->token_file ? read_token(token, options->token_file) : draw_token(token)))
        return false;
    server->http = http_start((struct http_options){ .server = server,
                                                     .routes = routes,
                                                     .metrics = metrics,
                                                     .socket = listening->fd,
                                                     .hosts = options->hosts.items,
                                                     .host_count = options->hosts.count,
                                                     .any_host = is_unix,
                                                     .guard_reading = !listening->is_local,
                                                     .threads = count_threads(options),
                                                     .connections = options->connections,
                                                     .max_body = options->max_body,
                                                     .timeout = (unsigned)options->timeout,
                                                     .log = log_sentence });
    if (!server->http)
        return false;
    http_set_token(server->http, token);
    printf("%s%s/%s%s\n", is_unix ? "" : "http://", listening->name,
           options->token_file ? "" : "#token=", options->token_file ? "" : token);
    return fflush(stdout) == 0;
}

/* ---- running */

static void reopen(struct server *server)
{
    char token[MOST_TOKEN + 2];
    indexes_reopen(server->indexes);
    if (server->options->token_file && read_token(token, server->options->token_file))
        http_set_token(server->http, token);
}

static void run(struct server *server, const sigset_t *signals)
{
    static const struct timespec second = { .tv_sec = 1 };
    int signal = 0;
    service_notify("READY=1");
    while (signal != SIGTERM && signal != SIGINT) {
        signal = sigtimedwait(signals, NULL, &second);
        if (signal == SIGHUP)
            reopen(server);
        indexes_rest(server->indexes);
    }
    service_notify("STOPPING=1");
    http_drain(server->http, DRAIN_SECONDS);
}

static int serve_all(struct server *server, const struct demo *demo, const sigset_t *signals)
{
    struct listening listening = { .fd = -1 };
    metrics = server->metrics = metrics_create();
    bool good = metrics &&
                start_models(server, demo && access(demo->model, F_OK) == 0 ? demo->model : server->options->model) &&
                start_indexes(server, demo) && start_spamd(server) && start_listening(&listening, server->options);
    bool ran = good && start_http(server, &listening);
    if (ran)
        run(server, signals);
    spamd_stop(server->spamd);
    models_stop(server->models);
    http_stop(server->http);
    indexes_free(server->indexes);
    metrics_free(metrics);
    listen_end(&listening);
    return ran ? EXIT_DONE : EXIT_ERROR;
}

static void block_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool serve_available(void)
{
    return true;
}

int serve_run(const struct serve_options *options)
{
    struct server server = { .options = options };
    struct demo demo;
    sigset_t signals;
    block_signals(&signals);
    if (!options->demo)
        return serve_all(&server, NULL, &signals);
    if (!demo_make(&demo))
        return EXIT_ERROR;
    int status = serve_all(&server, &demo, &signals);
    demo_remove(&demo);
    return status;
}

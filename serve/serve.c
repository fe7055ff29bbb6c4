/* serve.c — the life of the server: it starts, waits for signals, and ends when it has done what it had begun.
 *
 * The signals are blocked before the first thread is started, so that all threads have them blocked and only
 * sigwait() takes them. */
#include "serve.h"

#include "models.h"
#include "service.h"
#include "spamd.h"
#include "support/messages.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

static void log_sentence(const char *sentence)
{
    warn("%s", sentence);
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool start_models(struct models **out, const struct serve_options *options)
{
    twin_error error = { 0 };
    struct models_options wanted = { .path = options->mail, .create = true, .log = log_sentence };
    *out = NULL;
    if (!options->mail)
        return true;
    wanted.per_user = is_folder(options->mail);
    twin_status status = models_start(out, wanted, &error);
    return status == TWIN_OK || refuse_status(options->mail, status, &error);
}

/* NULL, if it is not wanted. */
static bool start_spamd(struct spamd **out, struct models *models, const struct serve_options *options)
{
    *out = NULL;
    if (!options->spamd && service_socket("spamd") < 0)
        return true;
    if (!models)
        return refuse("--spamd needs a mail model: --mail");
    *out = spamd_start(
        (struct spamd_options){ .models = models, .where = options->spamd, .may_tell = options->spamd_tell });
    if (*out)
        warn("spamc and others: %s", spamd_name(*out));
    return *out;
}

static void wait_for_end(const sigset_t *signals)
{
    int signal = SIGHUP;
    while (signal == SIGHUP)
        if (sigwait(signals, &signal) != 0)
            return;
}

int serve_run(const struct serve_options *options)
{
    struct models *models;
    struct spamd *spamd;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (!start_models(&models, options))
        return EXIT_ERROR;
    bool good = start_spamd(&spamd, models, options);
    if (good) {
        service_notify("READY=1");
        wait_for_end(&signals);
        service_notify("STOPPING=1");
    }
    spamd_stop(spamd);
    models_stop(models);
    return good ? EXIT_DONE : EXIT_ERROR;
}

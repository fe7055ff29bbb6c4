/* mail_model.c — opening models and reading messages, for the verbs of mail.
 *
 * Messages are read like any other documents: an input of mail finds them in files, mbox files and Maildirs, and hands
 * over the bytes of each. */
#include "mail_model.h"

#include "support/keys.h"
#include "support/paths.h"
#include "support/progress.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int64_t mail_now(void)
{
    return (int64_t)time(NULL);
}

const char *mail_day(char out[MAIL_DAY_ROOM], int64_t time)
{
    time_t seconds = (time_t)time;
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || strftime(out, MAIL_DAY_ROOM, "%Y-%m-%d", &parts) == 0)
        snprintf(out, MAIL_DAY_ROOM, "an unknown day");
    return out;
}

const char *mail_path(const struct mail_request *request)
{
    static char path[PATH_MAX];
    if (request->model)
        return request->model;
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && *data == '/')
        snprintf(path, sizeof path, "%s/twinsift/mail.twin", data);
    else
        snprintf(path, sizeof path, "%s/.local/share/twinsift/mail.twin", home ? home : "");
    return path;
}

/* Makes the folders that the default path needs. */
static bool make_folders(const char *path)
{
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
        return refuse("%s: the name is too long", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return refuse("%s could not be created: %s", folder, strerror(errno));
        *slash = '/';
    }
    return true;
}

bool mail_key(twin_mail_options *out, uint64_t key[2], const struct mail_request *request)
{
    if (!request->key_file)
        return true;
    out->key = key;
    return read_key(key, request->key_file);
}

twin_mail *mail_open(const struct mail_request *request, twin_mail_access access, const twin_mail_options *create)
{
    const char *path = mail_path(request);
    twin_error error = { 0 };
    twin_mail *mail = NULL;
    twin_status status = twin_message_available();
    if (status != TWIN_OK) {
        fail("%s", twin_error_last(status));
        return NULL;
    }
    if (is_missing(path) && !create) {
        fail("%s: there is no model yet; 'twinsift mail learn' creates it", path);
        return NULL;
    }
    if (is_missing(path)) {
        if (!request->model && !make_folders(path))
            return NULL;
        status = twin_mail_create(path, *create, false, &error);
    } else if (create && (create->keep_messages || create->keep_days || create->without_texts || create->key)) {
        fail("%s exists: --keep, --keep-messages, --keep-days and --key-file are chosen when a model is created",
             path);
        return NULL;
    }
    if (status == TWIN_OK)
        status = twin_mail_open(&mail, path, access, &error);
    if (status != TWIN_OK)
        fail_status(path, status, &error);
    return mail;
}

/* ---- messages */

struct walk {
    mail_visit_raw *visit;
    void *context;
    struct problems problems;
    int64_t count;
    bool strict, stopped;
};

static bool visit_document(void *context, const twin_document *document)
{
    struct walk *walk = context;
    walk->stopped = !walk->visit(walk->context, document->text, document->id);
    walk->count++;
    return !walk->stopped;
}

static bool visit_problem(void *context, const twin_problem *problem)
{
    struct walk *walk = context;
    problems_add(&walk->problems, problem);
    if (walk->strict) {
        fail("stopped at the first message that could not be read (--strict)");
        walk->stopped = true;
    }
    return !walk->stopped;
}

static bool read_all(struct walk *walk, const twin_input *input)
{
    twin_scratch *buffers = NULL;
    twin_error error = { 0 };
    twin_visitor visitor = { visit_document, visit_problem, walk };
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < twin_input_chunks(input) && status == TWIN_OK && !walk->stopped; i++)
        status = twin_input_read(NULL, input, &buffers, i, visitor, &error);
    twin_scratch_free(buffers);
    if (status != TWIN_OK && status != TWIN_ESTOPPED)
        fail_status("the input", status, &error);
    return status == TWIN_OK && !walk->stopped;
}

int64_t mail_each_raw(struct mail_request *request, size_t first, mail_visit_raw *visit, void *context)
{
    static const char *const standard_input[] = { "-" };
    struct shared_options shared = request->shared;
    if (shared.base.count <= first) {
        shared.base.arguments = standard_input;
        shared.base.count = 1;
        first = 0;
    }
    twin_progress progress = progress_begin(shared.quiet);
    twin_input *input = open_inputs(&shared, first, progress);
    struct walk walk = { .visit = visit,
                         .context = context,
                         .problems = { .input = input, .quiet = shared.quiet },
                         .strict = shared.strict };
    bool good = input && read_all(&walk, input);
    progress_end();
    if (good) {
        problems_end(walk.problems.count);
        remark_empty(&walk.problems, (uint64_t)walk.count);
        good = !(walk.problems.count && walk.count == 0) || (fail_unreadable(&walk.problems), false);
    }
    twin_input_free(input);
    return good ? walk.count : -1;
}

/* Messages that are read one after the other. */
struct reading {
    twin_message_reader *reader;
    mail_visit *visit;
    void *context;
};

static bool read_message(void *context, twin_text raw, twin_text path)
{
    struct reading *reading = context;
    const twin_message *message;
    twin_status status = twin_message_read(&message, reading->reader, raw);
    if (status != TWIN_OK)
        fail("a message: %s", twin_error_last(status));
    return status == TWIN_OK && reading->visit(reading->context, message, path);
}

int64_t mail_each(struct mail_request *request, size_t first, mail_visit *visit, void *context)
{
    struct reading reading = { .visit = visit, .context = context };
    twin_status status = twin_message_reader_create(&reading.reader, (twin_message_options){ 0 });
    if (status != TWIN_OK) {
        fail_status("mail", status, NULL);
        return -1;
    }
    int64_t count = mail_each_raw(request, first, read_message, &reading);
    twin_message_reader_free(reading.reader);
    return count;
}

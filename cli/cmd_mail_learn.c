/* cmd_mail_learn.c — twinsift mail learn, correct and forget: what changes a model.
 *
 * The three differ in one call per message. Messages are committed in batches, so that a run that is interrupted has
 * learnt the batches before, and a model is not written anew for each message. */
#include "commands.h"
#include "mail_model.h"
#include "support/interrupt.h"
#include "support/paths.h"
#include "support/record.h"
#include "support/usage.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct mail_request mail;
    const char *label;
    uint64_t keep_messages, keep_days;
    enum { KEEP_TEXT, KEEP_NONE } keep;
};

#define AT(field) OPTION_AT(struct request, field)

/* Messages per transaction, which writes most weights anew, 3 MB. */
enum { BATCH = 2000 };
static const double SECONDS = 3; /* after which a transaction ends: a kill loses no more */

enum verb { LEARN, CORRECT, FORGET };

struct work {
    const struct request *request;
    twin_mail *mail;
    enum verb verb;
    int64_t now;
    uint64_t pending;
    double saved; /* when */
    uint64_t effects[TWIN_MAIL_UNKNOWN + 1], left_out;
    char *stopped_after; /* the path of the last message before a signal; NULL: there was none */
};

static bool save(struct work *work)
{
    twin_error error = { 0 };
    twin_status status = twin_mail_commit(work->mail, &error);
    work->pending = 0;
    work->saved = seconds();
    return status == TWIN_OK || refuse_status(mail_path(&work->request->mail), status, &error);
}

/* Whether a line begins with the name of a header field and a colon; that of an address, https://…, is none. */
static bool is_field(const char *line, const char *end)
{
    const char *at = line;
    while (at < end && (isalnum((unsigned char)*at) || *at == '-' || *at == '_'))
        at++;
    return at > line && at < end && *at == ':' && !(end - at > 2 && at[1] == '/' && at[2] == '/');
}

/* Whether one of the lines before the first blank one is a header field. */
static bool has_header(const char *at, const char *end)
{
    enum { MOST_LINES = 100 };
    for (int i = 0; at < end && *at != '\n' && *at != '\r' && i < MOST_LINES; i++) {
        if (is_field(at, end))
            return true;
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    return false;
}

/* Why nothing can be learnt from it; NULL: something can. Headers and text have no zero bytes, other files have some
 * near their beginning. */
static const char *no_message(twin_text raw)
{
    enum { LOOKED_AT = 1024 };
    size_t blanks = 0;
    while (blanks < raw.length && strchr(" \t\r\n", raw.bytes[blanks]) && raw.bytes[blanks])
        blanks++;
    if (blanks == raw.length)
        return "is empty";
    bool binary = memchr(raw.bytes, 0, raw.length < LOOKED_AT ? raw.length : LOOKED_AT);
    if (binary)
        return "is not a message: it has zero bytes";
    return has_header(raw.bytes + blanks, raw.bytes + raw.length) ? NULL
                                                                  : "is not a message: it begins without a header";
}

/* Reports what is no message; false if the work ends with it. */
static bool leave_out(struct work *work, twin_text path, const char *why)
{
    enum { MOST_NAMED = 20 };
    if (work->left_out++ < MOST_NAMED)
        warn("%.*s %s; it is left out", (int)path.length, path.bytes, why);
    if (!work->request->mail.shared.strict)
        return true;
    return refuse("stopped at the first message that could not be read (--strict)");
}

static bool change(void *context, const twin_message *message, twin_text path)
{
    struct work *work = context;
    twin_mail_effect effect;
    twin_error error = { 0 };
    const char *label = work->request->label;
    twin_status status;
    const char *why = no_message(message->raw);
    if (why && work->verb != FORGET) /* what was learnt by an earlier build */
        return leave_out(work, path, why);
    if (work->verb == FORGET)
        status = twin_mail_forget(&effect, work->mail, message, &error);
    else if (work->verb == CORRECT)
        status = twin_mail_correct(&effect, work->mail, message, label, work->now, &error);
    else
        status = twin_mail_learn(&effect, work->mail, message, label, work->now, &error);
    if (status != TWIN_OK)
        return refuse_status(mail_path(&work->request->mail), status, &error);
    work->effects[effect]++;
    if (interrupted()) {
        work->stopped_after = strndup(path.bytes, path.length);
        return false;
    }
    return (++work->pending < BATCH && seconds() < work->saved + SECONDS) || save(work);
}

static void print_changes(const struct work *work)
{
    const uint64_t *n = work->effects;
    const struct shared_options *shared = &work->request->mail.shared;
    if (work->left_out > 1)
        warn("%" PRIu64 " messages were left out", work->left_out);
    if (shared->json) {
        struct record record = record_begin(stdout, true);
        record_count(&record, "learnt", n[TWIN_MAIL_LEARNT]);
        record_count(&record, "known", n[TWIN_MAIL_KNOWN]);
        record_count(&record, "corrected", n[TWIN_MAIL_CORRECTED]);
        record_count(&record, "forgotten", n[TWIN_MAIL_FORGOTTEN]);
        record_count(&record, "unknown", n[TWIN_MAIL_UNKNOWN]);
        record_count(&record, "left_out", work->left_out);
        record_end(&record);
    } else if (shared->quiet) {
        return;
    } else if (work->verb == FORGET) {
        fprintf(stderr, "%" PRIu64 " forgotten, %" PRIu64 " not known\n", n[TWIN_MAIL_FORGOTTEN],
                n[TWIN_MAIL_UNKNOWN]);
        if (n[TWIN_MAIL_FORGOTTEN])
            warn(
                "senders and lookalikes are forgotten; what was learnt from the words of a message cannot be undone");
    } else {
        fprintf(stderr, "%" PRIu64 " learnt, %" PRIu64 " corrected, %" PRIu64 " known already\n", n[TWIN_MAIL_LEARNT],
                n[TWIN_MAIL_CORRECTED], n[TWIN_MAIL_KNOWN]);
    }
}

/* Once what came before a signal is saved. The signal says that no more messages are to be printed; this is the last. */
static void print_stop(const struct work *work)
{
    const uint64_t *n = work->effects;
    if (!work->stopped_after || work->request->mail.shared.quiet)
        return;
    fprintf(stderr, "stopped after %s: %" PRIu64 " learnt, %" PRIu64 " corrected; the same command goes on\n",
            work->stopped_after, n[TWIN_MAIL_LEARNT], n[TWIN_MAIL_CORRECTED]);
}

/* Whether everything that was named was no message: then something else was meant. */
static bool had_no_message(const struct work *work)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof work->effects / sizeof work->effects[0]; i++)
        count += work->effects[i];
    return work->left_out > 0 && count == 0;
}

/* One that was created for messages that were then refused. */
static void remove_model(const char *path)
{
    char *lock = NULL;
    if (asprintf(&lock, "%s-lock", path) < 0)
        return;
    unlink(path);
    unlink(lock);
    free(lock);
}

static int work_on(struct request *request, enum verb verb)
{
    struct work work = { .request = request, .verb = verb, .now = mail_now(), .saved = seconds() };
    twin_mail_options limits = { .keep_messages = request->keep_messages,
                                 .keep_days = request->keep_days,
                                 .without_texts = request->keep == KEEP_NONE };
    uint64_t key[2];
    if (!mail_key(&limits, key, &request->mail))
        return EXIT_ERROR;
    if (verb != FORGET && !request->label)
        return fail("--as is missing: say which label the messages have, such as spam or ham");
    bool is_new = is_missing(mail_path(&request->mail));
    work.mail = mail_open(&request->mail, TWIN_MAIL_WRITE, verb == FORGET ? NULL : &limits);
    if (!work.mail)
        return EXIT_ERROR;
    bool good = mail_each(&request->mail, 0, change, &work) >= 0;
    good = save(&work) && good; /* what was learnt before an error stays */
    if (good)
        print_changes(&work);
    if (good && had_no_message(&work))
        good = refuse("nothing was learnt, since nothing in the input is a message; name files or folders of mail");
    print_stop(&work);
    free(work.stopped_after);
    twin_mail_close(work.mail);
    if (!good && is_new && work.effects[TWIN_MAIL_LEARNT] == 0)
        remove_model(mail_path(&request->mail));
    return good ? EXIT_DONE : EXIT_ERROR;
}

static int run_learn(void *request)
{
    return work_on(request, LEARN);
}

static int run_correct(void *request)
{
    return work_on(request, CORRECT);
}

static int run_forget(void *request)
{
    return work_on(request, FORGET);
}

#define LABEL_ROW                                                                                                    \
    {                                                                                                                \
        "as", 0, OPTIONS_INPUT, "LABEL", "the label of the messages: spam, ham, or any other", &option_text,         \
            AT(label), .choices = "spam ham"                                                                         \
    }

static const struct option_row learn_options[] = {
    MAIL_MODEL_ROW(struct request),
    LABEL_ROW,
    { "keep", 0, OPTIONS_INPUT, "WHAT",
      "for a new model: keep the beginning of each message's text, which 'check --explain' shows, or none",
      &option_choice, AT(keep), .choices = "text none" },
    { "keep-messages", 0, OPTIONS_INPUT, "N",
      "for a new model: remember at most N messages and forget the oldest (default: 100K)", &option_count,
      AT(keep_messages), .least = 1, .most = 10000000 },
    { "keep-days", 0, OPTIONS_INPUT, "N", "for a new model: forget messages after N days (default: never)",
      &option_count, AT(keep_days), .least = 1, .most = 100000 },
    MAIL_KEY_ROW(struct request),
    { 0 },
};

static const struct option_row correct_options[] = { MAIL_MODEL_ROW(struct request), LABEL_ROW, { 0 } };
static const struct option_row forget_options[] = { MAIL_MODEL_ROW(struct request), { 0 } };

static const struct request defaults = { .mail = MAIL_DEFAULTS };

const struct command command_mail_learn = {
    .name = "twinsift mail learn",
    .summary = "learn messages under a label",
    .usage = "[OPTION]... --as LABEL [PATH]...",
    .about = ABOUT_MAIL_PATH
    "A message that was learnt before is ignored, or corrected if it had another label. The model is "
    "created if it does not exist.",
    .shared = MAIL_TAKES,
    .options = learn_options,
    .most = SIZE_MAX,
    .status = "0  done\n2  error; messages learnt before it stay learnt; or nothing in the input is a message",
    .examples = "twinsift mail learn --as ham ~/Maildir\n"
                "twinsift mail learn --as spam ~/Maildir/.Junk\n"
                "twinsift mail learn -m team.twin --as promotions newsletters.mbox",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_learn,
};

const struct command command_mail_correct = {
    .name = "twinsift mail correct",
    .summary = "learn messages that were misclassified",
    .usage = "[OPTION]... --as LABEL [PATH]...",
    .about = ABOUT_MAIL_PATH
    "The messages are learnt until the verdict is right, which also corrects the verdict on near-copies.",
    .shared = MAIL_TAKES,
    .options = correct_options,
    .most = SIZE_MAX,
    .status = "0  done\n2  error; messages learnt before it stay learnt; or nothing in the input is a message",
    .examples = "twinsift mail correct --as ham false-alarm.eml\n"
                "twinsift mail correct --as spam < message",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_correct,
};

const struct command command_mail_forget = {
    .name = "twinsift mail forget",
    .summary = "forget messages that were learnt",
    .usage = "[OPTION]... [PATH]...",
    .about = ABOUT_MAIL_PATH
    "The messages no longer count as senders and lookalikes. What was learnt from their words cannot "
    "be undone; only learning other messages changes that.",
    .shared = MAIL_TAKES,
    .options = forget_options,
    .most = SIZE_MAX,
    .status = "0  done\n2  error",
    .examples = "twinsift mail forget old-newsletter.eml",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_forget,
};

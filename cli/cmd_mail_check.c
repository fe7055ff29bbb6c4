/* cmd_mail_check.c — twinsift mail check: is this spam?
 *
 * Messages are judged one by one as they are read; with --bulk by several threads (mail_bulk.c); with --pass the one on
 * standard input is copied to standard output with the verdict in its headers. The exit statuses are those of other
 * mail filters, so an error is 3. */
#include "commands.h"
#include "mail_model.h"
#include "support/mail_evidence.h"
#include "support/messages.h"
#include "support/overwrite.h"
#include "support/results.h"
#include "support/verdict_text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As other filters have them. Of several messages the first of these that occurs. */
enum { IS_SPAM = 0, IS_NOT = 1, IS_UNSURE = 2, MAIL_ERROR = 3 };

struct request {
    struct mail_request mail;
    twin_mail_method method;
    const char *trust;
    bool explain, pass, bulk, exit_zero;
};

#define AT(field) OPTION_AT(struct request, field)

struct work {
    struct request *request;
    twin_mail *mail;
    twin_bloom *trusted;
    uint64_t seen[3]; /* by exit status */
};

static int status_of(const twin_mail_verdict *verdict)
{
    if (!verdict->label)
        return IS_UNSURE;
    return verdict_is_spam(verdict) ? IS_SPAM : IS_NOT;
}

static twin_mail_check_options options_of(const struct work *work)
{
    return (twin_mail_check_options){ .method = work->request->method, .trusted = work->trusted };
}

static bool judge(twin_mail_verdict *out, struct work *work, const twin_message *message)
{
    twin_error error = { 0 };
    twin_status status = twin_mail_check(out, work->mail, message, options_of(work), &error);
    if (status != TWIN_OK)
        fail_status(mail_path(&work->request->mail), status, &error);
    else
        work->seen[status_of(out)]++;
    return status == TWIN_OK;
}

/* A line of the results. `mail` knows what the verdict refers to; the message is only needed to explain. */
static void print_verdict(const struct request *request, twin_mail *mail, const twin_mail_verdict *verdict,
                          const twin_message *message, twin_text path)
{
    struct record record = record_begin(stdout, request->mail.shared.json);
    record_string(&record, "verdict", verdict_name(verdict));
    record_fixed(&record, "score", verdict->score, 6);
    char reason[VERDICT_REASON_ROOM]; /* --json has its figures apart */
    record_string(&record, "reason",
                  request->mail.shared.json ? twin_name_of(TWIN_NAMES_MAIL_REASON, verdict->reason)
                                            : verdict_reason(reason, verdict));
    record_text(&record, "path", path);
    if (request->mail.shared.json) {
        record_fixed(&record, "log_odds", verdict->log_odds, 6);
        record_fixed(&record, "threshold", verdict->threshold, 6);
        record_step(&record, verdict);
        record_evidence(&record, mail, message, verdict);
    }
    record_end(&record);
}

static bool check(void *context, const twin_message *message, twin_text path)
{
    struct work *work = context;
    const struct request *request = work->request;
    twin_mail_verdict verdict;
    if (!judge(&verdict, work, message))
        return false;
    if (message->raw.length == 0 && !request->mail.shared.quiet)
        warn("%.*s is empty", (int)path.length, path.bytes);
    print_verdict(request, work->mail, &verdict, request->explain ? message : NULL, path);
    if (request->explain && !request->mail.shared.json)
        explain_verdict(work->mail, message, &verdict, terminal_color(STDOUT_FILENO, request->mail.shared.color));
    return output_is_good();
}

static bool print_bulk(void *context, twin_mail *mail, const twin_mail_verdict *verdict, twin_text path)
{
    struct work *work = context;
    work->seen[status_of(verdict)]++;
    print_verdict(work->request, mail, verdict, NULL, path);
    return output_is_good();
}

static bool check_all(struct work *work)
{
    struct request *request = work->request;
    twin_exec exec;
    if (!request->bulk || request->explain)
        return mail_each(&request->mail, 0, check, work) >= 0;
    return make_exec(&exec, &request->mail.shared) &&
           mail_check_bulk(&request->mail, work->mail, options_of(work), exec, print_bulk, work);
}

/* ---- --pass */

static bool read_standard_input(twin_buffer *out)
{
    size_t got = 1;
    while (got > 0) {
        if (twin_buffer_reserve(out, 65536) != TWIN_OK)
            return refuse_status("standard input", TWIN_ENOMEM, NULL);
        got = fread(out->bytes + out->length, 1, 65536, stdin);
        out->length += got;
    }
    if (ferror(stdin))
        fail("standard input could not be read: %s", strerror(errno));
    return !ferror(stdin);
}

static bool write_passed(twin_text raw, const twin_mail_verdict *verdict)
{
    struct verdict_headers headers;
    verdict_headers_write(&headers, verdict);
    twin_buffer out = { 0 };
    twin_status status = twin_message_pass(&out, raw, headers.fields, VERDICT_HEADERS);
    if (status == TWIN_OK)
        fwrite(out.bytes, 1, out.length, stdout);
    else
        fail_status("the message", status, NULL);
    twin_buffer_clear(&out);
    return status == TWIN_OK && output_is_good();
}

/* Without a verdict the message is passed as well, without what a forger wrote: mail is not lost for want of a
 * model. */
static void pass_unjudged(twin_text raw)
{
    twin_buffer out = { 0 };
    if (twin_message_pass(&out, raw, NULL, 0) == TWIN_OK)
        fwrite(out.bytes, 1, out.length, stdout);
    else
        fwrite(raw.bytes, 1, raw.length, stdout);
    twin_buffer_clear(&out);
}

static bool pass_message(struct work *work, bool ready)
{
    twin_buffer raw = { 0 };
    twin_message_reader *reader = NULL;
    const twin_message *message;
    twin_mail_verdict verdict;
    bool good = read_standard_input(&raw);
    if (good && ready && twin_message_reader_create(&reader, (twin_message_options){ 0 }) != TWIN_OK)
        ready = refuse_status("mail", TWIN_ENOMEM, NULL);
    twin_text text = { raw.bytes, raw.length };
    twin_status status = good && ready ? twin_message_read(&message, reader, text) : TWIN_OK;
    if (status != TWIN_OK)
        ready = refuse("the message: %s", twin_error_last(status));
    ready = good && ready && judge(&verdict, work, message);
    if (ready)
        good = write_passed(text, &verdict);
    else if (raw.length)
        pass_unjudged(text);
    good = good && ready;
    twin_message_reader_free(reader);
    twin_buffer_clear(&raw);
    return good;
}

/* ---- the command */

static bool open_trusted(struct work *work)
{
    twin_error error = { 0 };
    if (!work->request->trust)
        return true;
    twin_status status =
        twin_bloom_open(&work->trusted, work->request->trust, (twin_bloom_open_options){ 0 }, &error);
    return status == TWIN_OK || refuse_status(work->request->trust, status, &error);
}

static int conclude(const struct work *work)
{
    if (fflush(stdout) != 0 || !output_is_good())
        return MAIL_ERROR;
    if (work->request->bulk || work->request->exit_zero)
        return EXIT_DONE;
    return work->seen[IS_SPAM] ? IS_SPAM : work->seen[IS_UNSURE] || !work->seen[IS_NOT] ? IS_UNSURE : IS_NOT;
}

static int run(void *context)
{
    struct request *request = context;
    struct work work = { .request = request };
    if (request->pass && (request->mail.shared.base.count || request->explain || request->mail.shared.json)) {
        fail("--pass takes the message from standard input and writes nothing else");
        return MAIL_ERROR;
    }
    static const char *const standard[] = { "-" };
    const struct request_base *base = &request->mail.shared.base;
    if (base->count ? overwrites_input("-", base->arguments, base->count) : overwrites_input("-", standard, 1))
        return MAIL_ERROR;
    work.mail = mail_open(&request->mail, TWIN_MAIL_READ, NULL);
    bool good = work.mail && open_trusted(&work);
    if (request->pass)
        good = pass_message(&work, good);
    else if (good)
        good = check_all(&work);
    int status = good ? conclude(&work) : MAIL_ERROR;
    twin_bloom_free(work.trusted);
    twin_mail_close(work.mail);
    return status;
}

static const struct option_row options[] = {
    MAIL_MODEL_ROW(struct request),
    { "trust", 0, OPTIONS_MATCHING, "FILE",
      "a filter, created by 'twinsift bloom', of addresses and domains whose mail is good", &option_text, AT(trust) },
    { "method", 0, OPTIONS_MATCHING, "NAME", "the evidence that decides: all, content, sender or lookalike",
      &option_choice, AT(method), .choices = "all content sender lookalike" },
    { "explain", 0, OPTIONS_OUTPUT, NULL,
      "print the evidence in detail, and the nearest known message side by side with this one", &option_flag,
      AT(explain) },
    { "pass", 'p', OPTIONS_OUTPUT, NULL,
      "copy the message from standard input to standard output, with headers X-Spam-Flag, X-Spam-Score and "
      "X-Twinsift added",
      &option_flag, AT(pass) },
    { "bulk", 0, OPTIONS_OUTPUT, NULL, "for many messages: use all processors, and exit with 0 whatever the verdicts",
      &option_flag, AT(bulk) },
    { "exit-zero", 'e', OPTIONS_OUTPUT, NULL,
      "exit with 0 whatever the verdict, and with 3 after an error, for programs that take any other status of a "
      "filter "
      "as its failure",
      &option_flag, AT(exit_zero) },
    { 0 },
};

static const struct request defaults = { .mail = MAIL_DEFAULTS };

const struct command command_mail_check = {
    .name = "twinsift mail check",
    .summary = "classify messages",
    .usage = "[OPTION]... [PATH]...",
    .about = ABOUT_MAIL_PATH
    "For each message it prints the verdict (a label, or "
    "unsure), the probability of spam, the evidence that counted most, and the path. The model is not changed.",
    .shared = MAIL_TAKES " " TAKES_EXEC,
    .options = options,
    .most = SIZE_MAX,
    .status = "0  spam; of several messages: at least one is\n"
              "1  not spam\n"
              "2  unsure; of several: none is spam, and at least one is unsure\n"
              "3  error",
    .examples = "twinsift mail check message.eml\n"
                "twinsift mail check --explain < message.eml\n"
                "twinsift mail check --bulk ~/Maildir > verdicts.tsv\n"
                "twinsift mail check --pass --exit-zero < message.eml | sendmail -oi me@example.org",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
    .error = MAIL_ERROR,
};

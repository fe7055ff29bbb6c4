/* cmd_mail_eval.c — twinsift mail eval: how well the filter does on a TREC corpus. */
#include "commands.h"
#include "mail_model.h"
#include "support/output_file.h"
#include "support/record.h"
#include "support/size.h"
#include "support/usage.h"
#include "trec.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

struct request {
    struct mail_request mail;
    const char *trec, *results;
    struct trec_options options;
    uint64_t messages;
};

#define AT(field) OPTION_AT(struct request, field)

enum { FIRST = 1000, RESAMPLES = 100 };

struct report {
    twin_mail_measures all, first; /* of all messages; of the first thousand */
    const struct trec_outcome *outcome;
    double seconds;
    uint64_t messages, bytes;
};

static void print_measures(const twin_mail_measures *m)
{
    printf("  hm%%        %.4f  (%.4f - %.4f)  %" PRIu64 " good lost\n", m->hm.percent, m->hm.low, m->hm.high,
           m->good_lost);
    printf("  sm%%        %.4f  (%.4f - %.4f)  %" PRIu64 " spam missed\n", m->sm.percent, m->sm.low, m->sm.high,
           m->spam_missed);
    printf("  lam%%       %.4f\n", m->lam);
    printf("  1-ROCA%%    %.4f", m->roca.percent);
    if (!isnan(m->roca.low))
        printf("  (%.4f - %.4f)", m->roca.low, m->roca.high);
    printf("\n");
    for (size_t i = 0; i < TWIN_MAIL_LEVELS; i++)
        printf("  sm%% at hm%%=%-4g %.4f\n", twin_mail_level(i), m->sm_at[i]);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_report(const struct report *report)
{
    const struct trec_outcome *o = report->outcome;
    char size[SIZE_ROOM];
    printf("messages %zu: %" PRIu64 " good, %" PRIu64 " spam\n", o->count, report->all.good, report->all.spam);
    print_measures(&report->all);
    printf("  unsure     %.2f %% of the good mail, %.2f %% of the spam\n", share(o->unsure_good, report->all.good),
           share(o->unsure_spam, report->all.spam));
    if (o->count > FIRST) {
        printf("first %d\n", FIRST);
        print_measures(&report->first);
    }
    printf("messages per second  %.0f\n", (double)report->messages / report->seconds);
    if (report->bytes)
        printf("model                %s\n", write_size(size, report->bytes));
}

static void record_measures(struct record *record, const twin_mail_measures *m)
{
    record_count(record, "good", m->good);
    record_count(record, "spam", m->spam);
    record_count(record, "good_lost", m->good_lost);
    record_count(record, "spam_missed", m->spam_missed);
    record_number(record, "hm", m->hm.percent, 9);
    record_number(record, "sm", m->sm.percent, 9);
    record_number(record, "lam", m->lam, 9);
    record_number(record, "roca", m->roca.percent, 9);
    record_number(record, "roca_low", m->roca.low, 9);
    record_number(record, "roca_high", m->roca.high, 9);
    record_list(record, "sm_at_hm");
    for (size_t i = 0; i < TWIN_MAIL_LEVELS; i++) {
        record_list(record, NULL);
        record_number(record, NULL, twin_mail_level(i), 3);
        record_number(record, NULL, m->sm_at[i], 9);
        record_list_end(record);
    }
    record_list_end(record);
}

static void record_report(const struct report *report)
{
    struct record record = record_begin(stdout, true);
    record_count(&record, "messages", report->outcome->count);
    record_measures(&record, &report->all);
    record_count(&record, "unsure_good", report->outcome->unsure_good);
    record_count(&record, "unsure_spam", report->outcome->unsure_spam);
    if (report->outcome->count > FIRST) {
        record_object(&record, "first_1000");
        record_measures(&record, &report->first);
        record_object_end(&record);
    }
    record_count(&record, "learnt", report->outcome->learnt);
    record_number(&record, "seconds", report->seconds, 6);
    record_count(&record, "model_bytes", report->bytes);
    record_end(&record);
}

static bool measure(struct report *report, const struct trec_outcome *outcome, uint64_t seed)
{
    twin_mail_measure_options options = { RESAMPLES, seed };
    size_t first = outcome->count < FIRST ? outcome->count : FIRST;
    twin_status status = twin_mail_measure(&report->all, outcome->judgements, outcome->count, options);
    if (status == TWIN_OK)
        status = twin_mail_measure(&report->first, outcome->judgements, first, options);
    if (status != TWIN_OK)
        fail_status("the measures", status, NULL);
    return status == TWIN_OK;
}

/* A model in memory, or in a new file; the same seed gives the same key and so the same scores. */
static twin_mail *open_model(const struct request *request)
{
    uint64_t key[2] = { twin_hash_mix(request->options.seed + 1), twin_hash_mix(request->options.seed + 2) };
    twin_mail_options options = { .key = key };
    twin_mail *mail = NULL;
    if (request->mail.model)
        return mail_open(&request->mail, TWIN_MAIL_WRITE, &options);
    twin_status status = twin_mail_create_in_memory(&mail, options);
    if (status != TWIN_OK)
        fail_status("the model", status, NULL);
    return mail;
}

static bool play(struct request *request, const struct trec_index *index, twin_mail *mail)
{
    struct trec_outcome outcome = { 0 };
    struct report report = { .outcome = &outcome, .messages = index->count };
    twin_error error = { 0 };
    double begin = seconds();
    bool good = trec_play(&outcome, mail, index, &request->options);
    report.seconds = seconds() - begin;
    twin_mail_info info = { 0 };
    if (good && (twin_mail_commit(mail, &error) != TWIN_OK || twin_mail_describe(&info, mail, &error) != TWIN_OK))
        good = fail_status("the model", error.status, &error) == EXIT_DONE;
    report.bytes = info.bytes;
    good = good && measure(&report, &outcome, request->options.seed);
    if (good && request->mail.shared.json)
        record_report(&report);
    else if (good)
        print_report(&report);
    trec_outcome_clear(&outcome);
    return good;
}

static int run(void *context)
{
    struct request *request = context;
    struct trec_index index = { 0 };
    struct output_file results = { 0 };
    if (!request->trec)
        return fail("--trec is missing: give the index of a corpus");
    if (request->results && !output_file_open(&results, request->results))
        return EXIT_ERROR;
    request->options.results = results.file;
    bool good = trec_read(&index, request->trec, request->messages ? request->messages : SIZE_MAX);
    twin_mail *mail = good ? open_model(request) : NULL;
    good = mail && play(request, &index, mail);
    twin_mail_close(mail);
    trec_clear(&index);
    if (request->results && good)
        good = output_file_finish(&results);
    else if (request->results)
        output_file_abandon(&results);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static const struct option_row options[] = {
    { "trec", 0, OPTIONS_INPUT, "INDEX", "the index of the corpus: lines \"spam PATH\" or \"ham PATH\"", &option_text,
      AT(trec) },
    { "messages", 0, OPTIONS_INPUT, "N", "only the first N messages", &option_count, AT(messages), .least = 1 },
    { "model", 'm', OPTIONS_OUTPUT, "FILE", "keep the model in a new file (default: in memory)", &option_text,
      AT(mail.model) },
    { "method", 0, OPTIONS_MATCHING, "NAME", "the evidence that decides: all, content, sender or lookalike",
      &option_choice, AT(options.method), .choices = "all content sender lookalike" },
    { "noise", 0, OPTIONS_MATCHING, "P", "learn this share of the messages under the wrong label", &option_fraction,
      AT(options.noise) },
    { "teach-every", 0, OPTIONS_MATCHING, "N", "learn only every N-th message", &option_count,
      AT(options.teach_every), .least = 1 },
    { "delay", 0, OPTIONS_MATCHING, "N", "learn a message only after N more were judged", &option_count,
      AT(options.delay) },
    { "seed", 0, OPTIONS_MATCHING, "N", "the seed of the model's key, of the noise and of the resamples",
      &option_seed, AT(options.seed) },
    { "results", 0, OPTIONS_OUTPUT, "FILE", "write a line per message, as the TREC toolkit does", &option_text,
      AT(results) },
    { 0 },
};

static const struct request defaults = { .mail = MAIL_DEFAULTS, .options = { .seed = 1 } };

const struct command command_mail_eval = {
    .name = "twinsift mail eval",
    .summary = "measure how well the filter does on a corpus",
    .usage = "[OPTION]... --trec INDEX",
    .about = "Judges the messages of the index in their order, and learns each one's true label after it was judged. "
             "Prints hm% and sm%, the good mail called spam and the spam not called spam; lam%, their logistic "
             "average; 1-ROCA%, the area above the ROC curve, with its interval of 95 %; and the spam missed when at "
             "most 0.1, 1, 5 or 10 % of the good mail is lost. A score in the results is the log odds of spam.",
    .shared = "json quiet",
    .options = options,
    .status = "0  done\n2  error",
    .examples = "twinsift mail eval --trec trec07p/full/index\n"
                "twinsift mail eval --trec trec07p/full/index --method content --noise 0.05 --results scores",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

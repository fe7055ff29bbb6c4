/* cmd_mail_eval.c — twinsift mail eval: how well a filter does on a corpus.
 *
 * The corpus is read by support/mail_corpus and tried by support/mail_trial, which the lab uses too. This file opens
 * the filter, and prints the measures that the library computes from the judgements. */
#include "commands.h"
#include "lsh/forest.h"
#include "mail/mail_baseline.h"
#include "mail/mail_measures.h"
#include "mail_model.h"
#include "support/mail_trial.h"
#include "support/output_file.h"
#include "support/record.h"
#include "support/size.h"
#include "support/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
    struct mail_request mail;
    const char *trec, *judge, *results;
    struct trial_options options;
    enum trial_method method;
    uint64_t messages;
    size_t trees;
    bool split, labels;
};

#define AT(field) OPTION_AT(struct request, field)

enum { FIRST = 1000, RESAMPLES = 100 };

struct report {
    const struct request *request;
    twin__mail_measures all, first; /* of all messages; of the first thousand */
    const struct trial_outcome *outcome;
    double seconds;
    uint64_t messages, bytes;
};

static void print_measures(const twin__mail_measures *m)
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
    for (size_t i = 0; i < TWIN__MAIL_LEVELS; i++)
        printf("  sm%% at hm%%=%-4g %.4f\n", twin__mail_level(i), m->sm_at[i]);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

static bool has_first(const struct report *report)
{
    return report->outcome->count > FIRST && !report->request->split;
}

/* ---- thresholds of a split */

enum { THRESHOLDS = 10 }; /* 0.1, 0.2 .. 1 */

static bool is_published(const struct request *request)
{
    return request->method == TRIAL_FOREST || request->method == TRIAL_PAPER;
}

/* Scores of a model are log odds; the threshold is a probability. */
static struct trial_counts count_at(const struct report *report, int tenths)
{
    double threshold = tenths / 10.0;
    if (!is_published(report->request))
        threshold = tenths < THRESHOLDS ? log(threshold / (1 - threshold)) : INFINITY;
    return trial_count_from(report->outcome, threshold);
}

static void print_counts(const char *name, const twin__mail_measures *m, struct trial_counts counts)
{
    printf("  %-9s  %8" PRIu64 " %7.2f %%  %8" PRIu64 " %7.2f %%\n", name, counts.spam, share(counts.spam, m->spam),
           counts.good, share(counts.good, m->good));
}

static void print_thresholds(const struct report *report)
{
    const twin__mail_measures *m = &report->all;
    printf("  threshold        spam caught           good lost\n");
    for (int t = 1; t <= THRESHOLDS; t++) {
        char name[16];
        snprintf(name, sizeof name, "%.1f", t / 10.0);
        print_counts(name, m, count_at(report, t));
    }
    print_counts("verdict", m, (struct trial_counts){ m->spam - m->spam_missed, m->good_lost });
}

static void record_thresholds(struct record *record, const struct report *report)
{
    record_list(record, "thresholds");
    for (int t = 1; t <= THRESHOLDS; t++) {
        struct trial_counts counts = count_at(report, t);
        record_object(record, NULL);
        record_number(record, "threshold", t / 10.0, 2);
        record_count(record, "spam_caught", counts.spam);
        record_count(record, "good_lost", counts.good);
        record_object_end(record);
    }
    record_list_end(record);
}

/* ---- labels */

struct label_sums {
    uint64_t all, right, unsure;
};

static struct label_sums sum_labels(const struct trial_labels *labels, size_t first, size_t count)
{
    struct label_sums sums = { 0 };
    for (size_t i = first; i < first + count; i++) {
        sums.right += labels->called[i][i];
        sums.unsure += labels->called[i][TWIN_MAIL_MAX_LABELS];
        for (size_t k = 0; k <= TWIN_MAIL_MAX_LABELS; k++)
            sums.all += labels->called[i][k];
    }
    return sums;
}

/* The confusion: a row per label, how many of its messages were called what. */
static void print_labels(const struct report *report)
{
    const struct trial_labels *labels = &report->outcome->labels;
    struct label_sums sums = sum_labels(labels, 0, labels->count);
    printf("messages %" PRIu64 " of %zu labels", sums.all, labels->count);
    printf(report->request->split ? "; %" PRIu64 " others learnt before\n" : "\n", report->outcome->learnt);
    printf("  right      %.2f %% of those decided\n", share(sums.right, sums.all - sums.unsure));
    printf("  unsure     %.2f %%\n", share(sums.unsure, sums.all));
    printf("  %-20s", "called");
    for (size_t k = 0; k < labels->count; k++)
        printf(" %12.12s", labels->names[k]);
    printf(" %12s\n", "unsure");
    for (size_t i = 0; i < labels->count; i++) {
        printf("  %-20.20s", labels->names[i]);
        for (size_t k = 0; k < labels->count; k++)
            printf(" %12" PRIu64, labels->called[i][k]);
        printf(" %12" PRIu64 "\n", labels->called[i][TWIN_MAIL_MAX_LABELS]);
    }
    printf("messages per second  %.0f\n", (double)report->messages / report->seconds);
}

static void record_labels(const struct report *report)
{
    const struct trial_labels *labels = &report->outcome->labels;
    struct record record = record_begin(stdout, true);
    record_count(&record, "messages", sum_labels(labels, 0, labels->count).all);
    record_list(&record, "labels");
    for (size_t i = 0; i < labels->count; i++) {
        struct label_sums sums = sum_labels(labels, i, 1);
        record_object(&record, NULL);
        record_string(&record, "label", labels->names[i]);
        record_count(&record, "messages", sums.all);
        record_count(&record, "right", sums.right);
        record_count(&record, "unsure", sums.unsure);
        record_object(&record, "called");
        for (size_t k = 0; k < labels->count; k++)
            record_count(&record, labels->names[k], labels->called[i][k]);
        record_object_end(&record);
        record_object_end(&record);
    }
    record_list_end(&record);
    record_count(&record, "learnt", report->outcome->learnt);
    record_number(&record, "seconds", report->seconds, 6);
    record_end(&record);
}

/* ---- the report */

static void print_report(const struct report *report)
{
    const struct trial_outcome *o = report->outcome;
    char size[SIZE_ROOM];
    printf("messages %zu: %" PRIu64 " good, %" PRIu64 " spam", o->count, report->all.good, report->all.spam);
    printf(report->request->split ? "; %" PRIu64 " others learnt before\n" : "\n", o->learnt);
    if (report->request->split)
        print_thresholds(report);
    print_measures(&report->all);
    printf("  unsure     %.2f %% of the good mail, %.2f %% of the spam\n", share(o->unsure_good, report->all.good),
           share(o->unsure_spam, report->all.spam));
    if (has_first(report)) {
        printf("first %d\n", FIRST);
        print_measures(&report->first);
    }
    printf("messages per second  %.0f\n", (double)report->messages / report->seconds);
    if (report->bytes)
        printf("model                %s\n", write_size(size, report->bytes));
    else if (!is_published(report->request))
        printf("model                in memory; -m FILE keeps it and prints its size\n");
}

static void record_measures(struct record *record, const twin__mail_measures *m)
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
    for (size_t i = 0; i < TWIN__MAIL_LEVELS; i++) {
        record_list(record, NULL);
        record_number(record, NULL, twin__mail_level(i), 3);
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
    if (report->request->split)
        record_thresholds(&record, report);
    if (has_first(report)) {
        record_object(&record, "first_1000");
        record_measures(&record, &report->first);
        record_object_end(&record);
    }
    record_count(&record, "learnt", report->outcome->learnt);
    record_number(&record, "seconds", report->seconds, 6);
    if (report->bytes)
        record_count(&record, "model_bytes", report->bytes);
    else
        record_null(&record, "model_bytes"); /* it is in memory */
    record_end(&record);
}

static bool measure(struct report *report, const struct trial_outcome *outcome, uint64_t seed)
{
    twin__mail_measure_options options = { RESAMPLES, seed };
    size_t first = outcome->count < FIRST ? outcome->count : FIRST;
    twin_status status = twin__mail_measure(&report->all, outcome->judgements, outcome->count, options);
    if (status == TWIN_OK)
        status = twin__mail_measure(&report->first, outcome->judgements, first, options);
    return status == TWIN_OK || refuse_status("the measures", status, NULL);
}

/* ---- the filter */

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

static bool open_filter(struct trial_filter *out, const struct request *request)
{
    if (!is_published(request)) {
        out->method = (twin_mail_method)request->method;
        out->mail = open_model(request);
        return out->mail != NULL;
    }
    if (request->mail.model)
        return refuse("--model: the methods forest and paper-a are not kept in files");
    twin_status status = twin__mail_baseline_create(
        &out->baseline,
        (twin__mail_baseline_options){ .kind = request->method == TRIAL_FOREST ? TWIN__MAIL_FOREST : TWIN__MAIL_RULE,
                                       .trees = request->trees,
                                       .seed = request->options.seed });
    return status == TWIN_OK || refuse_status("the filter", status, NULL);
}

static void close_filter(struct trial_filter *filter)
{
    twin_mail_close(filter->mail);
    twin__mail_baseline_free(filter->baseline);
}

/* The bytes of the model, once all of it is in its file. */
static bool finish_model(uint64_t *bytes, twin_mail *mail)
{
    twin_mail_info info = { 0 };
    twin_error error = { 0 };
    twin_status status = mail ? twin_mail_commit(mail, &error) : TWIN_OK;
    if (mail && status == TWIN_OK)
        status = twin_mail_describe(&info, mail, &error);
    if (status != TWIN_OK)
        fail_status("the model", status, &error);
    *bytes = info.bytes;
    return status == TWIN_OK;
}

static bool play(struct request *request, const struct mail_corpus *corpus, const struct trial_filter *filter)
{
    struct trial_outcome outcome = { 0 };
    struct report report = { .request = request, .outcome = &outcome, .messages = corpus->count };
    double begin = seconds();
    bool good = (request->split ? trial_split : trial_play)(&outcome, filter, corpus, &request->options);
    report.seconds = seconds() - begin;
    good = good && finish_model(&report.bytes, filter->mail) &&
           (request->labels || measure(&report, &outcome, request->options.seed));
    if (good && request->labels)
        (request->mail.shared.json ? record_labels : print_labels)(&report);
    else if (good && request->mail.shared.json)
        record_report(&report);
    else if (good)
        print_report(&report);
    trial_outcome_clear(&outcome);
    return good;
}

/* ---- the corpus */

static bool read_folders(struct mail_corpus *out, const struct request *request)
{
    const struct request_base *base = &request->mail.shared.base;
    bool good = true;
    for (size_t i = 0; i < base->count && good; i++)
        good = (request->labels ? mail_corpus_add_named : mail_corpus_add_folder)(out, base->arguments[i]);
    if (good && out->unlabelled)
        warn("%zu file%s left out: the folder has neither ham nor spam in its name", out->unlabelled,
             out->unlabelled == 1 ? " is" : "s are");
    if (good && out->count == 0)
        good = refuse("there are no messages: give folders with ham and spam in their names");
    good = good && mail_corpus_sort(out);
    while (good && request->messages && out->count > request->messages) {
        out->count--;
        free(out->lines[out->count].path);
        free(out->lines[out->count].name);
    }
    return good;
}

static bool read_corpus(struct mail_corpus *out, const struct request *request)
{
    bool good = request->trec
                    ? mail_corpus_read_index(out, request->trec, request->messages ? request->messages : SIZE_MAX)
                    : read_folders(out, request);
    if (good && out->count == 0 && !request->mail.shared.quiet)
        warn("there are no messages in the input");
    return good && (!request->judge || mail_corpus_correct(out, request->judge));
}

static int run(void *context)
{
    struct request *request = context;
    struct mail_corpus corpus = { 0 };
    struct trial_filter filter = { 0 };
    struct output_file results = { 0 };
    if (!request->trec == !request->mail.shared.base.count)
        return fail("give the index of a corpus with --trec, or folders of messages%s",
                    request->trec ? ", not both" : "");
    if (request->split && (request->options.delay || request->options.teach_every))
        return fail(
            "--split learns a half and judges the other: --delay and --teach-every are for messages in order");
    if (request->labels && (request->trec || request->options.noise > 0 || is_published(request)))
        return fail("--labels is for folders, without --noise, and for the filter of twinsift");
    if (request->trees && request->method != TRIAL_FOREST)
        return fail("--trees is for --method forest");
    if (request->results && !output_file_open(&results, request->results))
        return EXIT_ERROR;
    request->options.results = results.file;
    bool good = read_corpus(&corpus, request) && open_filter(&filter, request) && play(request, &corpus, &filter);
    close_filter(&filter);
    mail_corpus_clear(&corpus);
    if (request->results && good)
        good = output_file_finish(&results);
    else if (request->results)
        output_file_abandon(&results);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static const struct option_row options[] = {
    { "trec", 0, OPTIONS_INPUT, "INDEX", "the index of a corpus: lines \"spam PATH\" or \"ham PATH\"", &option_text,
      AT(trec) },
    { "messages", 0, OPTIONS_INPUT, "N", "only the first N messages", &option_count, AT(messages), .least = 1 },
    { "judge", 0, OPTIONS_INPUT, "FILE",
      "an index with corrected labels for scoring only; learning still uses the labels of the corpus", &option_text,
      AT(judge) },
    { "labels", 0, OPTIONS_INPUT, NULL,
      "each folder is named for a label, such as work or family; prints how many messages of each are called what",
      &option_flag, AT(labels) },
    { "split", 0, OPTIONS_MATCHING, NULL,
      "learn one half, classify the other, and print what thresholds from 0.1 to 1 catch and lose", &option_flag,
      AT(split) },
    { "model", 'm', OPTIONS_OUTPUT, "FILE", "keep the model in a new file (default: in memory)", &option_text,
      AT(mail.model) },
    { "method", 0, OPTIONS_MATCHING, "NAME",
      "the evidence that decides: all, content, sender or lookalike; or a published filter: forest (Sokolov 2007) or "
      "paper-a (Martins and Jesus 2015)",
      &option_choice, AT(method), .choices = TRIAL_METHODS },
    { "trees", 0, OPTIONS_MATCHING, "N", "trees of the forest (default: 100)", &option_size, AT(trees), .least = 1,
      .most = TWIN__FOREST_MAX_TREES },
    { "noise", 0, OPTIONS_MATCHING, "P", "learn this share of the messages under the wrong label", &option_fraction,
      AT(options.noise) },
    { "teach-every", 0, OPTIONS_MATCHING, "N", "learn only every N-th message", &option_count,
      AT(options.teach_every), .least = 1 },
    { "delay", 0, OPTIONS_MATCHING, "N", "learn each message only after N more were classified", &option_count,
      AT(options.delay) },
    { "seed", 0, OPTIONS_MATCHING, "N", "the seed of the model's key, of the noise, the halves and the resamples",
      &option_seed, AT(options.seed) },
    { "results", 0, OPTIONS_OUTPUT, "FILE", "write a line per message, as the TREC toolkit does", &option_text,
      AT(results) },
    { 0 },
};

static const struct request defaults = { .mail = MAIL_DEFAULTS, .options = { .seed = 1 } };

const struct command command_mail_eval = {
    .name = "twinsift mail eval",
    .summary = "measure the accuracy of the filter on a corpus",
    .usage = "[OPTION]... --trec INDEX\n"
             "[OPTION]... FOLDER...",
    .about =
        "Judges the messages of the index in their order, and learns each one's true label after it was judged. "
        "Instead of an index there may be folders of files, with ham or spam in the names of the folders; the "
        "messages are then taken in the order in which they were received, by their topmost Received header. With "
        "--split, every second folder that has folders of ham and spam is learnt, or, if there is only one, a random "
        "half of the messages. "
        "Prints hm% and sm%, the good mail called spam and the spam not called spam; lam%, their logistic "
        "average; 1-ROCA%, the area above the ROC curve, with its interval of 95 %; and the spam missed when at "
        "most 0.1, 1, 5 or 10 % of the good mail is lost. A score in the results is the log odds of spam, or "
        "that of a published filter, 0 to 1.",
    .shared = "no-sync json quiet",
    .options = options,
    .most = SIZE_MAX,
    .status = "0  done\n2  error",
    .examples = "twinsift mail eval --trec trec07p/full/index\n"
                "twinsift mail eval --trec trec07p/full/index --method content --noise 0.05 --results scores\n"
                "twinsift mail eval ~/mail/spam ~/mail/ham\n"
                "twinsift mail eval --labels --split ~/mail/work ~/mail/family ~/mail/lists\n"
                "twinsift mail eval --split --method paper-a enron-spam",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

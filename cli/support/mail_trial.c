/* mail_trial.c — a mail filter tried on a corpus.
 *
 * A trial visits the lines of a corpus in some order, and judges or learns the message of each. The filter is a model
 * of the library or one of the published filters that it is compared with. The same seed gives the same trial. */
#include "mail_trial.h"

#include "mail/mail_baseline.h"
#include "mail/mail_measures.h"
#include "messages.h"

#include <stdlib.h>
#include <string.h>

struct trial {
    struct trial_outcome *out;
    const struct trial_filter *filter;
    const struct trial_options *options;
    twin_message_reader *reader;
    twin_buffer raw;
    uint64_t random, offered; /* messages that could have been learnt */
};

void trial_outcome_clear(struct trial_outcome *outcome)
{
    free(outcome->judgements);
    *outcome = (struct trial_outcome){ 0 };
}

/* NULL: it could not be read, which has been reported. */
static const twin_message *read_message(struct trial *trial, const char *path)
{
    const twin_message *message = NULL;
    if (!mail_file_read(&trial->raw, path)) {
        warn("%s could not be read; the message is skipped", path);
        trial->out->skipped++;
        return NULL;
    }
    twin_text raw = { trial->raw.bytes, trial->raw.length };
    return twin_message_read(&message, trial->reader, raw) == TWIN_OK ? message : NULL;
}

/* ---- judging */

struct opinion {
    double score;
    bool spam, unsure;
    const char *label; /* NULL: unsure, or of a published filter */
};

/* The number of a label, which becomes known. Labels of the model that are not of the corpus there are none of. */
static size_t number_of(struct trial_labels *labels, const char *name)
{
    size_t i = 0;
    while (i < labels->count && strcmp(labels->names[i], name) != 0)
        i++;
    if (i == labels->count)
        labels->names[labels->count++] = name;
    return i;
}

static void count_call(struct trial_labels *labels, const char *truth, const char *given)
{
    size_t row = number_of(labels, truth), column = TWIN_MAIL_MAX_LABELS;
    for (size_t i = 0; given && i < TWIN_MAIL_MAX_LABELS && labels->names[i]; i++)
        column = strcmp(labels->names[i], given) == 0 ? i : column;
    labels->called[row][column]++;
}

/* The true label and the verdict in the results: that of spam, as the TREC toolkit has them, but that unsure is not ham. */
static const char *truth_of(const struct mail_line *line)
{
    return line->label ? line->label : !line->known ? "unknown" : line->counts_as_spam ? "spam" : "ham";
}

static const char *call_of(const struct opinion *opinion)
{
    return opinion->unsure ? "unsure" : opinion->label ? opinion->label : opinion->spam ? "spam" : "ham";
}

static bool ask(struct opinion *out, const struct trial_filter *filter, const twin_message *message)
{
    twin_error error = { 0 };
    if (filter->baseline) {
        twin__mail_opinion opinion;
        twin_status status = twin__mail_baseline_judge(&opinion, filter->baseline, message);
        *out = (struct opinion){ .score = opinion.score, .spam = opinion.is_spam };
        return status == TWIN_OK || refuse_status("the filter", status, NULL);
    }
    twin_mail_verdict verdict;
    twin_mail_check_options options = { .method = filter->method, .trusted = filter->trusted };
    twin_status status = twin_mail_check(&verdict, filter->mail, message, options, &error);
    if (status != TWIN_OK)
        return refuse_status("the model", status, &error);
    *out = (struct opinion){ .score = verdict.log_odds,
                             .spam = verdict.label && strcmp(verdict.label, TWIN_MAIL_SPAM) == 0,
                             .unsure = !verdict.label,
                             .label = verdict.label };
    return true;
}

static bool judge(struct trial *trial, const struct mail_line *line, const twin_message *message)
{
    struct opinion opinion;
    if (!ask(&opinion, trial->filter, message))
        return false;
    if (trial->options->results)
        fprintf(trial->options->results, "file=%s judge=%s class=%s score=%.9g user= genre= runid=none\n", line->path,
                truth_of(line), call_of(&opinion), opinion.score);
    if (!line->known)
        return true;
    if (line->label)
        count_call(&trial->out->labels, line->label, opinion.label);
    trial->out->judgements[trial->out->count++] =
        (twin__mail_judgement){ opinion.score, line->counts_as_spam, opinion.spam };
    if (opinion.unsure)
        *(line->counts_as_spam ? &trial->out->unsure_spam : &trial->out->unsure_good) += 1;
    return true;
}

/* ---- learning */

/* A number in [0, 1). */
static double draw(struct trial *trial)
{
    trial->random += 0x9E3779B97F4A7C15u;
    return (double)(twin_hash_mix(trial->random) >> 11) * 0x1p-53;
}

static bool teach(struct trial *trial, const twin_message *message, const char *label, bool spam)
{
    const struct trial_filter *filter = trial->filter;
    twin_error error = { 0 };
    twin_status status;
    if (filter->baseline)
        status = spam ? twin__mail_baseline_learn(filter->baseline, message) : TWIN_OK;
    else
        status = twin_mail_learn(NULL, filter->mail, message,
                                 label  ? label
                                 : spam ? TWIN_MAIL_SPAM
                                        : TWIN_MAIL_GOOD,
                                 (int64_t)trial->offered, &error);
    trial->out->learnt++;
    if (status == TWIN_OK && !filter->baseline && trial->out->learnt % 1000 == 0)
        status = twin_mail_commit(filter->mail, &error);
    return status == TWIN_OK || refuse_status("the model", status, &error);
}

static bool learn(struct trial *trial, const struct mail_line *line, const twin_message *message)
{
    const struct trial_options *options = trial->options;
    uint64_t every = options->teach_every ? options->teach_every : 1;
    if (trial->offered++ % every)
        return true;
    return teach(trial, message, line->label, line->is_spam != (options->noise > 0 && draw(trial) < options->noise));
}

/* ---- in order */

static bool play_line(struct trial *trial, const struct mail_corpus *corpus, size_t i)
{
    const struct mail_line *line = &corpus->lines[i];
    uint64_t delay = trial->options->delay;
    const twin_message *message = read_message(trial, line->path);
    if (message && line->judged && !judge(trial, line, message))
        return false;
    if (message && line->learnt && !delay)
        return learn(trial, line, message);
    if (!delay || i < delay || !corpus->lines[i - delay].learnt)
        return true;
    message = read_message(trial, corpus->lines[i - delay].path);
    return !message || learn(trial, &corpus->lines[i - delay], message);
}

static bool begin(struct trial *trial, size_t count)
{
    *trial->out = (struct trial_outcome){ .judgements = calloc(count + 1, sizeof *trial->out->judgements) };
    twin_status status = trial->out->judgements
                             ? twin_message_reader_create(&trial->reader, (twin_message_options){ 0 })
                             : TWIN_ENOMEM;
    return status == TWIN_OK || refuse_status("the corpus", status, NULL);
}

static void end(struct trial *trial)
{
    twin_message_reader_free(trial->reader);
    twin_buffer_clear(&trial->raw);
}

bool trial_play(struct trial_outcome *out, const struct trial_filter *filter, const struct mail_corpus *corpus,
                const struct trial_options *options)
{
    struct trial trial = { .out = out, .filter = filter, .options = options, .random = options->seed };
    bool good = begin(&trial, corpus->count);
    for (size_t i = 0; i < corpus->count && good; i++)
        good = play_line(&trial, corpus, i);
    end(&trial);
    return good;
}

/* ---- in two halves */

/* The numbers of the lines that are learnt and judged, in a random order; the caller frees them. */
static size_t *shuffle(size_t *count, struct trial *trial, const struct mail_corpus *corpus)
{
    size_t *order = malloc((corpus->count + 1) * sizeof *order);
    *count = 0;
    for (size_t i = 0; order && i < corpus->count; i++) {
        if (!corpus->lines[i].learnt || !corpus->lines[i].judged)
            continue;
        size_t n = (*count)++, other = (size_t)(draw(trial) * (double)(n + 1));
        order[n] = order[other];
        order[other] = i;
    }
    if (!order)
        fail_status("the corpus", TWIN_ENOMEM, NULL);
    return order;
}

/* What becomes of message number i of n in a random order. */
enum use { USE_NONE, USE_LEARN, USE_JUDGE };

static enum use use_of(const struct trial *trial, const struct mail_corpus *corpus, const struct mail_line *line,
                       bool first_half)
{
    bool learnt = corpus->parts > 1 && !line->label ? line->part % 2 == 1 : first_half;
    if (!trial->filter->baseline || line->is_spam)
        return learnt ? USE_LEARN : USE_JUDGE;
    return learnt ? USE_JUDGE : USE_NONE;
}

static bool use_half(struct trial *trial, const struct mail_corpus *corpus, const size_t *order, size_t count,
                     enum use wanted)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        const struct mail_line *line = &corpus->lines[order[i]];
        if (use_of(trial, corpus, line, i < count / 2) != wanted)
            continue;
        const twin_message *message = read_message(trial, line->path);
        if (message)
            good = wanted == USE_LEARN ? learn(trial, line, message) : judge(trial, line, message);
    }
    return good;
}

bool trial_split(struct trial_outcome *out, const struct trial_filter *filter, const struct mail_corpus *corpus,
                 const struct trial_options *options)
{
    struct trial trial = { .out = out, .filter = filter, .options = options, .random = options->seed };
    size_t count, *order = shuffle(&count, &trial, corpus);
    bool good = begin(&trial, corpus->count) && order && use_half(&trial, corpus, order, count, USE_LEARN) &&
                use_half(&trial, corpus, order, count, USE_JUDGE);
    end(&trial);
    free(order);
    return good;
}

/* ---- thresholds */

struct trial_counts trial_count_from(const struct trial_outcome *outcome, double score)
{
    struct trial_counts out = { 0 };
    for (size_t i = 0; i < outcome->count; i++)
        if (outcome->judgements[i].score >= score)
            *(outcome->judgements[i].is_spam ? &out.spam : &out.good) += 1;
    return out;
}

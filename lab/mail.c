/* mail.c — corpora of mail for the experiments, and filters tried on them.
 *
 * Corpora and trials are those of 'twinsift mail eval' (support/mail_corpus, support/mail_trial). Here trials run
 * next to each other, one per worker, and their measures become tables and curves. */
#include "mail.h"

#include "mail/mail_baseline.h"
#include "mail/mail_measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- corpora */

/* As data_find(); false, too, when the build reads no mail. */
static bool find(char path[PATH_ROOM], struct lab *lab, const char *name)
{
    if (twin_message_available() == TWIN_OK)
        return data_find(path, lab, name);
    skip(lab, "this build reads no mail");
    return false;
}

/* The labels among the first 25,000 that are wrong, found by reading the messages on which filters disagreed. */
static void correct_labels(struct mail_corpus *corpus)
{
    static const struct {
        const char *name;
        bool is_spam;
    } labels[] = { { "inmail.1665", false }, { "inmail.20553", true }, { "inmail.23337", true } };
    for (size_t i = 0; i < corpus->count; i++) {
        const char *slash = strrchr(corpus->lines[i].name, '/');
        for (size_t k = 0; k < sizeof labels / sizeof labels[0] && slash; k++)
            if (strcmp(slash + 1, labels[k].name) == 0)
                corpus->lines[i].counts_as_spam = labels[k].is_spam;
    }
}

bool mail_read_trec(struct mail_corpus *out, struct lab *lab, size_t most, bool corrected)
{
    char path[PATH_ROOM];
    *out = (struct mail_corpus){ 0 };
    if (!find(path, lab, "trec07p-25k/full/index"))
        return false;
    if (!mail_corpus_read_index(out, path, most ? most : SIZE_MAX))
        die("%s: the corpus could not be read", path);
    if (corrected)
        correct_labels(out);
    return true;
}

bool mail_read_folder(struct mail_corpus *out, struct lab *lab, const char *name)
{
    char path[PATH_ROOM];
    *out = (struct mail_corpus){ 0 };
    if (!find(path, lab, name))
        return false;
    if (!mail_corpus_add_folder(out, path) || !mail_corpus_sort(out))
        die("%s: the corpus could not be read", path);
    return true;
}

/* ---- trials */

struct trials {
    struct lab *lab;
    const struct mail_corpus *corpus;
    struct mail_trial *trials;
    size_t done, count;
};

static void open_filter(struct trial_filter *out, const struct mail_trial *trial, uint64_t seed)
{
    uint64_t key[2] = { seed_of(seed, 1), seed_of(seed, 2) };
    *out = (struct trial_filter){ 0 };
    if (trial->method != TRIAL_FOREST && trial->method != TRIAL_PAPER) {
        out->method = (twin_mail_method)trial->method;
        expect(twin_mail_create_in_memory(&out->mail, (twin_mail_options){ .key = key }), "model", NULL);
        return;
    }
    twin__mail_baseline_options options = { .kind =
                                                trial->method == TRIAL_FOREST ? TWIN__MAIL_FOREST : TWIN__MAIL_RULE,
                                            .trees = trial->trees,
                                            .by_edits = trial->by_edits,
                                            .by_mean = trial->by_mean,
                                            .seed = key[0] };
    expect(twin__mail_baseline_create(&out->baseline, options), "filter", NULL);
}

static void run_trials(void *context, size_t begin, size_t end, int worker)
{
    struct trials *all = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct mail_trial *trial = &all->trials[i];
        struct trial_filter filter;
        trial->options.seed = seed_of(all->lab->seed, 2000 + trial->draw);
        open_filter(&filter, trial, trial->options.seed);
        if (!(trial->split ? trial_split : trial_play)(&trial->outcome, &filter, all->corpus, &trial->options))
            die("%s: the corpus could not be played", trial->name);
        expect(twin__mail_measure(&trial->measures, trial->outcome.judgements, trial->outcome.count,
                                  (twin__mail_measure_options){ 100, all->lab->seed }),
               "measures", NULL);
        twin_mail_close(filter.mail);
        twin__mail_baseline_free(filter.baseline);
        progress(all->lab, __atomic_add_fetch(&all->done, 1, __ATOMIC_RELAXED), all->count);
    }
}

void mail_try(struct lab *lab, const struct mail_corpus *corpus, struct mail_trial *trials, size_t count)
{
    struct trials all = { lab, corpus, trials, 0, count };
    twin_exec_for(lab->exec, count, 1, run_trials, &all);
}

void mail_trials_clear(struct mail_trial *trials, size_t count)
{
    for (size_t i = 0; i < count; i++)
        trial_outcome_clear(&trials[i].outcome);
}

/* ---- tables */

static void write_share(char out[16], const struct mail_trial *trial, uint64_t part, uint64_t whole)
{
    if (trial->partly)
        snprintf(out, 16, "–");
    else
        snprintf(out, 16, "%.2f", 100 * (double)part / fmax(1, (double)whole));
}

void mail_table(struct lab *lab, const char *name, const struct mail_trial *trials, size_t count)
{
    struct table table;
    table_begin(&table, name,
                "filter\tgood lost %\tspam missed %\tunsure good %\tunsure spam %\t1-ROCA%\t95 %\tmissed at 0.1 "
                "%\tat 1 %\tat 5 %\tat 10 %");
    for (size_t i = 0; i < count; i++) {
        const twin__mail_measures *m = &trials[i].measures;
        char good[16], spam[16];
        write_share(good, &trials[i], trials[i].outcome.unsure_good, m->good);
        write_share(spam, &trials[i], trials[i].outcome.unsure_spam, m->spam);
        table_row(&table, "%s\t%.2f\t%.2f\t%s\t%s\t%.4f\t%.4f–%.4f\t%.2f\t%.2f\t%.2f\t%.2f", trials[i].name,
                  m->hm.percent, m->sm.percent, good, spam, m->roca.percent, m->roca.low, m->roca.high, m->sm_at[0],
                  m->sm_at[1], m->sm_at[2], m->sm_at[3]);
    }
    table_end(lab, &table);
}

static int by_falling_score(const void *a, const void *b)
{
    const twin__mail_judgement *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

void mail_write_curve(struct lab *lab, const char *name, const struct mail_trial *trial)
{
    const struct trial_outcome *o = &trial->outcome;
    twin__mail_judgement *sorted = need(o->count + 1, sizeof *sorted);
    double counts[2] = { 0, 0 }, last[2] = { 0, 0 }; /* of good mail and spam so far; at the end of the step before */
    double goods = fmax(1, (double)trial->measures.good), spams = fmax(1, (double)trial->measures.spam);
    struct table table;
    memcpy(sorted, o->judgements, o->count * sizeof *sorted);
    qsort(sorted, o->count, sizeof *sorted, by_falling_score);
    table_begin(&table, name, "good lost %\tspam missed %");
    for (size_t i = 0; i < o->count; i++) {
        counts[sorted[i].is_spam]++;
        if (i + 1 < o->count && !(sorted[i + 1].score < sorted[i].score))
            continue;
        /* For each loss of good mail the least spam missed: the last step before more is lost. */
        if (counts[0] > last[0])
            table_row(&table, "%.5f\t%.5f", 100 * last[0] / goods, 100 * (spams - last[1]) / spams);
        memcpy(last, counts, sizeof last);
    }
    table_row(&table, "%.5f\t%.5f", 100 * last[0] / goods, 100 * (spams - last[1]) / spams);
    table_write_only(lab, &table);
    free(sorted);
}

/* exp_mail_split.c — mail-enron and mail-threshold: one half of Enron-Spam is learnt, the other judged.
 *
 * Repeats the experiment of Martins and Jesus 2015. They learnt the spam of parts 2, 4 and 6 and judged the spam of
 * parts 1, 3 and 5 and the good mail of parts 2, 4 and 6 (docs/decisions/0110-published-mail-filters.md). Our model
 * also learns good mail, so that it judges the good mail of the other parts, whose owners it has never seen. */
#include "mail.h"
#include "mail/mail_measures.h"

#include <math.h>

enum { RULE, OURS, TRIALS };

/* What they report: printed by their program, and in their text. */
enum { REFERENCE_SPAM = 6675, REFERENCE_GOOD = 7361, REFERENCE_CAUGHT = 5142, REFERENCE_LOST = 158 };

static bool try_both(struct mail_trial trials[TRIALS], struct lab *lab)
{
    struct mail_corpus corpus;
    trials[RULE] = (struct mail_trial){ .name = "Martins and Jesus 2015", .method = TRIAL_PAPER, .split = true };
    trials[OURS] = (struct mail_trial){ .name = "twinsift", .method = TRIAL_ALL, .split = true };
    if (!mail_read_folder(&corpus, lab, "enron-spam"))
        return false;
    mail_try(lab, &corpus, trials, TRIALS);
    mail_corpus_clear(&corpus);
    return true;
}

/* Shares in percent, of the spam and of the good mail, from a threshold on. */
struct shares {
    double caught, lost;
};

static struct shares shares_from(const struct mail_trial *trial, double threshold)
{
    bool odds = trial->method == TRIAL_ALL;
    double score = !odds ? threshold : threshold < 1 ? log(threshold / (1 - threshold)) : INFINITY;
    struct trial_counts counts = trial_count_from(&trial->outcome, score);
    return (struct shares){ 100 * (double)counts.spam / fmax(1, (double)trial->measures.spam),
                            100 * (double)counts.good / fmax(1, (double)trial->measures.good) };
}

static void row(struct table *table, const char *filter, const char *threshold, struct shares shares,
                const twin__mail_measures *m)
{
    struct interval caught = interval_of(shares.caught / 100 * (double)m->spam, (double)m->spam);
    struct interval lost = interval_of(shares.lost / 100 * (double)m->good, (double)m->good);
    table_row(table, "%s\t%s\t%.2f\t%.2f–%.2f\t%.2f\t%.2f–%.2f", filter, threshold, shares.caught, 100 * caught.low,
              100 * caught.high, shares.lost, 100 * lost.low, 100 * lost.high);
}

void exp_mail_enron(struct lab *lab)
{
    struct mail_trial trials[TRIALS];
    struct table table;
    if (!try_both(trials, lab))
        return;
    const struct mail_trial *rule = &trials[RULE], *ours = &trials[OURS];
    table_begin(&table, "mail-enron", "filter\tthreshold\tspam caught %\t95 %\tgood mail lost %\t95 %");
    table_row(&table, "reference, printed\t0.1\t%.2f\t–\t%.2f\t–", 100.0 * REFERENCE_CAUGHT / REFERENCE_SPAM,
              100.0 * REFERENCE_LOST / REFERENCE_GOOD);
    table_row(&table, "reference, text\t0.1\t83\t–\t3\t–");
    row(&table, rule->name, "0.1", shares_from(rule, 0.1), &rule->measures);
    row(&table, rule->name, "0.2", shares_from(rule, 0.2), &rule->measures);
    row(&table, "its messages without shingles, and copies", "1.0", shares_from(rule, 1), &rule->measures);
    row(&table, ours->name, "0.9", shares_from(ours, 0.9), &ours->measures);
    struct shares verdict = { 100 - ours->measures.sm.percent, ours->measures.hm.percent };
    row(&table, ours->name, "its own", verdict, &ours->measures);
    table_end(lab, &table);

    /* One message of part 4 is missing in the copy of the corpus that is in use; it is among those learnt. */
    claim(lab, rule->measures.spam == REFERENCE_SPAM && rule->measures.good == REFERENCE_GOOD,
          "%llu spam and %llu good messages are judged (reference: %d and %d)",
          (unsigned long long)rule->measures.spam, (unsigned long long)rule->measures.good, REFERENCE_SPAM,
          REFERENCE_GOOD);
    struct shares low = shares_from(rule, 0.1), second = shares_from(rule, 0.2);
    claim(lab, low.caught >= 77 && low.caught <= 85 && low.lost >= 2.1 && low.lost <= 5,
          "at 0.1 the rule catches %.1f %% of the spam and loses %.1f %% of the good mail (reference: 77 to 83, 2 to "
          "3; which pairs share a band is a matter of the hash functions)",
          low.caught, low.lost);
    claim(lab, second.caught >= 77 && second.caught <= 83 && second.lost >= 2 && second.lost <= 3,
          "at 0.2 it catches %.1f %% and loses %.1f %%", second.caught, second.lost);
    struct shares empty = shares_from(rule, 1);
    claim(lab, fabs(empty.lost * REFERENCE_GOOD / 100 - (REFERENCE_LOST - 1)) < 10,
          "%.0f good messages have no shingles (reference: %d)", empty.lost * REFERENCE_GOOD / 100,
          REFERENCE_LOST - 1);
    struct shares high = shares_from(ours, 0.9);
    claim(lab, high.caught >= 95 && high.lost <= 1,
          "ours catches %.1f %% and loses %.2f %% where its score is at least 0.9 (wanted: 95, 1)", high.caught,
          high.lost);
    claim(lab, verdict.lost <= 0.5 && verdict.caught >= 94,
          "by its own threshold ours catches %.1f %% and loses %.2f %% (wanted: 94, 0.5); most of the others are "
          "unsure",
          verdict.caught, verdict.lost);
    mail_trials_clear(trials, TRIALS);
}

/* ---- mail-threshold */

static void plot_thresholds(struct lab *lab)
{
    FILE *script = plot_begin_halves(lab);
    fputs("set xrange [0.05:1.05]\nset yrange [0:100]\nset ylabel 'spam caught, %'\nset key bottom left\n"
          "plot 'mail-threshold.tsv' skip 1 using 1:2 with linespoints ls 2 title 'Martins and Jesus 2015', "
          "'' skip 1 using 1:4 with linespoints ls 3 title 'twinsift', "
          "'-' using 1:2 with points ls 9 title 'reference'\n0.1\t77.0\n0.1\t83\ne\n",
          script);
    plot_lower_half(script);
    fputs("set xlabel 'threshold: similarity; probability'\nset ylabel 'good mail lost, %'\nset yrange [0:*]\n"
          "plot 'mail-threshold.tsv' skip 1 using 1:3 with linespoints ls 2, "
          "'' skip 1 using 1:5 with linespoints ls 3, '-' using 1:2 with points ls 9\n0.1\t2.15\n0.1\t3\ne\n",
          script);
    plot_end(lab, script, "mail-threshold",
             "What each threshold catches and loses: the rule of Martins and Jesus 2015, and ours.");
}

void exp_mail_threshold(struct lab *lab)
{
    struct mail_trial trials[TRIALS];
    struct table table;
    if (!try_both(trials, lab))
        return;
    double best = 0;
    bool falls = true;
    struct shares before[TRIALS] = { { 100, 100 }, { 100, 100 } };
    table_begin(&table, "mail-threshold", "threshold\trule caught %\trule lost %\tours caught %\tours lost %");
    for (int t = 1; t <= 10; t++) {
        struct shares now[TRIALS] = { shares_from(&trials[RULE], t / 10.0), shares_from(&trials[OURS], t / 10.0) };
        table_row(&table, "%.1f\t%.2f\t%.2f\t%.2f\t%.2f", t / 10.0, now[RULE].caught, now[RULE].lost,
                  now[OURS].caught, now[OURS].lost);
        for (int i = 0; i < TRIALS; i++) {
            falls = falls && now[i].caught <= before[i].caught && now[i].lost <= before[i].lost;
            before[i] = now[i];
        }
        if (now[OURS].lost <= 1)
            best = fmax(best, now[OURS].caught);
    }
    table_end(lab, &table);
    plot_thresholds(lab);
    claim(lab, falls, "higher thresholds catch and lose less");
    claim(lab, best >= 95,
          "of the thresholds at which ours loses at most 1 %%, the best catches %.1f %% (wanted: 95)", best);
    mail_trials_clear(trials, TRIALS);
}

/* mail_trial.h — a mail filter tried on a corpus: message by message in order, or one half learnt and the other
 * judged. */
#ifndef TWIN_SUPPORT_MAIL_TRIAL_H
#define TWIN_SUPPORT_MAIL_TRIAL_H

#include "mail/mail_baseline.h"
#include "mail/mail_measures.h"
#include "mail_corpus.h"

#include <stdio.h>

/* The names of the methods, in the order of the enumeration. */
#define TRIAL_METHODS "all content sender lookalike forest paper-a"
enum trial_method {
    TRIAL_ALL = TWIN_MAIL_ALL,
    TRIAL_CONTENT = TWIN_MAIL_CONTENT,
    TRIAL_SENDER = TWIN_MAIL_SENDER,
    TRIAL_LOOKALIKE = TWIN_MAIL_LOOKALIKE,
    TRIAL_FOREST, /* Sokolov 2007 */
    TRIAL_PAPER,  /* Martins and Jesus 2015 */
};

/* What is tried: a model, which the caller opens and closes, or a published filter. */
struct trial_filter {
    twin_mail *mail;
    twin_mail_method method;
    const twin_bloom *trusted;
    twin__mail_baseline *baseline; /* NULL: the model */
};

struct trial_options {
    double noise;         /* labels that are learnt wrong, 0 .. 1 */
    uint64_t teach_every; /* only every n-th message is learnt; 0: all */
    uint64_t delay;       /* a message is learnt after so many more were judged */
    uint64_t seed;        /* of the noise, and of the halves */
    FILE *results;        /* NULL: none. A line per judged message, as the TREC toolkit writes it */
};

/* How the messages of each of several labels were called. */
struct trial_labels {
    const char *names[TWIN_MAIL_MAX_LABELS]; /* of the corpus */
    size_t count;
    uint64_t called[TWIN_MAIL_MAX_LABELS][TWIN_MAIL_MAX_LABELS + 1]; /* by label and verdict; the last: unsure */
};

struct trial_outcome {
    struct trial_labels labels;       /* of a corpus whose folders are named for them */
    twin__mail_judgement *judgements; /* of the messages judged whose label is known, in order */
    size_t count;
    uint64_t unsure_good, unsure_spam;
    uint64_t learnt, skipped; /* skipped: files that could not be read */
};
void trial_outcome_clear(struct trial_outcome *outcome);

/* Judges each message, then learns its label. On false the error has been reported; clear the outcome also then. */
bool trial_play(struct trial_outcome *out, const struct trial_filter *filter, const struct mail_corpus *corpus,
                const struct trial_options *options);

/* Learns a half of the corpus in a random order, then judges the other: of several parts every second one is learnt,
 * of one part a random half. A published filter, which learns spam only, judges the good mail of the parts that are
 * learnt, as Martins and Jesus 2015 did. */
bool trial_split(struct trial_outcome *out, const struct trial_filter *filter, const struct mail_corpus *corpus,
                 const struct trial_options *options);

/* Of the spam and of the good mail, the messages with at least this score. */
struct trial_counts {
    uint64_t spam, good;
};
struct trial_counts trial_count_from(const struct trial_outcome *outcome, double score);

#endif

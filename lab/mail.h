/* mail.h — corpora of mail for the experiments, and filters tried on them. */
#ifndef TWIN_LAB_MAIL_H
#define TWIN_LAB_MAIL_H

#include "lab.h"
#include "mail/mail_measures.h"
#include "support/mail_trial.h"

/* Reads the first messages of DATA/trec07p-25k; 0: all. The three labels that are known to be wrong are right for
 * judging if `corrected`. Returns false, and prints why, when it does not exist. */
bool mail_read_trec(struct mail_corpus *out, struct lab *lab, size_t most, bool corrected);

/* Reads the folder DATA/NAME, in the order in which messages were received. */
bool mail_read_folder(struct mail_corpus *out, struct lab *lab, const char *name);

/* A filter on a corpus, and how it does. */
struct mail_trial {
    const char *name; /* in tables */
    enum trial_method method;
    bool by_edits, by_mean, split;
    size_t trees;
    struct trial_options options; /* its seed comes from the lab … */
    unsigned draw;                /* … and from this: the number of the noise */

    struct trial_outcome outcome; /* end with trial_outcome_clear() */
    twin__mail_measures measures;
    bool partly; /* measures leave some messages out: how many of the rest were unsure is not known */
};

/* Runs trials on a corpus, in parallel. */
void mail_try(struct lab *lab, const struct mail_corpus *corpus, struct mail_trial *trials, size_t count);
void mail_trials_clear(struct mail_trial *trials, size_t count);

/* A table with a row of measures per trial. */
void mail_table(struct lab *lab, const char *name, const struct mail_trial *trials, size_t count);

/* Writes OUT/NAME.tsv, the ROC curve: good mail lost and spam missed, in percent. */
void mail_write_curve(struct lab *lab, const char *name, const struct mail_trial *trial);

#endif

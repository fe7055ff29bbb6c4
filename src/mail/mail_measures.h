/* mail_measures.h — how well a mail filter did: the measures of the TREC spam track.
 *
 * A filter gives each message a score, larger for what is more like spam, and a verdict. All measures are percentages:
 *
 *     hm%       good mail called spam, of all good mail
 *     sm%       spam not called spam, of all spam
 *     lam%      logit⁻¹((logit hm + logit sm) / 2)
 *     1−ROCA%   the probability that a good message has a higher score than a spam message, ties counted half: the
 *               area above the ROC curve
 *     sm% at hm%=x   the spam missed by the best threshold that loses at most x % of the good mail */
#ifndef TWIN_MAIL_MAIL_MEASURES_H
#define TWIN_MAIL_MAIL_MEASURES_H

#include <twinsift/status.h>

/* One judged message. */
typedef struct twin__mail_judgement {
    double score;
    bool is_spam;     /* the truth */
    bool called_spam; /* the verdict */
} twin__mail_judgement;

/* The values of x of "sm% at hm%=x". */
enum { TWIN__MAIL_LEVELS = 4 };
double twin__mail_level(size_t number); /* 0.1, 1, 5, 10 */

/* A percentage with its interval of 95 %. */
typedef struct twin__mail_rate {
    double percent, low, high;
} twin__mail_rate;

/* What cannot be computed because there is no spam, or no good mail, is NaN. */
typedef struct twin__mail_measures {
    uint64_t good, spam;                  /* messages */
    uint64_t good_lost, spam_missed;      /* wrong verdicts */
    twin__mail_rate hm, sm;               /* Wilson's intervals */
    double lam;                           /* a rate of 0 or 1 counts as half a message from it */
    twin__mail_rate roca;                 /* 1−ROCA%; its interval is NaN without resamples */
    double sm_at[TWIN__MAIL_LEVELS];      /* best threshold; messages with equal scores move together */
    double sm_between[TWIN__MAIL_LEVELS]; /* the same on the line between the two nearest thresholds */
    uint64_t distinct_scores;
} twin__mail_measures;

typedef struct twin__mail_measure_options {
    size_t resamples; /* bootstrap resamples for the interval of 1−ROCA%; 0: none. TREC takes 100. */
    uint64_t seed;    /* of the resamples */
} twin__mail_measure_options;

/* Computes the measures. TWIN_EINVAL when a score is NaN. */
twin_status twin__mail_measure(twin__mail_measures *out, const twin__mail_judgement *judgements, size_t count,
                               twin__mail_measure_options options);

#endif

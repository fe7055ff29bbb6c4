/* trust.c — how far a label is believed.
 *
 * People mislabel, and a learner that has never seen a message like this one cannot know better. But where all evidence
 * says, with odds of e^w, that a message is not what its label says, there are two explanations: the evidence is wrong, or
 * the label is. If a share r of the labels is wrong, the odds that this one is are r / (1 − r) · e^w, and a lesson counts
 * for the probability that it is right. This is the step of logistic regression with wrong labels (Bootkrajang and Kabán
 * 2012); the share is not assumed but observed: how often labels contradicted verdicts that were sure. Where labels are
 * right that is rare, and all are believed; where one in twenty is wrong, those that contradict what is known count
 * little.
 *
 * The share is bounded, and so is the doubt: mail may change, and then ten lessons do what one did. */
#include <math.h>

#include "mail/model.h"

/* The share is that of the last messages. It begins with 1 in 100, as if a hundred had been seen. Measured: 300 to 1,000
 * messages are alike. */
enum { LAST_MESSAGES = 512, SEEN_BEFORE = 100, WRONG_BEFORE = 1 };

static const double MOST_WRONG = 0.1, LEAST_TRUST = 0.1;

/* The share of labels that contradicted a sure verdict. */
static double share_wrong(const struct twin__remembered *r)
{
    unsigned sure = SEEN_BEFORE, wrong = WRONG_BEFORE;
    uint64_t end = r->first + r->count, begin = r->count > LAST_MESSAGES ? end - LAST_MESSAGES : r->first;
    for (uint64_t n = begin; n < end; n++) {
        const struct twin__mail_record *record = twin__remembered_at(r, n);
        bool counts = record->verdict && !(record->flags & TWIN__MAIL_REMOVED);
        sure += counts;
        wrong += counts && record->verdict != record->label + 1u;
    }
    return fmin((double)wrong / sure, MOST_WRONG);
}

double twin__trust_of(double share, double against)
{
    return fmax(1 / (1 + share / (1 - share) * exp(against)), LEAST_TRUST);
}

double twin__model_trust(double out[TWIN_MAIL_MAX_LABELS], const struct twin__model *model,
                         const twin_mail_verdict *verdict, unsigned label)
{
    double share = -1, least = 1; /* -1: not counted, since nothing contradicts the label */
    for (unsigned i = 0; i < model->label_count; i++)
        out[i] = 1;
    for (size_t i = 0; i < verdict->count; i++) {
        const twin_mail_evidence *e = &verdict->evidence[i];
        unsigned number = twin__model_label(model, e->label);
        double against = number == label ? -e->score : e->score;
        if (!(against > 0))
            continue;
        share = share < 0 ? share_wrong(&model->remembered) : share;
        out[number] = twin__trust_of(share, against);
        least = fmin(least, out[number]);
    }
    return least;
}

/* verdict.h — what evidence.c gathers and verdict.c decides by. */
#ifndef TWIN_MAIL_VERDICT_H
#define TWIN_MAIL_VERDICT_H

#include "mail/model.h"

/* What is known of a message before any label is weighed. */
struct twin__findings {
    struct twin__neighbours near[TWIN__MAIL_MAX_LABELS];
    struct twin__sender_counts senders;
    struct twin__label_score scores[TWIN_MAIL_MAX_LABELS]; /* filled in label by label */
    double bound;                                          /* how far all features may differ from what is seen */
    double flood; /* so much less are grounds for spam, which was learnt lately */
};

void twin__find_evidence(struct twin__findings *out, const struct twin__model *model,
                         const struct twin__mail_item *item, twin_mail_method method);

/* The evidence of one label. */
void twin__weigh_evidence(twin_mail_evidence *out, const struct twin__model *model,
                          const struct twin__mail_item *item, unsigned label, struct twin__findings *found,
                          twin_mail_method method);

/* The score that the beginning of the message would have. */
double twin__weigh_opening(const twin_mail_evidence *evidence, const struct twin__model *model,
                           const struct twin__mail_item *item, unsigned label, double bound);

#endif

/* content.h — what features of a message say: two learners for one label against the rest. A label has two of these: of all
 * features, and of what is seen. */
#ifndef TWIN_MAIL_CONTENT_H
#define TWIN_MAIL_CONTENT_H

#include "mail/linear.h"
#include "mail/margin.h"

/* The trust from which a label is taken to be right. */
#define TWIN__BELIEVED 0.5

/* By what a label is judged. */
enum twin__judge { TWIN__BY_ALL, TWIN__BY_SEEN, TWIN__JUDGES };

struct twin__content {
    struct twin__linear_cell *cells;
    struct twin__margin margin;
};

/* Makes a classifier that knows nothing. Clear it also after a failure. */
twin_status twin__content_init(struct twin__content *content);
void twin__content_clear(struct twin__content *content);

/* What the two learners say, and both together: log odds of the label, positive for it. */
struct twin__content_score {
    double linear, margin, both;
    double always; /* of both: what every message has */
};
struct twin__content_score twin__content_score(const struct twin__content *content,
                                               const struct twin__features *features);

/* Learns that message `number` has the label, or another; `score` is the one it has. The lesson counts for `trust`, 0 .. 1;
 * the second voter, which keeps what it is taught, believes it from 1/2. */
twin_status twin__content_learn(struct twin__content *content, uint64_t number, const struct twin__features *features,
                                struct twin__content_score score, bool positive, double trust);

/* The same for a message that was taught before. */
twin_status twin__content_rehearse(struct twin__content *content, uint64_t number,
                                   const struct twin__features *features, bool positive);

#endif

/* linear.h — logistic regression, learnt online with a step of its own for each weight (AdaGrad).
 *
 * The score is a sum of weights, each block scaled to length 1: z = Σ over blocks of (Σ w) / √n; the probability of the
 * class is 1 / (1 + e^-z). A message taught changes the weights of its features once. */
#ifndef TWIN_MAIL_LINEAR_H
#define TWIN_MAIL_LINEAR_H

#include "mail/features.h"

/* A weight and the sum of the squares of its gradients. */
struct twin__linear_cell {
    float weight, squares;
};

/* `cells` has TWIN__FEATURE_PLACES of them, all zero in the beginning. */
double twin__linear_score(const struct twin__linear_cell *cells, const struct twin__features *features);

/* Learns that a message is of the class, or is not; `score` is the one it has. The lesson counts for `trust`, 0 .. 1. */
void twin__linear_learn(struct twin__linear_cell *cells, const struct twin__features *features, double score,
                        bool positive, double trust);

#endif

/* linear.c — logistic regression with AdaGrad steps (Duchi, Hazan and Singer 2011). */
#include "mail/linear.h"

#include <math.h>

#include "kernels/kernels.h"

/* Measured on trec07p, the SpamAssassin corpus and Enron-Spam: a fixed step makes two to three times the errors, larger
 * steps fit wrong labels. */
static const float ETA = 0.2f, BETA = 0.01f;

double twin__linear_score(const struct twin__linear_cell *cells, const struct twin__features *features)
{
    double score = 0;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        if (features->counts[b])
            score += twin__kernels()->sum_at(&cells->weight, 2, features->places[b], features->counts[b]) /
                     sqrt(features->counts[b]);
    return score;
}

void twin__linear_learn(struct twin__linear_cell *cells, const struct twin__features *features, double score,
                        bool positive, double trust)
{
    double error = trust * ((positive ? 1.0 : 0.0) - 1 / (1 + exp(-score)));
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        uint32_t count = features->counts[b];
        float gradient = count ? (float)(error / sqrt(count)) : 0, square = gradient * gradient;
        for (uint32_t i = 0; i < count; i++) {
            struct twin__linear_cell *cell = &cells[features->places[b][i]];
            cell->squares += square;
            cell->weight += ETA * gradient / (BETA + sqrtf(cell->squares));
        }
    }
}

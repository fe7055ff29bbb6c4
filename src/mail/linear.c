/* linear.c — logistic regression with AdaGrad steps (Duchi, Hazan and Singer 2011). */
#include "mail/linear.h"

#include <math.h>

#include "kernels/kernels.h"

/* Measured on trec07p, the SpamAssassin corpus and Enron-Spam: a fixed step makes two to three times the errors, larger
 * steps fit wrong labels. */
static const float ETA = 0.2f, BETA = 0.01f;

double twin__linear_score(const struct twin__linear_cell *cells, const struct twin__features *features)
{
    double score = (double)cells[TWIN__FEATURE_ALWAYS].weight;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        if (features->counts[b])
            score += twin__kernels()->sum_at(&cells->weight, 2, features->places[b], features->counts[b]) *
                     twin__feature_scale(features, b);
    return score;
}

static void step(struct twin__linear_cell *cell, float gradient, float square)
{
    cell->squares += square;
    cell->weight += ETA * gradient / (BETA + sqrtf(cell->squares));
}

void twin__linear_learn(struct twin__linear_cell *cells, const struct twin__features *features, double score,
                        bool positive, double trust)
{
    double error = trust * ((positive ? 1.0 : 0.0) - 1 / (1 + exp(-score)));
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        float gradient = (float)(error * twin__feature_scale(features, b)), square = gradient * gradient;
        for (uint32_t i = 0; i < features->counts[b]; i++)
            step(&cells[features->places[b][i]], gradient, square);
    }
    step(&cells[TWIN__FEATURE_ALWAYS], (float)error, (float)(error * error));
}

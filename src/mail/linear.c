/* linear.c — logistic regression with AdaGrad steps (Duchi, Hazan and Singer 2011). */
#include "mail/linear.h"

#include <math.h>

/* Measured on trec07p, the SpamAssassin corpus and Enron-Spam: a fixed step makes two to three times the errors, larger
 * steps fit wrong labels. */
static const float ETA = 0.2f, BETA = 0.01f;

/* Four sums, so that an addition need not wait for the one before. */
static double sum_of(const struct twin__linear_cell *cells, const uint32_t *places, uint32_t count)
{
    double sums[4] = { 0 };
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] += (double)cells[places[i + k]].weight;
    for (; i < count; i++)
        sums[0] += (double)cells[places[i]].weight;
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

double twin__linear_score(const struct twin__linear_cell *cells, const struct twin__features *features)
{
    double score = 0;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        if (features->counts[b])
            score += sum_of(cells, features->places[b], features->counts[b]) / sqrt(features->counts[b]);
    return score;
}

void twin__linear_learn(struct twin__linear_cell *cells, const struct twin__features *features, double score,
                        bool positive)
{
    double error = (positive ? 1.0 : 0.0) - 1 / (1 + exp(-score));
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

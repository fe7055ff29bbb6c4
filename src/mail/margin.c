/* margin.c — the relaxed online support vector machine.
 *
 * The weights are Σ α·y·x over all messages that ever counted, x with both blocks scaled to length 1. A message with a
 * margin of at least 1 changes nothing. Another is remembered, and one pass of dual coordinate ascent goes over the
 * remembered messages: each α moves to where its own margin is 1, within 0 .. C. A message that leaves the window keeps
 * the α it had. So the work per message is bounded by the window, and is nothing for most. */
#include "mail/margin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernels/kernels.h"

/* A change of α below this is not worth a visit of all its weights. Measured on trec07p, SpamAssassin and Enron-Spam: 0.004
 * gives the same figures with half as many visits more and twice the changes, 0.04 worse ones. */
static const double LEAST_CHANGE = 0.008;

enum { MOST_CALM = 5 };

void twin__margin_clear(struct twin__margin *margin)
{
    for (size_t i = 0; i < margin->count; i++)
        free(margin->examples[i]);
    free(margin->examples);
    margin->examples = NULL;
    margin->count = margin->capacity = 0;
}

static double score_of(const float *weights, const struct twin__features *features)
{
    double score = (double)weights[TWIN__FEATURE_ALWAYS];
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        if (features->counts[b])
            score += twin__kernels()->sum_at(weights, 1, features->places[b], features->counts[b]) *
                     twin__feature_scale(features, b);
    return score;
}

double twin__margin_score(const struct twin__margin *margin, const struct twin__features *features)
{
    return score_of(margin->weights, features);
}

static void add_scaled(float *weights, const struct twin__features *features, double by)
{
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        float step = (float)(by * twin__feature_scale(features, b));
        for (uint32_t i = 0; i < features->counts[b]; i++)
            weights[features->places[b][i]] += step;
    }
    weights[TWIN__FEATURE_ALWAYS] += (float)by;
}

/* Moves the α of one example to its best value, the others held fixed. */
static void adjust(float *weights, struct twin__margin_example *example)
{
    struct twin__features features = twin__features_at(example->places, example->counts);
    double y = example->positive ? 1 : -1,
           length = 1; /* squared: 1 for words, for windows, and for what is always on */
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b += 2)
        length += example->counts[b] + example->counts[b + 1] ? 1 : 0;
    double best = (double)example->alpha + (1 - y * score_of(weights, &features)) / length;
    best = fmin(fmax(best, 0), TWIN__MARGIN_COST);
    double change = best - (double)example->alpha;
    uint8_t calm = fabs(change) >= LEAST_CHANGE ? 0
                   : example->calm < MOST_CALM  ? (uint8_t)(example->calm + 1)
                                                : MOST_CALM;
    example->stored = example->stored && calm == example->calm;
    example->calm = calm;
    if (!(fabs(change) >= LEAST_CHANGE))
        return;
    add_scaled(weights, &features, y * change);
    example->alpha = (float)best;
    example->stored = false;
}

/* Drops what has left the window, and what counts for nothing. */
static void drop_old(struct twin__margin *margin)
{
    size_t kept = 0;
    for (size_t i = 0; i < margin->count; i++) {
        struct twin__margin_example *example = margin->examples[i];
        if (example->alpha > 0 && example->turn + TWIN__MARGIN_WINDOW > margin->taught[example->positive])
            margin->examples[kept++] = example;
        else
            free(example);
    }
    margin->count = kept;
}

void twin__margin_forget(struct twin__margin *margin, uint64_t number)
{
    for (size_t i = 0; i < margin->count; i++) {
        struct twin__margin_example *example = margin->examples[i];
        if (example->number != number)
            continue;
        struct twin__features features = twin__features_at(example->places, example->counts);
        add_scaled(margin->weights, &features, example->positive ? -(double)example->alpha : (double)example->alpha);
        example->alpha = 0;
        example->stored = false;
    }
    drop_old(margin);
}

twin_status twin__margin_restore(struct twin__margin *margin, const struct twin__margin_example *head,
                                 const struct twin__features *features)
{
    size_t total = twin__features_total(features->counts);
    struct twin__margin_example *example = malloc(sizeof *example + total * sizeof example->places[0]);
    if (!example || !twin__array_grow(&margin->examples, &margin->capacity, margin->count, 1, sizeof(void *))) {
        free(example);
        return TWIN_ENOMEM;
    }
    *example = *head;
    uint32_t *at = example->places;
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        example->counts[b] = features->counts[b];
        if (features->counts[b])
            memcpy(at, features->places[b], features->counts[b] * sizeof *at);
        at += features->counts[b];
    }
    size_t i = margin->count++;
    for (; i > 0 && margin->examples[i - 1]->number > example->number; i--)
        margin->examples[i] = margin->examples[i - 1];
    margin->examples[i] = example;
    return TWIN_OK;
}

static struct twin__margin_example *find(const struct twin__margin *margin, uint64_t number)
{
    for (size_t i = margin->count; i-- > 0 && margin->examples[i]->number >= number;)
        if (margin->examples[i]->number == number)
            return margin->examples[i];
    return NULL;
}

/* The example of a message whose margin is below 1, remembered now unless it is; NULL: the margin is not below 1. */
static twin_status take_hard(struct twin__margin_example **out, struct twin__margin *margin, uint64_t number,
                             const struct twin__features *features, double score, bool positive)
{
    struct twin__margin_example head = { .number = number, .turn = margin->taught[positive], .positive = positive };
    *out = NULL;
    if (!((positive ? score : -score) < 1))
        return TWIN_OK;
    *out = find(margin, number);
    if (*out)
        return TWIN_OK;
    twin_status status = twin__margin_restore(margin, &head, features);
    *out = find(margin, number);
    return status;
}

/* What did not move in the last passes is looked at in every second, fourth, eighth, and so on. */
static bool is_due(const struct twin__margin_example *example, uint64_t turn)
{
    return (example->number + turn) % ((uint64_t)1 << example->calm) == 0;
}

twin_status twin__margin_learn(struct twin__margin *margin, uint64_t number, const struct twin__features *features,
                               double score, bool positive)
{
    struct twin__margin_example *hard;
    twin_status status = take_hard(&hard, margin, number, features, score, positive);
    if (!hard)
        return status;
    uint64_t turn = margin->taught[0] + margin->taught[1];
    for (size_t i = margin->count; i-- > 0;)
        if (is_due(margin->examples[i], turn))
            adjust(margin->weights, margin->examples[i]);
    drop_old(margin);
    return TWIN_OK;
}

twin_status twin__margin_rehearse(struct twin__margin *margin, uint64_t number, const struct twin__features *features,
                                  double score, bool positive)
{
    struct twin__margin_example *hard;
    twin_status status = take_hard(&hard, margin, number, features, score, positive);
    if (!hard)
        return status;
    adjust(margin->weights, hard);
    drop_old(margin);
    return TWIN_OK;
}

/* content.c — the two learners of a label. */
#include "mail/content.h"

#include <math.h>
#include <stdlib.h>

twin_status twin__content_init(struct twin__content *content)
{
    *content = (struct twin__content){ .cells = calloc(TWIN__FEATURE_PLACES, sizeof *content->cells) };
    content->margin.weights = calloc(TWIN__FEATURE_PLACES, sizeof *content->margin.weights);
    return content->cells && content->margin.weights ? TWIN_OK : TWIN_ENOMEM;
}

void twin__content_clear(struct twin__content *content)
{
    free(content->cells);
    free(content->margin.weights);
    twin__margin_clear(&content->margin);
    *content = (struct twin__content){ 0 };
}

/* Fixed weights: learning them online was not better than the mean. A margin of 1 counts as much as log odds of 4. */
struct twin__content_score twin__content_score(const struct twin__content *content,
                                               const struct twin__features *features)
{
    double linear = twin__linear_score(content->cells, features);
    double margin = twin__margin_score(&content->margin, features);
    double always = (double)content->cells[TWIN__FEATURE_ALWAYS].weight +
                    4 * (double)content->margin.weights[TWIN__FEATURE_ALWAYS];
    return (struct twin__content_score){ linear, margin, (linear + 4 * margin) / 2, always / 2 };
}

twin_status twin__content_learn(struct twin__content *content, uint64_t number, const struct twin__features *features,
                                struct twin__content_score score, bool positive, double trust)
{
    twin_status status = TWIN_OK;
    if (trust >= TWIN__BELIEVED)
        status = twin__margin_learn(&content->margin, number, features, score.margin, positive);
    if (status == TWIN_OK)
        twin__linear_learn(content->cells, features, score.linear, positive, trust);
    return status;
}

twin_status twin__content_rehearse(struct twin__content *content, uint64_t number,
                                   const struct twin__features *features, bool positive)
{
    struct twin__content_score score = twin__content_score(content, features);
    twin_status status = twin__margin_rehearse(&content->margin, number, features, score.margin, positive);
    if (status == TWIN_OK)
        twin__linear_learn(content->cells, features, score.linear, positive, 1);
    return status;
}

/* crowd_cost.c — what a crowd's join is expected to cost.
 *
 * The tokens of some documents' prefixes are listed, and the length of each posting list is guessed from the counter
 * of its shingle. A pair is compared when it has been met often enough, so that there are at most so many of them as
 * there are meetings, divided by that number. Neither time nor threads enter, so the decision to join is the same in
 * every run. */
#include "join/crowd_private.h"

enum { MOST_SAMPLED = 256 };

/* To keep, sort and find a token, to count a document of its posting list, and to compare a pair that has enough of
 * them; measured. */
static const double SECONDS_PER_TOKEN = 200e-9, SECONDS_PER_HIT = 3e-9, SECONDS_PER_PAIR = 100e-9;

/* A counter that is full says only that the shingle is not common: the mean, by order of magnitude, of what it can
 * be. */
static double expected_postings(const struct twin__crowd_state *crowd, uint64_t count)
{
    double full = TWIN__CROWD_MOST_COUNTED, common = (double)crowd->count / TWIN__CROWD_COMMON_SHARE;
    return count == TWIN__CROWD_MOST_COUNTED && common > full ? sqrt(full * common) : (double)count;
}

static twin_status sample_documents(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__crowd_state *crowd = context;
    for (size_t i = begin; i < end; i++) {
        size_t rank = i * crowd->count / crowd->sample_count, size = twin__crowd_size(crowd, rank);
        struct twin__crowd_tokens *tokens = &crowd->workers[worker].tokens;
        size_t length = twin__crowd_looked_up_prefix(crowd, size, size);
        twin_status status = twin__crowd_list_tokens(tokens, crowd, rank, length, worker, error);
        if (status != TWIN_OK)
            return status;
        size_t in_common = twin__crowd_wanted(size, twin__crowd_overlap(crowd, size, size));
        double seconds_per_hit = SECONDS_PER_HIT + SECONDS_PER_PAIR / (double)(in_common > 0 ? in_common : 1);
        crowd->sample[i] = SECONDS_PER_TOKEN * (double)tokens->count;
        for (size_t t = 0; t < tokens->count; t++) /* each pair is met by one of its two documents */
            crowd->sample[i] += seconds_per_hit / 2 * expected_postings(crowd, tokens->items[t] >> 48);
    }
    return TWIN_OK;
}

twin_status twin__crowd_expected_seconds(double *out, struct twin__crowd_state *crowd, twin_error *error)
{
    double sample[MOST_SAMPLED], sum = 0;
    crowd->sample = sample;
    crowd->sample_count = twin__crowd_sample_size(crowd, MOST_SAMPLED);
    twin_status status = twin__exec_try(crowd->options.exec, crowd->sample_count, 1, sample_documents, crowd, error);
    crowd->sample = NULL;
    for (size_t i = 0; i < crowd->sample_count && status == TWIN_OK; i++)
        sum += sample[i];
    *out = sum / (double)crowd->sample_count * (double)crowd->count;
    return status;
}

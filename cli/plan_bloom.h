/* plan_bloom.h — what `twinsift plan --bloom` says of a Bloom filter. */
#ifndef TWIN_CLI_PLAN_BLOOM_H
#define TWIN_CLI_PLAN_BLOOM_H

#include <stdbool.h>
#include <stdint.h>

/* A Bloom filter to plan for, and how the plan is shown. */
struct bloom_goal {
    uint64_t items;
    double rate;
};

struct bloom_view {
    bool json, curve;
    const char *plot; /* NULL: none is drawn */
};

/* Plans and prints; the exit status. */
int plan_bloom(const struct bloom_goal *goal, struct bloom_view view);

#endif

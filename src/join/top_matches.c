/* top_matches.c — of all matches, the best of each document. */
#include "join/match_runs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A match as one of its documents sees it. */
struct ranked {
    uint32_t document, other;
    double similarity;
    size_t match;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->document != y->document)
        return x->document < y->document ? -1 : 1;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* Marks the matches that are among the `top` best of either of their documents. */
static void mark_top(bool *keep, struct ranked *ranked, const twin_matches *matches, size_t top)
{
    for (size_t i = 0; i < matches->count; i++) {
        twin_match match = matches->items[i];
        ranked[2 * i] = (struct ranked){ match.a, match.b, match.similarity, i };
        ranked[2 * i + 1] = (struct ranked){ match.b, match.a, match.similarity, i };
    }
    qsort(ranked, 2 * matches->count, sizeof *ranked, by_rank);
    for (size_t i = 0, rank = 0; i < 2 * matches->count; i++) {
        rank = i > 0 && ranked[i].document == ranked[i - 1].document ? rank + 1 : 0;
        keep[ranked[i].match] |= rank < top;
    }
}

twin_status twin__matches_keep_top(twin_matches *matches, size_t top)
{
    if (matches->count == 0)
        return TWIN_OK;
    size_t kept = 0;
    struct ranked *ranked = malloc(2 * matches->count * sizeof *ranked);
    bool *keep = calloc(matches->count, sizeof *keep);
    twin_status status = ranked && keep ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK) {
        mark_top(keep, ranked, matches, top);
        for (size_t i = 0; i < matches->count; i++)
            if (keep[i])
                matches->items[kept++] = matches->items[i];
        matches->count = kept;
    }
    free(ranked);
    free(keep);
    return status;
}

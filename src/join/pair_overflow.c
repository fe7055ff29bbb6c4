/* pair_overflow.c — candidate pairs of which more are found than are to be in memory. */
#include "join/pair_overflow.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "join/matches.h"

twin_status twin__pair_overflow_init(struct twin__pair_overflow *out, size_t most, const char *folder)
{
    *out = (struct twin__pair_overflow){ .most = most > 0 ? most : 1 };
    pthread_mutex_init(&out->lock, NULL);
    return twin__match_runs_create(&out->matches, out->most, folder);
}

void twin__pair_overflow_clear(struct twin__pair_overflow *overflow)
{
    if (overflow->most == 0)
        return;
    pthread_mutex_destroy(&overflow->lock);
    twin__matches_clear(&overflow->matches);
    *overflow = (struct twin__pair_overflow){ 0 };
}

/* ---- writing ---- */

/* Sorts by the later document, which is put into the high half. */
static bool sort_by_later(struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        pairs->items[i] = pairs->items[i] << 32 | pairs->items[i] >> 32;
    return twin__sort_many_numbers(pairs->items, pairs->count);
}

static twin_status write_pairs(twin_matches *matches, const struct twin__pairs *pairs)
{
    if (!TWIN__ARRAY_GROW(&matches->items, &matches->capacity, 0, pairs->count))
        return TWIN_ENOMEM;
    for (size_t i = 0; i < pairs->count; i++)
        matches->items[i] = (twin_match){ (uint32_t)(pairs->items[i] >> 32), (uint32_t)pairs->items[i], 0 };
    matches->count = pairs->count;
    twin__match_runs_write(matches);
    return TWIN_OK;
}

twin_status twin__pair_overflow_take(struct twin__pair_overflow *overflow, struct twin__pairs *pairs)
{
    if (pairs->count == 0)
        return TWIN_OK;
    if (!sort_by_later(pairs))
        return TWIN_ENOMEM;
    pthread_mutex_lock(&overflow->lock);
    twin_status status = write_pairs(&overflow->matches, pairs);
    pthread_mutex_unlock(&overflow->lock);
    pairs->count = 0;
    return status;
}

/* ---- reading ---- */

static twin_status take_next(struct twin__pair_batches *batches, twin_error *error)
{
    twin_status status = twin__match_cursor_next(&batches->next, &batches->has_next, &batches->cursor);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

twin_status twin__pair_batches_init(struct twin__pair_batches *out, const struct twin__pair_overflow *overflow,
                                    twin_error *error)
{
    *out = (struct twin__pair_batches){ .overflow = overflow };
    twin_status status = twin__match_runs_failure(error, overflow->matches.runs);
    if (status != TWIN_OK)
        return status;
    status = twin__match_cursor_init(&out->cursor, &overflow->matches);
    return status == TWIN_OK ? take_next(out, error) : twin__fail_status(error, status);
}

void twin__pair_batches_clear(struct twin__pair_batches *batches)
{
    twin__match_cursor_clear(&batches->cursor);
}

twin_status twin__pair_batches_next(struct twin__pairs *out, struct twin__pair_batches *batches,
                                    twin__pair_filter *filter, void *context, twin_error *error)
{
    twin_status status = TWIN_OK;
    uint32_t last = 0;
    out->count = 0;
    while (batches->has_next && status == TWIN_OK) {
        uint32_t low = batches->next.b, high = batches->next.a;
        if (out->count >= batches->overflow->most && high != last)
            break;
        last = high;
        if (filter(context, low, high) && !twin__pairs_add(out, twin__pair(low, high)))
            return twin__fail_memory(error);
        status = take_next(batches, error);
    }
    return status;
}

/* edit_pairs.c — pairs of texts that are near by edit distance, as numbers.
 *
 * There may be a hundred million of them, so a pair is eight bytes, and a list is sorted nearly in place: bin by bin,
 * each with a little room beside it. A search that meets a pair again and again drops repeats whenever the list has
 * doubled. A list that may not grow further is sorted and goes, as matches, to a run on disk (join/matches.c); lists of
 * several workers share these runs. */
#include "edit_join/edit_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "edit/edit_characters.h"
#include "join/matches.h"
#include "kernels/kernels.h"
#include "kernels/sort.h"

static size_t most_of(const struct twin__edit_pairs *pairs)
{
    return pairs->spill ? pairs->spill->matches->runs->most : SIZE_MAX;
}

twin_status twin__edit_pairs_unpack(twin_matches *out, const struct twin__edit_pairs *pairs,
                                    const struct twin__provider *provider, const twin_collection *collection)
{
    if (provider->split == 0)
        return twin__packed_pairs_unpack(out, (struct twin__packed_pairs){ pairs->items, pairs->count }, collection);
    if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, pairs->count))
        return TWIN_ENOMEM;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = twin__packed_a(pairs->items[i]), b = twin__packed_b(pairs->items[i]);
        size_t total = (size_t)(provider->size(provider, a) + provider->size(provider, b));
        double ratio = twin__edit_ratio_of(twin__packed_indels(pairs->items[i]), total);
        out->items[out->count++] = (twin_match){ a, b, ratio };
    }
    return TWIN_OK;
}

twin_status twin__edit_pairs_spill(struct twin__edit_pairs *pairs)
{
    struct twin__edit_spill *spill = pairs->spill;
    twin_status status = twin__edit_pairs_sort(pairs);
    if (status != TWIN_OK)
        return status;
    pthread_mutex_lock(&spill->lock);
    status = twin__edit_pairs_unpack(spill->matches, pairs, spill->provider, spill->collection);
    if (status == TWIN_OK)
        twin__match_runs_write(spill->matches);
    pthread_mutex_unlock(&spill->lock);
    pairs->count = pairs->sorted = 0;
    return status;
}

twin_status twin__edit_pairs_add(struct twin__edit_pairs *pairs, uint64_t pair)
{
    if (pairs->count >= most_of(pairs)) {
        twin_status status = twin__edit_pairs_spill(pairs);
        if (status != TWIN_OK)
            return status;
    }
    if (!TWIN__ARRAY_GROW(&pairs->items, &pairs->capacity, pairs->count, 1))
        return TWIN_ENOMEM;
    pairs->items[pairs->count++] = pair;
    return TWIN_OK;
}

/* Repeats are dropped when there are twice as many pairs as were left the last time, and this many more. */
enum { REPEATS = 1 << 20 };

twin_status twin__edit_pairs_add_once(struct twin__edit_pairs *pairs, uint64_t pair)
{
    size_t most = most_of(pairs), repeats = most < REPEATS ? most : REPEATS;
    twin_status status = TWIN_OK;
    if (pairs->count >= 2 * pairs->sorted + repeats || pairs->count >= most) {
        status = twin__edit_pairs_sort(pairs);
        if (status == TWIN_OK && pairs->count >= most / 2 + most % 2)
            status = twin__edit_pairs_spill(pairs);
    }
    return status == TWIN_OK ? twin__edit_pairs_add(pairs, pair) : status;
}

twin_status twin__edit_pairs_move(struct twin__edit_pairs *out, struct twin__edit_pairs *more)
{
    uint64_t compared = out->compared + more->compared;
    if (out->count && out->count + more->count > most_of(out)) {
        twin_status status = twin__edit_pairs_spill(out);
        if (status != TWIN_OK)
            return status;
    }
    if (out->count == 0) {
        free(out->items);
        *out = *more;
    } else {
        if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, more->count))
            return TWIN_ENOMEM;
        if (more->count)
            memcpy(out->items + out->count, more->items, more->count * sizeof *more->items);
        out->count += more->count;
        free(more->items);
    }
    out->compared = compared;
    *more = (struct twin__edit_pairs){ 0 };
    return TWIN_OK;
}

/* Sorting needs as much memory again, so many pairs are first brought, where they are, into the order of their bins. A
 * bin is a range of a. */
enum { BINS = 256, ONE_BIN = 1 << 20 };

static size_t bin_of(uint64_t pair, uint64_t width)
{
    return twin__packed_a(pair) / width;
}

/* Begins becomes where each bin begins, and begins[BINS] the count. */
static void move_to_bins(size_t *begins, const struct twin__edit_pairs *pairs)
{
    uint64_t *items = pairs->items, last = 0;
    size_t next[BINS] = { 0 }, sum = 0;
    for (size_t i = 0; i < pairs->count; i++)
        last = twin__packed_a(items[i]) > last ? twin__packed_a(items[i]) : last;
    const uint64_t width = last / BINS + 1;
    for (size_t i = 0; i < pairs->count; i++)
        next[bin_of(items[i], width)]++;
    for (size_t bin = 0; bin < BINS; bin++) {
        size_t count = next[bin];
        begins[bin] = next[bin] = sum;
        sum += count;
    }
    begins[BINS] = sum;
    for (size_t bin = 0; bin < BINS; bin++)
        while (next[bin] < begins[bin + 1]) {
            uint64_t pair = items[next[bin]];
            size_t to = bin_of(pair, width);
            items[next[bin]] = items[next[to]];
            items[next[to]++] = pair;
        }
}

twin_status twin__edit_pairs_sort(struct twin__edit_pairs *pairs)
{
    size_t begins[BINS + 1] = { 0, pairs->count }, bins = 1, most = 0;
    if (pairs->count > ONE_BIN) {
        move_to_bins(begins, pairs);
        bins = BINS;
    }
    for (size_t bin = 0; bin < bins; bin++)
        most = begins[bin + 1] - begins[bin] > most ? begins[bin + 1] - begins[bin] : most;
    uint64_t *spare = malloc((most + 1) * sizeof *spare);
    if (!spare)
        return TWIN_ENOMEM;
    for (size_t bin = 0; bin < bins; bin++)
        if (begins[bin + 1] > begins[bin])
            twin__sort(pairs->items + begins[bin], begins[bin + 1] - begins[bin], spare, most);
    free(spare);
    if (pairs->count)
        pairs->count = twin__kernels()->drop_repeats(pairs->items, pairs->count);
    pairs->sorted = pairs->count;
    return TWIN_OK;
}

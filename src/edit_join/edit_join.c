/* edit_join.c — pairs of texts that are near by edit distance.
 *
 * Texts are sorted by length and cut into cells, such that a text and all longer ones that can be near to it are in its
 * cell and the next. The two cells make a class, and one class at a time is searched, in the way that is expected to be
 * fastest: short texts are all compared (tiles.c), texts within few edits are looked up by what they must share
 * (keys.c), and others are proposed by a forest (gram_forest.c). The first two miss none. */
#include <twinsift/edit_join.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "edit_join/edit_join_private.h"
#include "join/engine.h"
#include "join/join_private.h"
#include "join/match_runs.h"
#include "join/verify.h"

/* ---- all pairs of a class ---- */

/* Texts with no more characters than may be edited are near without having anything in common. */
static bool needs_all(const struct twin__edit_class *class)
{
    return class->options.edits != TWIN_EDIT_FAR && class->options.ratio == 0 &&
           class->options.edits >= twin__edit_class_length(class, 0);
}

/* Pairs that are compared at a time, 8 bytes each. */
enum { PAIRS_AT_A_TIME = 1 << 20 };

static twin_status compare_batch(const struct twin__edit_class *class, struct twin__pairs *pairs, twin_error *error)
{
    class->similar->counts.candidates += pairs->count;
    twin__edit_class_name(class, pairs);
    twin_status status = twin__edit_class_verify(&class->similar->matches, class, pairs, error);
    pairs->count = 0;
    return status;
}

static twin_status compare_all(const struct twin__edit_class *class, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    twin_status status = TWIN_OK;
    for (uint32_t a = 0; a < class->middle && status == TWIN_OK; a++) {
        for (uint32_t b = a + 1; b < class->count && twin__edit_class_allows(class, a, b); b++)
            if (!twin__pairs_add(&pairs, twin__pair(a, b))) {
                status = TWIN_ENOMEM;
                break;
            }
        if (status == TWIN_OK && pairs.count >= PAIRS_AT_A_TIME)
            status = compare_batch(class, &pairs, error);
    }
    if (status == TWIN_OK)
        status = compare_batch(class, &pairs, error);
    free(pairs.items);
    return status;
}

/* ---- short texts ---- */

static twin_status compare_tiles(const struct twin__edit_class *class, twin_error *error)
{
    struct twin__short_texts texts = { 0 };
    struct twin__edit_pairs pairs = { .spill = class->pairs->spill };
    twin_similar_counts *counts = &class->similar->counts;
    double begun = twin__seconds();
    twin_status status =
        twin__short_texts_load(&texts, class->provider, class->documents, class->count, class->options.exec, error);
    if (status == TWIN_OK)
        status = twin__tiles_compare(&pairs, &texts, class->middle, class->options);
    counts->candidates += pairs.compared;
    counts->verified += pairs.compared;
    if (status == TWIN_OK)
        status = twin__edit_pairs_move(class->pairs, &pairs);
    counts->verifying_seconds += twin__seconds() - begun;
    free(pairs.items);
    twin__short_texts_clear(&texts);
    return status;
}

/* Nanoseconds per text above which a forest is used although it may miss some. */
static const double DEAR = 2e5;

/* What it costs to compare all, in nanoseconds; 0 when that is not possible. */
static double tiles_cost(const struct twin__edit_class *class)
{
    size_t firsts[TWIN__EDIT64 + 1] = { 0 }, counts[TWIN__EDIT64 + 1] = { 0 };
    bool many_edits = class->options.edits >= TWIN__EDIT64 && class->options.edits != TWIN_EDIT_FAR;
    if (twin__edit_class_length(class, class->count - 1) > TWIN__EDIT64 || many_edits ||
        class->provider->count > TWIN__PACKED_DOCUMENTS)
        return 0;
    for (size_t i = 0; i < class->count; i++) {
        counts[twin__edit_class_length(class, i)]++;
        firsts[twin__edit_class_length(class, i)] += i < class->middle;
    }
    return twin__tiles_cost(firsts, counts, class->options);
}

/* ---- the choice ---- */

static twin_status search_class(const struct twin__edit_class *class, struct twin__gram_forest *forest,
                                twin_error *error)
{
    bool done = false;
    double cost = tiles_cost(class), begun = twin__seconds();
    twin_status status = twin__edit_join_by_keys(&done, class, cost, error);
    if (done)
        class->similar->counts.verifying_seconds += twin__seconds() - begun; /* most of it is comparing */
    if (done || status != TWIN_OK)
        return status;
    if (cost > 0 && cost <= DEAR * (double)class->count)
        return compare_tiles(class, error);
    return needs_all(class) ? compare_all(class, error) : twin__gram_forest_search(forest, class, error);
}

/* ---- cells and classes ---- */

struct edit_join {
    twin_similar *similar;
    const twin_collection *collection;
    struct twin__provider provider; /* of its texts */
    twin_edit_join_options options;
    twin_edit_scratch *scratch; /* one per worker */
    struct twin__gram_forest *forest;
    uint32_t *order; /* the distinct documents by length, then number */
    size_t count;
    struct twin__edit_pairs pairs; /* found by tiles and keys */
};

static size_t length_at(const struct edit_join *join, size_t position)
{
    return twin_collection_size(join->collection, join->order[position]);
}

/* The end of the cell that begins at `begin`: after all texts that can be near to its shortest. The lengths in a cell
 * differ by a sixteenth at least, so that there are not too many cells. */
static size_t cell_end(const struct edit_join *join, size_t begin)
{
    if (begin == join->count)
        return begin;
    size_t shortest = length_at(join, begin), reach = twin__edit_join_reach(join->options, shortest);
    if (reach < shortest + shortest / 16)
        reach = shortest + shortest / 16;
    size_t low = begin + 1, high = join->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (length_at(join, middle) <= reach)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static twin_status search(struct edit_join *join, twin_error *error)
{
    twin_status status = TWIN_OK;
    twin_progress progress = join->options.progress;
    size_t begin = 0, middle = cell_end(join, 0), end;
    for (; begin < join->count && status == TWIN_OK; begin = middle, middle = end) {
        end = cell_end(join, middle);
        struct twin__edit_class class = { .documents = join->order + begin,
                                          .middle = middle - begin,
                                          .count = end - begin,
                                          .provider = &join->provider,
                                          .options = join->options,
                                          .scratch = join->scratch,
                                          .similar = join->similar,
                                          .pairs = &join->pairs };
        if (class.count > 1)
            status = search_class(&class, join->forest, error);
        if (progress.report)
            progress.report(progress.context, &twin__stage_pairing, middle, join->count);
    }
    return status;
}

static twin_status sort_by_length(struct edit_join *join)
{
    const uint32_t *distinct;
    join->count = twin_collection_distinct(&distinct, join->collection);
    join->order = malloc((join->count + 1) * sizeof *join->order);
    uint64_t *keys = malloc((join->count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < join->count; i++)
        keys[i] = (uint64_t)twin_collection_size(join->collection, distinct[i]) << 32 | distinct[i];
    bool sorted = join->order && keys && twin__sort_numbers(keys, join->count);
    for (size_t i = 0; sorted && i < join->count; i++)
        join->order[i] = (uint32_t)keys[i];
    free(keys);
    return sorted ? TWIN_OK : TWIN_ENOMEM;
}

static void edit_join_clear(struct edit_join *join)
{
    for (int i = 0; join->scratch && i < join->options.exec.workers; i++)
        twin_edit_scratch_clear(&join->scratch[i]);
    twin__collection_provider_clear(&join->provider);
    twin__gram_forest_free(join->forest);
    free(join->pairs.items);
    free(join->scratch);
    free(join->order);
}

/* More pairs than are to be in memory: the last of them follow the others. */
static twin_status order_runs(struct edit_join *join, twin_error *error)
{
    twin_similar *similar = join->similar;
    twin_status status = join->pairs.count ? twin__edit_pairs_spill(&join->pairs) : TWIN_OK;
    if (status == TWIN_OK)
        status = twin__match_runs_failure(error, similar->matches.runs);
    twin__matches_sort(&similar->matches);
    similar->counts.similar = twin__matches_total(&similar->matches);
    return status == TWIN_OK && join->pairs.spill->may_repeat
               ? twin__matches_count_sorted(&similar->counts.similar, &similar->matches)
               : status;
}

/* Packed pairs remain packed if they may, and become matches if the forest found some too. */
static twin_status order_pairs(struct edit_join *join)
{
    twin_similar *similar = join->similar;
    twin_matches *matches = &similar->matches;
    twin_status status = twin__edit_pairs_sort(&join->pairs);
    struct twin__packed_pairs packed = { join->pairs.items, join->pairs.count };
    if (status == TWIN_OK && join->options.packed && matches->count == 0) {
        similar->packed = packed;
        similar->counts.similar = packed.count;
        join->pairs.items = NULL;
        return TWIN_OK;
    }
    bool mixed = matches->count > 0;
    if (status == TWIN_OK)
        status = twin__packed_pairs_unpack(matches, packed, similar->collection);
    if (mixed)
        twin__matches_sort(matches);
    similar->counts.similar = matches->count;
    return status;
}

/* Searches with a limit to the pairs in memory, if there is one. */
static twin_status search_within(struct edit_join *join, twin_error *error)
{
    twin_similar *similar = join->similar;
    struct twin__edit_spill spill = { .matches = &similar->matches, .collection = similar->collection };
    if (!join->options.matches_in_memory) {
        twin_status status = search(join, error);
        return status == TWIN_OK ? order_pairs(join) : status;
    }
    if (twin__match_runs_create(&similar->matches, join->options.matches_in_memory, join->options.temp_folder) !=
        TWIN_OK)
        return TWIN_ENOMEM;
    pthread_mutex_init(&spill.lock, NULL);
    join->pairs.spill = &spill;
    twin_status status = search(join, error);
    if (status == TWIN_OK)
        status = twin__match_runs_failure(error, similar->matches.runs);
    if (status == TWIN_OK)
        status = twin__matches_on_disk(&similar->matches) ? order_runs(join, error) : order_pairs(join);
    pthread_mutex_destroy(&spill.lock);
    return status;
}

static twin_status find(struct edit_join *join, twin_error *error)
{
    double begun = twin__seconds();
    int workers = join->options.exec.workers;
    join->scratch = calloc((size_t)workers, sizeof *join->scratch);
    twin_status status = join->scratch ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin__collection_provider(&join->provider, join->collection, NULL, workers);
    if (status == TWIN_OK)
        status = twin__gram_forest_create(&join->forest, join->provider.count, workers);
    if (status == TWIN_OK)
        status = sort_by_length(join);
    if (status == TWIN_OK)
        status = search_within(join, error);
    twin_similar_counts *counts = &join->similar->counts;
    counts->pairing_seconds = twin__seconds() - begun - counts->verifying_seconds;
    return status;
}

twin_status twin_edit_join_find(twin_similar **out, const twin_collection *collection, twin_edit_join_options options,
                                twin_error *error)
{
    if (!out || !collection)
        return twin__fail_null(error, out ? "collection" : "out");
    *out = NULL;
    twin_status status = twin__edit_join_complete(&options, collection, error);
    if (status != TWIN_OK)
        return status;
    if (error)
        error->status = TWIN_OK;
    struct edit_join join = { .collection = collection, .options = options };
    join.similar = calloc(1, sizeof *join.similar);
    if (!join.similar)
        return twin__fail_memory(error);
    join.similar->collection = collection;
    status = find(&join, error);
    edit_join_clear(&join);
    if (status != TWIN_OK) {
        twin_similar_free(join.similar);
        return error && error->status == TWIN_OK ? twin__fail_status(error, status) : status;
    }
    *out = join.similar;
    return TWIN_OK;
}

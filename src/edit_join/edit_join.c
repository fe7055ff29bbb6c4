/* edit_join.c — pairs of texts that are near by edit distance, of one collection or between two.
 *
 * Texts are sorted by length and cut into cells, such that a text and all longer ones that can be near to it are in its
 * cell and the next. The two cells make a class, and one class at a time is searched, in the way that is expected to be
 * fastest: short texts are all compared (tiles.c), texts within few edits are looked up by what they must share
 * (keys.c), and others are proposed by a forest (gram_forest.c). The first two miss none.
 *
 * Texts of up to 64 characters and longer ones are in different cells, and pairs of a short and a long text have a class
 * of their own.
 *
 * Between two collections the smaller one is cut into cells, and a class is a cell and all texts of the other collection
 * that can be near to one in it; of a cell of short texts two, with the short ones and with the long ones. */
#include <twinsift/edit_join.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "edit_join/edit_join_private.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "lsh/bands.h"

/* ---- all pairs of a class ---- */

/* Texts with no more characters than may be edited are near without having anything in common. */
static bool needs_all(const struct twin__edit_class *class)
{
    return class->options.edits != TWIN_EDIT_FAR && class->options.ratio == 0 &&
           class->options.edits >= twin__edit_class_shortest(class);
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
        for (uint32_t b = class->is_between ? (uint32_t) class->middle : a + 1; b < class->count; b++) {
            assert(a < b);
            if (twin__edit_class_allows(class, a, b) && !twin__pairs_add(&pairs, twin__pair(a, b))) {
                status = TWIN_ENOMEM;
                break;
            }
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
    struct twin__short_texts texts = { 0 }, others = { 0 };
    struct twin__edit_pairs pairs = { .spill = class->pairs->spill };
    twin_similar_counts *counts = &class->similar->counts;
    double begun = twin__seconds();
    size_t first = class->is_between ? class->middle : class->count;
    twin_status status =
        twin__short_texts_load(&texts, class->provider, class->documents, first, class->options.exec, error);
    if (status == TWIN_OK && class->is_between)
        status = twin__short_texts_load(&others, class->provider, class->documents + first, class->count - first,
                                        class->options.exec, error);
    if (status == TWIN_OK)
        status =
            twin__tiles_compare(&pairs, &texts, class->middle, class->is_between ? &others : &texts, class->options);
    counts->candidates += pairs.compared;
    counts->verified += pairs.compared;
    if (status == TWIN_OK)
        status = twin__edit_pairs_move(class->pairs, &pairs);
    counts->verifying_seconds += twin__seconds() - begun;
    free(pairs.items);
    twin__short_texts_clear(&texts);
    twin__short_texts_clear(&others);
    return status;
}

/* Looks per text above which a forest is used although it may miss some. */
static const double MOST_LOOKS = 2e5;

/* What it costs to compare all, in looks; 0 when that is not possible. */
static double tiles_cost(const struct twin__edit_class *class)
{
    size_t firsts[TWIN__EDIT64 + 1] = { 0 }, counts[TWIN__EDIT64 + 1] = { 0 };
    bool many_edits = class->options.edits >= TWIN__EDIT64 && class->options.edits != TWIN_EDIT_FAR;
    if (twin__edit_class_longest(class) > TWIN__EDIT64 || many_edits ||
        class->provider->count > TWIN__PACKED_DOCUMENTS)
        return 0;
    for (size_t i = 0; i < class->count; i++) {
        counts[twin__edit_class_length(class, i)] += !class->is_between || i >= class->middle;
        firsts[twin__edit_class_length(class, i)] += i < class->middle;
    }
    return twin__tiles_cost(firsts, counts, class->is_between, class->options);
}

/* ---- the choice ---- */

static twin_status search_class(const struct twin__edit_class *class, struct twin__gram_forest *forest,
                                bool misses_none, twin_error *error)
{
    bool done = false;
    double cost = tiles_cost(class), begun = twin__seconds();
    twin_status status = twin__edit_join_by_keys(&done, class, cost, error);
    if (done)
        class->similar->counts.verifying_seconds += twin__seconds() - begun; /* most of it is comparing */
    if (done || status != TWIN_OK)
        return status;
    if (cost > 0 && (misses_none || cost <= MOST_LOOKS * (double)class->count))
        return compare_tiles(class, error);
    return misses_none || needs_all(class) ? compare_all(class, error)
                                           : twin__gram_forest_search(forest, class, error);
}

/* ---- cells and classes ---- */

/* Documents by length, then number. */
struct side {
    uint32_t *documents;
    size_t count;
};

struct edit_join {
    twin_similar *similar;
    const struct twin__edit_part *part; /* NULL: all documents */
    struct twin__provider provider;     /* of the texts */
    twin_edit_join_options options;
    twin_edit_scratch *scratch; /* one per worker */
    struct twin__gram_forest *forest;
    struct side sides[2];          /* the distinct documents: all, or those of either collection */
    uint32_t *both;                /* of two collections: the documents of a class */
    struct twin__edit_pairs pairs; /* found by tiles and keys */
};

static size_t length_at(const struct edit_join *join, struct side side, size_t position)
{
    return join->provider.size(&join->provider, side.documents[position]);
}

/* The first document of a side, from `low` on, that is longer. */
static size_t first_longer(const struct edit_join *join, struct side side, size_t low, size_t length)
{
    size_t high = side.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (length_at(join, side, middle) <= length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The texts of up to 64 characters, or the longer ones. No class has both but to find pairs of a short and a long text:
 * short texts are all compared with each other, whatever else there is. */
static struct side short_ones(const struct edit_join *join, struct side side)
{
    return (struct side){ side.documents, first_longer(join, side, 0, TWIN__EDIT64) };
}

static struct side long_ones(const struct edit_join *join, struct side side)
{
    size_t first = short_ones(join, side).count;
    return (struct side){ side.documents + first, side.count - first };
}

/* The end of the cell that begins at `begin`: after all texts that can be near to its shortest. The lengths in a cell
 * differ by a sixteenth at least, so that there are not too many cells. */
static size_t cell_end(const struct edit_join *join, struct side side, size_t begin)
{
    if (begin == side.count)
        return begin;
    size_t shortest = length_at(join, side, begin), reach = twin__edit_join_reach(join->options, shortest);
    if (reach < shortest + shortest / 16)
        reach = shortest + shortest / 16;
    return first_longer(join, side, begin + 1, reach);
}

static twin_status search_documents(struct edit_join *join, const uint32_t *documents, size_t middle, size_t count,
                                    bool is_between, twin_error *error)
{
    struct twin__edit_class class = { .documents = documents,
                                      .middle = middle,
                                      .count = count,
                                      .is_between = is_between,
                                      .provider = &join->provider,
                                      .options = join->options,
                                      .scratch = join->scratch,
                                      .similar = join->similar,
                                      .pairs = &join->pairs };
    return search_class(&class, join->forest, join->part && join->part->first, error);
}

static twin_status report(const struct edit_join *join, size_t done)
{
    size_t all = join->both && join->sides[1].count < join->sides[0].count ? 1 : 0;
    return twin__report(&twin__stage_pairing, done, join->sides[all].count);
}

/* `done` texts came before those of the side. */
static twin_status search_side(struct edit_join *join, struct side side, size_t done, twin_error *error)
{
    twin_status status = TWIN_OK;
    size_t begin = 0, middle = cell_end(join, side, 0), end;
    for (; begin < side.count && status == TWIN_OK; begin = middle, middle = end) {
        end = cell_end(join, side, middle);
        if (end - begin > 1)
            status = search_documents(join, side.documents + begin, middle - begin, end - begin, false, error);
        if (status == TWIN_OK)
            status = report(join, done + middle);
    }
    return status;
}

/* The first text that may be near to one of `length` characters. */
static size_t first_near(const struct edit_join *join, struct side side, size_t length)
{
    size_t low = 0, high = side.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (twin__edit_join_reach(join->options, length_at(join, side, middle)) < length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Pairs of a short and a long text are a class of their own, between the two. */
static twin_status search_one(struct edit_join *join, twin_error *error)
{
    struct side side = join->sides[0], shorts = short_ones(join, side), longs = long_ones(join, side);
    twin_status status = search_side(join, shorts, 0, error);
    if (status == TWIN_OK)
        status = search_side(join, longs, shorts.count, error);
    if (status != TWIN_OK || shorts.count == 0 || longs.count == 0)
        return status;
    size_t from = first_near(join, shorts, length_at(join, longs, 0)), middle = shorts.count - from;
    size_t to = first_longer(join, longs, 0, twin__edit_join_reach(join->options, TWIN__EDIT64));
    return middle && to ? search_documents(join, side.documents + from, middle, middle + to, true, error) : TWIN_OK;
}

/* Pairs of the texts begin .. end-1 of a side and those of another. */
static twin_status search_between(struct edit_join *join, struct side side, size_t begin, size_t end,
                                  struct side other, twin_error *error)
{
    size_t longest = length_at(join, side, end - 1), middle = end - begin;
    size_t from = first_near(join, other, length_at(join, side, begin));
    size_t to = first_longer(join, other, from, twin__edit_join_reach(join->options, longest));
    if (to == from)
        return TWIN_OK;
    memcpy(join->both, side.documents + begin, middle * sizeof *join->both);
    memcpy(join->both + middle, other.documents + from, (to - from) * sizeof *join->both);
    return search_documents(join, join->both, middle, middle + to - from, true, error);
}

static twin_status keep_top(struct edit_join *join);

/* `done` texts came before those of the side. */
static twin_status search_cells(struct edit_join *join, struct side side, size_t done, struct side other,
                                twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t begin = 0, end; begin < side.count && status == TWIN_OK; begin = end) {
        end = cell_end(join, side, begin);
        if (length_at(join, side, begin) > TWIN__EDIT64) {
            status = search_between(join, side, begin, end, other, error);
        } else {
            status = search_between(join, side, begin, end, short_ones(join, other), error);
            if (status == TWIN_OK)
                status = search_between(join, side, begin, end, long_ones(join, other), error);
        }
        if (status == TWIN_OK && join->options.top)
            status = keep_top(join);
        if (status == TWIN_OK)
            status = report(join, done + end);
    }
    return status;
}

static twin_status search_two(struct edit_join *join, twin_error *error)
{
    bool second_smaller = join->sides[1].count < join->sides[0].count;
    struct side side = join->sides[second_smaller], other = join->sides[!second_smaller];
    struct side shorts = short_ones(join, side);
    twin_status status = search_cells(join, shorts, 0, other, error);
    return status == TWIN_OK ? search_cells(join, long_ones(join, side), shorts.count, other, error) : status;
}

static twin_status sort_by_length(struct side *out, const struct twin__provider *provider, const uint32_t *documents,
                                  size_t count)
{
    out->count = count;
    out->documents = malloc((count + 1) * sizeof *out->documents);
    uint64_t *keys = malloc((count + 1) * sizeof *keys);
    for (size_t i = 0; keys && i < count; i++)
        keys[i] = provider->size(provider, documents[i]) << 32 | documents[i];
    bool sorted = out->documents && keys && twin__sort_numbers(keys, count);
    for (size_t i = 0; sorted && i < count; i++)
        out->documents[i] = (uint32_t)keys[i];
    free(keys);
    return sorted ? TWIN_OK : TWIN_ENOMEM;
}

static twin_status sort_sides(struct edit_join *join)
{
    const twin_signatures *all = &join->provider.signatures;
    const struct twin__edit_part *part = join->part;
    const uint32_t *documents = part ? part->documents : all->documents;
    size_t count = part ? part->count : all->count, first = part ? part->first : 0;
    if (!join->similar->other && first == 0)
        return sort_by_length(&join->sides[0], &join->provider, documents, count);
    while (!part && first < count && documents[first] < join->provider.split)
        first++;
    join->both = malloc((count + 1) * sizeof *join->both);
    twin_status status = join->both ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = sort_by_length(&join->sides[0], &join->provider, documents, first);
    return status == TWIN_OK ? sort_by_length(&join->sides[1], &join->provider, documents + first, count - first)
                             : status;
}

static void edit_join_clear(struct edit_join *join)
{
    for (int i = 0; join->scratch && i < join->options.exec.workers; i++)
        twin__edit_scratch_clear(&join->scratch[i]);
    twin__collection_provider_clear(&join->provider);
    twin__gram_forest_free(join->forest);
    free(join->pairs.items);
    free(join->scratch);
    free(join->sides[0].documents);
    free(join->sides[1].documents);
    free(join->both);
}

/* ---- what was found ---- */

/* Pairs as matches, at the end of the forest's. */
static twin_status unpack_pairs(struct edit_join *join)
{
    twin_status status = twin__edit_pairs_sort(&join->pairs);
    if (status == TWIN_OK)
        status = twin__edit_pairs_unpack(&join->similar->matches, &join->pairs, &join->provider,
                                         join->similar->collection);
    if (status == TWIN_OK)
        join->pairs.count = join->pairs.sorted = 0;
    return status;
}

/* By the second document, the most similar first. */
static int by_second(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->a > y->a) - (x->a < y->a);
}

/* Of one collection, the matches that are among the best of either document; of two, among those of the second. */
static twin_status keep_top(struct edit_join *join)
{
    twin_matches *matches = &join->similar->matches;
    twin_status status = unpack_pairs(join);
    if (status != TWIN_OK || !join->similar->other)
        return status == TWIN_OK ? twin__matches_keep_top(matches, join->options.top) : status;
    size_t kept = 0, rank = 0;
    if (matches->count)
        qsort(matches->items, matches->count, sizeof *matches->items, by_second);
    for (size_t i = 0; i < matches->count; i++) {
        rank = i > 0 && matches->items[i].b == matches->items[i - 1].b ? rank + 1 : 0;
        if (rank < join->options.top)
            matches->items[kept++] = matches->items[i];
    }
    matches->count = kept;
    return TWIN_OK;
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
    bool mixed = matches->count > 0;
    if (join->options.packed && !mixed && !join->options.top && !similar->other) {
        twin_status status = twin__edit_pairs_sort(&join->pairs);
        similar->packed = (struct twin__packed_pairs){ join->pairs.items, join->pairs.count };
        similar->counts.similar = join->pairs.count;
        join->pairs.items = NULL;
        return status;
    }
    twin_status status = join->options.top ? keep_top(join) : unpack_pairs(join);
    if (mixed || join->options.top)
        twin__matches_sort(matches);
    similar->counts.similar = matches->count;
    return status;
}

static twin_status search(struct edit_join *join, twin_error *error)
{
    return join->both ? search_two(join, error) : search_one(join, error);
}

/* Searches with a limit to the pairs in memory, if there is one. */
static twin_status search_within(struct edit_join *join, twin_error *error)
{
    twin_similar *similar = join->similar;
    struct twin__edit_spill spill = { .matches = &similar->matches,
                                      .collection = similar->collection,
                                      .provider = &join->provider };
    if (!join->options.spill_after || join->options.top) {
        twin_status status = search(join, error);
        return status == TWIN_OK ? order_pairs(join) : status;
    }
    if (twin__match_runs_create(&similar->matches, join->options.spill_after, join->options.temp_folder) != TWIN_OK)
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
        status = twin__collection_provider(&join->provider, join->similar->collection, join->similar->other, workers);
    if (status == TWIN_OK)
        status = twin__gram_forest_create(&join->forest, join->provider.count, workers);
    if (status == TWIN_OK)
        status = sort_sides(join);
    if (status == TWIN_OK)
        status = search_within(join, error);
    twin_similar_counts *counts = &join->similar->counts;
    counts->pairing_seconds = twin__seconds() - begun - counts->verifying_seconds;
    return status;
}

/* Pairs of one collection, or of a part of it, or between two. */
static twin_status find_pairs(twin_similar **out, const twin_collection *collection, const twin_collection *other,
                              const struct twin__edit_part *part, twin_edit_join_options options, twin_error *error)
{
    if (error)
        error->status = TWIN_OK;
    struct edit_join join = { .similar = calloc(1, sizeof *join.similar), .part = part, .options = options };
    if (!join.similar)
        return twin__fail_memory(error);
    join.similar->collection = collection;
    join.similar->other = other;
    twin_status status = TWIN_OK;
    if (!other || (twin_collection_count(collection).documents && twin_collection_count(other).documents))
        status = find(&join, error);
    edit_join_clear(&join);
    if (status != TWIN_OK) {
        twin_similar_free(join.similar);
        return error && error->status == TWIN_OK ? twin__fail_status(error, status) : status;
    }
    *out = join.similar;
    return TWIN_OK;
}

static twin_status find_similar(twin_similar **out, const twin_collection *collection, const twin_collection *other,
                                twin_edit_join_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_pairing);
    twin_status status = find_pairs(out, collection, other, NULL, options, error);
    status = twin__watch_end(&watch, status, error);
    if (status != TWIN_OK) {
        twin_similar_free(*out);
        *out = NULL;
    }
    return status;
}

static void add_counts(twin_similar_counts *sum, twin_similar_counts counts)
{
    sum->candidates += counts.candidates;
    sum->verified += counts.verified;
    sum->similar += counts.similar;
    sum->pairing_seconds += counts.pairing_seconds;
    sum->verifying_seconds += counts.verifying_seconds;
}

twin_status twin__edit_join_part(twin_matches *out, twin_similar_counts *counts, const twin_collection *collection,
                                 struct twin__edit_part part, const twin_edit_join_options *options,
                                 twin_error *error)
{
    twin_edit_join_options complete = *options;
    twin_similar *similar = NULL;
    complete.packed = false;
    complete.top = complete.spill_after = 0;
    twin_status status = twin__edit_join_complete(&complete, collection, error);
    if (status == TWIN_OK)
        status = find_pairs(&similar, collection, NULL, &part, complete, error);
    if (!similar)
        return status;
    add_counts(counts, similar->counts);
    if (!twin__matches_move(out, &similar->matches))
        status = twin__fail_memory(error);
    twin_similar_free(similar);
    return status;
}

twin_status twin_edit_join_find(twin_similar **out, const twin_collection *collection, twin_edit_join_options options,
                                twin_error *error)
{
    if (!out || !collection)
        return twin__fail_null(error, out ? "collection" : "out");
    *out = NULL;
    twin_status status = twin__edit_join_complete(&options, collection, error);
    return status == TWIN_OK ? find_similar(out, collection, NULL, options, error) : status;
}

twin_status twin_edit_join_between(twin_similar **out, const twin_collection *first, const twin_collection *second,
                                   twin_edit_join_options options, twin_error *error)
{
    if (!out || !first || !second)
        return twin__fail_null(error, !out ? "out" : !first ? "first" : "second");
    *out = NULL;
    twin_status status = twin__edit_join_complete(&options, first, error);
    if (status == TWIN_OK)
        status = twin__edit_join_complete(&options, second, error);
    if (status == TWIN_OK && twin__collection_scheme(first)->normal != twin__collection_scheme(second)->normal)
        status = twin__fail(error, TWIN_EINVAL, "the texts of the two collections were normalised differently");
    if (status == TWIN_OK &&
        twin_collection_count(first).documents + twin_collection_count(second).documents > UINT32_MAX)
        status = twin__fail(error, TWIN_ELIMIT, "the two collections have too many documents together");
    return status == TWIN_OK ? find_similar(out, first, second, options, error) : status;
}

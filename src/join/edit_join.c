/* edit_join.c — lookalikes by edit distance.
 *
 * Texts stand in order of their length, cut into cells so that a text and all that can be near to it and are no
 * shorter lie in its cell and the next. The two make a class, and one class at a time is searched: its texts are
 * signed and put into a forest, and those of the first cell ask. Short texts within few edits are found without one,
 * in near_keys.c. */
#include <twinsift/edit_join.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "base/stages.h"
#include "join/collection_private.h"
#include "join/edit_join_private.h"
#include "join/engine.h"
#include "join/gate.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "kernels/sort.h"

/* ---- when two texts are near ---- */

bool twin__edit_join_options_are_good(twin_edit_join_options options)
{
    return options.ratio >= 0 && options.ratio <= 1 && (options.ratio > 0 || options.edits != TWIN_EDIT_FAR);
}

/* 2n/(n + m) >= ratio bounds m, and so does m <= n + edits. A little more is harmless: texts decide. */
size_t twin__edit_join_reach(twin_edit_join_options options, size_t length)
{
    size_t reach = TWIN_EDIT_MAX_LENGTH;
    if (options.ratio > 0) {
        double most = (double)length * (2 / options.ratio - 1) + 1e-6;
        reach = most < (double)reach ? (size_t)most : reach;
    }
    if (options.edits < reach && length + options.edits < reach)
        reach = length + options.edits;
    return reach > length ? reach : length;
}

twin_status twin__edit_join_compare(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                    twin_edit_join_options options)
{
    *out = -1;
    if (options.edits != TWIN_EDIT_FAR) {
        size_t distance;
        twin_status status = twin_edit_distance(&distance, scratch, a, b, TWIN_EDIT_CHARS, options.edits);
        if (status != TWIN_OK || distance == TWIN_EDIT_FAR)
            return status;
    }
    return twin_edit_ratio(out, scratch, a, b, TWIN_EDIT_CHARS, options.ratio);
}

/* ---- the plan of a class ---- */

/* Runs of so many characters. Longer ones tell strangers apart better, and short texts with an edit have too few of
 * them left; the borders are where the trees needed, N^ρ with ρ = ln J(near)/ln J(strangers), are fewest for news of
 * these lengths and a ratio of .95. */
static size_t grams_for(twin_edit_join_options options, size_t length)
{
    if (options.grams)
        return options.grams;
    return length < 64 ? 2 : length < 256 ? 3 : length < 2048 ? 4 : 5;
}

/* The Jaccard similarity to plan for: of the runs of two texts of `length` that are just near enough. A share of
 * 1 - ratio of the characters of each is not in the other. When they stand alone, here one deleted and there one
 * inserted, a run of q is left whole by the q that might be deleted in it and the q - 1 gaps that might be filled.
 * Each edit spoils q runs in both. */
static double least_similarity(twin_edit_join_options options, size_t length, size_t q)
{
    double by_ratio = pow(options.ratio, 2 * (double)q - 1), by_edits = 0;
    if (options.edits < length)
        by_edits = pow(1 - (double)options.edits / (double)length, (double)q);
    double whole = by_ratio > by_edits ? by_ratio : by_edits;
    return whole / (2 - whole);
}

/* Wanted of a pair that is just near enough, by its runs; and the most trees, for each costs memory. */
static const double RECALL = 0.99;
enum { MOST_TREES = 64, MOST_ROWS = 16 };

/* The most rows, hence the fewest strangers, that reach the recall. */
static twin_plan plan_for(double similarity, size_t slots)
{
    for (size_t rows = slots < MOST_ROWS ? slots : MOST_ROWS; rows > 1; rows--) {
        twin_plan plan = { slots / rows < MOST_TREES ? slots / rows : MOST_TREES, rows };
        if (twin_plan_probability(plan, similarity) >= RECALL)
            return plan;
    }
    return (twin_plan){ slots < MOST_TREES ? slots : MOST_TREES, 1 };
}

/* ---- signing ---- */

struct worker {
    twin_scratch scratch; /* to read texts */
    twin_buffer padded;
    twin_sign_scratch sign; /* to sign their q-grams */
    twin_edit_scratch edit;
};

struct near {
    twin_similar *similar;
    const twin_collection *collection;
    struct twin__provider provider; /* of its texts */
    twin_edit_join_options options;
    struct worker *workers; /* one per worker */

    uint32_t *order; /* the distinct documents by length, then number */
    size_t count;

    /* the class in hand: order[begin] .. order[end - 1], of which those before `middle` ask. Its texts go by their
     * place in it. */
    size_t begin, middle, end;
    size_t q, signed_count;
    twin_signer *signer; /* of shingles of q characters */
    uint32_t *rows;      /* signatures */
    size_t row_capacity;
    struct twin__first_failure failure;
};

static size_t length_at(const struct near *near, size_t place)
{
    return twin_collection_length(near->collection, near->order[place]);
}

/* A run that comes again is another item, so that equal runs count as often as they come: a text of one phrase over and
 * over is not like that phrase alone. */
static bool number_repeats(twin_sign_scratch *scratch)
{
    twin_items *items = &scratch->items;
    scratch->spare.count = 0;
    if (twin_items_reserve(&scratch->spare, items->count) != TWIN_OK)
        return false;
    twin__sort(items->items, scratch->spare.items, items->count);
    uint64_t last = 0, repeat = 0;
    for (size_t i = 0; i < items->count; i++) {
        repeat = i > 0 && items->items[i] == last ? repeat + 1 : 0;
        last = items->items[i];
        items->items[i] = twin__mix(last + repeat * 0x9E3779B97F4A7C15u);
    }
    return true;
}

/* The text with q - 1 marks at both ends, so that its ends are in as many runs as its middle, and that none is
 * too short. */
static twin_status pad(twin_buffer *out, twin_text text, size_t q)
{
    static const char marks[TWIN_SHINGLE_MAX_WIDTH] = { 0 };
    out->length = 0;
    twin_status status = twin_buffer_append(out, marks, q - 1);
    if (status == TWIN_OK)
        status = twin_buffer_append(out, text.bytes, text.length);
    return status == TWIN_OK ? twin_buffer_append(out, marks, q - 1) : status;
}

static twin_status sign(struct near *near, struct worker *worker, size_t place, twin_error *error)
{
    twin_text text;
    size_t slots = near->options.minhash.slots;
    twin_status status =
        twin_collection_text(&text, near->collection, &worker->scratch, near->order[near->begin + place], error);
    if (status != TWIN_OK)
        return status;
    twin_items *items = &worker->sign.items;
    status = pad(&worker->padded, text, near->q);
    if (status == TWIN_OK)
        status = twin_signer_shingle_normalised(&worker->sign, near->signer,
                                                (twin_text){ worker->padded.bytes, worker->padded.length });
    if (status == TWIN_OK && !number_repeats(&worker->sign))
        status = TWIN_ENOMEM;
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    twin_signer_sign(near->rows + place * slots, near->signer, items->items, items->count);
    return TWIN_OK;
}

/* Texts that a worker signs at a time: of a class they are of like length, so few are enough to share the work. */
enum { TEXTS_AT_A_TIME = 16 };

static void sign_some(void *context, size_t begin, size_t end, int worker)
{
    struct near *near = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (sign(near, &near->workers[worker], near->signed_count + i, &error) != TWIN_OK) {
            twin__keep_first_failure(&near->failure, i, &error);
            return;
        }
    }
}

static twin_status use_grams(struct near *near, size_t q)
{
    if (q == near->q)
        return TWIN_OK;
    twin_signer_free(near->signer);
    near->signed_count = 0;
    near->q = q;
    twin_scheme scheme = { .shingle = { .kind = TWIN_SHINGLE_CHAR, .width = q }, .minhash = near->options.minhash };
    twin_scheme_seed(&scheme, near->options.minhash.seed);
    return twin_signer_create(&near->signer, &scheme, NULL);
}

/* Signs the class; what the last one has signed is kept. */
static twin_status sign_class(struct near *near, twin_error *error)
{
    size_t count = near->end - near->begin, slots = near->options.minhash.slots;
    twin_status status = use_grams(near, grams_for(near->options, length_at(near, near->begin)));
    if (status != TWIN_OK)
        return status;
    if (!twin__array_grow(&near->rows, &near->row_capacity, near->signed_count * slots,
                          (count - near->signed_count) * slots, sizeof *near->rows))
        return TWIN_ENOMEM;
    twin_exec_for(near->options.exec, count - near->signed_count, TEXTS_AT_A_TIME, sign_some, near);
    near->signed_count = count;
    return twin__first_failure(error, &near->failure);
}

/* ---- candidates of a class, and what stays of them ---- */

static bool allows(const void *context, uint32_t asker, uint32_t other)
{
    const struct near *near = context;
    size_t a = length_at(near, near->begin + asker), b = length_at(near, near->begin + other);
    return twin__edit_join_reach(near->options, a < b ? a : b) >= (a < b ? b : a);
}

static twin_status compare_texts(double *out, void *context, struct twin__content a, struct twin__content b,
                                 int worker)
{
    struct near *near = context;
    return twin__edit_join_compare(out, &near->workers[worker].edit, (twin_text){ a.bytes, a.size },
                                   (twin_text){ b.bytes, b.size }, near->options);
}

/* Pairs of places become pairs of documents. */
static void name_documents(const struct near *near, struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = near->order[near->begin + twin__pair_low(pairs->items[i])];
        uint32_t b = near->order[near->begin + twin__pair_high(pairs->items[i])];
        pairs->items[i] = twin__pair(a, b);
    }
}

/* Compares pairs of documents, and adds up the time it takes. */
static twin_status verify(struct near *near, const struct twin__pairs *pairs, twin_error *error)
{
    struct twin__verify_options options = { .comparison = { compare_texts, near }, .exec = near->options.exec };
    double begun = twin__seconds();
    twin_status status = twin__verify_pairs(&near->similar->matches, &near->provider, pairs, options, error);
    near->similar->counts.verified += pairs->count;
    near->similar->counts.verifying_seconds += twin__seconds() - begun;
    return status;
}

/* A few short texts are compared each with each: that is as quick, and none is missed. So are texts that have no more
 * characters than may be edited, which have nothing in common for a forest to find and are near all the same. */
enum { SHORT = 64, FEW = 1024 };

static bool compares_all(const struct near *near)
{
    bool few = near->end - near->begin <= FEW && length_at(near, near->end - 1) <= SHORT;
    return few || (near->options.edits != TWIN_EDIT_FAR && near->options.ratio == 0 &&
                   near->options.edits >= length_at(near, near->begin));
}

static twin_status compare_all(struct near *near, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    size_t count = near->end - near->begin;
    twin_status status = TWIN_OK;
    for (uint32_t a = 0; a < near->middle - near->begin && status == TWIN_OK; a++)
        for (uint32_t b = a + 1; b < count && allows(near, a, b); b++) {
            if (!twin__pairs_add(&pairs, twin__pair(a, b))) {
                status = TWIN_ENOMEM;
                break;
            }
        }
    near->similar->counts.candidates += pairs.count;
    name_documents(near, &pairs);
    if (status == TWIN_OK)
        status = verify(near, &pairs, error);
    free(pairs.items);
    return status;
}

/* How the search of a class goes on, round by round. */
struct rounds {
    struct twin__pairs tried;        /* pairs of documents, sorted */
    uint32_t *active;                /* the places whose candidates are sought in this round */
    uint32_t *compared, *near_found; /* by place: pairs of it so far, and those that stayed */
    uint32_t *place_of;              /* by document, for those of the class */
    bool *more;
    size_t active_count;
};

/* Candidates that a text gets in the first round. The next gives twice as many to those of whose pairs one in
 * WORTH stayed: so what is compared grows with what is found, and a crowd of lookalikes that are not near costs each
 * text this many. */
enum { FIRST_TAKE = 32, WORTH = 16 };

static void count_compared(struct rounds *rounds, const struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        rounds->compared[rounds->place_of[twin__pair_low(pairs->items[i])]]++;
        rounds->compared[rounds->place_of[twin__pair_high(pairs->items[i])]]++;
    }
}

/* The matches from the one numbered `begin` on are new. */
static void count_found(struct rounds *rounds, const twin_matches *matches, size_t begin)
{
    for (size_t i = begin; i < matches->count; i++) {
        rounds->near_found[rounds->place_of[matches->items[i].a]]++;
        rounds->near_found[rounds->place_of[matches->items[i].b]]++;
    }
}

/* Those that get more candidates in the next round. */
static void keep_active(struct rounds *rounds)
{
    size_t kept = 0;
    for (size_t i = 0; i < rounds->active_count; i++) {
        uint32_t place = rounds->active[i];
        if (rounds->more[i] && (uint64_t)rounds->near_found[place] * WORTH >= rounds->compared[place])
            rounds->active[kept++] = place;
    }
    rounds->active_count = kept;
}

static twin_status remember(struct rounds *rounds, const struct twin__pairs *pairs)
{
    if (!twin__pairs_append(&rounds->tried, pairs))
        return TWIN_ENOMEM;
    return twin__pairs_sort_unique(&rounds->tried, NULL);
}

static twin_status play_round(struct near *near, struct rounds *rounds, const struct twin__minhash_forest *forest,
                              size_t take, size_t least, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    size_t before = near->similar->matches.count;
    struct twin__minhash_forest_query query = { .documents = rounds->active,
                                                .count = rounds->active_count,
                                                .take = take,
                                                .least = least,
                                                .allows = allows,
                                                .context = near,
                                                .exec = near->options.exec };
    twin_status status =
        twin__minhash_forest_pairs(&pairs, rounds->more, &near->similar->counts.candidates, forest, query);
    name_documents(near, &pairs);
    if (status == TWIN_OK)
        status = twin__pairs_sort_unique(&pairs, &rounds->tried);
    if (status == TWIN_OK)
        status = verify(near, &pairs, error);
    if (status == TWIN_OK)
        status = remember(rounds, &pairs);
    if (status == TWIN_OK) {
        count_compared(rounds, &pairs);
        count_found(rounds, &near->similar->matches, before);
        keep_active(rounds);
    }
    free(pairs.items);
    return status;
}

static void rounds_clear(struct rounds *rounds)
{
    free(rounds->tried.items);
    free(rounds->active);
    free(rounds->compared);
    free(rounds->near_found);
    free(rounds->more);
}

static twin_status rounds_init(struct rounds *rounds, const struct near *near)
{
    size_t count = near->end - near->begin;
    rounds->active_count = near->middle - near->begin;
    rounds->active = malloc(count * sizeof *rounds->active);
    rounds->compared = calloc(count, sizeof *rounds->compared);
    rounds->near_found = calloc(count, sizeof *rounds->near_found);
    rounds->more = calloc(count, sizeof *rounds->more);
    if (!rounds->active || !rounds->compared || !rounds->near_found || !rounds->more)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        rounds->place_of[near->order[near->begin + i]] = (uint32_t)i;
        rounds->active[i] = (uint32_t)i;
    }
    return TWIN_OK;
}

static twin_status search_by_keys(struct near *near, bool *done, twin_error *error)
{
    struct twin__range range = { near->collection, near->order + near->begin, near->middle - near->begin,
                                 near->end - near->begin };
    double begun = twin__seconds();
    twin_status status = twin__edit_join_by_keys(done, near->similar, range, near->options, error);
    if (*done)
        near->similar->counts.verifying_seconds += twin__seconds() - begun; /* of which comparing takes the most */
    return status;
}

static twin_status search_by_forest(struct near *near, uint32_t *place_of, twin_error *error)
{
    size_t slots = near->options.minhash.slots;
    twin_status status = sign_class(near, error);
    if (status != TWIN_OK)
        return status;
    double similarity = least_similarity(near->options, length_at(near, near->begin), near->q);
    struct rounds rounds = { .place_of = place_of };
    struct twin__minhash_forest *forest = NULL;
    status = rounds_init(&rounds, near);
    if (status == TWIN_OK) {
        twin_signatures signatures = { near->rows, slots, rounds.active, near->end - near->begin };
        status =
            twin__minhash_forest_create(&forest, signatures, plan_for(similarity, slots), near->options.minhash.seed);
    }
    for (size_t take = FIRST_TAKE; status == TWIN_OK && rounds.active_count > 0; take *= 2)
        status = play_round(near, &rounds, forest, take, twin__gate_least(similarity, slots), error);
    twin__minhash_forest_free(forest);
    rounds_clear(&rounds);
    return status;
}

static twin_status search_class(struct near *near, uint32_t *place_of, twin_error *error)
{
    bool done = false;
    if (compares_all(near))
        return compare_all(near, error);
    twin_status status = search_by_keys(near, &done, error);
    return done || status != TWIN_OK ? status : search_by_forest(near, place_of, error);
}

/* ---- cells and classes ---- */

/* Where the cell that begins at `begin` ends: past all that its shortest text reaches. Cells are a sixteenth longer
 * than their shortest text at least, so that there are not too many. */
static size_t cell_end(const struct near *near, size_t begin)
{
    if (begin == near->count)
        return begin;
    size_t shortest = length_at(near, begin), reach = twin__edit_join_reach(near->options, shortest);
    if (reach < shortest + shortest / 16)
        reach = shortest + shortest / 16;
    size_t low = begin + 1, high = near->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (length_at(near, middle) <= reach)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Moves on to the class that begins where the askers of this one end; signatures of the cell they share stay. */
static void next_class(struct near *near)
{
    size_t slots = near->options.minhash.slots, passed = near->middle - near->begin;
    size_t kept = near->signed_count > passed ? near->signed_count - passed : 0;
    if (kept)
        memmove(near->rows, near->rows + passed * slots, kept * slots * sizeof *near->rows);
    near->signed_count = kept;
    near->begin = near->middle;
    near->middle = near->end;
    near->end = cell_end(near, near->middle);
}

static twin_status search(struct near *near, twin_error *error)
{
    uint32_t *place_of = malloc((twin_collection_count(near->collection).documents + 1) * sizeof *place_of);
    twin_status status = place_of ? TWIN_OK : TWIN_ENOMEM;
    twin_progress progress = near->options.progress;
    near->middle = cell_end(near, 0);
    near->end = cell_end(near, near->middle);
    for (; near->begin < near->count && status == TWIN_OK; next_class(near)) {
        if (near->end - near->begin > 1)
            status = search_class(near, place_of, error);
        if (progress.report)
            progress.report(progress.context, &twin__stage_pairing, near->middle, near->count);
    }
    free(place_of);
    return status;
}

static twin_status sort_by_length(struct near *near)
{
    const uint32_t *distinct;
    near->count = twin_collection_distinct(&distinct, near->collection);
    near->order = malloc((near->count + 1) * sizeof *near->order);
    uint64_t *keys = malloc((2 * near->count + 1) * sizeof *keys);
    if (near->order && keys) {
        for (size_t i = 0; i < near->count; i++)
            keys[i] = (uint64_t)twin_collection_length(near->collection, distinct[i]) << 32 | distinct[i];
        twin__sort(keys, keys + near->count, near->count);
        for (size_t i = 0; i < near->count; i++)
            near->order[i] = (uint32_t)keys[i];
    }
    bool sorted = near->order && keys;
    free(keys);
    return sorted ? TWIN_OK : TWIN_ENOMEM;
}

static void near_clear(struct near *near)
{
    for (int i = 0; near->workers && i < near->options.exec.workers; i++) {
        twin_scratch_clear(&near->workers[i].scratch);
        twin_buffer_clear(&near->workers[i].padded);
        twin_sign_scratch_clear(&near->workers[i].sign);
        twin_edit_scratch_clear(&near->workers[i].edit);
    }
    twin__collection_provider_clear(&near->provider);
    free(near->workers);
    twin_signer_free(near->signer);
    free(near->order);
    free(near->rows);
}

static twin_status find(struct near *near, twin_error *error)
{
    double begun = twin__seconds();
    twin_status status = TWIN_OK;
    near->workers = calloc((size_t)near->options.exec.workers, sizeof *near->workers);
    if (!near->workers)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin__collection_provider(&near->provider, near->collection, near->options.exec.workers);
    if (status == TWIN_OK)
        status = sort_by_length(near);
    if (status == TWIN_OK)
        status = search(near, error);
    twin_similar_counts *counts = &near->similar->counts;
    twin__matches_sort(&near->similar->matches);
    counts->similar = near->similar->matches.count;
    counts->pairing_seconds = twin__seconds() - begun - counts->verifying_seconds;
    return status;
}

twin_status twin_edit_join_find(twin_similar **out, const twin_collection *collection, twin_edit_join_options options,
                                twin_error *error)
{
    *out = NULL;
    if (!twin__edit_join_options_are_good(options) || options.grams > TWIN_SHINGLE_MAX_WIDTH || !collection->texts)
        return twin__fail_status(error, TWIN_EINVAL);
    if (error)
        error->status = TWIN_OK;
    struct near near = { .collection = collection, .options = options, .failure = TWIN__NO_FAILURE };
    near.similar = calloc(1, sizeof *near.similar);
    if (!near.similar)
        return twin__fail_memory(error);
    near.similar->collection = collection;
    twin_status status = find(&near, error);
    near_clear(&near);
    if (status != TWIN_OK) {
        twin_similar_free(near.similar);
        return error && error->status == TWIN_OK ? twin__fail_status(error, status) : status;
    }
    *out = near.similar;
    return TWIN_OK;
}

/* edit_join.c — pairs of texts that are near by edit distance.
 *
 * Texts are sorted by length and cut into cells, such that a text and all longer ones that can be near to it are in its
 * cell and the next. The two cells make a class, and one class at a time is searched: its texts are signed by their
 * q-grams and put into a forest, which gives candidates to the texts of the first cell, and the verifier (verify.c)
 * compares them over the collection as a provider of texts. Short texts within few edits are found without a
 * forest, in edit_keys.c. */
#include <twinsift/edit_join.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
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

static const double DEFAULT_RATIO = 0.8;

twin_status twin__edit_join_complete(twin_edit_join_options *options, const twin_collection *collection,
                                     twin_error *error)
{
    if (!collection->texts)
        return twin__fail(error, TWIN_EINVAL, "the collection was not read as texts");
    if (!(options->ratio >= 0 && options->ratio <= 1))
        return twin__fail(error, TWIN_EINVAL, "ratio must be 0 to 1, not %g", options->ratio);
    if (options->grams > TWIN_SHINGLE_MAX_WIDTH)
        return twin__fail(error, TWIN_EINVAL, "grams must be 0 to %d, not %zu", (int)TWIN_SHINGLE_MAX_WIDTH,
                          options->grams);
    if (!options->limit_edits)
        options->edits = TWIN_EDIT_FAR;
    if (options->ratio == 0 && options->edits == TWIN_EDIT_FAR)
        options->ratio = DEFAULT_RATIO;
    if (options->minhash.slots == 0)
        options->minhash.slots = TWIN_MINHASH_DEFAULT_SLOTS;
    return twin__exec_complete(&options->exec, error);
}

/* 2n/(n + m) >= ratio bounds m, and so does m <= n + edits. A little more is harmless, for texts are compared. */
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

/* q, the characters of a q-gram. Longer ones separate unrelated texts better, but short texts with an edit have too
 * few of them left; the limits are where the trees needed, N^ρ with ρ = ln J(near)/ln J(unrelated), are fewest for news
 * of these lengths and a ratio of .95. */
static size_t grams_for(twin_edit_join_options options, size_t length)
{
    if (options.grams)
        return options.grams;
    return length < 64 ? 2 : length < 256 ? 3 : length < 2048 ? 4 : 5;
}

/* The Jaccard similarity to plan for: that of the q-grams of two texts of `length` that are just near enough. A share of
 * 1 - ratio of the characters of each is not in the other. When these are scattered, one deleted here and one
 * inserted there, a q-gram survives if none of its q characters is deleted and none of its q - 1 gaps filled. Each
 * edit changes q q-grams in both. */
static double least_similarity(twin_edit_join_options options, size_t length, size_t q)
{
    double by_ratio = pow(options.ratio, 2 * (double)q - 1), by_edits = 0;
    if (options.edits < length)
        by_edits = pow(1 - (double)options.edits / (double)length, (double)q);
    double whole = by_ratio > by_edits ? by_ratio : by_edits;
    return whole / (2 - whole);
}

/* The recall wanted for a pair that is just near enough, by its q-grams; and the most trees, for each costs memory. */
static const double RECALL = 0.99;
enum { MOST_TREES = 64, MOST_ROWS = 16 };

/* The most rows, hence the fewest false candidates, that reach the recall. */
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

struct edit_worker {
    twin_buffer padded;     /* a text with marks at its ends */
    twin_sign_scratch sign; /* to sign their q-grams */
    twin_edit_scratch edit;
};

struct edit_join {
    twin_similar *similar;
    const twin_collection *collection;
    struct twin__provider provider; /* of its texts */
    twin_edit_join_options options;
    struct edit_worker *workers; /* one per worker */

    uint32_t *order; /* the distinct documents by length, then number */
    size_t count;

    /* The current class: order[begin] .. order[end - 1], of which those before `middle`, the first cell, get candidates.
     * Its texts are numbered by their position in it. */
    size_t begin, middle, end;
    size_t q, signed_count;
    twin_signer *signer; /* of shingles of q characters */
    uint32_t *rows;      /* signatures of the class, `signed_count` of them */
    size_t row_capacity;
    struct twin__first_failure failure;
};

static size_t length_at(const struct edit_join *join, size_t position)
{
    return twin_collection_size(join->collection, join->order[position]);
}

/* A q-gram that is repeated becomes another item each time, so that equal q-grams count as often as they occur: a text of
 * one phrase over and over is not similar to that phrase alone. */
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

/* The text with q - 1 marks at both ends, so that its ends are in as many q-grams as its middle, and that no text is
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

static twin_status sign(struct edit_join *join, size_t position, int number, twin_error *error)
{
    struct edit_worker *worker = &join->workers[number];
    struct twin__content text;
    size_t slots = join->options.minhash.slots;
    twin_status status =
        join->provider.fetch(&text, &join->provider, join->order[join->begin + position], number, error);
    if (status != TWIN_OK)
        return status;
    twin_items *items = &worker->sign.items;
    status = pad(&worker->padded, (twin_text){ text.bytes, text.size }, join->q);
    if (status == TWIN_OK)
        status = twin_signer_shingle_normalised(&worker->sign, join->signer,
                                                (twin_text){ worker->padded.bytes, worker->padded.length });
    if (status == TWIN_OK && !number_repeats(&worker->sign))
        status = TWIN_ENOMEM;
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    twin_signer_sign(join->rows + position * slots, join->signer, items->items, items->count);
    return TWIN_OK;
}

/* Texts that a worker signs at a time: of a class they are of like length, so few are enough to share the work. */
enum { TEXTS_AT_A_TIME = 16 };

static void sign_some(void *context, size_t begin, size_t end, int worker)
{
    struct edit_join *join = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (sign(join, join->signed_count + i, worker, &error) != TWIN_OK) {
            twin__keep_first_failure(&join->failure, i, &error);
            return;
        }
    }
}

static twin_status use_grams(struct edit_join *join, size_t q)
{
    if (q == join->q)
        return TWIN_OK;
    twin_signer_free(join->signer);
    join->signed_count = 0;
    join->q = q;
    twin_scheme scheme = { .shingle = { .kind = TWIN_SHINGLE_CHAR, .width = q }, .minhash = join->options.minhash };
    twin_scheme_seed(&scheme, join->options.minhash.seed);
    return twin_signer_create(&join->signer, &scheme, NULL);
}

/* Signs what the class before has not signed already. */
static twin_status sign_class(struct edit_join *join, twin_error *error)
{
    size_t count = join->end - join->begin, slots = join->options.minhash.slots;
    twin_status status = use_grams(join, grams_for(join->options, length_at(join, join->begin)));
    if (status != TWIN_OK)
        return status;
    if (!TWIN__ARRAY_GROW(&join->rows, &join->row_capacity, join->signed_count * slots,
                          (count - join->signed_count) * slots))
        return TWIN_ENOMEM;
    twin_exec_for(join->options.exec, count - join->signed_count, TEXTS_AT_A_TIME, sign_some, join);
    join->signed_count = count;
    return twin__first_failure(error, &join->failure);
}

/* ---- candidates of a class, and their verification ---- */

static bool allows(const void *context, uint32_t position, uint32_t other)
{
    const struct edit_join *join = context;
    size_t a = length_at(join, join->begin + position), b = length_at(join, join->begin + other);
    return twin__edit_join_reach(join->options, a < b ? a : b) >= (a < b ? b : a);
}

static twin_status compare_texts(double *out, void *context, struct twin__content a, struct twin__content b,
                                 int worker)
{
    struct edit_join *join = context;
    return twin__edit_join_compare(out, &join->workers[worker].edit, (twin_text){ a.bytes, a.size },
                                   (twin_text){ b.bytes, b.size }, join->options);
}

/* Pairs of positions in the class become pairs of documents. */
static void name_documents(const struct edit_join *join, struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = join->order[join->begin + twin__pair_low(pairs->items[i])];
        uint32_t b = join->order[join->begin + twin__pair_high(pairs->items[i])];
        pairs->items[i] = twin__pair(a, b);
    }
}

/* Compares pairs of documents, and adds up the time it takes. */
static twin_status verify(struct edit_join *join, const struct twin__pairs *pairs, twin_error *error)
{
    struct twin__verify_options options = { .comparison = { .compare = compare_texts, .context = join },
                                            .exec = join->options.exec };
    double begun = twin__seconds();
    twin_status status = twin__verify_pairs(&join->similar->matches, &join->provider, pairs, options, error);
    join->similar->counts.verified += pairs->count;
    join->similar->counts.verifying_seconds += twin__seconds() - begun;
    return status;
}

/* A few short texts are all compared with each other: that is as fast, and none is missed. So are texts with no more
 * characters than may be edited, which are near without having any q-gram in common. */
enum { SHORT = 64, FEW = 1024 };

static bool compares_all(const struct edit_join *join)
{
    bool few = join->end - join->begin <= FEW && length_at(join, join->end - 1) <= SHORT;
    return few || (join->options.edits != TWIN_EDIT_FAR && join->options.ratio == 0 &&
                   join->options.edits >= length_at(join, join->begin));
}

static twin_status compare_all(struct edit_join *join, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    size_t count = join->end - join->begin;
    twin_status status = TWIN_OK;
    for (uint32_t a = 0; a < join->middle - join->begin && status == TWIN_OK; a++)
        for (uint32_t b = a + 1; b < count && allows(join, a, b); b++) {
            if (!twin__pairs_add(&pairs, twin__pair(a, b))) {
                status = TWIN_ENOMEM;
                break;
            }
        }
    join->similar->counts.candidates += pairs.count;
    name_documents(join, &pairs);
    if (status == TWIN_OK)
        status = verify(join, &pairs, error);
    free(pairs.items);
    return status;
}

/* The state of the search of a class, round by round. */
struct rounds {
    struct twin__pairs tried;        /* pairs of documents, sorted */
    uint32_t *active;                /* the positions that get candidates in this round */
    uint32_t *compared, *near_found; /* by position: its pairs so far, and those that are near */
    uint32_t *position_of;           /* by document, for those of the class */
    bool *more;
    size_t active_count;
};

/* Candidates that a text gets in the first round. The next round gives twice as many to those of whose pairs at least one
 * in WORTH was near: so what is compared grows with what is found, and a crowd of similar texts that are not near costs
 * each text this many comparisons. */
enum { FIRST_TAKE = 32, WORTH = 16 };

static void count_compared(struct rounds *rounds, const struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        rounds->compared[rounds->position_of[twin__pair_low(pairs->items[i])]]++;
        rounds->compared[rounds->position_of[twin__pair_high(pairs->items[i])]]++;
    }
}

/* The matches from the one numbered `begin` on are new. */
static void count_found(struct rounds *rounds, const twin_matches *matches, size_t begin)
{
    for (size_t i = begin; i < matches->count; i++) {
        rounds->near_found[rounds->position_of[matches->items[i].a]]++;
        rounds->near_found[rounds->position_of[matches->items[i].b]]++;
    }
}

/* Those that get more candidates in the next round. */
static void keep_active(struct rounds *rounds)
{
    size_t kept = 0;
    for (size_t i = 0; i < rounds->active_count; i++) {
        uint32_t position = rounds->active[i];
        if (rounds->more[i] && (uint64_t)rounds->near_found[position] * WORTH >= rounds->compared[position])
            rounds->active[kept++] = position;
    }
    rounds->active_count = kept;
}

static twin_status remember(struct rounds *rounds, const struct twin__pairs *pairs)
{
    if (!twin__pairs_append(&rounds->tried, pairs))
        return TWIN_ENOMEM;
    return twin__pairs_sort_unique(&rounds->tried, NULL);
}

static twin_status run_round(struct edit_join *join, struct rounds *rounds, const struct twin__minhash_forest *forest,
                             size_t take, size_t least, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    size_t before = join->similar->matches.count;
    struct twin__minhash_forest_query query = { .documents = rounds->active,
                                                .count = rounds->active_count,
                                                .take = take,
                                                .least = least,
                                                .allows = allows,
                                                .context = join,
                                                .exec = join->options.exec };
    twin_status status =
        twin__minhash_forest_pairs(&pairs, rounds->more, &join->similar->counts.candidates, forest, query);
    name_documents(join, &pairs);
    if (status == TWIN_OK)
        status = twin__pairs_sort_unique(&pairs, &rounds->tried);
    if (status == TWIN_OK)
        status = verify(join, &pairs, error);
    if (status == TWIN_OK)
        status = remember(rounds, &pairs);
    if (status == TWIN_OK) {
        count_compared(rounds, &pairs);
        count_found(rounds, &join->similar->matches, before);
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

static twin_status rounds_init(struct rounds *rounds, const struct edit_join *join)
{
    size_t count = join->end - join->begin;
    rounds->active_count = join->middle - join->begin;
    rounds->active = malloc(count * sizeof *rounds->active);
    rounds->compared = calloc(count, sizeof *rounds->compared);
    rounds->near_found = calloc(count, sizeof *rounds->near_found);
    rounds->more = calloc(count, sizeof *rounds->more);
    if (!rounds->active || !rounds->compared || !rounds->near_found || !rounds->more)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        rounds->position_of[join->order[join->begin + i]] = (uint32_t)i;
        rounds->active[i] = (uint32_t)i;
    }
    return TWIN_OK;
}

static twin_status search_by_keys(struct edit_join *join, bool *done, twin_error *error)
{
    struct twin__range range = { join->collection, join->order + join->begin, join->middle - join->begin,
                                 join->end - join->begin };
    double begun = twin__seconds();
    twin_status status = twin__edit_join_by_keys(done, join->similar, range, join->options, error);
    if (*done)
        join->similar->counts.verifying_seconds += twin__seconds() - begun; /* most of it is comparing */
    return status;
}

static twin_status search_by_forest(struct edit_join *join, uint32_t *position_of, twin_error *error)
{
    size_t slots = join->options.minhash.slots;
    twin_status status = sign_class(join, error);
    if (status != TWIN_OK)
        return status;
    double similarity = least_similarity(join->options, length_at(join, join->begin), join->q);
    struct rounds rounds = { .position_of = position_of };
    struct twin__minhash_forest *forest = NULL;
    status = rounds_init(&rounds, join);
    if (status == TWIN_OK) {
        twin_signatures signatures = { join->rows, slots, rounds.active, join->end - join->begin };
        status =
            twin__minhash_forest_create(&forest, signatures, plan_for(similarity, slots), join->options.minhash.seed);
    }
    for (size_t take = FIRST_TAKE; status == TWIN_OK && rounds.active_count > 0; take *= 2)
        status = run_round(join, &rounds, forest, take, twin__gate_least(similarity, slots), error);
    twin__minhash_forest_free(forest);
    rounds_clear(&rounds);
    return status;
}

static twin_status search_class(struct edit_join *join, uint32_t *position_of, twin_error *error)
{
    bool done = false;
    if (compares_all(join))
        return compare_all(join, error);
    twin_status status = search_by_keys(join, &done, error);
    return done || status != TWIN_OK ? status : search_by_forest(join, position_of, error);
}

/* ---- cells and classes ---- */

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

/* The second cell of this class is the first of the next; its signatures are kept. */
static void next_class(struct edit_join *join)
{
    size_t slots = join->options.minhash.slots, passed = join->middle - join->begin;
    size_t kept = join->signed_count > passed ? join->signed_count - passed : 0;
    if (kept)
        memmove(join->rows, join->rows + passed * slots, kept * slots * sizeof *join->rows);
    join->signed_count = kept;
    join->begin = join->middle;
    join->middle = join->end;
    join->end = cell_end(join, join->middle);
}

static twin_status search(struct edit_join *join, twin_error *error)
{
    uint32_t *position_of = malloc((twin_collection_count(join->collection).documents + 1) * sizeof *position_of);
    twin_status status = position_of ? TWIN_OK : TWIN_ENOMEM;
    twin_progress progress = join->options.progress;
    join->middle = cell_end(join, 0);
    join->end = cell_end(join, join->middle);
    for (; join->begin < join->count && status == TWIN_OK; next_class(join)) {
        if (join->end - join->begin > 1)
            status = search_class(join, position_of, error);
        if (progress.report)
            progress.report(progress.context, &twin__stage_pairing, join->middle, join->count);
    }
    free(position_of);
    return status;
}

static twin_status sort_by_length(struct edit_join *join)
{
    const uint32_t *distinct;
    join->count = twin_collection_distinct(&distinct, join->collection);
    join->order = malloc((join->count + 1) * sizeof *join->order);
    uint64_t *keys = malloc((2 * join->count + 1) * sizeof *keys);
    if (join->order && keys) {
        for (size_t i = 0; i < join->count; i++)
            keys[i] = (uint64_t)twin_collection_size(join->collection, distinct[i]) << 32 | distinct[i];
        twin__sort(keys, keys + join->count, join->count);
        for (size_t i = 0; i < join->count; i++)
            join->order[i] = (uint32_t)keys[i];
    }
    bool sorted = join->order && keys;
    free(keys);
    return sorted ? TWIN_OK : TWIN_ENOMEM;
}

static void edit_join_clear(struct edit_join *join)
{
    for (int i = 0; join->workers && i < join->options.exec.workers; i++) {
        twin_buffer_clear(&join->workers[i].padded);
        twin_sign_scratch_clear(&join->workers[i].sign);
        twin_edit_scratch_clear(&join->workers[i].edit);
    }
    twin__collection_provider_clear(&join->provider);
    free(join->workers);
    twin_signer_free(join->signer);
    free(join->order);
    free(join->rows);
}

static twin_status find(struct edit_join *join, twin_error *error)
{
    double begun = twin__seconds();
    twin_status status = TWIN_OK;
    join->workers = calloc((size_t)join->options.exec.workers, sizeof *join->workers);
    if (!join->workers)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin__collection_provider(&join->provider, join->collection, join->options.exec.workers);
    if (status == TWIN_OK)
        status = sort_by_length(join);
    if (status == TWIN_OK)
        status = search(join, error);
    twin_similar_counts *counts = &join->similar->counts;
    twin__matches_sort(&join->similar->matches);
    counts->similar = join->similar->matches.count;
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
    struct edit_join join = { .collection = collection, .options = options, .failure = TWIN__NO_FAILURE };
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

/* gram_forest.c — pairs of a class of texts that are near, most of them: through a forest.
 *
 * The texts are signed by their q-grams and put into a forest, which gives candidates to the texts of the first cell,
 * and the verifier (verify.c) compares them. Those of whose candidates many were near get more in the next round. */
#include "edit_join/edit_join_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/scratch.h"
#include "edit_join/grams.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "kernels/sort.h"
#include "lsh/bands.h"
#include "lsh/minhash_forest.h"

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

/* The Jaccard similarity to plan for: that of the q-grams of two texts of `length` that are just near enough. A share
 * of 1 - ratio of the characters of each is not in the other. When these are scattered, one deleted here and one
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

struct forest_worker {
    twin_buffer padded;     /* a text with marks at its ends */
    twin_sign_scratch sign; /* to sign their q-grams */
};

struct twin__gram_forest {
    int worker_count;
    struct forest_worker *workers; /* one per worker */
    uint32_t *position_of;         /* by document, for those of the class */
    size_t q;
    twin_signer *signer;       /* of shingles of q characters */
    const uint32_t *documents; /* of the class; they are numbered by their position in it */
    uint32_t *rows;            /* signatures of the first `signed_count` of them */
    size_t signed_count, row_capacity;
};

/* The class in hand, and the forest that searches it. */
struct search {
    const struct twin__edit_class *class;
    struct twin__gram_forest *forest;
};

static twin_status sign(struct search *search, size_t position, int number, twin_error *error)
{
    struct twin__gram_forest *forest = search->forest;
    const struct twin__provider *provider = search->class->provider;
    struct forest_worker *worker = &forest->workers[number];
    struct twin__content text;
    size_t slots = search->class->options.minhash.slots;
    twin_status status = provider->fetch(&text, provider, forest->documents[position], number, error);
    if (status != TWIN_OK)
        return status;
    twin_items *items = &worker->sign.items;
    status = twin__edit_grams(&worker->sign, &worker->padded, forest->signer, (twin_text){ text.bytes, text.size });
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    twin_signer_sign(forest->rows + position * slots, forest->signer, items->items, items->count);
    return TWIN_OK;
}

/* Texts that a worker signs at a time: of a class they are of like length, so few are enough to share the work. */
enum { TEXTS_AT_A_TIME = 16 };

static twin_status sign_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct search *search = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = sign(search, search->forest->signed_count + i, worker, error);
    return status;
}

static twin_status use_grams(struct twin__gram_forest *forest, size_t q, twin_minhash_options minhash)
{
    if (q == forest->q)
        return TWIN_OK;
    twin_signer_free(forest->signer);
    forest->signer = NULL;
    forest->signed_count = 0;
    forest->q = q;
    twin_scheme scheme = { .shingle = { .kind = TWIN_SHINGLE_CHAR, .width = q }, .minhash = minhash };
    twin_scheme_seed(&scheme, minhash.seed);
    return twin_signer_create(&forest->signer, &scheme, NULL);
}

/* Keeps the signatures of those at the beginning of this class that were at the end of the one before. */
static void move_on(struct twin__gram_forest *forest, const uint32_t *documents, size_t slots)
{
    size_t passed = forest->documents ? (size_t)(documents - forest->documents) : 0;
    size_t kept = forest->signed_count > passed ? forest->signed_count - passed : 0;
    if (kept && passed)
        memmove(forest->rows, forest->rows + passed * slots, kept * slots * sizeof *forest->rows);
    forest->signed_count = kept;
    forest->documents = documents;
}

/* Signs what the class before has not signed already. */
static twin_status sign_class(struct search *search, twin_error *error)
{
    const struct twin__edit_class *class = search->class;
    struct twin__gram_forest *forest = search->forest;
    size_t slots = class->options.minhash.slots;
    move_on(forest, class->documents, slots);
    twin_status status =
        use_grams(forest, grams_for(class->options, twin__edit_class_shortest(class)), class->options.minhash);
    if (status != TWIN_OK)
        return status;
    if (!TWIN__ARRAY_GROW(&forest->rows, &forest->row_capacity, forest->signed_count * slots,
                          (class->count - forest->signed_count) * slots))
        return TWIN_ENOMEM;
    status = twin__exec_try(class->options.exec, class->count - forest->signed_count, TEXTS_AT_A_TIME, sign_some,
                            search, error);
    forest->signed_count = class->count;
    return status;
}

/* ---- candidates of a class ---- */

/* The state of the search of a class, round by round. */
struct rounds {
    struct twin__pairs tried;        /* pairs of documents, sorted */
    uint32_t *active;                /* the positions that get candidates in this round */
    uint32_t *compared, *near_found; /* by position: its pairs so far, and those that are near */
    uint32_t *position_of;           /* by document, for those of the class */
    bool *more;
    size_t active_count;
};

/* Candidates that a text gets in the first round. The next round gives twice as many to those of whose pairs at least
 * one in WORTH was near: so what is compared grows with what is found, and a group of similar texts that are not near
 * costs each text this many comparisons. */
enum { FIRST_TAKE = 32, WORTH = 16 };

static void count_compared(struct rounds *rounds, const struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        rounds->compared[rounds->position_of[twin__pair_low(pairs->items[i])]]++;
        rounds->compared[rounds->position_of[twin__pair_high(pairs->items[i])]]++;
    }
}

static void count_found(struct rounds *rounds, const twin_matches *matches)
{
    for (size_t i = 0; i < matches->count; i++) {
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

static twin_status run_round(const struct twin__edit_class *class, struct rounds *rounds,
                             const struct twin__minhash_forest *forest, size_t take, size_t least, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    twin_matches found = { 0 };
    struct twin__minhash_forest_query query = { .documents = rounds->active,
                                                .count = rounds->active_count,
                                                .take = take,
                                                .least = least,
                                                .allows = twin__edit_class_allows,
                                                .context = class,
                                                .exec = class->options.exec };
    twin_status status =
        twin__minhash_forest_pairs(&pairs, rounds->more, &class->similar->counts.candidates, forest, query);
    twin__edit_class_name(class, &pairs);
    if (status == TWIN_OK)
        status = twin__pairs_sort_unique(&pairs, &rounds->tried);
    if (status == TWIN_OK)
        status = twin__edit_class_verify(&found, class, &pairs, error);
    if (status == TWIN_OK)
        status = remember(rounds, &pairs);
    if (status == TWIN_OK) {
        count_compared(rounds, &pairs);
        count_found(rounds, &found);
        keep_active(rounds);
        if (!twin__matches_move(&class->similar->matches, &found))
            status = TWIN_ENOMEM;
    }
    free(pairs.items);
    twin__matches_clear(&found);
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

static twin_status rounds_init(struct rounds *rounds, const struct twin__edit_class *class)
{
    rounds->active_count = class->middle;
    rounds->active = malloc(class->count * sizeof *rounds->active);
    rounds->compared = calloc(class->count, sizeof *rounds->compared);
    rounds->near_found = calloc(class->count, sizeof *rounds->near_found);
    rounds->more = calloc(class->count, sizeof *rounds->more);
    if (!rounds->active || !rounds->compared || !rounds->near_found || !rounds->more)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < class->count; i++) {
        rounds->position_of[class->documents[i]] = (uint32_t)i;
        rounds->active[i] = (uint32_t)i;
    }
    return TWIN_OK;
}

twin_status twin__gram_forest_search(struct twin__gram_forest *forest, const struct twin__edit_class *class,
                                     twin_error *error)
{
    struct search search = { class, forest };
    size_t slots = class->options.minhash.slots;
    if (class->is_between) { /* classes are not parts of one order */
        forest->documents = NULL;
        forest->signed_count = 0;
    }
    twin_status status = sign_class(&search, error);
    if (status != TWIN_OK)
        return status;
    double similarity = least_similarity(class->options, twin__edit_class_shortest(class), forest->q);
    struct rounds rounds = { .position_of = forest->position_of };
    struct twin__minhash_forest *trees = NULL;
    status = rounds_init(&rounds, class);
    if (status == TWIN_OK) {
        /* Between two collections only those are planted among which others are sought. */
        size_t first = class->is_between ? class->middle : 0;
        twin_signatures signatures = { forest->rows, slots, rounds.active + first, class->count - first };
        status =
            twin__minhash_forest_create(&trees, signatures, plan_for(similarity, slots), class->options.minhash.seed);
    }
    for (size_t take = FIRST_TAKE; status == TWIN_OK && rounds.active_count > 0; take *= 2)
        status = run_round(class, &rounds, trees, take, twin__gate_least(similarity, slots), error);
    twin__minhash_forest_free(trees);
    rounds_clear(&rounds);
    return status;
}

/* ---- life ---- */

twin_status twin__gram_forest_create(struct twin__gram_forest **out, size_t documents, int workers)
{
    struct twin__gram_forest *forest = *out = calloc(1, sizeof *forest);
    if (!forest)
        return TWIN_ENOMEM;
    forest->worker_count = workers;
    forest->workers = calloc((size_t)workers, sizeof *forest->workers);
    forest->position_of = malloc((documents + 1) * sizeof *forest->position_of);
    return forest->workers && forest->position_of ? TWIN_OK : TWIN_ENOMEM;
}

void twin__gram_forest_free(struct twin__gram_forest *forest)
{
    if (!forest)
        return;
    for (int i = 0; forest->workers && i < forest->worker_count; i++) {
        twin_buffer_clear(&forest->workers[i].padded);
        twin__sign_scratch_clear(&forest->workers[i].sign);
    }
    free(forest->workers);
    free(forest->position_of);
    twin_signer_free(forest->signer);
    free(forest->rows);
    free(forest);
}

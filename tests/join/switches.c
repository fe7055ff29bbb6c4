/* switches.c — whatever mechanism of the join is switched off, the similar pairs are found, and what is kept and what is
 * connected follows from them.
 *
 *     switches FILE.jsonl RULE MEASURE THRESHOLD < PAIRS.tsv
 *
 * Standard input is what exact_pairs prints of the file, whose ids are the numbers of its lines from 0 on. By containment no
 * pair may be missing. By Jaccard similarity bands miss a pair that has J with probability (1 - J^r)^b, and the gate one of
 * 3,000 at the threshold (similar.h) and one of a million .05 above it, a standard error more; bands that are drawn where
 * planned ones have one row miss one of 10,000 at the threshold. As many are expected to be
 * missing as the sum of that over all pairs; those of one template are not independent, so ten times as many may be, and three
 * more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/dedup.h>

#include "join/join_private.h"
#include "join/similar_private.h"

/* What is switched off: each mechanism alone, and all of them, with each way for groups. */
static const struct setting {
    const char *name;
    struct twin__join_switches off;
    size_t memory_bytes;
} settings[] = {
    { .name = "nothing" },
    { .name = "memory", .memory_bytes = 1 },
    { .name = "listed groups", .off.groups = TWIN__GROUPS_JOINED },
    { .name = "joined groups", .off.groups = TWIN__GROUPS_LISTED },
    { .name = "joined groups and deep bands", .off = { .groups = TWIN__GROUPS_LISTED, .deep_bands = true } },
    { .name = "drawn bands", .off.drawn_bands = true },
    { .name = "large buckets", .off.large_buckets = true },
    { .name = "loose groups", .off.loose_groups = true },
    { .name = "bucket bits", .off.bucket_bits = true },
    { .name = "the gate", .off.gate = true },
    { .name = "rounds", .off.rounds = true },
    { .name = "dense pairs", .off.dense_pairs = true },
    { .name = "the cache of tiles", .off.tile_cache = true },
    { .name = "item tables", .off.item_tables = true },
    { .name = "frequent items", .off.frequent_items = true },
    { .name = "block bits", .off.block_bits = true },
    { .name = "the margin", .off.margin = true },
    { .name = "hits", .off.hits = true },
    { .name = "short lists", .off.short_lists = true },
    { .name = "memory, and leaving single items out", .off.single_items = true, .memory_bytes = 1 },
    { .name = "small batches", .off.small_batches = true },
    { .name = "the bound", .off.bound = true },
    { .name = "dropping what is contained first", .off.contained_first = true },
    { .name = "colours", .off.colours = true },
    { .name = "probes", .off.probes = true },
#define ALL                                                                                                          \
    .deep_bands = true, .drawn_bands = true, .loose_groups = true, .bucket_bits = true, .gate = true,                \
    .rounds = true, .dense_pairs = true, .tile_cache = true, .item_tables = true, .frequent_items = true,            \
    .block_bits = true, .margin = true, .hits = true, .short_lists = true, .single_items = true,                     \
    .small_batches = true, .bound = true, .contained_first = true, .colours = true, .probes = true
    { .name = "anything, groups joined", .off = { .groups = TWIN__GROUPS_JOINED, ALL } },
    { .name = "anything, groups listed", .off = { .groups = TWIN__GROUPS_LISTED, ALL } },
    { .name = "anything, no groups", .off = { .large_buckets = true, ALL } },
};

static struct world {
    twin_collection *collection;
    uint32_t documents;
    twin_match *pairs; /* the true ones, sorted */
    size_t count;
    double allowed;    /* missing pairs */
    twin_match *found; /* by the last search; there is room for the true ones */
    size_t found_count;
    uint32_t *first;  /* of each document, what the found pairs make it follow */
    const char *name; /* of what is switched off */
} world;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "switches: without %s: %s\n", world.name, what);
    exit(1);
}

static void require(twin_status status, const twin_error *error)
{
    if (status != TWIN_OK)
        fail(error->message);
}

static void *allocated(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory)
        fail("out of memory");
    return memory;
}

/* ---- the pairs ---- */

static int by_documents(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static void read_pairs(void)
{
    size_t capacity = 0;
    twin_match match;
    while (scanf("%u %u %lf", &match.a, &match.b, &match.similarity) == 3) {
        if (world.count == capacity) {
            capacity = 2 * capacity + 1024;
            world.pairs = realloc(world.pairs, capacity * sizeof *world.pairs);
            if (!world.pairs)
                fail("out of memory");
        }
        world.pairs[world.count++] = match;
    }
    if (world.count)
        qsort(world.pairs, world.count, sizeof *world.pairs, by_documents);
    world.found = allocated(world.count, sizeof *world.found);
}

static void allow_missing(const twin_scheme *scheme)
{
    twin_plan plan = scheme->plan;
    double expected = 0;
    for (size_t i = 0; i < world.count; i++) {
        double similarity = world.pairs[i].similarity, gate = similarity < scheme->threshold + .05 ? 1 / 3e3 : 1e-6;
        double drawn = plan.rows == 1 && similarity < scheme->threshold + .05 ? 1e-4 : 0;
        expected += pow(1 - pow(similarity, (double)plan.rows), (double)plan.bands) + gate + drawn;
    }
    world.allowed = 10 * expected + 3;
}

/* Pairs come in order. */
static bool take_pair(void *context, twin_match match)
{
    size_t *at = context;
    while (*at < world.count && by_documents(&world.pairs[*at], &match) < 0)
        ++*at;
    if (*at == world.count || by_documents(&world.pairs[*at], &match) != 0)
        fail("a pair that is not similar");
    if (fabs(world.pairs[*at].similarity - match.similarity) > 0.00005001)
        fail("a similarity that is not true");
    world.found[world.found_count++] = match;
    ++*at;
    return true;
}

static void check_pairs(twin_similar_options options)
{
    twin_similar *similar;
    twin_error error;
    size_t at = world.found_count = 0;
    require(twin_similar_find(&similar, world.collection, options, &error), &error);
    require(twin_similar_each(similar, TWIN_COPIES_ALL, take_pair, &at), &error);
    if ((double)world.found_count + world.allowed < (double)world.count) {
        fprintf(stderr, "%zu of %zu pairs are found, %.1f may be missing\n", world.found_count, world.count,
                world.allowed);
        fail("too many pairs are missing");
    }
    twin_similar_free(similar);
}

/* ---- what follows from them ---- */

static uint32_t root_of(uint32_t d)
{
    while (world.first[d] != d)
        d = world.first[d];
    return d;
}

/* A document is dropped for the first kept one that it is similar to. Pairs are in order of their first document. */
static void follow_kept(void)
{
    for (size_t i = 0; i < world.found_count; i++) {
        twin_match match = world.found[i];
        if (world.first[match.a] == match.a && world.first[match.b] == match.b)
            world.first[match.b] = match.a;
    }
}

static void follow_connected(void)
{
    for (size_t i = 0; i < world.found_count; i++) {
        uint32_t a = root_of(world.found[i].a), b = root_of(world.found[i].b);
        world.first[a > b ? a : b] = a < b ? a : b;
    }
}

static void check_kept(twin_similar_options options, bool chain)
{
    twin_dedup *dedup;
    twin_error error;
    for (uint32_t d = 0; d < world.documents; d++)
        world.first[d] = d;
    (chain ? follow_connected : follow_kept)();
    require(
        twin_dedup_find(&dedup, world.collection, (twin_dedup_options){ .search = options, .chain = chain }, &error),
        &error);
    for (uint32_t d = 0; d < world.documents; d++)
        if (twin_dedup_keepers(dedup)[d] != (chain ? root_of(d) : world.first[d]))
            fail(chain ? "components do not follow from the pairs" : "what is kept does not follow from the pairs");
    twin_dedup_free(dedup);
}

int main(int argc, char **argv)
{
    twin_collection_options reading = { 0 };
    twin_input *input;
    twin_error error;
    int measure = -1;
    world.name = "anything, before the search";
    if (argc != 5 || twin_shingle_parse(&reading.scheme.shingle, argv[2]) != TWIN_OK ||
        (measure = twin_value_of(TWIN_NAMES_MEASURE, argv[3])) < 0 ||
        (reading.scheme.threshold = strtod(argv[4], NULL)) == 0)
        fail("usage: switches FILE.jsonl RULE MEASURE THRESHOLD < PAIRS.tsv");
    reading.scheme.measure = (twin_measure)measure;
    require(twin_scheme_complete(&reading.scheme, &error), &error);
    const char *path = argv[1];
    require(twin_input_open(&input, &path, 1, (twin_input_options){ 0 }, &error), &error);
    require(twin_collection_read(&world.collection, input, reading, &error), &error);
    world.documents = (uint32_t)twin_collection_count(world.collection).documents;
    world.first = allocated(world.documents, sizeof *world.first);
    read_pairs();
    if (reading.scheme.measure == TWIN_JACCARD)
        allow_missing(&reading.scheme);

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        twin_similar_options options = { .memory_bytes = settings[i].memory_bytes };
        world.name = settings[i].name;
        twin__switched_off = settings[i].off;
        check_pairs(options);
        check_kept(options, false);
        check_kept(options, true);
    }
    printf("%s %s %s: %u documents, %zu pairs, of which %.1f may be missing\n", argv[2], argv[3], argv[4],
           world.documents, world.count, world.allowed);
    free(world.pairs);
    free(world.found);
    free(world.first);
    twin_collection_free(world.collection);
    twin_input_free(input);
    return 0;
}

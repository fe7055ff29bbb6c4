/* test_shards.c — rows of bands become edges, edges become groups, and a collection of whole groups has the keepers that the
 * whole collection has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <twinsift/twinsift.h>

#include "base/random.h"

#include "sketch/signer.h"

enum { SLOTS = 128, SKETCH = SLOTS / 2 };

static size_t slow_different(const unsigned char *x, const unsigned char *y)
{
    size_t count = 0;
    for (size_t i = 0; i < SLOTS; i++)
        count += (x[i / 2] >> 4 * (i % 2) & 15) != (y[i / 2] >> 4 * (i % 2) & 15);
    return count;
}

static void a_sketch_never_differs_where_the_slots_agree(void **unused)
{
    (void)unused;
    twin_scheme scheme = twin_scheme_default();
    /* 0.8·128 less four standard errors: 102.4 - 4·√(128·0.8·0.2) = 84.3 */
    assert_int_equal(twin_shard_gate(&scheme), 84);
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        uint32_t a[SLOTS], b[SLOTS];
        unsigned char x[SKETCH], y[SKETCH];
        size_t different = 0;
        for (size_t i = 0; i < SLOTS; i++) {
            a[i] = (uint32_t)twin__random_next(&seed);
            b[i] = twin__random_below(&seed, 3) ? a[i] : (uint32_t)twin__random_next(&seed);
            different += a[i] != b[i];
        }
        twin_shard_sketch(x, a, &scheme);
        twin_shard_sketch(y, b, &scheme);
        for (size_t i = 0; i < SLOTS; i++)
            assert_int_equal(x[i / 2] >> 4 * (i % 2) & 15, a[i] & 15);
        assert_true(slow_different(x, y) <= different);
    }
    unsigned char odd[5] = { [4] = 7 };
    scheme.minhash.slots = 7;
    scheme.plan = (twin_plan){ 0 };
    twin_shard_sketch(odd, (uint32_t[]){ 1, 2, 3, 4, 5, 6, 15 }, &scheme);
    assert_memory_equal(odd, ((unsigned char[]){ 0x21, 0x43, 0x65, 0x0F, 7 }), sizeof odd);
    scheme.plan = (twin_plan){ 7, 2 }; /* more slots than there are */
    assert_int_equal(twin_shard_gate(&scheme), 0);
    scheme = twin_scheme_default();
    scheme.measure = TWIN_CONTAINMENT;
    assert_int_equal(twin_shard_gate(&scheme), 0);
    assert_int_equal(twin_shard_gate(NULL), 0);
}

/* ---- edges ---- */

struct edges {
    uint64_t *items; /* a, b, a, b, … */
    size_t count, capacity, stop_at;
};

static bool keep_edge(void *context, uint64_t a, uint64_t b)
{
    struct edges *edges = context;
    if (edges->count == edges->capacity) {
        edges->capacity = 2 * edges->capacity + 64;
        edges->items = realloc(edges->items, 2 * edges->capacity * sizeof *edges->items);
        assert_non_null(edges->items);
    }
    edges->items[2 * edges->count] = a < b ? a : b;
    edges->items[2 * edges->count++ + 1] = a < b ? b : a;
    return edges->count != edges->stop_at;
}

static int by_edge(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

static void sort_edges(struct edges *edges)
{
    if (edges->count)
        qsort(edges->items, edges->count, 2 * sizeof *edges->items, by_edge);
}

/* Buckets of 1 to 200 rows, among them of 63, 64 and 65. */
static size_t draw_rows(uint64_t *keys, uint64_t *documents, unsigned char *sketches, size_t most, uint64_t *seed)
{
    size_t count = 0;
    for (uint64_t key = 3; count + 200 < most; key += 1 + twin__random_below(seed, 1000)) {
        size_t bucket = key == 3                      ? 64
                        : twin__random_below(seed, 4) ? 1 + twin__random_below(seed, 9)
                                                      : 1 + twin__random_below(seed, 200);
        bucket = twin__random_below(seed, 10) == 0 ? 63 + twin__random_below(seed, 3) : bucket;
        for (size_t i = 0; i < bucket; i++, count++) {
            keys[count] = key;
            documents[count] = twin__random_below(seed, 2) ? twin__random_below(seed, 500) : twin__random_next(seed);
            for (size_t byte = 0; byte < SKETCH; byte++) /* about 44 of 128 places differ, the bound of the gate */
                sketches[count * SKETCH + byte] =
                    (unsigned char)(twin__random_below(seed, 100) < 80 ? key : twin__random_next(seed));
        }
    }
    return count;
}

static void slow_edges(struct edges *out, const uint64_t *keys, const uint64_t *documents,
                       const unsigned char *sketches, size_t count, size_t most)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && keys[end] == keys[begin]; end++)
            ;
        for (size_t i = begin; i < end; i++)
            for (size_t j = begin; j < i; j++) {
                bool is_star = end - begin >= 64;
                bool passes =
                    is_star ? j == begin : slow_different(sketches + i * SKETCH, sketches + j * SKETCH) <= most;
                if (passes && documents[i] != documents[j])
                    keep_edge(out, documents[i], documents[j]);
            }
    }
}

static void pieces_of_any_size_make_the_same_edges(void **unused)
{
    (void)unused;
    enum { ROWS = 4000 };
    uint64_t seed = 17, *keys = malloc(ROWS * sizeof *keys), *documents = malloc(ROWS * sizeof *documents);
    unsigned char *sketches = malloc(ROWS * SKETCH);
    twin_scheme scheme = twin_scheme_default();
    size_t count = draw_rows(keys, documents, sketches, ROWS, &seed);
    struct edges slow = { 0 };
    slow_edges(&slow, keys, documents, sketches, count, SLOTS - twin_shard_gate(&scheme));
    sort_edges(&slow);
    assert_true(slow.count > 1000);
    for (size_t longest = 1; longest < 2 * ROWS; longest *= 4) {
        struct edges found = { 0 };
        twin_edges *edges;
        assert_int_equal(twin_edges_create(&edges, &scheme, keep_edge, &found, NULL), TWIN_OK);
        for (size_t i = 0, some; i < count; i += some) {
            some = 1 + twin__random_below(&seed, longest);
            some = some < count - i ? some : count - i;
            twin_shard_rows rows = { keys + i, documents + i, sketches + i * SKETCH, some };
            assert_int_equal(twin_edges_add(edges, rows, NULL), TWIN_OK);
        }
        assert_int_equal(twin_edges_end(edges), TWIN_OK);
        twin_edges_free(edges);
        sort_edges(&found);
        assert_int_equal(found.count, slow.count);
        assert_memory_equal(found.items, slow.items, 2 * slow.count * sizeof *slow.items);
        free(found.items);
    }
    free(slow.items);
    free(keys);
    free(documents);
    free(sketches);
}

static void edges_end_when_the_visit_says_so(void **unused)
{
    (void)unused;
    twin_scheme scheme = twin_scheme_default();
    uint64_t keys[] = { 1, 1, 1, 2, 2 }, documents[] = { 1, 2, 3, 4, 5 }, falling[] = { 0 };
    unsigned char sketches[5 * SKETCH] = { 0 };
    struct edges found = { .stop_at = 2 };
    twin_edges *edges;
    assert_int_equal(twin_edges_create(&edges, &scheme, keep_edge, &found, NULL), TWIN_OK);
    assert_int_equal(twin_edges_add(edges, (twin_shard_rows){ keys, documents, sketches, 5 }, NULL), TWIN_ESTOPPED);
    assert_int_equal(found.count, 2);
    assert_int_equal(twin_edges_end(edges), TWIN_ESTOPPED);
    twin_edges_free(edges);
    free(found.items);
    found = (struct edges){ 0 };
    assert_int_equal(twin_edges_create(&edges, &scheme, keep_edge, &found, NULL), TWIN_OK);
    assert_int_equal(twin_edges_add(edges, (twin_shard_rows){ keys, documents, sketches, 5 }, NULL), TWIN_OK);
    assert_int_equal(twin_edges_add(edges, (twin_shard_rows){ falling, documents, sketches, 1 }, NULL), TWIN_EINVAL);
    assert_int_equal(twin_edges_end(edges), TWIN_OK);
    assert_int_equal(twin_edges_add(edges, (twin_shard_rows){ falling, documents, sketches, 1 }, NULL), TWIN_OK);
    twin_edges_free(edges);
    free(found.items);
    scheme.measure = TWIN_CONTAINMENT;
    assert_int_equal(twin_edges_create(&edges, &scheme, keep_edge, NULL, NULL), TWIN_EINVAL);
    assert_int_equal(twin_edges_create(&edges, NULL, keep_edge, NULL, NULL), TWIN_EINVAL);
}

/* ---- groups ---- */

/* By passing the smallest number on until nothing changes. */
static void slow_groups(uint64_t *groups, const uint64_t *documents, size_t documents_count, const uint64_t *a,
                        const uint64_t *b, size_t count)
{
    memcpy(groups, documents, documents_count * sizeof *groups);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            size_t x = 0, y = 0;
            while (documents[x] != a[i])
                x++;
            while (documents[y] != b[i])
                y++;
            uint64_t least = groups[x] < groups[y] ? groups[x] : groups[y];
            changed |= groups[x] != groups[y];
            groups[x] = groups[y] = least;
        }
    }
}

static void groups_are_connected_components(void **unused)
{
    (void)unused;
    enum { EDGES = 1500, PIECE = 100 };
    uint64_t seed = 23, a[EDGES], b[EDGES];
    twin_unions *unions;
    assert_int_equal(twin_unions_create(&unions), TWIN_OK);
    for (size_t i = 0; i < EDGES; i++) { /* numbers of all sizes, a few of them often */
        a[i] = twin__mix(twin__random_below(&seed, 1900)) << twin__random_below(&seed, 2) * 40;
        b[i] = twin__mix(twin__random_below(&seed, 1900)) << twin__random_below(&seed, 2) * 40;
    }
    for (size_t i = 0; i < EDGES; i += PIECE)
        assert_int_equal(twin_unions_add(unions, a + i, b + i, PIECE), TWIN_OK);
    size_t count = 0;
    assert_int_equal(twin_unions_list(NULL, NULL, &count, unions), TWIN_OK);
    uint64_t *documents = malloc(count * sizeof *documents), *groups = malloc(count * sizeof *groups);
    uint64_t *slow = malloc(count * sizeof *slow);
    assert_int_equal(twin_unions_list(documents, groups, &count, unions), TWIN_OK);
    for (size_t i = 1; i < count; i++)
        assert_true(documents[i - 1] < documents[i]);
    slow_groups(slow, documents, count, a, b, EDGES);
    assert_memory_equal(groups, slow, count * sizeof *slow);
    twin_unions *again; /* the groups of the groups are the same */
    assert_int_equal(twin_unions_create(&again), TWIN_OK);
    assert_int_equal(twin_unions_add(again, documents, groups, count), TWIN_OK);
    size_t same = count - 1;
    assert_int_equal(twin_unions_list(documents, slow, &same, again), TWIN_EINVAL);
    assert_int_equal(same, count);
    assert_int_equal(twin_unions_list(documents, slow, &same, again), TWIN_OK);
    assert_memory_equal(groups, slow, count * sizeof *slow);
    twin_unions_free(unions);
    twin_unions_free(again);
    free(documents);
    free(groups);
    free(slow);
}

/* ---- a collection in parts ---- */

enum { PAGES = 2400, WORDS = 120, ROOM = WORDS * 12 };

struct world {
    char *bytes; /* ROOM for each page */
    twin_text texts[PAGES];
    twin_scheme scheme;
    uint64_t groups[PAGES];
    uint32_t keepers[PAGES];
    double similarities[PAGES];
};

static size_t put_word(char *out, uint64_t number)
{
    size_t length = 0;
    for (uint64_t left = twin__mix(number) % 1000000; left > 0 || length < 3; left /= 20)
        out[length++] = (char)('a' + left % 20);
    out[length++] = ' ';
    return length;
}

/* Families of a few pages and one template of many, of all similarities; the rest are like no other. */
static void write_pages(struct world *world, uint64_t *seed)
{
    world->bytes = malloc((size_t)PAGES * ROOM);
    assert_non_null(world->bytes);
    for (size_t page = 0; page < PAGES; page++) {
        size_t kind = page * 7 % PAGES, family = kind < 600 ? 1 : kind < 1400 ? 2 + kind % 160 : 1000 + kind;
        uint64_t changed = twin__random_below(seed, WORDS / 6);
        char *out = world->bytes + page * ROOM;
        size_t length = 0;
        for (size_t i = 0; i < WORDS; i++) {
            bool own = twin__random_below(seed, WORDS) < changed;
            length += put_word(out + length, own ? twin__random_next(seed) : family * 1000 + i);
        }
        world->texts[page] = (twin_text){ out, length };
    }
}

static twin_dedup *dedup_of(twin_input **input, twin_collection **collection, const struct world *world,
                            const uint32_t *pages, size_t count)
{
    twin_memory_document *documents = calloc(count + 1, sizeof *documents);
    for (size_t i = 0; i < count; i++)
        documents[i].text = world->texts[pages[i]];
    twin_dedup *dedup;
    assert_int_equal(twin_input_from_texts(input, documents, count, (twin_input_options){ 0 }, NULL), TWIN_OK);
    twin_collection_options options = { .scheme = world->scheme };
    assert_int_equal(twin_collection_read(collection, *input, options, NULL), TWIN_OK);
    assert_int_equal(twin_dedup_find(&dedup, *collection, (twin_dedup_options){ 0 }, NULL), TWIN_OK);
    free(documents);
    return dedup;
}

static void decide(struct world *world, const uint32_t *pages, size_t count, uint32_t *keepers, double *similarities)
{
    twin_input *input;
    twin_collection *collection;
    twin_dedup *dedup = dedup_of(&input, &collection, world, pages, count);
    for (size_t i = 0; i < count; i++) {
        keepers[pages[i]] = pages[twin_dedup_keepers(dedup)[i]];
        similarities[pages[i]] = twin_dedup_similarities(dedup)[i];
    }
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
}

struct row {
    uint64_t key, document;
    unsigned char sketch[SKETCH];
};

static int by_key(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static bool unite(void *context, uint64_t a, uint64_t b)
{
    assert_int_equal(twin_unions_add(context, &a, &b, 1), TWIN_OK);
    return true;
}

/* As an engine would: signs, sorts rows, makes edges and unites them. */
static void find_groups(struct world *world)
{
    twin_signer *signer;
    twin_unions *unions;
    twin_edges *edges;
    uint32_t signature[SLOTS];
    size_t bands = world->scheme.plan.bands;
    uint64_t *keys = malloc(bands * sizeof *keys);
    struct row *rows = malloc(PAGES * bands * sizeof *rows);
    twin_sign_scratch scratch = { 0 };
    assert_int_equal(twin_signer_create(&signer, &world->scheme, NULL), TWIN_OK);
    assert_int_equal(twin_unions_create(&unions), TWIN_OK);
    assert_int_equal(twin_edges_create(&edges, &world->scheme, unite, unions, NULL), TWIN_OK);
    for (size_t page = 0; page < PAGES; page++) {
        world->groups[page] = page;
        assert_int_equal(twin__signer_text(signature, NULL, signer, &scratch, world->texts[page]), TWIN_OK);
        assert_int_equal(twin_band_keys(keys, signature, world->scheme.plan), TWIN_OK);
        for (size_t band = 0; band < bands; band++) {
            struct row *row = &rows[page * bands + band];
            *row = (struct row){ .key = keys[band], .document = page };
            twin_shard_sketch(row->sketch, signature, &world->scheme);
        }
    }
    qsort(rows, PAGES * bands, sizeof *rows, by_key);
    for (size_t i = 0; i < PAGES * bands; i++) {
        twin_shard_rows one = { &rows[i].key, &rows[i].document, rows[i].sketch, 1 };
        assert_int_equal(twin_edges_add(edges, one, NULL), TWIN_OK);
    }
    assert_int_equal(twin_edges_end(edges), TWIN_OK);
    size_t count = 0;
    assert_int_equal(twin_unions_list(NULL, NULL, &count, unions), TWIN_OK);
    uint64_t *documents = malloc((count + 1) * sizeof *documents), *groups = malloc((count + 1) * sizeof *groups);
    assert_int_equal(twin_unions_list(documents, groups, &count, unions), TWIN_OK);
    for (size_t i = 0; i < count; i++)
        world->groups[documents[i]] = groups[i];
    free(documents);
    free(groups);
    free(keys);
    free(rows);
    twin__sign_scratch_clear(&scratch);
    twin_edges_free(edges);
    twin_unions_free(unions);
    twin_signer_free(signer);
}

/* Divides the groups among some tasks, each of which decides by itself. */
static void check_tasks(struct world *world, size_t tasks)
{
    static uint32_t keepers[PAGES], pages[PAGES];
    static double similarities[PAGES];
    for (size_t task = 0; task < tasks; task++) {
        size_t count = 0;
        for (uint32_t page = 0; page < PAGES; page++)
            if (twin__mix(world->groups[page]) % tasks == task)
                pages[count++] = page;
        decide(world, pages, count, keepers, similarities);
    }
    assert_memory_equal(keepers, world->keepers, sizeof keepers);
    assert_memory_equal(similarities, world->similarities, sizeof similarities);
}

static void groups_decide_as_the_whole_does(void **unused)
{
    (void)unused;
    static const double thresholds[] = { 0.5, 0.8, 0.9 };
    static struct world world;
    static uint32_t all[PAGES];
    for (size_t i = 0; i < 3; i++) {
        uint64_t seed = 41 + i;
        write_pages(&world, &seed);
        world.scheme = twin_scheme_default();
        world.scheme.threshold = thresholds[i];
        world.scheme.plan = (twin_plan){ 0 };
        assert_int_equal(twin_scheme_complete(&world.scheme, NULL), TWIN_OK);
        for (uint32_t page = 0; page < PAGES; page++)
            all[page] = page;
        decide(&world, all, PAGES, world.keepers, world.similarities);
        size_t dropped = 0, groups = 0;
        find_groups(&world);
        for (size_t page = 0; page < PAGES; page++) {
            dropped += world.keepers[page] != page;
            groups += world.groups[page] == page;
            assert_int_equal(world.groups[page], world.groups[world.keepers[page]]);
        }
        assert_true(dropped > 100 && groups > 500);
        for (size_t tasks = 1; tasks <= 16; tasks *= 4)
            check_tasks(&world, tasks);
        free(world.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sketch_never_differs_where_the_slots_agree),
        cmocka_unit_test(pieces_of_any_size_make_the_same_edges),
        cmocka_unit_test(edges_end_when_the_visit_says_so),
        cmocka_unit_test(groups_are_connected_components),
        cmocka_unit_test(groups_decide_as_the_whole_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

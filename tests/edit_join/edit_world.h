/* edit_world.h — drawn texts as a collection, and its near pairs by an exhaustive comparison. */
#ifndef TEST_EDIT_WORLD_H
#define TEST_EDIT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <twinsift/edit_join.h>

#include "base/random.h"
#include "collection/contents.h"
#include "corpus.h"
#include "edit_join/edit_join_private.h"
#include "join/similar_private.h"
#include "scale.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

/* ---- texts ---- */

struct texts {
    char **items;
    size_t count;
};

static inline void add_text(struct texts *texts, const char *text)
{
    if ((texts->count & (texts->count - 1)) == 0) /* a power of two */
        texts->items = realloc(texts->items, (2 * texts->count + 1) * sizeof *texts->items);
    assert_non_null(texts->items);
    texts->items[texts->count] = strdup(text);
    assert_non_null(texts->items[texts->count++]);
}

static inline void texts_clear(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct texts){ 0 };
}

static inline char letter(uint64_t *seed, size_t letters)
{
    return (char)('a' + twin__random_below(seed, letters));
}

static inline void draw_text(char *out, size_t length, size_t letters, uint64_t *seed)
{
    for (size_t i = 0; i < length; i++)
        out[i] = letter(seed, letters);
    out[length] = '\0';
}

/* Inserts, deletes and replaces at random places; a text may grow by as many characters as there are edits. */
static inline void edit_text(char *text, size_t edits, size_t letters, uint64_t *seed)
{
    for (size_t i = 0; i < edits; i++) {
        size_t length = strlen(text), kind = twin__random_below(seed, 3), at = twin__random_below(seed, length + 1);
        if (kind == 0)
            memmove(text + at + 1, text + at, length - at + 1);
        if (kind != 1 && at < length + (kind == 0))
            text[at] = letter(seed, letters);
        else if (kind == 1 && at < length)
            memmove(text + at, text + at + 1, length - at);
    }
}

enum { LONGEST = 4096 };

/* Texts of `least` to `most` letters: half of them new, half edited from one that was there, at up to a tenth of
 * its places, some with more before their first letter. */
static inline void draw_texts(struct texts *texts, size_t count, size_t least, size_t most, size_t letters,
                              uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        char text[LONGEST];
        if (i == 0 || twin__random_below(&seed, 2) == 0) {
            draw_text(text, least + twin__random_below(&seed, most - least + 1), letters, &seed);
        } else {
            size_t front = twin__random_below(&seed, 4) == 0 ? twin__random_below(&seed, most / 20 + 2) : 0;
            const char *old = texts->items[twin__random_below(&seed, i)];
            draw_text(text, front, letters, &seed);
            memcpy(text + front, old, strlen(old) + 1);
            edit_text(text, twin__random_below(&seed, strlen(old) / 10 + 2), letters, &seed);
        }
        add_text(texts, text);
    }
}

/* ---- a collection of them ---- */

/* Static in every test, so that a test that fails half-way leaks nothing in the eyes of an analyser. */
struct world {
    struct corpus corpus;
    struct texts texts;
    twin_input *input;
    twin_collection *collection;
};

static inline twin_collection_options text_options(twin_exec exec)
{
    return (twin_collection_options){ .texts = true,
                                      .scheme.shingle.hash = twin_hash_member(TWIN_HASH_XXH3, 1),
                                      .exec = exec };
}

/* Reads what is in world->texts: letters, so that nothing needs to be escaped and nothing folds. */
static inline void world_read(struct world *world, twin_exec exec)
{
    corpus_begin(&world->corpus);
    FILE *file = fopen(corpus_path(&world->corpus, "texts.jsonl"), "wb");
    assert_non_null(file);
    for (size_t i = 0; i < world->texts.count; i++)
        fprintf(file, "{\"id\":%zu,\"text\":\"%s\"}\n", i, world->texts.items[i]);
    assert_int_equal(fclose(file), 0);
    world->input = open_input(world->corpus.path, (twin_input_options){ .chunk_bytes = 5000 });
    world->collection = read_collection(world->input, text_options(exec));
}

static inline void world_end(struct world *world)
{
    twin_collection_free(world->collection);
    twin_input_free(world->input);
    texts_clear(&world->texts);
    corpus_end(&world->corpus);
}

static inline twin_edit_join_options near_options(double ratio, size_t edits, twin_exec exec)
{
    return (twin_edit_join_options){ .ratio = ratio,
                                     .limit_edits = edits != TWIN_EDIT_FAR,
                                     .edits = edits,
                                     .minhash = { .sketch = TWIN_SKETCH_FAST, .slots = 128, .seed = 1 },
                                     .exec = exec };
}

static inline twin_similar *find(const struct world *world, twin_edit_join_options options)
{
    twin_similar *similar;
    twin_error error;
    twin_status status = twin_edit_join_find(&similar, world->collection, options, &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    return similar;
}

/* ---- the truth, by the textbook's table ---- */

/* The distance with (1) and without (0) replacements, and nothing clever. A distance beyond `limit` may be given as a smaller
 * one that is beyond it too: no entry of a later row is less than the least of a row. */
REFERENCE static size_t slow_distance(const char *a, const char *b, bool replacements, size_t limit)
{
    static uint32_t rows[2][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    uint32_t replacing = replacements ? 1 : 2;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t *up = rows[(i - 1) % 2], *row = rows[i % 2], least = row[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = (up[j] < row[j - 1] ? up[j] : row[j - 1]) + 1;
            uint32_t across = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : replacing);
            row[j] = best < across ? best : across;
            least = row[j] < least ? row[j] : least;
        }
        if (least > limit)
            return least;
    }
    return rows[n % 2][m];
}

/* The ratio of two texts that are near, and -1 of others. */
static inline double slow_ratio(const char *a, const char *b, twin_edit_join_options options)
{
    size_t n = strlen(a), m = strlen(b), apart = n < m ? m - n : n - m;
    if (options.ratio > 0 && (double)(n + m - apart) < options.ratio * (double)(n + m))
        return -1;
    if (options.edits != TWIN_EDIT_FAR &&
        (apart > options.edits || slow_distance(a, b, true, options.edits) > options.edits))
        return -1;
    size_t limit = (size_t)((1 - options.ratio) * (double)(n + m)) + 1; /* rounded up: the ratio decides */
    double ratio = n + m ? (double)(n + m - slow_distance(a, b, false, limit)) / (double)(n + m) : 1;
    return ratio >= options.ratio ? ratio : -1;
}

struct score {
    size_t near, found;
};

static inline bool is_copy(const struct texts *texts, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(texts->items[i], texts->items[j]) == 0)
            return true;
    return false;
}

/* Every match is true, to the last bit of its ratio, and in its place; adds to `score` how many there are to find and
 * how many were found. */
static inline void check(struct score *score, const struct world *world, const twin_similar *similar,
                         twin_edit_join_options options)
{
    const twin_match *matches;
    size_t count = twin__similar_matches(&matches, similar), at = 0;
    for (size_t a = 0; a < world->texts.count; a++) {
        if (is_copy(&world->texts, a))
            continue;
        for (size_t b = a + 1; b < world->texts.count; b++) {
            double ratio = slow_ratio(world->texts.items[a], world->texts.items[b], options);
            bool found = at < count && matches[at].a == a && matches[at].b == b;
            if (ratio < 0 || is_copy(&world->texts, b)) {
                assert_false(found);
                continue;
            }
            score->near++;
            score->found += found;
            if (found)
                assert_true(matches[at].similarity == ratio);
            at += found;
        }
    }
    assert_int_equal(at, count);
    assert_int_equal(twin_similar_count(similar).similar, count);
}

static inline void check_once(struct score *score, const struct world *world, twin_edit_join_options options)
{
    twin_similar *similar = find(world, options);
    check(score, world, similar, options);
    twin_similar_free(similar);
}

/* The same by what near texts share alone (keys.c), however long it takes; NULL when that is not possible. */
static inline twin_similar *find_by_keys(const struct world *world, twin_edit_join_options options)
{
    const uint32_t *distinct;
    size_t count = twin__collection_distinct(&distinct, world->collection), at = 0;
    uint32_t *order = malloc((count + 1) * sizeof *order);
    twin_similar *similar = calloc(1, sizeof *similar);
    struct twin__provider provider;
    assert_true(order && similar);
    assert_int_equal(twin__edit_join_complete(&options, world->collection, NULL), TWIN_OK);
    assert_int_equal(twin__collection_provider(&provider, world->collection, NULL, options.exec.workers), TWIN_OK);
    for (size_t length = 0; at < count; length++)
        for (size_t i = 0; i < count; i++)
            if (twin_collection_entry_of(world->collection, distinct[i]).size == length)
                order[at++] = distinct[i];
    twin_edit_scratch scratch = { 0 };
    struct twin__edit_pairs pairs = { 0 };
    struct twin__edit_class class = { .documents = order,
                                      .middle = count,
                                      .count = count,
                                      .provider = &provider,
                                      .options = options,
                                      .scratch = &scratch,
                                      .similar = similar,
                                      .pairs = &pairs };
    bool done;
    similar->collection = world->collection;
    assert_int_equal(twin__edit_join_by_keys(&done, &class, (double)INFINITY, NULL), TWIN_OK);
    assert_int_equal(twin__edit_pairs_sort(&pairs), TWIN_OK);
    struct twin__packed_pairs packed = { pairs.items, pairs.count };
    assert_int_equal(twin__packed_pairs_unpack(&similar->matches, packed, world->collection), TWIN_OK);
    free(pairs.items);
    similar->counts.similar = similar->matches.count;
    twin__collection_provider_clear(&provider);
    twin__edit_scratch_clear(&scratch);
    free(order);
    if (done)
        return similar;
    twin_similar_free(similar);
    return NULL;
}

static inline void expect_same_matches(const twin_similar *reference, const twin_similar *similar)
{
    const twin_match *expected, *matches;
    size_t count = twin__similar_matches(&expected, reference);
    assert_int_equal(twin__similar_matches(&matches, similar), count);
    for (size_t i = 0; i < count; i++)
        assert_true(matches[i].a == expected[i].a && matches[i].b == expected[i].b &&
                    matches[i].similarity == expected[i].similarity);
}

static inline void expect_same(const twin_similar *reference, twin_similar *similar)
{
    expect_same_matches(reference, similar);
    assert_int_equal(twin_similar_count(similar).verified, twin_similar_count(reference).verified);
    assert_int_equal(twin_similar_count(similar).candidates, twin_similar_count(reference).candidates);
    twin_similar_free(similar);
}

#endif

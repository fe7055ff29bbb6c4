/* world.h — generated documents, and their sets, to compare all pairs of. */
#ifndef TWIN_TESTS_DEDUP_WORLD_H
#define TWIN_TESTS_DEDUP_WORLD_H

#include <stdio.h>
#include <string.h>
#include <twinsift/dedup.h>

#include "base/random.h"
#include "collection/contents.h"
#include "corpus.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "sketch/set.h"

/* Texts are words in any order, so that a text is its set of words: WORDS of them, or a few times as many. */
enum { WORDS = 60, TEXT_ROOM = 6 * WORDS * 8, MOST_DOCUMENTS = 6000 };

static struct world {
    twin_memory_document documents[MOST_DOCUMENTS];
    char texts[MOST_DOCUMENTS][TEXT_ROOM];
    size_t count;
    twin_items sets[MOST_DOCUMENTS]; /* once they are loaded */
} world;

static inline void add_words(const uint64_t *words, size_t count)
{
    char *text = world.texts[world.count];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, TEXT_ROOM - length, "%llx ", (unsigned long long)words[i]);
    world.documents[world.count++] = (twin_memory_document){ .text = { text, length } };
}

static inline void shuffle(uint64_t *seed)
{
    for (size_t i = world.count; i-- > 1;) {
        size_t j = twin__random_below(seed, i + 1);
        twin_memory_document spare = world.documents[i];
        world.documents[i] = world.documents[j];
        world.documents[j] = spare;
    }
}

static inline twin_collection *read_documents(twin_input **input, double threshold, twin_plan plan, twin_exec exec)
{
    twin_collection_options options = plain_options("word:1");
    options.exec = exec;
    options.scheme.threshold = threshold;
    options.scheme.plan = plan;
    assert_int_equal(twin_input_from_texts(input, world.documents, world.count, (twin_input_options){ 0 }, NULL),
                     TWIN_OK);
    return read_collection(*input, options);
}

static inline twin_dedup *find(const twin_collection *collection, twin_dedup_options options)
{
    twin_dedup *dedup;
    twin_error error;
    assert_good(twin_dedup_find(&dedup, collection, options, &error), &error);
    return dedup;
}

/* The matches that decide who is kept, or with options.chain which components there are, and how they were searched. */
static inline twin_similar_counts find_deciding(twin_matches *out, const twin_collection *collection, twin_exec exec,
                                                struct twin__deciding_options options)
{
    struct twin__provider provider;
    twin_similar_options search = { .exec = exec };
    twin_similar_counts counts = { 0 };
    options.search = &search;
    assert_int_equal(twin__similar_complete(&search, twin__collection_scheme(collection), NULL), TWIN_OK);
    assert_int_equal(twin__collection_provider(&provider, collection, NULL, search.exec.workers), TWIN_OK);
    assert_int_equal(twin__engine_find_part(out, &counts, &provider, &options, (struct twin__engine_part){ 0 }, NULL),
                     TWIN_OK);
    twin__collection_provider_clear(&provider);
    return counts;
}

/* ---- sets ---- */

static inline twin_set set_of(size_t document)
{
    return (twin_set){ world.sets[document].items, world.sets[document].count };
}

static inline void load_sets(const twin_collection *collection)
{
    twin_scratch scratch = { 0 };
    for (uint32_t d = 0; d < world.count; d++) {
        twin_set set;
        twin_items *items = &world.sets[d];
        assert_int_equal(twin__collection_set(&set, collection, &scratch, d, NULL), TWIN_OK);
        items->count = 0;
        assert_int_equal(twin__items_reserve(items, set.count), TWIN_OK);
        memcpy(items->items, set.items, set.count * sizeof *set.items);
        items->count = set.count;
    }
    twin__scratch_clear(&scratch);
}

static inline void free_sets(void)
{
    for (size_t d = 0; d < MOST_DOCUMENTS; d++)
        twin__items_clear(&world.sets[d]);
}

#endif

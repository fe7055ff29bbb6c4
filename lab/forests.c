/* forests.c — the strings and forests of two experiments of Sokolov 2007. */
#include "forests.h"

#include "edit/embed.h"
#include "lsh/forest.h"

#include <stdlib.h>
#include <string.h>

void draw_strings(struct strings *out, enum keeping keeping, uint64_t seed)
{
    unsigned used[FURTHEST + 1] = { 0 };
    uint64_t state = seed;
    draw_letters(out->centre, LENGTH, &state);
    for (size_t i = 0; i < STRINGS; i++) {
        unsigned from = i < STRINGS / 2 ? NEAREST : NEAR + 1, to = i < STRINGS / 2 ? NEAR : FURTHEST, edits;
        do
            edits = from + (unsigned)draw_below(&state, to - from + 1);
        while (used[edits] == PER_DISTANCE);
        used[edits]++;
        out->edits[i] = edits;
        draw_edited(out->texts[i], out->centre, LENGTH, edits, keeping, &state);
    }
}

void make_vectors(struct vectors *out, const struct strings *strings, twin__embed_preset preset, size_t depth,
                  uint64_t seed)
{
    twin__embedder *embedder;
    twin__embed_scratch scratch = { 0 };
    uint64_t state = seed;
    out->strings = strings;
    out->depth = depth;
    out->labels = need((STRINGS + 1) * TREES * depth, sizeof *out->labels);
    expect(twin__embedder_create(&embedder, twin__embed_options_for(preset, LENGTH, TREES * depth, draw(&state))),
           "embedder", NULL);
    for (size_t i = 0; i <= STRINGS; i++) {
        twin_text text = { i < STRINGS ? strings->texts[i] : strings->centre, LENGTH };
        expect(twin__embed_vector(out->labels + i * TREES * depth, embedder, &scratch, text), "vector", NULL);
    }
    for (uint32_t i = 0; i < STRINGS; i++) {
        size_t j = draw_below(&state, i + 1);
        out->ids[i] = out->ids[j];
        out->ids[j] = i;
    }
    for (uint32_t i = 0; i < STRINGS; i++)
        out->string_of_id[out->ids[i]] = i;
    twin__embedder_free(embedder);
    twin__embed_scratch_clear(&scratch);
}

void query_forest(struct answer *out, const struct vectors *vectors, size_t first, size_t trees, size_t most)
{
    twin__forest *forest;
    twin__forest_candidate candidates[MOST];
    twin__forest_scratch scratch = { 0 };
    expect(twin__forest_create(&forest, (twin__forest_options){ trees, vectors->depth, first }), "forest", NULL);
    for (size_t i = 0; i < STRINGS; i++)
        expect(twin__forest_add(forest, vectors->ids[i], vectors->labels + (i * TREES + first) * vectors->depth),
               "adding", NULL);
    expect(twin__forest_query(candidates, &out->count, forest, &scratch,
                              vectors->labels + (STRINGS * TREES + first) * vectors->depth,
                              (twin__forest_query_options){ most, 0 }),
           "querying", NULL);
    for (size_t i = 0; i < out->count; i++)
        out->found[i] =
            (struct found){ vectors->strings->edits[vectors->string_of_id[candidates[i].id]], candidates[i].level };
    twin__forest_scratch_clear(&scratch);
    twin__forest_free(forest);
}

void climb(struct answer *out, const struct vectors *vectors, size_t tree, size_t most)
{
    unsigned levels[STRINGS];
    const size_t depth = vectors->depth;
    const uint32_t *query = vectors->labels + (STRINGS * TREES + tree) * depth;
    for (size_t i = 0; i < STRINGS; i++) {
        const uint32_t *labels = vectors->labels + (i * TREES + tree) * depth;
        for (levels[i] = 0; levels[i] < depth && labels[levels[i]] == query[levels[i]];)
            levels[i]++;
    }
    out->count = 0;
    for (unsigned level = (unsigned)depth; level > 0 && out->count < most; level--)
        for (size_t id = 0; id < STRINGS && out->count < most; id++)
            if (levels[vectors->string_of_id[id]] == level)
                out->found[out->count++] =
                    (struct found){ vectors->strings->edits[vectors->string_of_id[id]], level };
}

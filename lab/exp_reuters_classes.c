/* exp_reuters_classes.c — the part of reuters-duplicates with the defaults of twinsift: whole texts, not padded.
 *
 * Only texts of similar length are compared. Lengths are divided into overlapping classes, each with an embedder of its
 * own, and the pairs that agree in K labels are compared exactly. */
#include "label_keys.h"

#include "edit/edit.h"
#include "edit/embed.h"

#include <stdlib.h>

enum { CLASSES = 400 };
#define CLASS_RATIO 1.1

struct classes {
    const twin_text *texts;
    struct member *members;
    size_t count;
    twin__embedder *embedders[CLASSES];
    struct keys *keys;
};

static void prepare(struct classes *c, const struct lab *lab)
{
    for (size_t i = 0; i < c->count; i++) {
        twin__embed_class class = c->members[i].class;
        twin__embed_options options = twin__embed_options_for(TWIN__EMBED_DEFAULT, class.shortest, TREES * DEEPEST,
                                                              seed_of(lab->seed, 5100 + class.number));
        if (!c->embedders[class.number])
            expect(twin__embedder_create(&c->embedders[class.number], options), "embedder", NULL);
    }
}

static void fold_members(void *context, size_t begin, size_t end, int worker)
{
    const struct classes *c = context;
    twin__embed_scratch scratch = { 0 };
    uint32_t *labels = need(TREES * DEEPEST, sizeof *labels);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const struct member *m = &c->members[i];
        expect(twin__embed_vector(labels, c->embedders[m->class.number], &scratch, c->texts[m->text]), "vector",
               NULL);
        fold_labels(&c->keys[i], labels, m->class.number + 1);
    }
    twin__embed_scratch_clear(&scratch);
    free(labels);
}

/* Adds the pairs of one tree; false when there are too many to examine. */
static bool add_pairs(struct scored_pairs *out, const struct classes *c, size_t tree, size_t depth)
{
    enum { TOO_MANY = 200000 };
    struct entry *entries = need(c->count, sizeof *entries);
    for (size_t i = 0; i < c->count; i++)
        entries[i] = (struct entry){ c->keys[i].at[tree][depth], c->members[i].text };
    qsort(entries, c->count, sizeof *entries, compare_entries);
    for (size_t i = 0, end; i < c->count && out->count < TOO_MANY; i = end) {
        end = end_of_run(entries, i, c->count);
        for (size_t j = i; j < end; j++)
            for (size_t k = j + 1; k < end && out->count < TOO_MANY; k++)
                scored_add(out, entries[j].text, entries[k].text, 0);
    }
    free(entries);
    return out->count < TOO_MANY;
}

/* How similar the found pairs are: identical, and with a ratio of at least 0.95 and 0.85. */
struct nearness {
    size_t texts, pairs, identical, close, near;
};

static struct nearness examine(const struct classes *c, const struct scored_pairs *pairs, size_t texts)
{
    struct nearness out = { .pairs = pairs->count };
    twin_edit_scratch scratch = { 0 };
    bool *marks = need(texts, 1);
    for (size_t i = 0; i < pairs->count; i++) {
        double ratio;
        uint32_t a = pairs->pairs[i].a, b = pairs->pairs[i].b;
        expect(twin__edit_ratio(&ratio, &scratch, c->texts[a], c->texts[b], TWIN_EDIT_BYTES, 0.85), "ratio", NULL);
        marks[a] = marks[b] = true;
        out.identical += ratio == 1;
        out.close += ratio >= 0.95;
        out.near += ratio >= 0.85;
    }
    out.texts = count_marks(marks, texts);
    twin__edit_scratch_clear(&scratch);
    free(marks);
    return out;
}

void run_classes(struct lab *lab, const struct reuters *reuters, size_t count)
{
    struct classes c = { .texts = reuters->texts };
    struct table table;
    struct nearness deepest = { 0 };
    c.count = members_of(&c.members, c.texts, count, CLASS_RATIO, CLASSES);
    prepare(&c, lab);
    c.keys = need(c.count, sizeof *c.keys);
    twin_exec_for(lab->exec, c.count, 64, fold_members, &c);
    say(lab, "The defaults of twinsift: whole texts, not padded, in classes of similar length (ratio %.1f).",
        CLASS_RATIO);
    table_begin(&table, "reuters-duplicates-default",
                "L\tK\ttexts\tpairs\tidentical\tratio ≥ 0.95\tratio ≥ 0.85\tshare ≥ 0.85");
    for (size_t trees = 1; trees <= TREES; trees += TREES - 1)
        for (size_t d = 1; d < DEPTHS; d++) {
            struct scored_pairs pairs = { 0 };
            bool all = true;
            for (size_t t = 0; t < trees && all; t++)
                all = add_pairs(&pairs, &c, t, d);
            scored_unite(&pairs);
            struct nearness n = all ? examine(&c, &pairs, count) : (struct nearness){ 0 };
            if (all)
                table_row(&table, "%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%.3f", trees, depths[d], n.texts, n.pairs,
                          n.identical, n.close, n.near, n.pairs ? (double)n.near / (double)n.pairs : 0);
            else
                table_row(&table, "%zu\t%zu\tmany\tmany\t–\t–\t–\t–", trees, depths[d]);
            if (d == DEPTHS - 1 && trees == 1)
                deepest = n;
            free(pairs.pairs);
        }
    table_end(lab, &table);
    size_t identical = count_identical(reuters->texts, count, SIZE_MAX).pairs;
    claim(
        lab, deepest.identical == identical && deepest.pairs == deepest.near,
        "defaults, K = 200, L = 1: all %zu pairs of identical texts are among the %zu pairs found, and all of these "
        "have a ratio ≥ 0.85 (%zu)",
        identical, deepest.pairs, deepest.near);
    for (size_t i = 0; i < CLASSES; i++)
        twin__embedder_free(c.embedders[i]);
    free(c.members);
    free(c.keys);
}

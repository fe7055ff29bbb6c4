/* exp_reuters.c — reuters-duplicates: texts that agree in whole hash vectors (D). */
#include "lab.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { TREES = 5, DEPTHS = 6, LENGTHS = 6, DEEPEST = 200, TEXTS = 21578 };
static const size_t depths[DEPTHS] = { 5, 10, 25, 50, 100, 200 }; /* K */
static const size_t lengths[LENGTHS] = { 100, 150, 250, 500, 1000, 2000 };

/* Document D's counts of texts that have a duplicate, with one tree and with five. */
static const unsigned reference[2][DEPTHS][LENGTHS] = {
    { { 8715, 7780, 5670, 5450, 10244, 15595 },
      { 409, 379, 806, 2124, 4721, 11109 },
      { 371, 350, 329, 553, 1875, 4280 },
      { 371, 349, 325, 376, 1444, 3409 },
      { 370, 346, 322, 305, 271, 584 },
      { 369, 346, 322, 305, 261, 264 } },
    { { 15513, 14532, 11858, 9593, 12436, 16536 },
      { 973, 1251, 2418, 4552, 8407, 14815 },
      { 689, 629, 615, 1832, 3769, 7238 },
      { 674, 600, 523, 672, 2245, 4266 },
      { 666, 595, 513, 487, 505, 1592 },
      { 661, 591, 511, 467, 422, 591 } },
};

/* Pairs of texts that are the same once they are cut; known for all texts (0: not known). */
static const size_t identical_pairs[LENGTHS] = { 465, 445, 410, 374, 330, 0 };

/* What stands for the first K labels in each tree. */
struct keys {
    uint64_t at[TREES][DEPTHS];
};

static void fold_labels(struct keys *out, const uint32_t *labels, uint64_t start)
{
    for (size_t t = 0; t < TREES; t++) {
        uint64_t key = start;
        for (size_t k = 0, d = 0; k < DEEPEST; k++) {
            key = twin_hash_mix(key * 3 + labels[t * DEEPEST + k] + 1);
            if (k + 1 == depths[d])
                out->at[t][d++] = key;
        }
    }
}

/* An entry of a tree: who has which key. */
struct entry {
    uint64_t key;
    uint32_t text;
};

static int compare_entries(const void *one, const void *other)
{
    const struct entry *x = one, *y = other;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

static size_t end_of_run(const struct entry *entries, size_t begin, size_t count)
{
    size_t end = begin + 1;
    while (end < count && entries[end].key == entries[begin].key)
        end++;
    return end;
}

/* Marks the texts that share a key with another; returns the number of pairs that do. */
static size_t mark_runs(bool *marks, struct entry *entries, size_t count)
{
    size_t pairs = 0;
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_run(entries, i, count);
        pairs += (end - i) * (end - i - 1) / 2;
        for (size_t j = i; j < end && end - i > 1; j++)
            marks[entries[j].text] = true;
    }
    return pairs;
}

static size_t count_marks(const bool *marks, size_t count)
{
    size_t marked = 0;
    for (size_t i = 0; i < count; i++)
        marked += marks[i];
    return marked;
}

/* ---- cut and padded, as document D has it */

struct padded {
    const struct lab *lab;
    const twin_text *texts;
    size_t count, n;
    twin_embedder *embedder;
    struct keys *keys;
};

static void pad(char *out, twin_text text, size_t n)
{
    size_t length = text.length < n ? text.length : n;
    memcpy(out, text.bytes, length);
    memset(out + length, '_', n - length);
}

static void fold_padded(void *context, size_t begin, size_t end, int worker)
{
    const struct padded *p = context;
    twin_embed_scratch scratch = { 0 };
    char *text = need(p->n, 1);
    uint32_t *labels = need(TREES * DEEPEST, sizeof *labels);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        pad(text, p->texts[i], p->n);
        expect(twin_embed_vector(labels, p->embedder, &scratch, (twin_text){ text, p->n }), "vector", NULL);
        fold_labels(&p->keys[i], labels, 0);
    }
    twin_embed_scratch_clear(&scratch);
    free(text);
    free(labels);
}

/* What the trees find at one depth. */
struct tally {
    double texts, least, most, pairs; /* of one tree: mean, least and most of five */
    size_t united, first_pairs;       /* texts by all five; pairs by the first */
};

static struct tally tally_of(const struct padded *p, size_t depth)
{
    struct tally out = { .least = 1e9 };
    struct entry *entries = need(p->count, sizeof *entries);
    bool *all = need(p->count, 1), *one = need(p->count, 1);
    for (size_t t = 0; t < TREES; t++) {
        memset(one, 0, p->count);
        for (size_t i = 0; i < p->count; i++)
            entries[i] = (struct entry){ p->keys[i].at[t][depth], (uint32_t)i };
        size_t pairs = mark_runs(one, entries, p->count);
        double texts = (double)count_marks(one, p->count);
        out.texts += texts / TREES;
        out.pairs += (double)pairs / TREES;
        out.least = texts < out.least ? texts : out.least;
        out.most = texts > out.most ? texts : out.most;
        out.first_pairs = t == 0 ? pairs : out.first_pairs;
        for (size_t i = 0; i < p->count; i++)
            all[i] |= one[i];
    }
    out.united = count_marks(all, p->count);
    free(entries);
    free(all);
    free(one);
    return out;
}

/* The pairs of texts that are the same up to n bytes, and the texts in them. */
static size_t count_identical(size_t *texts, const struct padded *p)
{
    const twin_hash hash = { .family = TWIN_HASH_XXH3, .seed = 21578 };
    struct entry *entries = need(p->count, sizeof *entries);
    bool *marks = need(p->count, 1);
    for (size_t i = 0; i < p->count; i++) {
        twin_text cut = text_cut(p->texts[i], p->n);
        entries[i] = (struct entry){ twin_hash_bytes(hash, cut.bytes, cut.length), (uint32_t)i };
    }
    size_t pairs = mark_runs(marks, entries, p->count);
    *texts = count_marks(marks, p->count);
    free(entries);
    free(marks);
    return pairs;
}

static void print_counts(struct lab *lab, struct tally (*tallies)[LENGTHS], size_t five)
{
    char name[64];
    struct table table;
    snprintf(name, sizeof name, "reuters-duplicates-L%d", five ? TREES : 1);
    table_begin(
        &table, name,
        "K\tn=100\treference\t150\treference\t250\treference\t500\treference\t1000\treference\t2000\treference");
    say(lab, "Texts found to have a duplicate, L = %d%s:", five ? TREES : 1, five ? "" : " (mean of five trees)");
    for (size_t d = 0; d < DEPTHS; d++) {
        char line[512];
        int used = snprintf(line, sizeof line, "%zu", depths[d]);
        for (size_t l = 0; l < LENGTHS; l++) {
            double texts = five ? (double)tallies[d][l].united : tallies[d][l].texts;
            char said[16] = "–"; /* the reference is of the whole collection */
            if (!lab->quick)
                snprintf(said, sizeof said, "%u", reference[five][d][l]);
            used += snprintf(line + used, sizeof line - (size_t)used, "\t%.0f\t%s", texts, said);
        }
        table_row(&table, "%s", line);
    }
    table_end(lab, &table);
}

static void plot_counts(struct lab *lab)
{
    static const size_t drawn[] = { 5, 10, 50, 200 };
    FILE *script = plot_begin();
    fputs("set xlabel 'n'\nset ylabel 'texts with a duplicate, L = 1'\nset logscale xy\nset key top left maxrows 5\n"
          "set datafile missing NaN\nset xtics (100, 150, 250, 500, 1000, 2000)\nplot [90:2200][50:200000] ",
          script);
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        fprintf(script,
                "'reuters-duplicates.tsv' skip 1 using ($1==1 && $2==%zu ? $3 : NaN):5:6:7 with yerrorlines ls %zu "
                "title 'K = "
                "%zu', ",
                drawn[i], i + 2, drawn[i]);
        if (!lab->quick)
            fprintf(script,
                    "'' skip 1 using ($1==1 && $2==%zu ? $3 : NaN):4 with linespoints ls %zu pt 2 dt '-' title "
                    "'reference', ",
                    drawn[i], i + 2);
    }
    fputs("'' skip 1 using ($1==1 && $2==200 ? $3 : NaN):9 with lines ls 1 title 'in pairs of identical texts'\n",
          script);
    plot_end(lab, script, "reuters-duplicates",
             "Texts of Reuters-21578 that share K labels with another, cut or padded to n; bars: the least and most "
             "of five "
             "trees.");
}

/* K = 200: every identical pair, and how many more. */
static void claim_identical(struct lab *lab, const struct padded *p, size_t length, const struct tally *deep)
{
    size_t texts, identical = count_identical(&texts, p);
    bool known = !lab->quick && identical_pairs[length] > 0;
    if (known)
        claim(lab, identical == identical_pairs[length],
              "n = %zu: %zu pairs of identical texts (%zu expected), in %zu texts", p->n, identical,
              identical_pairs[length], texts);
    claim(lab,
          deep->first_pairs >= identical && (p->n > 500 || (double)deep->first_pairs < 1.05 * (double)identical + 2),
          "n = %zu: K = 200, L = 1 finds %zu pairs, of which %zu are identical", p->n, deep->first_pairs, identical);
}

static void run_padded(struct lab *lab, const struct reuters *reuters, size_t count)
{
    struct tally tallies[DEPTHS][LENGTHS];
    struct table table;
    table_begin(&table, "reuters-duplicates", "L\tK\tn\treference\ttexts\tleast\tmost\tpairs\tidentical texts");
    for (size_t l = 0; l < LENGTHS; l++) {
        struct padded p = { lab, reuters->texts, count, lengths[l], NULL, need(count, sizeof *p.keys) };
        size_t texts;
        count_identical(&texts, &p);
        expect(twin_embedder_create(&p.embedder, twin_embed_options_for(TWIN_EMBED_PAPER, p.n, TREES * DEEPEST,
                                                                        seed_of(lab->seed, 5000 + l))),
               "embedder", NULL);
        twin_exec_for(lab->exec, count, 64, fold_padded, &p);
        for (size_t d = 0; d < DEPTHS; d++) {
            struct tally *t = &tallies[d][l];
            *t = tally_of(&p, d);
            table_row(&table, "1\t%zu\t%zu\t%u\t%.1f\t%.0f\t%.0f\t%.1f\t%zu", depths[d], p.n, reference[0][d][l],
                      t->texts, t->least, t->most, t->pairs, texts);
            table_row(&table, "5\t%zu\t%zu\t%u\t%zu\t–\t–\t–\t%zu", depths[d], p.n, reference[1][d][l], t->united,
                      texts);
        }
        claim_identical(lab, &p, l, &tallies[DEPTHS - 1][l]);
        twin_embedder_free(p.embedder);
        free(p.keys);
        progress(lab, l + 1, LENGTHS + 1);
    }
    table_write_only(lab, &table);
    print_counts(lab, tallies, 0);
    print_counts(lab, tallies, 1);
    plot_counts(lab);
}

/* ---- whole texts in classes of like length, by default parameters */

enum { CLASSES = 400 };
#define CLASS_RATIO 1.1

/* A text in a class of lengths. */
struct member {
    uint32_t text;
    twin_embed_class class;
};

struct classes {
    const twin_text *texts;
    struct member *members;
    size_t count;
    twin_embedder *embedders[CLASSES];
    struct keys *keys;
};

static void gather_members(struct classes *out, const struct lab *lab, size_t texts)
{
    for (size_t i = 0; i < texts; i++) {
        twin_embed_class found[TWIN_EMBED_MAX_CLASSES];
        size_t count = twin_embed_length_classes(found, out->texts[i].length, CLASS_RATIO);
        for (size_t c = 0; c < count; c++) {
            size_t number = found[c].number;
            if (number >= CLASSES)
                trouble("a text of %zu bytes is in class %zu", out->texts[i].length, number);
            out->members[out->count++] = (struct member){ (uint32_t)i, found[c] };
            if (!out->embedders[number])
                expect(
                    twin_embedder_create(&out->embedders[number],
                                         twin_embed_options_for(TWIN_EMBED_DEFAULT, found[c].shortest,
                                                                TREES * DEEPEST, seed_of(lab->seed, 5100 + number))),
                    "embedder", NULL);
        }
    }
}

static void fold_members(void *context, size_t begin, size_t end, int worker)
{
    const struct classes *c = context;
    twin_embed_scratch scratch = { 0 };
    uint32_t *labels = need(TREES * DEEPEST, sizeof *labels);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const struct member *m = &c->members[i];
        expect(twin_embed_vector(labels, c->embedders[m->class.number], &scratch, c->texts[m->text]), "vector", NULL);
        fold_labels(&c->keys[i], labels, m->class.number + 1);
    }
    twin_embed_scratch_clear(&scratch);
    free(labels);
}

/* Adds the pairs of one tree; false when there are too many to look at each. */
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

/* How near the found pairs are: identical, and of a ratio of at least 0.95 and 0.85. */
struct nearness {
    size_t texts, pairs, identical, close, near;
};

static struct nearness look_at(const struct classes *c, const struct scored_pairs *pairs, size_t texts)
{
    struct nearness out = { .pairs = pairs->count };
    twin_edit_scratch scratch = { 0 };
    bool *marks = need(texts, 1);
    for (size_t i = 0; i < pairs->count; i++) {
        double ratio;
        uint32_t a = pairs->pairs[i].a, b = pairs->pairs[i].b;
        expect(twin_edit_ratio(&ratio, &scratch, c->texts[a], c->texts[b], TWIN_EDIT_BYTES, 0.85), "ratio", NULL);
        marks[a] = marks[b] = true;
        out.identical += ratio == 1;
        out.close += ratio >= 0.95;
        out.near += ratio >= 0.85;
    }
    out.texts = count_marks(marks, texts);
    twin_edit_scratch_clear(&scratch);
    free(marks);
    return out;
}

static void run_classes(struct lab *lab, const struct reuters *reuters, size_t count)
{
    struct classes c = { .texts = reuters->texts };
    struct table table;
    struct nearness deepest = { 0 };
    c.members = need(TWIN_EMBED_MAX_CLASSES * count, sizeof *c.members);
    gather_members(&c, lab, count);
    c.keys = need(c.count, sizeof *c.keys);
    twin_exec_for(lab->exec, c.count, 64, fold_members, &c);
    say(lab, "The default: whole texts, nothing padded, in classes of like length (ratio %.1f).", CLASS_RATIO);
    table_begin(&table, "reuters-duplicates-default",
                "L\tK\ttexts\tpairs\tidentical\tratio ≥ 0.95\tratio ≥ 0.85\tshare ≥ 0.85");
    for (size_t trees = 1; trees <= TREES; trees += TREES - 1)
        for (size_t d = 1; d < DEPTHS; d++) {
            struct scored_pairs pairs = { 0 };
            bool all = true;
            for (size_t t = 0; t < trees && all; t++)
                all = add_pairs(&pairs, &c, t, d);
            scored_unite(&pairs);
            struct nearness n = all ? look_at(&c, &pairs, count) : (struct nearness){ 0 };
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
    struct padded whole = { lab, reuters->texts, count, SIZE_MAX, NULL, NULL };
    size_t texts, identical = count_identical(&texts, &whole);
    claim(lab, deepest.identical == identical && deepest.pairs == deepest.near,
          "the default, K = 200, L = 1: all %zu pairs of identical whole texts among %zu pairs, and all of these "
          "have a ratio ≥ 0.85 (%zu)",
          identical, deepest.pairs, deepest.near);
    for (size_t i = 0; i < CLASSES; i++)
        twin_embedder_free(c.embedders[i]);
    free(c.members);
    free(c.keys);
}

void exp_reuters_duplicates(struct lab *lab)
{
    struct reuters reuters;
    if (!reuters_read(&reuters, lab))
        return;
    size_t count = lab->quick && reuters.count > 2000 ? 2000 : reuters.count;
    say(lab,
        "%zu texts, lower-cased letters and digits, cut or padded to n, parameters of the paper; two are duplicates "
        "when the first K "
        "labels agree in one of L trees.",
        count);
    claim(lab, reuters.count == TEXTS, "%zu texts in the collection (%d)", reuters.count, (int)TEXTS);
    run_padded(lab, &reuters, count);
    run_classes(lab, &reuters, count);
    reuters_clear(&reuters);
}

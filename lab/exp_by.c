/* exp_by.c — forest-vs-by: hash vectors and Bar-Yossef features in a forest, against exact pairs (Sokolov 2007).
 *
 * Texts of Reuters-21578 are embedded by four methods, stored in LSH forests, one per class of lengths, and queried.
 * The candidate pairs, ranked by a score or verified, are compared with all pairs of a given indel ratio (gold.c). */
#include "edit/edit.h"
#include "edit/embed.h"
#include "lsh/forest.h"
#include "sketch/minhash.h"
#include "support/usage.h"
#include "texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TREES = 20,
    DEPTH = 16,
    LABELS = TREES * DEPTH,
    CLASSES = 100,
    MOST = 100,
    LENGTHS = 2,
    GOLDS = 3,
    METHODS = 4
};
static const size_t lengths[LENGTHS] = { 250, 500 };
static const double golds[GOLDS] = { 0.85, 0.95, 0.99 };
#define CLASS_RATIO ((2 - 0.85) / 0.85) /* texts whose lengths differ more cannot have a ratio of 0.85 */

/* How texts become labels: hash vectors by a preset, or MinHash of features planned for `edits` edits. */
static const struct method {
    const char *name;
    twin__embed_preset preset;
    size_t edits;
} methods[METHODS] = {
    { "default", TWIN__EMBED_DEFAULT, 0 },
    { "paper", TWIN__EMBED_PAPER, 0 },
    { "Bar-Yossef, k = 5", TWIN__EMBED_DEFAULT, 5 },
    { "Bar-Yossef, k = 50", TWIN__EMBED_DEFAULT, 50 },
};

struct run {
    const struct lab *lab;
    const struct method *method;
    const twin_text *texts; /* cut to n */
    struct member *members;
    size_t count;
    uint32_t *labels; /* of each member */
    twin__embedder *embedders[CLASSES];
    twin_minhash *hasher;
    twin__forest *forests[CLASSES];
    /* Pairs by level, by the share of labels that agree, and those whose ratio is at least 0.85; per worker while they are
     * looked for. */
    struct scored_pairs levels, shares, verified;
    struct scored_pairs *some_levels, *some_shares, *some_verified;
    double signing, building, querying, verifying; /* seconds */
};

/* Creates the embedders of the classes, or one hasher for all. */
static void prepare(struct run *run)
{
    uint64_t seed = seed_of(run->lab->seed, 6000);
    if (run->method->edits) {
        twin_minhash_options options = { .sketch = TWIN_SKETCH_FAST, .slots = LABELS, .seed = seed };
        expect(twin__minhash_create(&run->hasher, options), "hasher", NULL);
        return;
    }
    for (size_t i = 0; i < run->count; i++) {
        twin__embed_class class = run->members[i].class;
        if (!run->embedders[class.number])
            expect(twin__embedder_create(&run->embedders[class.number],
                                         twin__embed_options_for(run->method->preset, class.shortest, LABELS, seed)),
                   "embedder", NULL);
    }
}

static void sign_some(void *context, size_t begin, size_t end, int worker)
{
    const struct run *run = context;
    twin__embed_scratch scratch = { 0 };
    uint64_t *features = need(lengths[LENGTHS - 1], sizeof *features);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const struct member *m = &run->members[i];
        twin_text text = run->texts[m->text];
        if (run->method->edits) {
            size_t count = twin__embed_features(
                features, twin__embed_cells_for(m->class.shortest, run->method->edits, run->lab->seed), text);
            twin__minhash_sign(run->labels + i * LABELS, run->hasher, features, count);
        } else
            expect(twin__embed_vector(run->labels + i * LABELS, run->embedders[m->class.number], &scratch, text),
                   "vector", NULL);
    }
    twin__embed_scratch_clear(&scratch);
    free(features);
}

static void build_some(void *context, size_t begin, size_t end, int worker)
{
    struct run *run = context;
    (void)worker;
    for (size_t c = begin; c < end; c++) {
        expect(twin__forest_create(&run->forests[c], (twin__forest_options){ TREES, DEPTH, run->lab->seed }),
               "forest", NULL);
        for (size_t i = 0; i < run->count; i++)
            if (run->members[i].class.number == c)
                expect(twin__forest_add(run->forests[c], i, run->labels + i * LABELS), "adding", NULL);
        expect(twin__forest_pack(run->forests[c]), "packing", NULL);
    }
}

/* Records a candidate and all its copies. */
static void take(const struct run *run, size_t member, twin__forest_candidate candidate, int worker)
{
    uint64_t ids[MOST];
    const struct member *me = &run->members[member];
    size_t count = twin__forest_copies(ids, run->forests[me->class.number], candidate.id, MOST);
    for (size_t i = 0; i < count && i < MOST; i++) {
        uint32_t other = run->members[ids[i]].text;
        if (other == me->text)
            continue;
        size_t agreed = twin_minhash_agreement(run->labels + member * LABELS, run->labels + ids[i] * LABELS, LABELS);
        scored_add(&run->some_levels[worker], me->text, other, (float)candidate.level);
        scored_add(&run->some_shares[worker], me->text, other, (float)agreed / LABELS);
    }
}

static void query_some(void *context, size_t begin, size_t end, int worker)
{
    const struct run *run = context;
    twin__forest_candidate candidates[MOST];
    twin__forest_scratch scratch = { 0 };
    for (size_t i = begin; i < end; i++) {
        size_t count;
        expect(twin__forest_query(candidates, &count, run->forests[run->members[i].class.number], &scratch,
                                  run->labels + i * LABELS, (twin__forest_query_options){ MOST, 2 }),
               "querying", NULL);
        for (size_t c = 0; c < count; c++)
            take(run, i, candidates[c], worker);
    }
    twin__forest_scratch_clear(&scratch);
}

static void find_pairs(struct run *run, size_t texts)
{
    size_t workers = (size_t)run->lab->exec.workers;
    run->count = members_of(&run->members, run->texts, texts, CLASS_RATIO, CLASSES);
    run->labels = need(run->count * LABELS, sizeof *run->labels);
    run->some_levels = need(workers, sizeof *run->some_levels);
    run->some_shares = need(workers, sizeof *run->some_shares);
    double start = seconds();
    prepare(run);
    twin_exec_for(run->lab->exec, run->count, 64, sign_some, run);
    run->signing = seconds() - start;
    start = seconds();
    twin_exec_for(run->lab->exec, CLASSES, 1, build_some, run);
    run->building = seconds() - start;
    start = seconds();
    twin_exec_for(run->lab->exec, run->count, 64, query_some, run);
    scored_gather(&run->levels, run->some_levels, workers);
    scored_gather(&run->shares, run->some_shares, workers);
    run->querying = seconds() - start;
}

static void verify_some(void *context, size_t begin, size_t end, int worker)
{
    const struct run *run = context;
    twin_edit_scratch scratch = { 0 };
    for (size_t i = begin; i < end; i++) {
        const struct scored *pair = &run->levels.pairs[i];
        double ratio;
        expect(
            twin__edit_ratio(&ratio, &scratch, run->texts[pair->a], run->texts[pair->b], TWIN_EDIT_BYTES, golds[0]),
            "ratio", NULL);
        if (ratio >= golds[0])
            scored_add(&run->some_verified[worker], pair->a, pair->b, (float)ratio);
    }
    twin__edit_scratch_clear(&scratch);
}

static void verify(struct run *run)
{
    size_t workers = (size_t)run->lab->exec.workers;
    double start = seconds();
    run->some_verified = need(workers, sizeof *run->some_verified);
    twin_exec_for(run->lab->exec, run->levels.count, 4096, verify_some, run);
    scored_gather(&run->verified, run->some_verified, workers);
    run->verifying = seconds() - start;
}

static void clear_run(struct run *run)
{
    for (size_t c = 0; c < CLASSES; c++) {
        twin__embedder_free(run->embedders[c]);
        twin__forest_free(run->forests[c]);
    }
    twin__minhash_free(run->hasher);
    free(run->members);
    free(run->labels);
    free(run->levels.pairs);
    free(run->shares.pairs);
    free(run->verified.pairs);
}

/* ---- comparison with the exact pairs */

static int by_score(const void *one, const void *other)
{
    const struct scored *x = one, *y = other;
    return (x->score < y->score) - (x->score > y->score);
}

/* The best that a threshold on the score can do. */
struct best {
    double f, precision, recall, score;
};

/* Lowers the threshold score by score; adds a point to `curve`, if given, where the recall changes. */
static struct best sweep(struct scored_pairs *found, const struct scored_pairs *gold, double at_least,
                         struct table *curve, const char *name)
{
    struct best best = { 0 };
    size_t hits = 0, wanted = 0;
    double last = 0;
    for (size_t i = 0; i < gold->count; i++)
        wanted += gold->pairs[i].score >= (float)at_least;
    qsort(found->pairs, found->count, sizeof *found->pairs, by_score);
    for (size_t i = 0; i < found->count; i++) {
        const struct scored *pair = &found->pairs[i];
        const struct scored *known = bsearch(pair, gold->pairs, gold->count, sizeof *pair, scored_by_pair);
        hits += known && known->score >= (float)at_least;
        if (i + 1 < found->count && found->pairs[i + 1].score == pair->score)
            continue;
        double precision = (double)hits / (double)(i + 1), recall = (double)hits / (double)wanted;
        double f = hits ? 2 * precision * recall / (precision + recall) : 0;
        if (f > best.f)
            best = (struct best){ f, precision, recall, pair->score };
        if (curve && (fabs(recall - last) > 0.005 || i + 1 == found->count) && precision > 0.02) {
            table_row(curve, "%s\t%.4f\t%.4f\t%.4g", name, recall, precision, (double)pair->score);
            last = recall;
        }
    }
    return best;
}

static void plot_curves(struct lab *lab)
{
    FILE *script = plot_begin_halves(lab);
    for (size_t l = 0; l < LENGTHS; l++) {
        if (l > 0)
            plot_lower_half(script);
        fprintf(script, "set ylabel 'precision, n = %zu'\nset xlabel '%s'\n%s\nplot [0:1][0:1.03] ", lengths[l],
                l ? "recall of pairs with a ratio of at least 0.85" : "",
                l ? "unset key" : "set key bottom left width -4 spacing 1 font ',10'");
        for (size_t m = 0; m < METHODS; m++)
            fprintf(script,
                    "'forest-vs-by-curve-%zu.tsv' skip 1 using (strcol(1) eq '%s' ? $2 : NaN):3 with lines ls %zu "
                    "title '%s, by agreement', '' skip 1 using (strcol(1) eq '%s, level' ? $2 : NaN):3 with "
                    "linespoints ls %zu dt '.' %s, ",
                    lengths[l], methods[m].name, m + 2, methods[m].name, methods[m].name, m + 2,
                    m ? "notitle" : "title 'default, by level'");
        fputs("0.88/(2-0.88/x) * (x > 0.4400 ? 1 : NaN) ls 9 title 'Sokolov 2007: F_1 = 0.88'\n", script);
    }
    plot_end(lab, script, "forest-vs-by",
             "Precision and recall of pairs in Reuters-21578 as the threshold of a score falls: agreement of all "
             "labels (lines), or level in the forest (dots).");
}

/* Summary of a method: the best F1 against 0.85 by a score alone, that of verified pairs, and seconds. */
struct result {
    double by_score, verified, seconds, with_verifying;
};

static void add_row(struct table *table, const struct run *run, size_t n, double gold, const char *score,
                    struct best best, double taken)
{
    table_row(table, "%zu\t%s\t%.2f\t%s\t%.3f\t%.3f\t%.3f\t%.3g\t%zu\t%.2f", n, run->method->name, gold, score,
              best.f, best.precision, best.recall, best.score, run->levels.count, taken);
}

static struct result judge(struct table *table, struct table *curve, struct run *run, const struct scored_pairs *gold,
                           size_t n)
{
    char name[64];
    struct result out = { .seconds = run->signing + run->building + run->querying };
    out.with_verifying = out.seconds + run->verifying;
    snprintf(name, sizeof name, "%s, level", run->method->name);
    for (size_t g = 0; g < GOLDS; g++) {
        struct best level = sweep(&run->levels, gold, golds[g], g ? NULL : curve, name);
        struct best share = sweep(&run->shares, gold, golds[g], g ? NULL : curve, run->method->name);
        struct best ratio = sweep(&run->verified, gold, golds[g], NULL, NULL);
        add_row(table, run, n, golds[g], "level", level, out.seconds);
        add_row(table, run, n, golds[g], "agreement", share, out.seconds);
        add_row(table, run, n, golds[g], "verified", ratio, out.with_verifying);
        if (g == 0) {
            out.by_score = fmax(level.f, share.f);
            out.verified = ratio.f;
        }
    }
    return out;
}

/* All methods at one length. Returns the seconds that comparing all pairs took. */
static double run_length(struct result *results, struct lab *lab, struct table *table, const struct reuters *reuters,
                         size_t count, size_t n)
{
    char name[64];
    struct scored_pairs gold;
    struct table curve;
    double gold_seconds;
    size_t wanted[GOLDS] = { 0 };
    twin_text *texts = need(count, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = text_cut(reuters->texts[i], n);
    snprintf(name, sizeof name, "forest-vs-by-gold-%zu", n);
    gold_pairs(&gold, &gold_seconds, lab, name, reuters->texts, count, n, golds[0]);
    for (size_t i = 0; i < gold.count; i++)
        for (size_t g = 0; g < GOLDS; g++)
            wanted[g] += gold.pairs[i].score >= (float)golds[g];
    say(lab, "n = %zu: of %zu texts %zu pairs have a ratio of at least 0.85, %zu of 0.95, %zu of 0.99.", n, count,
        wanted[0], wanted[1], wanted[2]);
    snprintf(name, sizeof name, "forest-vs-by-curve-%zu", n);
    table_begin(&curve, name, "method\trecall\tprecision\tscore");
    for (size_t m = 0; m < METHODS; m++) {
        struct run run = { .lab = lab, .method = &methods[m], .texts = texts };
        find_pairs(&run, count);
        verify(&run);
        results[m] = judge(table, &curve, &run, &gold, n);
        clear_run(&run);
    }
    table_write_only(lab, &curve);
    free(gold.pairs);
    free(texts);
    return gold_seconds;
}

void exp_forest_vs_by(struct lab *lab)
{
    struct reuters reuters;
    struct table table;
    if (!reuters_read(&reuters, lab, REUTERS_JOINED))
        return;
    size_t count = lab->quick && reuters.count > 3000 ? 3000 : reuters.count;
    struct result results[LENGTHS][METHODS];
    double gold_seconds[LENGTHS];
    table_begin(&table, "forest-vs-by",
                "n\tmethod\tgold from\tscore\tbest F1\tprecision\trecall\tat\tcandidates\tseconds");
    say(lab,
        "%d trees of %d levels, %d candidates per text; texts cut to n, not padded, in classes of similar length.",
        (int)TREES, (int)DEPTH, (int)MOST);
    for (size_t l = 0; l < LENGTHS; l++) {
        gold_seconds[l] = run_length(results[l], lab, &table, &reuters, count, lengths[l]);
        progress(lab, l + 1, LENGTHS);
    }
    table_end(lab, &table);
    for (size_t l = 0; l < LENGTHS; l++) {
        const struct result *r = results[l];
        claim(lab, r[0].verified > 0.88,
              "n = %zu: F1 of verified forest candidates against 0.85 is %.3f (Sokolov 2007: up to 0.88); by a score "
              "alone %.3f",
              lengths[l], r[0].verified, r[0].by_score);
        say(lab,
            "n = %zu: F1 of Bar-Yossef features is %.3f and %.3f verified, %.3f and %.3f by a score; with the "
            "parameters of Sokolov 2007 %.3f and %.3f.",
            lengths[l], r[2].verified, r[3].verified, r[2].by_score, r[3].by_score, r[1].verified, r[1].by_score);
        say(lab,
            "n = %zu: seconds with verification: forest %.2f, features %.2f and %.2f, paper %.2f; all pairs %.1f.",
            lengths[l], r[0].with_verifying, r[2].with_verifying, r[3].with_verifying, r[1].with_verifying,
            gold_seconds[l]);
    }
    plot_curves(lab);
    reuters_clear(&reuters);
}

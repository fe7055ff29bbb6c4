/* exp_forest.c — forest-precision and forest-order: what an LSH forest finds among edited strings, and in which order.
 *
 * Repeats two experiments of Sokolov 2007. 2,200 strings are random edits of a centre, which is the query; S is the
 * list of strings that the forest returns, deepest level first. The first experiment measures the share of S within
 * 126 edits, the second how far the order of S is from the true one. The paper's tables can be read in several ways,
 * so several ways to fill S are measured (enum reading), and several ways to keep the length of edited strings. */
#include "lab.h"
#include "texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH = 1000, /* n */
    STRINGS = 2200,
    NEAR = 126,        /* k2: half of the strings are within this many edits */
    NEAREST = 10,      /* edits of the nearest … */
    FURTHEST = 248,    /* … and of the furthest */
    PER_DISTANCE = 10, /* strings of one distance, at most */
    TREES = 20,
    DEPTH = 30, /* K; with the parameters of Sokolov 2007 … */
    SHORT = 8,  /* … this many suffice: unrelated strings share eight labels once in 10¹⁰ times */
    MOST = 200, /* candidates per query */
};

/* RandomStrings: a centre, which is the query, and its edited versions. */
struct strings {
    char centre[LENGTH];
    char texts[STRINGS][LENGTH];
    unsigned edits[STRINGS];
};

static void draw_strings(struct strings *out, enum keeping keeping, uint64_t seed)
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

/* A string that a query found: its number of edits, and the level at which it joined S. */
struct found {
    unsigned edits, level;
};
struct answer {
    struct found found[MOST];
    size_t count;
};

/* Vectors of all strings and of the centre, by one embedder. Ids are permuted for each forest, so that strings of the
 * same level come in random order. */
struct vectors {
    const struct strings *strings;
    size_t depth;                                 /* K */
    uint32_t *labels;                             /* TREES · depth each; the last is that of the centre */
    uint32_t ids[STRINGS], string_of_id[STRINGS]; /* of a string, and back */
};

static void make_vectors(struct vectors *out, const struct strings *strings, twin_embed_preset preset, size_t depth,
                         uint64_t seed)
{
    twin_embedder *embedder;
    twin_embed_scratch scratch = { 0 };
    uint64_t state = seed;
    out->strings = strings;
    out->depth = depth;
    out->labels = need((STRINGS + 1) * TREES * depth, sizeof *out->labels);
    expect(twin_embedder_create(&embedder, twin_embed_options_for(preset, LENGTH, TREES * depth, draw(&state))),
           "embedder", NULL);
    for (size_t i = 0; i <= STRINGS; i++) {
        twin_text text = { i < STRINGS ? strings->texts[i] : strings->centre, LENGTH };
        expect(twin_embed_vector(out->labels + i * TREES * depth, embedder, &scratch, text), "vector", NULL);
    }
    for (uint32_t i = 0; i < STRINGS; i++) {
        size_t j = draw_below(&state, i + 1);
        out->ids[i] = out->ids[j];
        out->ids[j] = i;
    }
    for (uint32_t i = 0; i < STRINGS; i++)
        out->string_of_id[out->ids[i]] = i;
    twin_embedder_free(embedder);
    twin_embed_scratch_clear(&scratch);
}

/* Queries a forest of trees first .. first + trees - 1 for the neighbours of the centre. */
static void query_forest(struct answer *out, const struct vectors *vectors, size_t first, size_t trees, size_t most)
{
    twin_forest *forest;
    twin_forest_candidate candidates[MOST];
    twin_forest_scratch scratch = { 0 };
    expect(twin_forest_create(&forest, (twin_forest_options){ trees, vectors->depth, first }), "forest", NULL);
    for (size_t i = 0; i < STRINGS; i++)
        expect(twin_forest_add(forest, vectors->ids[i], vectors->labels + (i * TREES + first) * vectors->depth),
               "adding", NULL);
    expect(twin_forest_query(candidates, &out->count, forest, &scratch,
                             vectors->labels + (STRINGS * TREES + first) * vectors->depth,
                             (twin_forest_query_options){ most, 0 }),
           "querying", NULL);
    for (size_t i = 0; i < out->count; i++)
        out->found[i] =
            (struct found){ vectors->strings->edits[vectors->string_of_id[candidates[i].id]], candidates[i].level };
    twin_forest_scratch_clear(&scratch);
    twin_forest_free(forest);
}

/* The answer of a single tree, from the deepest level on. Whole labels are compared, as in Sokolov 2007, while a forest
 * stores one byte of each. */
static void climb(struct answer *out, const struct vectors *vectors, size_t tree, size_t most)
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

/* ---- forest-precision */

enum { ROWS = 15, COLUMNS = 5 };
static const size_t row_trees[ROWS] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20 };
static const double sizes[COLUMNS] = { 0.5, 1, 2, 3, 4 }; /* |S| / L */

/* The table of Sokolov 2007: means of 100 forests, and their variances. */
enum { REFERENCE_FORESTS = 100 };
static const struct {
    double mean, variance;
} reference[ROWS][COLUMNS] = {
    { { 0, 0 }, { .950, .048 }, { .945, .029 }, { .927, .025 }, { .893, .031 } },
    { { .930, .065 }, { .895, .056 }, { .853, .054 }, { .825, .032 }, { .810, .028 } },
    { { 0, 0 }, { .885, .050 }, { .816, .035 }, { .784, .030 }, { .770, .025 } },
    { { .855, .071 }, { .842, .041 }, { .810, .031 }, { .777, .023 }, { .757, .021 } },
    { { 0, 0 }, { .824, .039 }, { .786, .021 }, { .759, .014 }, { .735, .014 } },
    { { .853, .052 }, { .797, .040 }, { .782, .025 }, { .760, .019 }, { .730, .014 } },
    { { 0, 0 }, { .778, .031 }, { .768, .018 }, { .743, .013 }, { .721, .010 } },
    { { .846, .038 }, { .791, .024 }, { .755, .016 }, { .729, .013 }, { .724, .010 } },
    { { 0, 0 }, { .759, .024 }, { .741, .013 }, { .717, .011 }, { .697, .009 } },
    { { .860, .030 }, { .787, .024 }, { .749, .015 }, { .722, .009 }, { .689, .008 } },
    { { .807, .035 }, { .776, .021 }, { .740, .013 }, { .712, .009 }, { .688, .007 } },
    { { .821, .028 }, { .770, .018 }, { .740, .010 }, { .716, .007 }, { .682, .006 } },
    { { .809, .021 }, { .746, .013 }, { .721, .010 }, { .691, .007 }, { .673, .005 } },
    { { .845, .019 }, { .765, .014 }, { .719, .008 }, { .686, .005 }, { .665, .004 } },
    { { .811, .024 }, { .762, .014 }, { .708, .006 }, { .682, .005 }, { .658, .004 } },
};

/* How S is filled: from one tree, whatever L, which is what the paper's numbers look like; by all trees in step, as its
 * text describes, where a string joins once for each tree that finds it; or in step with each string once. */
enum reading { ONE_TREE, IN_STEP, DISTINCT, READINGS };
static const char *const readings[READINGS] = { "one tree", "in step", "distinct" };

/* Precisions of many forests: their number, sum, and sum of squares. */
struct sums {
    double count, sum, squares;
};
static void add_to(struct sums *sums, double value)
{
    sums->count++;
    sums->sum += value;
    sums->squares += value * value;
}

struct cells {
    struct sums at[READINGS][ROWS][COLUMNS];
};

/* The set-up of a measurement over several sets of strings. */
struct precision {
    const struct lab *lab;
    twin_embed_preset preset;
    enum keeping keeping;
    uint64_t part;                /* of the seed, for strings */
    size_t set_count, embeddings; /* embeddings: for each set of strings */
    size_t rows;
    struct cells *cells; /* of each embedding */
};

static size_t size_of(size_t row, size_t column)
{
    double size = sizes[column] * (double)row_trees[row];
    return size == floor(size) ? (size_t)size : 0;
}

static void add_answer(struct sums *row, size_t number, const struct answer *answer)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        size_t size = size_of(number, c), near = 0;
        size = size < answer->count ? size : answer->count;
        for (size_t i = 0; i < size; i++)
            near += answer->found[i].edits <= NEAR;
        if (size > 0 && size_of(number, c) > 0)
            add_to(&row[c], (double)near / (double)size);
    }
}

/* Merges the answers of several trees: level by level, all trees in step. */
static void merge(struct answer *out, const struct answer *trees, size_t count, size_t most)
{
    out->count = 0;
    for (unsigned level = DEPTH; level > 0; level--)
        for (size_t i = 0; i < most; i++)
            for (size_t t = 0; t < count && out->count < most; t++)
                if (i < trees[t].count && trees[t].found[i].level == level)
                    out->found[out->count++] = trees[t].found[i];
}

/* One embedding. "Distinct" needs a real forest, which takes time, so only the first embedding of a set measures it. */
static void measure_embedding(struct cells *cells, const struct precision *p, const struct vectors *vectors,
                              bool first)
{
    struct answer *trees = need(TREES + 1, sizeof *trees), *answer = trees + TREES;
    for (size_t t = 0; t < TREES; t++)
        climb(&trees[t], vectors, t, 4 * TREES);
    for (size_t r = 0; r < p->rows; r++) {
        size_t count = row_trees[r];
        for (size_t t = 0; t < TREES; t++)
            add_answer(cells->at[ONE_TREE][r], r, &trees[t]);
        for (size_t t = 0; t + count <= TREES; t += count) {
            merge(answer, trees + t, count, 4 * count);
            add_answer(cells->at[IN_STEP][r], r, answer);
        }
        if (first) {
            query_forest(answer, vectors, 0, count, 4 * count);
            add_answer(cells->at[DISTINCT][r], r, answer);
        }
    }
    free(trees);
}

static void measure_precision(void *context, size_t begin, size_t end, int worker)
{
    const struct precision *p = context;
    struct strings *strings = need(1, sizeof *strings);
    struct vectors *vectors = need(1, sizeof *vectors);
    (void)worker;
    for (size_t s = begin; s < end; s++) {
        draw_strings(strings, p->keeping, seed_of(p->lab->seed, p->part + s));
        for (size_t e = 0; e < p->embeddings; e++) {
            size_t i = s * p->embeddings + e;
            make_vectors(vectors, strings, p->preset, p->preset == TWIN_EMBED_PAPER ? SHORT : DEPTH,
                         seed_of(p->lab->seed, 4000000 + i));
            measure_embedding(&p->cells[i], p, vectors, e == 0);
            free(vectors->labels);
        }
    }
    free(vectors);
    free(strings);
}

/* A cell over all forests. The reference has its own error: that of 100 forests, known from its variance, and that of
 * its one set of strings, estimated from the variance between our sets. `error` is the standard error of the difference
 * between the reference and our mean. */
struct summary {
    double mean, error;
    double variance;    /* between forests on one set of strings */
    double least, most; /* mean of a set of strings */
};

static struct summary summarise(const struct precision *p, enum reading reading, size_t row, size_t column)
{
    struct summary out = { .least = 1 };
    double within = 0, freedom = 0, means = 0, squares = 0, count = 0, sets = (double)p->set_count;
    for (size_t s = 0; s < p->set_count; s++) {
        struct sums sum = { 0 };
        for (size_t e = 0; e < p->embeddings; e++) {
            const struct sums *one = &p->cells[s * p->embeddings + e].at[reading][row][column];
            sum = (struct sums){ sum.count + one->count, sum.sum + one->sum, sum.squares + one->squares };
        }
        double mean = sum.sum / sum.count;
        within += sum.squares - sum.count * mean * mean;
        freedom += sum.count - 1;
        count += sum.count;
        means += mean;
        squares += mean * mean;
        out.least = fmin(out.least, mean);
        out.most = fmax(out.most, mean);
    }
    out.mean = means / sets;
    out.variance = freedom > 0 ? within / freedom : 0;
    double between = sets > 1 ? (squares - sets * out.mean * out.mean) / (sets - 1) - out.variance * sets / count : 0;
    between = fmax(0, between);
    out.error =
        sqrt(between * (1 + 1 / sets) + out.variance / count + reference[row][column].variance / REFERENCE_FORESTS);
    return out;
}

/* All cells of one set of parameters. */
static void tabulate_precision(struct table *table, const struct precision *p, enum reading reading)
{
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++) {
            if (size_of(r, c) == 0)
                continue;
            struct summary s = summarise(p, reading, r, c);
            table_row(table, "%s\t%s\t%zu\t%zu\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f",
                      p->preset == TWIN_EMBED_PAPER ? "paper" : "default", readings[reading], row_trees[r],
                      size_of(r, c), reference[r][c].mean, s.mean, s.least, s.most, s.error, reference[r][c].variance,
                      s.variance);
        }
}

/* The table as Sokolov 2007 prints it: a row per L. */
static void print_precision(struct lab *lab, const struct precision *p, enum reading reading)
{
    char name[64];
    const char *parameters = p->preset == TWIN_EMBED_PAPER ? "paper" : "default";
    struct table table;
    snprintf(name, sizeof name, "forest-precision-%s-%s", parameters,
             reading == ONE_TREE  ? "one-tree"
             : reading == IN_STEP ? "in-step"
                                  : "distinct");
    table_begin(&table, name, "L\t0.5L\treference\tL\treference\t2L\treference\t3L\treference\t4L\treference");
    say(lab, "Parameters: %s; S: %s. Reference: Sokolov 2007.", parameters, readings[reading]);
    for (size_t r = 0; r < ROWS; r++) {
        char line[256];
        int used = snprintf(line, sizeof line, "%zu", row_trees[r]);
        for (size_t c = 0; c < COLUMNS; c++) {
            if (size_of(r, c) > 0)
                used += snprintf(line + used, sizeof line - (size_t)used, "\t%.3f\t%.3f",
                                 summarise(p, reading, r, c).mean, reference[r][c].mean);
            else
                used += snprintf(line + used, sizeof line - (size_t)used, "\t–\t–");
        }
        table_row(&table, "%s", line);
    }
    table_end(lab, &table);
}

/* The smallest mean of rows with `from` .. `to` trees. */
static double least_from(const struct precision *p, enum reading reading, size_t from, size_t to)
{
    double least = 1;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (row_trees[r] >= from && row_trees[r] <= to && size_of(r, c) > 0)
                least = fmin(least, summarise(p, reading, r, c).mean);
    return least;
}

/* How far a reading is from the reference, over all cells. */
struct comparison {
    size_t cells, below, above;      /* more than two standard errors below and above */
    double distance;                 /* root of the mean square */
    double variances;                /* sum of observed variances over that of the reference */
    double worst;                    /* the lowest cell, in standard errors */
    size_t row, column;              /* where that is */
    double p_values[ROWS * COLUMNS]; /* per cell, one-sided: as far below or further */
};

static struct comparison compare(const struct precision *p, enum reading reading)
{
    struct comparison out = { .worst = INFINITY };
    double ours = 0, theirs = 0;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++) {
            if (size_of(r, c) == 0)
                continue;
            struct summary s = summarise(p, reading, r, c);
            double difference = s.mean - reference[r][c].mean, errors = difference / s.error;
            out.p_values[out.cells++] = errors < 0 ? p_normal(errors) / 2 : 1;
            out.below += errors < -2;
            out.above += errors > 2;
            out.distance += difference * difference;
            ours += s.variance;
            theirs += reference[r][c].variance;
            if (errors < out.worst) {
                out.worst = errors;
                out.row = r;
                out.column = c;
            }
        }
    out.distance = sqrt(out.distance / (double)out.cells);
    out.variances = ours / theirs;
    return out;
}

/* Of 70 cells one or two are two standard errors too low by chance alone. So the claim is about all cells at once, and
 * the number of low cells is printed next to it. */
static void compare_to_reference(struct lab *lab, const struct precision *p)
{
    struct comparison both[] = { compare(p, ONE_TREE), compare(p, IN_STEP) };
    for (enum reading reading = ONE_TREE; reading <= IN_STEP; reading++) {
        struct comparison *c = &both[reading];
        say(lab,
            "Parameters of Sokolov 2007, %s: RMS difference from the reference %.3f over %zu cells; %zu cells are "
            "more than "
            "two standard errors below it, %zu above; variances are %.2f times those of the reference.",
            readings[reading], c->distance, c->cells, c->below, c->above, c->variances);
        say(lab, "The lowest cell is L = %zu, |S| = %zu: %.3f, reference %.3f, %.2f standard errors.",
            row_trees[c->row], size_of(c->row, c->column), summarise(p, reading, c->row, c->column).mean,
            reference[c->row][c->column].mean, c->worst);
        claim_chance(lab, c->p_values, c->cells,
                     reading == ONE_TREE ? "one tree is nowhere below the reference by more than chance"
                                         : "trees in step are nowhere below the reference by more than chance");
    }
    claim(lab, both[ONE_TREE].distance < 0.05 && both[ONE_TREE].distance < both[IN_STEP].distance / 2,
          "the reference matches one tree, whatever L: RMS difference %.3f, against %.3f for trees in step",
          both[ONE_TREE].distance, both[IN_STEP].distance);
}

static void free_precision(struct precision *p)
{
    free(p->cells);
}

static void run_precision(struct precision *p)
{
    p->cells = need(p->set_count * p->embeddings, sizeof *p->cells);
    twin_exec_for(p->lab->exec, p->set_count, 1, measure_precision, p);
}

/* L = 1 again, with other ways to keep the length of edited strings. */
static void compare_keepings(struct lab *lab, size_t set_count)
{
    static const char *const names[] = { "insert and delete in pairs, two edits", "cut or filled at the end",
                                         "cut or filled after each edit", "replacements only" };
    struct table table;
    table_begin(&table, "forest-precision-keeping",
                "length is kept by\tL\treference\t2L\treference\t3L\treference\t4L\treference\tL, by set: from\tto");
    say(lab, "L = 1, parameters of Sokolov 2007, which does not say how strings keep their length.");
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        struct precision p = { lab, TWIN_EMBED_PAPER, (enum keeping)k, 4100, set_count, 1, 1, NULL };
        run_precision(&p);
        struct summary at[COLUMNS];
        for (size_t c = 1; c < COLUMNS; c++)
            at[c] = summarise(&p, ONE_TREE, 0, c);
        table_row(&table, "%s\t%.3f\t.950\t%.3f\t.945\t%.3f\t.927\t%.3f\t.893\t%.3f\t%.3f", names[k], at[1].mean,
                  at[2].mean, at[3].mean, at[4].mean, at[1].least, at[1].most);
        free_precision(&p);
    }
    table_end(lab, &table);
}

static void plot_precision(struct lab *lab)
{
    static const struct {
        const char *parameters, *reading, *title;
        size_t size, style;
    } lines[] = {
        { "paper", "one tree", "one tree, |S| = L", 1, 2 },     { "paper", "one tree", "one tree, |S| = 4L", 4, 3 },
        { "paper", "in step", "in step, |S| = L", 1, 4 },       { "paper", "in step", "in step, |S| = 4L", 4, 5 },
        { "default", "in step", "default, in step, 4L", 4, 6 },
    };
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'L, number of trees'\nset ylabel 'share of S within 126 edits'\nset datafile missing NaN\nset "
          "key bottom left maxrows 4\nplot [0.5:20.5][0.4:1.02] ",
          script);
    for (size_t size = 1; size <= 4; size += 3)
        fprintf(script,
                "'forest-precision.tsv' skip 1 using (strcol(1) eq 'paper' && strcol(2) eq 'one tree' && $4==%zu*$3 "
                "? $3 : "
                "NaN):5 with linespoints ls 9 dt '%s' title 'Sokolov 2007, |S| = %s', ",
                size, size > 1 ? "." : "-", size > 1 ? "4L" : "L");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        fprintf(script,
                "'' skip 1 using (strcol(1) eq '%s' && strcol(2) eq '%s' && $4==%zu*$3 ? $3 : NaN):6:7:8 with "
                "yerrorbars ls %zu title '%s'%s",
                lines[i].parameters, lines[i].reading, lines[i].size, lines[i].style, lines[i].title,
                i + 1 < sizeof lines / sizeof lines[0] ? ", " : "\n");
    plot_end(lab, script, "forest-precision",
             "Precision against the number of trees, parameters of Sokolov 2007; bars extend from the worst to the "
             "best set of "
             "strings.");
}

static void run_paper(struct lab *lab, struct table *table)
{
    struct precision p = { lab, TWIN_EMBED_PAPER, KEEP_BY_PAIRS, 4200, lab->quick ? 4 : 80, lab->quick ? 1 : 5, ROWS,
                           NULL };
    run_precision(&p);
    for (enum reading reading = ONE_TREE; reading < READINGS; reading++) {
        tabulate_precision(table, &p, reading);
        print_precision(lab, &p, reading);
    }
    compare_to_reference(lab, &p);
    free_precision(&p);
}

static void run_default(struct lab *lab, struct table *table)
{
    struct precision p = {
        lab, TWIN_EMBED_DEFAULT, KEEP_BY_PAIRS, 4200, lab->quick ? 4 : 20, lab->quick ? 1 : 5, ROWS, NULL
    };
    run_precision(&p);
    for (enum reading reading = ONE_TREE; reading < READINGS; reading++)
        tabulate_precision(table, &p, reading);
    print_precision(lab, &p, DISTINCT);
    for (enum reading reading = IN_STEP; reading < READINGS; reading++) {
        double four = least_from(&p, reading, 4, TREES), one = least_from(&p, reading, 1, 1);
        claim(lab, four >= 0.98 && one >= 0.94,
              "default parameters, %s: at least %.3f in every cell with L ≥ 4 (0.98), %.3f with L = 1 (0.94)",
              readings[reading], four, one);
    }
    free_precision(&p);
}

void exp_forest_precision(struct lab *lab)
{
    struct table table;
    table_begin(&table, "forest-precision",
                "parameters\tS\tL\t|S|\treference\tobserved\tworst set\tbest set\tstandard error\treference "
                "variance\tvariance");
    say(lab,
        "%d strings of n = %d, half within %d edits of the query. Many sets of strings, and for each several "
        "embeddings "
        "of %d trees. The standard error is that of the difference from the reference (Sokolov 2007), which used %d "
        "forests on one set.",
        (int)STRINGS, (int)LENGTH, (int)NEAR, (int)TREES, (int)REFERENCE_FORESTS);
    run_paper(lab, &table);
    progress(lab, 1, 3);
    run_default(lab, &table);
    progress(lab, 2, 3);
    table_write_only(lab, &table);
    compare_keepings(lab, lab->quick ? 1 : 20);
    plot_precision(lab);
}

/* ---- forest-order */

enum { ORDER_ROWS = 9, LISTS = 2, FILTERS = 4 };
static const size_t order_trees[ORDER_ROWS] = { 1, 2, 4, 6, 8, 10, 12, 16, 20 };
static const size_t list_sizes[LISTS] = { 50, 200 };
static const char *const filters[FILTERS] = { "all", "deepest only", "around average", "from average on" };

/* What a filter leaves of S is compared with two lists: equally many of the truly nearest strings, and all of S in its
 * true order. Distances are shares of the maximum; the first is also printed as the sum of penalties that Sokolov 2007
 * uses, which favours short lists. */
enum { MEASURES = 3, PENALTIES = 2 };
static const char *const measures[MEASURES] = { "the nearest", "S, sorted", "the nearest, in penalties" };
struct verdict {
    double distance[MEASURES], kept;
};

struct order {
    const struct lab *lab;
    twin_embed_preset preset;
    enum reading reading;
    const char *name;
    const struct strings *strings;
    size_t embeddings; /* for each of two sets of strings */
    struct verdict (*verdicts)[ORDER_ROWS][LISTS][FILTERS];
};

/* Ranks of the elements of two lists; an element is the j-th occurrence of a distance. */
struct ranks {
    unsigned first[MOST * 2], second[MOST * 2]; /* in either list; UINT_MAX: absent */
    size_t count;
};

/* Two lists of distances. */
struct lists {
    const unsigned *found, *truth;
    size_t found_count, truth_count;
};

static void rank_both(struct ranks *out, struct lists lists)
{
    static const unsigned absent = ~0u;
    unsigned last[2][FURTHEST + 1] = { { 0 } };
    struct {
        unsigned edits, occurrence;
    } names[MOST * 2];
    out->count = 0;
    for (unsigned list = 0; list < 2; list++)
        for (unsigned i = 0; i < (list ? lists.truth_count : lists.found_count); i++) {
            unsigned edits = list ? lists.truth[i] : lists.found[i], occurrence = last[list][edits]++;
            size_t at = 0;
            while (at < out->count && (names[at].edits != edits || names[at].occurrence != occurrence))
                at++;
            if (at == out->count) {
                names[at].edits = edits;
                names[at].occurrence = occurrence;
                out->first[at] = out->second[at] = absent;
                out->count++;
            }
            (list ? out->second : out->first)[at] = i;
        }
}

/* The generalised Kendall distance (Fagin, Kumar, Sivakumar 2003). An element that a list lacks ranks behind all that
 * it has; between two elements that it lacks no order is implied. */
static double kendall(struct lists lists)
{
    struct ranks ranks;
    size_t swapped = 0;
    rank_both(&ranks, lists);
    for (size_t i = 0; i < ranks.count; i++)
        for (size_t j = 0; j < i; j++) {
            unsigned a = ranks.first[i], b = ranks.first[j], c = ranks.second[i], d = ranks.second[j];
            swapped += (a < b && c > d) || (a > b && c < d);
        }
    return (double)swapped;
}

/* Whether a filter keeps a level. */
static bool keeps(size_t filter, unsigned level, unsigned deepest, double average)
{
    switch (filter) {
    case 1: return level == deepest;
    case 2: return level >= floor(average) && level <= ceil(average);
    case 3: return level >= average;
    default: return true;
    }
}

static int compare_edits(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

static void judge(struct verdict *out, const struct answer *answer, size_t size, const unsigned *truth)
{
    unsigned list[MOST], sorted[MOST];
    double average = 0;
    size = size < answer->count ? size : answer->count;
    for (size_t i = 0; i < size; i++) {
        average += answer->found[i].level / (double)size;
        sorted[i] = answer->found[i].edits;
    }
    qsort(sorted, size, sizeof *sorted, compare_edits);
    for (size_t f = 0; f < FILTERS; f++) {
        size_t count = 0;
        for (size_t i = 0; i < size; i++)
            if (keeps(f, answer->found[i].level, answer->found[0].level, average))
                list[count++] = answer->found[i].edits;
        double all = (double)size, left = (double)count;
        out[f].kept = left;
        out[f].distance[PENALTIES] = kendall((struct lists){ list, truth, count, count });
        out[f].distance[0] = out[f].distance[PENALTIES] / fmax(1, left * left);
        out[f].distance[1] = kendall((struct lists){ list, sorted, count, size }) / fmax(1, all * (all - 1) / 2);
    }
}

static void measure_order(void *context, size_t begin, size_t end, int worker)
{
    const struct order *o = context;
    struct vectors *vectors = need(1, sizeof *vectors);
    struct answer *answer = need(1, sizeof *answer);
    unsigned *truth = need(STRINGS, sizeof *truth);
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const struct strings *strings = &o->strings[i / o->embeddings];
        memcpy(truth, strings->edits, sizeof strings->edits);
        qsort(truth, STRINGS, sizeof *truth, compare_edits);
        make_vectors(vectors, strings, o->preset, DEPTH, seed_of(o->lab->seed, 4300000 + i));
        for (size_t r = 0; r < ORDER_ROWS; r++) {
            if (o->reading == ONE_TREE)
                climb(answer, vectors, r, MOST); /* independent of L: each row uses another tree */
            else
                query_forest(answer, vectors, 0, order_trees[r], MOST);
            for (size_t l = 0; l < LISTS; l++)
                judge(o->verdicts[i][r][l], answer, list_sizes[l], truth);
        }
        free(vectors->labels);
    }
    free(vectors);
    free(answer);
    free(truth);
}

/* The mean over all embeddings, its standard error, and how many strings the filter left. */
struct average {
    double mean, error, kept;
};

static struct average average_of(const struct order *o, size_t row, size_t list, size_t filter, size_t measure)
{
    struct average out = { 0 };
    double count = (double)(2 * o->embeddings), squares = 0;
    for (size_t i = 0; i < 2 * o->embeddings; i++) {
        const struct verdict *v = &o->verdicts[i][row][list][filter];
        out.mean += v->distance[measure] / count;
        squares += v->distance[measure] * v->distance[measure];
        out.kept += v->kept / count;
    }
    out.error = sqrt(fmax(0, squares / count - out.mean * out.mean) / (count - 1));
    return out;
}

static void plot_order(struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    for (size_t m = 0; m < PENALTIES; m++) {
        if (m > 0)
            plot_lower(script);
        fprintf(script,
                "set datafile missing NaN\nset ylabel 'distance to %s'\nset xlabel '%s'\n%s\nplot [0.5:20.5][0:%s] ",
                measures[m], m ? "L, number of trees" : "", m ? "unset key" : "set key top right maxrows 3",
                m ? "0.6" : "1.4");
        for (size_t f = 0; f < FILTERS; f++)
            fprintf(script,
                    "'forest-order.tsv' skip 1 using (strcol(1) eq 'paper' && $2==50 && strcol(4) eq '%s' ? $3 : "
                    "NaN):%zu:%zu with "
                    "yerrorlines ls %zu title '%s', ",
                    filters[f], 6 + 2 * m, 7 + 2 * m, f + 2, filters[f]);
        fprintf(script,
                "'' skip 1 using (strcol(1) eq 'paper, one tree' && $2==50 && strcol(4) eq 'all' ? $3 : NaN):%zu:%zu "
                "with "
                "yerrorlines ls 2 dt '-' pt 6 title 'all, one tree', "
                "'' skip 1 using (strcol(1) eq 'default' && $2==50 && strcol(4) eq 'all' ? $3 : NaN):%zu:%zu with "
                "yerrorlines ls 1 pt 6 ps 0.6 title 'all, default parameters'\n",
                6 + 2 * m, 7 + 2 * m, 6 + 2 * m, 7 + 2 * m);
    }
    plot_end(lab, script, "forest-order",
             "Generalised Kendall distance with the parameters of Sokolov 2007, |S| = 50: from what a filter leaves "
             "of S to as "
             "many truly nearest strings (above), and to S in its true order (below).");
}

static void claim_order(struct lab *lab, const struct order *o)
{
    for (size_t l = 0; l < LISTS; l++) {
        struct average first = average_of(o, 0, l, 0, 0), last = average_of(o, ORDER_ROWS - 1, l, 0, 0);
        if (o->reading == ONE_TREE)
            say(lab, "%s, |S| = %zu: the distance to the nearest with L = 1 and 20 is %.3f and %.3f.", o->name,
                list_sizes[l], first.mean, last.mean);
        else
            claim(lab, last.mean < first.mean,
                  "%s, |S| = %zu: the distance to the nearest falls with L, from %.3f to %.3f", o->name,
                  list_sizes[l], first.mean, last.mean);
    }
    double means[MEASURES][FILTERS] = { { 0 } };
    for (size_t i = 0; i < MEASURES * FILTERS * ORDER_ROWS * LISTS; i++) {
        size_t m = i % MEASURES, f = i / MEASURES % FILTERS, r = i / MEASURES / FILTERS % ORDER_ROWS;
        means[m][f] += average_of(o, r, i / MEASURES / FILTERS / ORDER_ROWS, f, m).mean / (ORDER_ROWS * LISTS);
    }
    for (size_t m = 0; m < MEASURES; m++) {
        int digits = m == PENALTIES ? 0 : 3;
        say(lab,
            "%s, distance to %s, mean over all L and |S|: all %.*f, deepest only %.*f, around average %.*f, from "
            "average on %.*f.",
            o->name, measures[m], digits, means[m][0], digits, means[m][1], digits, means[m][2], digits, means[m][3]);
    }
    const double *sorted = means[1], *penalties = means[PENALTIES];
    claim(lab, sorted[1] < sorted[0] && sorted[1] < sorted[2] && sorted[1] < sorted[3],
          "%s: against S in its true order \"deepest only\" wins, as in the reference; \"around average\" %s",
          o->name, sorted[2] < sorted[0] ? "beats \"all\" too" : "does not beat \"all\", unlike there");
    claim(lab, penalties[1] < penalties[0] && penalties[1] < penalties[3] && penalties[2] < penalties[0],
          "%s: in penalties \"deepest only\" wins, and \"around average\" beats \"all\"", o->name);
}

/* Measures, tabulates and claims. */
static void run_order(struct lab *lab, struct table *table, struct order *o)
{
    o->embeddings = lab->quick ? 2 : 25;
    o->verdicts = need(2 * o->embeddings, sizeof *o->verdicts);
    twin_exec_for(lab->exec, 2 * o->embeddings, 1, measure_order, o);
    for (size_t l = 0; l < LISTS; l++)
        for (size_t r = 0; r < ORDER_ROWS; r++)
            for (size_t f = 0; f < FILTERS; f++) {
                struct average nearest = average_of(o, r, l, f, 0), sorted = average_of(o, r, l, f, 1),
                               penalties = average_of(o, r, l, f, PENALTIES);
                table_row(table, "%s\t%zu\t%zu\t%s\t%.1f\t%.4f\t%.4f\t%.4f\t%.4f\t%.1f\t%.1f", o->name, list_sizes[l],
                          order_trees[r], filters[f], nearest.kept, nearest.mean, nearest.error, sorted.mean,
                          sorted.error, penalties.mean, penalties.error);
            }
    claim_order(lab, o);
    free(o->verdicts);
}

void exp_forest_order(struct lab *lab)
{
    struct strings *strings = need(2, sizeof *strings);
    struct table table;
    struct order runs[] = {
        { .preset = TWIN_EMBED_PAPER, .reading = ONE_TREE, .name = "paper, one tree" },
        { .preset = TWIN_EMBED_PAPER, .reading = DISTINCT, .name = "paper" },
        { .preset = TWIN_EMBED_DEFAULT, .reading = DISTINCT, .name = "default" },
    };
    for (size_t s = 0; s < 2; s++)
        draw_strings(&strings[s], KEEP_BY_PAIRS, seed_of(lab->seed, 4400 + s));
    table_begin(
        &table, "forest-order",
        "parameters\t|S|\tL\tfilter\tkept\tto the nearest\tstandard error\tto S, sorted\tstandard error\tpenalties\t"
        "standard error");
    say(lab,
        "The order in which a forest returns strings, against the true order. Reference (Sokolov 2007): the distance "
        "falls slightly with L; \"deepest only\" and \"around average\" win.");
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        runs[i].lab = lab;
        runs[i].strings = strings;
        run_order(lab, &table, &runs[i]);
        progress(lab, i + 1, sizeof runs / sizeof runs[0]);
    }
    table_write_only(lab, &table);
    plot_order(lab);
    free(strings);
}

/* exp_forest_precision.c — forest-precision: the share of what an LSH forest returns that is near the query.
 *
 * Repeats an experiment of Sokolov 2007 (forests.h): the share of S within 126 edits of the query, for forests of 1
 * to 20 trees, next to the paper's table. Several ways to fill S are measured, and several ways to keep the length of
 * edited strings, because the paper leaves both open. */
#include "edit/embed.h"
#include "forests.h"

#include <math.h>
#include <stdlib.h>

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
    twin__embed_preset preset;
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
            make_vectors(vectors, strings, p->preset, p->preset == TWIN__EMBED_PAPER ? SHORT : DEPTH,
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
                      p->preset == TWIN__EMBED_PAPER ? "paper" : "default", readings[reading], row_trees[r],
                      size_of(r, c), reference[r][c].mean, s.mean, s.least, s.most, s.error, reference[r][c].variance,
                      s.variance);
        }
}

/* The table as Sokolov 2007 prints it: a row per L. */
static void print_precision(struct lab *lab, const struct precision *p, enum reading reading)
{
    char name[64];
    const char *parameters = p->preset == TWIN__EMBED_PAPER ? "paper" : "default";
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
            "more than two standard errors below it, %zu above; variances are %.2f times those of the reference.",
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
        struct precision p = { lab, TWIN__EMBED_PAPER, (enum keeping)k, 4100, set_count, 1, 1, NULL };
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
                "? $3 : NaN):5 with linespoints ls 9 dt '%s' title 'Sokolov 2007, |S| = %s', ",
                size, size > 1 ? "." : "-", size > 1 ? "4L" : "L");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        fprintf(script,
                "'' skip 1 using (strcol(1) eq '%s' && strcol(2) eq '%s' && $4==%zu*$3 ? $3 : NaN):6:7:8 with "
                "yerrorbars ls %zu title '%s'%s",
                lines[i].parameters, lines[i].reading, lines[i].size, lines[i].style, lines[i].title,
                i + 1 < sizeof lines / sizeof lines[0] ? ", " : "\n");
    plot_end(lab, script, "forest-precision",
             "Precision against the number of trees, parameters of Sokolov 2007; bars extend from the worst to the "
             "best set of strings.");
}

static void run_paper(struct lab *lab, struct table *table)
{
    struct precision p = { lab, TWIN__EMBED_PAPER, KEEP_BY_PAIRS, 4200, lab->quick ? 4 : 80, lab->quick ? 1 : 5, ROWS,
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
        lab, TWIN__EMBED_DEFAULT, KEEP_BY_PAIRS, 4200, lab->quick ? 4 : 20, lab->quick ? 1 : 5, ROWS, NULL
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
        "embeddings of %d trees. The standard error is that of the difference from the reference (Sokolov 2007), "
        "which used %d forests on one set.",
        (int)STRINGS, (int)LENGTH, (int)NEAR, (int)TREES, (int)REFERENCE_FORESTS);
    run_paper(lab, &table);
    progress(lab, 1, 3);
    run_default(lab, &table);
    progress(lab, 2, 3);
    table_write_only(lab, &table);
    compare_keepings(lab, lab->quick ? 1 : 20);
    plot_precision(lab);
}

/* exp_hash.c — hash-distribution, hash-correlation, hash-independence for every hash family.
 *
 * Martins and Jesus 2015 (§2.3.1 to §2.3.3) plot histograms and joint distributions of FarmHash values of random
 * strings. Here each plot becomes a test with a p-value, and decimal numbers ("1", "2", …) are hashed too: a weak
 * function may look good on random strings. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 2, FAMILIES = 4, MOST_TESTS = 4951 };

static const char *const kinds[KINDS] = { "strings", "numbers" };
static const twin_hash_family families[FAMILIES] = { TWIN_HASH_XXH3, TWIN_HASH_FARM, TWIN_HASH_JENKINS,
                                                     TWIN_HASH_SIP };

/* The hash values behind one row of a table: function f of item i at [f * count + i]. */
struct hashes {
    const struct items *items;
    twin_hash_family family;
    uint64_t seed;
    size_t functions;
    uint64_t *values;
};

static void hash_some(void *context, size_t begin, size_t end, int worker)
{
    struct hashes *hashes = context;
    const struct items *items = hashes->items;
    (void)worker;
    for (size_t f = begin; f < end; f++) {
        twin_hash hash = twin_hash_member(hashes->family, hashes->seed + f);
        for (size_t i = 0; i < items->count; i++)
            hashes->values[f * items->count + i] =
                twin_hash_bytes(hash, items->texts[i].bytes, items->texts[i].length);
    }
}

/* Tests the hash values of one family and kind: adds rows to the table and writes a p-value per test, followed by the
 * p-value of all tests combined. Returns the number of tests. */
typedef size_t judge_hashes(double *p_values, struct table *table, const struct lab *lab, const struct hashes *hashes,
                            const char *kind);

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* p-values in increasing order, each with the one expected at its rank, for a plot. */
static void add_quantiles(struct table *quantiles, double *p_values, size_t count, const char *family,
                          const char *kind)
{
    qsort(p_values, count, sizeof *p_values, by_value);
    for (size_t i = 0; i < count; i++)
        table_row(quantiles, "%s\t%s\t%.6g\t%.6g", family, kind, ((double)i + 0.5) / (double)count,
                  fmax(p_values[i], 1e-300));
}

/* The claims: xxh3, farm and sip are consistent with chance, in each test and in all combined; and so is jenkins,
 * except on the kind named by `jenkins_fails`, where the claim is that the test detects its weakness. */
static void claim_family(struct lab *lab, double *p_values, size_t tests, twin_hash_family family, size_t kind,
                         const char *jenkins_fails)
{
    double together = p_values[tests], smallest = correct(p_values, tests), both[2] = { smallest, together };
    bool chance = correct(both, 2) >= CLAIM_LEVEL;
    const char *name = twin_name_of(TWIN_NAMES_HASH_FAMILY, family);
    if (family == TWIN_HASH_JENKINS && jenkins_fails && strcmp(kinds[kind], jenkins_fails) == 0)
        claim(lab, !chance,
              "the known weakness of %s on %s is detected: %zu tests combined p = %.3g, one by one %.3g", name,
              kinds[kind], tests, together, smallest);
    else
        claim(lab, chance,
              "%s on %s is consistent with chance: %zu tests combined p = %.3g, one by one (corrected) %.3g", name,
              kinds[kind], tests, together, smallest);
}

static void run_families(struct lab *lab, struct table *table, struct table *quantiles, size_t functions,
                         size_t count, judge_hashes *judge, const char *jenkins_fails)
{
    static double p_values[KINDS][FAMILIES][MOST_TESTS];
    size_t tests = 0;
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct items items;
        if (kind == 0)
            items_random(&items, count, seed_of(lab->seed, 100));
        else
            items_numbers(&items, count);
        for (size_t f = 0; f < FAMILIES; f++) {
            struct hashes hashes = { &items, families[f], seed_of(lab->seed, f), functions,
                                     need(functions * count, sizeof(uint64_t)) };
            twin_exec_for(lab->exec, functions, 1, hash_some, &hashes);
            tests = judge(p_values[kind][f], table, lab, &hashes, kinds[kind]);
            free(hashes.values);
            progress(lab, kind * FAMILIES + f + 1, KINDS * FAMILIES);
        }
        items_clear(&items);
    }
    table_end(lab, table);
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t kind = 0; kind < KINDS; kind++) {
            add_quantiles(quantiles, p_values[kind][f], tests, twin_name_of(TWIN_NAMES_HASH_FAMILY, families[f]),
                          kinds[kind]);
            claim_family(lab, p_values[kind][f], tests, families[f], kind, jenkins_fails);
        }
    table_write_only(lab, quantiles);
}

static void plot_quantiles(struct lab *lab, const char *caption)
{
    FILE *script = plot_begin(lab);
    fprintf(script, "set logscale xy\nset format xy '10^{%%L}'\n"
                    "set xlabel 'p-value expected at this rank'\nset ylabel 'p-value observed'\n"
                    "set key above horizontal maxcols 3 width -6 font ',12'\n");
    fprintf(script, "plot [*:1][1e-30<*:1] x ls 1 title 'chance'");
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t kind = 0; kind < KINDS; kind++)
            fprintf(script,
                    ", '%s-p.tsv' skip 1 using 3:(strcol(1) eq '%s' && strcol(2) eq '%s' ? ($4 < 1e-30 ? 1e-30 : $4) "
                    ": NaN) with points ls %zu pt %d ps 0.5 title '%s, %s'",
                    lab->now->name, twin_name_of(TWIN_NAMES_HASH_FAMILY, families[f]), kinds[kind], f + 2,
                    kind ? 6 : 7, twin_name_of(TWIN_NAMES_HASH_FAMILY, families[f]), kinds[kind]);
    fputc('\n', script);
    plot_end(lab, script, lab->now->name, caption);
}

enum { SIDE = 9 }; /* values of which the joint distribution of two functions is taken */

/* ---- what Martins and Jesus 2015 draw: of the family and the items that they have */

static struct table picture;

static bool is_drawn(const struct hashes *hashes, const char *kind)
{
    return hashes->family == TWIN_HASH_FARM && strcmp(kind, kinds[0]) == 0;
}

/* ---- hash-distribution */

enum { BINS = 100 };

static void add_bins(const struct hashes *hashes)
{
    size_t count = hashes->items->count;
    for (size_t f = 0; f < hashes->functions; f++) {
        size_t bins[BINS] = { 0 };
        for (size_t i = 0; i < count; i++)
            bins[(size_t)(((unsigned __int128)hashes->values[f * count + i] * BINS) >> 64)]++;
        for (size_t b = 0; b < BINS; b++)
            table_row(&picture, "%zu\t%.3f\t%zu", f + 1, ((double)b + 0.5) / BINS, bins[b]);
    }
}

static void plot_bins(struct lab *lab, size_t count)
{
    enum { COLUMNS = 5, FUNCTIONS = 10 };
    FILE *script = plot_begin(lab);
    fprintf(
        script,
        "set terminal svg size 760,400\nset multiplot layout %d,%d title \"farm, random strings: items per bin\"\n"
        "unset key\nset lmargin 7\nset rmargin 1\nset bmargin 2\nset xtics 0.5 font ',10'\n"
        "set ytics %g font ',10'\nset style fill solid 0.7 noborder\n",
        FUNCTIONS / COLUMNS, COLUMNS, (double)count / BINS / 2);
    for (int f = 1; f <= FUNCTIONS; f++)
        fprintf(script,
                "set title 'function %d' font ',11'\nplot [0:1][0:%zu] 'hash-distribution-bins.tsv' skip 1 using "
                "2:($1 == %d ? $3 : NaN) with boxes lc '#1f6fb2', %g ls 9\n",
                f, count * 3 / 2 / BINS, f, (double)count / BINS);
    fputs("unset multiplot\n", script);
    plot_end(lab, script, "hash-distribution-bins",
             "Histograms of ten functions, as Martins and Jesus 2015 draw them; the line is the mean.");
}

/* χ² of the values of one function over bins of their whole range, or of their remainders modulo the bins. */
static double spread(double *largest, const uint64_t *values, size_t count, bool low)
{
    size_t bins[BINS] = { 0 };
    for (size_t i = 0; i < count; i++)
        bins[low ? values[i] % BINS : (size_t)(((unsigned __int128)values[i] * BINS) >> 64)]++;
    double mean = (double)count / BINS, chi_square = 0;
    for (size_t b = 0; b < BINS; b++) {
        double off = (double)bins[b] - mean;
        chi_square += off * off / mean;
        *largest = fmax(*largest, fabs(off) / mean);
    }
    return chi_square;
}

static size_t judge_distribution(double *p_values, struct table *table, const struct lab *lab,
                                 const struct hashes *hashes, const char *kind)
{
    size_t count = hashes->items->count, tests = 0;
    double total = 0;
    (void)lab;
    if (is_drawn(hashes, kind))
        add_bins(hashes);
    for (int low = 0; low < 2; low++) {
        double largest = 0, sum = 0, worst = 0;
        for (size_t f = 0; f < hashes->functions; f++) {
            double chi_square = spread(&largest, hashes->values + f * count, count, low);
            p_values[tests++] = p_chi_square(chi_square, BINS - 1);
            sum += chi_square;
            worst = fmax(worst, chi_square);
        }
        double all = p_chi_square(sum, (double)hashes->functions * (BINS - 1));
        table_row(table, "%s\t%s\t%s\t%d\t%.1f\t%.1f\t%.2f %%\t%.3g",
                  twin_name_of(TWIN_NAMES_HASH_FAMILY, hashes->family), kind, low ? "lowest" : "highest", BINS - 1,
                  sum / (double)hashes->functions, worst, 100 * largest, all);
        total += sum;
    }
    p_values[tests] = p_chi_square(total, (double)tests * (BINS - 1));
    return tests;
}

void exp_hash_distribution(struct lab *lab)
{
    struct table table, quantiles;
    size_t count = lab->quick ? 100000 : 1000000;
    table_begin(&table, "hash-distribution",
                "family\thashed\tbits\tχ² theory\tχ² mean\tχ² largest\tlargest deviation\tp of all");
    table_begin(&quantiles, "hash-distribution-p", "family\thashed\texpected\tobserved");
    say(lab,
        "10 functions per family, %zu items, %d bins. Reference (Martins and Jesus 2015): histograms look uniform.",
        count, (int)BINS);
    table_begin(&picture, "hash-distribution-bins", "function\tvalue\titems");
    run_families(lab, &table, &quantiles, 10, count, judge_distribution, NULL);
    table_write_only(lab, &picture);
    plot_bins(lab, count);
    plot_quantiles(lab, "p-values of the χ² tests for uniformity, in order, against those expected by chance.");
}

/* ---- hash-correlation */

/* Centred and scaled, so that a product is a share of the correlation. */
static void standardise(double *out, const uint64_t *values, size_t count)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++)
        mean += out[i] = (double)values[i] * 0x1p-64;
    mean /= (double)count;
    for (size_t i = 0; i < count; i++) {
        out[i] -= mean;
        square += out[i] * out[i];
    }
    double scale = square > 0 ? 1 / sqrt(square) : 0;
    for (size_t i = 0; i < count; i++)
        out[i] *= scale;
}

struct correlations {
    double *columns, *matrix;
    size_t functions, count;
};

/* The scalar product, in eight sums: additions to one would each wait for the last. */
static double product(const double *x, const double *y, size_t count)
{
    enum { LANES = 8 };
    double sums[LANES] = { 0 }, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            sums[lane] += x[i + lane] * y[i + lane];
    for (; i < count; i++)
        sum += x[i] * y[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

enum { ROWS_AT_A_TIME = 10 };

/* Some rows of the matrix, right of its diagonal. A block of all columns stays in the cache while these rows use it. */
static void correlate_some(void *context, size_t begin, size_t end, int worker)
{
    enum { BLOCK = 512 };
    struct correlations *c = context;
    (void)worker;
    for (size_t from = 0; from < c->count; from += BLOCK) {
        size_t length = c->count - from < BLOCK ? c->count - from : BLOCK;
        for (size_t a = begin; a < end; a++)
            for (size_t b = a + 1; b < c->functions; b++)
                c->matrix[a * c->functions + b] +=
                    product(c->columns + a * c->count + from, c->columns + b * c->count + from, length);
    }
}

/* For the plot: how many correlations fall into steps of a standard error. */
static void add_histogram(struct table *out, const struct correlations *c, const char *family, const char *kind)
{
    enum { STEPS = 40 };
    size_t bins[STEPS] = { 0 }, pairs = 0;
    for (size_t a = 0; a < c->functions; a++)
        for (size_t b = a + 1; b < c->functions; b++, pairs++) {
            double z = c->matrix[a * c->functions + b] * sqrt((double)c->count);
            bins[z <= -5 ? 0 : z >= 5 ? STEPS - 1 : (size_t)((z + 5) * 4)]++;
        }
    for (size_t i = 0; i < STEPS; i++)
        table_row(out, "%s\t%s\t%.3f\t%.5f", family, kind, ((double)i + 0.5) / 4 - 5,
                  (double)bins[i] / (double)pairs * 4);
}

static struct table histogram;

static void add_matrix(const struct correlations *c)
{
    for (size_t a = 0; a < c->functions; a++)
        for (size_t b = 0; b < c->functions; b++)
            if (a == b)
                table_row(&picture, "%zu\t%zu\tNaN", a + 1, b + 1);
            else
                table_row(&picture, "%zu\t%zu\t%.6f", a + 1, b + 1,
                          c->matrix[a < b ? a * c->functions + b : b * c->functions + a]);
}

/* Squares of a colour each, around a white zero. */
static void plot_squares(struct lab *lab, const char *name, int side, double most, const char *label,
                         const char *scale, const char *caption)
{
    FILE *script = plot_begin(lab);
    fprintf(script,
            "set terminal svg size 620,560\nset size ratio -1\nunset grid\nunset key\nset rmargin 12\n"
            "set palette defined (-1 '#1f6fb2', 0 '#ffffff', 1 '#c8401e')\nset cbrange [%g:%g]\nset cblabel '%s'\n"
            "set xlabel '%s'\nset ylabel '%s'\n"
            "plot [0.5:%d.5][0.5:%d.5] '%s.tsv' skip 1 using 1:2:($3*%s) with image pixels\n",
            -most, most, label, side == SIDE ? "ninth of the values of one function" : "function",
            side == SIDE ? "of the other" : "function", side, side, name, scale);
    plot_end(lab, script, name, caption);
}

static size_t judge_correlation(double *p_values, struct table *table, const struct lab *lab,
                                const struct hashes *hashes, const char *kind)
{
    size_t n = hashes->functions, count = hashes->items->count, tests = 0, outside = 0;
    struct correlations c = { need(n * count, sizeof(double)), need(n * n, sizeof(double)), n, count };
    double largest = 0, squares = 0;
    for (size_t f = 0; f < n; f++)
        standardise(c.columns + f * count, hashes->values + f * count, count);
    twin_exec_for(lab->exec, n, ROWS_AT_A_TIME, correlate_some, &c);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            double r = c.matrix[a * n + b];
            p_values[tests++] = p_normal(r * sqrt((double)count));
            outside += fabs(r) >= 0.01;
            largest = fmax(largest, fabs(r));
            squares += r * r;
        }
    double all = p_values[tests] = p_chi_square(squares * (double)count, (double)tests);
    double expected = p_normal(0.01 * sqrt((double)count));
    struct interval share = interval_of((double)outside, (double)tests);
    const char *family = twin_name_of(TWIN_NAMES_HASH_FAMILY, hashes->family);
    table_row(table, "%s\t%s\t%.5f\t%.5f\t%.5f\t%.5f\t%.5f\t%.5f\t%.4f\t%.3g", family, kind, 1 / sqrt((double)count),
              sqrt(squares / (double)tests), expected, (double)outside / (double)tests, share.low, share.high,
              largest, all);
    add_histogram(&histogram, &c, family, kind);
    if (is_drawn(hashes, kind))
        add_matrix(&c);
    free(c.columns);
    free(c.matrix);
    return tests;
}

void exp_hash_correlation(struct lab *lab)
{
    struct table table, quantiles;
    size_t count = 100000; /* fewer do not reveal the weakness of jenkins */
    table_begin(
        &table, "hash-correlation",
        "family\thashed\tRMS theory\tRMS observed\t|r| ≥ 0.01: theory\tobserved\tlow\thigh\tlargest |r|\tp of all");
    table_begin(&quantiles, "hash-correlation-p", "family\thashed\texpected\tobserved");
    table_begin(&histogram, "hash-correlation-r", "family\thashed\tr in standard errors\tdensity");
    say(lab,
        "100 functions per family, 4,950 pairs, %zu items. Reference (Martins and Jesus 2015): nearly all |r| < "
        "0.01.",
        count);
    table_begin(&picture, "hash-correlation-matrix", "function\tother\tcorrelation");
    run_families(lab, &table, &quantiles, 100, count, judge_correlation, "numbers");
    table_write_only(lab, &histogram);
    table_write_only(lab, &picture);
    plot_squares(
        lab, "hash-correlation-matrix", 100, 0.01, "correlation", "1",
        "Correlations of 100 functions, which Martins and Jesus 2015 draw as a surface (farm, random strings).");
    FILE *script = plot_begin(lab);
    fprintf(script, "set xlabel 'correlation of two functions, in standard errors (1/√n)'\nset ylabel 'density'\n"
                    "plot [-5:5][0:*] exp(-x*x/2)/sqrt(2*pi) ls 1 title 'chance: normal'");
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t kind = 0; kind < KINDS; kind++)
            fprintf(
                script,
                ", 'hash-correlation-r.tsv' skip 1 using 3:(strcol(1) eq '%s' && strcol(2) eq '%s' ? $4 : NaN) with "
                "points ls %zu pt %d ps 0.5 title '%s, %s'",
                twin_name_of(TWIN_NAMES_HASH_FAMILY, families[f]), kinds[kind], f + 2, kind ? 6 : 7,
                twin_name_of(TWIN_NAMES_HASH_FAMILY, families[f]), kinds[kind]);
    fputc('\n', script);
    plot_end(lab, script, "hash-correlation", "Correlations of all pairs of 100 functions, against chance.");
}

/* ---- hash-independence */

static size_t side_of(uint64_t value)
{
    return (size_t)(((unsigned __int128)value * SIDE) >> 64);
}

/* χ² of the joint distribution of two functions against the product of its marginals. */
static double dependence(double *largest, double *squares, const uint64_t *x, const uint64_t *y, size_t count)
{
    double joint[SIDE][SIDE] = { { 0 } }, rows[SIDE] = { 0 }, columns[SIDE] = { 0 }, chi_square = 0;
    for (size_t i = 0; i < count; i++)
        joint[side_of(x[i])][side_of(y[i])]++;
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b++) {
            rows[a] += joint[a][b];
            columns[b] += joint[a][b];
        }
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b++) {
            double product = rows[a] * columns[b] / (double)count, off = joint[a][b] - product;
            chi_square += product > 0 ? off * off / product : 0;
            *largest = fmax(*largest, fabs(off) / (double)count);
            *squares += off * off / ((double)count * (double)count);
        }
    return chi_square;
}

static void add_cells(const struct hashes *hashes)
{
    size_t count = hashes->items->count;
    double joint[SIDE][SIDE] = { { 0 } }, rows[SIDE] = { 0 }, columns[SIDE] = { 0 }, n = (double)count;
    for (size_t i = 0; i < count; i++)
        joint[side_of(hashes->values[i])][side_of(hashes->values[count + i])]++;
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b++) {
            rows[a] += joint[a][b];
            columns[b] += joint[a][b];
        }
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b++)
            table_row(&picture, "%zu\t%zu\t%.7f", a + 1, b + 1, joint[a][b] / n - rows[a] / n * columns[b] / n);
}

static size_t judge_independence(double *p_values, struct table *table, const struct lab *lab,
                                 const struct hashes *hashes, const char *kind)
{
    size_t count = hashes->items->count, tests = 0;
    double largest = 0, squares = 0, sum = 0, worst = 0, freedom = (SIDE - 1) * (SIDE - 1);
    (void)lab;
    if (is_drawn(hashes, kind))
        add_cells(hashes);
    for (size_t a = 0; a < hashes->functions; a++)
        for (size_t b = a + 1; b < hashes->functions; b++) {
            double chi_square =
                dependence(&largest, &squares, hashes->values + a * count, hashes->values + b * count, count);
            p_values[tests++] = p_chi_square(chi_square, freedom);
            sum += chi_square;
            worst = fmax(worst, chi_square);
        }
    double mean = sum / (double)tests, all = p_values[tests] = p_chi_square(sum, freedom * (double)tests);
    double expected = (SIDE - 1.0) / SIDE / SIDE / sqrt((double)count), cells = (double)tests * SIDE * SIDE;
    table_row(table, "%s\t%s\t%.0f\t%.1f\t%.1f\t%.3g\t%.1e\t10⁻⁴\t%.1e\t%.1e",
              twin_name_of(TWIN_NAMES_HASH_FAMILY, hashes->family), kind, freedom, mean, worst, all, expected,
              sqrt(squares / cells), largest);
    return tests;
}

void exp_hash_independence(struct lab *lab)
{
    struct table table, quantiles;
    size_t count = lab->quick ? 50000 : 100000;
    table_begin(&table, "hash-independence",
                "family\thashed\tχ² theory\tχ² mean\tχ² largest\tp of all\tpmf differs: theory\treference\tRMS "
                "observed\tlargest");
    table_begin(&quantiles, "hash-independence-p", "family\thashed\texpected\tobserved");
    say(lab,
        "10 functions per family, 45 pairs, %zu items, joint 9 × 9 pmf against the product of its marginals. "
        "Reference (Martins and Jesus 2015): differences of order 10⁻⁴.",
        count);
    table_begin(&picture, "hash-independence-cells", "value of one\tvalue of the other\tdifference");
    run_families(lab, &table, &quantiles, 10, count, judge_independence, NULL);
    table_write_only(lab, &picture);
    plot_squares(lab, "hash-independence-cells", SIDE, 10, "joint pmf less the product, in 10^{-4}", "1e4",
                 "The 9 × 9 differences that Martins and Jesus 2015 draw: two functions of farm, random strings.");
    plot_quantiles(lab, "p-values of the χ² tests for independence of two functions, in order, against chance.");
}

/* exp_minhash.c — minhash-permutations (a simulation from the Aveiro slides) and minhash-error.
 *
 * The first draws random permutations and counts how often two columns of bits have the same minimum. The second
 * signs pairs of random sets with many hashers and compares the error of the estimated similarity with theory. */
#include "lab.h"

#include "sketch/minhash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- minhash-permutations */

enum { ROWS = 200, CASES = 3 };

/* Two columns of bits, and the expected share of equal minima. */
struct columns {
    const char *name;
    bool first[ROWS], second[ROWS];
    double similarity, apart; /* J; and the probability when each column has its own permutation */
};

/* The columns of the slides are independent random bits. A third pair is as similar as near-duplicate documents. */
static void draw_columns(struct columns *out, size_t number, uint64_t seed)
{
    static const char *const names[CASES] = { "independent, dense", "independent, sparse", "similar" };
    uint64_t state = seed;
    *out = (struct columns){ .name = names[number] };
    for (size_t i = 0; i < ROWS; i++) {
        double density = number == 0 ? 0.6 : number == 1 ? 0.2 : 0.3;
        out->first[i] = draw_unit(&state) < density;
        out->second[i] = draw_unit(&state) < density;
        if (number == 2 && draw_unit(&state) < 0.9)
            out->second[i] = out->first[i];
    }
}

/* With a permutation per column the minima are independent; P[minimum = i] follows from drawing without
 * replacement. */
static double meet_apart(size_t ones, size_t others)
{
    double both = 0, before = 1, other_before = 1;
    for (size_t i = 0; i < ROWS; i++) {
        double here = fmin(1, (double)ones / (double)(ROWS - i)),
               there = fmin(1, (double)others / (double)(ROWS - i));
        both += before * here * other_before * there;
        before *= 1 - here;
        other_before *= 1 - there;
    }
    return both;
}

static void measure(struct columns *columns)
{
    size_t common = 0, either = 0, ones = 0, others = 0;
    for (size_t i = 0; i < ROWS; i++) {
        common += columns->first[i] && columns->second[i];
        either += columns->first[i] || columns->second[i];
        ones += columns->first[i];
        others += columns->second[i];
    }
    columns->similarity = (double)common / (double)either;
    columns->apart = meet_apart(ones, others);
}

static void permute(uint16_t *out, uint64_t *state)
{
    for (size_t i = 0; i < ROWS; i++)
        out[i] = (uint16_t)i;
    for (size_t i = ROWS - 1; i > 0; i--) {
        size_t j = draw_below(state, i + 1);
        uint16_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}

/* The first row, in permuted order, that has a one. */
static size_t minimum(const bool *column, const uint16_t *permutation)
{
    size_t i = 0;
    while (i < ROWS && !column[permutation[i]])
        i++;
    return i;
}

static void plot_running(struct lab *lab, const struct columns *all)
{
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'permutations'\nset ylabel 'share of equal minima so far'\nset logscale x\n"
          "set key above horizontal maxcols 2 width -9 font ',12'\nset yrange [0:1]\nplot [1:10000] ",
          script);
    for (size_t c = 0; c < CASES; c++)
        fprintf(script,
                "%.6f ls 1 %s, 'minhash-permutations-running.tsv' skip 1 using 1:%zu with lines ls %zu title '%s, J "
                "= %.3f', ",
                all[c].similarity, c ? "notitle" : "title 'theory: J'", c + 2, c + 2, all[c].name, all[c].similarity);
    fputs("'' skip 1 using 1:5 with lines ls 9 title 'similar, one permutation per column'\n", script);
    plot_end(lab, script, "minhash-permutations", "The running share of equal minima over random permutations.");
}

/* Runs the simulation; hits[c] counts with one permutation for both columns, apart[c] with one per column. */
static void simulate(struct lab *lab, const struct columns *all, size_t *hits, size_t *apart, size_t permutations)
{
    uint16_t one[ROWS], two[ROWS];
    uint64_t state = seed_of(lab->seed, 1000);
    double next = 1;
    struct table running;
    table_begin(
        &running, "minhash-permutations-running",
        "permutations\tindependent, dense\tindependent, sparse\tsimilar\tsimilar, one permutation per column");
    for (size_t n = 1; n <= permutations; n++) {
        permute(one, &state);
        permute(two, &state);
        for (size_t c = 0; c < CASES; c++) {
            size_t first = minimum(all[c].first, one);
            hits[c] += first == minimum(all[c].second, one);
            apart[c] += first == minimum(all[c].second, two);
        }
        if ((double)n < next && n < permutations)
            continue;
        table_row(&running, "%zu\t%.5f\t%.5f\t%.5f\t%.5f", n, (double)hits[0] / (double)n,
                  (double)hits[1] / (double)n, (double)hits[2] / (double)n, (double)apart[2] / (double)n);
        next = fmax((double)n + 1, (double)n * 1.02);
        progress(lab, n, permutations);
    }
    table_write_only(lab, &running);
}

void exp_minhash_permutations(struct lab *lab)
{
    enum { PERMUTATIONS = 10000 };
    struct columns all[CASES];
    size_t hits[CASES] = { 0 }, apart[CASES] = { 0 };
    double p_values[2 * CASES];
    struct table table;
    table_begin(&table, "minhash-permutations", "columns\tpermutation\ttheory\treference\tobserved\tlow\thigh\tJ");
    say(lab,
        "Two columns of %d bits, %d random permutations. Reference (Aveiro slides): the share of equal minima "
        "converges to J.",
        (int)ROWS, (int)PERMUTATIONS);
    say(lab,
        "The listing in the slides draws one permutation per column. With independent columns that gives nearly J as "
        "well; with similar ones it does not.");
    for (size_t c = 0; c < CASES; c++) {
        draw_columns(&all[c], c, seed_of(lab->seed, 1001 + c));
        measure(&all[c]);
    }
    simulate(lab, all, hits, apart, PERMUTATIONS);
    for (size_t c = 0; c < CASES; c++)
        for (int own = 0; own < 2; own++) {
            double seen = (double)(own ? apart[c] : hits[c]), theory = own ? all[c].apart : all[c].similarity;
            struct interval interval = interval_of(seen, PERMUTATIONS);
            p_values[2 * c + (size_t)own] = p_binomial(seen, PERMUTATIONS, theory);
            table_row(&table, "%s\t%s\t%.4f\t%s\t%.4f\t%.4f\t%.4f\t%.4f", all[c].name,
                      own ? "one per column" : "shared", theory, own ? "–" : "J", seen / PERMUTATIONS, interval.low,
                      interval.high, all[c].similarity);
        }
    table_end(lab, &table);
    claim_chance(lab, p_values, 2 * CASES, "equal minima are as frequent as theory says");
    claim(lab, fabs(all[2].apart - all[2].similarity) > 0.1,
          "one permutation per column does not estimate J: %.3f instead of %.3f", all[2].apart, all[2].similarity);
    plot_running(lab, all);
}

/* ---- minhash-error */

enum { SIZES = 2, SIMILARITIES = 3, SLOTS = 5, SKETCHES = 2 };
static const size_t sizes[SIZES] = { 100, 2000 }; /* of the union of both sets */
static const size_t slots[SLOTS] = { 16, 64, 128, 400, 1024 };
static const double similarities[SIMILARITIES] = { 0.1, 0.5, 0.9 };

/* Estimates of one similarity by many hashers. */
struct estimates {
    twin_minhash_options options;
    size_t size, common;
    double *errors;
};

static void estimate_some(void *context, size_t begin, size_t end, int worker)
{
    const struct estimates *e = context;
    uint32_t *a = need(2 * e->options.slots, sizeof *a), *b = a + e->options.slots;
    uint64_t *items = need(e->size, sizeof *items);
    size_t alone = (e->size - e->common) / 2;
    (void)worker;
    for (size_t t = begin; t < end; t++) {
        uint64_t state = seed_of(e->options.seed, t);
        twin_minhash_options options = e->options;
        twin_minhash *hasher;
        options.seed = draw(&state);
        for (size_t i = 0; i < e->size; i++)
            items[i] = draw(&state);
        expect(twin__minhash_create(&hasher, options), "making a hasher", NULL);
        twin__minhash_sign(a, hasher, items, alone + e->common);
        twin__minhash_sign(b, hasher, items + alone, e->size - alone);
        e->errors[t] = (double)twin_minhash_agreement(a, b, options.slots) / (double)options.slots -
                       (double)e->common / (double)e->size;
        twin__minhash_free(hasher);
    }
    free(items);
    free(a);
}

struct verdict {
    double rms, low, high, bias;
    double p_bias, p_spread; /* p-values of the bias, and of the variance under J(1-J)/k */
    double z_spread;         /* positive: more than theory */
};

/* The errors of k slots that agree with probability J have a known variance; the variance of its estimate from T
 * trials follows from their kurtosis. */
static struct verdict evaluate(const double *errors, size_t trials, double j, double k)
{
    double sum = 0, squares = 0, t = (double)trials, variance = j * (1 - j) / k;
    for (size_t i = 0; i < trials; i++) {
        sum += errors[i];
        squares += errors[i] * errors[i];
    }
    double kurtosis = (1 - 6 * j * (1 - j)) / (k * j * (1 - j)), width = sqrt((2 + kurtosis) / t);
    double rms = sqrt(squares / t), z = (squares / t / variance - 1) / width;
    return (struct verdict){ rms,
                             rms * (1 - 0.98 * width),
                             rms * (1 + 0.98 * width),
                             sum / t,
                             p_normal(sum / t / sqrt(variance / t)),
                             p_normal(z),
                             z };
}

/* Columns 7 to 9 of all sketches and sizes, divided by `by`: "1", or a column such as "$5". */
static void plot_points(FILE *script, const char *by)
{
    static const char *const names[SKETCHES] = { "fast", "classic" };
    for (size_t s = 0; s < SIZES; s++)
        for (size_t sketch = 0; sketch < SKETCHES; sketch++)
            fprintf(
                script,
                ", 'minhash-error.tsv' skip 1 using ($4*%.3f):(strcol(1) eq '%s' && $2 == %zu && $3 == 0.5 ? $7/%s : "
                "NaN):($8/%s):($9/%s) with yerrorbars ls %d pt %d title '%s, %zu items'",
                1 + 0.05 * (double)sketch + 0.025 * (double)s - 0.04, names[sketch], sizes[s], by, by, by,
                sketch ? 3 : 2, s ? 7 : 6, names[sketch], sizes[s]);
    fputc('\n', script);
}

static void plot_errors(struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    fputs("set ylabel 'RMS error, J = 0.5'\nset logscale xy\nset xtics (16, 64, 128, 400, 1024)\n"
          "set format y '%g'\nset xrange [12:1400]\nset yrange [0.008:0.3]\n"
          "plot 0.5/sqrt(x) ls 1 title 'theory: √(J(1−J)/k)'",
          script);
    plot_points(script, "1");
    plot_lower(script);
    fputs("set xlabel 'slots k'\nplot 1 ls 1", script);
    plot_points(script, "$5");
    plot_end(lab, script, "minhash-error",
             "RMS error of the estimated Jaccard similarity against the number of slots.");
}

/* One row of the table. */
static struct verdict try_estimates(struct lab *lab, struct table *table, struct estimates *e, size_t trials)
{
    double j = (double)e->common / (double)e->size, k = (double)e->options.slots, theory = sqrt(j * (1 - j) / k);
    twin_exec_for(lab->exec, trials, 10, estimate_some, e);
    struct verdict v = evaluate(e->errors, trials, j, k);
    table_row(table, "%s\t%zu\t%.1f\t%zu\t%.5f\t%s\t%.5f\t%.5f\t%.5f\t%+.5f",
              twin_name_of(TWIN_NAMES_SKETCH, e->options.sketch), e->size, j, e->options.slots, theory,
              e->options.slots == 400 ? "0.05" : "–", v.rms, v.low, v.high, v.bias);
    v.rms /= theory;
    return v;
}

void exp_minhash_error(struct lab *lab)
{
    enum { ROWS_EACH = SIZES * SIMILARITIES * SLOTS };
    double bias[SKETCHES * ROWS_EACH], classic[ROWS_EACH], worst = 0, best = 1;
    size_t tests = 0, spreads = 0, trials = lab->quick ? 200 : 2000;
    struct estimates e = { .errors = need(trials, sizeof(double)) };
    struct table table;
    table_begin(&table, "minhash-error", "sketch\titems\tJ\tk\ttheory\treference\tobserved\tlow\thigh\tbias");
    say(lab,
        "Pairs of random sets, %zu hashers each; `items` is the size of their union. Reference (Martins and Jesus "
        "2015): k = 400 for an error of 0.05.",
        trials);
    for (size_t row = 0; row < SKETCHES * ROWS_EACH; row++) {
        twin_sketch sketch = row < ROWS_EACH ? TWIN_SKETCH_FAST : TWIN_SKETCH_CLASSIC;
        e.size = sizes[row / (SIMILARITIES * SLOTS) % SIZES];
        e.common = (size_t)((double)e.size * similarities[row / SLOTS % SIMILARITIES] + 0.5);
        e.options = (twin_minhash_options){ .sketch = sketch,
                                            .slots = slots[row % SLOTS],
                                            .seed = seed_of(lab->seed, 1100 + row) };
        struct verdict v = try_estimates(lab, &table, &e, trials);
        bias[tests++] = v.p_bias;
        if (sketch == TWIN_SKETCH_CLASSIC) {
            classic[spreads++] = v.p_spread;
        } else {
            worst = fmax(worst, v.z_spread);
            best = fmin(best, v.rms);
        }
        progress(lab, tests, SKETCHES * ROWS_EACH);
    }
    table_end(lab, &table);
    claim_chance(lab, bias, tests, "estimates are unbiased");
    claim_chance(lab, classic, spreads, "classic errors are √(J(1−J)/k)");
    claim(lab, worst < 5.5,
          "fast errors are at most that: largest excess %.1f standard errors; smallest error %.2f times theory",
          worst, best);
    plot_errors(lab);
    free(e.errors);
}

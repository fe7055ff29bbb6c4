/* exp_embed.c — embed-bounds and embed-collision: what edits do to q-gram vectors (Sokolov 2007).
 *
 * The first compares the q-gram distance D of pairs of texts with the bounds that their exact edit distance implies.
 * The second counts how often the randomised hash functions agree on such pairs, and compares with p(c) averaged over
 * all windows. */
#include "edit/edit.h"
#include "edit/embed.h"
#include "lab.h"
#include "sketch/hash.h"
#include "texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- embed-bounds */

enum { BOUND_LENGTHS = 2, SHAPES = 3, STEPS = 24 };
static const size_t bound_lengths[BOUND_LENGTHS] = { 5000, 10000 };
static const double plateaus[BOUND_LENGTHS] = { 40, 58 }; /* read off a plot in Sokolov 2007 */
static const size_t bound_edits[STEPS] = { 1,  2,  3,  4,  5,   6,   8,   10,  12,   15,   20,   25,
                                           30, 40, 60, 80, 120, 200, 400, 700, 1200, 2000, 3000, 4800 };

/* Where the edits are. Scattered edits change D a lot, edits in one block little. */
static const char *const shapes[SHAPES] = { "scattered", "one block", "shift" };

static void draw_shape(char *out, const char *from, size_t n, size_t shape, size_t edits, uint64_t *state)
{
    memcpy(out, from, n);
    if (shape == 0)
        draw_edited(out, from, n, edits, KEEP_BY_PAIRS, state);
    if (shape == 1)
        draw_letters(out + draw_below(state, n - edits + 1), edits, state);
    if (shape == 2) { /* insert in front, cut off the end */
        memcpy(out + edits, from, n - edits);
        draw_letters(out, edits, state);
    }
}

struct bounds {
    const struct lab *lab;
    size_t n, pairs; /* pairs for each shape and number of edits */
    twin__embed_grams grams;
    size_t *edits; /* the true distance of each pair */
    double *distances;
};

static void measure_bounds(void *context, size_t begin, size_t end, int worker)
{
    const struct bounds *b = context;
    char *x = need(b->n, 1), *y = need(b->n, 1);
    twin_edit_scratch scratch = { 0 };
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        uint64_t state = seed_of(b->lab->seed, 2000000 + 100000 * (b->n / 1000) + i);
        size_t step = i / b->pairs % STEPS, shape = i / b->pairs / STEPS;
        draw_letters(x, b->n, &state);
        draw_shape(y, x, b->n, shape, bound_edits[step], &state);
        twin_text one = { x, b->n }, other = { y, b->n };
        expect(twin__edit_distance(&b->edits[i], &scratch, one, other, TWIN_EDIT_BYTES, b->n), "edit distance", NULL);
        expect(twin__embed_distance(&b->distances[i], one, other, b->grams), "q-gram distance", NULL);
    }
    twin__edit_scratch_clear(&scratch);
    free(x);
    free(y);
}

/* The most D can be with ed = k. */
static double bound_above(const struct bounds *b, double k)
{
    double n = (double)b->n, w = (double)b->grams.window;
    return 2 * k * (w * w + n + 1) / (n - w + 1);
}

/* The least D can be with ed = k, which is more than k - 1. */
static double bound_below(const struct bounds *b, double k)
{
    double n = (double)b->n, w = (double)b->grams.window, spread = (double)(b->grams.q_high - b->grams.q_low);
    double q = (spread + 1) * (spread + 2), t = w - spread + 1;
    return fmax(0, q * t * ((k - 1) / (2 * (spread + 1)) - 2) / ((n - w + 1) * (spread + 1)));
}

static double plateau_of(const struct bounds *b)
{
    return (double)(2 * (b->grams.window + 1) - b->grams.q_low - b->grams.q_high);
}

/* A row for a shape and a number of edits; returns how many pairs are out of bounds. */
static size_t tabulate_step(struct table *table, struct table *all, const struct bounds *b, size_t shape, size_t step)
{
    size_t least = SIZE_MAX, most = 0, outside = 0;
    double low = INFINITY, high = 0;
    for (size_t p = 0; p < b->pairs; p++) {
        size_t i = (shape * STEPS + step) * b->pairs + p, k = b->edits[i];
        double d = b->distances[i];
        least = k < least ? k : least;
        most = k > most ? k : most;
        low = fmin(low, d);
        high = fmax(high, d);
        outside += d > bound_above(b, (double)k) + 1e-9 || d < bound_below(b, (double)k) - 1e-9;
        table_row(all, "%zu\t%s\t%zu\t%.6g\t%.6g\t%.6g", b->n, shapes[shape], k, d, bound_below(b, (double)k),
                  bound_above(b, (double)k));
    }
    if (step % 3 == 2 || step == STEPS - 1 || step == 0)
        table_row(table, "%zu\t%s\t%zu\t%zu\t%.3f\t%.4f\t%.4f\t%.2f\t%zu", b->n, shapes[shape], least, most,
                  bound_below(b, (double)most), low, high, bound_above(b, (double)least), outside);
    return outside;
}

static void plot_bounds(struct lab *lab, const struct bounds *each)
{
    FILE *script = plot_begin_halves(lab);
    for (size_t i = 0; i < BOUND_LENGTHS; i++) {
        const struct bounds *b = &each[i];
        if (i > 0)
            plot_lower_half(script);
        fprintf(script,
                "set logscale xy\nset format y '10^{%%L}'\nset xlabel '%s'\nset ylabel 'D, n = %zu'\n%s\n"
                "plot [0.9:12000][1e-4:1e3] ",
                i ? "edit distance" : "", b->n,
                i ? "unset key" : "set key bottom right maxrows 3 width -4 font ',11'");
        static const char *const colours[SHAPES] = { "2", "3", "4" };
        for (size_t s = 0; s < SHAPES; s++)
            fprintf(script,
                    "'embed-bounds-all.tsv' skip 1 using ($1==%zu && strcol(2) eq '%s' ? $3 : NaN):4 with points ls "
                    "%s ps 0.35 title '%s', ",
                    b->n, shapes[s], colours[s], shapes[s]);
        fprintf(script,
                "%.9g*x ls 1 title 'bounds', (x > 2 ? %.9g*(x-1)-%.9g : NaN) ls 1 notitle, %.3f ls 1 dt '.' title "
                "'theory: plateau', %.1f ls 9 title 'plateau in Sokolov 2007'\n",
                bound_above(b, 1), (bound_below(b, 4001) - bound_below(b, 3001)) / 1000,
                4000 * (bound_below(b, 4001) - bound_below(b, 3001)) / 1000 - bound_below(b, 4001), plateau_of(b),
                plateaus[i]);
    }
    plot_end(lab, script, "embed-bounds",
             "The q-gram distance D against the edit distance: n = 5,000 above, 10,000 below. No pair may be outside "
             "the bounds.");
}

void exp_embed_bounds(struct lab *lab)
{
    struct bounds each[BOUND_LENGTHS];
    size_t outside = 0, total = 0;
    struct table table, all;
    table_begin(&table, "embed-bounds",
                "n\tedits\ted from\tto\ttheory: least D\tobserved least\tmost\ttheory: most D\toutside");
    table_begin(&all, "embed-bounds-all", "n\tedits\ted\tD\tlower bound\tupper bound");
    say(lab, "D(x, y) with w = √n and q as in Sokolov 2007, against the edit distance; edits are scattered, in one "
             "block, or shift the whole text.");
    for (size_t l = 0; l < BOUND_LENGTHS; l++) {
        struct bounds *b = &each[l];
        *b = (struct bounds){ .lab = lab, .n = bound_lengths[l], .pairs = lab->quick ? 2 : 30 };
        b->grams = twin__embed_paper_grams((size_t)lround(sqrt((double)b->n)));
        size_t count = SHAPES * STEPS * b->pairs;
        b->edits = need(count, sizeof *b->edits);
        b->distances = need(count, sizeof *b->distances);
        twin_exec_for(lab->exec, count, 4, measure_bounds, b);
        for (size_t i = 0; i < SHAPES * STEPS; i++)
            outside += tabulate_step(&table, &all, b, i / STEPS, i % STEPS);
        total += count;
        progress(lab, l + 1, BOUND_LENGTHS);
    }
    table_end(lab, &table);
    table_write_only(lab, &all);
    claim(lab, outside == 0, "%zu of %zu pairs are outside the bounds implied by their edit distance", outside,
          total);
    for (size_t l = 0; l < BOUND_LENGTHS; l++) {
        struct bounds *b = &each[l];
        double most = 0;
        for (size_t i = 0; i < SHAPES * STEPS * b->pairs; i++)
            most = fmax(most, b->distances[i]);
        claim(lab, most <= plateau_of(b) && most > 0.99 * plateau_of(b) && fabs(most - plateaus[l]) < 4,
              "n = %zu, w = %zu, q = %zu..%zu: D rises to %.2f; theory 2(w+1) - q1 - q2 = %.0f; Sokolov 2007: about "
              "%.0f",
              b->n, b->grams.window, b->grams.q_low, b->grams.q_high, most, plateau_of(b), plateaus[l]);
    }
    plot_bounds(lab, each);
    for (size_t l = 0; l < BOUND_LENGTHS; l++) {
        free(each[l].edits);
        free(each[l].distances);
    }
}

/* ---- embed-collision */

enum { COLLISION_LENGTHS = 2, PRESETS = 2, LEVELS = 13 };
static const size_t collision_lengths[COLLISION_LENGTHS] = { 1000, 3000 };
static const char *const presets[PRESETS] = { "default", "paper" };
static const size_t collision_edits[LEVELS] = { 0, 1, 2, 4, 7, 12, 20, 35, 60, 100, 160, 250, 600 };

struct collisions {
    const struct lab *lab;
    size_t n, functions, pairs;
    twin__embed_preset preset;
    double *theory, *distances; /* per pair: its probability, the mean l1 distance of its windows */
    size_t *hits, *edits;
};

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Maps hashes to small numbers, equal exactly where the hashes are. */
static void number_hashes(uint32_t *out, const uint64_t *hashes, size_t count)
{
    uint64_t *sorted = need(count, sizeof *sorted);
    memcpy(sorted, hashes, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_hashes);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[distinct - 1])
            sorted[distinct++] = sorted[i];
    for (size_t i = 0; i < count; i++) {
        const uint64_t *at = bsearch(&hashes[i], sorted, distinct, sizeof *sorted, compare_hashes);
        out[i] = (uint32_t)(at - sorted);
    }
    free(sorted);
}

/* Adds the distance of the q-grams to that of each window; out[i] belongs to the windows that begin at i. */
static void add_gram_distances(double *out, const char *x, const char *y, size_t n, size_t window, size_t q)
{
    const twin_hash hash = { .family = TWIN_HASH_XXH3, .seed = 0xD15 };
    size_t grams = n - q + 1;
    uint64_t *hashes = need(2 * grams, sizeof *hashes);
    uint32_t *numbers = need(2 * grams, sizeof *numbers);
    int *counts = need(2 * grams, sizeof *counts);
    int sum = 0;
    twin__hash_windows(hashes, hash, x, q, grams);
    twin__hash_windows(hashes + grams, hash, y, q, grams);
    number_hashes(numbers, hashes, 2 * grams);
    for (size_t i = 0; i < grams; i++)
        for (size_t side = 0; side < 2; side++) {
            int *now = &counts[numbers[side * grams + i]], by = side ? -1 : 1;
            sum += abs(*now + by) - abs(*now);
            *now += by;
            if (side == 0 || i + q < window)
                continue;
            size_t first = i + q - window;
            out[first] += sum;
            int *old = &counts[numbers[first]], *other = &counts[numbers[grams + first]];
            sum -= abs(*old);
            sum += abs(--*old);
            sum -= abs(*other);
            sum += abs(++*other);
        }
    free(hashes);
    free(numbers);
    free(counts);
}

static void collide(struct collisions *c, size_t i, twin_text x, twin_text y, twin__embed_options options)
{
    twin__embedder *embedder;
    twin__embed_scratch scratch = { 0 };
    size_t windows = c->n - options.grams.window + 1;
    double *distances = need(windows, sizeof *distances);
    uint32_t *one = need(2 * c->functions, sizeof *one), *other = one + c->functions;
    for (size_t q = options.grams.q_low; q <= options.grams.q_high; q++)
        add_gram_distances(distances, x.bytes, y.bytes, c->n, options.grams.window, q);
    for (size_t w = 0; w < windows; w++) {
        c->theory[i] += twin__embed_collision(distances[w], options.bucket) / (double)windows;
        c->distances[i] += distances[w] / (double)windows;
    }
    expect(twin__embedder_create(&embedder, options), "embedder", NULL);
    expect(twin__embed_vector(one, embedder, &scratch, x), "vector", NULL);
    expect(twin__embed_vector(other, embedder, &scratch, y), "vector", NULL);
    for (size_t f = 0; f < c->functions; f++)
        c->hits[i] += one[f] == other[f];
    twin__embedder_free(embedder);
    twin__embed_scratch_clear(&scratch);
    free(distances);
    free(one);
}

static void measure_collisions(void *context, size_t begin, size_t end, int worker)
{
    struct collisions *c = context;
    char *x = need(2 * c->n, 1), *y = x + c->n;
    twin_edit_scratch scratch = { 0 };
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        uint64_t state = seed_of(c->lab->seed, 3000000 + 100 * c->n + i);
        draw_letters(x, c->n, &state);
        draw_edited(y, x, c->n, collision_edits[i / c->pairs], KEEP_BY_PAIRS, &state);
        twin_text one = { x, c->n }, other = { y, c->n };
        expect(twin__edit_distance(&c->edits[i], &scratch, one, other, TWIN_EDIT_BYTES, c->n), "edit distance", NULL);
        collide(c, i, one, other, twin__embed_options_for(c->preset, c->n, c->functions, draw(&state)));
    }
    twin__edit_scratch_clear(&scratch);
    free(x);
}

/* A row for a number of edits; returns the p-value of theory. The functions of a pair are independent, each with its
 * own window, so hits are sums of binomial numbers. */
static double tabulate_collisions(struct table *table, const struct collisions *c, size_t level)
{
    double hits = 0, theory = 0, edits = 0, distance = 0, variance = 0, trials = (double)(c->pairs * c->functions);
    for (size_t i = level * c->pairs; i < (level + 1) * c->pairs; i++) {
        hits += (double)c->hits[i];
        theory += c->theory[i] / (double)c->pairs;
        edits += (double)c->edits[i] / (double)c->pairs;
        distance += c->distances[i] / (double)c->pairs;
        variance += c->theory[i] * (1 - c->theory[i]) * (double)c->functions;
    }
    struct interval interval = interval_of(hits, trials);
    table_row(table, "%zu\t%s\t%.1f\t%.1f\t%.5f\t%.5f\t%.5f\t%.5f", c->n, presets[c->preset == TWIN__EMBED_PAPER],
              edits, distance, theory, hits / trials, interval.low, interval.high);
    return variance > 0 ? p_normal((hits - theory * trials) / sqrt(variance)) : hits == trials;
}

static void plot_collisions(struct lab *lab)
{
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'edit distance'\nset ylabel 'probability of a collision'\nset logscale x\nset key bottom left\n"
          "plot [0.8:700][0:1] ",
          script);
    for (size_t l = 0; l < COLLISION_LENGTHS; l++)
        for (size_t p = 0; p < PRESETS; p++)
            fprintf(script,
                    "'embed-collision.tsv' skip 1 using ($1==%zu && strcol(2) eq '%s' && $3>0 ? $3 : NaN):5 with "
                    "lines ls 1 title '%s', '' skip 1 using ($1==%zu && strcol(2) eq '%s' && $3>0 ? $3 : NaN):6:7:8 "
                    "with yerrorbars ls %zu title 'n = %zu, %s'%s",
                    collision_lengths[l], presets[p], l + p ? "" : "theory", collision_lengths[l], presets[p],
                    2 + 2 * p + l, collision_lengths[l], presets[p], l + p == 2 ? "\n" : ", ");
    plot_end(
        lab, script, "embed-collision",
        "How often a hash function agrees on two texts, against their edit distance: theory from the l1 distances of "
        "all windows, and observation with 95 % intervals.");
}

void exp_embed_collision(struct lab *lab)
{
    double p[COLLISION_LENGTHS * PRESETS * LEVELS];
    size_t tests = 0;
    struct table table;
    table_begin(&table, "embed-collision", "n\tparameters\ted\tl1 of a window\ttheory\tobserved\tlow\thigh");
    say(lab, "The share of hash functions that agree on a text and its edited version. Theory is p(c), averaged over "
             "the l1 distances c of all windows.");
    for (size_t l = 0; l < COLLISION_LENGTHS; l++)
        for (size_t preset = 0; preset < PRESETS; preset++) {
            struct collisions c = { .lab = lab, .n = collision_lengths[l], .functions = 2000 };
            c.pairs = lab->quick ? 2 : 20;
            c.preset = preset ? TWIN__EMBED_PAPER : TWIN__EMBED_DEFAULT;
            size_t count = LEVELS * c.pairs;
            c.theory = need(2 * count, sizeof *c.theory);
            c.distances = c.theory + count;
            c.hits = need(2 * count, sizeof *c.hits);
            c.edits = c.hits + count;
            twin_exec_for(lab->exec, count, 1, measure_collisions, &c);
            for (size_t i = 0; i < LEVELS; i++)
                p[tests++] = tabulate_collisions(&table, &c, i);
            free(c.theory);
            free(c.hits);
            progress(lab, tests, sizeof p / sizeof p[0]);
        }
    table_end(lab, &table);
    claim_chance(lab, p, tests, "functions agree as often as theory says");
    plot_collisions(lab);
}

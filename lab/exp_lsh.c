/* exp_lsh.c — lsh-curve and lsh-plan: how often pairs become candidates, and the fewest hashes for two error bounds.
 *
 * Pairs of random sets with a known Jaccard similarity are signed and banded; the share that becomes candidates is
 * compared with the S-curve 1 - (1 - J^r)^b. The planner is compared with an exhaustive search. */
#include "lab.h"

#include "lsh/bands.h"
#include "sketch/minhash.h"

#include <math.h>
#include <stdlib.h>

/* ---- pairs of sets with a known similarity, and how many of them become candidates */

enum { SLOTS = 300, SIZE = 200 }; /* of a signature; items of both sets of a pair together */

struct pairs {
    twin_sketch sketch;
    uint64_t seed;
    double similarity;
    size_t count;
    uint32_t *signatures; /* those of pair i are 2i and 2i+1 */
    uint32_t *documents;
};

/* Every pair has its own hasher, so that pairs are independent. */
static void sign_some(void *context, size_t begin, size_t end, int worker)
{
    struct pairs *pairs = context;
    uint64_t items[SIZE];
    size_t common = (size_t)(SIZE * pairs->similarity + 0.5), alone = (SIZE - common) / 2;
    (void)worker;
    for (size_t p = begin; p < end; p++) {
        uint64_t state = seed_of(pairs->seed, p);
        twin_minhash *hasher;
        twin_minhash_options options = { .sketch = pairs->sketch, .slots = SLOTS, .seed = draw(&state) };
        for (size_t i = 0; i < SIZE; i++)
            items[i] = draw(&state);
        expect(twin__minhash_create(&hasher, options), "making a hasher", NULL);
        twin__minhash_sign(pairs->signatures + 2 * p * SLOTS, hasher, items, alone + common);
        twin__minhash_sign(pairs->signatures + (2 * p + 1) * SLOTS, hasher, items + alone, SIZE - alone);
        twin__minhash_free(hasher);
    }
}

static void make_pairs(struct pairs *out, const struct lab *lab, twin_sketch sketch, double similarity, size_t count,
                       uint64_t part)
{
    *out = (struct pairs){ sketch,
                           seed_of(lab->seed, part),
                           similarity,
                           count,
                           need(2 * count * SLOTS, sizeof(uint32_t)),
                           need(2 * count, sizeof(uint32_t)) };
    for (size_t d = 0; d < 2 * count; d++)
        out->documents[d] = (uint32_t)d;
    twin_exec_for(lab->exec, count, 16, sign_some, out);
}

static void clear_pairs(struct pairs *pairs)
{
    free(pairs->signatures);
    free(pairs->documents);
}

/* Per worker: candidates that are planted pairs, and others. */
struct found {
    size_t together, unrelated;
};

static void visit(void *context, uint32_t a, uint32_t b, int worker)
{
    struct found *found = (struct found *)context + worker;
    bool together = a % 2 == 0 && b == a + 1;
    found->together += together;
    found->unrelated += !together;
}

static struct found find(const struct lab *lab, const struct pairs *pairs, twin_plan plan)
{
    struct found *workers = need((size_t)lab->exec.workers, sizeof *workers), sum = { 0 };
    twin_signatures signatures = { pairs->signatures, SLOTS, pairs->documents, 2 * pairs->count };
    expect(twin__bands_pairs(signatures, (twin_band_options){ .plan = plan }, lab->exec, visit, workers,
                             (twin_progress){ 0 }),
           "finding candidates", NULL);
    for (int w = 0; w < lab->exec.workers; w++) {
        sum.together += workers[w].together;
        sum.unrelated += workers[w].unrelated;
    }
    free(workers);
    return sum;
}

/* 1 - (1 - J^r)^b, computed independently of the library. */
static double curve(twin_plan plan, double similarity)
{
    return 1 - pow(1 - pow(similarity, (double)plan.rows), (double)plan.bands);
}

/* ---- lsh-curve */

enum { PLANS = 4, POINTS = 10 };
static const twin_plan plans[PLANS] = { { 20, 5 }, { 40, 5 }, { 50, 2 }, { 20, 15 } };
static const double points[POINTS] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95 };

/* The curve for the first plan as the Aveiro slides print it. */
static const char *const printed[POINTS] = { "–", ".006", ".047", ".186", ".470", ".802", ".975", ".9996", "–", "–" };

static void plot_curves(struct lab *lab)
{
    static const char *const names[PLANS] = { "b = 20, r = 5", "b = 40, r = 5 (Bianchi and Dewidar)", "b = 50, r = 2",
                                              "b = 20, r = 15 (Aveiro slides)" };
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'Jaccard similarity J of a pair'\nset ylabel 'share of pairs that become candidates'\n"
          "set key above horizontal maxcols 2 width -9 font ',12'\nset samples 400\nplot [0:1][0:1.02] ",
          script);
    for (size_t p = 0; p < PLANS; p++)
        fprintf(
            script,
            "1-(1-x**%zu)**%zu ls 1 %s, 'lsh-curve.tsv' skip 1 using 3:($1 == %zu && $2 == %zu ? $6 : NaN):7:8 with "
            "yerrorbars ls %zu title '%s', ",
            plans[p].rows, plans[p].bands, p ? "notitle" : "title 'theory: 1 − (1 − J^r)^b'", plans[p].bands,
            plans[p].rows, p + 2, names[p]);
    fputs("NaN notitle\n", script);
    plot_end(lab, script, "lsh-curve", "Pairs that become candidates, classic sketch, with 95 % intervals.");
}

void exp_lsh_curve(struct lab *lab)
{
    double p_values[PLANS * POINTS], worst = 0, off = 0;
    size_t tests = 0, unrelated = 0, count = lab->quick ? 300 : 5000;
    struct found found[2][PLANS][POINTS];
    struct table table;
    table_begin(&table, "lsh-curve", "bands\trows\tJ\ttheory\treference\tclassic\tlow\thigh\tfast\tlow\thigh");
    say(lab,
        "%zu pairs of sets per similarity J; sets of different pairs have J = 0. Reference for b = 20, r = 5: Aveiro "
        "slides.",
        count);
    for (size_t j = 0; j < POINTS; j++)
        for (int fast = 0; fast < 2; fast++) {
            struct pairs pairs;
            make_pairs(&pairs, lab, fast ? TWIN_SKETCH_FAST : TWIN_SKETCH_CLASSIC, points[j], count,
                       1300 + 2 * j + (size_t)fast);
            for (size_t p = 0; p < PLANS; p++) {
                found[fast][p][j] = find(lab, &pairs, plans[p]);
                unrelated += found[fast][p][j].unrelated;
            }
            clear_pairs(&pairs);
            progress(lab, 2 * j + (size_t)fast + 1, 2 * POINTS);
        }
    for (size_t p = 0; p < PLANS; p++)
        for (size_t j = 0; j < POINTS; j++) {
            double theory = curve(plans[p], points[j]), n = (double)count;
            double classic = (double)found[0][p][j].together, fast = (double)found[1][p][j].together;
            struct interval a = interval_of(classic, n), b = interval_of(fast, n);
            p_values[tests++] = p_binomial(classic, n, theory);
            worst = fmax(worst, fabs(fast / n - theory));
            if (p == 0 && printed[j][0] == '.')
                off = fmax(off, fabs(strtod(printed[j], NULL) - theory));
            table_row(&table, "%zu\t%zu\t%.2f\t%.4f\t%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f", plans[p].bands,
                      plans[p].rows, points[j], theory, p == 0 ? printed[j] : "–", classic / n, a.low, a.high,
                      fast / n, b.low, b.high);
        }
    table_end(lab, &table);
    claim(lab, off < 0.0005 + 1e-9, "theory is what the Aveiro slides print for b = 20, r = 5, to within %.5f", off);
    claim_chance(lab, p_values, tests, "classic signatures become candidates as often as theory says");
    claim(lab, worst < (lab->quick ? 0.15 : 0.06),
          "fast signatures, whose slots are not quite independent, are within %.3f of theory", worst);
    claim(lab, unrelated == 0, "%zu pairs of unrelated sets became candidates", unrelated);
    plot_curves(lab);
}

/* ---- lsh-plan */

struct bounds {
    twin_plan_point reject, accept;
};

static bool meets(twin_plan plan, struct bounds bounds)
{
    return curve(plan, bounds.reject.similarity) <= bounds.reject.probability &&
           curve(plan, bounds.accept.similarity) >= bounds.accept.probability;
}

/* The fewest slots of any plan that meets both bounds, by exhaustive search; 0 when `most` are not enough. */
static size_t fewest(struct bounds bounds, size_t most)
{
    for (size_t slots = 1; slots <= most; slots++)
        for (size_t rows = 1; rows <= slots; rows++)
            if (slots % rows == 0 && meets((twin_plan){ slots / rows, rows }, bounds))
                return slots;
    return 0;
}

/* Compares the planner with exhaustive search for many pairs of bounds. */
static size_t count_disagreements(struct lab *lab, size_t *tried)
{
    enum { MOST = 1000 };
    size_t wrong = 0;
    for (int reject = 1; reject <= 7; reject++)
        for (int accept = reject + 1; accept <= 9; accept++)
            for (int tight = 0; tight < 3; tight++, ++*tried) {
                double error = tight == 0 ? 0.08 : tight == 1 ? 0.05 : 0.01;
                struct bounds bounds = { { 0.1 * reject, error }, { 0.1 * accept, 1 - error } };
                twin_plan plan = { 0, 0 };
                twin_status status = twin_plan_from_errors(&plan, bounds.reject, bounds.accept, MOST);
                size_t best = fewest(bounds, MOST);
                wrong += best ? status != TWIN_OK || plan.bands * plan.rows != best || !meets(plan, bounds)
                              : status != TWIN_ELIMIT;
            }
    progress(lab, 1, 2);
    return wrong;
}

/* For each number of rows the fewest bands that meet the upper bound, and the resulting probability at the lower. */
static void tabulate(struct lab *lab, struct bounds bounds)
{
    struct table table;
    table_begin(&table, "lsh-plan",
                "rows\tfewest bands\thashes\tP(0.6), at most 0.01\tP(0.9), at least 0.99\tmeets both\treference");
    for (size_t rows = 10; rows <= 20; rows++) {
        twin_plan plan = { 1, rows };
        while (curve(plan, bounds.accept.similarity) < bounds.accept.probability)
            plan.bands++;
        table_row(&table, "%zu\t%zu\t%zu\t%.6f\t%.6f\t%s\t%s", rows, plan.bands, rows * plan.bands,
                  curve(plan, bounds.reject.similarity), curve(plan, bounds.accept.similarity),
                  meets(plan, bounds) ? "yes" : "no", rows == 15 ? "rows 15, bands 20" : "–");
    }
    table_end(lab, &table);
}

static void measure(struct lab *lab, twin_plan plan, struct bounds bounds)
{
    double p_values[2], similarities[2] = { bounds.reject.similarity, bounds.accept.similarity };
    size_t count = lab->quick ? 500 : 20000;
    struct table table;
    table_begin(&table, "lsh-plan-observed", "J\ttheory\treference\tobserved\tlow\thigh");
    for (size_t i = 0; i < 2; i++) {
        struct pairs pairs;
        make_pairs(&pairs, lab, TWIN_SKETCH_CLASSIC, similarities[i], count, 1400 + i);
        double hits = (double)find(lab, &pairs, plan).together, theory = curve(plan, similarities[i]);
        struct interval interval = interval_of(hits, (double)count);
        p_values[i] = p_binomial(hits, (double)count, theory);
        table_row(&table, "%.1f\t%.5f\t%s\t%.5f\t%.5f\t%.5f", similarities[i], theory, i ? "≥ 0.99" : "≤ 0.01",
                  hits / (double)count, interval.low, interval.high);
        clear_pairs(&pairs);
    }
    table_end(lab, &table);
    claim_chance(lab, p_values, 2, "pairs become candidates as often as planned");
}

void exp_lsh_plan(struct lab *lab)
{
    static const struct bounds bounds = { { 0.6, 0.01 }, { 0.9, 0.99 } };
    twin_plan plan = { 0, 0 };
    size_t tried = 0;
    say(lab,
        "At most 1 %% of the pairs with J = 0.6 and at least 99 %% of those with J = 0.9 shall become candidates. "
        "Reference (Aveiro slides): rows 15, bands 20.");
    tabulate(lab, bounds);
    twin_status status = twin_plan_from_errors(&plan, bounds.reject, bounds.accept, 1000);
    claim(lab, status == TWIN_OK && plan.rows == 15 && plan.bands == 20, "the planner returns rows %zu, bands %zu",
          plan.rows, plan.bands);
    claim(lab, fewest(bounds, 1000) == 300, "the smallest plan that meets both has %zu hashes; reference: 300",
          fewest(bounds, 1000));
    size_t wrong = count_disagreements(lab, &tried);
    claim(lab, wrong == 0, "for %zu of %zu pairs of bounds the planner differs from exhaustive search", wrong, tried);
    measure(lab, (twin_plan){ 20, 15 }, bounds);
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'Jaccard similarity J of a pair'\nset ylabel 'probability of becoming a candidate'\n"
          "set key top left\nset samples 400\n"
          "set object 1 rectangle from 0,0.01 to 0.6,1 fc '#c8401e' fs solid 0.08 noborder\n"
          "set object 2 rectangle from 0.9,0 to 1,0.99 fc '#c8401e' fs solid 0.08 noborder\n"
          "plot [0:1][0:1.02] 1-(1-x**15)**20 ls 1 lw 2.2 title 'rows 15, bands 20', "
          "1-(1-x**14)**18 ls 3 dt '-' title 'rows 14, bands 18: too many at 0.6', "
          "1-(1-x**16)**20 ls 4 dt '-' title 'rows 16, bands 20: too few at 0.9', "
          "'lsh-plan-observed.tsv' skip 1 using 1:4:5:6 with yerrorbars ls 2 title 'observed'\n",
          script);
    plot_end(lab, script, "lsh-plan",
             "The S-curve of the plan in the Aveiro slides; the shaded regions are excluded by the error bounds.");
}

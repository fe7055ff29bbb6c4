/* exp_bloom.c — bloom-k, bloom-n, bloom-big, bloom-small (Martins and Jesus 2015, §2.3.4 to §2.3.6), bloom-overfill.
 *
 * Each experiment builds many filters with try_filters() (filters.c), each with its own hash function and strings,
 * and compares the observed false-positive rate with the formula, which filters.c evaluates without the library. */
#include "lab.h"

#include <math.h>
#include <string.h>

/* Martins and Jesus had 97,591 distinct strings. This number makes every size tried here a multiple of 512, so the
 * textbook formula holds to the last digit. */
enum { ITEMS = 98304 };

static bool claim_no_denial(struct lab *lab, uint64_t denied, uint64_t added)
{
    return claim(lab, denied == 0, "%llu false negatives among %llu strings that were added",
                 (unsigned long long)denied, (unsigned long long)added);
}

/* ---- bloom-k */

enum { MOST_K = 15 };

/* The k with the fewest false positives; and that k = 6 has no more of them than chance allows. */
static void claim_best_k(struct lab *lab, const struct outcome *outcomes)
{
    size_t best = 0, expected = 0;
    for (size_t i = 1; i < MOST_K; i++) {
        best = outcomes[i].observed.rate < outcomes[best].observed.rate ? i : best;
        expected = outcomes[i].theory < outcomes[expected].theory ? i : expected;
    }
    const struct outcome *six = &outcomes[5], *least = &outcomes[best];
    double width = hypot(six->observed.interval.high - six->observed.interval.low,
                         least->observed.interval.high - least->observed.interval.low);
    double z = (six->observed.rate - least->observed.rate) / (width / (2 * 1.96));
    claim(lab, expected == 5, "best k by theory: %zu; reference (Martins and Jesus 2015): 6", expected + 1);
    claim(lab, best == 5 || z < 4.4, "observed best k: %zu%s", best + 1,
          best == 5 ? ", as in theory and reference" : "; with this many strings it cannot be distinguished from 6");
}

static void plot_k(struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    fputs("set ylabel 'false positives'\nset xtics 1\nset key top center\n"
          "plot [0.5:15.5][0:*] 'bloom-k.tsv' skip 1 using 1:2 with lines ls 1 title 'theory', "
          "'' skip 1 using 1:4:5:6 with yerrorbars ls 2 title 'observed, 95 % interval', "
          "'' skip 1 using ($1 == 6 ? $1 : NaN):2 with points ls 9 ps 2.2 lw 2 pt 6 title 'best k of Martins and "
          "Jesus 2015'\n",
          script);
    plot_lower(script);
    fputs("set xlabel 'hash functions k'\n"
          "plot [0.5:15.5] 1 ls 1, 'bloom-k.tsv' skip 1 using 1:($4/$2):($5/$2):($6/$2) with yerrorbars ls 2\n",
          script);
    plot_end(lab, script, "bloom-k",
             "False positives of filters with 8 cells per item, by the number of hash functions.");
}

void exp_bloom_k(struct lab *lab)
{
    struct outcome outcomes[MOST_K];
    double p_values[MOST_K];
    uint64_t denied = 0, added = 0;
    struct table table;
    table_begin(&table, "bloom-k", "k\ttheory\treference\tobserved\tlow\thigh\tqueries");
    say(lab, "Filters of n = 8m cells with m = %d strings, queried with other strings.", (int)ITEMS);
    for (unsigned k = 1; k <= MOST_K; k++) {
        /* 5 and 6 differ by one part in 200, which takes a few million false positives to see. */
        size_t repeats = lab->quick ? 2 : k == 5 || k == 6 ? 150 : 10;
        struct trial trial = { { .items = ITEMS, .rate = 0.02, .cells = 8 * ITEMS, .functions = k },
                               ITEMS,
                               lab->quick ? ITEMS : 4 * ITEMS,
                               repeats,
                               seed_of(lab->seed, 200 + k) };
        struct outcome *o = &outcomes[k - 1];
        try_filters(o, lab, trial);
        p_values[k - 1] = o->observed.p;
        denied += o->denied;
        added += o->added;
        table_row(&table, "%u\t%.6f\t%s\t%.6f\t%.6f\t%.6f\t%llu", k, o->theory, k == 6 ? "best" : "–",
                  o->observed.rate, o->observed.interval.low, o->observed.interval.high,
                  (unsigned long long)o->queries);
        progress(lab, k, MOST_K);
    }
    table_end(lab, &table);
    claim_chance(lab, p_values, MOST_K, "observed rates agree with theory");
    claim_best_k(lab, outcomes);
    claim_no_denial(lab, denied, added);
    plot_k(lab);
}

/* ---- bloom-n */

static void plot_n(struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    fputs("set ylabel 'false positives'\nset logscale y\nset format y '%g'\n"
          "plot [0.5:10.5] 'bloom-n.tsv' skip 1 using 1:3 with lines ls 1 title 'theory, best whole k', "
          "'' skip 1 using 1:5:6:7 with yerrorbars ls 2 title 'observed, 95 % interval', "
          "'' skip 1 using 1:4 with points ls 9 ps 2.2 lw 2 pt 6 title 'Martins and Jesus 2015'\n",
          script);
    plot_lower(script);
    fputs("set xlabel 'cells per item, n/m'\n"
          "plot [0.5:10.5] 1 ls 1, 'bloom-n.tsv' skip 1 using 1:($5/$3):($6/$3):($7/$3) with yerrorbars ls 2, "
          "'' skip 1 using 1:($4/$3) with points ls 9 ps 1.6 lw 2 pt 6\n",
          script);
    plot_end(lab, script, "bloom-n",
             "False positives by cells per item, each size with its best number of hash functions.");
}

void exp_bloom_n(struct lab *lab)
{
    enum { SIZES = 19 };
    double p_values[SIZES];
    uint64_t denied = 0, added = 0;
    struct outcome o = { 0 };
    struct table table;
    table_begin(&table, "bloom-n", "n/m\tk\ttheory\treference\tobserved\tlow\thigh");
    say(lab, "Filters of n = m … 10m cells with m = %d strings, each with its best k.", (int)ITEMS);
    for (size_t i = 0; i < SIZES; i++) {
        double ratio = 1 + 0.5 * (double)i;
        unsigned k = (unsigned)fmax(1, round(ratio * log(2)));
        struct trial trial = { { .items = ITEMS, .rate = 0.5, .cells = ITEMS / 2 * (i + 2), .functions = k },
                               ITEMS,
                               ITEMS,
                               lab->quick ? 2 : 40,
                               seed_of(lab->seed, 300 + i) };
        try_filters(&o, lab, trial);
        p_values[i] = o.observed.p;
        denied += o.denied;
        added += o.added;
        table_row(&table, "%.1f\t%u\t%.6f\t%s\t%.6f\t%.6f\t%.6f", ratio, k, o.theory,
                  i + 1 < SIZES ? "–" : "0.008185", o.observed.rate, o.observed.interval.low,
                  o.observed.interval.high);
        progress(lab, i + 1, SIZES);
    }
    table_end(lab, &table);
    claim_chance(lab, p_values, SIZES, "observed rates agree with theory");
    claim(lab, fabs(o.theory - 0.008194) < 5e-7,
          "theory at 10 cells per item: %.6f; reference (Martins and Jesus 2015): 0.008194", o.theory);
    claim_no_denial(lab, denied, added);
    plot_n(lab);
}

/* ---- bloom-big */

struct plan_row {
    const char *reference;
    double rate;
    twin_bloom_layout layout;
};

/* First the filter of Martins and Jesus 2015; then rates that every filter planned by twinsift must keep. */
static const struct plan_row plans[] = {
    { "0.000124", 1e-4, TWIN_BLOOM_CLASSIC }, { "–", 1e-2, TWIN_BLOOM_CLASSIC }, { "–", 1e-3, TWIN_BLOOM_CLASSIC },
    { "–", 1e-4, TWIN_BLOOM_CLASSIC },        { "–", 1e-2, TWIN_BLOOM_BLOCKS },  { "–", 1e-3, TWIN_BLOOM_BLOCKS },
    { "–", 1e-4, TWIN_BLOOM_BLOCKS },
};
enum { PLANS = sizeof plans / sizeof plans[0] };

void exp_bloom_big(struct lab *lab)
{
    double p_values[PLANS], worst = 0;
    uint64_t denied = 0, added = 0;
    struct table table;
    table_begin(&table, "bloom-big",
                "items\tlayout\tbits per item\tplanned\ttheory\treference\tobserved\tlow\thigh\tfalse positives\tof");
    say(lab, "Filters planned for a rate, filled as planned. Reference (Martins and Jesus 2015): 97,661 strings, 12 "
             "false positives of 96,872, no false negatives.");
    for (size_t i = 0; i < PLANS; i++) {
        size_t items = i == 0 ? 97661 : lab->quick ? 100000 : 1000000;
        struct trial trial = { { .items = items, .rate = plans[i].rate, .layout = plans[i].layout },
                               items,
                               i == 0 ? 96872 : items,
                               lab->quick ? 2
                               : i == 0   ? 100
                                          : 10,
                               seed_of(lab->seed, 400 + i) };
        struct outcome o;
        try_filters(&o, lab, trial);
        p_values[i] = o.observed.p;
        worst = fmax(worst, o.theory / plans[i].rate);
        denied += o.denied;
        added += o.added;
        table_row(&table, "%zu\t%s\t%.2f\t%g\t%.4g\t%s\t%.4g\t%.4g\t%.4g\t%llu\t%llu", items,
                  twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, plans[i].layout), (double)o.shape.cells / (double)items,
                  plans[i].rate, o.theory, plans[i].reference, o.observed.rate, o.observed.interval.low,
                  o.observed.interval.high, (unsigned long long)o.hits, (unsigned long long)o.queries);
        progress(lab, i + 1, PLANS);
    }
    table_end(lab, &table);
    claim_chance(lab, p_values, PLANS, "observed rates agree with theory");
    claim(lab, worst < 1.005, "the theoretical rate is at most %.4f times the planned rate", worst);
    claim_no_denial(lab, denied, added);
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'planned rate'\nset ylabel 'observed / planned'\nset logscale x\nset format x '%g'\n"
          "set key bottom right\n"
          "plot [5e-5:2e-2] 1 ls 1 title 'planned', 'bloom-big.tsv' skip 2 using ($4*0.97):(strcol(2) eq 'classic' ? "
          "$7/$4 : NaN):($8/$4):($9/$4) with yerrorbars ls 2 title 'classic layout', '' skip 2 using "
          "($4*1.03):(strcol(2) eq 'blocks' ? $7/$4 : NaN):($8/$4):($9/$4) with yerrorbars ls 3 title 'blocks'\n",
          script);
    plot_end(lab, script, "bloom-big",
             "Observed over planned false-positive rate, both layouts, with 95 % intervals.");
}

/* ---- bloom-small */

static const char *const held[] = { "Lisboa", "Porto", "Aveiro", "Coimbra", "Braga", "Faro", "Évora", "" };
static const char *const other[] = { "lisboa", "Porto ", "Aveir", "Madrid", "Roma", "Brag", "faro", " " };
enum { HANDFUL = 8 };

/* Adds the items and queries all of them and their near misses. Returns the number of wrong answers. */
static size_t wrong_answers(twin_bloom_options options)
{
    twin_bloom *bloom;
    size_t wrong = 0;
    expect(twin_bloom_create(&bloom, options), "making a small filter", NULL);
    for (size_t i = 0; i < HANDFUL; i++)
        wrong += twin_bloom_may_contain(bloom, held[i], strlen(held[i])); /* the filter is still empty */
    for (size_t i = 0; i < HANDFUL; i++)
        wrong += !twin_bloom_add(bloom, held[i], strlen(held[i]));
    for (size_t i = 0; i < HANDFUL; i++) {
        wrong += !twin_bloom_may_contain(bloom, held[i], strlen(held[i]));
        wrong += twin_bloom_may_contain(bloom, other[i], strlen(other[i]));
        wrong += twin_bloom_count(bloom, held[i], strlen(held[i])) != 1;
    }
    twin_bloom_free(bloom);
    return wrong;
}

/* At 10^-9 a wrong answer among 4 families × 2 layouts × 4 widths × 100 seeds × 24 queries has a probability of less
 * than 10^-4. */
void exp_bloom_small(struct lab *lab)
{
    static const unsigned widths[] = { 1, 4, 8, 16 };
    enum { SEEDS = 100, WIDTHS = 4 };
    size_t wrong = 0;
    struct table table;
    table_begin(&table, "bloom-small", "layout\tcell bits\tfilters\ttheory\treference\twrong answers");
    say(lab, "%d hand-written items are added, %d near misses are not; %d seeds of each family.", (int)HANDFUL,
        (int)HANDFUL, (int)SEEDS);
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++)
        for (size_t w = 0; w < WIDTHS; w++) {
            size_t here = 0;
            for (int family = TWIN_HASH_XXH3; family <= TWIN_HASH_SIP; family++)
                for (uint64_t seed = 0; seed < SEEDS; seed++)
                    here += wrong_answers((twin_bloom_options){
                        .items = HANDFUL,
                        .rate = 1e-9,
                        .cell_bits = widths[w],
                        .layout = (twin_bloom_layout)layout,
                        .hash = twin_hash_member((twin_hash_family)family, seed_of(lab->seed, seed)) });
            table_row(&table, "%s\t%u\t%d\t0\texact\t%zu", twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, layout), widths[w],
                      4 * SEEDS, here);
            wrong += here;
        }
    table_end(lab, &table);
    claim(lab, wrong == 0, "%zu wrong answers", wrong);
}

/* ---- bloom-overfill */

static void plot_overfill(struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    fputs("set ylabel 'false positives'\nset logscale y\nset format y '%g'\nset key bottom right\n"
          "plot [0:4.2] 0.01 ls 9 title 'planned rate', 'bloom-overfill.tsv' skip 1 using 2:(strcol(1) eq 'classic' "
          "? $3 : NaN) with lines ls 1 title 'theory', '' skip 1 using 2:(strcol(1) eq 'blocks' ? $3 : NaN) with "
          "lines ls 1 notitle, '' skip 1 using ($2-0.03):(strcol(1) eq 'classic' ? $5 : NaN):6:7 with yerrorbars ls "
          "2 title 'classic layout', '' skip 1 using ($2+0.03):(strcol(1) eq 'blocks' ? $5 : NaN):6:7 with "
          "yerrorbars ls 3 title 'blocks'\n",
          script);
    plot_lower(script);
    fputs("set xlabel 'items, as a multiple of the plan'\n"
          "plot [0:4.2] 1 ls 1, 'bloom-overfill.tsv' skip 1 using ($2-0.03):(strcol(1) eq 'classic' ? $5/$3 : "
          "NaN):($6/$3):($7/$3) with yerrorbars ls 2, '' skip 1 using ($2+0.03):(strcol(1) eq 'blocks' ? $5/$3 : "
          "NaN):($6/$3):($7/$3) with yerrorbars ls 3\n",
          script);
    plot_end(lab, script, "bloom-overfill",
             "False positives of filters planned for 1 %, from half the plan to four times.");
}

/* How accurate a filter's report about itself is: its rate, its item count, its warning. */
struct self_report {
    double rate, items; /* the largest relative errors */
    size_t mistaken;    /* warnings too early or missing */
};

static void add_report(struct self_report *report, const struct outcome *o, double times, double items,
                       size_t repeats)
{
    report->rate = fmax(report->rate, fabs(o->reported / o->theory - 1));
    report->items = fmax(report->items, fabs(o->estimate / items - 1));
    if (times <= 0.9 || times >= 1.1) /* close to the plan either answer is right */
        report->mistaken += times < 1 ? o->past_plan : repeats - o->past_plan;
}

void exp_bloom_overfill(struct lab *lab)
{
    enum { STEPS = 8, PLANNED = 100000 };
    double p_values[2 * STEPS];
    struct self_report report = { 0 };
    uint64_t denied = 0, added = 0;
    struct table table;
    size_t tests = 0, repeats = lab->quick ? 2 : 20;
    table_begin(
        &table, "bloom-overfill",
        "layout\ttimes the plan\ttheory\treference\tobserved\tlow\thigh\treported rate\treported items\tpast plan");
    say(lab, "Filters planned for %d strings at 1 %%, filled with half as many to four times as many.", (int)PLANNED);
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++)
        for (int step = 1; step <= STEPS; step++) {
            size_t items = (size_t)step * PLANNED / 2;
            struct trial trial = { { .items = PLANNED, .rate = 0.01, .layout = (twin_bloom_layout)layout },
                                   items,
                                   PLANNED,
                                   repeats,
                                   seed_of(lab->seed, 500 + tests) };
            struct outcome o;
            try_filters(&o, lab, trial);
            add_report(&report, &o, 0.5 * step, (double)items, repeats);
            p_values[tests++] = o.observed.p;
            denied += o.denied;
            added += o.added;
            table_row(&table, "%s\t%.1f\t%.5f\t–\t%.5f\t%.5f\t%.5f\t%.5f\t%.0f\t%s",
                      twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, layout), 0.5 * step, o.theory, o.observed.rate,
                      o.observed.interval.low, o.observed.interval.high, o.reported, o.estimate,
                      o.past_plan == repeats ? "yes"
                      : o.past_plan          ? "some"
                                             : "no");
            progress(lab, tests, 2 * STEPS);
        }
    table_end(lab, &table);
    claim_chance(lab, p_values, tests, "observed rates agree with theory");
    claim(lab, report.rate < 0.1 && report.items < 0.02,
          "the rate and item count that filters report are off by at most %.2f %% and %.2f %%", 100 * report.rate,
          100 * report.items);
    claim(lab, report.mistaken == 0, "%zu filters warned without cause or failed to warn", report.mistaken);
    claim_no_denial(lab, denied, added);
    plot_overfill(lab);
}

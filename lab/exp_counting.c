/* exp_counting.c — counting: errors of counts, removal and overflow of counting filters.
 *
 * Counting filters are those of the Aveiro notes. Three parts: how often a count is too high (theory: the
 * false-positive rate); that removing items leaves the others unharmed; and that saturated cells stay saturated, so
 * nothing is lost. */
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLANNED = 20000, WIDTHS = 3, LOADS = 8 };
static const unsigned widths[WIDTHS] = { 4, 8, 16 };

/* A filter with items that were added 1, 2, 3 or 4 times. */
struct filled {
    twin_bloom *bloom;
    twin_bloom_shape shape;
    struct items items; /* the first `held` were added */
    size_t held;
};

static uint32_t times_of(size_t item)
{
    return 1 + (uint32_t)(item % 4);
}

static uint32_t count_of(const struct filled *filled, size_t item)
{
    return twin_bloom_count(filled->bloom, filled->items.texts[item].bytes, filled->items.texts[item].length);
}

static void fill(struct filled *out, unsigned width, twin_bloom_layout layout, size_t held, size_t others,
                 uint64_t seed)
{
    twin_bloom_options options = { .items = PLANNED,
                                   .rate = 0.01,
                                   .cell_bits = width,
                                   .layout = layout,
                                   .hash = twin_hash_member(TWIN_HASH_XXH3, seed) };
    expect(twin_bloom_create(&out->bloom, options), "making a counting filter", NULL);
    out->shape = twin_bloom_shape_of(out->bloom);
    out->held = held;
    items_random(&out->items, held + others, seed);
    for (uint32_t round = 0; round < 4; round++)
        for (size_t i = 0; i < held; i++)
            if (round < times_of(i))
                twin_bloom_add(out->bloom, out->items.texts[i].bytes, out->items.texts[i].length);
}

static void empty(struct filled *filled)
{
    twin_bloom_free(filled->bloom);
    items_clear(&filled->items);
}

/* ---- errors of counts: an item is counted too high when all its cells are shared with others */

struct counts {
    size_t high, low, queries;
};

static struct counts count_errors(twin_bloom_shape *shape, const struct lab *lab, unsigned width, size_t held,
                                  size_t repeats, uint64_t part)
{
    struct counts counts = { 0, 0, held * repeats };
    for (size_t r = 0; r < repeats; r++) {
        struct filled filled;
        fill(&filled, width, TWIN_BLOOM_AUTO, held, 0, seed_of(lab->seed, part + r));
        for (size_t i = 0; i < held; i++) {
            uint32_t count = count_of(&filled, i);
            counts.high += count > times_of(i);
            counts.low += count < times_of(i);
        }
        *shape = filled.shape;
        empty(&filled);
    }
    return counts;
}

static void plot_errors(struct lab *lab)
{
    FILE *script = plot_begin_pair(lab);
    fputs(
        "set ylabel 'share of items counted too high'\nset logscale y\nset format y '%g'\nset key bottom right\n"
        "plot [0.4:2.15][5e-5:1] 'counting.tsv' skip 1 using 2:($1 == 8 ? $3 : NaN) with lines ls 1 title 'theory', "
        "'' skip 1 using ($2-0.02):($1 == 4 ? $5 : NaN):6:7 with yerrorbars ls 2 title '4 bits', "
        "'' skip 1 using 2:($1 == 8 ? $5 : NaN):6:7 with yerrorbars ls 3 title '8 bits', "
        "'' skip 1 using ($2+0.02):($1 == 16 ? $5 : NaN):6:7 with yerrorbars ls 4 title '16 bits'\n",
        script);
    plot_lower(script);
    fputs("set xlabel 'items, as a multiple of the plan'\nset yrange [0.5:1.5]\nplot [0.4:2.15] 1 ls 1", script);
    for (size_t w = 0; w < WIDTHS; w++)
        fprintf(
            script,
            ", 'counting.tsv' skip 1 using ($2%+.2f):($1 == %u ? $5/$3 : NaN):($6/$3):($7/$3) with yerrorbars ls %zu",
            0.02 * ((double)w - 1), widths[w], w + 2);
    fputc('\n', script);
    plot_end(lab, script, "counting",
             "Share of items counted too high, by load, in filters planned for a rate of 1 %.");
}

static void run_errors(struct lab *lab)
{
    double p_values[WIDTHS * LOADS];
    size_t tests = 0, low = 0, repeats = lab->quick ? 2 : 20;
    struct table table;
    table_begin(&table, "counting", "cell bits\ttimes the plan\ttheory\treference\ttoo high\tlow\thigh\ttoo low");
    say(lab, "Filters planned for %d items at 1 %%; each item is added one to four times.", (int)PLANNED);
    for (size_t w = 0; w < WIDTHS; w++)
        for (size_t load = 1; load <= LOADS; load++) {
            size_t held = load * PLANNED / 4;
            twin_bloom_shape shape;
            struct counts counts = count_errors(&shape, lab, widths[w], held, repeats, 600 + 100 * tests);
            struct theory theory = theory_of(shape, (double)(held - 1));
            struct observed high = observe(counts.high, counts.queries, held, theory);
            p_values[tests++] = high.p;
            low += counts.low;
            table_row(&table, "%u\t%.2f\t%.5f\t–\t%.5f\t%.5f\t%.5f\t%zu", widths[w], 0.25 * (double)load, theory.rate,
                      high.rate, high.interval.low, high.interval.high, counts.low);
            progress(lab, tests, WIDTHS * LOADS + WIDTHS);
        }
    table_end(lab, &table);
    claim_chance(lab, p_values, tests, "counts are too high as often as theory says");
    claim(lab, low == 0, "%zu counts were too low", low);
    plot_errors(lab);
}

/* ---- removal: all copies of every second item are removed again */

struct removal {
    size_t refused;   /* removals of present items: must be none */
    size_t low;       /* remaining items that are counted too low: must be none */
    size_t remaining; /* removed items that are still reported: false positives of the remaining ones */
    size_t taken;
    size_t accepted; /* removals of items never added that are not false positives: must be none */
};

static void remove_half(struct removal *out, struct filled *filled)
{
    const twin_text *texts = filled->items.texts;
    for (size_t i = 0; i < filled->held; i += 2)
        for (uint32_t n = times_of(i); n > 0; n--)
            out->refused += !twin_bloom_remove(filled->bloom, texts[i].bytes, texts[i].length);
    for (size_t i = 1; i < filled->held; i += 2)
        out->low += count_of(filled, i) < times_of(i);
    for (size_t i = 0; i < filled->held; i += 2, out->taken++)
        out->remaining += count_of(filled, i) > 0;
    for (size_t i = filled->held; i < filled->items.count; i++)
        if (!twin_bloom_may_contain(filled->bloom, texts[i].bytes, texts[i].length))
            out->accepted += twin_bloom_remove(filled->bloom, texts[i].bytes, texts[i].length);
}

static void run_removal(struct lab *lab)
{
    double p_values[2 * WIDTHS];
    size_t tests = 0, wrong = 0, repeats = lab->quick ? 2 : 20;
    struct table table;
    table_begin(
        &table, "counting-removal",
        "cell bits\tlayout\tstill reported: theory\treference\tobserved\tlow\thigh\trefused\ttoo low\taccepted");
    say(lab,
        "All copies of every second item are removed; then removed, remaining and never added items are queried.");
    for (size_t w = 0; w < WIDTHS; w++)
        for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++) {
            struct removal removal = { 0 };
            twin_bloom_shape shape = { 0 };
            for (size_t r = 0; r < repeats; r++) {
                struct filled filled;
                fill(&filled, widths[w], (twin_bloom_layout)layout, 2 * PLANNED, PLANNED,
                     seed_of(lab->seed, 9000 + 100 * tests + r));
                remove_half(&removal, &filled);
                shape = filled.shape;
                empty(&filled);
            }
            struct theory theory = theory_of(shape, PLANNED);
            struct observed remaining = observe(removal.remaining, removal.taken, PLANNED, theory);
            p_values[tests++] = remaining.p;
            wrong += removal.refused + removal.low + removal.accepted;
            table_row(&table, "%u\t%s\t%.5f\t–\t%.5f\t%.5f\t%.5f\t%zu\t%zu\t%zu", widths[w],
                      twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, layout), theory.rate, remaining.rate,
                      remaining.interval.low, remaining.interval.high, removal.refused, removal.low,
                      removal.accepted);
        }
    table_end(lab, &table);
    claim_chance(lab, p_values, tests, "removed items are reported as often as items never added");
    claim(lab, wrong == 0, "%zu removals were wrongly refused or accepted, or lowered the count of others", wrong);
}

/* ---- overflow: hot items are added more often than a cell can count, and removed as often */

enum { HOT = 50, EXTRA = 5 };

/* The probability that ordinary items alone saturate a cell at `most`: a Poisson number of them share it, each added
 * one to four times (Panjer's recursion for the sum). */
static double reaches(twin_bloom_shape shape, uint32_t most)
{
    enum { FAR = 64 }; /* beyond this the probability is 0 in double precision */
    double p[FAR], mean = (double)PLANNED * shape.functions / (double)shape.cells, below = 0;
    if (most >= FAR)
        return 0;
    for (uint32_t sum = 0; sum < most; below += p[sum++]) {
        p[sum] = sum == 0 ? exp(-mean) : 0;
        for (uint32_t times = 1; times <= 4 && times <= sum; times++)
            p[sum] += mean / sum * times / 4 * p[sum - times];
    }
    return 1 - below;
}

/* Saturated cells: those of hot items, shared ones counted once, and those that ordinary items saturate. */
static double expected_full(twin_bloom_shape shape, uint32_t most)
{
    double cells = (double)shape.cells, hot = cells * -expm1((double)HOT * shape.functions * log1p(-1 / cells));
    return hot + (cells - hot) * reaches(shape, most);
}

struct overflow {
    uint64_t full;
    uint32_t count;     /* the smallest count of a hot item after adding */
    size_t denied, low; /* hot items missing after removal; ordinary items counted too low: must be none */
};

static void overflow(struct overflow *out, struct filled *filled, uint32_t times)
{
    const twin_text *hot = filled->items.texts + PLANNED;
    twin_bloom_info info;
    *out = (struct overflow){ .count = UINT32_MAX };
    for (uint32_t n = 0; n < times; n++)
        twin_bloom_add_many(NULL, filled->bloom, hot, HOT);
    twin_bloom_describe(&info, filled->bloom);
    out->full = info.saturated;
    for (size_t i = 0; i < HOT; i++) {
        uint32_t count = count_of(filled, PLANNED + i);
        out->count = count < out->count ? count : out->count;
    }
    for (uint32_t n = 0; n < times; n++)
        for (size_t i = 0; i < HOT; i++)
            twin_bloom_remove(filled->bloom, hot[i].bytes, hot[i].length);
    for (size_t i = 0; i < HOT; i++)
        out->denied += count_of(filled, PLANNED + i) == 0;
    for (size_t i = 0; i < PLANNED; i++)
        out->low += count_of(filled, i) < times_of(i);
}

static void run_overflow(struct lab *lab)
{
    size_t lost = 0;
    double p_values[WIDTHS];
    struct table table;
    table_begin(&table, "counting-overflow",
                "cell bits\thot items\tadded each\tsaturated cells: theory\treference\tobserved\tcount\tmissing "
                "after removal\ttoo low");
    say(lab,
        "Hot items are added %d times more than a cell can count, then removed as often; saturated cells must stay "
        "so.",
        (int)EXTRA);
    for (size_t w = 0; w < WIDTHS; w++) {
        uint32_t most = (1u << widths[w]) - 1;
        struct filled filled;
        struct overflow seen;
        fill(&filled, widths[w], TWIN_BLOOM_AUTO, PLANNED, HOT, seed_of(lab->seed, 9900 + w));
        overflow(&seen, &filled, most + EXTRA);
        double theory = expected_full(filled.shape, most), ordinary = theory - HOT * filled.shape.functions;
        /* Cells saturated by ordinary items are Poisson distributed; hot items share about one cell. */
        p_values[w] = p_normal(((double)seen.full - theory) / sqrt(fmax(ordinary, 0) + 2));
        lost += seen.denied + seen.low + (seen.count != most);
        table_row(&table, "%u\t%d\t%u\t%.1f\t–\t%llu\t%u\t%zu\t%zu", widths[w], (int)HOT, most + EXTRA, theory,
                  (unsigned long long)seen.full, seen.count, seen.denied, seen.low);
        empty(&filled);
        progress(lab, WIDTHS * LOADS + w + 1, WIDTHS * LOADS + WIDTHS);
    }
    table_end(lab, &table);
    claim(lab, lost == 0, "%zu items are missing or counted too low after an overflow", lost);
    claim_chance(lab, p_values, WIDTHS, "cells are saturated as often as theory says");
}

void exp_counting(struct lab *lab)
{
    run_errors(lab);
    run_removal(lab);
    run_overflow(lab);
}

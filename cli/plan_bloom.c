/* plan_bloom.c — what `twinsift plan --bloom` says of a Bloom filter.
 *
 * The plan is the textbook's; `twinsift bloom create` trades a little memory for one cache miss per query, and its shape
 * is shown beside it. Three curves show what the plan depends on, each with everything else as planned: the rate by the
 * number of functions, by the number of cells, and by the number of items, past the plan too. For counting filters it
 * says how many bits a counter needs. */
#include "plan_bloom.h"
#include "commands.h"
#include "support/messages.h"
#include "support/plot.h"
#include "support/record.h"
#include "support/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- the curves */

struct planned {
    struct bloom_goal goal;
    twin_plan_bloom plan;
    twin_bloom_shape file; /* what `bloom create` makes */
    bool has_file;
};

enum { CURVES = 3, MOST_POINTS = 30 };

struct curve {
    const char *name;  /* what is varied */
    const char *label; /* of the axis in the plot */
    const char *key;   /* where the legend is, away from the curve */
    double x[MOST_POINTS], rate[MOST_POINTS];
    size_t count;
    double planned; /* the x of the plan */
};

/* (1 - e^(-kn/m))^k, with real numbers of cells and items. */
static double rate_of(double cells, double items, double functions)
{
    return pow(-expm1(-functions * items / cells), functions);
}

static void add_point(struct curve *curve, double x, double rate)
{
    curve->x[curve->count] = x;
    curve->rate[curve->count++] = rate;
}

/* Up to twice the planned functions; half to twice the planned cells; half to four times the planned items. */
static void make_curves(struct curve curves[CURVES], const struct planned *planned)
{
    double cells = (double)planned->plan.cells, items = (double)planned->goal.items, k = planned->plan.functions;
    curves[0] = (struct curve){ .name = "functions", .label = "hash functions", .key = "top", .planned = k };
    for (unsigned f = 1; f <= 2 * planned->plan.functions && f <= MOST_POINTS; f++)
        add_point(&curves[0], f, rate_of(cells, items, f));
    curves[1] = (struct curve){ .name = "cells", .label = "cells per item", .key = "top", .planned = cells };
    for (int tenth = 5; tenth <= 20; tenth++)
        add_point(&curves[1], cells * tenth / 10, rate_of(cells * tenth / 10, items, k));
    curves[2] = (struct curve){
        .name = "items", .label = "items, as a multiple of the plan", .key = "bottom", .planned = items
    };
    for (int quarter = 2; quarter <= 16; quarter++)
        add_point(&curves[2], items * quarter / 4, rate_of(cells, items * quarter / 4, k));
}

static void print_curves(const struct curve curves[CURVES])
{
    for (const struct curve *curve = curves; curve < curves + CURVES; curve++)
        for (size_t i = 0; i < curve->count; i++)
            printf("%s\t%.0f\t%.4g\n", curve->name, curve->x[i], curve->rate[i]);
}

static void record_curves(struct record *record, const struct curve curves[CURVES])
{
    record_object(record, "curves");
    for (const struct curve *curve = curves; curve < curves + CURVES; curve++) {
        record_list(record, curve->name);
        for (size_t i = 0; i < curve->count; i++) {
            record_list(record, NULL);
            record_number(record, NULL, round(curve->x[i]), 20);
            record_number(record, NULL, curve->rate[i], 10);
            record_list_end(record);
        }
        record_list_end(record);
    }
    record_object_end(record);
}

/* ---- the plot */

/* Cells are drawn per item, items as multiples of those planned: numbers that fit below an axis. */
static double drawn_unit(const struct curve *curve, const struct planned *planned)
{
    return curve->planned == (double)planned->plan.functions ? 1 : (double)planned->goal.items;
}

static void write_panel(FILE *script, const struct curve *curve, const struct planned *planned)
{
    double unit = drawn_unit(curve, planned);
    fprintf(script, "$curve << END\n");
    for (size_t i = 0; i < curve->count; i++)
        fprintf(script, "%.6g %.6g\n", curve->x[i] / unit, curve->rate[i]);
    fprintf(script, "END\n$plan << END\n%.6g %.6g\nEND\n", curve->planned / unit, planned->plan.probability);
    fprintf(script, "set key %s right opaque\nset xlabel '%s'\nset xrange [%.6g:%.6g]\n", curve->key, curve->label,
            curve->x[0] / unit, curve->x[curve->count - 1] / unit);
    fprintf(script,
            "plot $curve with linespoints lw 2 pt 7 ps 0.4 lc rgb '#1f5fa8' notitle, "
            "%.10g with lines dt 2 lc rgb '#b3261e' title 'requested', "
            "$plan with points pt 7 ps 1 lc rgb '#2e7d32' title 'planned'\n",
            planned->goal.rate);
}

static void write_script(FILE *script, const void *context)
{
    const struct planned *planned = context;
    struct curve curves[CURVES];
    make_curves(curves, planned);
    fprintf(script,
            "set encoding utf8\n"
            "set terminal svg size 1200,420 dynamic noenhanced font 'sans-serif,14' background rgb 'white'\n"
            "set multiplot layout 1,3 title 'Bloom filter for %" PRIu64 " items: %.2f cells per item, %u functions'\n"
            "set logscale y\nset format y '%%g'\nset ylabel 'false-positive rate'\nset border 3\n"
            "set tics nomirror out\nset grid lc rgb '#e4e4e4' lt 1\n",
            planned->goal.items, (double)planned->plan.cells / (double)planned->goal.items, planned->plan.functions);
    for (const struct curve *curve = curves; curve < curves + CURVES; curve++)
        write_panel(script, curve, planned);
    fprintf(script, "unset multiplot\n");
}

/* ---- the bits of a counter */

/* The probability that a Poisson variable reaches `least`. The terms fall quickly: a filter has less than one item per
 * cell and function. */
static double poisson_tail(double mean, double least)
{
    enum { TERMS = 100 };
    int sign;
    double term = exp(least * log(mean) - mean - lgamma_r(least + 1, &sign)), sum = 0;
    for (int i = 0; i < TERMS; i++) {
        sum += term;
        term *= mean / (least + 1 + i);
    }
    return sum;
}

/* How often each item may be added before a counter of these bits is expected to saturate anywhere: the counter of a
 * cell is as many times the number of items that share the cell, which is a Poisson variable. */
static uint64_t most_additions(twin_bloom_shape shape, double items, unsigned bits)
{
    double mean = items * shape.functions / (double)shape.cells;
    uint64_t full = (1u << bits) - 1, sharing = 1; /* the most items that some cell is expected to have */
    while ((double)shape.cells * poisson_tail(mean, (double)(sharing + 1)) >= 1)
        sharing++;
    return (full - 1) / sharing;
}

static const unsigned COUNTER_BITS[] = { 4, 8, 16 };
enum { COUNTERS = sizeof COUNTER_BITS / sizeof COUNTER_BITS[0] };

static void print_counters(const struct planned *planned)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        uint64_t times = most_additions(planned->file, (double)planned->goal.items, COUNTER_BITS[i]);
        char size[SIZE_ROOM];
        printf("counters of %u bits: %s, no overflow expected while each item is added %" PRIu64 " time%s or less\n",
               COUNTER_BITS[i], write_size(size, twin_bloom_bytes(planned->file) * COUNTER_BITS[i]), times,
               times == 1 ? "" : "s");
    }
}

static void record_counters(struct record *record, const struct planned *planned)
{
    record_list(record, "counters");
    for (size_t i = 0; i < COUNTERS; i++) {
        record_object(record, NULL);
        record_count(record, "bits", COUNTER_BITS[i]);
        record_count(record, "bytes", twin_bloom_bytes(planned->file) * COUNTER_BITS[i]);
        record_count(record, "additions",
                     most_additions(planned->file, (double)planned->goal.items, COUNTER_BITS[i]));
        record_object_end(record);
    }
    record_list_end(record);
}

/* ---- the answer */

static void print_json(const struct planned *planned, bool with_curves)
{
    const struct bloom_goal *goal = &planned->goal;
    struct record record = record_begin(stdout, true);
    record_count(&record, "items", goal->items);
    record_number(&record, "requested", goal->rate, 10);
    record_count(&record, "cells", planned->plan.cells);
    record_count(&record, "functions", planned->plan.functions);
    record_count(&record, "bytes", planned->plan.bytes);
    record_number(&record, "probability", planned->plan.probability, 10);
    if (planned->has_file) {
        record_object(&record, "file");
        record_string(&record, "layout", twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, planned->file.layout));
        record_count(&record, "cells", planned->file.cells);
        record_count(&record, "functions", planned->file.functions);
        record_count(&record, "bytes", twin_bloom_bytes(planned->file));
        record_number(&record, "probability", twin_bloom_expected_rate(planned->file, (double)goal->items), 10);
        record_counters(&record, planned);
        record_object_end(&record);
    } else
        record_null(&record, "file");
    if (with_curves) {
        struct curve curves[CURVES];
        make_curves(curves, planned);
        record_curves(&record, curves);
    }
    record_end(&record);
}

static void print_text(const struct planned *planned, bool with_curves)
{
    const struct bloom_goal *goal = &planned->goal;
    const twin_plan_bloom *plan = &planned->plan;
    char size[SIZE_ROOM];
    printf("cells %" PRIu64 " functions %u bytes %" PRIu64 "\n", plan->cells, plan->functions, plan->bytes);
    printf("size: %s, %.2f cells per item\n", write_size(size, plan->bytes),
           (double)plan->cells / (double)goal->items);
    printf("false positives: %.4g after %" PRIu64 " items, %g requested\n", plan->probability, goal->items,
           goal->rate);
    if (planned->has_file) {
        printf("bloom create: %s, cells %" PRIu64 " functions %u, %s, false positives %.4g\n",
               twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, planned->file.layout), planned->file.cells,
               planned->file.functions, write_size(size, twin_bloom_bytes(planned->file)),
               twin_bloom_expected_rate(planned->file, (double)goal->items));
        print_counters(planned);
    } else
        printf("bloom create: makes no such filter\n");
    if (with_curves) {
        struct curve curves[CURVES];
        make_curves(curves, planned);
        print_curves(curves);
    }
}

int plan_bloom(const struct bloom_goal *goal, struct bloom_view view)
{
    struct planned planned = { .goal = *goal };
    if (twin_plan_for_bloom(&planned.plan, goal->items, goal->rate) != TWIN_OK)
        return fail("--bloom: %" PRIu64 " items take more cells than can be counted", goal->items);
    planned.has_file =
        twin_bloom_plan(&planned.file, (twin_bloom_options){ .items = goal->items, .rate = goal->rate }) == TWIN_OK;
    if (view.plot && !plot_draw(view.plot, write_script, &planned))
        return EXIT_ERROR;
    if (view.json)
        print_json(&planned, view.curve);
    else
        print_text(&planned, view.curve);
    return EXIT_DONE;
}

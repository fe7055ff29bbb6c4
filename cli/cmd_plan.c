/* cmd_plan.c — twinsift plan: bands, rows and hashes from the error rates you accept.
 *
 * There are six queries: by two points of the S-curve, by a threshold and a number of hashes, by bands and rows (with
 * the threshold that they shall serve), by the length of the texts, by the items of a forest, and by those of a Bloom filter (plan_bloom.c).
 * The library plans; this file refuses mixtures of the six, prints the plan, and lets gnuplot draw the curve. */
#include "commands.h"
#include "plan_bloom.h"
#include "support/messages.h"
#include "support/plot.h"
#include "support/record.h"
#include "support/shared_options.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- options */

/* A forest over so many items, in which the near ones have this similarity and unrelated ones that. */
struct forest_goal {
    uint64_t items;
    double near, unrelated;
};

struct request {
    struct shared_options shared;   /* --threshold, --hashes, --error, --bands, --rows */
    twin_plan_point reject, accept; /* --threshold and --recall are an accept too */
    double recall;
    uint64_t length;
    struct bloom_goal bloom;
    struct forest_goal forest;
    bool curve;
    const char *plot;
};

static bool read_bloom(void *value, const struct option_row *row, const char *text)
{
    struct bloom_goal *goal = value;
    char items[24];
    const char *colon = strchr(text, ':'), *end;
    if (!colon || (size_t)(colon - text) >= sizeof items)
        return refuse("--%s: \"%s\" is not a number of items and a probability with a colon between, like 1M:0.01",
                      row->name, text);
    snprintf(items, sizeof items, "%.*s", (int)(colon - text), text);
    if (!scan_count(&goal->items, items) || goal->items == 0) {
        fail_count("--bloom", items, 1, UINT64_MAX);
        return false;
    }
    if (scan_fraction(&goal->rate, colon + 1, &end) && *end == '\0' && goal->rate > 0 && goal->rate < 1)
        return true;
    return refuse("--%s: \"%s\" is not a probability between 0 and 1", row->name, colon + 1);
}

static const struct option_kind bloom_goal = { read_bloom, NULL };

static bool read_forest(void *value, const struct option_row *row, const char *text)
{
    struct forest_goal *goal = value;
    char items[24];
    const char *colon = strchr(text, ':'), *end = "";
    bool good = colon && (size_t)(colon - text) < sizeof items;
    if (good) {
        snprintf(items, sizeof items, "%.*s", (int)(colon - text), text);
        good = scan_count(&goal->items, items) && goal->items >= 2 && scan_fraction(&goal->near, colon + 1, &end) &&
               *end == ':' && scan_fraction(&goal->unrelated, end + 1, &end) && *end == '\0';
    }
    if (good && goal->near < 1 && goal->unrelated > 0 && goal->unrelated < goal->near)
        return true;
    return refuse("--%s: \"%s\" is not a number of items, the similarity of near ones and the lower one of unrelated "
                  "ones, with colons between, like 1M:0.8:0.2",
                  row->name, text);
}

static const struct option_kind forest_goal = { read_forest, NULL };

static bool read_plot(void *value, const struct option_row *row, const char *text)
{
    size_t length = strlen(text);
    *(const char **)value = text;
    if (length > 4 && strcmp(text + length - 4, ".svg") == 0)
        return true;
    return refuse("--%s: \"%s\" does not end in .svg, the only format supported", row->name, text);
}

static const struct option_kind plot_file = { read_plot, NULL };

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "reject", 0, OPTIONS_MATCHING, "J:P", "at similarity J, and below, a probability of at most P", &option_point,
      AT(reject) },
    { "accept", 0, OPTIONS_MATCHING, "J:P", "at similarity J, and above, a probability of at least P", &option_point,
      AT(accept) },
    { "recall", 0, OPTIONS_MATCHING, "R", "with --threshold: the lowest probability at the threshold",
      &option_fraction, AT(recall) },
    { "bloom", 0, OPTIONS_MATCHING, "ITEMS:P",
      "the size of a Bloom filter for ITEMS items (K, M, G: thousand, million, billion) and a false-positive rate of "
      "P",
      &bloom_goal, AT(bloom) },
    { "forest", 0, OPTIONS_MATCHING, "ITEMS:J:J",
      "the depth and the trees of a forest over ITEMS items, whose near ones have the first similarity and unrelated "
      "ones the second",
      &forest_goal, AT(forest) },
    { "length", 0, OPTIONS_MATCHING, "N", "the width of shingles for texts of N characters", &option_count,
      AT(length), .least = 1 },
    { "curve", 0, OPTIONS_OUTPUT, NULL,
      "also print J and P(J) for J = 0, 0.05 ... 1; with --bloom the rate by functions, by cells and by items",
      &option_flag, AT(curve) },
    { "plot", 0, OPTIONS_OUTPUT, "FILE.svg", "also draw the curve, or the three of --bloom; needs gnuplot",
      &plot_file, AT(plot) },
    { 0 },
};

static bool given(const struct request *request, const char *name)
{
    return option_given(&request->shared.base, name);
}

/* A threshold asks for a plan, unless bands and rows are given: then it says what they shall serve. */
static bool by_slots(const struct request *request)
{
    return given(request, "threshold") && !given(request, "bands");
}

static bool shows_curve(const struct request *request)
{
    return request->curve || given(request, "bands");
}

static size_t slots_of(const struct shared_options *shared)
{
    return shared->error > 0 ? twin_plan_slots(shared->error) : shared->hashes ? (size_t)shared->hashes : 128;
}

/* What is wrong with the options taken together; NULL when nothing is. */
static const char *contradiction(const struct request *request)
{
    bool reject = given(request, "reject"), accept = given(request, "accept"), bands = given(request, "bands"),
         rows = given(request, "rows"), threshold = given(request, "threshold"), hashes = given(request, "hashes"),
         error = given(request, "error"), bloom = given(request, "bloom"), length = given(request, "length"),
         forest = given(request, "forest");
    bool slots = by_slots(request) || hashes || error || given(request, "recall");
    int ways = (reject || accept) + (bands || rows) + slots + bloom + length + forest;
    if (ways == 0)
        return "nothing to plan for: give --reject and --accept, or --threshold, or --bands and --rows, or --length, "
               "or --forest, or --bloom";
    if (ways > 1)
        return "--reject and --accept, --threshold, --bands and --rows, --length, --forest, and --bloom exclude each "
               "other; use one";
    if (reject != accept)
        return reject ? "--reject needs --accept" : "--accept needs --reject";
    if (bands != rows)
        return bands ? "--bands needs --rows" : "--rows needs --bands";
    if (slots && !threshold)
        return "--hashes, --error and --recall need --threshold";
    if (hashes && error)
        return "--hashes and --error exclude each other: each determines the other";
    if (length && (request->curve || request->plot))
        return "--length has no curve to print or plot";
    if (forest && (request->curve || request->plot))
        return "--forest has no curve to print or plot";
    return NULL;
}

/* ---- a plan, and how it is shown */

struct answer {
    twin_plan plan;
    size_t hashes;
    double half_way;                         /* P(half_way) = 1/2 */
    bool reached;                            /* the probability requested at the threshold */
    double false_positives, false_negatives; /* with a threshold: the areas below and above the curve */
};

static double half_way(twin_plan plan)
{
    return pow(-expm1(-M_LN2 / (double)plan.bands), 1 / (double)plan.rows);
}

/* The area below the curve from `from` to `to`, by Simpson's rule. */
static double area(twin_plan plan, double from, double to)
{
    enum { PARTS = 1000 };
    double step = (to - from) / PARTS, sum = twin_plan_probability(plan, from) + twin_plan_probability(plan, to);
    for (int i = 1; i < PARTS; i++)
        sum += twin_plan_probability(plan, from + i * step) * (i % 2 ? 4 : 2);
    return sum * step / 3;
}

static bool plan_errors(twin_plan *out, const struct request *request)
{
    twin_status status = twin_plan_from_errors(out, request->reject, request->accept, TWIN_MINHASH_MAX_SLOTS);
    if (status == TWIN_EINVAL)
        fail("no curve is at most %g at %g and at least %g at %g", request->reject.probability,
             request->reject.similarity, request->accept.probability, request->accept.similarity);
    else if (status == TWIN_ELIMIT)
        fail("meeting both bounds takes more than %d hashes; move the two points apart", (int)TWIN_MINHASH_MAX_SLOTS);
    return status == TWIN_OK;
}

static void plan_slots(struct answer *out, const struct request *request)
{
    out->hashes = slots_of(&request->shared);
    twin_plan_from_slots(&out->plan, request->accept, out->hashes);
    out->reached = twin_plan_probability(out->plan, request->accept.similarity) >= request->accept.probability;
}

static bool make_plan(struct answer *out, const struct request *request)
{
    *out = (struct answer){ .plan = request->shared.scheme.plan, .reached = true };
    if (given(request, "reject") && !plan_errors(&out->plan, request))
        return false;
    if (by_slots(request))
        plan_slots(out, request);
    size_t banded = out->plan.bands * out->plan.rows;
    if (banded > TWIN_MINHASH_MAX_SLOTS)
        return refuse("%zu bands of %zu rows need %zu hashes, but a signature has at most %d", out->plan.bands,
                      out->plan.rows, banded, (int)TWIN_MINHASH_MAX_SLOTS);
    if (out->hashes == 0)
        out->hashes = banded;
    out->half_way = half_way(out->plan);
    double threshold = request->shared.scheme.threshold;
    if (given(request, "threshold")) {
        out->false_positives = area(out->plan, 0, threshold);
        out->false_negatives = 1 - threshold - area(out->plan, threshold, 1);
    }
    return true;
}

enum { STEPS = 20 }; /* of the printed curve */

static void print_plan(const struct answer *answer, const struct request *request)
{
    twin_plan plan = answer->plan;
    printf("rows %zu bands %zu hashes %zu\n", plan.rows, plan.bands, answer->hashes);
    if (given(request, "reject"))
        printf("reject: P(%g) = %.6f, at most %g requested\n", request->reject.similarity,
               twin_plan_probability(plan, request->reject.similarity), request->reject.probability);
    if (given(request, "accept") || by_slots(request))
        printf("accept: P(%g) = %.6f, at least %g requested\n", request->accept.similarity,
               twin_plan_probability(plan, request->accept.similarity), request->accept.probability);
    printf("half-way: P(%.4f) = 0.5\n", answer->half_way);
    if (given(request, "threshold") && given(request, "bands"))
        printf("threshold: P(%g) = %.6f\n", request->shared.scheme.threshold,
               twin_plan_probability(plan, request->shared.scheme.threshold));
    if (given(request, "threshold"))
        printf("areas: false positives %.6f, false negatives %.6f\n", answer->false_positives,
               answer->false_negatives);
    if (shows_curve(request))
        for (int i = 0; i <= STEPS; i++)
            printf("%.2f\t%.6f\n", (double)i / STEPS, twin_plan_probability(plan, (double)i / STEPS));
}

static void record_point(struct record *record, const char *name, twin_plan plan, twin_plan_point point)
{
    record_object(record, name);
    record_number(record, "similarity", point.similarity, 10);
    record_number(record, "requested", point.probability, 10);
    record_number(record, "probability", twin_plan_probability(plan, point.similarity), 10);
    record_object_end(record);
}

static void record_curve(struct record *record, twin_plan plan)
{
    record_list(record, "curve");
    for (int i = 0; i <= STEPS; i++) {
        record_list(record, NULL);
        record_number(record, NULL, (double)i / STEPS, 10);
        record_number(record, NULL, twin_plan_probability(plan, (double)i / STEPS), 10);
        record_list_end(record);
    }
    record_list_end(record);
}

static void print_plan_json(const struct answer *answer, const struct request *request)
{
    struct record record = record_begin(stdout, true);
    record_count(&record, "rows", answer->plan.rows);
    record_count(&record, "bands", answer->plan.bands);
    record_count(&record, "hashes", answer->hashes);
    record_number(&record, "half_way", answer->half_way, 10);
    if (given(request, "reject"))
        record_point(&record, "reject", answer->plan, request->reject);
    if (given(request, "accept") || by_slots(request))
        record_point(&record, "accept", answer->plan, request->accept);
    if (given(request, "threshold")) {
        record_object(&record, "areas");
        record_number(&record, "false_positives", answer->false_positives, 10);
        record_number(&record, "false_negatives", answer->false_negatives, 10);
        record_object_end(&record);
    }
    if (shows_curve(request))
        record_curve(&record, answer->plan);
    record_end(&record);
}

/* ---- the plot */

static void write_points(FILE *script, const struct answer *answer, const struct request *request)
{
    fprintf(script, "$half << END\n%.6f 0.5\nEND\n", answer->half_way);
    if (given(request, "reject"))
        fprintf(script, "$reject << END\n%.10g %.10g\nEND\n", request->reject.similarity,
                request->reject.probability);
    if (given(request, "accept") || by_slots(request))
        fprintf(script, "$accept << END\n%.10g %.10g\nEND\n", request->accept.similarity,
                request->accept.probability);
}

/* What is drawn: gnuplot's script sees both. */
struct picture {
    const struct answer *answer;
    const struct request *request;
};

/* The areas left of the threshold and below the curve, right of it and above the curve. */
static void write_areas(FILE *script, double threshold)
{
    fprintf(script,
            "set arrow from %.6g,0 to %.6g,1 nohead dt 2 lc rgb '#555555'\n"
            "below(x, y) = x <= %.6g ? y : NaN\nabove(x, y) = x >= %.6g ? y : NaN\n",
            threshold, threshold, threshold, threshold);
    fprintf(script, "plot $curve using 1:(below($1, 0)):(below($1, $2)) with filledcurves fs solid 0.25 noborder "
                    "lc rgb '#b3261e' title 'false positives', "
                    "$curve using 1:(above($1, $2)):(above($1, 1)) with filledcurves fs solid 0.35 noborder "
                    "lc rgb '#e08a00' title 'false negatives', $curve");
}

static void write_script(FILE *script, const void *context)
{
    enum { FINE = 500 };
    const struct picture *picture = context;
    const struct answer *answer = picture->answer;
    const struct request *request = picture->request;
    fprintf(script, "set encoding utf8\n"
                    "set terminal svg size 800,520 dynamic noenhanced font 'sans-serif,14' background rgb 'white'\n");
    fprintf(script, "set title '%zu bands of %zu rows, %zu hashes'\n", answer->plan.bands, answer->plan.rows,
            answer->hashes);
    fprintf(script,
            "set xlabel 'Jaccard similarity J'\nset ylabel 'probability of becoming a candidate'\n"
            "set xrange [0:1]\nset yrange [0:1.04]\nset xtics 0.1\nset ytics 0.1\nset border 3\n"
            "set tics nomirror out\nset grid lc rgb '#e4e4e4' lt 1\n"
            "set key %s Left reverse opaque\n",
            answer->half_way < 0.5 ? "right bottom" : "left top"); /* where the curve is not */
    fprintf(script, "$curve << END\n");
    for (int i = 0; i <= FINE; i++)
        fprintf(script, "%.4f %.8f\n", (double)i / FINE, twin_plan_probability(answer->plan, (double)i / FINE));
    fprintf(script, "END\n");
    write_points(script, answer, request);
    if (given(request, "threshold"))
        write_areas(script, request->shared.scheme.threshold);
    else
        fprintf(script, "plot $curve");
    fprintf(script, " with lines lw 2.5 lc rgb '#1f5fa8' title 'P(J) = 1 − (1 − J^%zu)^%zu'", answer->plan.rows,
            answer->plan.bands);
    fprintf(script, ", $half with points pt 7 ps 0.9 lc rgb '#1f5fa8' title 'half-way at %.3f'", answer->half_way);
    if (given(request, "reject"))
        fprintf(script, ", $reject with points pt 11 ps 1.3 lc rgb '#b3261e' title 'reject: at most %g at %g'",
                request->reject.probability, request->reject.similarity);
    if (given(request, "accept") || by_slots(request))
        fprintf(script, ", $accept with points pt 9 ps 1.3 lc rgb '#2e7d32' title 'accept: at least %g at %g'",
                request->accept.probability, request->accept.similarity);
    fprintf(script, "\n");
}

/* ---- the width of shingles */

/* Text uses letters so unevenly that it has about as many shingles as twenty equally frequent letters would give. */
static const double EFFECTIVE_LETTERS = 20;
static const double RARE_SHINGLE = 0.001; /* the share of unrelated texts that may have a given shingle */

static double chance_of_shingle(double length, double width)
{
    return -expm1((length - width + 1) * log1p(-pow(EFFECTIVE_LETTERS, -width)));
}

/* The similarity that a changed character in the middle leaves: as many shingles as a shingle has characters change. */
static double after_one_change(double length, double width)
{
    double shingles = length - width + 1, changed = fmin(width, shingles);
    return (shingles - changed) / (shingles + changed);
}

static int plan_length(const struct request *request)
{
    enum { WIDEST = 12 };
    double length = (double)request->length;
    int width = length < 2 ? 1 : 2;
    while (width < WIDEST && width < length && chance_of_shingle(length, width) > RARE_SHINGLE)
        width++;
    if (request->shared.json) {
        struct record record = record_begin(stdout, true);
        char rule[16];
        snprintf(rule, sizeof rule, "char:%d", width);
        record_string(&record, "shingle", rule);
        record_number(&record, "chance", chance_of_shingle(length, width), 6);
        record_number(&record, "after_one_change", after_one_change(length, width), 6);
        record_end(&record);
        return EXIT_YES;
    }
    printf("shingle char:%d\n", width);
    printf("an unrelated text of %.0f characters has a given shingle with probability %.2g\n", length,
           chance_of_shingle(length, width));
    printf("one changed character leaves a similarity of %.4f or more\n", after_one_change(length, width));
    return EXIT_YES;
}

/* ---- a forest, from the number of its items (Indyk, Motwani 1998) */

/* Labels agree with the probability of the similarity, as the slots of signatures do. So deep that one unrelated item is
 * expected at the leaf of a query; and as many trees as make it likely that a near one is at a leaf. */
static int plan_forest(const struct request *request)
{
    static const double recalls[] = { 0.9, 0.95, 0.99, 0.999 };
    const struct forest_goal *goal = &request->forest;
    double items = (double)goal->items, depth = ceil(log(items) / -log(goal->unrelated));
    double rho = log(goal->near) / log(goal->unrelated), at_leaf = pow(goal->near, depth);
    double classic = ceil(pow(items, rho));
    struct record record = { 0 };
    if (request->shared.json) {
        record = record_begin(stdout, true);
        record_count(&record, "depth", (uint64_t)depth);
        record_number(&record, "rho", rho, 6);
        record_count(&record, "trees", (uint64_t)classic);
        record_list(&record, "recall");
    } else {
        printf("depth %.0f: ln %" PRIu64 " / ln(1/%g)\n", depth, goal->items, goal->unrelated);
        printf("trees %.0f: %" PRIu64 "^%.4f; a near item is at a leaf with probability %.4f\n", classic, goal->items,
               rho, -expm1(classic * log1p(-at_leaf)));
    }
    for (size_t i = 0; i < sizeof recalls / sizeof recalls[0]; i++) {
        double trees = ceil(log1p(-recalls[i]) / log1p(-at_leaf));
        if (!request->shared.json) {
            printf("trees %.0f for %g\n", trees, recalls[i]);
            continue;
        }
        record_list(&record, NULL);
        record_number(&record, NULL, recalls[i], 3);
        record_count(&record, NULL, (uint64_t)trees);
        record_list_end(&record);
    }
    if (request->shared.json) {
        record_list_end(&record);
        record_end(&record);
    }
    return EXIT_YES;
}

/* ---- the command */

static int run_plan(void *context)
{
    struct request *request = context;
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    if (given(request, "length"))
        return plan_length(request);
    if (given(request, "forest"))
        return plan_forest(request);
    if (given(request, "bloom"))
        return plan_bloom(
            &request->bloom,
            (struct bloom_view){ .json = request->shared.json, .curve = request->curve, .plot = request->plot });
    if (by_slots(request))
        request->accept = (twin_plan_point){ request->shared.scheme.threshold, request->recall };

    struct answer answer;
    if (!make_plan(&answer, request))
        return EXIT_ERROR;
    struct picture picture = { &answer, request };
    if (request->plot && !plot_draw(request->plot, write_script, &picture))
        return EXIT_ERROR;
    if (request->shared.json)
        print_plan_json(&answer, request);
    else
        print_plan(&answer, request);
    if (!answer.reached)
        warn("%zu hash%s cannot reach %g at similarity %g; this is the closest plan", answer.hashes,
             answer.hashes == 1 ? "" : "es", request->accept.probability, request->accept.similarity);
    return answer.reached ? EXIT_YES : EXIT_NO;
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0), .recall = 0.999 };

const struct command command_plan = {
    .name = "twinsift plan",
    .summary = "derive bands, rows and hashes from the error rates you accept",
    .usage = "--reject J:P --accept J:P [OPTION]...\n"
             "--threshold T [--hashes K | --error E] [--recall R] [OPTION]...\n"
             "--bands B --rows R [--threshold T] [OPTION]...\n"
             "--length N [--json]\n"
             "--forest ITEMS:J:J [--json]\n"
             "--bloom ITEMS:P [OPTION]...",
    .about =
        "The first form finds the fewest hashes that satisfy both conditions, the second the best use of K hashes; "
        "the third prints the curve of a plan, the fourth the width of shingles for texts of a length, the fifth the "
        "depth and the trees of a forest, the sixth the size of a Bloom filter.\n\n"
        "With B bands of R rows, sets of Jaccard similarity J become candidates with probability "
        "P(J) = 1 - (1 - J^R)^B, an S-curve.",
    .shared = "threshold hashes error bands rows no-sync json",
    .options = options,
    .status = "0  planned\n"
              "1  the recall cannot be reached; the nearest plan is printed\n"
              "2  error",
    .examples = "twinsift plan --reject 0.6:0.01 --accept 0.9:0.99\n"
                "twinsift plan --threshold 0.8 --hashes 256 --curve\n"
                "twinsift plan --bands 20 --rows 5 --threshold 0.6 --plot curve.svg\n"
                "twinsift plan --length 2000\n"
                "twinsift plan --forest 1M:0.8:0.2\n"
                "twinsift plan --bloom 1G:0.01 --plot bloom.svg",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_plan,
};

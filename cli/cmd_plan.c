/* cmd_plan.c — twinsift plan: parameters from the error you accept. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "twinsift plan tells how many bands and rows to use, and how often similar pairs will be found.\n"
    "\n"
    "usage: twinsift plan --reject J:P --accept J:P        the fewest hashes that keep both promises\n"
    "       twinsift plan --threshold T [--hashes K | --error E] [--recall R]\n"
    "                                                      the best use of K hashes\n"
    "       twinsift plan --bands B --rows R               the curve of a plan you have\n"
    "       twinsift plan --bloom ITEMS:P                  the size of a Bloom filter\n"
    "\n"
    "With B bands of R rows, sets of Jaccard similarity J become candidates with probability\n"
    "P(J) = 1 - (1 - J^R)^B, an S-curve.\n"
    "\n"
    "  --reject J:P        at similarity J, and below, a probability of at most P\n"
    "  --accept J:P        at similarity J, and above, a probability of at least P\n"
    "  --threshold T       the similarity that matters, 0 to 1\n"
    "  --hashes K          the slots of a signature, 1 to 65536 (128)\n"
    "  --error E           or the error of an estimate, for K = 1/E\302\262 slots\n"
    "  --recall R          the probability wanted at the threshold (0.999)\n"
    "  --bands B --rows R  a plan, B times R at most 65536\n"
    "  --bloom ITEMS:P     items (K, M, G: thousand, million, thousand million) and false positives\n"
    "  --curve             also print J and P(J) for J = 0, 0.05 ... 1\n"
    "  --plot FILE.svg     also draw the curve; needs gnuplot\n"
    "  --json              one JSON object instead\n"
    "  -h, --help          this text\n"
    "\n"
    "Exit status: 0 planned; 1 the recall is out of reach, and the nearest plan is shown; 2 trouble.\n"
    "\n"
    "examples:\n"
    "  twinsift plan --reject 0.6:0.01 --accept 0.9:0.99\n"
    "  twinsift plan --threshold 0.8 --hashes 256 --curve\n"
    "  twinsift plan --bands 20 --rows 5 --plot curve.svg\n"
    "  twinsift plan --bloom 1G:0.01\n";

enum { REJECT = OPTION_OWN, ACCEPT, THRESHOLD, HASHES, ERROR, RECALL, BANDS, ROWS, BLOOM, CURVE, PLOT, JSON };

static const struct option table[] = {
    { "reject", required_argument, NULL, REJECT },       { "accept", required_argument, NULL, ACCEPT },
    { "threshold", required_argument, NULL, THRESHOLD }, { "hashes", required_argument, NULL, HASHES },
    { "error", required_argument, NULL, ERROR },         { "recall", required_argument, NULL, RECALL },
    { "bands", required_argument, NULL, BANDS },         { "rows", required_argument, NULL, ROWS },
    { "bloom", required_argument, NULL, BLOOM },         { "curve", no_argument, NULL, CURVE },
    { "plot", required_argument, NULL, PLOT },           { "json", no_argument, NULL, JSON },
    { "help", no_argument, NULL, OPTION_HELP },          { 0 },
};

/* What is asked. `given` has a bit for each option. */
struct request {
    unsigned given;
    twin_plan_point reject, accept; /* accept is also --threshold and --recall */
    double error;
    uint64_t hashes, bands, rows, items;
    double false_positives;
    const char *plot;
};

static unsigned bit(int option)
{
    return 1u << (option - OPTION_OWN);
}

static bool has(const struct request *request, int option)
{
    return request->given & bit(option);
}

static bool read_items(struct request *out, const char *value)
{
    char items[24];
    const char *colon = strchr(value, ':');
    if (!colon || (size_t)(colon - value) >= sizeof items) {
        fail("--bloom: \"%s\" is not a number of items and a probability with a colon between, like 1M:0.01", value);
        return false;
    }
    snprintf(items, sizeof items, "%.*s", (int)(colon - value), value);
    if (!read_count(&out->items, "--bloom", items, 1, UINT64_MAX) ||
        !read_fraction(&out->false_positives, "--bloom", colon + 1))
        return false;
    if (out->false_positives > 0 && out->false_positives < 1)
        return true;
    fail("--bloom: a probability of %s cannot be planned for, only one between 0 and 1", colon + 1);
    return false;
}

static bool read_plot(const char **out, const char *value)
{
    size_t length = strlen(value);
    *out = value;
    if (length > 4 && strcmp(value + length - 4, ".svg") == 0)
        return true;
    fail("--plot: \"%s\" does not end in .svg, the only kind that is drawn", value);
    return false;
}

static bool read_option(struct request *out, int option, const char *value)
{
    if (option >= OPTION_OWN)
        out->given |= bit(option);
    switch (option) {
    case REJECT: return read_point(&out->reject, "--reject", value);
    case ACCEPT: return read_point(&out->accept, "--accept", value);
    case THRESHOLD: return read_fraction(&out->accept.similarity, "--threshold", value);
    case RECALL: return read_fraction(&out->accept.probability, "--recall", value);
    case HASHES: return read_count(&out->hashes, "--hashes", value, 1, TWIN_MINHASH_MAX_SLOTS);
    case ERROR: return read_fraction(&out->error, "--error", value);
    case BANDS: return read_count(&out->bands, "--bands", value, 1, TWIN_MINHASH_MAX_SLOTS);
    case ROWS: return read_count(&out->rows, "--rows", value, 1, TWIN_MINHASH_MAX_SLOTS);
    case BLOOM: return read_items(out, value);
    case PLOT: return read_plot(&out->plot, value);
    case CURVE:
    case JSON: return true;
    default: return false;
    }
}

/* What is wrong with the options taken together; NULL when nothing is. */
static const char *contradiction(const struct request *request)
{
    unsigned given = request->given, errors = given & (bit(REJECT) | bit(ACCEPT)),
             bands = given & (bit(BANDS) | bit(ROWS));
    unsigned slots = given & (bit(THRESHOLD) | bit(HASHES) | bit(ERROR) | bit(RECALL)), bloom = given & bit(BLOOM);
    int ways = (errors != 0) + (bands != 0) + (slots != 0) + (bloom != 0);
    if (ways == 0)
        return "say what to plan for: --reject and --accept, or --threshold, or --bands and --rows, or --bloom";
    if (ways > 1)
        return "--reject and --accept, --threshold, --bands and --rows, and --bloom are four ways to ask; use one";
    if (errors && errors != (bit(REJECT) | bit(ACCEPT)))
        return has(request, REJECT) ? "--reject needs --accept" : "--accept needs --reject";
    if (bands && bands != (bit(BANDS) | bit(ROWS)))
        return has(request, BANDS) ? "--bands needs --rows" : "--rows needs --bands";
    if (slots && !has(request, THRESHOLD))
        return "--hashes, --error and --recall need --threshold";
    if (has(request, HASHES) && has(request, ERROR))
        return "--hashes and --error exclude each other, for either gives the other";
    if (bloom && (has(request, CURVE) || request->plot))
        return "--bloom has no curve to print or plot";
    return NULL;
}

/* ---- a plan, and how it is shown */

struct answer {
    twin_plan plan;
    size_t hashes;
    double half_way; /* P(half_way) = 1/2 */
    bool reached;    /* what was asked of the threshold */
};

static double half_way(twin_plan plan)
{
    return pow(-expm1(-M_LN2 / (double)plan.bands), 1 / (double)plan.rows);
}

static bool plan_errors(twin_plan *out, const struct request *request)
{
    twin_status status = twin_plan_from_errors(out, request->reject, request->accept, TWIN_MINHASH_MAX_SLOTS);
    if (status == TWIN_EINVAL)
        fail("no curve is at most %g at %g and at least %g at %g", request->reject.probability,
             request->reject.similarity, request->accept.probability, request->accept.similarity);
    else if (status == TWIN_ELIMIT)
        fail("keeping both promises takes more than %d hashes; move the two points apart",
             (int)TWIN_MINHASH_MAX_SLOTS);
    return status == TWIN_OK;
}

static bool plan_slots(struct answer *out, const struct request *request)
{
    out->hashes = has(request, ERROR) ? twin_plan_slots(request->error) : (size_t)request->hashes;
    if (out->hashes == 0 || out->hashes > TWIN_MINHASH_MAX_SLOTS) {
        fail("--error: %g would need more than %d hashes; the least error is 1/256", request->error,
             (int)TWIN_MINHASH_MAX_SLOTS);
        return false;
    }
    twin_plan_from_slots(&out->plan, request->accept, out->hashes);
    out->reached = twin_plan_probability(out->plan, request->accept.similarity) >= request->accept.probability;
    return true;
}

static bool make_plan(struct answer *out, const struct request *request)
{
    *out = (struct answer){ .plan = { (size_t)request->bands, (size_t)request->rows }, .reached = true };
    if (has(request, REJECT) && !plan_errors(&out->plan, request))
        return false;
    if (has(request, THRESHOLD) && !plan_slots(out, request))
        return false;
    size_t banded = out->plan.bands * out->plan.rows;
    if (banded > TWIN_MINHASH_MAX_SLOTS) {
        fail("%zu bands of %zu rows need %zu hashes, but a signature has at most %d", out->plan.bands, out->plan.rows,
             banded, (int)TWIN_MINHASH_MAX_SLOTS);
        return false;
    }
    if (out->hashes == 0)
        out->hashes = banded;
    out->half_way = half_way(out->plan);
    return true;
}

enum { STEPS = 20 }; /* of the printed curve */

static void print_plan(const struct answer *answer, const struct request *request)
{
    twin_plan plan = answer->plan;
    printf("rows %zu bands %zu hashes %zu\n", plan.rows, plan.bands, answer->hashes);
    if (has(request, REJECT))
        printf("reject: P(%g) = %.6f, at most %g was asked\n", request->reject.similarity,
               twin_plan_probability(plan, request->reject.similarity), request->reject.probability);
    if (has(request, ACCEPT) || has(request, THRESHOLD))
        printf("accept: P(%g) = %.6f, at least %g was asked\n", request->accept.similarity,
               twin_plan_probability(plan, request->accept.similarity), request->accept.probability);
    printf("half-way: P(%.4f) = 0.5\n", answer->half_way);
    if (has(request, CURVE) || has(request, BANDS))
        for (int i = 0; i <= STEPS; i++)
            printf("%.2f\t%.6f\n", (double)i / STEPS, twin_plan_probability(plan, (double)i / STEPS));
}

static void print_json_point(const char *name, twin_plan plan, twin_plan_point point)
{
    printf(",\"%s\":{\"similarity\":%.10g,\"asked\":%.10g,\"probability\":%.10g}", name, point.similarity,
           point.probability, twin_plan_probability(plan, point.similarity));
}

static void print_plan_json(const struct answer *answer, const struct request *request)
{
    twin_plan plan = answer->plan;
    printf("{\"rows\":%zu,\"bands\":%zu,\"hashes\":%zu,\"half_way\":%.10g", plan.rows, plan.bands, answer->hashes,
           answer->half_way);
    if (has(request, REJECT))
        print_json_point("reject", plan, request->reject);
    if (has(request, ACCEPT) || has(request, THRESHOLD))
        print_json_point("accept", plan, request->accept);
    if (has(request, CURVE) || has(request, BANDS)) {
        printf(",\"curve\":[");
        for (int i = 0; i <= STEPS; i++)
            printf("%s[%.10g,%.10g]", i ? "," : "", (double)i / STEPS,
                   twin_plan_probability(plan, (double)i / STEPS));
        printf("]");
    }
    printf("}\n");
}

/* ---- the plot */

static void write_points(FILE *script, const struct answer *answer, const struct request *request)
{
    fprintf(script, "$half << END\n%.6f 0.5\nEND\n", answer->half_way);
    if (has(request, REJECT))
        fprintf(script, "$reject << END\n%.10g %.10g\nEND\n", request->reject.similarity,
                request->reject.probability);
    if (has(request, ACCEPT) || has(request, THRESHOLD))
        fprintf(script, "$accept << END\n%.10g %.10g\nEND\n", request->accept.similarity,
                request->accept.probability);
}

static void write_script(FILE *script, const struct answer *answer, const struct request *request)
{
    enum { FINE = 500 };
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
    fprintf(script, "plot $curve with lines lw 2.5 lc rgb '#1f5fa8' title 'P(J) = 1 − (1 − J^%zu)^%zu'",
            answer->plan.rows, answer->plan.bands);
    fprintf(script, ", $half with points pt 7 ps 0.9 lc rgb '#1f5fa8' title 'half-way at %.3f'", answer->half_way);
    if (has(request, REJECT))
        fprintf(script, ", $reject with points pt 11 ps 1.3 lc rgb '#b3261e' title 'reject: at most %g at %g'",
                request->reject.probability, request->reject.similarity);
    if (has(request, ACCEPT) || has(request, THRESHOLD))
        fprintf(script, ", $accept with points pt 9 ps 1.3 lc rgb '#2e7d32' title 'accept: at least %g at %g'",
                request->accept.probability, request->accept.similarity);
    fprintf(script, "\n");
}

static bool draw_plot(const struct answer *answer, const struct request *request)
{
    struct output_file picture;
    if (!output_file_open(&picture, request->plot))
        return false;
    FILE *script = tmpfile();
    char reason[PLOT_REASON_ROOM];
    enum plot_result result = PLOT_FAILED;
    if (script) {
        write_script(script, answer, request);
        result = plot_run(reason, picture.file, script, NULL);
        fclose(script);
    } else
        snprintf(reason, sizeof reason, "a temporary file could not be created: %s", strerror(errno));
    if (result == PLOT_DRAWN)
        return output_file_finish(&picture);
    fail("--plot: %s", reason);
    output_file_abandon(&picture);
    return false;
}

/* ---- the size of a Bloom filter */

/* The plan is the textbook's; `twinsift bloom create` trades a little memory for one cache miss a question. */
static void print_file_shape(const struct request *request)
{
    twin_bloom_shape shape;
    twin_bloom_options options = { .items = request->items, .rate = request->false_positives };
    bool json = has(request, JSON);
    if (twin_bloom_plan(&shape, options) != TWIN_OK) {
        printf(json ? ",\"file\":null" : "bloom create: makes no such filter\n");
        return;
    }
    const char *layout = twin_bloom_layout_name(shape.layout);
    double rate = twin_bloom_expected_rate(shape, (double)request->items);
    if (json) {
        printf(",\"file\":{\"layout\":\"%s\",\"cells\":%" PRIu64 ",\"functions\":%u,\"bytes\":%" PRIu64
               ",\"probability\":%.10g}",
               layout, shape.cells, shape.functions, twin_bloom_bytes(shape), rate);
        return;
    }
    printf("bloom create: %s, cells %" PRIu64 " functions %u, ", layout, shape.cells, shape.functions);
    print_size(twin_bloom_bytes(shape));
    printf(", false positives %.4g\n", rate);
}

static int plan_bloom(const struct request *request)
{
    twin_plan_bloom plan;
    if (twin_plan_for_bloom(&plan, request->items, request->false_positives) != TWIN_OK)
        return fail("--bloom: %" PRIu64 " items take more cells than can be counted", request->items);
    if (has(request, JSON)) {
        printf("{\"items\":%" PRIu64 ",\"asked\":%.10g,\"cells\":%" PRIu64 ",\"functions\":%u,\"bytes\":%" PRIu64
               ",\"probability\":%.10g",
               request->items, request->false_positives, plan.cells, plan.functions, plan.bytes, plan.probability);
        print_file_shape(request);
        printf("}\n");
        return EXIT_DONE;
    }
    printf("cells %" PRIu64 " functions %u bytes %" PRIu64 "\n", plan.cells, plan.functions, plan.bytes);
    printf("size: ");
    print_size(plan.bytes);
    printf(", %.2f cells an item\n", (double)plan.cells / (double)request->items);
    printf("false positives: %.4g after %" PRIu64 " items, %g was asked\n", plan.probability, request->items,
           request->false_positives);
    print_file_shape(request);
    return EXIT_DONE;
}

int cmd_plan(int argc, char **argv)
{
    struct request request = { .hashes = 128, .accept = { .probability = 0.999 } };
    for (int option; (option = next_option(argc, argv, table)) != -1;) {
        if (option == OPTION_HELP)
            return fputs(help, stdout), EXIT_DONE;
        if (!read_option(&request, option, optarg))
            return EXIT_ERROR;
    }
    if (optind < argc)
        return fail("\"%s\" is not an option; plan reads no files", argv[optind]);
    const char *sentence = contradiction(&request);
    if (sentence)
        return fail("%s", sentence);
    if (has(&request, BLOOM))
        return plan_bloom(&request);

    struct answer answer;
    if (!make_plan(&answer, &request) || (request.plot && !draw_plot(&answer, &request)))
        return EXIT_ERROR;
    if (has(&request, JSON))
        print_plan_json(&answer, &request);
    else
        print_plan(&answer, &request);
    if (!answer.reached)
        warn("%zu hashes cannot reach %g at similarity %g; this plan comes nearest", answer.hashes,
             request.accept.probability, request.accept.similarity);
    return answer.reached ? EXIT_DONE : EXIT_NO;
}

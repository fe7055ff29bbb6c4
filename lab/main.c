/* main.c — the table of experiments, and the command line that selects them.
 *
 * The frame of commands is that of twinsift (cli/support), with one command. Experiments run one after the other; the
 * exit status says whether all their claims held. */
#include "support/command.h"
#include "support/results.h"
#include "support/shared_options.h"

#include "lab.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct experiment experiments[] = {
    { "hash-distribution", "are hash values uniform?", exp_hash_distribution },
    { "hash-correlation", "are the functions of a family uncorrelated?", exp_hash_correlation },
    { "hash-independence", "are pairs of functions independent?", exp_hash_independence },
    { "bloom-k", "the best number of hash functions, with 8 cells per item", exp_bloom_k },
    { "bloom-n", "false positives against cells per item", exp_bloom_n },
    { "bloom-big", "does a large filter keep the rate it was planned for?", exp_bloom_big },
    { "bloom-small", "a handful of items, with no wrong answer", exp_bloom_small },
    { "bloom-overfill", "false positives of filters that are past their plan", exp_bloom_overfill },
    { "counting", "counting filters: errors of counts, removal, overflow", exp_counting },
    { "minhash-permutations", "equal minima under random permutations are as frequent as J",
      exp_minhash_permutations },
    { "minhash-error", "the error of a similarity estimate against the number of slots", exp_minhash_error },
    { "lsh-curve", "how often a pair becomes a candidate (the S-curve)", exp_lsh_curve },
    { "lsh-plan", "the fewest hashes that meet two error bounds", exp_lsh_plan },
    { "movielens", "users who rated the same films", exp_movielens },
    { "embed-bounds", "q-gram distance lies between the bounds implied by edit distance", exp_embed_bounds },
    { "embed-collision", "how often hash functions agree on edited texts", exp_embed_collision },
    { "forest-precision", "does an LSH forest find the nearest strings?", exp_forest_precision },
    { "forest-order", "does an LSH forest return strings in order of distance?", exp_forest_order },
    { "reuters-duplicates", "texts of Reuters-21578 that agree in whole hash vectors", exp_reuters_duplicates },
    { "forest-vs-by", "forest and Bar-Yossef features against exact pairs of Reuters-21578", exp_forest_vs_by },
    { "mail-enron", "a published mail filter and ours: one half of Enron-Spam learnt, the other judged",
      exp_mail_enron },
    { "mail-threshold", "what thresholds of two mail filters catch and lose", exp_mail_threshold },
    { "mail-trec", "mail in order, judged and learnt: ROC curves of all methods", exp_mail_trec },
    { "mail-forest", "spam found by the deepest level of an LSH forest", exp_mail_forest },
    { "mail-robust", "a mail filter whose labels are wrong, late or missing", exp_mail_robust },
    { "mail-share", "two sites that exchange sketches of the mail they have learnt", exp_mail_share },
    { "mail-long", "one stream of mail from everywhere", exp_mail_long },
    { "mail-travel", "a mail filter that has learnt one mailbox judges others", exp_mail_travel },
    { "mail-growth", "spam from everywhere, good mail of one mailbox", exp_mail_growth },
    { "mail-folders", "two folders of mail are learnt, then a month is judged", exp_mail_folders },
    { "mail-labels", "folders of several labels, learnt one after the other", exp_mail_labels },
    { "mail-steps", "the mail filter without each of its steps", exp_mail_steps },
    { "threads", "all executors give the same result; their times", exp_threads },
};
enum { EXPERIMENTS = sizeof experiments / sizeof experiments[0] };

struct request {
    struct shared_options shared; /* --seed, --threads */
    bool quick, report;
    const char *data, *out;
};

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "data", 0, OPTIONS_INPUT, "DIR",
      "folder of the data sets ml-100k/, ml-1m/, reuters21578/, enron-spam/, trec07p-25k/, spamassassin/ (default: "
      "$TWINSIFT_DATA)",
      &option_text, AT(data) },
    { "quick", 0, OPTIONS_SEARCH, NULL, "fewer repetitions: all experiments in a minute or two", &option_flag,
      AT(quick) },
    { "out", 0, OPTIONS_OUTPUT, "DIR", "folder for tables and plots", &option_text, AT(out) },
    { "report", 0, OPTIONS_OUTPUT, NULL, "also write report.html, one page with all tables and plots", &option_flag,
      AT(report) },
    { 0 },
};

static const struct experiment *find(const char *name)
{
    for (size_t i = 0; i < EXPERIMENTS; i++)
        if (strcmp(name, experiments[i].name) == 0)
            return &experiments[i];
    die("unknown experiment \"%s\"; see twinsift-lab list", name);
}

/* Creates the folder and its parents. */
static void make_folder(const char *path)
{
    char part[PATH_ROOM];
    if (strlen(path) > PATH_ROOM / 2 || *path == '\0') /* leaves room for file names */
        die("--out: \"%s\" is not a valid folder name", path);
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + 1;; slash++) {
        slash += strcspn(slash, "/");
        char kept = *slash;
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            die("%s: cannot create the folder: %s", part, strerror(errno));
        if (!kept)
            return;
        *slash = kept;
    }
}

enum verdict { PASSED, FAILED, SKIPPED, VERDICTS };
static const char *const verdicts[VERDICTS] = { "passed", "failed", "skipped" };

static enum verdict run_one(struct lab *lab, const struct experiment *experiment)
{
    lab->now = experiment;
    lab->claims = lab->broken = 0;
    printf("%s: %s\n", experiment->name, experiment->title);
    if (lab->page)
        report_section(lab, experiment);
    lab->progress = progress_begin(false);
    experiment->run(lab);
    progress_end();
    enum verdict verdict = lab->broken ? FAILED : lab->claims ? PASSED : SKIPPED;
    printf("%s  %s\n\n", verdicts[verdict], experiment->name);
    fflush(stdout);
    return verdict;
}

static int run_all(struct lab *lab, const struct experiment **chosen, size_t count, bool with_report)
{
    unsigned counts[VERDICTS] = { 0 };
    char summary[100];
    make_folder(lab->out);
    if (with_report)
        report_begin(lab);
    for (size_t i = 0; i < count; i++)
        counts[run_one(lab, chosen[i])]++;
    snprintf(summary, sizeof summary, "%u passed, %u failed, %u skipped", counts[PASSED], counts[FAILED],
             counts[SKIPPED]);
    if (with_report)
        report_end(lab, summary);
    printf("%s\n", summary);
    return counts[FAILED] > 0;
}

/* The experiments named by the arguments, each once, in table order. Returns their number. */
static size_t choose(const struct experiment **out, const struct request_base *request)
{
    bool wanted[EXPERIMENTS] = { false };
    size_t count = 0;
    for (size_t i = 0; i < request->count; i++) {
        bool all = strcmp(request->arguments[i], "all") == 0;
        for (size_t e = 0; all && e < EXPERIMENTS; e++)
            wanted[e] = true;
        if (!all)
            wanted[find(request->arguments[i]) - experiments] = true;
    }
    for (size_t e = 0; e < EXPERIMENTS; e++)
        if (wanted[e])
            out[count++] = &experiments[e];
    return count;
}

static int list(void)
{
    for (size_t i = 0; i < EXPERIMENTS; i++)
        printf("%-22s%s\n", experiments[i].name, experiments[i].title);
    return 0;
}

static int run(void *context)
{
    const struct request *request = context;
    const struct shared_options *shared = &request->shared;
    const struct experiment *chosen[EXPERIMENTS];
    struct lab lab = { .quick = request->quick,
                       .data = request->data ? request->data : getenv("TWINSIFT_DATA"),
                       .out = request->out,
                       .seed = shared->scheme.minhash.seed };
    if (shared->base.count == 0)
        return fail("no experiment given; see twinsift-lab list, or use all");
    if (strcmp(shared->base.arguments[0], "list") == 0)
        return list();
    size_t count = choose(chosen, &shared->base);
    return make_exec(&lab.exec, shared) ? run_all(&lab, chosen, count, request->report) : EXIT_ERROR;
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0), .out = "lab-out" };

static const struct command lab_command = {
    .name = "twinsift-lab",
    .summary = "repeat the experiments behind twinsift and compare theory, published results and observation",
    .usage = "list\n"
             "[OPTION]... NAME...\n"
             "[OPTION]... all",
    .about =
        "The first form lists the experiments, the others run some or all. Each experiment prints its tables and "
        "claims, and writes tables (TSV) and plots (SVG, drawn by gnuplot).",
    .shared = "seed threads",
    .options = options,
    .most = SIZE_MAX,
    .status = "0  all that ran passed\n1  at least one failed\n2  error",
    .examples = "twinsift-lab all --quick\n"
                "twinsift-lab bloom-k lsh-curve --out pictures\n"
                "twinsift-lab all --data ~/data --report --out results",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

static const struct program program = {
    .name = "twinsift-lab",
    .commands = (const struct command *const[]){ &lab_command, NULL },
    .groups = (const struct command_group[]){ { 0 } },
    .shared = shared_option_rows,
    .headings = { [OPTIONS_SEARCH] = "Run" },
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that output and messages stay in order */
    return close_output(command_run(&program, &lab_command, argc, argv));
}

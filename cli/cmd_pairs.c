/* cmd_pairs.c — twinsift pairs: find all similar documents, or sets, in a collection. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char help_begin[] =
    "twinsift pairs finds all similar documents, or sets, in a collection, and checks each pair exactly.\n"
    "\n"
    "usage: twinsift pairs [OPTION]... INPUT...\n"
    "\n"
    "An INPUT is a folder (each file below it is a document), a file .jsonl, .jsonl.gz or .jsonl.zst\n"
    "with one object a line (\"id\" and \"text\"), or - for such lines on standard input. Each pair is a\n"
    "line: the first id, the second, and their similarity, parted by tabs, in the order of the input.\n"
    "\n";
static const char help_end[] =
    "\n"
    "Exit status: 0 when done, whether or not there are pairs; 2 in trouble. A bad document is named on\n"
    "standard error and skipped.\n"
    "\n"
    "examples:\n"
    "  twinsift pairs articles/\n"
    "  twinsift pairs --threshold 0.9 --shingle word:5 --stats corpus.jsonl.zst\n"
    "  twinsift pairs --audit 1000 corpus.jsonl > pairs.tsv\n"
    "  twinsift pairs --measure edit --threshold 0.95 articles/\n"
    "  twinsift pairs --method forest --top 3 --threshold 0.3 articles/\n"
    "  twinsift pairs --sets --threshold 0.6 u.data\n"
    "  zcat dump.gz | twinsift pairs --json --text-field body -\n";

/* A run and what it leaves behind. */
struct run {
    struct common_options options;
    twin_plan plan;
    twin_input *input;
    twin_collection *collection;
    twin_similar *similar;
    struct word_list stop_words;
    double started, opened, read, found, written, audited;
    uint64_t lines;
    twin_audit audit;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_clear(struct run *run)
{
    twin_similar_free(run->similar);
    twin_collection_free(run->collection);
    twin_input_free(run->input);
    word_list_clear(&run->stop_words);
}

/* ---- the plan ---- */

/* Recall wanted of a pair that just reaches the threshold. */
static const double RECALL = 0.999;

/* Containment has no Jaccard similarity of its own: a small set may lie in a large one. One row a band finds the
 * lowest similarity that the slots can find. */
static bool choose_plan(struct run *run)
{
    const struct common_options *options = &run->options;
    run->plan = (twin_plan){ options->bands, options->rows };
    if (options->bands || options->edit)
        return true;
    if (options->measure == TWIN_CONTAINMENT) {
        run->plan = (twin_plan){ options->minhash.slots, 1 };
        return true;
    }
    twin_plan_point accept = { options->threshold < 1 ? options->threshold : 0.9999, RECALL };
    if (twin_plan_from_slots(&run->plan, accept, options->minhash.slots) != TWIN_OK) {
        fail("no bands and rows could be planned for the threshold %g", options->threshold);
        return false;
    }
    double reached = twin_plan_probability(run->plan, options->threshold);
    if (reached < RECALL && !options->quiet)
        warn("%zu hashes find a pair at the threshold with probability %.4f only; --hashes with more would raise it",
             options->minhash.slots, reached);
    return true;
}

/* ---- opening and reading ---- */

static bool load_stop_words(struct run *run)
{
    const char *path = run->options.stop_words;
    if (!path)
        return true;
    struct common_options *options = &run->options;
    if (!word_list_read(&run->stop_words, path))
        return false;
    options->shingle.stop_words = run->stop_words.words;
    options->shingle.stop_word_count = run->stop_words.count;
    return true;
}

/* Bad documents are named, but a file of another kind must not fill the screen. */
enum { MOST_NAMED = 20 };

static void tell_problems(const struct run *run)
{
    const twin_problem *problems;
    size_t count = twin_collection_problems(&problems, run->collection);
    for (size_t i = 0; i < count && i < MOST_NAMED; i++)
        warn_problem(run->input, &problems[i]);
    if (count > MOST_NAMED)
        warn("%zu more were skipped", count - MOST_NAMED);
}

/* What is no trouble, but may not be what was meant. */
static void tell_remarks(const struct run *run)
{
    twin_collection_counts counts = twin_collection_count(run->collection);
    if (run->options.quiet)
        return;
    if (counts.replaced)
        warn("%" PRIu64 " stretches of bytes that are not UTF-8 were replaced by U+FFFD", counts.replaced);
    if (counts.documents == 0)
        warn("there are no documents in the input, so there is nothing to compare");
    else if (counts.too_short > counts.documents / 2)
        warn("%" PRIu64 " of %" PRIu64 " documents are shorter than one shingle, and so similar to none",
             counts.too_short, counts.documents);
}

static bool read_collection(struct run *run, const char *const *paths, size_t count, twin_progress progress)
{
    struct common_options *options = &run->options;
    twin_error error = { 0 };
    options->input.temp_folder = temp_folder();
    options->input.progress = progress;
    twin_status status = twin_input_open(&run->input, paths, count, options->input, &error);
    run->opened = seconds();
    if (status == TWIN_OK)
        status = twin_collection_read(&run->collection, run->input,
                                      (twin_collection_options){ .scheme.normal = options->normal,
                                                                 .texts = options->edit,
                                                                 .scheme.shingle = options->shingle,
                                                                 .scheme.minhash = options->minhash,
                                                                 .sizes = options->measure == TWIN_CONTAINMENT,
                                                                 .exec = options->exec,
                                                                 .strict = options->strict,
                                                                 .progress = progress },
                                      &error);
    run->read = seconds();
    progress_clear();
    if (status != TWIN_OK) {
        fail_status("the input", status, &error);
        return false;
    }
    tell_problems(run);
    twin_collection_counts counts = twin_collection_count(run->collection);
    if (counts.documents == 0 && counts.problems) {
        fail("%s could be read", options->input.format == TWIN_INPUT_SETS ? "no row" : "no document");
        return false;
    }
    tell_remarks(run);
    return true;
}

static twin_similar_options similar_options(const struct run *run, twin_progress progress)
{
    const struct common_options *options = &run->options;
    return (twin_similar_options){ .measure = options->measure,
                                   .verify = options->verify,
                                   .threshold = options->threshold,
                                   .method = options->method,
                                   .top = options->top,
                                   .bands = { run->plan, options->buckets },
                                   .exec = options->exec,
                                   .progress = progress };
}

/* --max-edits alone asks for no ratio. */
static twin_edit_join_options near_options(const struct run *run, twin_progress progress)
{
    const struct common_options *options = &run->options;
    bool by_ratio = options->threshold_given || options->max_edits == TWIN_EDIT_FAR;
    return (twin_edit_join_options){ .ratio = by_ratio ? options->threshold : 0,
                                     .edits = options->max_edits,
                                     .grams = options->shingle_given ? options->shingle.width : 0,
                                     .minhash = options->minhash,
                                     .exec = options->exec,
                                     .progress = progress };
}

static bool find_similar(struct run *run, twin_progress progress)
{
    twin_error error = { 0 };
    twin_status status =
        run->options.edit ? twin_edit_join_find(&run->similar, run->collection, near_options(run, progress), &error)
                          : twin_similar_find(&run->similar, run->collection, similar_options(run, progress), &error);
    run->found = seconds();
    progress_clear();
    if (status != TWIN_OK)
        fail_status("searching", status, &error);
    return status == TWIN_OK;
}

/* ---- what is told ---- */

static void print_json_id(const struct run *run, uint32_t document)
{
    bool is_number;
    twin_text id = twin_collection_id(&is_number, run->collection, document);
    if (is_number)
        fwrite(id.bytes, 1, id.length, stdout);
    else
        escape_json(stdout, id.bytes, id.length);
}

static bool print_json(void *context, twin_match match)
{
    struct run *run = context;
    fputs("{\"a\":", stdout);
    print_json_id(run, match.a);
    fputs(",\"b\":", stdout);
    print_json_id(run, match.b);
    printf(",\"similarity\":%.4f}\n", match.similarity);
    run->lines++;
    return output_is_good();
}

static bool print_line(void *context, twin_match match)
{
    struct run *run = context;
    twin_text a = twin_collection_id(NULL, run->collection, match.a);
    twin_text b = twin_collection_id(NULL, run->collection, match.b);
    escape_tsv(stdout, a.bytes, a.length);
    putchar('\t');
    escape_tsv(stdout, b.bytes, b.length);
    printf("\t%.4f\n", match.similarity);
    run->lines++;
    return output_is_good();
}

/* All pairs are out before an audit begins, which may take long and be interrupted. A write that failed is told by
 * close_output(). */
static bool print_pairs(struct run *run)
{
    twin_status status =
        twin_similar_each(run->similar, run->options.copies, run->options.json ? print_json : print_line, run);
    (void)!fflush(stdout);
    run->written = run->audited = seconds();
    if (!output_is_good())
        return false;
    if (status != TWIN_OK)
        fail_status("writing", status, NULL);
    return status == TWIN_OK;
}

static bool audit_run(struct run *run, twin_progress progress)
{
    const struct common_options *options = &run->options;
    twin_error error = { 0 };
    twin_status status = options->edit
                             ? twin_audit_edits(&run->audit, run->collection, run->similar,
                                                near_options(run, progress), options->audit, options->seed, &error)
                             : twin_audit_run(&run->audit, run->collection, run->similar,
                                              (twin_audit_options){ .documents = options->audit,
                                                                    .seed = options->seed,
                                                                    .measure = options->measure,
                                                                    .threshold = options->threshold,
                                                                    .top = options->top,
                                                                    .exec = options->exec,
                                                                    .progress = progress },
                                              &error);
    run->audited = seconds();
    progress_clear();
    if (status != TWIN_OK)
        fail_status("the audit", status, &error);
    return status == TWIN_OK;
}

static void print_audit(const struct run *run)
{
    twin_audit audit = run->audit;
    if (audit.similar == 0)
        fprintf(stderr,
                "audit: %" PRIu64 " documents compared with all others, none has a lookalike: nothing can be said\n",
                audit.documents);
    else
        fprintf(stderr,
                "audit: %" PRIu64 " documents compared with all others, %" PRIu64 " of %" PRIu64
                " similar pairs found\n"
                "audit: recall %.4f, 95 %% interval %.4f to %.4f\n",
                audit.documents, audit.found, audit.similar, audit.recall, audit.low, audit.high);
    if (audit.wrong)
        fprintf(stderr, "audit: %" PRIu64 " pairs were told that are not similar\n", audit.wrong);
    if (run->options.json)
        printf("{\"audit\":{\"documents\":%" PRIu64 ",\"similar\":%" PRIu64 ",\"found\":%" PRIu64
               ",\"wrong\":%" PRIu64 ",\"recall\":%.6f,\"low\":%.6f,\"high\":%.6f}}\n",
               audit.documents, audit.similar, audit.found, audit.wrong, audit.recall, audit.low, audit.high);
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static void print_stats_json(const struct run *run)
{
    twin_collection_counts documents = twin_collection_count(run->collection);
    twin_similar_counts pairs = twin_similar_count(run->similar);
    fprintf(stderr,
            "{\"stats\":{\"documents\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"too_short\":%" PRIu64
            ",\"copies\":%" PRIu64 ",\"skipped\":%" PRIu64 ",\"bands\":%zu,\"rows\":%zu,\"candidates\":%" PRIu64
            ",\"verified\":%" PRIu64 ",\"similar\":%" PRIu64 ",\"lines\":%" PRIu64
            ",\"seconds\":{\"opening\":%.3f,\"reading\":%.3f,"
            "\"pairing\":%.3f,\"verifying\":%.3f,\"writing\":%.3f,\"auditing\":%.3f,\"total\":%.3f},\"peak_bytes\":"
            "%" PRIu64 "}}\n",
            documents.documents, documents.bytes, documents.too_short, documents.copies, documents.problems,
            run->plan.bands, run->plan.rows, pairs.candidates, pairs.verified, pairs.similar, run->lines,
            run->opened - run->started, run->read - run->opened, pairs.pairing_seconds, pairs.verifying_seconds,
            run->written - run->found, run->audited - run->written, seconds() - run->started, peak_bytes());
}

/* "37.1 KB", in powers of a thousand. */
static const char *size_in_words(char out[24], double bytes)
{
    static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
    size_t power = 0;
    for (; bytes >= 1000 && power < 4; power++)
        bytes /= 1000;
    snprintf(out, 24, "%.*f %s", power ? 1 : 0, bytes, units[power]);
    return out;
}

static void print_count(const char *name, uint64_t count, const char *what)
{
    fprintf(stderr, "%-12s %12" PRIu64 "   %s\n", name, count, what);
}

static void print_counts(const struct run *run)
{
    twin_collection_counts documents = twin_collection_count(run->collection);
    twin_similar_counts pairs = twin_similar_count(run->similar);
    bool rows = run->options.input.format == TWIN_INPUT_SETS, edit = run->options.edit;
    char size[24], what[96];
    snprintf(what, sizeof what, "%s of %s", size_in_words(size, (double)documents.bytes), rows ? "rows" : "text");
    print_count(rows ? "sets" : "documents", documents.documents, what);
    print_count("  skipped", documents.problems, rows ? "rows that could not be read" : "could not be read");
    if (!edit)
        print_count("  too short", documents.too_short, "less than one shingle, similar to none");
    print_count("  copies", documents.copies, edit ? "same text as an earlier one" : "same set as an earlier one");
    snprintf(what, sizeof what, "pairs that agree in one of %zu bands of %zu rows", run->plan.bands, run->plan.rows);
    if (run->options.method == TWIN_METHOD_FOREST)
        snprintf(what, sizeof what, "pairs that came near each other in a forest");
    print_count("candidates", pairs.candidates, edit ? "pairs that share a piece, or came near each other" : what);
    print_count("  verified", pairs.verified,
                edit ? "pairs whose texts were compared" : "pairs whose sets were compared");
    print_count("  similar", pairs.similar,
                edit ? "pairs of different texts that stay" : "pairs of different sets that stay");
    print_count("lines", run->lines, "printed");
}

static void print_time(const char *name, double time, double bytes)
{
    char size[24];
    fprintf(stderr, "%-12s %12.3f", name, time);
    if (bytes > 0 && time > 0)
        fprintf(stderr, "   %s/s", size_in_words(size, bytes / time));
    fputc('\n', stderr);
}

/* Memory a document says something only once the documents outweigh the program. */
enum { MANY_DOCUMENTS = 10000 };

static void print_stats(const struct run *run)
{
    twin_collection_counts documents = twin_collection_count(run->collection);
    twin_similar_counts pairs = twin_similar_count(run->similar);
    double total = seconds() - run->started, peak = (double)peak_bytes();
    print_counts(run);
    print_time("seconds", total, (double)documents.bytes);
    print_time("  opening", run->opened - run->started, 0);
    print_time("  reading", run->read - run->opened, (double)documents.bytes);
    print_time("  pairing", pairs.pairing_seconds, 0);
    print_time("  verifying", pairs.verifying_seconds, 0);
    print_time("  writing", run->written - run->found, 0);
    if (run->options.audit)
        print_time("  auditing", run->audited - run->written, 0);
    fprintf(stderr, "%-12s %12.1f   MB", "peak memory", peak / 1e6);
    if (documents.documents >= MANY_DOCUMENTS)
        fprintf(stderr, ", %.0f bytes a document", peak / (double)documents.documents);
    fputc('\n', stderr);
}

static int run_pairs(struct run *run, const char *const *paths, size_t count)
{
    twin_progress progress = progress_begin(run->options.quiet);
    run->started = seconds();
    bool done = load_stop_words(run) && choose_plan(run) && read_collection(run, paths, count, progress) &&
                find_similar(run, progress) && print_pairs(run) && (!run->options.audit || audit_run(run, progress));
    progress_end();
    if (!done)
        return EXIT_ERROR;
    if (run->options.audit)
        print_audit(run);
    if (run->options.stats && run->options.json)
        print_stats_json(run);
    else if (run->options.stats)
        print_stats(run);
    return EXIT_DONE;
}

static int print_pairs_help(void)
{
    fputs(help_begin, stdout);
    fputs(common_help, stdout);
    return fputs(help_end, stdout), EXIT_DONE;
}

int cmd_pairs(int argc, char **argv)
{
    struct run run = { .options = common_defaults() };
    for (int option; (option = next_option(argc, argv, common_table)) != -1;) {
        if (option == OPTION_HELP)
            return print_pairs_help();
        if (!common_option(&run.options, option, optarg))
            return EXIT_ERROR;
    }
    if (!common_finish(&run.options))
        return EXIT_ERROR;
    if (optind == argc)
        return fail("no input; give a folder, a .jsonl file, or - for standard input");
    for (int i = optind; i < argc; i++)
        if (!*argv[i])
            return fail("an input without a name; give a folder, a .jsonl file, or - for standard input");
    int result = run_pairs(&run, (const char *const *)argv + optind, (size_t)(argc - optind));
    run_clear(&run);
    return result;
}

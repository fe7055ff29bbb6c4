/* cmd_pairs.c — twinsift pairs: find all similar documents, or sets, in a collection.
 *
 * The command reads a collection, lets the library find the similar pairs, by sets (twin_similar_find) or by edits
 * (twin_edit_join_find), and prints them. --audit and --stats follow after the pairs. */
#include "commands.h"
#include "read_documents.h"
#include "support/inputs.h"
#include "support/messages.h"
#include "support/progress.h"
#include "support/record.h"
#include "support/results.h"
#include "support/search_options.h"
#include "support/size.h"
#include "support/usage.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- options */

/* --measure: the measures of sets, and one of texts. */
enum measure { MEASURE_JACCARD, MEASURE_CONTAINMENT, MEASURE_EDIT };

struct request {
    struct shared_options shared;
    enum measure measure;
    size_t max_edits; /* TWIN_EDIT_FAR: not given */
    twin_verify verify;
    uint64_t top; /* 0: not given */
    twin_copies copies;
    twin_method method;
    size_t buckets; /* 0: one per band hash */
    bool groups;
    uint64_t audit; /* documents to compare with all others; 0: none */
    bool stats;
};

/* The most documents that --top may ask for, and how many without it. */
enum { MOST_TOP = 1000000, DEFAULT_TOP = 10 };

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "measure", 0, OPTIONS_MATCHING, "M",
      "jaccard; containment, of the smaller set in the larger; or edit, the share of characters that both texts have "
      "in "
      "the same order",
      &option_choice, AT(measure), .choices = "jaccard containment edit" },
    { "max-edits", 0, OPTIONS_MATCHING, "N",
      "with --measure edit: at most N characters inserted, deleted or replaced", &option_size, AT(max_edits),
      .most = TWIN_EDIT_MAX_LENGTH },
    { "verify", 0, OPTIONS_MATCHING, "HOW", "exact, estimate or none", &option_choice, AT(verify),
      .choices = "exact estimate none" },
    { "top", 0, OPTIONS_MATCHING, "M", "with --method forest: of each document only the M most similar (default: 10)",
      &option_count, AT(top), .least = 1, .most = MOST_TOP },
    { "copies", 0, OPTIONS_MATCHING, "WHICH", "of documents with equal sets print pairs with the first, all, or none",
      &option_choice, AT(copies), .choices = "first all none" },
    { "groups", 0, OPTIONS_MATCHING, NULL,
      "print groups instead of pairs: the document that represents a group, a document, and their similarity",
      &option_flag, AT(groups) },
    { "method", 0, OPTIONS_SEARCH, "HOW", "bands, for all pairs, or forest, for the most similar of each document",
      &option_choice, AT(method), .choices = "bands forest" },
    { "buckets", 0, OPTIONS_SEARCH, "N", "hash each band into N buckets, so that different bands may collide",
      &option_size, AT(buckets), .least = 1, .most = UINT32_MAX },
    { "audit", 0, OPTIONS_OUTPUT, "N", "measure recall: compare N documents, chosen at random, with all others",
      &option_count, AT(audit), .least = 1, .most = UINT32_MAX },
    { "stats", 0, OPTIONS_OUTPUT, NULL, "report counts, times and memory at the end", &option_flag, AT(stats) },
    { 0 },
};

/* The first contradiction with --measure edit as a sentence; NULL when there is none. Texts are compared character by
 * character, and found through a forest. */
static const char *edit_contradiction(const struct request *request)
{
    const struct shared_options *shared = &request->shared;
    const twin_scheme *scheme = &shared->scheme;
    bool bands = option_given(&shared->base, "method") && request->method == TWIN_METHOD_BANDS;
    if (request->measure != MEASURE_EDIT)
        return request->max_edits != TWIN_EDIT_FAR ? "--max-edits needs --measure edit" : NULL;
    if (shared->input.format == TWIN_INPUT_SETS)
        return "--sets: edit distance needs texts, so --measure edit cannot be used";
    if (request->verify != TWIN_VERIFY_EXACT)
        return "--measure edit needs --verify exact: signatures estimate Jaccard similarity only";
    if (request->top || bands)
        return "--measure edit finds all pairs, through a forest: --method bands and --top cannot be used";
    if (scheme->plan.bands || scheme->plan.rows || request->buckets)
        return "--measure edit searches a forest, so --bands, --rows and --buckets do not apply";
    if (option_given(&shared->base, "shingle") && scheme->shingle.kind != TWIN_SHINGLE_CHAR)
        return "--measure edit counts characters, so --shingle must be char:N";
    return NULL;
}

static const char *forest_contradiction(const struct request *request)
{
    bool forest = request->method == TWIN_METHOD_FOREST;
    if (request->measure == MEASURE_EDIT)
        return NULL;
    if (request->top && !forest)
        return "--top needs --method forest: bands find all pairs";
    if (forest && request->measure != MEASURE_JACCARD)
        return "--method forest needs --measure jaccard: a forest finds those with the most equal slots";
    if (forest && request->buckets)
        return "--method forest has no buckets, so --buckets does not apply";
    return NULL;
}

static const char *groups_contradiction(const struct request *request)
{
    if (!request->groups)
        return NULL;
    if (option_given(&request->shared.base, "copies"))
        return "--groups includes all copies, so --copies does not apply";
    return request->audit ? "--audit counts pairs, so --groups cannot be used" : NULL;
}

static const char *contradiction(const struct request *request)
{
    const char *sentence = edit_contradiction(request);
    if (request->measure == MEASURE_CONTAINMENT && request->verify != TWIN_VERIFY_EXACT)
        return "--measure containment needs --verify exact: signatures estimate Jaccard similarity only";
    if (request->audit && request->verify == TWIN_VERIFY_NONE)
        return "--audit needs to know which pairs reach the threshold, so --verify none cannot be used";
    if (!sentence)
        sentence = groups_contradiction(request);
    return sentence ? sentence : forest_contradiction(request);
}

/* ---- a run and its results */

struct run {
    const struct request *request;
    twin_scheme scheme;
    twin_exec exec;
    twin_input *input;
    twin_collection *collection;
    twin_similar *similar;
    twin_dedup *dedup; /* instead, for groups */
    twin_similar_counts counts;
    double started, opened, read, found, written, audited; /* seconds */
    uint64_t lines;
    twin_audit audit;
};

static void run_clear(struct run *run)
{
    twin_similar_free(run->similar);
    twin_dedup_free(run->dedup);
    twin_collection_free(run->collection);
    twin_input_free(run->input);
}

static bool by_edits(const struct run *run)
{
    return run->request->measure == MEASURE_EDIT;
}

/* Texts are found without bands. */
static bool choose_scheme(struct run *run)
{
    const struct request *request = run->request;
    run->scheme = request->shared.scheme;
    return by_edits(run) || complete_scheme(&run->scheme, &request->shared, (twin_measure)request->measure);
}

/* ---- reading and searching */

static bool read_collection(struct run *run, twin_progress progress)
{
    const struct request *request = run->request;
    run->input = open_inputs(&request->shared, 0, progress);
    run->opened = seconds();
    if (!run->input)
        return false;
    twin_collection_options wanted = { .scheme = run->scheme,
                                       .texts = by_edits(run),
                                       .exec = run->exec,
                                       .strict = request->shared.strict,
                                       .progress = progress };
    run->collection = read_documents(run->input, wanted, request->shared.quiet);
    run->read = seconds();
    return run->collection != NULL;
}

static twin_similar_options similar_options(const struct run *run, twin_progress progress)
{
    const struct request *request = run->request;
    return (twin_similar_options){ .measure = run->scheme.measure,
                                   .verify = request->verify,
                                   .threshold = run->scheme.threshold,
                                   .method = request->method,
                                   .top = request->top,
                                   .bands = { run->scheme.plan, (uint32_t)request->buckets },
                                   .exec = run->exec,
                                   .progress = progress };
}

/* With --max-edits the threshold applies only if it is given too. */
static twin_edit_join_options edit_options(const struct run *run, twin_progress progress)
{
    const struct request *request = run->request;
    const struct request_base *base = &request->shared.base;
    bool by_ratio = option_given(base, "threshold") || request->max_edits == TWIN_EDIT_FAR;
    return (twin_edit_join_options){ .ratio = by_ratio ? run->scheme.threshold : 0,
                                     .limit_edits = request->max_edits != TWIN_EDIT_FAR,
                                     .edits = request->max_edits,
                                     .grams = option_given(base, "shingle") ? run->scheme.shingle.width : 0,
                                     .packed = request->audit == 0,
                                     .minhash = run->scheme.minhash,
                                     .exec = run->exec,
                                     .progress = progress };
}

/* Groups of sets are what deduplication finds: it need not compare all pairs of a large group. */
static bool by_deduplication(const struct run *run)
{
    const struct request *request = run->request;
    return request->groups && !by_edits(run) && request->verify == TWIN_VERIFY_EXACT &&
           request->method == TWIN_METHOD_BANDS;
}

static bool find_similar(struct run *run, twin_progress progress)
{
    twin_error error = { 0 };
    twin_status status;
    if (by_deduplication(run)) {
        twin_dedup_options wanted = { .search = similar_options(run, progress) };
        status = twin_dedup_find(&run->dedup, run->collection, wanted, &error);
    } else if (by_edits(run))
        status = twin_edit_join_find(&run->similar, run->collection, edit_options(run, progress), &error);
    else
        status = twin_similar_find(&run->similar, run->collection, similar_options(run, progress), &error);
    run->counts = run->dedup ? twin_dedup_count(run->dedup).search : twin_similar_count(run->similar);
    run->found = seconds();
    progress_clear();
    if (status != TWIN_OK)
        fail_status("the search", status, &error);
    return status == TWIN_OK;
}

/* ---- results */

static void record_document(struct record *record, const char *name, const struct run *run, uint32_t document)
{
    bool is_number;
    twin_text id = twin_collection_id(&is_number, run->collection, document);
    record_id(record, name, id, is_number);
}

static bool print_pair(void *context, twin_match match)
{
    struct run *run = context;
    struct record record = record_begin(results(), run->request->shared.json);
    record_document(&record, "a", run, match.a);
    record_document(&record, "b", run, match.b);
    record_fixed(&record, "similarity", match.similarity, 4);
    record_end(&record);
    run->lines++;
    return output_is_good();
}

static bool print_member(void *context, twin_member member)
{
    struct run *run = context;
    struct record record = record_begin(results(), run->request->shared.json);
    record_document(&record, "group", run, member.group);
    record_document(&record, "id", run, member.document);
    record_fixed(&record, "similarity", member.similarity, 4);
    record_end(&record);
    run->lines++;
    return output_is_good();
}

static twin_status each_member(struct run *run)
{
    size_t documents = twin_collection_count(run->collection).documents;
    if (run->dedup)
        return twin_cluster_each(twin_dedup_keepers(run->dedup), twin_dedup_similarities(run->dedup), documents,
                                 print_member, run);
    uint32_t *keeper = malloc((documents + 1) * sizeof *keeper);
    double *similarity = malloc((documents + 1) * sizeof *similarity);
    twin_status status =
        keeper && similarity ? twin_cluster_documents(keeper, similarity, run->similar) : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin_cluster_each(keeper, similarity, documents, print_member, run);
    free(keeper);
    free(similarity);
    return status;
}

/* Prints all before an audit begins, which may take long and be interrupted. A failed write is reported by
 * close_output(). */
static bool print_results(struct run *run)
{
    twin_status status = run->request->groups
                             ? each_member(run)
                             : twin_similar_each(run->similar, run->request->copies, print_pair, run);
    (void)!fflush(results());
    run->written = run->audited = seconds();
    if (!output_is_good())
        return false;
    if (status != TWIN_OK)
        fail_status("the output", status, NULL);
    return status == TWIN_OK;
}

static bool audit_run(struct run *run, twin_progress progress)
{
    const struct request *request = run->request;
    uint64_t seed = request->shared.scheme.minhash.seed;
    twin_error error = { 0 };
    twin_audit_options audit = { .documents = request->audit,
                                 .seed = seed,
                                 .measure = run->scheme.measure,
                                 .threshold = run->scheme.threshold,
                                 .top = request->top,
                                 .exec = run->exec,
                                 .progress = progress };
    twin_status status = by_edits(run) ? twin_audit_edits(&run->audit, run->collection, run->similar,
                                                          edit_options(run, progress), audit, &error)
                                       : twin_audit_run(&run->audit, run->collection, run->similar, audit, &error);
    run->audited = seconds();
    progress_clear();
    if (status != TWIN_OK)
        fail_status("the audit", status, &error);
    return status == TWIN_OK;
}

static void print_audit_json(const twin_audit *audit)
{
    struct record record = record_begin(results(), true);
    record_object(&record, "audit");
    record_count(&record, "documents", audit->documents);
    record_count(&record, "similar", audit->similar);
    record_count(&record, "found", audit->found);
    record_count(&record, "wrong", audit->wrong);
    record_fixed(&record, "recall", audit->recall, 6);
    record_fixed(&record, "low", audit->low, 6);
    record_fixed(&record, "high", audit->high, 6);
    record_object_end(&record);
    record_end(&record);
}

static void print_audit(const struct run *run)
{
    const twin_audit *audit = &run->audit;
    fprintf(stderr, "audit: %" PRIu64 " document%s compared with all others, ", audit->documents,
            plural(audit->documents));
    if (audit->similar == 0)
        fputs("no similar pairs: recall cannot be estimated\n", stderr);
    else
        fprintf(stderr,
                "%" PRIu64 " of %" PRIu64 " similar pair%s found\n"
                "audit: recall %.4f, 95 %% interval %.4f to %.4f\n",
                audit->found, audit->similar, plural(audit->similar), audit->recall, audit->low, audit->high);
    if (audit->wrong)
        fprintf(stderr, "audit: %" PRIu64 " reported pair%s not similar\n", audit->wrong,
                audit->wrong == 1 ? " is" : "s are");
    if (run->request->shared.json)
        print_audit_json(audit);
}

/* ---- statistics */

static void record_times(struct record *record, const struct run *run)
{
    twin_similar_counts pairs = run->counts;
    record_object(record, "seconds");
    record_fixed(record, "opening", run->opened - run->started, 3);
    record_fixed(record, "reading", run->read - run->opened, 3);
    record_fixed(record, "pairing", pairs.pairing_seconds, 3);
    record_fixed(record, "verifying", pairs.verifying_seconds, 3);
    record_fixed(record, "writing", run->written - run->found, 3);
    record_fixed(record, "auditing", run->audited - run->written, 3);
    record_fixed(record, "total", seconds() - run->started, 3);
    record_object_end(record);
}

static void print_stats_json(const struct run *run)
{
    twin_collection_counts documents = twin_collection_count(run->collection);
    twin_similar_counts pairs = run->counts;
    struct record record = record_begin(stderr, true);
    record_object(&record, "stats");
    record_count(&record, "documents", documents.documents);
    record_count(&record, "bytes", documents.bytes);
    record_count(&record, "too_short", documents.too_short);
    record_count(&record, "copies", documents.copies);
    record_count(&record, "skipped", documents.problems);
    record_count(&record, "bands", run->scheme.plan.bands);
    record_count(&record, "rows", run->scheme.plan.rows);
    record_count(&record, "candidates", pairs.candidates);
    record_count(&record, "verified", pairs.verified);
    record_count(&record, "similar", pairs.similar);
    record_count(&record, "lines", run->lines);
    record_count(&record, "crowds", pairs.crowds);
    record_count(&record, "largest_crowd", pairs.largest_crowds[0]);
    record_times(&record, run);
    record_count(&record, "peak_bytes", peak_bytes());
    record_object_end(&record);
    record_end(&record);
}

static void print_count(const char *name, uint64_t count, const char *what)
{
    fprintf(stderr, "%-12s %12" PRIu64 "   %s\n", name, count, what);
}

static void print_counts(const struct run *run)
{
    twin_collection_counts documents = twin_collection_count(run->collection);
    twin_similar_counts pairs = run->counts;
    bool rows = run->request->shared.input.format == TWIN_INPUT_SETS, edit = by_edits(run);
    char size[SIZE_ROOM], what[96];
    snprintf(what, sizeof what, "%s of %s", write_decimal_size(size, (double)documents.bytes),
             rows ? "rows" : "text");
    print_count(rows ? "sets" : "documents", documents.documents, what);
    print_count("  skipped", documents.problems, rows ? "rows that could not be read" : "could not be read");
    if (!edit)
        print_count("  too short", documents.too_short, "less than one shingle, similar only to equal ones");
    print_count("  copies", documents.copies, edit ? "same text as an earlier one" : "same set as an earlier one");
    snprintf(what, sizeof what, "pairs that agree in one of %zu bands of %zu rows", run->scheme.plan.bands,
             run->scheme.plan.rows);
    if (run->request->measure == MEASURE_CONTAINMENT)
        snprintf(what, sizeof what, "pairs with rare shingles in common");
    else if (run->request->method == TWIN_METHOD_FOREST)
        snprintf(what, sizeof what, "pairs near each other in a forest");
    print_count("candidates", pairs.candidates,
                edit ? "pairs of short texts, or that share a key, or are near each other in a forest" : what);
    print_count("  verified", pairs.verified,
                edit ? "pairs whose texts were compared" : "pairs whose sets were compared");
    print_count("  similar", pairs.similar, "distinct pairs at or above the threshold");
    if (pairs.crowds) {
        snprintf(what, sizeof what, "groups around a template; the largest: %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                 pairs.largest_crowds[0], pairs.largest_crowds[1], pairs.largest_crowds[2]);
        print_count("  crowds", pairs.crowds, what);
    }
    print_count("lines", run->lines, "printed");
}

static void print_time(const char *name, double time, double bytes)
{
    char size[SIZE_ROOM];
    fprintf(stderr, "%-12s %12.3f", name, time);
    if (bytes > 0 && time > 0)
        fprintf(stderr, "   %s/s", write_decimal_size(size, bytes / time));
    fputc('\n', stderr);
}

/* Memory per document is meaningful only once the documents outweigh the program. */
enum { MANY_DOCUMENTS = 10000 };

static void print_stats(const struct run *run)
{
    twin_collection_counts documents = twin_collection_count(run->collection);
    twin_similar_counts pairs = run->counts;
    double total = seconds() - run->started, peak = (double)peak_bytes();
    print_counts(run);
    print_time("seconds", total, (double)documents.bytes);
    print_time("  opening", run->opened - run->started, 0);
    print_time("  reading", run->read - run->opened, (double)documents.bytes);
    print_time("  pairing", pairs.pairing_seconds, 0);
    print_time("  verifying", pairs.verifying_seconds, 0);
    print_time("  writing", run->written - run->found, 0);
    if (run->request->audit)
        print_time("  auditing", run->audited - run->written, 0);
    fprintf(stderr, "%-12s %12.1f   MB", "peak memory", peak / 1e6);
    if (documents.documents >= MANY_DOCUMENTS)
        fprintf(stderr, ", %.0f bytes per document", peak / (double)documents.documents);
    fputc('\n', stderr);
}

/* ---- the command */

static bool find_and_print(struct run *run)
{
    twin_progress progress = progress_begin(run->request->shared.quiet);
    run->started = seconds();
    bool done = read_collection(run, progress) && find_similar(run, progress) && print_results(run) &&
                (!run->request->audit || audit_run(run, progress));
    progress_end();
    return done;
}

static void print_reports(const struct run *run)
{
    if (run->request->audit)
        print_audit(run);
    if (run->request->stats && run->request->shared.json)
        print_stats_json(run);
    else if (run->request->stats)
        print_stats(run);
}

static int run_pairs(void *context)
{
    struct request *request = context;
    struct word_list stop_words = { 0 };
    struct run run = { .request = request };
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    if (request->method == TWIN_METHOD_FOREST && request->measure != MEASURE_EDIT && request->top == 0)
        request->top = DEFAULT_TOP;
    bool done = search_options_finish(&request->shared) && make_exec(&run.exec, &request->shared) &&
                load_stop_words(&request->shared, &stop_words) && choose_scheme(&run) &&
                results_open(request->shared.output) && find_and_print(&run);
    if (done)
        print_reports(&run);
    run_clear(&run);
    word_list_clear(&stop_words);
    return done ? EXIT_DONE : EXIT_ERROR;
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0.8), .max_edits = TWIN_EDIT_FAR };

const struct command command_pairs = {
    .name = "twinsift pairs",
    .summary = "find all similar pairs in a collection of documents or sets",
    .usage = "[OPTION]... INPUT...",
    .about = ABOUT_INPUT
    "\n\n"
    "Each line of the output is a pair: two ids and their similarity, tab-separated, in the order of the input. "
    "Every pair has been verified by comparing the two sets.",
    .shared = TAKES_INPUT " " TAKES_SCHEME " threshold " TAKES_EXEC " output " TAKES_MANNERS,
    .options = options,
    .most = SIZE_MAX,
    .status = "0  done, whether or not there are pairs\n"
              "2  error; a document that cannot be read is reported and skipped",
    .examples = "twinsift pairs articles/\n"
                "twinsift pairs --threshold 0.9 --shingle word:5 --stats corpus.jsonl.zst\n"
                "twinsift pairs --audit 1000 corpus.jsonl --output pairs.tsv.zst\n"
                "twinsift pairs --groups articles/\n"
                "twinsift pairs --measure edit --threshold 0.95 articles/\n"
                "twinsift pairs --method forest --top 3 --threshold 0.3 articles/\n"
                "twinsift pairs --sets --threshold 0.6 u.data\n"
                "zcat dump.gz | twinsift pairs --json --text-field body -",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_pairs,
};

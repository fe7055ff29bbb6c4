/* cmd_pairs.c — twinsift pairs: find all similar documents, or sets, in a collection.
 *
 * The command reads a collection, lets the library find the similar pairs, by sets (twin_similar_find) or by edits
 * (twin_edit_join_find), and prints them. --audit and --stats follow after the pairs. */
#include "commands.h"
#include "pairs_run.h"
#include "read_documents.h"
#include "support/inputs.h"
#include "support/messages.h"
#include "support/overwrite.h"
#include "support/paths.h"
#include "support/progress.h"
#include "support/record.h"
#include "support/results.h"
#include "support/search_options.h"
#include "support/usage.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options */

/* The largest value of --top, and how many without it. */
enum { MOST_TOP = 1000000, DEFAULT_TOP = 10 };

#define AT(field) OPTION_AT(struct pairs_request, field)

static const struct option_row options[] = {
    { "measure", 0, OPTIONS_MATCHING, "M",
      "jaccard; containment, the share of the smaller set that is in the larger; or edit, the share of characters "
      "that both texts have in the same order",
      &option_choice, AT(measure), .choices = "jaccard containment edit" },
    MAX_EDITS_ROW(struct pairs_request),
    { "verify", 0, OPTIONS_MATCHING, "HOW", "exact, estimate or none", &option_choice, AT(verify),
      .choices = "exact estimate none" },
    { "top", 0, OPTIONS_MATCHING, "M",
      "with --method forest or --measure edit: only the M most similar documents of each (default with a forest: "
      "10), "
      "or, with --against, of each document of --against",
      &option_count, AT(top), .least = 1, .most = MOST_TOP },
    { "copies", 0, OPTIONS_MATCHING, "WHICH",
      "for exact copies (equal sets), print only the pair with the first copy, all pairs, or none", &option_choice,
      AT(copies), .choices = "first all none" },
    { "groups", 0, OPTIONS_MATCHING, NULL,
      "print groups instead of pairs; each line has the id that represents the group, the id of a member, and their "
      "similarity",
      &option_flag, AT(groups) },
    { "count", 0, OPTIONS_MATCHING, NULL,
      "with --groups: a line per group, the largest first: how many documents it has, the id that represents it, and "
      "the beginning of its text",
      &option_flag, AT(count) },
    { "against", 0, OPTIONS_INPUT, "INPUT",
      "only print pairs between the inputs and this input or index (.twin); may be given several times", &option_list,
      AT(against) },
    { "method", 0, OPTIONS_SEARCH, "HOW",
      "bands, to find all pairs, or forest, to find the most similar documents of each", &option_choice, AT(method),
      .choices = "bands forest" },
    { "buckets", 0, OPTIONS_SEARCH, "N", "hash each band into N buckets, so that different bands may collide",
      &option_size, AT(buckets), .least = 1, .most = UINT32_MAX },
    { "audit", 0, OPTIONS_OUTPUT, "N", "measure recall: compare N documents, chosen at random, with all others",
      &option_count, AT(audit), .least = 1, .most = UINT32_MAX },
    { "stats", 0, OPTIONS_OUTPUT, NULL, "report counts, times and memory at the end", &option_flag, AT(stats) },
    { 0 },
};

/* Texts are compared character by character, and found without bands. */
static const char *measure_contradiction(const struct pairs_request *request)
{
    const struct shared_options *shared = &request->shared;
    if (request->measure != MEASURE_EDIT)
        return request->max_edits != TWIN_EDIT_FAR ? "--max-edits needs --measure edit" : NULL;
    if (request->verify != TWIN_VERIFY_EXACT)
        return "--measure edit needs --verify exact: signatures estimate Jaccard similarity only";
    if (option_given(&shared->base, "method") && request->method == TWIN_METHOD_BANDS)
        return "--measure edit searches without bands, so --method bands cannot be used";
    if (request->buckets)
        return "--measure edit searches a forest, so --bands, --rows and --buckets do not apply";
    return edit_contradiction(shared);
}

static const char *forest_contradiction(const struct pairs_request *request)
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

static const char *groups_contradiction(const struct pairs_request *request)
{
    if (!request->groups)
        return request->count ? "--count needs --groups" : NULL;
    if (request->count && request->shared.input.format == TWIN_INPUT_SETS)
        return "--sets: sets have no text to show, so --count does not apply";
    if (option_given(&request->shared.base, "copies"))
        return "--groups includes all copies, so --copies does not apply";
    return request->audit ? "--audit counts pairs, so --groups cannot be used" : NULL;
}

static const char *index_contradiction(const struct pairs_request *request)
{
    static const char *const idle[] = { "measure", "verify", "method", "top", "copies", "buckets", "stats" };
    if (request->against.count > 1)
        return "--against: an index cannot be combined with other inputs";
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        if (option_given(&request->shared.base, idle[i]))
            return "--against: an index prints all matches by its own rule, so --measure, --verify, --method, --top, "
                   "--copies, --buckets and --stats do not apply";
    return NULL;
}

static const char *against_contradiction(const struct pairs_request *request)
{
    const struct request_base *base = &request->shared.base;
    bool pipes[2] = { false, false }, index = false;
    for (size_t i = 0; i < request->against.count; i++) {
        index |= is_index(request->against.items[i]);
        pipes[0] |= is_standard(request->against.items[i]);
    }
    for (size_t i = 0; i < base->count; i++)
        pipes[1] |= is_standard(base->arguments[i]);
    if (request->against.count == 0)
        return NULL;
    if (request->measure == MEASURE_EDIT && index)
        return "--measure edit: a query of an index compares by the measure of the index; see 'twinsift index query'";
    if (request->groups || request->audit)
        return "--against finds pairs between two collections, so --groups and --audit cannot be used";
    if (pipes[0] && pipes[1])
        return "--against: standard input can be only one of the two collections";
    return index ? index_contradiction(request) : NULL;
}

static const char *contradiction(const struct pairs_request *request)
{
    const char *sentence = measure_contradiction(request);
    if (request->measure == MEASURE_CONTAINMENT && request->verify != TWIN_VERIFY_EXACT)
        return "--measure containment needs --verify exact: signatures estimate Jaccard similarity only";
    if (request->audit && request->verify == TWIN_VERIFY_NONE)
        return "--audit needs to know which pairs reach the threshold, so --verify none cannot be used";
    if (!sentence)
        sentence = groups_contradiction(request);
    if (!sentence)
        sentence = against_contradiction(request);
    return sentence ? sentence : forest_contradiction(request);
}

/* ---- a run and its results */

static void run_clear(struct pairs_run *run)
{
    twin_similar_free(run->similar);
    twin_dedup_free(run->dedup);
    twin_collection_free(run->collection);
    twin_input_free(run->input);
    twin_collection_free(run->other);
    twin_input_free(run->other_input);
}

/* Texts are found without bands. */
static bool choose_scheme(struct pairs_run *run)
{
    const struct pairs_request *request = run->request;
    run->scheme = request->shared.scheme;
    return by_edits(run) || complete_scheme(&run->scheme, &request->shared, (twin_measure)request->measure);
}

/* ---- reading and searching */

static twin_collection *read_side(const struct pairs_run *run, const twin_input *input, twin_progress progress)
{
    const struct pairs_request *request = run->request;
    twin_collection_options wanted = { .scheme = run->scheme,
                                       .texts = by_edits(run),
                                       .exec = run->exec,
                                       .strict = request->shared.strict,
                                       .progress = progress };
    return read_documents(input, wanted, request->shared.quiet);
}

static bool read_collections(struct pairs_run *run, twin_progress progress)
{
    const struct shared_options *shared = &run->request->shared;
    const struct option_texts *against = &run->request->against;
    run->input = open_inputs(shared, 0, progress);
    if (run->input && against->count)
        run->other_input = open_named_inputs(shared, against->items, against->count, progress);
    run->opened = seconds();
    if (!run->input || (against->count && !run->other_input))
        return false;
    run->collection = read_side(run, run->input, progress);
    if (run->collection && run->other_input)
        run->other = read_side(run, run->other_input, progress);
    run->read = seconds();
    if (!run->collection || (!run->other && run->other_input))
        return false;
    if (shared->quiet)
        return true;
    if (!run->other_input) {
        remark_one_document(run->input, run->collection);
    } else if (by_edits(run) || (is_file_of_lines(run->input) && is_file_of_lines(run->other_input))) {
        remark_lines(run->input);
        remark_lines(run->other_input);
    }
    return true;
}

static twin_similar_options similar_options(const struct pairs_run *run, twin_progress progress)
{
    const struct pairs_request *request = run->request;
    return (twin_similar_options){ .measure = run->scheme.measure,
                                   .verify = request->verify,
                                   .threshold = run->scheme.threshold,
                                   .method = request->method,
                                   .top = request->top,
                                   .bands = { .plan = run->scheme.plan, .buckets = (uint32_t)request->buckets },
                                   /* groups need all at once */
                                   .spill_after = request->groups ? 0 : MATCHES_IN_MEMORY,
                                   .temp_folder = temp_folder(&request->shared),
                                   .exec = run->exec,
                                   .progress = progress };
}

static twin_edit_join_options edit_options(const struct pairs_run *run, twin_progress progress)
{
    const struct pairs_request *request = run->request;
    twin_edit_join_options wanted = edit_join_options(&request->shared, &run->scheme, request->max_edits);
    wanted.top = request->top;
    wanted.packed = true;
    wanted.spill_after = request->groups ? 0 : MATCHES_IN_MEMORY;
    wanted.temp_folder = temp_folder(&request->shared);
    wanted.exec = run->exec;
    wanted.progress = progress;
    return wanted;
}

/* Groups of sets are what deduplication finds: it need not compare all pairs of a large group. */
static bool by_deduplication(const struct pairs_run *run)
{
    const struct pairs_request *request = run->request;
    return request->groups && !by_edits(run) && request->verify == TWIN_VERIFY_EXACT &&
           request->method == TWIN_METHOD_BANDS;
}

static bool find_similar(struct pairs_run *run, twin_progress progress)
{
    twin_error error = { 0 };
    twin_status status;
    if (by_deduplication(run)) {
        twin_dedup_options wanted = { .search = similar_options(run, progress) };
        status = twin_dedup_find(&run->dedup, run->collection, wanted, &error);
    } else if (by_edits(run) && run->other)
        status =
            twin_edit_join_between(&run->similar, run->collection, run->other, edit_options(run, progress), &error);
    else if (by_edits(run))
        status = twin_edit_join_find(&run->similar, run->collection, edit_options(run, progress), &error);
    else if (run->other)
        status =
            twin_similar_between(&run->similar, run->collection, run->other, similar_options(run, progress), &error);
    else
        status = twin_similar_find(&run->similar, run->collection, similar_options(run, progress), &error);
    run->counts = run->dedup ? twin_dedup_count(run->dedup).search : twin_similar_count(run->similar);
    run->found = seconds();
    progress_clear();
    if (status == TWIN_OK && !run->request->shared.quiet)
        remark_incomplete(run->counts.incomplete);
    return status == TWIN_OK || refuse_status("the search", status, &error);
}

/* ---- results */

static bool print_pair(void *context, twin_match match)
{
    struct pairs_run *run = context;
    const struct pairs_request *request = run->request;
    /* Of equal texts of a base one is enough, or there would be more than --top of them. */
    if (run->other && request->top && request->copies != TWIN_COPIES_ALL &&
        twin_collection_firsts(run->collection)[match.a] != match.a)
        return true;
    struct record record = record_begin(results(), request->shared.json);
    record_document(&record, "a", run->collection, match.a);
    record_document(&record, "b", run->other ? run->other : run->collection, match.b);
    record_fixed(&record, "similarity", match.similarity, 4);
    record_end(&record);
    run->lines++;
    return output_is_good();
}

/* Prints all before an audit begins, which may take long and be interrupted. A failed write is reported by
 * close_output(). */
static bool print_results(struct pairs_run *run)
{
    twin_status status = run->request->groups
                             ? print_groups(run)
                             : twin_similar_each(run->similar, run->request->copies, print_pair, run);
    (void)!fflush(results());
    run->written = run->audited = seconds();
    if (!output_is_good())
        return false;
    return status == TWIN_OK || refuse_status("the output", status, NULL);
}

static bool audit_run(struct pairs_run *run, twin_progress progress)
{
    const struct pairs_request *request = run->request;
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
    return status == TWIN_OK || refuse_status("the audit", status, &error);
}

/* ---- the command */

static bool find_and_print(struct pairs_run *run)
{
    twin_progress progress = progress_begin(run->request->shared.quiet);
    run->started = seconds();
    bool done = read_collections(run, progress) && find_similar(run, progress) && print_results(run) &&
                (!run->request->audit || audit_run(run, progress));
    progress_end();
    return done;
}

static bool overwrites_other(const struct pairs_request *request)
{
    const char *output = request->shared.output;
    return overwrites_input(output ? output : "-", request->against.items, request->against.count);
}

static int run_pairs(void *context)
{
    struct pairs_request *request = context;
    struct word_list stop_words = { 0 };
    struct pairs_run run = { .request = request };
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    if (request->against.count && is_index(request->against.items[0]))
        return print_pairs_of_index(request);
    if (request->method == TWIN_METHOD_FOREST && request->measure != MEASURE_EDIT && request->top == 0)
        request->top = DEFAULT_TOP;
    bool done = search_options_finish(&request->shared) && make_exec(&run.exec, &request->shared) &&
                load_stop_words(&request->shared, &stop_words) && choose_scheme(&run) && !overwrites_other(request) &&
                results_open(&request->shared) && find_and_print(&run);
    if (done)
        print_reports(&run);
    uint64_t skipped = twin_collection_count(run.collection).problems + twin_collection_count(run.other).problems;
    run_clear(&run);
    word_list_clear(&stop_words);
    return skipped_status(&request->shared, skipped, done ? EXIT_DONE : EXIT_ERROR);
}

static const struct pairs_request defaults = { .shared = SHARED_DEFAULTS(0.8), .max_edits = TWIN_EDIT_FAR };

const struct command command_pairs = {
    .name = "twinsift pairs",
    .summary = "find all similar pairs in a collection of documents or sets",
    .usage = "[OPTION]... INPUT...",
    .about = ABOUT_INPUT
    "\n\n"
    "Each line of the output is a pair: two ids and their similarity, tab-separated, in the order of the input. "
    "Every pair has been verified by comparing the two sets, unless --verify says otherwise. About one pair in "
    "12,000 at the threshold is missed, and fewer above it; --audit measures this. 'twinsift show A B INPUT...' "
    "shows where a pair differs.",
    .shared = TAKES_INPUT " " TAKES_SCHEME " threshold " TAKES_EXEC " output no-sync " TAKES_MANNERS,
    .options = options,
    .most = SIZE_MAX,
    .status = "0  done, whether or not there are pairs\n"
              "2  error; a document that cannot be read is reported and skipped\n" SKIPPED_STATUS,
    .examples = "twinsift pairs articles/\n"
                "twinsift pairs --threshold 0.9 --shingle word:5 --stats corpus.jsonl.zst\n"
                "twinsift pairs --audit 1000 corpus.jsonl --output pairs.tsv.zst\n"
                "twinsift pairs --groups articles/\n"
                "twinsift pairs --groups --count --as lines --shingle word:1 --threshold 0.6 system.log\n"
                "twinsift pairs new.jsonl --against old.jsonl\n"
                "twinsift pairs --measure edit --threshold 0.95 articles/\n"
                "twinsift pairs --method forest --top 3 --threshold 0.3 articles/\n"
                "twinsift pairs --sets --threshold 0.6 u.data\n"
                "zcat dump.gz | twinsift pairs --json --text-field body -",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_pairs,
};

/* cmd_index_query.c — twinsift index query: the documents of an index that are similar to given ones.
 *
 * The library reads the input and queries the index with several threads; answers arrive here in the order of the input
 * and are printed at once. */
#include "commands.h"
#include "index_file.h"
#include "pairs_run.h"
#include "read_documents.h"
#include "support/progress.h"
#include "support/results.h"
#include "support/usage.h"

#include <inttypes.h>
#include <stddef.h>

struct request {
    struct shared_options shared;
    uint64_t top, most_compared, audit;
    size_t max_edits; /* TWIN_EDIT_FAR: not given */
    bool per_label, show, stats;
};

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "max-edits", 0, OPTIONS_MATCHING, "N",
      "of an index with --measure edit, the texts with at most N characters inserted, deleted or replaced (default: "
      "that of the index, unless --threshold is given)",
      &option_size, AT(max_edits), .most = TWIN_EDIT_MAX_LENGTH },
    { "top", 0, OPTIONS_MATCHING, "N", "only the N most similar documents (default: all)", &option_count, AT(top),
      .least = 1, .most = UINT32_MAX },
    { "per-label", 0, OPTIONS_MATCHING, NULL,
      "the most similar document of each label; with --top, the N most similar of each", &option_flag,
      AT(per_label) },
    { "most-compared", 0, OPTIONS_MATCHING, "N",
      "compare at most N candidates of a query, the most promising first (default: 10000); a remark says if there "
      "were more",
      &option_count, AT(most_compared), .least = 1, .most = UINT32_MAX },
    { "show", 0, OPTIONS_OUTPUT, NULL, "also print the text of each match; needs an index with --keep text",
      &option_flag, AT(show) },
    { "audit", 0, OPTIONS_OUTPUT, "N",
      "of an index with --measure edit, measure recall: compare the first N queries with all texts", &option_count,
      AT(audit), .least = 1, .most = UINT32_MAX },
    { "stats", 0, OPTIONS_OUTPUT, NULL, "report counts and time at the end", &option_flag, AT(stats) },
    { 0 },
};

struct querying {
    const struct request *request;
    struct problems problems;
    twin_index_view *view;            /* where texts to show come from; NULL: none are shown */
    uint64_t queries, found, matches; /* of the queries, those with a match; matches of all */
    uint64_t incomplete;              /* queries with more candidates than were compared */
    bool failed;
};

static bool record_match_text(struct record *record, struct querying *querying, const twin_index_entry *entry)
{
    twin_text text;
    twin_error error = { 0 };
    twin_status status = twin_index_text(&text, querying->view, *entry, &error);
    if (status != TWIN_OK) {
        fail_status(index_path(&querying->request->shared), status, &error);
        querying->failed = true;
        return false;
    }
    record_text(record, "text", text);
    return true;
}

static bool print_match(struct querying *querying, twin_text id, bool is_number, const twin_index_answer *answer,
                        size_t number)
{
    const twin_index_entry *entry = &answer->entries[number];
    struct record record = record_begin(results(), querying->request->shared.json);
    record_id(&record, "query", id, is_number);
    record_id(&record, "id", entry->id, entry->id_is_number);
    record_fixed(&record, "similarity", entry->similarity, 4);
    if (record.json) {
        record_count(&record, "label", entry->label);
        record_count(&record, "time", entry->time);
    }
    if (record.json && answer->estimated)
        record_flag(&record, "estimated", true);
    if (record.json && answer->incomplete)
        record_flag(&record, "incomplete", true);
    if (querying->view && !record_match_text(&record, querying, entry))
        return false;
    record_end(&record);
    return true;
}

static bool print_answer(void *context, twin_text id, bool is_number, const twin_index_answer *answer)
{
    struct querying *querying = context;
    querying->queries++;
    querying->found += answer->count > 0;
    querying->matches += answer->count;
    querying->incomplete += answer->incomplete;
    for (size_t i = 0; i < answer->count; i++)
        if (!print_match(querying, id, is_number, answer, i))
            return false;
    return output_is_good();
}

static void report_problem(void *context, const twin_problem *problem)
{
    struct querying *querying = context;
    problems_add(&querying->problems, problem);
}

/* To standard error, as those of 'twinsift pairs' are. */
static void report_stats(const struct querying *querying, uint64_t skipped, double since)
{
    if (!querying->request->stats)
        return;
    if (querying->request->shared.json) {
        struct record record = record_begin(stderr, true);
        record_object(&record, "stats");
        record_count(&record, "queries", querying->queries);
        record_count(&record, "skipped", skipped);
        record_count(&record, "found", querying->found);
        record_count(&record, "matches", querying->matches);
        record_count(&record, "incomplete", querying->incomplete);
        record_fixed(&record, "seconds", seconds() - since, 3);
        record_object_end(&record);
        record_end(&record);
        return;
    }
    fprintf(stderr,
            "queries      %12" PRIu64 "   documents\n"
            "  skipped    %12" PRIu64 "   could not be read\n"
            "  found      %12" PRIu64 "   have a match\n"
            "matches      %12" PRIu64 "   printed\n"
            "incomplete   %12" PRIu64 "   queries with more candidates than were compared\n"
            "seconds      %12.3f\n",
            querying->queries, skipped, querying->found, querying->matches, querying->incomplete, seconds() - since);
}

static int query_input(struct querying *querying, twin_index *index, const twin_input *input, twin_exec exec,
                       twin_progress progress)
{
    const struct request *request = querying->request;
    uint64_t problems = 0;
    double start = seconds();
    twin_error error = { 0 };
    twin_audit audit;
    twin_index_query_input_options wanted = { .query = { .threshold = threshold_of(&request->shared),
                                                         .top = request->top,
                                                         .per_label = request->per_label,
                                                         .most_compared = request->most_compared,
                                                         .limit_edits = request->max_edits != TWIN_EDIT_FAR,
                                                         .edits = request->max_edits },
                                              .exec = exec,
                                              .strict = request->shared.strict,
                                              .answer = print_answer,
                                              .problem = report_problem,
                                              .context = querying,
                                              .progress = progress,
                                              .audited = request->audit,
                                              .audit = &audit };
    twin_status status = TWIN_OK;
    if (request->show)
        status = twin_index_view_create(&querying->view, index, &error);
    if (status == TWIN_OK)
        status = twin_index_query_input(&problems, index, input, wanted, &error);
    progress_end();
    twin_index_view_free(querying->view);
    problems_end(problems);
    if (status == TWIN_ESTOPPED) /* lost output is reported by close_output() */
        return querying->failed ? EXIT_ERROR : EXIT_YES;
    if (status != TWIN_OK)
        return fail_status(index_path(&request->shared), status, &error);
    if (querying->queries == 0 && querying->problems.count)
        return fail_unreadable(&querying->problems);
    remark_empty(&querying->problems, querying->queries);
    if (querying->incomplete && !request->shared.quiet)
        warn_incomplete(index_path(&request->shared), querying->incomplete, request->most_compared);
    if (request->audit)
        print_audit(&audit,
                    audit.documents == 1 ? "query compared with all texts" : "queries compared with all texts",
                    request->shared.json);
    report_stats(querying, problems, start);
    return skipped_status(&request->shared, problems, querying->matches ? EXIT_YES : EXIT_NO);
}

static int query(void *context, const struct index_run *run)
{
    struct request *request = context;
    struct shared_options *shared = &request->shared;
    struct querying querying = { .request = request, .problems = { .input = run->input, .quiet = shared->quiet } };
    if (!results_open(shared))
        return EXIT_ERROR;
    if (request->show && twin_index_options_of(run->index).keep != TWIN_KEEP_TEXT)
        return fail("%s: keeps no texts, so --show has nothing to show", index_path(shared));
    if (request->max_edits != TWIN_EDIT_FAR && !twin_index_options_of(run->index).by_edits)
        return fail("%s: compares sets, so --max-edits does not apply", index_path(shared));
    if (request->audit && !twin_index_options_of(run->index).by_edits)
        return fail("%s: compares sets; 'twinsift pairs --audit' measures the recall of their search",
                    index_path(shared));
    if (!shared->quiet)
        warn_answers(index_path(shared), run->index, threshold_of(shared));
    if (!shared->quiet && twin_index_options_of(run->index).by_edits)
        remark_lines(run->input);
    int status = query_input(&querying, run->index, run->input, run->exec, run->progress);
    if (status == EXIT_NO && querying.queries && !shared->quiet)
        remark_few_documents(index_path(shared), run->index, 1);
    return status;
}

static int run_query(void *context)
{
    struct request *request = context;
    return with_inputs(&request->shared, TWIN_INDEX_READ, query);
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0), .max_edits = TWIN_EDIT_FAR };

const struct command command_index_query = {
    .name = "twinsift index query",
    .summary = "print the documents of the index that are similar to given ones",
    .usage = "[OPTION]... FILE INPUT...",
    .about = ABOUT_INPUT
    "\n\n"
    "Each line of the output is a match: the id of the query, the id of the match and their similarity, "
    "tab-separated, the most similar first. The default threshold is that of 'index create'; below it, matches may "
    "be missed.",
    .shared = TAKES_INPUT " threshold " INDEX_TAKES " output no-sync",
    .checked = INDEX_STORES,
    .options = options,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  at least one match was found\n1  no match was found\n2  error\n" SKIPPED_STATUS,
    .examples = "twinsift index query news.twin --top 3 today.jsonl\n"
                "echo '{\"text\":\"the text of an article\"}' | twinsift index query news.twin - && echo seen",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_query,
};

/* cmd_index_add.c — twinsift index add: add documents, or replace them. */
#include "commands.h"
#include "index_file.h"
#include "read_documents.h"
#include "support/progress.h"

#include <inttypes.h>
#include <stddef.h>

struct request {
    struct shared_options shared;
    uint64_t batch, label, time;
};

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "label", 0, OPTIONS_INPUT, "N", "a number stored with each document (default: 0)", &option_count, AT(label),
      .most = UINT32_MAX },
    { "time", 0, OPTIONS_INPUT, "N", "a number stored with each document, such as a time in seconds (default: 0)",
      &option_count, AT(time) },
    { "batch", 0, OPTIONS_SEARCH, "N", "the most documents in one transaction (default: 20K)", &option_count,
      AT(batch), .least = 1, .most = UINT32_MAX },
    { 0 },
};

static void report_problem(void *context, const twin_problem *problem)
{
    problems_add(context, problem);
}

/* Reports what is no error, but may not be what was meant. */
static void report_remarks(const struct request *request, const twin_input *input, const twin_index_change *change)
{
    if (request->shared.quiet)
        return;
    if (change->repeated)
        warn("%" PRIu64 " document%s replaced an earlier one of the input with the same id%s", change->repeated,
             plural(change->repeated),
             twin_input_sources(input) > 1 ? "; if ids are unique in each file only, use --id-from path-and-line"
                                           : "");
    if (change->unspaced)
        warn("%" PRIu64 " document%s in a script without blanks between words, such as Chinese, Japanese or Thai: "
             "create the index with --shingle auto, which compares characters",
             change->unspaced, change->unspaced == 1 ? " is" : "s are");
}

static int add_input(void *context, const struct index_run *run)
{
    struct request *request = context;
    struct problems problems = { .input = run->input, .quiet = request->shared.quiet };
    twin_index_change change = { 0 };
    twin_error error = { 0 };
    twin_index_add_options wanted = { .exec = run->exec,
                                      .batch_documents = request->batch,
                                      .label = (uint32_t)request->label,
                                      .time = request->time,
                                      .strict = request->shared.strict,
                                      .problem = report_problem,
                                      .context = &problems,
                                      .progress = run->progress };
    twin_status status = twin_index_add_input(&change, run->index, run->input, wanted, &error);
    progress_end();
    problems_end(change.problems);
    ill_formed_end(&problems, change.ill_formed);
    if (status != TWIN_OK)
        fail_status(index_path(&request->shared), status, &error);
    if (status == TWIN_OK && problems.count && change.added + change.replaced == 0)
        return fail_unreadable(&problems);
    if (status == TWIN_OK || change.batches)
        print_change(&request->shared, &change, false);
    if (status == TWIN_OK)
        remark_empty(&problems, change.added + change.replaced);
    report_remarks(request, run->input, &change);
    if (change.added + change.replaced == 1 && !request->shared.quiet && twin_index_options_of(run->index).by_edits)
        remark_lines(run->input);
    return skipped_status(&request->shared, change.problems, status == TWIN_OK ? EXIT_DONE : EXIT_ERROR);
}

static int run_add(void *context)
{
    struct request *request = context;
    if (request->shared.input.ids == TWIN_IDS_FIELD) /* lines of other files will come, or have come before */
        request->shared.input.ids = TWIN_IDS_FIELD_OR_PATH;
    return with_inputs(&request->shared, TWIN_INDEX_WRITE, add_input);
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0) };

const struct command command_index_add = {
    .name = "twinsift index add",
    .summary = "add documents; an id that exists is replaced",
    .usage = "[OPTION]... FILE INPUT...",
    .about = ABOUT_INPUT " "
                         "Documents are written in batches, each as a whole or not at all.",
    .shared = TAKES_INPUT " " INDEX_TAKES,
    .checked = INDEX_STORES,
    .options = options,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  done\n2  error; batches written before it remain\n" SKIPPED_STATUS,
    .examples = "twinsift index add news.twin 2025.jsonl.zst 2026.jsonl.zst\n"
                "twinsift index add news.twin --label 3 wire/",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_add,
};

/* cmd_filter.c — twinsift filter: what is kept of the shards. */
#include "commands.h"
#include "dedup.h"
#include "steps.h"
#include "support/messages.h"
#include "support/paths.h"
#include "support/progress.h"
#include "support/search_options.h"

struct request {
    struct shared_options shared;
    twin_part part;
    const char *output, *groups;
};

static const struct option_row options[] = {
    PART_ROW(struct request,
             "write only the Kth of N parts of the inputs, such as 1/4; with -o FOLDER/ (default: all)"),
    { "output", 'o', OPTIONS_OUTPUT, "FILE",
      "write kept documents to FILE, compressed if its name ends in .gz or .zst; if it ends in /, to one file per "
      "input in that folder (default: standard output)",
      &option_text, OPTION_AT(struct request, output) },
    { "groups", 0, OPTIONS_OUTPUT, "FILE",
      "write one JSON object per group: the kept document and those dropped for it", &option_text,
      OPTION_AT(struct request, groups) },
    { 0 },
};

static bool decide(twin_dedup **out, const struct steps *steps, twin_exec exec)
{
    size_t failed;
    twin_error error = { 0 };
    twin_dedup_options wanted = { .search.exec = exec };
    twin_status status =
        twin_dedup_decide(out, steps->collection, steps_saved(steps, STEP_PAIRS, &failed), &wanted, &error);
    if (status != TWIN_OK && failed != SIZE_MAX)
        steps_fail(steps, STEP_PAIRS, failed, status, &error);
    else if (status != TWIN_OK)
        fail_status("the decision", status, &error);
    return status == TWIN_OK;
}

static int run_filter(void *context)
{
    const struct request *request = context;
    struct steps steps = { 0 };
    struct known known = { 0 };
    twin_dedup *dedup = NULL;
    twin_exec exec;
    if (request->part.of && !(request->output && names_folder(request->output)))
        return fail("--part: a part of the inputs is written to a folder: -o FOLDER/");
    if (!make_exec(&exec, &request->shared))
        return EXIT_ERROR;
    struct dedup_paths paths = { .output = request->output ? request->output : "-",
                                 .groups = request->groups,
                                 .base = &request->shared.base };
    twin_progress progress = progress_begin(request->shared.quiet);
    bool good = steps_open(&steps, &request->shared, 1 << STEP_PAIRS, exec, progress) &&
                dedup_paths_are_good(&paths, steps.input) && decide(&dedup, &steps, exec);
    struct dedup_result result = {
        .input = steps.input,
        .collection = steps.collection,
        .dedup = dedup,
        .known = &known,
        .exec = exec,
        .part = request->part,
        .quiet = request->shared.quiet,
    };
    good = good &&
           write_dedup_outputs(&result, (struct dedup_targets){ .kept = paths.output, .groups = request->groups });
    progress_end();
    if (good && !request->shared.quiet) {
        steps_remark_grown(&steps);
        print_summary(&result);
    }
    twin_dedup_free(dedup);
    steps_clear(&steps);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0) };

const struct command command_filter = {
    .name = "twinsift filter",
    .summary = "dedup on several machines, step 4: write the kept documents",
    .usage = "[OPTION]... SIGNATURES... PAIRS...",
    .about = "Reads the signatures of all shards and all pairs written by join, decides which documents are kept, by "
             "the rule that was given to join, and writes them as dedup does. With --part, the inputs are divided "
             "among several runs.",
    STEPS_COMMAND,
    .options = options,
    .examples = "twinsift filter part-*.sig all.pairs --groups groups.jsonl -o clean/\n"
                "twinsift filter part-*.sig *.pairs --part 1/2 -o clean/",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_filter,
};

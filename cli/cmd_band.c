/* cmd_band.c — twinsift band: candidates from the signatures of all shards. */
#include "commands.h"
#include "steps.h"
#include "support/memory.h"
#include "support/messages.h"
#include "support/progress.h"
#include "support/search_options.h"

struct request {
    struct shared_options shared;
    twin_part part;
    const char *output;
};

static const struct option_row options[] = {
    PART_ROW(struct request, "only the Kth of N parts of the bands, such as 1/4 (default: all)"),
    { "output", 'o', OPTIONS_OUTPUT, "FILE", "write the candidates to FILE; required", &option_text,
      OPTION_AT(struct request, output) },
    { 0 },
};

static int run_band(void *context)
{
    const struct request *request = context;
    struct steps steps = { 0 };
    twin_exec exec;
    if (!steps_output_is_good(request->output, &request->shared.base) || !make_exec(&exec, &request->shared))
        return EXIT_ERROR;
    twin_progress progress = progress_begin(request->shared.quiet);
    bool good = steps_open(&steps, &request->shared, 0, exec, progress) &&
                steps_write_candidates(request->output, steps.collection,
                                       search_within_memory(&request->shared, exec, progress), request->part);
    progress_end();
    steps_clear(&steps);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0) };

const struct command command_band = {
    .name = "twinsift band",
    .summary = "dedup on several machines, step 2: find candidate pairs",
    .usage = "[OPTION]... SIGNATURES... -o FILE",
    .about = "Reads the signatures of all shards, written by sign, and writes which documents are candidates because "
             "they agree in a band. The order of the files must be the same in all steps. With --part, the bands are "
             "divided among several runs.",
    STEPS_COMMAND,
    .options = options,
    .examples = "twinsift band part-*.sig -o all.cand\n"
                "twinsift band part-*.sig --part 1/2 -o 1.cand",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_band,
};

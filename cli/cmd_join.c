/* cmd_join.c — twinsift join: verified pairs from candidates. */
#include "commands.h"
#include "steps.h"
#include "support/memory.h"
#include "support/messages.h"
#include "support/progress.h"
#include "support/search_options.h"

struct request {
    struct shared_options shared;
    struct keep keep;
    bool chain;
    twin_part part;
    const char *output;
};

static const struct option_row options[] = {
    KEEP_ROW(struct request),
    CHAIN_ROW(struct request),
    PART_ROW(struct request, "only the Kth of N parts of the candidates, such as 1/4 (default: all)"),
    { "output", 'o', OPTIONS_OUTPUT, "FILE", "write the pairs to FILE; required", &option_text,
      OPTION_AT(struct request, output) },
    { 0 },
};

static bool join(const struct request *request, const struct steps *steps, const twin_dedup_options *rule)
{
    size_t failed;
    twin_error error = { 0 };
    struct step_pairs pairs = { steps->collection, steps_saved(steps, STEP_CANDIDATES, &failed), rule,
                                request->part };
    bool good = steps_write_pairs(request->output, &pairs, &error);
    if (failed != SIZE_MAX)
        steps_fail(steps, STEP_CANDIDATES, failed, error.status, &error);
    return good;
}

static int run_join(void *context)
{
    const struct request *request = context;
    struct steps steps = { 0 };
    twin_exec exec;
    if (!steps_output_is_good(request->output, &request->shared.base) || !make_exec(&exec, &request->shared))
        return EXIT_ERROR;
    twin_progress progress = progress_begin(request->shared.quiet);
    twin_dedup_options rule =
        keep_rule(&request->keep, request->chain, search_within_memory(&request->shared, exec, progress));
    bool good =
        steps_open(&steps, &request->shared, 1 << STEP_CANDIDATES, exec, progress) && join(request, &steps, &rule);
    progress_end();
    steps_clear(&steps);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0) };

const struct command command_join = {
    .name = "twinsift join",
    .summary = "dedup on several machines, step 3: verify candidate pairs",
    .usage = "[OPTION]... SIGNATURES... CANDIDATES... -o FILE",
    .about = "Reads the signatures of all shards and all candidates written by band, compares the documents exactly, "
             "and writes the similar pairs that decide which documents are kept. Documents are read again from the "
             "inputs. With --part, the candidates are divided among several runs.",
    STEPS_COMMAND,
    .options = options,
    .examples = "twinsift join part-*.sig all.cand -o all.pairs\n"
                "twinsift join part-*.sig *.cand --keep longest --part 1/2 -o 1.pairs",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_join,
};

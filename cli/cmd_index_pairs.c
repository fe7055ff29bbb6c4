/* cmd_index_pairs.c — twinsift index pairs: all similar pairs of an index. */
#include "commands.h"
#include "index_file.h"
#include "support/inputs.h"
#include "support/progress.h"
#include "support/results.h"

#include <stddef.h>

enum copies { COPIES_FIRST, COPIES_NONE };

struct request {
    struct shared_options shared;
    enum copies copies;
    bool has_pairs;
};

static const struct option_row options[] = {
    { "copies", 0, OPTIONS_MATCHING, "WHICH",
      "for exact copies (equal sets), print the pair with the first copy, or none", &option_choice,
      OPTION_AT(struct request, copies), .choices = "first none" },
    { 0 },
};

static bool print_pair(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    struct request *request = context;
    struct record record = record_begin(results(), request->shared.json);
    record_id(&record, "a", a->id, a->id_is_number);
    record_id(&record, "b", b->id, b->id_is_number);
    record_fixed(&record, "similarity", similarity, 4);
    record_end(&record);
    request->has_pairs = true;
    return output_is_good();
}

static int run(void *context)
{
    struct request *request = context;
    struct shared_options *shared = &request->shared;
    twin_copies copies = request->copies == COPIES_NONE ? TWIN_COPIES_NONE : TWIN_COPIES_FIRST;
    twin_error error = { 0 };
    twin_exec exec;
    if (!make_exec(&exec, shared))
        return EXIT_ERROR;
    twin_index *index = index_open(shared, TWIN_INDEX_READ);
    if (!index || !results_open(shared)) {
        twin_index_close(index);
        return EXIT_ERROR;
    }
    if (twin_index_options_of(index).by_edits) {
        twin_index_close(index);
        return fail(
            "%s: compares texts by edit distance; 'twinsift pairs --measure edit' finds all pairs of the files "
            "that they came from",
            index_path(shared));
    }
    if (!shared->quiet)
        warn_answers(index_path(shared), index, threshold_of(shared));
    twin_progress progress = progress_begin(shared->quiet);
    twin_index_pairs_options wanted = { .threshold = threshold_of(shared),
                                        .copies = copies,
                                        .spill_after = MATCHES_IN_MEMORY,
                                        .temp_folder = temp_folder(shared),
                                        .exec = exec,
                                        .progress = progress };
    twin_status status = twin_index_pairs(index, wanted, print_pair, request, &error);
    progress_end();
    if (status == TWIN_OK && !request->has_pairs && !shared->quiet)
        remark_few_documents(index_path(shared), index, 2);
    twin_index_close(index);
    return status == TWIN_OK || status == TWIN_ESTOPPED ? EXIT_DONE : fail_status(index_path(shared), status, &error);
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0) };

const struct command command_index_pairs = {
    .name = "twinsift index pairs",
    .summary = "print all similar pairs of documents in the index",
    .usage = "[OPTION]... FILE",
    .about = "Lines are those of 'twinsift pairs'. The default threshold is that of 'index create'; below it, pairs "
             "may be missed.",
    .shared = "threshold " INDEX_TAKES " output no-sync temp",
    .checked = INDEX_STORES,
    .options = options,
    .least = 1,
    .most = 1,
    .status = "0  done, whether or not there are pairs\n2  error",
    .examples = "twinsift index pairs news.twin --threshold 0.9",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

/* pairs_against.c — twinsift pairs --against FILE.twin: pairs of documents of an input and documents of an index.
 *
 * These are the matches of 'index query', printed as pairs: for each document of the input those of the index, in the
 * order in which they were added. */
#include "index_file.h"
#include "pairs_run.h"
#include "support/progress.h"
#include "support/results.h"

#include <stdlib.h>

struct printing {
    bool json;
    struct problems problems;
    uint64_t queries;
    twin_index_entry *entries; /* of an answer, sorted */
    bool no_memory;
};

static int by_number(const void *a, const void *b)
{
    const twin_index_entry *x = a, *y = b;
    return (x->document > y->document) - (x->document < y->document);
}

static bool print_answer(void *context, twin_text id, bool is_number, const twin_index_answer *answer)
{
    struct printing *printing = context;
    printing->queries++;
    if (answer->count == 0)
        return true;
    twin_index_entry *entries = realloc(printing->entries, answer->count * sizeof *entries);
    if (!entries) {
        printing->no_memory = true;
        return false;
    }
    printing->entries = entries;
    for (size_t i = 0; i < answer->count; i++)
        entries[i] = answer->entries[i];
    qsort(entries, answer->count, sizeof *entries, by_number);
    for (size_t i = 0; i < answer->count; i++) {
        struct record record = record_begin(results(), printing->json);
        record_id(&record, "a", id, is_number);
        record_id(&record, "b", entries[i].id, entries[i].id_is_number);
        record_fixed(&record, "similarity", entries[i].similarity, 4);
        record_end(&record);
    }
    return output_is_good();
}

static void report_problem(void *context, const twin_problem *problem)
{
    struct printing *printing = context;
    problems_add(&printing->problems, problem);
}

static int print_matches(struct shared_options *shared, twin_index *index, const twin_input *input, twin_exec exec,
                         twin_progress progress)
{
    struct printing printing = { .json = shared->json, .problems = { .input = input, .quiet = shared->quiet } };
    uint64_t problems = 0;
    twin_error error = { 0 };
    twin_index_query_input_options wanted = { .query = { .threshold = threshold_of(shared),
                                                         .most_compared = SIZE_MAX },
                                              .exec = exec,
                                              .strict = shared->strict,
                                              .answer = print_answer,
                                              .problem = report_problem,
                                              .context = &printing,
                                              .progress = progress };
    twin_status status = twin_index_query_input(&problems, index, input, wanted, &error);
    progress_end();
    problems_end(problems);
    free(printing.entries);
    if (status == TWIN_ESTOPPED && printing.no_memory)
        return fail_status("the output", TWIN_ENOMEM, NULL);
    if (status == TWIN_ESTOPPED) /* lost output is reported by close_output() */
        return EXIT_ERROR;
    if (status != TWIN_OK)
        return fail_status(index_path(shared), status, &error);
    if (printing.queries == 0 && printing.problems.count)
        return fail_unreadable(&printing.problems);
    remark_empty(&printing.problems, printing.queries);
    if (printing.queries && !shared->quiet)
        remark_few_documents(index_path(shared), index, 1);
    return skipped_status(shared, problems, EXIT_DONE);
}

static int run(struct shared_options *shared)
{
    twin_exec exec;
    twin_input *input = NULL;
    int status = EXIT_ERROR;
    if (!make_exec(&exec, shared))
        return EXIT_ERROR;
    twin_index *index = index_open(shared, TWIN_INDEX_READ);
    if (index && results_open(shared)) {
        twin_progress progress = progress_begin(shared->quiet);
        if (!shared->quiet)
            warn_answers(index_path(shared), index, threshold_of(shared));
        input = index_inputs(shared, index, progress);
        if (input)
            status = print_matches(shared, index, input, exec, progress);
        progress_end();
    }
    twin_input_free(input);
    twin_index_close(index);
    return status;
}

/* What the verbs of index share takes the index as the first argument. */
int print_pairs_of_index(const struct pairs_request *request)
{
    struct shared_options shared = request->shared;
    size_t count = shared.base.count;
    const char **arguments = malloc((count + 1) * sizeof *arguments);
    if (!arguments)
        return fail_status("the arguments", TWIN_ENOMEM, NULL);
    arguments[0] = request->against.items[0];
    for (size_t i = 0; i < count; i++)
        arguments[i + 1] = shared.base.arguments[i];
    shared.base.arguments = arguments;
    shared.base.count = count + 1;
    int status = run(&shared);
    free(arguments);
    return status;
}

/* index_file.c — what the verbs of twinsift index share.
 *
 * An index stores its scheme, so the options that define one are only checked against it. The two functions at the
 * end are the frames of most verbs: they open an index with inputs, or with a view, and close them. */
#include "index_file.h"

#include "support/paths.h"
#include "support/progress.h"
#include "support/search_options.h"
#include "support/usage.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

const char *index_path(const struct shared_options *shared)
{
    return shared->base.arguments[0];
}

double threshold_of(const struct shared_options *shared)
{
    return option_given(&shared->base, "threshold") ? shared->scheme.threshold : 0;
}

/* The first option that contradicts what the file stores; NULL when none does. */
static const char *contradiction(const struct shared_options *shared, const twin_index_options *stored)
{
    const twin_scheme *asked = &shared->scheme, *scheme = &stored->scheme;
    const struct {
        const char *name;
        bool fits;
    } rules[] = {
        { "shingle", asked->shingle.kind == scheme->shingle.kind && asked->shingle.width == scheme->shingle.width },
        { "raw", asked->normal == scheme->normal },
        { "hash", asked->shingle.hash.family == scheme->shingle.hash.family },
        { "seed", asked->minhash.seed == scheme->minhash.seed },
        { "key-file",
          memcmp(asked->shingle.hash.key, scheme->shingle.hash.key, sizeof scheme->shingle.hash.key) == 0 },
        { "sketch", asked->minhash.sketch == scheme->minhash.sketch },
        { "hashes", asked->minhash.slots == scheme->minhash.slots },
        { "error", asked->minhash.slots == scheme->minhash.slots },
        { "bands", asked->plan.bands == scheme->plan.bands },
        { "rows", asked->plan.rows == scheme->plan.rows },
        { "multiset", asked->multiset == scheme->multiset },
        { "weights", scheme->multiset || stored->format != TWIN_INPUT_SETS },
        { "keep", shared->keep == stored->keep },
        { "sets", stored->format == TWIN_INPUT_SETS },
        { "stop-words", false },
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!rules[i].fits && option_given(&shared->base, rules[i].name))
            return rules[i].name;
    return NULL;
}

double patience_end(const struct shared_options *shared)
{
    return seconds() + shared->wait;
}

bool wait_for_lock(twin_status status, double end)
{
    static const struct timespec pause = { .tv_nsec = 50000000 };
    if (status != TWIN_EBUSY || !(seconds() < end))
        return false;
    nanosleep(&pause, NULL);
    return true;
}

twin_index *index_open(struct shared_options *shared, twin_index_access mode)
{
    twin_index *index = NULL;
    twin_error error = { 0 };
    if (!search_options_finish(shared))
        return NULL;
    twin_status status;
    double end = patience_end(shared);
    do
        status = twin_index_open(&index, index_path(shared), mode, &error);
    while (wait_for_lock(status, end));
    if (status != TWIN_OK) {
        bool missing = is_missing(index_path(shared));
        if (missing && mode == TWIN_INDEX_WRITE)
            fail("%s; 'twinsift index create' creates an index", error.message);
        else
            fail_status(index_path(shared), status, &error);
        return NULL;
    }
    twin_index_options stored = twin_index_options_of(index);
    const char *name = contradiction(shared, &stored);
    if (!name)
        return index;
    fail("%s: --%s contradicts what was stored when the index was created; see 'twinsift index info'",
         index_path(shared), name);
    twin_index_close(index);
    return NULL;
}

twin_input *index_inputs(struct shared_options *shared, const twin_index *index, twin_progress progress)
{
    shared->input.format = twin_index_options_of(index).format;
    return open_inputs(shared, 1, progress);
}

void warn_answers(const char *path, const twin_index *index, double threshold)
{
    twin_index_options stored = twin_index_options_of(index);
    size_t slots = stored.scheme.minhash.slots;
    if (stored.keep == TWIN_KEEP_NONE)
        warn("%s: keeps no sets, so similarities are estimates from %zu hash%s", path, slots, slots == 1 ? "" : "es");
    if (threshold > 0 && threshold < stored.scheme.threshold && !stored.by_edits)
        warn("%s: the index was planned for %g; a pair at %g is found with probability %.3g", path,
             stored.scheme.threshold, threshold, twin_plan_probability(stored.scheme.plan, threshold));
}

void remark_few_documents(const char *path, twin_index *index, uint64_t needed)
{
    twin_index_view *view = NULL;
    twin_index_info info = { .documents = UINT64_MAX };
    if (twin_index_view_create(&view, index, NULL) == TWIN_OK)
        (void)twin_index_describe(&info, view, NULL);
    twin_index_view_free(view);
    if (info.documents == 0)
        warn("%s: has no documents, so there is nothing to compare", path);
    else if (info.documents < needed)
        warn("%s: has one document, so there is nothing to compare it with", path);
}

void warn_incomplete(const char *path, uint64_t queries, uint64_t most_compared)
{
    uint64_t most = most_compared ? most_compared : TWIN_INDEX_MOST_COMPARED;
    warn("%s: %" PRIu64 " quer%s had more candidates than the %" PRIu64 " that were compared, the most promising; "
         "similar documents may be missing",
         path, queries, queries == 1 ? "y" : "ies", most);
}

static void print_change_json(const twin_index_change *change)
{
    struct record record = record_begin(stdout, true);
    record_count(&record, "added", change->added);
    record_count(&record, "replaced", change->replaced);
    record_count(&record, "repeated", change->repeated);
    record_count(&record, "removed", change->removed);
    record_count(&record, "too_short", change->too_short);
    record_count(&record, "skipped", change->problems);
    record_count(&record, "ill_formed", change->ill_formed);
    record_count(&record, "batches", change->batches);
    record_count(&record, "bytes", change->bytes);
    record_end(&record);
}

void print_change(const struct shared_options *shared, const twin_index_change *change, bool removing)
{
    if (shared->json)
        print_change_json(change);
    else if (!shared->quiet && removing)
        fprintf(stderr, "%" PRIu64 " removed\n", change->removed);
    else if (!shared->quiet)
        fprintf(stderr, "%" PRIu64 " added, %" PRIu64 " replaced\n", change->added, change->replaced);
    if (change->too_short && !shared->quiet)
        warn("%" PRIu64 " document%s no shingle and will never be similar", change->too_short,
             change->too_short == 1 ? " has" : "s have");
}

int with_inputs(struct shared_options *shared, twin_index_access mode, index_use *use)
{
    struct index_run run = { 0 };
    int status = EXIT_ERROR;
    if (!make_exec(&run.exec, shared))
        return EXIT_ERROR;
    run.index = index_open(shared, mode);
    if (!run.index)
        return EXIT_ERROR;
    run.progress = progress_begin(shared->quiet);
    run.input = index_inputs(shared, run.index, run.progress);
    if (run.input)
        status = use(shared, &run);
    progress_end();
    twin_input_free(run.input);
    twin_index_close(run.index);
    return status;
}

int with_view(struct shared_options *shared, index_read *read)
{
    twin_index *index = index_open(shared, TWIN_INDEX_READ);
    twin_index_view *view = NULL;
    twin_error error = { 0 };
    if (!index)
        return EXIT_ERROR;
    twin_status status = twin_index_view_create(&view, index, &error);
    if (status == TWIN_OK)
        status = read(shared, index, view, &error);
    progress_end();
    twin_index_view_free(view);
    twin_index_close(index);
    return status == TWIN_OK || status == TWIN_ESTOPPED ? EXIT_DONE : fail_status(index_path(shared), status, &error);
}

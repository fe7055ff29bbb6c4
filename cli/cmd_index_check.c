/* cmd_index_check.c — twinsift index check: whether all parts of an index agree. */
#include "commands.h"
#include "index_file.h"
#include "support/progress.h"

#include <inttypes.h>

static void print_good(const struct shared_options *shared, const twin_index_info *info)
{
    if (shared->json) {
        struct record record = record_begin(stdout, true);
        record_flag(&record, "good", true);
        record_count(&record, "documents", info->documents);
        record_count(&record, "sets", info->sets);
        record_end(&record);
    } else if (!shared->quiet)
        printf("good: %" PRIu64 " documents, %" PRIu64 " different sets\n", info->documents, info->sets);
}

static twin_status check(struct shared_options *shared, const twin_index *index, twin_index_view *view,
                         twin_error *error)
{
    (void)index;
    twin_index_info info = { 0 };
    twin_status status = twin_index_check(view, progress_begin(shared->quiet), error);
    if (status == TWIN_OK)
        status = twin_index_describe(&info, view, error);
    progress_end();
    if (status == TWIN_OK)
        print_good(shared, &info);
    return status;
}

static int run(void *context)
{
    return with_view(context, check);
}

static const struct shared_options defaults = SHARED_DEFAULTS(0);

const struct command command_index_check = {
    .name = "twinsift index check",
    .summary = "read the whole index and check that it is consistent",
    .usage = "[OPTION]... FILE",
    .shared = INDEX_TAKES,
    .checked = INDEX_STORES,
    .least = 1,
    .most = 1,
    .status = "0  the index is consistent\n2  it is damaged, or could not be read",
    .examples = "twinsift index check news.twin",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

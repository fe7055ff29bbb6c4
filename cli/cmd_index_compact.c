/* cmd_index_compact.c — twinsift index compact: write an index again without what was removed. */
#include "commands.h"
#include "index_file.h"

#include <sys/stat.h>

static int run(void *context)
{
    const struct shared_options *shared = context;
    const char *path = index_path(shared);
    struct stat before, after;
    twin_error error = { 0 };
    bool known = stat(path, &before) == 0;
    twin_status status;
    double end = patience_end(shared);
    do
        status = twin_index_compact(path, &error);
    while (wait_for_lock(status, end));
    if (status != TWIN_OK)
        return fail_status(path, status, &error);
    known = known && stat(path, &after) == 0;
    if (known && shared->json) {
        struct record record = record_begin(stdout, true);
        record_count(&record, "before", (uint64_t)before.st_size);
        record_count(&record, "after", (uint64_t)after.st_size);
        record_end(&record);
    } else if (known && !shared->quiet)
        fprintf(stderr, "%.1f MB became %.1f MB\n", (double)before.st_size / 1e6, (double)after.st_size / 1e6);
    return EXIT_DONE;
}

static const struct shared_options defaults = SHARED_DEFAULTS(0);

const struct command command_index_compact = {
    .name = "twinsift index compact",
    .summary = "write the index again without what was removed",
    .usage = "[OPTION]... FILE",
    .about =
        "The file is replaced when the new one is complete. Processes that read it keep the old one until they open "
        "it again; none may be writing it.",
    .shared = INDEX_TAKES,
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error; the index holds what it held",
    .examples = "twinsift index compact news.twin",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

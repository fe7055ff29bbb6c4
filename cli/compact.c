/* compact.c — files are compacted and their sizes reported. */
#include "compact.h"

#include "index_file.h"
#include "support/messages.h"
#include "support/progress.h"
#include "support/record.h"

#include <stdio.h>
#include <sys/stat.h>

int compact_file(const struct shared_options *shared, const char *path, compact_function *compact)
{
    struct stat before, after;
    twin_error error = { 0 };
    bool known = stat(path, &before) == 0;
    twin_status status;
    double end = patience_end(shared);
    twin_progress progress = progress_begin(shared->quiet);
    do
        status = compact(path, progress, &error);
    while (wait_for_lock(status, end));
    progress_end();
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

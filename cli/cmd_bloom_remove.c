/* cmd_bloom_remove.c — twinsift bloom remove: remove items from a counting filter. */
#include "bloom_file.h"
#include "commands.h"

enum { MOST_REPORTED = 10, LONGEST_REPORTED = 200 };

static bool remove_batch(struct item_work *work, const twin_text *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = items[i].length;
        bool removed = twin_bloom_remove(work->bloom, items[i].bytes, length);
        work->hits += removed;
        if (!removed && !work->shared->quiet && work->items + i - work->hits < MOST_REPORTED)
            warn("\"%.*s\" is not in the filter and was not removed",
                 length < LONGEST_REPORTED ? (int)length : LONGEST_REPORTED, items[i].bytes);
    }
    return true;
}

static int remove_items(struct item_work *work)
{
    const char *path = bloom_path(work->shared);
    twin_error error = { 0 };
    if (twin_bloom_shape_of(work->bloom).cell_bits == 1)
        return fail("%s: is not a counting filter; only filters created with --counting can remove items", path);
    if (!work_on_items(work))
        return EXIT_ERROR;
    twin_status status = twin_bloom_commit(work->bloom, &error);
    if (status != TWIN_OK)
        return fail_status(path, status, &error);
    print_item_change(work, "removed", work->shared->json);
    return work->hits == work->items ? EXIT_YES : EXIT_NO;
}

static int run(void *context)
{
    static struct item_work work; /* too large for a stack */
    const struct shared_options *shared = context;
    work = (struct item_work){ .shared = shared, .batch = remove_batch, .stage = { "removing items", "lines" } };
    work.bloom = open_filter(shared, bloom_path(shared), TWIN_BLOOM_WRITE);
    int status = work.bloom ? remove_items(&work) : EXIT_ERROR;
    twin_bloom_free(work.bloom);
    return status;
}

static const struct shared_options defaults = BLOOM_DEFAULTS;

const struct command command_bloom_remove = {
    .name = "twinsift bloom remove",
    .summary = "remove items from a counting filter",
    .usage = "[OPTION]... FILE [INPUT]...",
    .about = "Items are the lines of the inputs; - or no input is standard input. Do not remove items that were "
             "never added: removing a false positive damages other items.",
    .shared = BLOOM_TAKES,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  every item was removed\n1  some item was not in the filter; the others have been removed\n2  error",
    .examples = "twinsift bloom remove senders.bloom < gone",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

/* cmd_bloom_count.c — twinsift bloom count: how often items were added. */
#include "bloom_file.h"
#include "commands.h"

static bool count_batch(struct item_work *work, const twin_text *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t times = twin_bloom_count(work->bloom, items[i].bytes, items[i].length);
        print_item(work->shared, items[i], &times);
    }
    return !ferror(stdout);
}

static int run(void *context)
{
    static struct item_work work; /* too large for a stack */
    const struct shared_options *shared = context;
    work = (struct item_work){ .shared = shared, .batch = count_batch, .stage = { "counting items", "lines" } };
    work.bloom = open_filter(shared, bloom_path(shared), TWIN_BLOOM_READ);
    bool good = work.bloom && work_on_items(&work);
    twin_bloom_free(work.bloom);
    return good ? EXIT_DONE : EXIT_ERROR;
}

static const struct shared_options defaults = BLOOM_DEFAULTS;

const struct command command_bloom_count = {
    .name = "twinsift bloom count",
    .summary = "print how often each item was added",
    .usage = "[OPTION]... FILE [INPUT]...",
    .about = "Items are the lines of the inputs; - or no input is standard input. A count is never too "
             "low, unless its counter is full. A filter that does not count has 0 or 1.",
    .shared = BLOOM_TAKES,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  done\n2  error",
    .examples = "twinsift bloom count senders.bloom < senders",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

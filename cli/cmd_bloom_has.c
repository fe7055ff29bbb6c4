/* cmd_bloom_has.c — twinsift bloom has: the items that may be in a filter. */
#include "bloom_file.h"
#include "commands.h"

#include <stddef.h>

struct request {
    struct shared_options shared;
    bool invert;
};

static const struct option_row options[] = {
    { "invert", 'v', OPTIONS_OUTPUT, NULL, "print the items that are certainly not in the filter instead",
      &option_flag, OPTION_AT(struct request, invert) },
    { 0 },
};

static bool query_batch(struct item_work *work, const twin_text *items, size_t count)
{
    const struct request *request = work->request;
    work->hits += twin_bloom_may_contain_many(work->answers, work->bloom, items, count);
    return print_items(work, items, count, !request->invert);
}

static int run(void *context)
{
    static struct item_work work; /* too large for a stack */
    const struct request *request = context;
    work = (struct item_work){
        .shared = &request->shared, .request = request, .batch = query_batch, .stage = { "querying items", "lines" }
    };
    work.bloom = open_filter(&request->shared, bloom_path(&request->shared), TWIN_BLOOM_READ);
    bool good = work.bloom && work_on_items(&work);
    twin_bloom_free(work.bloom);
    if (!good)
        return EXIT_ERROR;
    return work.hits == work.items ? EXIT_YES : EXIT_NO;
}

static const struct request defaults = { .shared = BLOOM_DEFAULTS };

const struct command command_bloom_has = {
    .name = "twinsift bloom has",
    .summary = "print the items that may be in the filter",
    .usage = "[OPTION]... FILE [INPUT]...",
    .about = "Items are the lines of the inputs; - or no input is standard input. An item that was added is always "
             "found; one that was not is found at the false-positive rate.",
    .shared = BLOOM_TAKES,
    .options = options,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  every item may be in the filter\n1  some item is certainly not\n2  error",
    .examples = "echo ann@example.org | twinsift bloom has trusted.bloom && echo trusted\n"
                "twinsift bloom has trusted.bloom --invert addresses.txt",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

/* cmd_bloom_add.c — twinsift bloom add: add items to a filter. */
#include "bloom_file.h"
#include "commands.h"

#include <stddef.h>

struct request {
    struct shared_options shared;
    bool print_new;
};

static const struct option_row options[] = {
    { "print-new", 0, OPTIONS_OUTPUT, NULL, "print the items that were new", &option_flag,
      OPTION_AT(struct request, print_new) },
    { 0 },
};

static bool add_batch(struct item_work *work, const twin_text *items, size_t count)
{
    const struct request *request = work->request;
    work->hits += twin_bloom_add_many(work->answers, work->bloom, items, count);
    return !request->print_new || print_items(work, items, count, true);
}

static int add(struct item_work *work)
{
    const struct request *request = work->request;
    twin_error error = { 0 };
    if (!work_on_items(work))
        return EXIT_ERROR;
    twin_status status = twin_bloom_commit(work->bloom, &error);
    if (status != TWIN_OK)
        return fail_status(bloom_path(&request->shared), status, &error);
    print_item_change(work, "new", request->shared.json && !request->print_new);
    return EXIT_DONE;
}

static int run(void *context)
{
    static struct item_work work; /* too large for a stack */
    const struct request *request = context;
    work = (struct item_work){
        .shared = &request->shared, .request = request, .batch = add_batch, .stage = { "adding items", "lines" }
    };
    work.bloom = open_filter(&request->shared, bloom_path(&request->shared), TWIN_BLOOM_WRITE);
    int status = work.bloom ? add(&work) : EXIT_ERROR;
    twin_bloom_free(work.bloom);
    return status;
}

static const struct request defaults = { .shared = BLOOM_DEFAULTS };

const struct command command_bloom_add = {
    .name = "twinsift bloom add",
    .summary = "add items",
    .usage = "[OPTION]... FILE [INPUT]...",
    .about = "Items are the lines of the inputs; - or no input is standard input.",
    .shared = BLOOM_TAKES,
    .options = options,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  done\n2  error; the filter is unchanged",
    .examples = "twinsift bloom add trusted.bloom addresses.txt\n"
                "twinsift bloom add seen.bloom --print-new < urls > new-urls",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

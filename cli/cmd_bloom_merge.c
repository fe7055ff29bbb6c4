/* cmd_bloom_merge.c — twinsift bloom merge: one filter of several. */
#include "bloom_file.h"
#include "commands.h"

#include <stddef.h>

struct request {
    struct shared_options shared;
    bool intersect;
};

static const struct option_row options[] = {
    { "intersect", 0, OPTIONS_SEARCH, NULL, "write a filter with the items that all given filters contain",
      &option_flag, OPTION_AT(struct request, intersect) },
    { 0 },
};

static bool merge_in(twin_bloom *into, const struct request *request, const char *path)
{
    twin_bloom *other = open_filter(&request->shared, path, TWIN_BLOOM_READ);
    if (!other)
        return false;
    twin_status status =
        request->intersect ? twin_bloom_intersect(NULL, into, other) : twin_bloom_unite(NULL, into, other);
    twin_bloom_free(other);
    if (status != TWIN_OK)
        fail("%s: cannot be merged with %s: %s; see 'twinsift bloom info'", path, request->shared.base.arguments[1],
             twin_error_last(status));
    return status == TWIN_OK;
}

static int save(twin_bloom *merged, const struct shared_options *shared)
{
    twin_bloom_info info;
    if (!save_filter(merged, shared))
        return EXIT_ERROR;
    twin_bloom_describe(&info, merged);
    if (!shared->quiet)
        fprintf(stderr, "about %.0f item%s, false positives %.3g %%\n", info.items,
                plural((uint64_t)(info.items + 0.5)), info.rate * 100);
    warn_past_plan(shared, bloom_path(shared), &info);
    return EXIT_DONE;
}

static int run(void *context)
{
    const struct request *request = context;
    const struct request_base *base = &request->shared.base;
    twin_bloom *first = open_filter(&request->shared, base->arguments[1], TWIN_BLOOM_READ), *merged = NULL;
    if (!first)
        return EXIT_ERROR;
    twin_status status = twin_bloom_copy(&merged, first);
    twin_bloom_free(first);
    if (status != TWIN_OK)
        return fail_status(base->arguments[1], status, NULL);

    bool good = true;
    for (size_t i = 2; good && i < base->count; i++)
        good = merge_in(merged, request, base->arguments[i]);
    int result = good ? save(merged, &request->shared) : EXIT_ERROR;
    twin_bloom_free(merged);
    return result;
}

static const struct request defaults = { .shared = BLOOM_DEFAULTS };

const struct command command_bloom_merge = {
    .name = "twinsift bloom merge",
    .summary = "write a filter with the items of all given filters",
    .usage = "[OPTION]... OUT FILE...",
    .about = "The filters must have the same shape and hash.",
    .shared = "force " BLOOM_TAKES,
    .options = options,
    .least = 2,
    .most = SIZE_MAX,
    .status = "0  done\n2  error",
    .examples = "twinsift bloom merge all.bloom monday.bloom tuesday.bloom",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

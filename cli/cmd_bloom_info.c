/* cmd_bloom_info.c — twinsift bloom info: size, fill and rate of filters. */
#include "bloom_file.h"
#include "commands.h"

#include <inttypes.h>

static void print_info_json(const char *path, const twin_bloom_info *info)
{
    struct record record = record_begin(stdout, true);
    record_string(&record, "file", path);
    record_string(&record, "layout", twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, info->shape.layout));
    record_count(&record, "cell_bits", info->shape.cell_bits);
    record_count(&record, "functions", info->shape.functions);
    record_count(&record, "cells", info->shape.cells);
    record_count(&record, "bytes", info->bytes);
    record_string(&record, "hash", twin_name_of(TWIN_NAMES_HASH_FAMILY, info->family));
    record_count(&record, "seed", info->seed);
    record_count(&record, "planned_items", info->planned_items);
    record_number(&record, "planned_rate", info->planned_rate, 9);
    record_count(&record, "added", info->added);
    record_count(&record, "new", info->fresh);
    record_count(&record, "removed", info->removed);
    record_count(&record, "marked", info->marked);
    record_count(&record, "saturated", info->saturated);
    record_fixed(&record, "items", info->items, 0);
    record_number(&record, "fill", info->fill, 6);
    record_number(&record, "rate", info->rate, 6);
    record_flag(&record, "past_plan", info->past_plan);
    if (info->layers)
        record_count(&record, "layers", info->layers);
    record_end(&record);
}

static void print_info(const char *path, const twin_bloom_info *info)
{
    bool counting = info->shape.cell_bits > 1;
    printf("%s\n", path);
    printf("  layout           %s, %u functions\n", twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, info->shape.layout),
           info->shape.functions);
    printf("  cells            %" PRIu64 " of %u bit%s, %" PRIu64 " bytes\n", info->shape.cells,
           info->shape.cell_bits, counting ? "s" : "", info->bytes);
    if (info->layers)
        printf("  layers           %zu, the newest as above; it grows\n", info->layers);
    if (info->family == TWIN_HASH_SIP)
        printf("  hash             sip, keyed\n");
    else
        printf("  hash             %s, seed %" PRIu64 "\n", twin_name_of(TWIN_NAMES_HASH_FAMILY, info->family),
               info->seed);
    printf("  planned          %" PRIu64 " item%s, false positives %.3g %%\n", info->planned_items,
           plural(info->planned_items), info->planned_rate * 100);
    printf("  added            %" PRIu64 ", of which %" PRIu64 " were new\n", info->added, info->fresh);
    if (counting)
        printf("  removed          %" PRIu64 "\n  full counters    %" PRIu64 "\n", info->removed, info->saturated);
    printf("  holds            about %.0f item%s%s\n", info->items, plural((uint64_t)(info->items + 0.5)),
           info->past_plan ? ", more than planned" : "");
    printf("  fill             %.1f %%\n", info->fill * 100);
    printf("  false positives  %.3g %% now\n", info->rate * 100);
}

static int run(void *context)
{
    const struct shared_options *shared = context;
    for (size_t i = 0; i < shared->base.count; i++) {
        const char *path = shared->base.arguments[i];
        twin_bloom_info info;
        twin_error error = { 0 };
        twin_status status = twin_bloom_inspect(&info, path, &error);
        if (status != TWIN_OK)
            return fail_status(path, status, &error);
        if (shared->json)
            print_info_json(path, &info);
        else
            print_info(path, &info);
    }
    return EXIT_DONE;
}

static const struct shared_options defaults = BLOOM_DEFAULTS;

const struct command command_bloom_info = {
    .name = "twinsift bloom info",
    .summary = "print size, fill and false-positive rate, and check the file",
    .usage = "[OPTION]... FILE...",
    .shared = BLOOM_TAKES,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  done\n2  error; a file is damaged or not a filter",
    .examples = "twinsift bloom info trusted.bloom",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

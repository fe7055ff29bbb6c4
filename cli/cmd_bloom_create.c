/* cmd_bloom_create.c — twinsift bloom create: an empty filter. */
#include "bloom_file.h"
#include "commands.h"
#include "support/keys.h"
#include "support/size.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

struct request {
    struct shared_options shared;
    uint64_t items;
    double rate;
    enum { CELLS_1, CELLS_4, CELLS_8, CELLS_16 } cells; /* bits per cell */
    twin_bloom_layout layout;
    uint64_t cell_count, functions; /* 0: from items and rate */
    bool scalable;
};

/* "4", "8" or "16"; 1 is what a filter has that does not count. */
static bool read_cells(void *value, const struct option_row *row, const char *text)
{
    unsigned number;
    if (!option_choice.read(&number, row, text))
        return false;
    *(unsigned *)value = number + CELLS_4;
    return true;
}

static const struct option_kind counter_bits = { read_cells, NULL };

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "items", 0, OPTIONS_SEARCH, "N",
      "the number of distinct items to plan for (K, M, G: thousand, million, billion)", &option_count, AT(items),
      .least = 1 },
    { "rate", 0, OPTIONS_SEARCH, "P", "the false-positive rate when it holds that many, 1e-12 to 0.5",
      &option_fraction, AT(rate) },
    { "counting", 0, OPTIONS_SEARCH, "BITS", "create a counting filter with counters of 4, 8 or 16 bits",
      &counter_bits, AT(cells), .choices = "4 8 16" },
    { "layout", 0, OPTIONS_SEARCH, "NAME",
      "blocks (one cache line per item), classic (smaller for rates below 0.3 %) or auto, by the rate",
      &option_choice, AT(layout), .choices = "auto blocks classic" },
    { "cells", 0, OPTIONS_SEARCH, "N",
      "instead of --rate: this many cells, rounded up to a multiple of 512, in the layout classic", &option_count,
      AT(cell_count), .least = 1 },
    { "functions", 0, OPTIONS_SEARCH, "K", "with --cells: hash functions (default: the best for cells and items)",
      &option_count, AT(functions), .least = 1, .most = TWIN_BLOOM_MAX_FUNCTIONS },
    { "scalable", 0, OPTIONS_SEARCH, NULL,
      "let the filter grow: the rate stays below P whatever is added; --items is where it begins", &option_flag,
      AT(scalable) },
    { 0 },
};

/* The first contradiction among the options as a sentence; NULL when there is none. */
static const char *contradiction(const struct request *request)
{
    const struct shared_options *shared = &request->shared;
    bool sip = shared->scheme.shingle.hash.family == TWIN_HASH_SIP;
    if (request->items == 0 && !(request->cell_count && request->functions))
        return "missing --items N: how many items shall the filter hold?";
    if (request->cell_count && option_given(&shared->base, "rate"))
        return "--cells and --rate exclude each other: each determines the other";
    if (request->cell_count && request->layout == TWIN_BLOOM_BLOCKS)
        return "--cells needs the layout classic";
    if (request->functions && !request->cell_count)
        return "--functions needs --cells";
    if (request->scalable && (request->cell_count || request->cells != CELLS_1))
        return "--scalable cannot be used with --cells or --counting";
    if (sip && (!shared->key_file || option_given(&shared->base, "seed")))
        return "--hash sip needs --key-file, and takes no --seed";
    if (!sip && shared->key_file)
        return "--key-file needs --hash sip";
    return NULL;
}

/* What a filter of this shape is planned for, if that is not said: as many items as keep the rate, which for the shape
 * is (1 - e^(-kn/m))^k. */
static uint64_t items_for(uint64_t cells, uint64_t functions, double rate)
{
    double k = (double)functions, items = -(double)cells / k * log1p(-pow(rate, 1 / k));
    return items > 1 ? (uint64_t)items : 1;
}

/* The filter does not fit into memory: says how large it would be. */
static int fail_size(const twin_bloom_options *wanted)
{
    char size[SIZE_ROOM];
    twin_bloom_shape shape;
    if (twin_bloom_plan(&shape, *wanted) != TWIN_OK)
        return fail("%s", twin_status_text(TWIN_ENOMEM));
    return fail("%s: a filter of %" PRIu64 " items at a rate of %g takes %s", twin_status_text(TWIN_ENOMEM),
                wanted->items, wanted->rate, write_size(size, twin_bloom_bytes(shape)));
}

static int run(void *context)
{
    static const unsigned bits[] = { [CELLS_1] = 0, [CELLS_4] = 4, [CELLS_8] = 8, [CELLS_16] = 16 };
    const struct request *request = context;
    const struct shared_options *shared = &request->shared;
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    uint64_t items =
        request->items ? request->items : items_for(request->cell_count, request->functions, request->rate);
    twin_bloom_options wanted = { .items = items,
                                  .rate = request->rate,
                                  .cell_bits = bits[request->cells],
                                  .layout = request->layout,
                                  .cells = request->cell_count,
                                  .functions = (unsigned)request->functions,
                                  .grows = request->scalable,
                                  .hash = { .family = shared->scheme.shingle.hash.family,
                                            .seed = shared->scheme.minhash.seed } };
    if (shared->key_file && !read_key(wanted.hash.key, shared->key_file))
        return EXIT_ERROR;

    twin_bloom *bloom = NULL;
    /* To the library a rate of 0 is its default; here it was given. */
    twin_status status = wanted.rate > 0 ? twin_bloom_create(&bloom, wanted) : TWIN_EINVAL;
    if (status == TWIN_EINVAL)
        return fail("--rate: %g cannot be planned for, only 1e-12 to 0.5", wanted.rate);
    if (status == TWIN_ELIMIT)
        return fail("--items: %" PRIu64 " items at a rate of %g are more than a filter can hold", wanted.items,
                    wanted.rate);
    if (status == TWIN_ENOMEM)
        return fail_size(&wanted);
    if (status != TWIN_OK)
        return fail_status(bloom_path(shared), status, NULL);
    bool saved = save_filter(bloom, shared);
    twin_bloom_free(bloom);
    return saved ? EXIT_DONE : EXIT_ERROR;
}

static const struct request defaults = { .shared = BLOOM_DEFAULTS, .rate = 0.01 };

const struct command command_bloom_create = {
    .name = "twinsift bloom create",
    .summary = "create an empty filter",
    .usage = "[OPTION]... --items N FILE",
    .shared = "hash seed force " BLOOM_TAKES,
    .options = options,
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error",
    .examples = "twinsift bloom create trusted.bloom --items 100M --rate 0.01\n"
                "twinsift bloom create senders.bloom --items 1M --counting 8\n"
                "twinsift bloom create small.bloom --items 1000 --cells 8K --functions 5\n"
                "twinsift bloom create seen.bloom --items 1M --scalable\n"
                "head -c 16 /dev/urandom > key\n"
                "twinsift bloom create s.bloom --items 1M --hash sip --key-file key",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

/* cmd_index_create.c — twinsift index create: an empty index. */
#include "commands.h"
#include "index_file.h"
#include "support/keys.h"
#include "support/search_options.h"

#include <string.h>

/* Without a seed or a key of the user's choice one is drawn that nobody knows. */
static bool draw_key(struct shared_options *shared)
{
    uint64_t key[2];
    if (option_given(&shared->base, "seed") || shared->key_file)
        return true;
    if (!draw_random(key, sizeof key))
        return false;
    if (shared->scheme.shingle.hash.family == TWIN_HASH_SIP)
        twin_scheme_key(&shared->scheme, key);
    else
        twin_scheme_seed(&shared->scheme, key[0]);
    return true;
}

struct request {
    struct shared_options shared;
    enum measure measure;
    size_t max_edits;
};

/* How many edits are always found, unless --max-edits says so. */
enum { DEFAULT_EDITS = 2 };

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "measure", 0, OPTIONS_MATCHING, "M",
      "jaccard; or edit, the share of characters that both texts have in the same order, for names, titles and "
      "addresses",
      &option_choice, AT(measure), .choices = "jaccard edit" },
    { "max-edits", 0, OPTIONS_MATCHING, "N",
      "with --measure edit: all texts within N edits of a query are found, and those are the matches by default "
      "(default: 2)",
      &option_size, AT(max_edits), .most = TWIN_INDEX_MOST_EDITS },
    { 0 },
};

static const char *contradiction(const struct request *request)
{
    const struct request_base *base = &request->shared.base;
    if (request->measure == MEASURE_JACCARD)
        return option_given(base, "max-edits") ? "--max-edits needs --measure edit" : NULL;
    if (option_given(base, "keep") && request->shared.keep != TWIN_KEEP_TEXT)
        return "--measure edit compares texts, so --keep must be text";
    if (option_given(base, "threshold"))
        return "--measure edit: matches are those within --max-edits; --threshold is an option of 'index query'";
    return edit_contradiction(&request->shared);
}

/* What the options leave open is the library's choice. */
static twin_scheme scheme_of(const struct request *request)
{
    twin_scheme scheme = request->shared.scheme;
    const struct request_base *base = &request->shared.base;
    if (request->measure == MEASURE_JACCARD)
        return scheme;
    if (!option_given(base, "shingle")) {
        scheme.shingle.kind = TWIN_SHINGLE_CHAR;
        scheme.shingle.width = 0;
    }
    if (!option_given(base, "hashes") && !option_given(base, "error"))
        scheme.minhash.slots = 0;
    return scheme;
}

static int create(const struct request *request)
{
    const struct shared_options *shared = &request->shared;
    twin_index_options wanted = { .format = shared->input.format,
                                  .scheme = scheme_of(request),
                                  .keep = shared->keep,
                                  .by_edits = request->measure != MEASURE_JACCARD,
                                  .edits = request->max_edits };
    twin_error error = { 0 };
    twin_status status;
    double end = patience_end(shared);
    do
        status = twin_index_create(index_path(shared), wanted, shared->force, &error);
    while (wait_for_lock(status, end));
    if (status == TWIN_EINVAL && !shared->force && strstr(error.message, "already exists"))
        return fail("%s; --force replaces it", error.message);
    return status == TWIN_OK ? EXIT_DONE : fail_status(index_path(shared), status, &error);
}

static int run(void *context)
{
    struct request *request = context;
    struct shared_options *shared = &request->shared;
    struct word_list stop_words = { 0 };
    int status = EXIT_ERROR;
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    if (search_options_finish(shared) && load_stop_words(shared, &stop_words) && draw_key(shared))
        status = create(request);
    word_list_clear(&stop_words);
    return status;
}

static const struct request defaults = {
    .shared = { .executor = TWIN_EXEC_PTHREADS,
                .separator = '\n',
                .scheme = { .shingle = { .kind = TWIN_SHINGLE_AUTO, .width = 9, .hash.family = TWIN_HASH_SIP },
                            .minhash = { .sketch = TWIN_SKETCH_FAST, .slots = 128, .seed = OPTION_SEED_RANDOM },
                            .threshold = 0.8 } },
    .max_edits = DEFAULT_EDITS,
};

const struct command command_index_create = {
    .name = "twinsift index create",
    .summary = "create an empty index",
    .usage = "[OPTION]... FILE",
    .about = "The options for input, matching and search are stored in the file and cannot be changed later. Unless "
             "--seed or --key-file is given, a random key is drawn and stored, so that nobody can prepare documents "
             "that collide.",
    .shared = INDEX_STORES " threshold force " INDEX_TAKES,
    .options = options,
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error",
    .examples = "twinsift index create news.twin --keep text\n"
                "twinsift index create names.twin --measure edit --max-edits 2",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

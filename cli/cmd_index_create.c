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

static int create(const struct shared_options *shared)
{
    twin_index_options options = { .format = shared->input.format, .scheme = shared->scheme, .keep = shared->keep };
    twin_error error = { 0 };
    twin_status status;
    double end = patience_end(shared);
    do
        status = twin_index_create(index_path(shared), options, shared->force, &error);
    while (wait_for_lock(status, end));
    if (status == TWIN_EINVAL && !shared->force && strstr(error.message, "already exists"))
        return fail("%s; --force replaces it", error.message);
    return status == TWIN_OK ? EXIT_DONE : fail_status(index_path(shared), status, &error);
}

static int run(void *context)
{
    struct shared_options *shared = context;
    struct word_list stop_words = { 0 };
    int status = EXIT_ERROR;
    if (search_options_finish(shared) && load_stop_words(shared, &stop_words) && draw_key(shared))
        status = create(shared);
    word_list_clear(&stop_words);
    return status;
}

static const struct shared_options defaults = {
    .executor = TWIN_EXEC_PTHREADS,
    .separator = '\n',
    .scheme = { .shingle = { .kind = TWIN_SHINGLE_AUTO, .width = 9, .hash.family = TWIN_HASH_SIP },
                .minhash = { .sketch = TWIN_SKETCH_FAST, .slots = 128, .seed = OPTION_SEED_RANDOM },
                .threshold = 0.8 },
};

const struct command command_index_create = {
    .name = "twinsift index create",
    .summary = "create an empty index",
    .usage = "[OPTION]... FILE",
    .about = "The options for input, matching and search are stored in the file and cannot be changed later. Unless "
             "--seed or --key-file is given, a random key is drawn and stored, so that nobody can prepare documents "
             "that collide.",
    .shared = INDEX_STORES " threshold force " INDEX_TAKES,
    .least = 1,
    .most = 1,
    .status = "0  done\n2  error",
    .examples = "twinsift index create news.twin --keep text\n"
                "twinsift index create names.twin --shingle char:3 --threshold 0.6",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

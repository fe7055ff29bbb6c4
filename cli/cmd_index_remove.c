/* cmd_index_remove.c — twinsift index remove: remove documents by id. */
#include "commands.h"
#include "index_file.h"
#include "support/word_list.h"

#include <stdlib.h>
#include <string.h>

/* The ids are the arguments after the index, or the lines of standard input. */
static bool list_ids(struct word_list *out, const struct shared_options *shared)
{
    const char *const *names = shared->base.arguments + 1;
    size_t count = shared->base.count - 1;
    if (count == 1 && strcmp(names[0], "-") == 0)
        return word_list_read(out, "/dev/stdin");
    out->words = malloc(count * sizeof *out->words);
    if (!out->words) {
        fail_status(index_path(shared), TWIN_ENOMEM, NULL);
        return false;
    }
    for (; out->count < count; out->count++)
        out->words[out->count] = (twin_text){ names[out->count], strlen(names[out->count]) };
    return true;
}

enum { MOST_REPORTED = 20, LONGEST_REPORTED = 200 };

static void report_missing(const bool *found, const struct word_list *ids)
{
    size_t missing = 0;
    for (size_t i = 0; i < ids->count; i++)
        if (!found[i] && missing++ < MOST_REPORTED) {
            size_t length = ids->words[i].length;
            warn("\"%.*s\" is not in the index", length < LONGEST_REPORTED ? (int)length : LONGEST_REPORTED,
                 ids->words[i].bytes);
        }
    if (missing > MOST_REPORTED)
        warn("%zu more %s not in the index", missing - MOST_REPORTED, missing - MOST_REPORTED == 1 ? "is" : "are");
}

static int remove_ids(const struct shared_options *shared, twin_index *index, const struct word_list *ids)
{
    twin_index_change change = { 0 };
    twin_error error = { 0 };
    bool *found = calloc(ids->count + 1, sizeof *found);
    twin_status status =
        found ? twin_index_remove(found, &change, index, ids->words, ids->count, &error) : TWIN_ENOMEM;
    if (status == TWIN_OK && !shared->quiet)
        report_missing(found, ids);
    free(found);
    if (status != TWIN_OK)
        return fail_status(index_path(shared), status, &error);
    print_change(shared, &change);
    return change.removed == ids->count ? EXIT_YES : EXIT_NO;
}

static int run(void *context)
{
    struct shared_options *shared = context;
    struct word_list ids = { 0 };
    twin_index *index = index_open(shared, TWIN_INDEX_WRITE);
    int status = index && list_ids(&ids, shared) ? remove_ids(shared, index, &ids) : EXIT_ERROR;
    twin_index_close(index);
    word_list_clear(&ids);
    return status;
}

static const struct shared_options defaults = SHARED_DEFAULTS(0);

const struct command command_index_remove = {
    .name = "twinsift index remove",
    .summary = "remove documents by id",
    .usage = "[OPTION]... FILE ID...\n[OPTION]... FILE -",
    .about =
        "With - ids are read from standard input, one per line. The space is reused, but the file does not shrink; "
        "see 'twinsift index compact'.",
    .shared = INDEX_TAKES,
    .checked = INDEX_STORES,
    .least = 2,
    .most = SIZE_MAX,
    .status = "0  all were removed\n1  some were not in the index; the others have been removed\n2  error",
    .examples = "twinsift index remove news.twin article-17 article-18",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run,
};

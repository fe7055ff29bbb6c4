/* cmd_index_remove.c — twinsift index remove: remove documents by id.
 *
 * All ids are removed in one transaction; those that are not in the index are reported, and make the exit status 1. */
#include "commands.h"
#include "index_file.h"
#include "support/escape.h"
#include "support/paths.h"
#include "support/word_list.h"

#include <stdlib.h>
#include <string.h>

/* Ids from a pipe are often those that another command printed. One that is not in the index as it stands is taken for
 * such a one, with \\xHH for a byte. */
static bool read_ids(struct word_list *out, twin_index *index, const struct shared_options *shared)
{
    twin_index_view *view = NULL;
    twin_error error = { 0 };
    if (!word_list_read_lines(out, "-"))
        return false;
    twin_status status = twin_index_view_create(&view, index, &error);
    for (size_t i = 0; i < out->count && status == TWIN_OK; i++) {
        twin_text *id = &out->words[i];
        twin_index_entry entry;
        bool there = true;
        if (memmem(id->bytes, id->length, "\\x", 2))
            status = twin_index_find(&entry, &there, view, *id, &error);
        if (status == TWIN_OK && !there)
            id->length = unescape_tsv(out->file + (id->bytes - out->file), id->length);
    }
    twin_index_view_free(view);
    return status == TWIN_OK || refuse_status(index_path(shared), status, &error);
}

/* The ids are the arguments after the index, or the lines of standard input. */
static bool list_ids(struct word_list *out, twin_index *index, const struct shared_options *shared)
{
    const char *const *names = shared->base.arguments + 1;
    size_t count = shared->base.count - 1;
    if (count == 1 && is_standard(names[0]))
        return read_ids(out, index, shared);
    out->words = malloc(count * sizeof *out->words);
    if (!out->words)
        return refuse_status(index_path(shared), TWIN_ENOMEM, NULL);
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

struct listed {
    twin_text *id; /* in the list */
};

/* By their bytes; equal ones in the order of the list. */
static int compare_listed(const void *left, const void *right)
{
    const twin_text *a = ((const struct listed *)left)->id, *b = ((const struct listed *)right)->id;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    if (order == 0)
        order = (a->length > b->length) - (a->length < b->length);
    return order ? order : (a > b) - (a < b);
}

/* Drops ids that are repeated: each can be removed once, and is not missing afterwards. */
static bool drop_repeated(struct word_list *ids)
{
    struct listed *sorted = malloc((ids->count + 1) * sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < ids->count; i++)
        sorted[i].id = &ids->words[i];
    qsort(sorted, ids->count, sizeof *sorted, compare_listed);
    const twin_text *last = NULL;
    for (size_t i = 0; i < ids->count; i++) {
        twin_text *id = sorted[i].id;
        if (last && last->length == id->length && memcmp(last->bytes, id->bytes, id->length) == 0)
            id->bytes = NULL;
        else
            last = id;
    }
    free(sorted);
    size_t kept = 0;
    for (size_t i = 0; i < ids->count; i++)
        if (ids->words[i].bytes)
            ids->words[kept++] = ids->words[i];
    ids->count = kept;
    return true;
}

static int remove_ids(const struct shared_options *shared, twin_index *index, struct word_list *ids)
{
    twin_index_change change = { 0 };
    twin_error error = { 0 };
    bool *found = drop_repeated(ids) ? calloc(ids->count + 1, sizeof *found) : NULL;
    twin_status status =
        found ? twin_index_remove(found, &change, index, ids->words, ids->count, &error) : TWIN_ENOMEM;
    if (status == TWIN_OK && !shared->quiet)
        report_missing(found, ids);
    free(found);
    if (status != TWIN_OK)
        return fail_status(index_path(shared), status, &error);
    print_change(shared, &change, true);
    return change.removed == ids->count ? EXIT_YES : EXIT_NO;
}

static int run(void *context)
{
    struct shared_options *shared = context;
    struct word_list ids = { 0 };
    twin_index *index = index_open(shared, TWIN_INDEX_WRITE);
    int status = index && list_ids(&ids, index, shared) ? remove_ids(shared, index, &ids) : EXIT_ERROR;
    twin_index_close(index);
    word_list_clear(&ids);
    return status;
}

static const struct shared_options defaults = SHARED_DEFAULTS(0);

const struct command command_index_remove = {
    .name = "twinsift index remove",
    .summary = "remove documents by id",
    .usage = "[OPTION]... FILE ID...\n[OPTION]... FILE -",
    .about = "With - ids are read from standard input, one per line, as they are or as other commands print them. "
             "The space is reused, but the file does not shrink; "
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

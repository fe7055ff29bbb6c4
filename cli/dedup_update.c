/* dedup_update.c — adding to an index what was kept, so that an interrupted run can be repeated.
 *
 * dedup_update.h says in which order files appear. A run is recognised by a number, made from the inputs and the name
 * of the output, that is part of the name of its file. */
#include "dedup_update.h"

#include "fingerprint.h"
#include "support/messages.h"
#include "support/record.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- which run it is ---- */

/* The same output from the same files is the same run. What comes through a pipe, or goes to one, is never the same. */
static uint64_t number_run(const struct update_run *run)
{
    uint64_t number = 1;
    bool repeatable = run->output != NULL;
    for (uint32_t i = 0; i < twin_input_sources(run->input); i++) {
        const char *name = twin_input_name(run->input, i);
        struct stat known;
        repeatable &= stat(name, &known) == 0 && (S_ISREG(known.st_mode) || S_ISDIR(known.st_mode));
        repeatable &= fingerprint_add_file(&number, name);
    }
    char *folder = getcwd(NULL, 0);
    if (folder)
        fingerprint_add(&number, folder, strlen(folder));
    free(folder);
    if (run->output)
        fingerprint_add(&number, run->output, strlen(run->output));
    if (!repeatable) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const uint64_t facts[] = { (uint64_t)getpid(), (uint64_t)now.tv_sec, (uint64_t)now.tv_nsec };
        fingerprint_add(&number, facts, sizeof facts);
    }
    return number;
}

/* ---- the index ---- */

/* A document that was kept and has an id that another has takes its place. */
static void remark_replaced(const struct update_run *run, const twin_index_change *change)
{
    if (change->replaced && !run->quiet)
        warn("%s: %" PRIu64 " document%s replaced one of the same id; if ids are unique in each file only, use "
             "--id-from path-and-line",
             run->index, change->replaced, plural(change->replaced));
}

static bool add_file(const struct update_run *run, const char *path, twin_index_change *change)
{
    twin_index *index = NULL;
    twin_input *input = NULL;
    twin_error error = { 0 };
    twin_input_options options = { .max_bytes = UINT32_MAX };
    twin_status status = twin_index_open(&index, run->index, TWIN_INDEX_WRITE, &error);
    if (status == TWIN_OK)
        status = twin_input_open(&input, &path, 1, options, &error);
    twin_index_add_options wanted = { .exec = run->exec, .strict = true, .progress = run->progress };
    if (status == TWIN_OK)
        status = twin_index_add_input(change, index, input, wanted, &error);
    if (status != TWIN_OK)
        fail_status(run->index, status, &error);
    twin_input_free(input);
    twin_index_close(index);
    if (status == TWIN_OK && unlink(path) != 0 && errno != ENOENT)
        return refuse("%s: cannot be removed: %s", path, strerror(errno));
    return status == TWIN_OK;
}

/* INDEX-update-RUN.jsonl; the caller frees it. */
static char *name_file(const struct update_run *run)
{
    enum { MORE = 64 };
    size_t room = strlen(run->index) + MORE;
    char *name = malloc(room);
    if (name)
        snprintf(name, room, "%s-update-%016" PRIx64 ".jsonl", run->index, run->number);
    else
        fail_status(run->index, TWIN_ENOMEM, NULL);
    return name;
}

/* A pattern for the files of all runs: marks of patterns in the name of the index stand for themselves. */
static char *make_pattern(const char *index)
{
    static const char ending[] = "-update-????????????????.jsonl";
    char *pattern = malloc(2 * strlen(index) + sizeof ending), *out = pattern;
    for (; pattern && *index; index++) {
        if (strchr("*?[\\", *index))
            *out++ = '\\';
        *out++ = *index;
    }
    if (pattern)
        memcpy(out, ending, sizeof ending);
    else
        fail_status("the index", TWIN_ENOMEM, NULL);
    return pattern;
}

bool update_recover(bool *is_done, struct update_run *run)
{
    glob_t found = { 0 };
    *is_done = false;
    run->number = number_run(run);
    char *own = name_file(run), *pattern = make_pattern(run->index);
    bool good = own && pattern;
    int status = good ? glob(pattern, 0, NULL, &found) : GLOB_NOMATCH;
    for (size_t i = 0; status == 0 && i < found.gl_pathc && good; i++) {
        *is_done |= strcmp(found.gl_pathv[i], own) == 0;
        good = add_file(run, found.gl_pathv[i], NULL);
    }
    globfree(&found);
    free(pattern);
    free(own);
    return good;
}

/* ---- the file ---- */

static bool write_document(FILE *out, const twin_collection *collection, twin_scratch *scratch, uint32_t number)
{
    twin_document document;
    twin_error error = { 0 };
    twin_status status = twin_collection_document(&document, collection, scratch, number, &error);
    if (status != TWIN_OK)
        return refuse_status("the input", status, &error);
    struct record record = record_begin(out, true);
    record_document(&record, "id", collection, number);
    record_text(&record, "text", document.text);
    record_end(&record);
    return true;
}

bool update_write(struct output_file *file, const struct update_run *run, const struct dedup_result *result)
{
    const uint32_t *keepers = twin_dedup_keepers(result->dedup);
    size_t documents = twin_dedup_count(result->dedup).documents;
    twin_scratch scratch = { 0 };
    char *name = name_file(run);
    bool good = name && output_file_open(file, name);
    free(name);
    if (!good)
        return false;
    fchmod(fileno(file->file), 0600); /* texts, and perhaps of an index that nobody else may read */
    for (uint32_t i = 0; i < documents && good && !ferror(file->file); i++)
        if (keepers[i] == i)
            good = write_document(file->file, result->collection, &scratch, i);
    twin_scratch_clear(&scratch);
    if (good)
        return output_file_close(file);
    output_file_abandon(file);
    return false;
}

bool update_finish(struct output_file *file, const struct update_run *run)
{
    char *name = name_file(run);
    twin_index_change change = { 0 };
    bool good = name && output_file_finish(file) && add_file(run, name, &change);
    if (good)
        remark_replaced(run, &change);
    free(name);
    return good;
}

/* dedup_update.c — adding to an index what was kept, so that an interrupted run can be repeated.
 *
 * dedup_update.h says in which order files appear. A run is recognised by a number, made from the inputs and the name
 * of the output, that is part of the name of its file. */
#include "dedup_update.h"

#include "dedup_paths.h"
#include "fingerprint.h"
#include "support/messages.h"
#include "support/paths.h"
#include "support/record.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- which run it is ---- */

/* The same output from the same files is the same run. What comes through a pipe, or goes to one, is never the same. */
static void number_run(struct update_run *run)
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
    run->number = number;
    run->is_repeatable = repeatable;
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
    return status == TWIN_OK;
}

static bool remove_file(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT || refuse("%s: cannot be removed: %s", path, strerror(errno));
}

/* A file next to the index: the name of the index and an ending. The caller frees it. */
static char *name_beside(const char *index, const char *ending)
{
    size_t room = strlen(index) + strlen(ending) + 1;
    char *name = malloc(room);
    if (name)
        snprintf(name, room, "%s%s", index, ending);
    else
        fail_status(index, TWIN_ENOMEM, NULL);
    return name;
}

/* INDEX-update-RUN.jsonl; the caller frees it. */
static char *name_file(const struct update_run *run)
{
    char ending[64];
    snprintf(ending, sizeof ending, "-update-%016" PRIx64 ".jsonl", run->number);
    return name_beside(run->index, ending);
}

/* ---- the last run: INDEX-updated has its number, and that of the state in which it left the index. A run holds the
 * file as long as it lasts: what another would add in the meantime would not be compared with what this one keeps ---- */

static const char LAST[] = "-updated";
enum { LAST_ROOM = 64 };

static bool hold_last(struct update_run *run)
{
    struct stat known;
    char *name = name_beside(run->index, LAST);
    int file = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (name && file < 0)
        fail("%s: cannot be written: %s", name, strerror(errno));
    free(name);
    if (file < 0)
        return false;
    run->last = file;
    if (stat(run->index, &known) == 0)
        fchmod(file, known.st_mode & 0666); /* whoever may write the index; the owner of the file has seen to it */
    return flock(file, LOCK_EX | LOCK_NB) == 0 ||
           refuse("%s: is being updated by another run; try again when that has ended", run->index);
}

static bool describe_last(char out[LAST_ROOM], const struct update_run *run)
{
    uint64_t state = 0;
    if (!fingerprint_add_file(&state, run->index))
        return refuse("%s: cannot be read: %s", run->index, strerror(errno));
    snprintf(out, LAST_ROOM, "%016" PRIx64 " %016" PRIx64 "\n", run->number, state);
    return true;
}

/* What is written in part is no number of a run, and then the file of the update is still there. */
static bool note_last(const struct update_run *run)
{
    char text[LAST_ROOM];
    if (!describe_last(text, run))
        return false;
    size_t length = strlen(text);
    return pwrite(run->last, text, length, 0) == (ssize_t)length ||
           refuse("%s%s: cannot be written: %s", run->index, LAST, strerror(errno));
}

static bool outputs_exist(const struct update_run *run)
{
    if (!run->output || !names_folder(run->output))
        return run->output && !is_missing(run->output);
    char **names = names_in_folder(run->output, run->input);
    bool exist = names != NULL;
    for (uint32_t i = 0; exist && i < twin_input_sources(run->input); i++)
        exist = is_folder(twin_input_name(run->input, i)) || !is_missing(names[i]);
    free_names(names, run->input);
    return exist;
}

/* Whether nothing has changed since this very run was done. It would find all of its documents in the index, and
 * replace its outputs by empty ones. */
static bool was_last(const struct update_run *run)
{
    char text[LAST_ROOM], noted[LAST_ROOM] = "";
    return pread(run->last, noted, sizeof noted - 1, 0) > 0 && describe_last(text, run) && strcmp(noted, text) == 0 &&
           outputs_exist(run);
}

/* ---- completing ---- */

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

static bool is_wanting(const char *output)
{
    return output && !is_standard(output) && is_missing(output);
}

/* Whether a run that is done has written all that is wanted of it now. Groups appear before a run is done, so that they
 * are missing only if it had none, or they were removed; the report comes last, and a run may have been killed before. */
static bool has_written_all(const struct update_run *run)
{
    if (is_wanting(run->groups))
        return refuse(
            "%s: cannot be written, because this run was done before, and its documents are in %s now; leave "
            "--groups out",
            run->groups, run->index);
    if (is_wanting(run->report) && !run->quiet)
        warn("%s: is not written, because this run was done before", run->report);
    return true;
}

bool update_recover(bool *is_done, struct update_run *run)
{
    glob_t found = { 0 };
    *is_done = false;
    number_run(run);
    char *own = name_file(run), *pattern = make_pattern(run->index);
    bool good = own && pattern && hold_last(run);
    int status = good ? glob(pattern, 0, NULL, &found) : GLOB_NOMATCH;
    for (size_t i = 0; status == 0 && i < found.gl_pathc && good; i++) {
        bool is_own = strcmp(found.gl_pathv[i], own) == 0;
        *is_done |= is_own;
        good =
            add_file(run, found.gl_pathv[i], NULL) && (!is_own || note_last(run)) && remove_file(found.gl_pathv[i]);
    }
    globfree(&found);
    free(pattern);
    free(own);
    const char *what =
        *is_done ? "was interrupted when its outputs were complete; the rest has been added to the index now"
                 : "was done before, and the index is as it left it; its outputs remain as they are";
    *is_done = good && (*is_done || was_last(run));
    if (*is_done && !has_written_all(run))
        return false;
    if (*is_done && !run->quiet)
        warn("%s: this run %s", run->index, what);
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
    bool good = name && output_file_finish(file) && add_file(run, name, &change) &&
                (!run->is_repeatable || note_last(run)) && remove_file(name);
    if (good)
        remark_replaced(run, &change);
    free(name);
    return good;
}

void update_end(struct update_run *run)
{
    if (run->last)
        close(run->last);
    run->last = 0;
}

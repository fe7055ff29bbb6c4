/* dedup_resume.c — the finished stages of a dedup in files.
 *
 * Each stage first looks for its file. If there is one that can be read, the stage is skipped; a file that cannot be
 * read is remarked on, and the stage is done as if there were none. The folder is locked while a run uses it, so that
 * whatever else is in it was left by a run that was killed while it wrote a file. */
#include "dedup.h"

#include "fingerprint.h"
#include "steps.h"
#include "support/inputs.h"
#include "support/messages.h"
#include "support/output_file.h"
#include "support/progress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const SIGNATURES = "signatures", *const CANDIDATES = "candidates", *const PAIRS = "pairs";

/* ---- the folder ---- */

static bool describe(twin_buffer *out, const struct shared_options *shared, const twin_scheme *scheme,
                     const twin_dedup_options *rule)
{
    const struct request_base *base = &shared->base;
    char line[64];
    snprintf(line, sizeof line, "\nkeep %d chain %d field ", (int)rule->preference, rule->chain);
    bool good =
        steps_note(out, shared) && twin_scheme_write(out, scheme) == TWIN_OK &&
        twin_buffer_append(out, line, strlen(line)) == TWIN_OK &&
        twin_buffer_append(out, rule->field ? rule->field : "", rule->field ? strlen(rule->field) : 0) == TWIN_OK;
    uint64_t inputs = 0;
    for (size_t i = 0; i < base->count; i++)
        if (!fingerprint_add_file(&inputs, base->arguments[i]))
            return refuse("%s: cannot be read: %s", base->arguments[i], strerror(errno));
    return good && twin_buffer_append(out, (const char *)&inputs, sizeof inputs) == TWIN_OK;
}

/* The name can be guessed, and the temporary folder is often open to all: what somebody else has put there, or could
 * change, is not to be trusted. */
static bool is_ours(int folder)
{
    struct stat known;
    return fstat(folder, &known) == 0 && known.st_uid == geteuid() && (known.st_mode & 0077) == 0;
}

/* Whether a file is that of a stage, or an unfinished one, which has a suffix. */
static bool is_of_stage(const char *name, bool finished)
{
    const char *const stages[] = { SIGNATURES, CANDIDATES, PAIRS };
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        size_t length = strlen(stages[i]);
        if (strncmp(name, stages[i], length) == 0 && (name[length] == '.' || (finished && name[length] == '\0')))
            return true;
    }
    return false;
}

/* Removes what runs that were killed have left unfinished, and with `finished` the files of stages too. */
static void remove_files(const struct resume *resume, bool finished)
{
    DIR *folder = opendir(resume->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_of_stage(entry->d_name, finished))
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

static bool make_folder(struct resume *resume)
{
    if (mkdir(resume->folder, 0700) == 0 || errno == EEXIST)
        resume->lock = open(resume->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (resume->lock < 0)
        fail("%s: cannot be created: %s", resume->folder, strerror(errno));
    else if (!is_ours(resume->lock))
        fail("%s: belongs to or can be read by others; remove it, or give another --temp", resume->folder);
    else if (flock(resume->lock, LOCK_EX | LOCK_NB) != 0)
        fail("%s: is in use by another run", resume->folder);
    else
        return true;
    if (resume->lock >= 0)
        close(resume->lock);
    resume->lock = -1; /* not ours */
    return false;
}

bool resume_begin(struct resume *out, const struct shared_options *shared, const twin_scheme *scheme,
                  const twin_dedup_options *rule)
{
    *out = (struct resume){ .lock = -1 };
    twin_buffer text = { 0 };
    const char *temp = temp_folder(shared) ? temp_folder(shared) : "/tmp";
    bool good = describe(&text, shared, scheme, rule) && steps_note(&out->note, shared);
    twin_digest digest = twin_hash_digest((twin_hash){ .family = TWIN_HASH_XXH3 }, text.bytes, text.length);
    if (good &&
        asprintf(&out->folder, "%s/twinsift-dedup-%016" PRIx64 "%016" PRIx64, temp, digest.high, digest.low) < 0)
        out->folder = NULL;
    twin_buffer_clear(&text);
    if (!good || !out->folder || !make_folder(out))
        return false;
    remove_files(out, false);
    return true;
}

void resume_end(struct resume *resume)
{
    remove_files(resume, true);
}

void resume_clear(struct resume *resume)
{
    if (resume->folder && resume->lock >= 0) {
        rmdir(resume->folder); /* unless there is a stage to continue from */
        close(resume->lock);
    }
    free(resume->folder);
    twin_buffer_clear(&resume->note);
    *resume = (struct resume){ 0 };
}

/* The path of a stage's file; the caller frees it. NULL: the error has been reported. */
static char *path_of(const struct resume *resume, const char *stage)
{
    char *path;
    if (asprintf(&path, "%s/%s", resume->folder, stage) >= 0)
        return path;
    fail_status("the stages", TWIN_ENOMEM, NULL);
    return NULL;
}

/* The file of a finished stage; NULL: it is not finished. */
static FILE *open_stage(const struct resume *resume, const char *stage)
{
    char *path = path_of(resume, stage);
    FILE *file = path ? fopen(path, "rbe") : NULL;
    free(path);
    return file;
}

/* A file that does not fit is of no use: the stage is done again. */
static void warn_unusable(const struct resume *resume, const char *stage, const twin_error *error)
{
    warn("%s/%s: %s; the stage is done again", resume->folder, stage, error->message);
}

/* ---- signatures ---- */

bool resume_collection(twin_collection **out, bool *found, const struct resume *resume, const twin_input *input,
                       twin_collection_options options)
{
    twin_error error = { 0 };
    FILE *file = open_stage(resume, SIGNATURES);
    *found = false;
    if (!file)
        return true;
    twin_status status = twin_collection_load(
        out, input, (twin_saved_files){ (twin_source[]){ file_source(file) }, 1, NULL }, options, &error);
    fclose(file);
    *found = status == TWIN_OK;
    if (status == TWIN_EFORMAT || status == TWIN_EINVAL)
        warn_unusable(resume, SIGNATURES, &error);
    else if (status != TWIN_OK)
        fail_status("the signatures", status, &error);
    return *found || status == TWIN_EFORMAT || status == TWIN_EINVAL;
}

bool resume_keep(const struct resume *resume, const twin_collection *collection)
{
    char *path = path_of(resume, SIGNATURES);
    bool good = path && steps_write_signatures(path, NULL, collection, &resume->note);
    free(path);
    return good;
}

/* ---- candidates and pairs ---- */

static bool write_candidates(const struct resume *resume, const twin_collection *collection,
                             const twin_dedup_options *options)
{
    char *path = path_of(resume, CANDIDATES);
    bool good = path && steps_write_candidates(path, collection, options->search, (twin_part){ 0 });
    free(path);
    return good;
}

/* Writes the pairs of the candidates, if there are any that fit. */
static bool write_pairs(bool *found, const struct resume *resume, const twin_collection *collection,
                        const twin_dedup_options *options)
{
    twin_error error = { 0 };
    size_t failed;
    FILE *file = open_stage(resume, CANDIDATES);
    *found = false;
    if (!file)
        return true;
    struct step_pairs pairs = { .collection = collection,
                                .candidates = { (twin_source[]){ file_source(file) }, 1, &failed },
                                .rule = options };
    char *path = path_of(resume, PAIRS);
    bool good = path && steps_write_pairs(path, &pairs, &error);
    *found = !path || failed == SIZE_MAX;
    if (!*found)
        warn_unusable(resume, CANDIDATES, &error);
    free(path);
    fclose(file);
    return good || !*found;
}

static bool find_pairs(const struct resume *resume, const twin_collection *collection,
                       const twin_dedup_options *options)
{
    bool found, good = write_pairs(&found, resume, collection, options);
    if (good && !found)
        good = write_candidates(resume, collection, options) && write_pairs(&found, resume, collection, options);
    return good && found;
}

/* Decides by the pairs, if there are any that fit. */
static bool decide(twin_dedup **out, bool *found, const struct resume *resume, const twin_collection *collection,
                   const twin_dedup_options *options)
{
    twin_error error = { 0 };
    size_t failed = 0;
    FILE *file = open_stage(resume, PAIRS);
    *found = false;
    if (!file)
        return true;
    twin_saved_files saved = { (twin_source[]){ file_source(file) }, 1, &failed };
    twin_status status = twin_dedup_decide(out, collection, saved, options, &error);
    fclose(file);
    *found = failed == SIZE_MAX;
    if (!*found)
        warn_unusable(resume, PAIRS, &error);
    else if (status != TWIN_OK)
        fail_status("the decision", status, &error);
    return status == TWIN_OK || !*found;
}

bool resume_find(twin_dedup **out, const struct resume *resume, const twin_collection *collection,
                 const twin_dedup_options *options)
{
    bool found, good = decide(out, &found, resume, collection, options);
    if (good && !found)
        good = find_pairs(resume, collection, options) && decide(out, &found, resume, collection, options);
    return good && found;
}

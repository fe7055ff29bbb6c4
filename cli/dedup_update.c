/* dedup_update.c — adding to an index what was kept, so that an interrupted run can be repeated.
 *
 * dedup.h says in which order files go to the disk. A run is recognised by a number, made from the inputs and the
 * name of the output, that is part of the name of its journal. */
#include "dedup.h"

#include "fingerprint.h"
#include "index_file.h"
#include "support/messages.h"
#include "support/overwrite.h"
#include "support/paths.h"
#include "support/usage.h"

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

/* Other files of a folder. */
static void add_globs(uint64_t *number, const char *option, const struct option_texts *globs)
{
    for (size_t i = 0; i < globs->count; i++) {
        fingerprint_add(number, option, strlen(option));
        fingerprint_add(number, globs->items[i], strlen(globs->items[i]));
    }
}

/* Names are seen from the working folder, and so is the folder of the index: a run is known wherever its disk is mounted. */
static void add_place(uint64_t *number, const char *index)
{
    char *here = getcwd(NULL, 0), *folder = canonical_folder(index);
    char *place = here && folder ? path_from(folder, here) : NULL;
    if (place)
        fingerprint_add(number, place, strlen(place));
    free(here);
    free(folder);
    free(place);
}

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
    add_globs(&number, "include", &run->shared->include);
    add_globs(&number, "exclude", &run->shared->exclude);
    add_place(&number, run->index);
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

/* Whether it is an index: nothing is made next to a file that is none. */
static bool is_index_of_ours(const char *path)
{
    twin_index *index = NULL;
    twin_error error = { 0 };
    twin_status status = twin_index_open(&index, path, TWIN_INDEX_READ, &error);
    twin_index_close(index);
    return status == TWIN_OK || refuse_status(path, status, &error);
}

/* A number for the state that the last transaction left: it changes one of the two pages with which LMDB begins a file,
 * at its very end. (Time and inode would not do: after a power cut the time may be an earlier one.) */
static bool state_of_index(uint64_t *out, const char *path)
{
    struct contents contents;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fingerprint_contents(&contents, fd, 2 * (uint64_t)sysconf(_SC_PAGESIZE));
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (!good)
        return refuse("%s: cannot be read: %s", path, strerror(reason));
    *out = contents.checksum;
    return true;
}

/* A document that was kept and has an id that another has takes its place. */
static void remark_replaced(const struct update_run *run, const twin_index_change *change)
{
    if (change->replaced && !run->shared->quiet)
        warn("%s: %" PRIu64 " document%s replaced one of the same id; if ids are unique in each file only, use "
             "--id-from path-and-line",
             run->index, change->replaced, plural(change->replaced));
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
static char *name_journal(const struct update_run *run)
{
    char ending[64];
    snprintf(ending, sizeof ending, "-update-%016" PRIx64 ".jsonl", run->number);
    return name_beside(run->index, ending);
}

/* A journal that came back after a power cut would do no harm, as long as its outputs are there. */
static bool remove_journal(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return refuse("%s: cannot be removed: %s", path, strerror(errno));
    return output_folder_sync(path);
}

/* ---- INDEX-updated: the last run that came to its end and the last that began to change the index, each with the state
 * of the index then; and in a second line, if there are any, those that came to their end before, the latest first. Each
 * line ends with a checksum of what is before it:
 *
 *     twinsift-updated 1 DONE STATE BEGAN STATE CHECKSUM
 *     earlier DONE... CHECKSUM
 *
 * Numbers have 16 hexadecimal digits. A run holds the file as long as it lasts: what another would add in the meantime
 * would not be compared with what this one keeps. Its name is on the disk when that of the journal is ---- */

static const char LAST[] = "-updated";
enum { LAST_ROOM = 4096, MOST_EARLIER = 200 };

struct note {
    uint64_t done, done_state, began, began_state;
    uint64_t earlier[MOST_EARLIER];
    size_t earlier_count;
};

/* Ends a line; returns where the next begins. */
static char *end_note_line(char *line, char *end)
{
    uint64_t checksum = 0;
    fingerprint_add(&checksum, line, (size_t)(end - line));
    return end + sprintf(end, " %016" PRIx64 "\n", checksum);
}

/* Returns the length of the first line. */
static size_t write_note_text(char out[LAST_ROOM], const struct note *note)
{
    char *end = out + sprintf(out, "twinsift-updated 1 %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64,
                              note->done, note->done_state, note->began, note->began_state);
    char *line = end_note_line(out, end);
    end = stpcpy(line, note->earlier_count ? "earlier" : "");
    for (size_t i = 0; i < note->earlier_count; i++)
        end += sprintf(end, " %016" PRIx64, note->earlier[i]);
    if (note->earlier_count)
        end_note_line(line, end);
    return (size_t)(line - out);
}

/* The numbers of the second line but the last, its checksum. */
static void read_earlier(struct note *note, const char *text)
{
    static const char begin[] = "\nearlier";
    const char *at = strstr(text, begin);
    uint64_t number;
    int length = 0;
    for (at = at ? at + strlen(begin) : ""; sscanf(at, " %16" SCNx64 "%n", &number, &length) == 1; at += length)
        if (at[length] == ' ' && note->earlier_count < MOST_EARLIER)
            note->earlier[note->earlier_count++] = number;
}

/* The note in the file; zeros if there is none. What was written in part says nothing, and then the journal is still
 * there. */
static struct note read_note(int file)
{
    char text[LAST_ROOM] = "", again[LAST_ROOM];
    struct note note = { 0 };
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (length <= 0 || sscanf(text, "twinsift-updated 1 %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &note.done,
                              &note.done_state, &note.began, &note.began_state) != 4)
        return (struct note){ 0 };
    read_earlier(&note, text);
    size_t first = write_note_text(again, &note);
    if (strncmp(text, again, first) != 0)
        return (struct note){ 0 };
    if (strcmp(text, again) != 0)
        note.earlier_count = 0;
    return note;
}

static bool write_note(const struct update_run *run, const struct note *note)
{
    char text[LAST_ROOM];
    struct stat known;
    write_note_text(text, note);
    size_t length = strlen(text);
    /* Giving a file the length that it has would put that on the disk before the bytes. */
    bool good = pwrite(run->last, text, length, 0) == (ssize_t)length && fstat(run->last, &known) == 0 &&
                (known.st_size == (off_t)length || ftruncate(run->last, (off_t)length) == 0) && fsync(run->last) == 0;
    return good || refuse("%s%s: cannot be written: %s", run->index, LAST, strerror(errno));
}

static bool has_done(const struct note *note, uint64_t number)
{
    bool found = note->done == number;
    for (size_t i = 0; i < note->earlier_count && !found; i++)
        found = note->earlier[i] == number;
    return found;
}

/* The last one joins those before it; of these the oldest is forgotten if there are too many. */
static void set_done(struct note *note, uint64_t number)
{
    if (note->done && note->done != number) {
        size_t kept = note->earlier_count < MOST_EARLIER ? note->earlier_count : MOST_EARLIER - 1;
        memmove(note->earlier + 1, note->earlier, kept * sizeof *note->earlier);
        note->earlier[0] = note->done;
        note->earlier_count = kept + 1;
    }
    note->done = number;
}

/* Whoever begins again has not come to the end. */
static void forget_done(struct note *note, uint64_t number)
{
    size_t kept = 0;
    for (size_t i = 0; i < note->earlier_count; i++)
        if (note->earlier[i] != number)
            note->earlier[kept++] = note->earlier[i];
    note->earlier_count = kept;
    if (note->done == number)
        note->done = 0;
}

static bool note_began(const struct update_run *run)
{
    struct note note = read_note(run->last);
    note.began = run->number;
    forget_done(&note, run->number);
    return state_of_index(&note.began_state, run->index) && write_note(run, &note);
}

static bool note_done(const struct update_run *run, uint64_t number)
{
    struct note note = read_note(run->last);
    set_done(&note, number);
    return state_of_index(&note.done_state, run->index) && write_note(run, &note);
}

/* After a power cut a file may have its length and not its bytes. */
static bool is_blank(const char *text, ssize_t length)
{
    ssize_t zeros = 0;
    while (zeros < length && text[zeros] == '\0')
        zeros++;
    return zeros == length;
}

/* Whether the file may be written: it is empty, or a note, if not a whole one; earlier builds wrote two numbers. */
static bool is_note(int file)
{
    static const char mark[] = "twinsift-updated ";
    char text[LAST_ROOM] = "";
    struct stat known;
    uint64_t numbers[2];
    int end = 0;
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (fstat(file, &known) != 0 || !S_ISREG(known.st_mode) || length < 0 || known.st_size != length)
        return false;
    bool is_earlier = sscanf(text, "%16" SCNx64 " %16" SCNx64 "\n%n", &numbers[0], &numbers[1], &end) == 2 &&
                      length == 34 && end == 34;
    return is_blank(text, length) || is_earlier || strncmp(text, mark, strlen(mark)) == 0;
}

/* Whether the name still leads to the file that was opened: a run that has changed nothing removes it. */
static bool is_named(int file, const char *name)
{
    struct stat held, named;
    return fstat(file, &held) == 0 && lstat(name, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

/* Takes the lock, if need be after a while. */
static bool lock_in_time(int file, double end)
{
    bool held;
    do
        held = flock(file, LOCK_EX | LOCK_NB) == 0;
    while (!held && wait_for_lock(errno == EWOULDBLOCK ? TWIN_EBUSY : TWIN_EIO, end));
    return held;
}

static bool hold_file(int *out, const struct update_run *run, const char *name)
{
    double end = seconds() + run->shared->wait;
    for (;;) {
        int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (file < 0)
            return refuse("%s: cannot be written: %s", name, strerror(errno));
        bool held = lock_in_time(file, end);
        if (held && is_named(file, name) && is_note(file)) {
            *out = file;
            return true;
        }
        bool again = held && !is_named(file, name);
        close(file);
        if (!held)
            return refuse("%s: is being updated by another run; try again when that has ended, or with --wait",
                          run->index);
        if (!again)
            return refuse("%s: was not written by twinsift, and would be overwritten; move it away", name);
    }
}

static bool hold_last(struct update_run *run)
{
    struct stat known;
    char *name = name_beside(run->index, LAST);
    bool good = name && hold_file(&run->last, run, name);
    if (good && stat(run->index, &known) == 0)
        fchmod(run->last,
               known.st_mode & 0666); /* whoever may write the index; the owner of the file has seen to it */
    free(name);
    return good;
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
    uint64_t state;
    struct note note = read_note(run->last);
    return note.done == run->number && state_of_index(&state, run->index) && state == note.done_state &&
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

static bool refuse_wanting(const char *output, const char *option, const struct update_run *run)
{
    return refuse("%s: cannot be written, because this run was done before, and its documents are in %s now; leave "
                  "--%s out",
                  output, run->index, option);
}

/* Whether a run that is done has written all that is wanted of it now. Groups appear before a run is done, so that they
 * are missing only if it had none, or they were removed; the report comes last, and a run may have been killed before. */
static bool has_written_all(const struct update_run *run)
{
    if (is_wanting(run->groups))
        return refuse_wanting(run->groups, "groups", run);
    if (is_wanting(run->dropped))
        return refuse_wanting(run->dropped, "dropped", run);
    if (is_wanting(run->report) && !run->shared->quiet)
        warn("%s: is not written, because this run was done before", run->report);
    return true;
}

static bool add_journal(const struct update_run *run, const struct journal *journal, const char *path)
{
    twin_index_change change = { 0 };
    twin_index_add_options options = { .exec = run->exec, .progress = run->progress };
    if (!journal_add(&change, journal, path, run->index, options, run->shared->wait) ||
        !note_done(run, journal->run) || !remove_journal(path))
        return false;
    remark_replaced(run, &change);
    return true;
}

/* Whether the index is as it was when this run began to change it. */
static bool is_unchanged(const struct update_run *run)
{
    uint64_t state;
    struct note note = read_note(run->last);
    return note.began == run->number && state_of_index(&state, run->index) && state == note.began_state;
}

/* An interrupted run whose journal is whole, and whose outputs are not, is done again by the same command. */
static bool do_again(struct update_run *run, struct journal *journal, const struct journal_output *wrong,
                     const char *fault)
{
    if (wrong->is_groups)
        return refuse(
            "%s; groups cannot be made again, because documents of the run are in %s now; leave --groups out", fault,
            run->index);
    if (!run->shared->quiet)
        warn("%s; the run is done again", fault);
    run->is_again = true;
    run->earlier = *journal;
    *journal = (struct journal){ 0 };
    return true;
}

/* Completes a journal, or finds out what is wrong and what can be done about it. */
static bool recover_journal(bool *is_done, struct update_run *run, const char *path)
{
    struct journal journal;
    char fault[JOURNAL_FAULT_ROOM];
    const struct journal_output *wrong = NULL;
    bool is_own = strcmp(path, run->journal) == 0, is_whole = journal_read(&journal, path, fault), good;
    if (is_whole && journal_outputs_are_whole(&journal, !is_own || run->groups, &wrong, fault)) {
        good = add_journal(run, &journal, path);
        *is_done |= is_own;
    } else if (is_own && is_unchanged(run)) {
        if (!run->shared->quiet)
            warn("%s; nothing of this run is in the index, and it is done again", fault);
        good = remove_journal(path);
    } else if (is_own && is_whole) {
        good = do_again(run, &journal, wrong, fault);
    } else if (is_whole) {
        good = refuse("%s; give the command of that run again, or, if this output is not needed, add %s to the index "
                      "with 'twinsift index add' and remove it",
                      fault, path);
    } else {
        good =
            refuse("%s; which of its documents the index has is not known. If the output of that run is whole, add "
                   "it with 'twinsift index add'; then move this file away",
                   fault);
    }
    journal_clear(&journal);
    return good;
}

static bool recover_all(bool *is_done, struct update_run *run)
{
    glob_t found = { 0 };
    char *pattern = make_pattern(run->index);
    bool good = pattern != NULL;
    int status = good ? glob(pattern, 0, NULL, &found) : GLOB_NOMATCH;
    for (size_t i = 0; status == 0 && i < found.gl_pathc && good; i++)
        good = recover_journal(is_done, run, found.gl_pathv[i]);
    globfree(&found);
    free(pattern);
    return good;
}

/* Whether this run has changed the index, has not come to its end, and its journal is gone. */
static bool has_lost_journal(const struct update_run *run)
{
    struct note note = read_note(run->last);
    return note.began == run->number && !has_done(&note, run->number) && !is_unchanged(run);
}

/* If a run was done before: nothing is left to do for it. */
static bool leave_outputs(bool *is_done, const struct update_run *run, const char *what)
{
    *is_done = true;
    if (!has_written_all(run))
        return false;
    if (!run->shared->quiet)
        warn("%s: this run %s", run->index, what);
    return true;
}

bool update_recover(bool *is_done, struct update_run *run)
{
    *is_done = false;
    number_run(run);
    run->journal = name_journal(run);
    if (!run->journal || !is_index_of_ours(run->index) || !hold_last(run))
        return false;
    if (is_missing(run->journal) && has_lost_journal(run))
        return refuse(
            "%s: this run was interrupted while it changed the index, and this file is gone, so that it is not "
            "known which documents the index has of it; write to another output",
            run->journal);
    if (!recover_all(is_done, run))
        return false;
    if (*is_done)
        return leave_outputs(
            is_done, run, "was interrupted when its outputs were complete; the rest has been added to the index now");
    if (!run->is_again && was_last(run))
        return leave_outputs(is_done, run,
                             "was done before, and the index is as it left it; its outputs remain as they are");
    return true;
}

bool update_check_known(bool *is_done, const struct update_run *run, const struct known *known)
{
    bool is_all = run->last && !run->is_again && known->count > 0;
    for (size_t i = 0; i < known->count && is_all; i++)
        is_all = known->excluded[i];
    if (!is_all || !outputs_exist(run))
        return true;
    struct note note = read_note(run->last);
    return !has_done(&note, run->number) ||
           leave_outputs(
               is_done, run,
               "was done before, and all of its documents are in the index; its outputs remain as they are");
}

/* ---- this run ---- */

/* Forgets the documents whose first copies are marked: what is known of one is known of its copies. */
static void forget_marked(struct known *known, const uint32_t *firsts, const bool *marked)
{
    for (size_t i = 0; i < known->count; i++)
        if (marked[firsts[i]]) {
            known->matches[i].file = NULL;
            known->excluded[i] = false;
        }
}

bool update_forget(const struct update_run *run, struct known *known, const twin_collection *collection)
{
    if (!run->is_again)
        return true;
    if (known->count != run->earlier.read)
        return refuse("%s: is of a run that read %" PRIu64
                      " documents, and these are %zu; give the same options again",
                      run->journal, run->earlier.read, known->count);
    const uint32_t *firsts = twin_collection_firsts(collection);
    uint32_t *numbers = journal_numbers(&run->earlier, run->journal);
    bool *marked = numbers ? calloc(known->count + 1, sizeof *marked) : NULL;
    for (uint64_t i = 0; marked && i < run->earlier.documents; i++)
        if (numbers[i] < known->count)
            marked[firsts[numbers[i]]] = true;
    if (marked)
        forget_marked(known, firsts, marked);
    else if (numbers)
        fail_status("the input", TWIN_ENOMEM, NULL);
    bool good = marked != NULL;
    free(marked);
    free(numbers);
    return good;
}

bool update_stage(struct output_file *journal, const struct update_run *run, const struct dedup_result *result,
                  const struct dedup_outputs *outputs)
{
    *journal = (struct output_file){ 0 };
    if (!run->is_again)
        return journal_write(journal, run->journal, run->number, result, outputs);
    return journal_has(&run->earlier, outputs) ||
           refuse("%s: the outputs that it names cannot be made again as they were; give the same options again",
                  run->journal);
}

bool update_finish(struct output_file *journal, const struct update_run *run)
{
    struct journal own = { 0 };
    char fault[JOURNAL_FAULT_ROOM];
    bool good = run->is_again || output_file_finish(journal);
    if (good && !journal_read(&own, run->journal, fault))
        good = refuse("%s", fault);
    good = good && (run->is_again || note_began(run)) && add_journal(run, &own, run->journal);
    journal_clear(&own);
    return good;
}

/* A run that was refused leaves nothing behind. */
void update_end(struct update_run *run)
{
    struct stat known;
    if (run->last && fstat(run->last, &known) == 0 && known.st_size == 0) {
        char *name = name_beside(run->index, LAST);
        if (name)
            unlink(name);
        free(name);
    }
    if (run->last)
        close(run->last);
    free(run->journal);
    journal_clear(&run->earlier);
    *run = (struct update_run){ 0 };
}

/* inputs.c — inputs of documents, and what cannot be read of them. */
#include "inputs.h"

#include "memory.h"
#include "messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *temp_folder(const struct shared_options *shared)
{
    if (shared->input.temp_folder)
        return shared->input.temp_folder;
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : NULL;
}

/* Appends "3 symbolic links" to a list in a sentence. */
static void list_skipped(char *list, size_t room, uint64_t count, const char *one, const char *many)
{
    size_t length = strlen(list);
    if (count)
        snprintf(list + length, room - length, "%s%" PRIu64 " %s", length ? ", " : "", count,
                 count == 1 ? one : many);
}

static void remark_folders(const twin_input *input)
{
    for (uint32_t i = 0; i < twin_input_sources(input); i++) {
        twin_folder_info info = twin_input_folder_info(input, i);
        char skipped[256] = "";
        list_skipped(skipped, sizeof skipped, info.links, "symbolic link", "symbolic links");
        list_skipped(skipped, sizeof skipped, info.special, "special file", "special files");
        list_skipped(skipped, sizeof skipped, info.hidden, "hidden file or folder", "hidden files or folders");
        if (*skipped)
            warn("%s: skipped in the folder: %s%s", twin_input_name(input, i), skipped,
                 info.hidden ? " (--hidden reads these)" : "");
        if (info.shards && info.documents)
            warn("%s: %" PRIu64 " file%s read line by line, and %" PRIu64
                 " as a document each, whose id is the path; "
                 "--as files or --as jsonl reads all alike",
                 twin_input_name(input, i), info.shards, info.shards == 1 ? " is" : "s are", info.documents);
    }
}

twin_input *open_named_inputs(const struct shared_options *shared, const char *const *names, size_t count,
                              twin_progress progress)
{
    twin_input_options options = shared->input;
    twin_input *input = NULL;
    twin_error error = { 0 };
    if (count == 0) {
        fail("no input; give a file, a folder, or - for standard input");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!*names[i]) {
            fail("the name of an input is empty; give a file, a folder, or - for standard input");
            return NULL;
        }
    if (options.weights && options.format != TWIN_INPUT_SETS) {
        fail("--weights is for --sets, whose third column they are");
        return NULL;
    }
    options.temp_folder = temp_folder(shared);
    options.include = shared->include.items;
    options.exclude = shared->exclude.items;
    options.pre = shared->pre.items;
    options.pre_globs = shared->pre_globs.items;
    if (shared->pre_globs.count && !shared->pre.count) {
        fail("--pre-glob chooses the files that --pre is for, which is missing");
        return NULL;
    }
    options.max_bytes = shared->max_document_bytes ? (uint32_t)shared->max_document_bytes : MAX_DOCUMENT_BYTES;
    options.chunk_bytes = chunk_memory(shared);
    options.progress = progress;
    twin_status status = twin_input_open(&input, names, count, options, &error);
    if (status != TWIN_OK)
        fail_status("the input", status, &error);
    else if (!shared->quiet)
        remark_folders(input);
    return input;
}

twin_input *open_inputs(const struct shared_options *shared, size_t first, twin_progress progress)
{
    const struct request_base *base = &shared->base;
    size_t count = base->count > first ? base->count - first : 0;
    return open_named_inputs(shared, base->arguments + first, count, progress);
}

enum { MOST_REPORTED = 20, MOST_ILL_FORMED = 5 };

static void report(const twin_input *input, const twin_problem *problem, const char *what, const char *becomes)
{
    twin_buffer position = { 0 };
    const char *advice = problem->kind == TWIN_PROBLEM_TOO_LONG ? " (--max-document-bytes)" : "";
    if (twin_input_describe(&position, input, problem->position, problem->column) == TWIN_OK)
        warn("%s: %s%s%s%s", position.bytes, problem->message, advice, what, becomes);
    twin_buffer_clear(&position);
}

static bool is_of_file(const twin_problem *problem)
{
    return problem->kind == TWIN_PROBLEM_UNREADABLE || problem->kind == TWIN_PROBLEM_FOREIGN;
}

static void report_skipped(const twin_input *input, const twin_problem *problem)
{
    bool is_file = is_of_file(problem);
    bool is_row = twin_input_format_of(input) == TWIN_INPUT_SETS;
    report(input, problem, is_file ? "; the file" : is_row ? "; the row" : "; the document", " is skipped");
}

void problems_add(struct problems *problems, const twin_problem *problem)
{
    if (problem->kind != TWIN_PROBLEM_ILL_FORMED) {
        problems->files += is_of_file(problem);
        if (problems->count++ < MOST_REPORTED)
            report_skipped(problems->input, problem);
    } else if (problems->ill_formed++ < MOST_ILL_FORMED && !problems->quiet) {
        report(problems->input, problem, "", ", replaced by U+FFFD");
    }
}

void problems_end(uint64_t all)
{
    if (all > MOST_REPORTED)
        warn("%" PRIu64 " more were skipped", all - MOST_REPORTED);
}

void ill_formed_end(const struct problems *problems, uint64_t all)
{
    if (all > MOST_ILL_FORMED && !problems->quiet)
        warn("%" PRIu64 " more document%s ill-formed UTF-8", all - MOST_ILL_FORMED,
             all - MOST_ILL_FORMED == 1 ? " has" : "s have");
}

int skipped_status(const struct shared_options *shared, uint64_t skipped, int status)
{
    return shared->fail_on_skipped && skipped && status != EXIT_ERROR ? EXIT_SKIPPED : status;
}

void remark_empty(const struct problems *problems, uint64_t documents)
{
    bool is_mail = twin_input_format_of(problems->input) == TWIN_INPUT_MAIL;
    if (documents == 0 && problems->count == 0 && !problems->quiet)
        warn("there are no %s in the input", is_mail ? "messages" : "documents");
}

int fail_unreadable(const struct problems *problems)
{
    if (twin_input_format_of(problems->input) == TWIN_INPUT_SETS)
        return fail("no line could be read");
    if (problems->files == problems->count)
        return fail("no file could be read");
    return fail("no document could be read; --as says what the input is, if it is not JSON lines: lines, "
                "csv, tsv or files");
}

/* inputs.c — inputs of documents, and what cannot be read of them. */
#include "inputs.h"

#include "messages.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *temp_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : NULL;
}

static void remark_folders(const twin_input *input)
{
    for (uint32_t i = 0; i < twin_input_sources(input); i++) {
        const char *name = twin_input_name(input, i);
        twin_folder_info info = twin_input_folder_info(input, i);
        if (info.json_lines)
            warn("%s: each file in a folder is one document, also %s; give files of JSON lines themselves to read "
                 "their lines",
                 name, info.first_json_lines);
        if (info.links)
            warn("%s: %" PRIu64 " symbolic link%s in the folder %s skipped", name, info.links, plural(info.links),
                 info.links == 1 ? "is" : "are");
        if (info.special)
            warn("%s: %" PRIu64 " special file%s (socket, pipe or device) in the folder %s skipped", name,
                 info.special, plural(info.special), info.special == 1 ? "is" : "are");
    }
}

twin_input *open_inputs(const struct shared_options *shared, size_t first, twin_progress progress)
{
    const struct request_base *base = &shared->base;
    twin_input_options options = shared->input;
    twin_input *input = NULL;
    twin_error error = { 0 };
    if (base->count <= first) {
        fail("no input; give a folder, a .jsonl file, or - for standard input");
        return NULL;
    }
    for (size_t i = first; i < base->count; i++)
        if (!*base->arguments[i]) {
            fail("the name of an input is empty; give a folder, a .jsonl file, or - for standard input");
            return NULL;
        }
    options.temp_folder = temp_folder();
    options.progress = progress;
    twin_status status = twin_input_open(&input, base->arguments + first, base->count - first, options, &error);
    if (status != TWIN_OK)
        fail_status("the input", status, &error);
    else if (!shared->quiet)
        remark_folders(input);
    return input;
}

enum { MOST_REPORTED = 20 };

static void report(const twin_input *input, const twin_problem *problem)
{
    twin_buffer position = { 0 };
    const char *what = twin_input_format_of(input) == TWIN_INPUT_SETS ? "row" : "document";
    if (twin_input_describe(&position, input, problem->position, problem->column) == TWIN_OK)
        warn("%s: %s; the %s is skipped", position.bytes, problem->message, what);
    twin_buffer_clear(&position);
}

void problems_add(struct problems *problems, const twin_problem *problem)
{
    if (problems->count++ < MOST_REPORTED)
        report(problems->input, problem);
}

void problems_end(uint64_t all)
{
    if (all > MOST_REPORTED)
        warn("%" PRIu64 " more were skipped", all - MOST_REPORTED);
}

int fail_unreadable(const twin_input *input)
{
    return fail("no %s could be read", twin_input_format_of(input) == TWIN_INPUT_SETS ? "row" : "document");
}

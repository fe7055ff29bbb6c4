/* read_documents.c — from an input to a collection, with everything that must be said about it. */
#include "read_documents.h"

#include "support/inputs.h"
#include "support/messages.h"
#include "support/progress.h"

#include <inttypes.h>
#include <string.h>

/* Returns what was reported. */
static struct problems report_problems(const twin_input *input, const twin_collection *collection, bool quiet)
{
    const twin_problem *first;
    size_t count = twin_collection_problems(&first, collection);
    twin_collection_counts counts = twin_collection_count(collection);
    struct problems problems = { .input = input, .quiet = quiet };
    for (size_t i = 0; i < count; i++)
        problems_add(&problems, &first[i]);
    problems_end(counts.problems);
    count = twin_collection_ill_formed(&first, collection);
    for (size_t i = 0; i < count; i++)
        problems_add(&problems, &first[i]);
    ill_formed_end(&problems, counts.ill_formed);
    return problems;
}

void remark_no_documents(twin_collection_counts counts)
{
    if (counts.documents == 0)
        warn("there are no documents in the input, so there is nothing to compare");
}

/* Reports what is no error, but may not be what was meant. */
static void report_remarks(const twin_input *input, twin_collection_counts counts)
{
    if (counts.repeated_ids && twin_input_sources(input) > 1)
        warn("%" PRIu64 " document%s an id that another document has; if ids are unique in each file only, use "
             "--id-from path-and-line",
             counts.repeated_ids, counts.repeated_ids == 1 ? " has" : "s have");
    remark_no_documents(counts);
    if (counts.documents && counts.too_short > counts.documents / 2)
        warn("%" PRIu64 " of %" PRIu64 " document%s %s shorter than one shingle, and so similar only to equal ones",
             counts.too_short, counts.documents, plural(counts.documents), counts.too_short == 1 ? "is" : "are");
    if (counts.unspaced)
        warn("%" PRIu64 " of %" PRIu64 " document%s in a script without blanks between words, such as Chinese, "
             "Japanese or Thai: use --shingle auto, which compares characters",
             counts.unspaced, counts.documents, counts.documents == 1 ? " is" : "s are");
}

static bool see_lines(void *context, const twin_document *document)
{
    twin_text text = document->text;
    const char *first = document->position.line || !text.length ? NULL : memchr(text.bytes, '\n', text.length);
    *(bool *)context = first && first + 1 < text.bytes + text.length;
    return false;
}

static bool ignore_problem(void *context, const twin_problem *problem)
{
    (void)context;
    (void)problem;
    return true;
}

bool is_file_of_lines(const twin_input *input)
{
    bool lines = false;
    if (twin_input_sources(input) != 1 || twin_input_chunks(input) != 1 ||
        twin_input_format_of(input) == TWIN_INPUT_SETS || twin_input_folder_info(input, 0).documents)
        return false;
    twin_scratch *scratch = NULL;
    (void)twin_input_read(NULL, input, &scratch, 0, (twin_visitor){ see_lines, ignore_problem, &lines }, NULL);
    twin_scratch_free(scratch);
    return lines;
}

void remark_lines(const twin_input *input)
{
    if (is_file_of_lines(input))
        warn("%s is one document; if each of its lines is a document, use --as lines", twin_input_name(input, 0));
}

void remark_one_document(const twin_input *input, const twin_collection *collection)
{
    if (twin_collection_count(collection).documents != 1)
        return;
    if (is_file_of_lines(input))
        warn("%s is one document, so there is nothing to compare it with; if each of its lines is a document, use "
             "--as lines",
             twin_input_name(input, 0));
    else
        warn("there is one document in the input, so there is nothing to compare it with");
}

void remark_incomplete(uint64_t documents)
{
    if (documents)
        warn("%" PRIu64 " document%s so much in common with so many others that not all were compared; pairs may be "
             "missing, and --audit measures how many",
             documents, documents == 1 ? " has" : "s have");
}

twin_collection *read_documents(const twin_input *input, twin_collection_options options, bool quiet)
{
    twin_collection *collection;
    twin_error error = { 0 };
    twin_status status = twin_collection_read(&collection, input, options, &error);
    progress_clear();
    if (status != TWIN_OK) {
        fail_status("the input", status, &error);
        return NULL;
    }
    struct problems problems = report_problems(input, collection, quiet);
    twin_collection_counts counts = twin_collection_count(collection);
    if (counts.documents == 0 && counts.problems) {
        fail_unreadable(&problems);
        twin_collection_free(collection);
        return NULL;
    }
    if (!quiet)
        report_remarks(input, counts);
    return collection;
}

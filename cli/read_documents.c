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

/* Whether the only document is a file of several lines. */
static bool is_one_file(const twin_input *input, const twin_collection *collection)
{
    if (twin_collection_count(collection).documents != 1 || twin_input_sources(input) != 1 ||
        twin_input_format_of(input) == TWIN_INPUT_SETS || twin_input_folder_info(input, 0).documents ||
        twin_collection_position(collection, 0).line)
        return false;
    twin_scratch *scratch = NULL;
    twin_document document;
    bool lines = false;
    if (twin_collection_document(&document, collection, &scratch, 0, NULL) == TWIN_OK && document.text.length) {
        const char *first = memchr(document.text.bytes, '\n', document.text.length);
        lines = first && first + 1 < document.text.bytes + document.text.length;
    }
    twin_scratch_free(scratch);
    return lines;
}

void remark_one_document(const twin_input *input, const twin_collection *collection)
{
    if (is_one_file(input, collection))
        warn("%s is one document, so there is nothing to compare it with; if each of its lines is a document, use "
             "--as lines",
             twin_input_name(input, 0));
    else if (twin_collection_count(collection).documents == 1)
        warn("there is one document in the input, so there is nothing to compare it with");
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

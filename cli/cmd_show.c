/* cmd_show.c — twinsift show: two documents with what they have in common and where they differ.
 *
 * The documents are two files, or two ids of a collection or of an index that keeps texts. Their similarity is that of
 * their shingles, as pairs computes it; their differences are of words (twin_diff). */
#include "commands.h"
#include "read_documents.h"
#include "show.h"
#include "support/escape.h"
#include "support/inputs.h"
#include "support/paths.h"
#include "support/progress.h"
#include "support/record.h"
#include "support/results.h"
#include "support/search_options.h"
#include "support/terminal.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct shared_options shared;
    bool side_by_side, method, permutations;
    size_t context; /* SIZE_MAX: all */
    size_t width;   /* 0: not given */
};

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "side-by-side", 'y', OPTIONS_OUTPUT, NULL, "print the documents in two columns", &option_flag,
      AT(side_by_side) },
    { "context", 0, OPTIONS_OUTPUT, "N", "print only N equal words before and after each difference", &option_size,
      AT(context), .most = UINT32_MAX },
    { "method", 0, OPTIONS_OUTPUT, NULL,
      "print how the method sees the documents instead: their shingles, signatures and bands, and which agree",
      &option_flag, AT(method) },
    { "permutations", 0, OPTIONS_OUTPUT, NULL,
      "print a worked example of signatures by permutations, of four documents with seven shingles", &option_flag,
      AT(permutations) },
    { "width", 0, OPTIONS_OUTPUT, "N",
      "wrap lines at N columns (default: the width of the terminal; lines are not wrapped if there is none)",
      &option_size, AT(width), .least = 20, .most = 10000 },
    { 0 },
};

/* ---- the documents */

struct shown {
    twin_buffer ids[2], texts[2];
    bool id_is_number[2];
    twin_scheme scheme;
    size_t common, sizes[2]; /* of their sets */
    double similarity;
    twin_edit_spans spans;
};

static bool keep(twin_buffer *out, twin_text text)
{
    bool kept = twin_buffer_append(out, text.bytes, text.length) == TWIN_OK;
    if (!kept)
        fail_status("a document", TWIN_ENOMEM, NULL);
    return kept;
}

static bool is_equal(twin_text id, const char *name)
{
    return id.length == strlen(name) && memcmp(id.bytes, name, id.length) == 0;
}

static twin_collection *read_all(const struct shared_options *shared, const twin_input *input, twin_progress progress)
{
    twin_collection_options wanted = {
        .scheme = shared->scheme, .texts = true, .strict = shared->strict, .progress = progress
    };
    return make_exec(&wanted.exec, shared) ? read_documents(input, wanted, true) : NULL;
}

/* Keeps a document of the collection as number `which`. */
static bool keep_document(struct shown *shown, int which, const twin_collection *collection, uint32_t number)
{
    twin_scratch *scratch = NULL;
    twin_document document;
    twin_error error = { 0 };
    twin_collection_entry entry = twin_collection_entry_of(collection, number);
    shown->id_is_number[which] = entry.id_is_number;
    twin_status status = twin_collection_document(&document, collection, &scratch, number, &error);
    bool kept = status == TWIN_OK && keep(&shown->ids[which], entry.id) && keep(&shown->texts[which], document.text);
    if (status != TWIN_OK)
        fail_status("a document", status, &error);
    twin_scratch_free(scratch);
    return kept;
}

static bool find_in_collection(struct shown *shown, const struct shared_options *shared,
                               const twin_collection *collection)
{
    const size_t documents = twin_collection_count(collection).documents;
    for (int which = 0; which < 2; which++) {
        const char *name = shared->base.arguments[which];
        uint32_t number = 0;
        while (number < documents && !is_equal(twin_collection_entry_of(collection, number).id, name))
            number++;
        if (number == documents)
            return refuse("there is no document \"%s\" in the input", name);
        if (!keep_document(shown, which, collection, number))
            return false;
    }
    return true;
}

/* Opens the arguments from number `first` on, `count` of them. */
static twin_input *open_some(const struct shared_options *shared, size_t first, size_t count, twin_progress progress)
{
    struct shared_options some = *shared;
    some.base.arguments += first;
    some.base.count = count;
    return open_inputs(&some, 0, progress);
}

static bool load_ids(struct shown *shown, const struct shared_options *shared, twin_progress progress)
{
    twin_input *input = open_some(shared, 2, shared->base.count - 2, progress);
    twin_collection *collection = input ? read_all(shared, input, progress) : NULL;
    bool found = collection && find_in_collection(shown, shared, collection);
    twin_collection_free(collection);
    twin_input_free(input);
    return found;
}

static bool load_file(struct shown *shown, int which, const struct shared_options *shared, twin_progress progress)
{
    const char *name = shared->base.arguments[which];
    twin_input *input = open_some(shared, (size_t)which, 1, progress);
    twin_collection *collection = input ? read_all(shared, input, progress) : NULL;
    size_t documents = collection ? twin_collection_count(collection).documents : 0;
    bool loaded = collection && documents == 1 && keep_document(shown, which, collection, 0);
    if (collection && documents != 1)
        fail("%s has %zu documents, not one; 'twinsift show A B %s' shows two of them by their ids", name, documents,
             name);
    twin_collection_free(collection);
    twin_input_free(input);
    return loaded;
}

/* ---- documents of an index */

static bool find_in_view(struct shown *shown, int which, const char *name, twin_index_view *view)
{
    twin_index_entry entry;
    twin_text text;
    twin_error error = { 0 };
    bool found = false;
    twin_status status = twin_index_find(&entry, &found, view, (twin_text){ name, strlen(name) }, &error);
    if (status == TWIN_OK && !found)
        return refuse("there is no document \"%s\" in the index", name);
    if (status == TWIN_OK) {
        shown->id_is_number[which] = entry.id_is_number;
        status = twin_index_text(&text, view, entry, &error);
    }
    if (status == TWIN_EUNSUPPORTED)
        fail("the index does not keep texts; 'twinsift index create --keep text' makes one that does");
    else if (status != TWIN_OK)
        fail_status("the index", status, &error);
    return status == TWIN_OK && keep(&shown->ids[which], (twin_text){ name, strlen(name) }) &&
           keep(&shown->texts[which], text);
}

/* ---- how similar they are */

static bool compare(struct shown *shown)
{
    twin_signer *signer = NULL;
    twin_scratch *scratch[2] = { NULL, NULL };
    twin_set sets[2];
    twin_error error = { 0 };
    twin_text a = { shown->texts[0].bytes, shown->texts[0].length };
    twin_text b = { shown->texts[1].bytes, shown->texts[1].length };
    twin_status status = twin_signer_create(&signer, &shown->scheme, &error);
    if (status == TWIN_OK)
        status = twin_signer_text(NULL, &sets[0], signer, &scratch[0], a);
    if (status == TWIN_OK)
        status = twin_signer_text(NULL, &sets[1], signer, &scratch[1], b);
    if (status == TWIN_OK) {
        shown->common = twin_set_common(sets[0], sets[1]);
        shown->sizes[0] = sets[0].count;
        shown->sizes[1] = sets[1].count;
        shown->similarity = twin_set_similarity(sets[0], sets[1], TWIN_JACCARD);
        /* A word or two between changes are rather coincidence than something in common. */
        status = twin_diff(&shown->spans, a, b, (twin_diff_options){ .join = 2 });
    }
    if (status != TWIN_OK)
        fail_status("the comparison", status, &error);
    twin_signer_free(signer);
    twin_scratch_free(scratch[0]);
    twin_scratch_free(scratch[1]);
    return status == TWIN_OK;
}

static bool load_index(struct shown *shown, const struct shared_options *shared)
{
    twin_index *index = NULL;
    twin_index_view *view = NULL;
    twin_error error = { 0 };
    twin_status status = twin_index_open(&index, shared->base.arguments[2], TWIN_INDEX_READ, &error);
    if (status == TWIN_OK)
        status = twin_index_view_create(&view, index, &error);
    if (status != TWIN_OK)
        fail_status(shared->base.arguments[2], status, &error);
    bool loaded = status == TWIN_OK;
    for (int which = 0; which < 2 && loaded; which++)
        loaded = find_in_view(shown, which, shared->base.arguments[which], view);
    if (loaded) {
        shown->scheme = twin_index_options_of(index).scheme;
        loaded = compare(shown); /* while the scheme's stop words live */
    }
    twin_index_view_free(view);
    twin_index_close(index);
    return loaded;
}

/* ---- output */

static twin_text text_of(const struct shown *shown, int which)
{
    return (twin_text){ shown->texts[which].bytes, shown->texts[which].length };
}

static void print_json(FILE *out, const struct shown *shown)
{
    static const char *const kinds[] = {
        [TWIN_EDIT_EQUAL] = "equal", [TWIN_EDIT_INSERTED] = "inserted", [TWIN_EDIT_DELETED] = "deleted"
    };
    struct record record = record_begin(out, true);
    record_id(&record, "a", (twin_text){ shown->ids[0].bytes, shown->ids[0].length }, shown->id_is_number[0]);
    record_id(&record, "b", (twin_text){ shown->ids[1].bytes, shown->ids[1].length }, shown->id_is_number[1]);
    record_fixed(&record, "similarity", shown->similarity, 4);
    record_count(&record, "common", shown->common);
    record_count(&record, "size_a", shown->sizes[0]);
    record_count(&record, "size_b", shown->sizes[1]);
    record_count(&record, "words_changed", shown->spans.distance);
    record_list(&record, "parts");
    for (size_t i = 0; i < shown->spans.count; i++) {
        twin_edit_span span = shown->spans.spans[i];
        bool gone = span.kind == TWIN_EDIT_DELETED;
        const char *bytes = gone ? shown->texts[0].bytes + span.a_begin : shown->texts[1].bytes + span.b_begin;
        record_object(&record, NULL);
        record_text(&record, kinds[span.kind], (twin_text){ bytes, gone ? span.a_length : span.b_length });
        record_object_end(&record);
    }
    record_list_end(&record);
    record_end(&record);
}

static void print_head(FILE *out, const struct shown *shown, bool color)
{
    for (int which = 0; which < 2; which++) {
        fputs(!color ? "" : which ? "\033[32;1m" : "\033[31m", out);
        fputs(which ? "+++ " : "--- ", out);
        escape_message(out, shown->ids[which].bytes, shown->ids[which].length);
        fputs(color ? "\033[0m\n" : "\n", out);
    }
    fprintf(out, "similarity %.4f: %zu of %zu and %zu shingle%s in common, %zu word%s changed\n\n", shown->similarity,
            shown->common, shown->sizes[0], shown->sizes[1], plural(shown->sizes[1]), shown->spans.distance,
            plural(shown->spans.distance));
}

/* The columns of two texts side by side where there is no terminal. */
enum { SIDE_BY_SIDE = 130 };

static bool print(const struct request *request, const struct shown *shown)
{
    FILE *out = results();
    int descriptor = request->shared.output ? -1 : STDOUT_FILENO;
    size_t columns = request->width ? request->width : terminal_columns(descriptor);
    struct diff_style style = { terminal_color(descriptor, request->shared.color), columns, request->context };
    if (request->method) {
        twin_text texts[2] = { text_of(shown, 0), text_of(shown, 1) };
        return print_method(out, &shown->scheme, texts, request->shared.json, style.color);
    }
    if (request->shared.json) {
        print_json(out, shown);
        return true;
    }
    print_head(out, shown, style.color);
    if (!request->side_by_side) {
        print_unified(out, text_of(shown, 0), text_of(shown, 1), &shown->spans, style);
        return true;
    }
    style.columns = columns ? columns : SIDE_BY_SIDE;
    if (print_side_by_side(out, text_of(shown, 0), text_of(shown, 1), &shown->spans, style))
        return true;
    return refuse_status("the output", TWIN_ENOMEM, NULL);
}

/* ---- the command */

/* What of the scheme only --method shows. */
static const char *const of_signatures[] = { "hashes", "bands", "rows", "sketch", "seed" };
static const char *const of_sets[] = { "shingle", "stop-words", "raw", "multiset" };

/* The first of the options that was given; NULL: none. */
static const char *first_given(const struct request_base *base, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (option_given(base, names[i]))
            return names[i];
    return NULL;
}

static bool load(struct shown *shown, const struct shared_options *shared)
{
    const struct request_base *base = &shared->base;
    if (base->count == 3 && is_index(base->arguments[2])) {
        const char *given = first_given(base, of_sets, sizeof of_sets / sizeof *of_sets);
        if (!given)
            given = first_given(base, of_signatures, sizeof of_signatures / sizeof *of_signatures);
        if (given)
            return refuse("an index compares documents by its own rule, so --%s does not apply", given);
        return load_index(shown, shared);
    }
    twin_progress progress = progress_begin(shared->quiet);
    bool loaded = base->count > 2 ? load_ids(shown, shared, progress)
                                  : load_file(shown, 0, shared, progress) && load_file(shown, 1, shared, progress);
    progress_end();
    shown->scheme = shared->scheme;
    return loaded && compare(shown);
}

static int show_permutations(const struct request *request)
{
    int descriptor = request->shared.output ? -1 : STDOUT_FILENO;
    if (!results_open(&request->shared))
        return EXIT_ERROR;
    print_permutations(results(), terminal_color(descriptor, request->shared.color));
    return output_is_good() ? EXIT_DONE : EXIT_ERROR;
}

static int run_show(void *context)
{
    struct request *request = context;
    struct shared_options *shared = &request->shared;
    struct word_list stop_words = { 0 };
    struct shown shown = { 0 };
    if (shared->input.format == TWIN_INPUT_SETS)
        return fail("--sets: sets have no texts that could be shown");
    if (request->method && (request->side_by_side || request->context != SIZE_MAX))
        return fail("--method does not show differences, so --side-by-side and --context do not apply");
    const char *unseen = first_given(&shared->base, of_signatures, sizeof of_signatures / sizeof *of_signatures);
    if (unseen && !request->method)
        return fail("--%s changes nothing without --method", unseen);
    if (request->permutations && shared->base.count)
        return fail("--permutations is an example of its own, without documents");
    if (!request->permutations && shared->base.count < 2)
        return fail("two documents are needed, two files or two ids and the input that has them");
    if (request->permutations)
        return show_permutations(request);
    bool done = search_options_finish(shared) && load_stop_words(shared, &stop_words) && load(&shown, shared) &&
                results_open(shared) && print(request, &shown) && output_is_good();
    for (int which = 0; which < 2; which++) {
        twin_buffer_clear(&shown.ids[which]);
        twin_buffer_clear(&shown.texts[which]);
    }
    twin_edit_spans_clear(&shown.spans);
    word_list_clear(&stop_words);
    return done ? EXIT_DONE : EXIT_ERROR;
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0.8), .context = SIZE_MAX };

const struct command command_show = {
    .name = "twinsift show",
    .summary = "show what two documents have in common and where they differ",
    .usage = "[OPTION]... FILE FILE\n"
             "[OPTION]... A B INPUT...\n"
             "--permutations",
    .about = "Shows two files, or the two documents with the ids A and B of a collection or of an index (.twin) that "
             "keeps texts. Words that only the first document has are printed as [-old-], those that only the second "
             "has as {+new+}; on a terminal they are red and green. White space is not compared.\n\n"
             "The similarity is that of the shingles, as 'twinsift pairs' prints it.\n\n" ABOUT_INPUT,
    .shared = "id-field text-field as hidden strict shingle stop-words raw multiset hashes bands rows sketch "
              "seed " TAKES_EXEC " output no-sync json quiet",
    .options = options,
    .most = SIZE_MAX,
    .status = "0  done\n"
              "2  error, or a document does not exist",
    .examples =
        "twinsift show old.txt new.txt\n"
        "twinsift show --side-by-side article-17 article-18 news.jsonl.zst\n"
        "twinsift show --context 5 article-17 article-18 news.twin\n"
        "twinsift show --method --shingle word:1 old.txt new.txt\n"
        "twinsift pairs news.jsonl | while IFS=$'\\t' read -r a b s; do twinsift show \"$a\" \"$b\" news.jsonl; "
        "done",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_show,
};

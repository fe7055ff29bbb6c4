/* cmd_contamination.c — twinsift contamination: test questions that are in training data.
 *
 * Items of the benchmarks and training documents are joined by containment (twin_similar_between), which misses no
 * pair. A pair is sized up by the item alone: by how much of it is in the document. Of each item the best match is kept,
 * and for those that are printed both texts are read again to find the place. */
#include "commands.h"
#include "contamination.h"
#include "dedup.h"
#include "read_documents.h"
#include "support/escape.h"
#include "support/inputs.h"
#include "support/messages.h"
#include "support/overwrite.h"
#include "support/paths.h"
#include "support/progress.h"
#include "support/record.h"
#include "support/results.h"
#include "support/search_options.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct shared_options shared;
    struct option_texts against;
    size_t least;
    const char *split_field, *report, *clean;
};

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "against", 0, OPTIONS_INPUT, "EVAL", "a benchmark: a file or folder of items; may be given several times",
      &option_list, AT(against) },
    { "split-field", 0, OPTIONS_INPUT, "F",
      "count the items of each value of this field or column of the benchmarks separately", &option_text,
      AT(split_field) },
    { "least", 0, OPTIONS_MATCHING, "N",
      "do not judge items of fewer than N different shingles, such as \"Yes.\" (default: 20)", &option_size,
      AT(least), .least = 1, .most = UINT32_MAX },
    { "report", 0, OPTIONS_OUTPUT, "FILE", "write an HTML page with the counts and the items found", &option_text,
      AT(report) },
    { "output", 'o', OPTIONS_OUTPUT, "FILE",
      "write the training documents that contain no item to FILE; if it ends in /, to one file per input in that "
      "folder",
      &option_text, AT(clean) },
    { 0 },
};

struct run {
    const struct request *request;
    twin_scheme scheme;
    twin_exec exec;
    twin_progress progress;
    twin_input *inputs[2];
    twin_collection *collections[2]; /* training data and benchmarks */
    struct contamination found;
};

static void run_clear(struct run *run)
{
    for (size_t i = 0; i < run->found.group_count; i++)
        free(run->found.groups[i].split);
    free(run->found.groups);
    free(run->found.places);
    free(run->found.leaks);
    free(run->found.is_leaked);
    for (int side = 0; side < 2; side++) {
        twin_collection_free(run->collections[side]);
        twin_input_free(run->inputs[side]);
    }
}

/* ---- reading ---- */

static bool read_sides(struct run *run)
{
    const struct shared_options *shared = &run->request->shared;
    const struct option_texts *against = &run->request->against;
    twin_collection_options wanted = { .scheme = run->scheme,
                                       .set_sizes = true,
                                       .ids_may_repeat = true,
                                       .exec = run->exec,
                                       .strict = shared->strict,
                                       .progress = run->progress };
    run->inputs[0] = open_inputs(shared, 0, run->progress);
    run->inputs[1] = run->inputs[0] ? open_named_inputs(shared, against->items, against->count, run->progress) : NULL;
    for (int side = 0; side < 2 && run->inputs[1]; side++) {
        run->collections[side] = read_documents(run->inputs[side], wanted, shared->quiet);
        if (!run->collections[side])
            return false;
    }
    if (run->inputs[1] && !shared->quiet)
        remark_lines(run->inputs[1]);
    run->found.benchmarks = run->inputs[1];
    run->found.train = run->collections[0];
    run->found.eval = run->collections[1];
    return run->inputs[1] != NULL;
}

/* ---- files and splits ---- */

static bool has_split(const struct leak_group *group, uint32_t source, twin_text split)
{
    if (group->source != source || !group->split)
        return group->source == source && !split.bytes;
    return strlen(group->split) == split.length &&
           (split.length == 0 || memcmp(group->split, split.bytes, split.length) == 0);
}

/* Where the number of a group is, or goes. */
static uint32_t *place_of(const struct contamination *found, uint32_t source, twin_text split)
{
    size_t mask = found->place_count - 1;
    size_t at = (size_t)twin_hash_bytes(twin_hash_member(TWIN_HASH_XXH3, source), split.bytes, split.length) & mask;
    while (found->places[at] && !has_split(&found->groups[found->places[at] - 1], source, split))
        at = (at + 1) & mask;
    return &found->places[at];
}

/* Room for another group: the table of their numbers is at most half full. */
static bool make_room(struct contamination *found)
{
    if (2 * found->group_count < found->place_count)
        return true;
    size_t count = found->place_count ? 2 * found->place_count : 16;
    struct leak_group *groups = realloc(found->groups, count / 2 * sizeof *groups);
    if (groups)
        found->groups = groups;
    uint32_t *places = groups ? calloc(count, sizeof *places) : NULL;
    if (!places)
        return false;
    free(found->places);
    found->places = places;
    found->place_count = count;
    for (size_t i = 0; i < found->group_count; i++) {
        twin_text split = { groups[i].split, groups[i].split ? strlen(groups[i].split) : 0 };
        *place_of(found, groups[i].source, split) = (uint32_t)i + 1;
    }
    return true;
}

/* The number of a group, which is added if it is new; UINT32_MAX: out of memory. */
static uint32_t group_of(struct contamination *found, uint32_t source, twin_text split)
{
    if (!make_room(found))
        return UINT32_MAX;
    if (split.bytes)
        split.length = strnlen(split.bytes, split.length);
    uint32_t *place = place_of(found, source, split);
    if (*place)
        return *place - 1;
    char *name = split.bytes ? strndup(split.bytes, split.length) : NULL;
    if (split.bytes && !name)
        return UINT32_MAX;
    found->groups[found->group_count] = (struct leak_group){ .source = source, .split = name };
    *place = (uint32_t)++found->group_count;
    return *place - 1;
}

static twin_status read_split(twin_text *out, const struct run *run, twin_scratch **scratch, twin_scratch **room,
                              uint32_t item, twin_error *error)
{
    twin_document document;
    *out = (twin_text){ 0 };
    if (!run->request->split_field)
        return TWIN_OK;
    twin_status status = twin_collection_document(&document, run->found.eval, scratch, item, error);
    if (status == TWIN_OK)
        status = twin_input_field(out, run->inputs[1], room, &document, run->request->split_field, error);
    if (status == TWIN_OK && !out->bytes)
        *out = (twin_text){ "", 0 };
    return status;
}

static bool group_items(struct run *run)
{
    struct contamination *found = &run->found;
    size_t items = twin_collection_count(found->eval).documents;
    twin_scratch *scratch = NULL;
    twin_scratch *room = NULL;
    twin_error error = { 0 };
    twin_status status = TWIN_OK;
    found->leaks = calloc(items + 1, sizeof *found->leaks);
    found->is_leaked = calloc(twin_collection_count(found->train).documents + 1, sizeof *found->is_leaked);
    if (!found->leaks || !found->is_leaked)
        status = TWIN_ENOMEM;
    for (uint32_t i = 0; i < items && status == TWIN_OK; i++) {
        struct leak *leak = &found->leaks[i];
        twin_text split;
        status = read_split(&split, run, &scratch, &room, i, &error);
        if (status != TWIN_OK)
            break;
        leak->group = group_of(found, twin_collection_entry_of(found->eval, i).position.source, split);
        leak->is_judged = twin_collection_entry_of(found->eval, i).size >= run->request->least;
        if (leak->group == UINT32_MAX) {
            status = TWIN_ENOMEM;
            break;
        }
        found->groups[leak->group].items++;
        found->groups[leak->group].judged += leak->is_judged;
    }
    twin_scratch_free(scratch);
    twin_scratch_free(room);
    return status == TWIN_OK || refuse_status("the benchmarks", status, &error);
}

/* ---- searching ---- */

/* Containment is of the smaller set in the larger; of the item in a shorter document there is less. */
static bool note_match(void *context, twin_match match)
{
    struct run *run = context;
    struct contamination *found = &run->found;
    struct leak *leak = &found->leaks[match.b];
    double document = twin_collection_entry_of(found->train, match.a).size,
           item = twin_collection_entry_of(found->eval, match.b).size;
    double share = document < item ? match.similarity * document / item : match.similarity;
    if (!leak->is_judged || share < run->scheme.threshold)
        return true;
    leak->documents++;
    if (share > leak->share) { /* of equally good ones the first */
        leak->share = share;
        leak->best = match.a;
    }
    found->leaked_documents += !found->is_leaked[match.a];
    found->is_leaked[match.a] = true;
    return true;
}

static bool find_leaks(struct run *run)
{
    twin_similar *similar = NULL;
    twin_error error = { 0 };
    twin_similar_options wanted = { .measure = TWIN_CONTAINMENT,
                                    .threshold = run->scheme.threshold,
                                    .spill_after = MATCHES_IN_MEMORY,
                                    .temp_folder = temp_folder(&run->request->shared),
                                    .exec = run->exec,
                                    .progress = run->progress };
    twin_status status = twin_similar_between(&similar, run->found.train, run->found.eval, wanted, &error);
    progress_clear();
    if (status == TWIN_OK)
        status = twin_similar_each(similar, TWIN_COPIES_ALL, note_match, run);
    twin_similar_free(similar);
    for (size_t i = 0; status == TWIN_OK && i < twin_collection_count(run->found.eval).documents; i++)
        run->found.groups[run->found.leaks[i].group].leaked += run->found.leaks[i].documents > 0;
    return status == TWIN_OK || refuse_status("the search", status, &error);
}

/* ---- places ---- */

void leak_place_clear(struct leak_place *place)
{
    twin_scratch_free(place->scratches[0]);
    twin_scratch_free(place->scratches[1]);
}

/* Where the first piece of the item that is in the document, of so many bytes, stands in both; false: none is. */
static bool find_piece(size_t *in_item, const char **in_document, const struct leak_place *place, size_t bytes)
{
    for (size_t at = 0; at + bytes <= place->item.length; at += bytes) {
        *in_item = at;
        *in_document = memmem(place->document.bytes, place->document.length, place->item.bytes + at, bytes);
        if (*in_document)
            return true;
    }
    return false;
}

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

twin_status leak_place_find(struct leak_place *out, const struct contamination *found, uint32_t item,
                            twin_error *error)
{
    enum { LONGEST_PIECE = 48, SHORTEST_PIECE = 6 };
    const struct leak *leak = &found->leaks[item];
    twin_status status = twin_collection_text(&out->item, found->eval, &out->scratches[0], item, error);
    if (status == TWIN_OK)
        status = twin_collection_text(&out->document, found->train, &out->scratches[1], leak->best, error);
    if (status != TWIN_OK)
        return status;
    size_t in_item = 0, length = out->document.length;
    const char *in_document = NULL;
    for (size_t bytes = LONGEST_PIECE; bytes >= SHORTEST_PIECE && !in_document; bytes /= 2)
        if (!find_piece(&in_item, &in_document, out, bytes))
            in_document = NULL;
    size_t at = in_document ? (size_t)(in_document - out->document.bytes) : 0;
    out->begin = at > in_item ? at - in_item : 0;
    out->end = length - out->begin > out->item.length ? out->begin + out->item.length : length;
    while (out->begin > 0 && continues(out->document.bytes[out->begin]))
        out->begin--;
    while (out->end < length && continues(out->document.bytes[out->end]))
        out->end++;
    out->character = 1;
    for (size_t i = 0; i < out->begin; i++)
        out->character += !continues(out->document.bytes[i]);
    return TWIN_OK;
}

/* ---- results ---- */

static void record_group(struct record *record, const struct run *run, const struct leak_group *group)
{
    record_string(record, "file", twin_input_name(run->inputs[1], group->source));
    if (group->split)
        record_string(record, "split", group->split);
}

/* The bytes of the excerpt of a line. */
enum { EXCERPT = 100 };

static twin_status print_leak(const struct run *run, struct leak_place *place, uint32_t item, twin_error *error)
{
    const struct leak *leak = &run->found.leaks[item];
    twin_status status = leak_place_find(place, &run->found, item, error);
    if (status != TWIN_OK)
        return status;
    twin_text excerpt = { place->document.bytes + place->begin, place->end - place->begin };
    excerpt.length = excerpt_length(excerpt, EXCERPT);
    struct record record = record_begin(results(), run->request->shared.json);
    record_group(&record, run, &run->found.groups[leak->group]);
    record_document(&record, "item", run->found.eval, item);
    record_document(&record, "document", run->found.train, leak->best);
    record_fixed(&record, "similarity", leak->share, 4);
    record_count(&record, "documents", leak->documents);
    record_count(&record, "position", place->character);
    record_text(&record, "excerpt", excerpt);
    record_end(&record);
    return TWIN_OK;
}

static bool print_leaks(const struct run *run)
{
    struct leak_place place = { 0 };
    twin_error error = { 0 };
    twin_status status = TWIN_OK;
    size_t items = twin_collection_count(run->found.eval).documents;
    for (uint32_t i = 0; i < items && status == TWIN_OK && output_is_good(); i++)
        if (run->found.leaks[i].documents)
            status = print_leak(run, &place, i, &error);
    leak_place_clear(&place);
    return status == TWIN_OK ? output_is_good() : refuse_status("an item", status, &error);
}

static double share_of(const struct leak_group *group)
{
    return group->judged ? 100 * (double)group->leaked / (double)group->judged : 0;
}

static void print_counts_json(const struct run *run)
{
    for (size_t i = 0; i < run->found.group_count; i++) {
        const struct leak_group *group = &run->found.groups[i];
        struct record record = record_begin(stderr, true);
        record_object(&record, "benchmark");
        record_group(&record, run, group);
        record_count(&record, "items", group->items);
        record_count(&record, "judged", group->judged);
        record_count(&record, "leaked", group->leaked);
        record_number(&record, "percent", share_of(group), 6);
        record_object_end(&record);
        record_end(&record);
    }
}

static void print_counts(const struct run *run)
{
    fprintf(stderr, "%10s %10s %10s %8s   %s\n", "items", "judged", "leaked", "percent", "benchmark");
    for (size_t i = 0; i < run->found.group_count; i++) {
        const struct leak_group *group = &run->found.groups[i];
        const char *name = twin_input_name(run->inputs[1], group->source);
        fprintf(stderr, "%10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %8.2f   ", group->items, group->judged,
                group->leaked, share_of(group));
        escape_message(stderr, name, strlen(name));
        if (group->split && *group->split) {
            fputs(", ", stderr);
            escape_message(stderr, group->split, strlen(group->split));
        }
        fputc('\n', stderr);
    }
    fprintf(stderr, "%" PRIu64 " of %" PRIu64 " training documents contain an item\n", run->found.leaked_documents,
            twin_collection_count(run->found.train).documents);
}

/* The training documents that are left, as they were. */
static bool write_clean(const struct run *run)
{
    const char *output = run->request->clean;
    twin_dedup *kept = NULL;
    twin_error error = { 0 };
    if (!output)
        return true;
    twin_status status = twin_dedup_without(&kept, run->found.train, run->found.is_leaked, &error);
    if (status != TWIN_OK)
        return refuse_status(output, status, &error);
    struct known known = { 0 };
    struct dedup_run how = { .progress = run->progress };
    struct dedup_result result = { .input = run->inputs[0],
                                   .collection = run->found.train,
                                   .dedup = kept,
                                   .known = &known,
                                   .run = &how,
                                   .exec = run->exec,
                                   .quiet = run->request->shared.quiet };
    bool done = write_dedup_outputs(&result, (struct dedup_targets){ .kept = output });
    twin_dedup_free(kept);
    return done;
}

/* ---- the command ---- */

static bool find_and_print(struct run *run)
{
    const struct request *request = run->request;
    run->progress = progress_begin(request->shared.quiet);
    bool done = read_sides(run) && group_items(run) && find_leaks(run) && print_leaks(run) && write_clean(run) &&
                (!request->report || write_contamination_page(request->report, &run->found, &request->shared.base));
    progress_end();
    if (done && request->shared.json)
        print_counts_json(run);
    else if (done && !request->shared.quiet)
        print_counts(run);
    return done;
}

static const char *contradiction(const struct request *request)
{
    const struct request_base *base = &request->shared.base;
    bool pipes[2] = { false, false };
    if (request->against.count == 0)
        return "no benchmark; name it with --against";
    if (request->shared.input.format == TWIN_INPUT_SETS)
        return "--sets: the items of benchmarks are texts";
    for (size_t i = 0; i < request->against.count; i++) {
        if (is_index(request->against.items[i]))
            return "--against: an index finds Jaccard similarity only; give the benchmark itself";
        pipes[0] |= is_standard(request->against.items[i]);
    }
    for (size_t i = 0; i < base->count; i++)
        pipes[1] |= is_standard(base->arguments[i]);
    return pipes[0] && pipes[1] ? "--against: standard input can be only one of the two collections" : NULL;
}

/* Outputs must not be among what is read. */
static bool outputs_are_good(const struct request *request)
{
    const struct request_base *base = &request->shared.base;
    const char *const outputs[] = { request->clean, request->report };
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if (outputs[i] &&
            (!output_is_possible(outputs[i]) || overwrites_input(outputs[i], base->arguments, base->count) ||
             overwrites_input(outputs[i], request->against.items, request->against.count)))
            return false;
    if (request->clean && request->report && is_same_output(request->clean, request->report))
        return refuse("--report and --output are the same file");
    return !overwrites_input("-", request->against.items, request->against.count);
}

static int run_contamination(void *context)
{
    struct request *request = context;
    struct word_list stop_words = { 0 };
    struct run run = { .request = request };
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    bool done = search_options_finish(&request->shared) && make_exec(&run.exec, &request->shared) &&
                load_stop_words(&request->shared, &stop_words) &&
                complete_scheme(&run.scheme, &request->shared, TWIN_CONTAINMENT) && outputs_are_good(request) &&
                results_open(&request->shared) && find_and_print(&run);
    uint64_t skipped = 0;
    for (int side = 0; side < 2; side++)
        skipped += run.collections[side] ? twin_collection_count(run.collections[side]).problems : 0;
    run_clear(&run);
    word_list_clear(&stop_words);
    return skipped_status(&request->shared, skipped, done ? EXIT_DONE : EXIT_ERROR);
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0.5), .least = 20 };

const struct command command_contamination = {
    .name = "twinsift contamination",
    .summary = "print test questions that are in training data",
    .usage = "[OPTION]... TRAIN... --against EVAL",
    .about =
        "Each line of the output is an item of a benchmark that is in the training data: the file, with "
        "--split-field the split, the id of the item, the id of the training document that has most of it, which "
        "share of its shingles that is, how many training documents contain it, where it begins in the document, "
        "and what stands there, tab-separated. The counts of each benchmark follow on standard error. No item is "
        "missed: those that share --threshold of their shingles with a document are found, whatever its length.",
    .shared = TAKES_INPUT " " TAKES_SCHEME " threshold " TAKES_EXEC " no-sync " TAKES_MANNERS,
    .options = options,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  done, whether or not there are such items\n"
              "2  error; a document that cannot be read is reported and skipped\n" SKIPPED_STATUS,
    .examples = "twinsift contamination corpus.jsonl.zst --against test.jsonl\n"
                "twinsift contamination train/ --against mmlu.jsonl --against gsm8k.jsonl --report leaks.html\n"
                "twinsift contamination crawl.jsonl --against test.csv --text-field question -o clean.jsonl",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_contamination,
};

/* cmd_dedup.c — twinsift dedup: a collection without its near-duplicates.
 *
 * The command reads a collection, lets the library decide which documents are kept (twin_dedup_find), and writes those
 * (dedup_output.c). A summary on standard error follows, or statistics as JSON. */
#include "commands.h"
#include "dedup.h"
#include "read_documents.h"
#include "support/inputs.h"
#include "support/memory.h"
#include "support/messages.h"
#include "support/paths.h"
#include "support/progress.h"
#include "support/search_options.h"
#include "support/size.h"
#include "support/usage.h"

#include <stddef.h>
#include <string.h>

struct request {
    struct shared_options shared;
    enum measure measure;
    size_t max_edits; /* TWIN_EDIT_FAR: not given */
    struct keep keep;
    bool chain, dry_run, stats, resume;
    uint64_t audit;
    const char *output, *dropped, *groups, *report, *update;
    struct option_texts against;
};

#define AT(field) OPTION_AT(struct request, field)

static const struct option_row options[] = {
    { "measure", 0, OPTIONS_MATCHING, "M",
      "jaccard; containment, the share of the smaller set that is in the larger; or edit, the share of characters "
      "that both texts have in the same order",
      &option_choice, AT(measure), .choices = "jaccard containment edit" },
    MAX_EDITS_ROW(struct request),
    KEEP_ROW(struct request),
    CHAIN_ROW(struct request),
    { "against", 0, OPTIONS_MATCHING, "FILE",
      "also drop documents that are similar to one in this index or collection; may be given several times",
      &option_list, AT(against) },
    { "update", 0, OPTIONS_MATCHING, "INDEX",
      "also drop documents that are similar to one in this index, and add the kept documents to it", &option_text,
      AT(update) },
    { "resume", 0, OPTIONS_SEARCH, NULL,
      "save finished stages in --temp until the run ends, and continue a run that was killed", &option_flag,
      AT(resume) },
    { "output", 'o', OPTIONS_OUTPUT, "FILE",
      "write kept documents to FILE, compressed if its name ends in .gz or .zst; if it ends in /, to one file per "
      "input in that folder (default: standard output)",
      &option_text, AT(output) },
    { "dropped", 0, OPTIONS_OUTPUT, "FILE", "write dropped documents to FILE", &option_text, AT(dropped) },
    { "groups", 0, OPTIONS_OUTPUT, "FILE",
      "write one JSON object per group: the kept document and those dropped for it", &option_text, AT(groups) },
    { "report", 0, OPTIONS_OUTPUT, "FILE",
      "write an HTML page with the command, counts, plots and the largest groups", &option_text, AT(report) },
    { "dry-run", 0, OPTIONS_OUTPUT, NULL, "write no documents, only the summary", &option_flag, AT(dry_run) },
    { "audit", 0, OPTIONS_OUTPUT, "N",
      "measure recall: compare N kept documents, chosen at random, with all other kept ones", &option_count,
      AT(audit), .least = 1, .most = UINT32_MAX },
    { "stats", 0, OPTIONS_OUTPUT, NULL, "report counts, times and memory at the end as JSON", &option_flag,
      AT(stats) },
    { 0 },
};

struct run {
    const struct request *request;
    twin_scheme scheme;
    twin_edit_join_options edits; /* for --measure edit */
    twin_exec exec;
    twin_input *input;
    twin_collection *collection;
    twin_input *other_input; /* what --against names beside indexes */
    twin_collection *other;
    twin_dedup *dedup;
    struct resume resume; /* the stages that are kept, if they are */
    struct known known;   /* documents that indexes know */
    struct dedup_run how;
    twin_dedup_audit audit;
    double since;                               /* when the present stage began, in seconds */
    const char *indexes[OPTION_MOST_TEXTS + 1]; /* those that are queried */
    size_t index_count;
    struct update_run update;
    bool is_done_before;
};

static void run_clear(struct run *run)
{
    known_clear(&run->known);
    resume_clear(&run->resume);
    update_end(&run->update);
    twin_dedup_free(run->dedup);
    twin_collection_free(run->other);
    twin_input_free(run->other_input);
    twin_collection_free(run->collection);
    twin_input_free(run->input);
}

/* What can be continued can be read again, and depends on nothing but the inputs. */
static const char *cannot_resume(const struct request *request)
{
    const struct request_base *base = &request->shared.base;
    if (request->shared.input.format == TWIN_INPUT_SETS || request->measure != MEASURE_JACCARD)
        return "--resume is for documents and Jaccard similarity";
    if (request->update || request->against.count)
        return "--resume does not go with --against and --update, which can be run again from the start";
    for (size_t i = 0; i < base->count; i++)
        if (is_read_once(base->arguments[i]))
            return "--resume: standard input, or a pipe, cannot be read again; give a file";
    return NULL;
}

static bool uses_index(const struct request *request)
{
    bool found = request->update != NULL;
    for (size_t i = 0; i < request->against.count; i++)
        found |= is_index(request->against.items[i]);
    return found;
}

/* Texts and all their similar pairs are in memory, or read again. */
static const char *cannot_compare_texts(const struct request *request)
{
    if (request->measure != MEASURE_EDIT)
        return request->max_edits != TWIN_EDIT_FAR ? "--max-edits needs --measure edit" : NULL;
    if (request->update || request->against.count)
        return "--measure edit: --against and --update compare sets; see 'twinsift pairs --against'";
    if (request->audit)
        return "--measure edit: --audit compares sets; 'twinsift pairs --audit' measures the recall of the search";
    if (request->shared.memory)
        return "--measure edit: similar pairs are in memory, so --memory does not apply";
    return edit_contradiction(&request->shared);
}

static const char *contradiction(const struct request *request)
{
    const char *sentence = cannot_compare_texts(request);
    if (sentence)
        return sentence;
    if (request->dry_run && request->output)
        return "--dry-run writes no documents, so --output does not apply";
    if (request->dry_run && request->update)
        return "--dry-run changes nothing, so --update does not apply; use --against";
    if (request->update && option_given(&request->shared.base, "no-sync"))
        return "--update: the index would know documents that a power cut takes out of the output, so --no-sync does "
               "not "
               "apply";
    if (request->shared.input.format == TWIN_INPUT_SETS && (request->update || request->against.count))
        return "--sets: --against and --update need texts";
    if (request->measure != MEASURE_JACCARD && uses_index(request))
        return "--measure containment: an index finds Jaccard similarity only; give the documents themselves to "
               "--against";
    if (request->shared.input.format == TWIN_INPUT_SETS && request->keep.rule != TWIN_PREFER_FIRST &&
        request->keep.rule != TWIN_PREFER_LAST)
        return "--sets: sets have no text, so --keep must be first or last";
    return request->resume ? cannot_resume(request) : NULL;
}

/* Opens the indexes that are to be queried while the input is read. */
static bool begin_indexes(struct run *run)
{
    const struct request *request = run->request;
    if (request->update)
        run->indexes[run->index_count++] = request->update;
    for (size_t i = 0; i < request->against.count; i++)
        if (is_index(request->against.items[i]))
            run->indexes[run->index_count++] = request->against.items[i];
    bool given = option_given(&request->shared.base, "threshold");
    struct known_request wanted = { .paths = run->indexes,
                                    .count = run->index_count,
                                    .threshold = given ? request->shared.scheme.threshold : 0,
                                    .scheme = &run->scheme,
                                    .exec = run->exec,
                                    .quiet = request->shared.quiet };
    return wanted.count == 0 || known_begin(&run->known, wanted);
}

/* The collections among what is compared with: those that are no indexes. */
static struct option_texts list_others(const struct request *request)
{
    struct option_texts others = { 0 };
    for (size_t i = 0; i < request->against.count; i++)
        if (!is_index(request->against.items[i]))
            others.items[others.count++] = request->against.items[i];
    return others;
}

static twin_collection_options reading_options(const struct run *run, twin_progress progress)
{
    const struct shared_options *shared = &run->request->shared;
    size_t collections = list_others(run->request).count ? 2 : 1;
    bool texts = run->request->measure == MEASURE_EDIT;
    return (twin_collection_options){ .scheme = run->scheme,
                                      .texts = texts,
                                      .ids_may_repeat = true,
                                      .memory_bytes = texts ? 0 : collection_memory(shared) / collections,
                                      .temp_folder = temp_folder(shared),
                                      .exec = run->exec,
                                      .strict = shared->strict,
                                      .progress = progress };
}

static twin_collection *read_side(struct run *run, const twin_input *input, twin_progress progress)
{
    twin_collection_options wanted = reading_options(run, progress);
    if (run->known.indexes && input == run->input) {
        wanted.on_document = known_examine;
        wanted.context = &run->known;
    }
    twin_collection *collection = read_documents(input, wanted, run->request->shared.quiet);
    if (collection && !run->request->shared.quiet && !list_others(run->request).count && !run->known.indexes)
        remark_one_document(input, collection);
    return collection;
}

/* The same, unless an earlier run has done it. */
static twin_collection *read_or_resume(struct run *run, twin_progress progress)
{
    twin_collection *collection = NULL;
    bool found;
    if (!run->resume.folder)
        return read_side(run, run->input, progress);
    if (!resume_collection(&collection, &found, &run->resume, run->input, reading_options(run, progress)) || found)
        return collection;
    collection = read_side(run, run->input, progress);
    if (collection && !resume_keep(&run->resume, collection)) {
        twin_collection_free(collection);
        collection = NULL;
    }
    return collection;
}

static twin_dedup_options rule_of(const struct run *run, twin_progress progress)
{
    twin_similar_options search = search_within_memory(&run->request->shared, run->exec, progress);
    twin_dedup_options rule = keep_rule(&run->request->keep, run->request->chain, search);
    rule.excluded = run->known.excluded;
    if (run->request->measure == MEASURE_EDIT)
        rule.by_edits = &run->edits;
    return rule;
}

/* What other collections have. */
static bool join_others(struct run *run, twin_progress progress)
{
    const struct request *request = run->request;
    struct option_texts others = list_others(request);
    if (others.count == 0)
        return true;
    run->other_input = open_named_inputs(&request->shared, others.items, others.count, progress);
    run->other = run->other_input ? read_side(run, run->other_input, progress) : NULL;
    return run->other && known_between(&run->known, run->collection, run->other_input, run->other,
                                       search_within_memory(&request->shared, run->exec, progress));
}

static bool read_collection(struct run *run, twin_progress progress)
{
    const struct request *request = run->request;
    if (!begin_indexes(run))
        return false;
    twin_dedup_options rule = rule_of(run, progress);
    if (request->resume && !resume_begin(&run->resume, &request->shared, &run->scheme, &rule))
        return false;
    run->collection = read_or_resume(run, progress);
    if (!run->collection)
        return false;
    end_dedup_stage(&run->how, &run->since, "reading", twin_collection_count(run->collection).bytes);
    if (!request->update && request->against.count == 0)
        return true;
    bool good = known_collect(&run->known, run->collection) && join_others(run, progress) &&
                known_finish(&run->known) && update_forget(&run->update, &run->known, run->collection);
    if (run->other)
        end_dedup_stage(&run->how, &run->since, "against", twin_collection_count(run->other).bytes);
    return good;
}

/* A field that no document has is misspelt, as a rule. */
static void remark_field(const struct run *run)
{
    const struct request *request = run->request;
    twin_dedup_counts counts = twin_dedup_count(run->dedup);
    uint64_t similar = counts.exact_copies + counts.near_copies + counts.groups;
    if (!request->shared.quiet && similar > 0 && counts.without_field >= similar)
        warn("no document of a group has the field \"%s\" of --keep", request->keep.field);
}

static bool find_duplicates(struct run *run, twin_progress progress)
{
    twin_error error = { 0 };
    twin_dedup_options wanted = rule_of(run, progress);
    twin_status status = TWIN_OK;
    bool good = true;
    if (run->resume.folder)
        good = resume_find(&run->dedup, &run->resume, run->collection, &wanted);
    else
        status = twin_dedup_find(&run->dedup, run->collection, wanted, &error);
    end_dedup_stage(&run->how, &run->since, "deciding", twin_collection_count(run->collection).bytes);
    progress_clear();
    if (status != TWIN_OK)
        fail_status("the search", status, &error);
    good = good && status == TWIN_OK;
    if (good)
        remark_field(run);
    return good;
}

static bool audit(struct run *run, twin_progress progress)
{
    twin_error error = { 0 };
    twin_audit_options wanted = { .documents = run->request->audit,
                                  .seed = run->request->shared.scheme.minhash.seed,
                                  .exec = run->exec,
                                  .progress = progress };
    twin_status status =
        twin_dedup_audit_run(&run->audit, run->dedup, run->collection, rule_of(run, progress), wanted, &error);
    end_dedup_stage(&run->how, &run->since, "auditing", 0);
    progress_clear();
    if (status != TWIN_OK)
        fail_status("the audit", status, &error);
    run->how.audit = &run->audit;
    return status == TWIN_OK;
}

static struct dedup_result result_of(const struct run *run)
{
    return (struct dedup_result){ .input = run->input,
                                  .collection = run->collection,
                                  .dedup = run->dedup,
                                  .known = &run->known,
                                  .run = &run->how,
                                  .exec = run->exec,
                                  .quiet = run->request->shared.quiet };
}

/* Where what is kept is written; NULL: nowhere. */
static const char *kept_path(const struct request *request)
{
    if (request->dry_run)
        return NULL;
    return request->output ? request->output : "-";
}

static struct dedup_targets targets_of(const struct request *request)
{
    return (struct dedup_targets){ kept_path(request), request->dropped, request->groups };
}

static bool write_outputs(struct run *run)
{
    const struct request *request = run->request;
    struct dedup_result result = result_of(run);
    bool done = write_dedup_outputs(&result, targets_of(request));
    if (!request->dry_run || request->dropped || request->groups)
        end_dedup_stage(&run->how, &run->since, "writing",
                        request->dry_run ? 0 : twin_dedup_count(run->dedup).kept_bytes);
    return done;
}

/* In the order that dedup.h draws. Standard output is written when the outputs are finished. */
static bool write_and_update(struct run *run)
{
    const struct request *request = run->request;
    struct output_file journal;
    struct dedup_outputs outputs;
    struct dedup_result result = result_of(run);
    uint64_t bytes = twin_dedup_count(run->dedup).kept_bytes;
    struct dedup_targets targets = targets_of(request);
    if (run->update.is_again)
        targets.groups = NULL;
    if (!dedup_outputs_stage(&outputs, &result, targets))
        return false;
    if (!outputs.standard)
        end_dedup_stage(&run->how, &run->since, "writing", bytes);
    if (!update_stage(&journal, &run->update, &result, &outputs)) {
        dedup_outputs_abandon(&outputs);
        return false;
    }
    end_dedup_stage(&run->how, &run->since, "staging", 0);
    if (!dedup_outputs_finish(&outputs)) {
        output_file_abandon(&journal);
        return false;
    }
    if (!request->output)
        end_dedup_stage(&run->how, &run->since, "writing", bytes);
    if (!output_standard_sync()) {
        output_file_abandon(&journal);
        return false;
    }
    bool done = update_finish(&journal, &run->update);
    end_dedup_stage(&run->how, &run->since, "updating", 0);
    return done;
}

static bool write_results(struct run *run)
{
    const struct request *request = run->request;
    if (request->groups && !request->shared.quiet)
        remark_repeated_ids(run->collection);
    bool done = request->update ? write_and_update(run) : write_outputs(run);
    struct dedup_result result = result_of(run);
    done = done && (!request->report || write_report(&result, request->report));
    if (done && run->resume.folder)
        resume_end(&run->resume);
    return done;
}

static bool paths_are_good(const struct run *run)
{
    const struct request *request = run->request;
    struct dedup_paths paths = { .output = kept_path(request),
                                 .dropped = request->dropped,
                                 .groups = request->groups,
                                 .report = request->report,
                                 .update = request->update,
                                 .against = &request->against,
                                 .base = &request->shared.base };
    return dedup_paths_are_good(&paths, run->input);
}

/* Opens the input. If an index is updated, what earlier runs left undone is done. */
static bool open_input(struct run *run, twin_progress progress)
{
    const struct request *request = run->request;
    run->input = open_inputs(&request->shared, 0, progress);
    if (!run->input || !paths_are_good(run))
        return false;
    if (!request->shared.quiet)
        remark_same_inputs(run->input);
    if (!request->update)
        return true;
    if (is_missing(request->update))
        return refuse("%s: there is no such index; 'twinsift index create %s' creates it", request->update,
                      request->update);
    run->update = (struct update_run){ .index = request->update,
                                       .output = request->output,
                                       .dropped = request->dropped,
                                       .groups = request->groups,
                                       .report = request->report,
                                       .shared = &request->shared,
                                       .input = run->input,
                                       .exec = run->exec,
                                       .progress = progress };
    return update_recover(&run->is_done_before, &run->update);
}

/* Not all that is kept of documents is in files: a limit that was not enough is reported. */
static void remark_memory(const struct shared_options *shared)
{
    char used[SIZE_ROOM], limit[SIZE_ROOM];
    uint64_t peak = peak_bytes();
    if (shared->memory && peak > shared->memory)
        warn("took %s of memory, more than --memory, %s: this input cannot be processed in less",
             write_decimal_size(used, (double)peak), write_decimal_size(limit, (double)shared->memory));
}

static bool dedup_and_write(struct run *run)
{
    const struct shared_options *shared = &run->request->shared;
    twin_progress progress = progress_begin(shared->quiet);
    run->since = seconds();
    run->how = (struct dedup_run){ .progress = progress,
                                   .by_field = *run->request->keep.field,
                                   .seed = shared->key_file ? NULL : &shared->scheme.minhash.seed,
                                   .base = &shared->base,
                                   .scheme = &run->scheme,
                                   .by_edits = run->request->measure == MEASURE_EDIT };
    bool done = open_input(run, progress);
    if (done && !run->is_done_before)
        done = read_collection(run, progress) && update_check_known(&run->is_done_before, &run->update, &run->known);
    if (done && !run->is_done_before)
        done = find_duplicates(run, progress) && (!run->request->audit || audit(run, progress)) && write_results(run);
    progress_end();
    return done;
}

static void print_result(const struct run *run, void (*print)(const struct dedup_result *result))
{
    struct dedup_result result = result_of(run);
    print(&result);
}

/* Texts are found without bands. */
static bool choose_scheme(struct run *run)
{
    const struct request *request = run->request;
    run->scheme = request->shared.scheme;
    if (request->measure != MEASURE_EDIT)
        return complete_scheme(&run->scheme, &request->shared, (twin_measure)request->measure);
    run->edits = edit_join_options(&request->shared, &run->scheme, request->max_edits);
    return true;
}

static int run_dedup(void *context)
{
    struct request *request = context;
    struct word_list stop_words = { 0 };
    struct run run = { .request = request };
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    if (request->output && is_standard(request->output))
        request->output = NULL;
    bool done = search_options_finish(&request->shared) && make_exec(&run.exec, &request->shared) &&
                load_stop_words(&request->shared, &stop_words) && choose_scheme(&run) && dedup_and_write(&run);
    bool show = done && !run.is_done_before;
    if (show && request->stats)
        print_result(&run, print_stats);
    else if (show && !request->shared.quiet)
        print_result(&run, print_summary);
    if (show && !request->shared.quiet) {
        remark_incomplete(twin_dedup_count(run.dedup).search.incomplete);
        remark_memory(&request->shared);
    }
    uint64_t skipped = twin_collection_count(run.collection).problems + twin_collection_count(run.other).problems;
    run_clear(&run);
    word_list_clear(&stop_words);
    return skipped_status(&request->shared, skipped, done ? EXIT_DONE : EXIT_ERROR);
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0.8), .max_edits = TWIN_EDIT_FAR };

const struct command command_dedup = {
    .name = "twinsift dedup",
    .summary = "write a collection without its near-duplicates",
    .usage = "[OPTION]... INPUT...",
    .about = "Keeps one document of each group of similar documents and writes its record byte for byte. A document "
             "is dropped only if it has been verified to be similar to the one kept for it. For folders of texts and "
             "for sets, the kept ids are written.\n\n"
             "Documents are considered in the order of --keep. A document that is similar to one already kept is "
             "dropped for the first such document; any other is kept. Unless --keep is first, the result does not "
             "depend on the order of the input.",
    .shared = TAKES_INPUT " " TAKES_SCHEME " threshold memory " TAKES_EXEC " wait no-sync quiet",
    .options = options,
    .most = SIZE_MAX,
    .status = "0  done\n"
              "2  error; a document that cannot be read is reported and left out\n" SKIPPED_STATUS,
    .examples =
        "twinsift dedup corpus.jsonl -o clean.jsonl\n"
        "twinsift dedup --threshold 0.9 --keep longest --groups groups.jsonl crawl.jsonl.zst -o clean.jsonl.zst\n"
        "twinsift dedup part-*.jsonl.gz -o clean/\n"
        "twinsift dedup --as lines --measure edit --max-edits 1 names.txt\n"
        "twinsift dedup --dry-run articles/",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_dedup,
};

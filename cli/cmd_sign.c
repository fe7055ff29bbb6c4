/* cmd_sign.c — twinsift sign: the signatures of documents in a file. */
#include "commands.h"
#include "read_documents.h"
#include "steps.h"
#include "support/inputs.h"
#include "support/memory.h"
#include "support/messages.h"
#include "support/paths.h"
#include "support/progress.h"
#include "support/search_options.h"
#include "support/usage.h"

struct request {
    struct shared_options shared;
    const char *output;
};

static const struct option_row options[] = {
    { "output", 'o', OPTIONS_OUTPUT, "FILE", "write the signatures to FILE; required", &option_text,
      OPTION_AT(struct request, output) },
    { 0 },
};

static bool write_collection(const struct request *request, const twin_input *input,
                             const twin_collection *collection)
{
    twin_buffer note = { 0 };
    bool good = steps_note(&note, &request->shared) && steps_note_sizes(&note, input);
    if (!good)
        fail_status("the inputs", TWIN_ENOMEM, NULL);
    good = good && steps_write_signatures(request->output, &request->shared.base, collection, &note);
    twin_buffer_clear(&note);
    return good;
}

/* On -1 the error has been reported; else how many documents were skipped. */
static int64_t sign(const struct request *request, const twin_scheme *scheme, twin_exec exec)
{
    const struct shared_options *shared = &request->shared;
    twin_progress progress = progress_begin(shared->quiet);
    int64_t skipped = -1;
    twin_input *input = open_inputs(shared, 0, progress);
    twin_collection_options wanted = { .scheme = *scheme,
                                       .ids_may_repeat = true,
                                       .memory_bytes = collection_memory(shared),
                                       .temp_folder = temp_folder(shared),
                                       .exec = exec,
                                       .strict = shared->strict,
                                       .progress = progress };
    twin_collection *collection = input ? read_documents(input, wanted, shared->quiet) : NULL;
    if (collection && write_collection(request, input, collection))
        skipped = (int64_t)twin_collection_count(collection).problems;
    progress_end();
    twin_collection_free(collection);
    twin_input_free(input);
    return skipped;
}

/* What cannot be opened again later. */
static const char *contradiction(const struct request *request)
{
    const struct request_base *base = &request->shared.base;
    if (request->shared.input.format == TWIN_INPUT_SETS)
        return "--sets: sets have no text to be signed; use pairs or dedup";
    for (size_t i = 0; i < base->count; i++)
        if (is_read_once(base->arguments[i]))
            return "standard input, or a pipe, cannot be read again by the next steps; give a file";
    return NULL;
}

static int run_sign(void *context)
{
    struct request *request = context;
    struct word_list stop_words = { 0 };
    twin_scheme scheme;
    twin_exec exec;
    const char *sentence = contradiction(request);
    if (sentence)
        return fail("%s", sentence);
    if (!steps_output_is_good(request->output, &request->shared.base) ||
        !steps_keep_signatures(request->output, &request->shared.base))
        return EXIT_ERROR;
    if (request->shared.input.ids ==
        TWIN_IDS_FIELD) /* there are other shards, and their lines have the same numbers */
        request->shared.input.ids = TWIN_IDS_FIELD_OR_PATH;
    bool ready = search_options_finish(&request->shared) && make_exec(&exec, &request->shared) &&
                 load_stop_words(&request->shared, &stop_words) &&
                 complete_scheme(&scheme, &request->shared, TWIN_JACCARD);
    int64_t skipped = ready ? sign(request, &scheme, exec) : -1;
    word_list_clear(&stop_words);
    return skipped < 0 ? EXIT_ERROR : skipped_status(&request->shared, (uint64_t)skipped, EXIT_DONE);
}

static const struct request defaults = { .shared = SHARED_DEFAULTS(0.8) };

const struct command command_sign = {
    .name = "twinsift sign",
    .summary = "dedup on several machines, step 1: sign the documents of a shard",
    .usage = "[OPTION]... INPUT... -o FILE",
    .about = "Reads documents and writes their signatures, ids and positions to FILE. From the files of all shards, "
             "band finds candidate pairs, join verifies them, and filter writes the kept documents: the same bytes "
             "as dedup of all inputs. All shards must be signed with the same options. join and filter read the "
             "inputs again, under the names given here.",
    .shared = TAKES_INPUT " " TAKES_SCHEME " threshold memory " TAKES_EXEC " no-sync quiet",
    .options = options,
    .least = 1,
    .most = SIZE_MAX,
    .status = "0  done\n"
              "2  error; a document that cannot be read is reported and left out\n" SKIPPED_STATUS,
    .examples = "twinsift sign part-00.jsonl.zst -o part-00.sig\n"
                "ls part-*.jsonl.zst | parallel twinsift sign --threads 1 {} -o '{= s/.jsonl.zst// =}.sig'",
    .defaults = &defaults,
    .size = sizeof defaults,
    .run = run_sign,
};

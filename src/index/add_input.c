/* add_input.c — all documents of an input are added.
 *
 * Workers sign documents into drafts (ingest.c), which are collected into a batch in the order of the input; a thread
 * in the background writes one batch while the next is being filled. */
#include <assert.h>
#include <stdlib.h>

#include "base/background.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/scratch.h"
#include "base/stages.h"
#include "index/draft.h"
#include "index/ingest.h"

enum { BATCH_DOCUMENTS = 20000, BATCH_BYTES = 128 << 20 };

struct adding {
    twin_index *index;
    const twin_input *input;
    twin_index_add_options options;
    twin_index_change *change;
    struct adder {
        struct twin__index_draft draft;
        twin_scratch scratch;
    } * adders;
    struct twin__index_batch filling, writing;
    struct twin__background background; /* writes a batch while the next documents are signed */
    twin_status status;                 /* of what it wrote */
    twin_error error;
};

static void begin_draft(void *context, int worker)
{
    struct adding *adding = context;
    twin__index_draft_empty(&adding->adders[worker].draft);
}

static twin_status draft_document(void *context, int worker, const twin_index_document *given, twin_position position,
                                  uint64_t *ill_formed, twin_error *error)
{
    (void)error;
    struct adding *adding = context;
    struct adder *adder = &adding->adders[worker];
    uint64_t before = adder->draft.repaired;
    twin_index_document document = *given;
    document.label = adding->options.label;
    document.time = adding->options.time;
    twin_status status = twin__index_draft_add(&adder->draft, adding->index, &adder->scratch, &document);
    *ill_formed += adder->draft.repaired - before;
    if (status == TWIN_OK)
        adder->draft.entries[adder->draft.count - 1].position = position;
    return status;
}

/* An index needs ids: a document with an empty one is named by its line too. */
static twin_status name_entries(struct twin__index_draft *draft, struct twin__reader *reader)
{
    for (size_t i = 0; i < draft->count; i++) {
        struct twin__index_draft_entry *entry = &draft->entries[i];
        if (entry->id_length)
            continue;
        assert(reader); /* sets have names */
        twin_text name = { 0 };
        twin_status status = twin__reader_finish(&entry->position, &name, reader);
        if (status != TWIN_OK)
            return status;
        entry->id = draft->bytes.length;
        entry->id_length = (uint32_t)name.length;
        status = twin_buffer_append(&draft->bytes, name.bytes, name.length);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

static void write_batch(void *context)
{
    struct adding *adding = context;
    adding->status = twin__index_batch_write(adding->change, adding->index, &adding->writing, &adding->error);
}

/* Waits for what is being written. */
static twin_status settle(struct adding *adding, twin_error *error)
{
    twin__background_wait(&adding->background);
    if (adding->status != TWIN_OK && error)
        *error = adding->error;
    return adding->status;
}

/* Starts to write what waits, at most a batch of it. */
static twin_status start_writing(struct adding *adding, twin_error *error)
{
    twin_status status = settle(adding, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__index_batch_move(&adding->writing, &adding->filling, adding->options.batch_documents))
        return twin__fail_memory(error);
    if (adding->options.exec.workers <= 1 || !twin__background_start(&adding->background, write_batch, adding))
        write_batch(adding); /* now */
    return TWIN_OK;
}

static bool is_full(const struct adding *adding)
{
    const struct twin__index_batch *filling = &adding->filling;
    return filling->count > 0 &&
           (filling->count >= adding->options.batch_documents || filling->bytes >= adding->options.batch_bytes);
}

static twin_status collect_draft(void *context, int worker, struct twin__reader *reader, twin_error *error)
{
    struct adding *adding = context;
    struct twin__index_draft *draft = &adding->adders[worker].draft;
    twin_status status = name_entries(draft, reader);
    if (status != TWIN_OK || !twin__index_batch_take(&adding->filling, draft))
        return twin__fail_memory(error);
    while (status == TWIN_OK && is_full(adding))
        status = start_writing(adding, error);
    return status;
}

/* Writes what is left; after a failure only waits for what was begun before it. */
static twin_status finish_writing(struct adding *adding, twin_status status, twin_error *error)
{
    while (status == TWIN_OK && adding->filling.count > 0)
        status = start_writing(adding, error);
    twin_error *wanted = status == TWIN_OK ? error : NULL;
    twin_status last = settle(adding, wanted);
    return status == TWIN_OK ? last : status;
}

static void clear_adding(struct adding *adding)
{
    for (int i = 0; i < adding->options.exec.workers; i++) {
        twin__index_draft_clear(&adding->adders[i].draft);
        twin__scratch_clear(&adding->adders[i].scratch);
    }
    free(adding->adders);
    twin__index_batch_clear(&adding->filling);
    twin__index_batch_clear(&adding->writing);
}

static twin_status add_input(twin_index_change *change, twin_index *index, const twin_input *input,
                             twin_index_add_options options, twin_error *error)
{
    if (!index || !input)
        return twin__fail_null(error, index ? "input" : "index");
    twin_status status = twin__check_reserved(error, options.reserved, "adding");
    if (status == TWIN_OK)
        status = twin__exec_complete(&options.exec, error);
    if (status != TWIN_OK)
        return status;
    twin_index_change unused = { 0 };
    struct twin__read_counts counts = { 0 };
    options.batch_documents = options.batch_documents ? options.batch_documents : BATCH_DOCUMENTS;
    options.batch_bytes = options.batch_bytes ? options.batch_bytes : BATCH_BYTES;
    struct adding adding = {
        .index = index, .input = input, .options = options, .change = change ? change : &unused
    };
    adding.adders = calloc((size_t)options.exec.workers, sizeof *adding.adders);
    if (!adding.adders)
        return twin__fail_memory(error);
    struct twin__index_ingest_options reading = { .index = index,
                                                  .input = input,
                                                  .exec = options.exec,
                                                  .strict = options.strict,
                                                  .process = draft_document,
                                                  .begin = begin_draft,
                                                  .collect = collect_draft,
                                                  .problem = options.problem,
                                                  .context = &adding,
                                                  .problem_context = options.context,
                                                  .stage = &twin__stage_adding };
    status = twin__index_ingest(&counts, &reading, error);
    adding.change->problems += counts.problems;
    adding.change->ill_formed += counts.ill_formed;
    status = finish_writing(&adding, status, error);
    clear_adding(&adding);
    return status;
}

twin_status twin_index_add_input(twin_index_change *change, twin_index *index, const twin_input *input,
                                 twin_index_add_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_adding);
    return twin__watch_end(&watch, add_input(change, index, input, options, error), error);
}

/* add.c — documents given in memory are prepared by several workers and written as one batch. */
#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/scratch.h"
#include "base/stages.h"
#include "index/draft.h"

enum { CHUNK = 64 }; /* documents that a worker takes at once */

struct drafting {
    const twin_index *index;
    const twin_index_document *documents;
    size_t count;
    struct drafter {
        struct twin__index_draft draft;
        twin_scratch scratch;
        twin_status status;
    } * drafters;
    struct twin__index_batch batch;
    twin_status status;
};

static void prepare_chunk(void *context, size_t chunk, int worker)
{
    struct drafting *drafting = context;
    struct drafter *drafter = &drafting->drafters[worker];
    size_t begin = chunk * CHUNK, end = begin + CHUNK < drafting->count ? begin + CHUNK : drafting->count;
    twin__index_draft_empty(&drafter->draft);
    drafter->status = TWIN_OK;
    for (size_t i = begin; i < end && drafter->status == TWIN_OK; i++) {
        drafter->status = twin__poll();
        if (drafter->status == TWIN_OK)
            drafter->status =
                twin__index_draft_add(&drafter->draft, drafting->index, &drafter->scratch, &drafting->documents[i]);
    }
}

static void collect_chunk(void *context, size_t chunk, int worker)
{
    struct drafting *drafting = context;
    struct drafter *drafter = &drafting->drafters[worker];
    size_t done = (chunk + 1) * CHUNK;
    if (drafting->status == TWIN_OK)
        drafting->status = drafter->status;
    if (drafting->status == TWIN_OK)
        drafting->status =
            twin__report(&twin__stage_adding_texts, done < drafting->count ? done : drafting->count, drafting->count);
    if (drafting->status == TWIN_OK && !twin__index_batch_take(&drafting->batch, &drafter->draft))
        drafting->status = TWIN_ENOMEM;
}

static twin_status check_documents(const twin_index *index, const twin_index_document *documents, size_t count,
                                   twin_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const twin_index_document *document = &documents[i];
        if (document->id.length == 0 || document->id.length > UINT32_MAX)
            return twin__fail(error, TWIN_EINVAL, "%s: a document needs an id to be added", index->path);
        if (!document->id.bytes)
            return twin__fail_null(error, "id.bytes");
        if (document->text.length && !document->text.bytes)
            return twin__fail_null(error, "text.bytes");
        if (document->item_count && !document->items)
            return twin__fail_null(error, "items");
    }
    return TWIN_OK;
}

static twin_status add_documents(twin_index_change *change, twin_index *index, const twin_index_document *documents,
                                 size_t count, twin_index_add_options options, twin_error *error)
{
    if (!index || (count && !documents))
        return twin__fail_null(error, index ? "documents" : "index");
    twin_exec exec = options.exec;
    twin_status status = twin__check_reserved(error, options.reserved, "adding");
    if (status == TWIN_OK)
        status = twin__exec_complete(&exec, error);
    if (status == TWIN_OK)
        status = check_documents(index, documents, count, error);
    if (status != TWIN_OK)
        return status;
    struct drafting drafting = { .index = index, .documents = documents, .count = count };
    drafting.drafters = calloc((size_t)exec.workers, sizeof *drafting.drafters);
    if (!drafting.drafters)
        return twin__fail_memory(error);
    twin__exec_in_order(exec, (count + CHUNK - 1) / CHUNK, prepare_chunk, collect_chunk, &drafting);
    status = drafting.status;
    if (status != TWIN_OK)
        twin__fail(error, status, "%s: %s", index->path, twin_status_text(status));
    else
        status = twin__index_batch_write(change, index, &drafting.batch, error);
    for (int i = 0; i < exec.workers; i++) {
        twin__index_draft_clear(&drafting.drafters[i].draft);
        twin__scratch_clear(&drafting.drafters[i].scratch);
    }
    twin__index_batch_clear(&drafting.batch);
    free(drafting.drafters);
    return status;
}

twin_status twin_index_add(twin_index_change *change, twin_index *index, const twin_index_document *documents,
                           size_t count, twin_index_add_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_adding_texts);
    return twin__watch_end(&watch, add_documents(change, index, documents, count, options, error), error);
}

/* view.c — views: what an index held at one instant.
 *
 * A view is a transaction that reads, with the posting lists looked up once, since they stay in place as long as it
 * lasts. It also has the buffers that a query needs, so a thread that keeps its view allocates nothing per query. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "index/blocks.h"
#include "index/draft.h"
#include "index/edits.h"
#include "index/verified.h"
#include "index/view.h"
#include "sketch/set.h"
#include "sketch/signer.h"

/* ---- opening ---- */

static twin_status find_lists(twin_index_view *view, twin_error *error)
{
    const twin_index *index = view->index;
    twin_status status = twin__index_lists_get(&view->bands, index, view->txn, TWIN__INDEX_POSTINGS_OF_SETS, 0,
                                               twin__index_bands(&index->options), error);
    return status == TWIN_OK
               ? twin__index_lists_get(&view->ids, index, view->txn, TWIN__INDEX_POSTINGS_OF_IDS, 0, 1, error)
               : status;
}

/* They are verified when they are used. */
static twin_status attach_lists(twin_index_view *view, twin_error *error)
{
    twin_status status = twin__index_verified_attach(&view->bands, view->index, TWIN__INDEX_POSTINGS_OF_SETS, error);
    return status == TWIN_OK
               ? twin__index_verified_attach(&view->ids, view->index, TWIN__INDEX_POSTINGS_OF_IDS, error)
               : status;
}

static uint64_t live_entries(const struct twin__index_lists *lists)
{
    uint64_t count = 0;
    for (size_t i = 0; i < lists->run_count; i++)
        count += lists->runs[i].entries - lists->runs[i].dead;
    return count;
}

/* What the counts say must exist does, as far as other counts show; so nothing that is missing goes unnoticed where
 * all of a table is read, or a whole run is lost. */
static twin_status compare_counts(const twin_index_view *view, twin_error *error)
{
    const struct twin__index_counts *counts = &view->counts;
    struct twin__store_sizes sizes;
    twin_status status = twin__store_measure(&sizes, view->txn, error);
    if (status != TWIN_OK)
        return status;
    bool good = sizes.records[TWIN__INDEX_DOCUMENTS] == counts->documents &&
                sizes.records[TWIN__INDEX_MEMBERS] == counts->documents &&
                sizes.records[TWIN__INDEX_SETS] == counts->sets &&
                live_entries(&view->bands) + (counts->empty_set > 0) == counts->sets &&
                live_entries(&view->ids) == counts->documents;
    return good ? TWIN_OK : twin__index_fail_damaged(error, view->index, "its counts are not what they should be");
}

static void end_read(twin_index_view *view)
{
    twin__index_verified_detach(&view->bands, view->index);
    twin__index_verified_detach(&view->ids, view->index);
    twin__index_lists_clear(&view->bands);
    twin__index_lists_clear(&view->ids);
    twin__store_cursor_close(&view->kept);
    twin__store_end_read(view->txn);
    twin__index_short_texts_free(view->short_texts);
    view->short_texts = NULL;
    view->read = 0;
    view->txn = NULL;
}

/* After a failure the view is empty. */
static twin_status begin_read(twin_index_view *view, twin_error *error)
{
    twin_status status = twin__store_begin_read(&view->txn, view->index->store, error);
    if (status == TWIN_OK)
        status = twin__index_get_counts(&view->counts, view->index, view->txn, error);
    if (status == TWIN_OK)
        status = find_lists(view, error);
    if (status == TWIN_OK)
        status = compare_counts(view, error);
    if (status == TWIN_OK)
        status = attach_lists(view, error);
    if (status == TWIN_OK)
        status = twin__store_cursor_open(&view->kept, view->txn, TWIN__INDEX_KEPT, error);
    if (status != TWIN_OK)
        end_read(view);
    return status;
}

twin_status twin_index_view_create(twin_index_view **out, twin_index *index, twin_error *error)
{
    if (!out || !index)
        return twin__fail_null(error, out ? "index" : "out");
    size_t slots = twin__index_slots(&index->options);
    twin_index_view *view = calloc(1, sizeof *view);
    *out = NULL;
    if (!view)
        return twin__fail_memory(error);
    view->index = index;
    view->query_signature = malloc(slots * sizeof *view->query_signature);
    view->signature = malloc(slots * sizeof *view->signature);
    twin_status status =
        view->query_signature && view->signature ? begin_read(view, error) : twin__fail_memory(error);
    if (status != TWIN_OK) {
        twin_index_view_free(view);
        return status;
    }
    *out = view;
    return TWIN_OK;
}

twin_status twin__index_view_check(const void *out, const twin_index_view *view, twin_error *error)
{
    if (!out || !view)
        return twin__fail_null(error, out ? "view" : "out");
    return view->txn ? TWIN_OK
                     : twin__fail(error, TWIN_EINVAL, "%s: the view is empty, since it could not be renewed",
                                  view->index->path);
}

uint64_t twin_index_documents(const twin_index_view *view)
{
    return view && view->txn ? view->counts.documents : 0;
}

twin_status twin_index_view_renew(twin_index_view *view, twin_error *error)
{
    if (!view)
        return twin__fail_null(error, "view");
    end_read(view);
    return begin_read(view, error);
}

void twin_index_view_free(twin_index_view *view)
{
    if (!view)
        return;
    end_read(view);
    twin__scratch_clear(&view->scratch);
    twin__scratch_clear(&view->again);
    twin__items_clear(&view->items);
    twin__items_clear(&view->candidates);
    twin__items_clear(&view->spare);
    twin_buffer_clear(&view->text);
    twin__index_unpacker_free(view->unpacker);
    free(view->query_signature);
    free(view->signature);
    free(view->found);
    free(view->hits.items);
    free(view);
}

void twin__index_views_free(twin_index_view **views, int count)
{
    for (int i = 0; views && i < count; i++)
        twin_index_view_free(views[i]);
    free(views);
}

/* A transaction committed between two views makes them differ; then the older ones are renewed, until all agree. */
static twin_status agree(twin_index_view **views, int count, twin_error *error)
{
    uint64_t latest = 0;
    for (int i = 0; i < count; i++) {
        assert(views[i]);
        uint64_t seen = views[i]->counts.transaction;
        if (seen == latest)
            continue;
        if (seen < latest) {
            twin_status status = twin_index_view_renew(views[i], error);
            if (status != TWIN_OK)
                return status;
            seen = views[i]->counts.transaction;
        }
        if (seen > latest) { /* those before are older now */
            latest = seen;
            i = -1;
        }
    }
    return TWIN_OK;
}

twin_status twin__index_views_create(twin_index_view ***out, int count, twin_index *index, twin_error *error)
{
    twin_index_view **views = calloc((size_t)count, sizeof(void *));
    *out = NULL;
    if (!views)
        return twin__fail_memory(error);
    twin_status status = TWIN_OK;
    for (int i = 0; i < count && status == TWIN_OK; i++)
        status = twin_index_view_create(&views[i], index, error);
    if (status == TWIN_OK)
        status = agree(views, count, error);
    if (status != TWIN_OK) {
        twin__index_views_free(views, count);
        return status;
    }
    *out = views;
    return TWIN_OK;
}

/* ---- records ---- */

twin_status twin__index_view_set(struct twin__index_set_record *out, bool *found, uint32_t *signature,
                                 twin_index_view *view, uint64_t set, twin_error *error)
{
    struct twin__index_source source = { view->index, view->txn };
    return twin__index_get_set(out, found, signature, source, set, error);
}

twin_status twin__index_each_set(const twin_index_view *view, twin__index_set_visit *visit, void *context,
                                 twin_error *error)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record = { 0 };
    uint64_t visited = 0;
    twin_status status = twin__store_cursor_open(&cursor, view->txn, TWIN__INDEX_SETS, error);
    if (status == TWIN_OK)
        status = twin__store_move(&record, &cursor, TWIN__STORE_FIRST, error);
    for (; status == TWIN_OK && record.value.at; visited++) {
        status = twin__poll();
        if (status == TWIN_OK)
            status = visit(context, record, error);
        if (status == TWIN_OK)
            status = twin__store_move(&record, &cursor, TWIN__STORE_NEXT, error);
    }
    twin__store_cursor_close(&cursor);
    return status == TWIN_OK && visited != view->counts.sets
               ? twin__index_fail_damaged(error, view->index, "it has other sets than its counts say")
               : status;
}

twin_status twin__index_view_document(struct twin__index_document_record *out, bool *found, twin_index_view *view,
                                      uint64_t document, twin_error *error)
{
    struct twin__index_source source = { view->index, view->txn };
    return twin__index_get_document(out, found, source, document, error);
}

twin_status twin__index_view_text(twin_text *out, twin_index_view *view, uint64_t set, twin_error *error)
{
    struct twin__bytes kept;
    twin_status status = twin__index_kept_get(&kept, view->index, &view->kept, set, error);
    if (status != TWIN_OK)
        return status;
    status = twin__index_text_decode(&view->text, &view->unpacker, SIZE_MAX, kept);
    *out = (twin_text){ view->text.bytes, view->text.length };
    return status == TWIN_EFORMAT ? twin__index_fail_damaged(error, view->index, "a text does not fit its checksum")
           : status == TWIN_OK    ? TWIN_OK
                                  : twin__fail_memory(error);
}

/* The text was normalised when it was kept, and normalising it again would change nothing. */
static twin_status shingle_text(twin_set *out, twin_index_view *view, uint64_t set, twin_error *error)
{
    twin_text text;
    twin_status status = twin__index_view_text(&text, view, set, error);
    if (status != TWIN_OK)
        return status;
    status = twin__signer_shingle_normalised(&view->again.sign, view->index->signer, text);
    if (status == TWIN_OK)
        status = twin__set_make(out, &view->again.sign.items, &view->again.sign.spare);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

twin_status twin__index_view_items(twin_set *out, twin_index_view *view, uint64_t set, uint64_t size,
                                   twin_error *error)
{
    *out = (twin_set){ 0 };
    if (size == 0)
        return TWIN_OK;
    if (view->index->options.keep == TWIN_KEEP_TEXT)
        return shingle_text(out, view, set, error);
    struct twin__bytes kept;
    twin_status status = twin__index_kept_get(&kept, view->index, &view->kept, set, error);
    if (status != TWIN_OK)
        return status;
    status = twin__index_items_decode(&view->items, size, twin__index_item_bits(&view->index->options), kept);
    if (status != TWIN_OK)
        return status == TWIN_EFORMAT
                   ? twin__index_fail_damaged(error, view->index, "a set does not fit its checksum")
                   : twin__fail_memory(error);
    *out = (twin_set){ view->items.items, view->items.count };
    return TWIN_OK;
}

twin_index_entry twin__index_entry_of(uint64_t number, const struct twin__index_document_record *document,
                                      uint64_t set_size)
{
    return (twin_index_entry){ .document = number,
                               .id = document->id,
                               .id_is_number = document->id_is_number,
                               .label = document->label,
                               .time = document->time,
                               .set = document->set,
                               .set_size = set_size };
}

/* ---- public ---- */

static twin_status entry_of(twin_index_entry *out, twin_index_view *view, uint64_t number,
                            const struct twin__index_document_record *document, twin_error *error)
{
    struct twin__index_set_record set;
    twin_status status = twin__index_view_set(&set, NULL, NULL, view, document->set, error);
    if (status == TWIN_OK)
        *out = twin__index_entry_of(number, document, set.size);
    return status;
}

/* Finds the document with the id among the entries of a list; a list may name removed ones. */
static twin_status find_in_run(twin_index_entry *out, bool *found, twin_index_view *view, size_t run, twin_text id,
                               twin_error *error)
{
    uint32_t hash = twin__index_id_hash(view->index, id);
    struct twin__index_list list = view->ids.lists[run];
    size_t begin, end;
    if (!twin__index_list_search(&begin, &end, list, hash))
        return twin__index_fail_damaged(error, view->index, "a list does not fit its checksum");
    for (size_t i = begin; i < end; i++) {
        uint64_t number = view->ids.runs[run].first + (uint32_t)twin__index_list_entry(list, i);
        struct twin__index_document_record document;
        bool there;
        twin_status status = twin__index_view_document(&document, &there, view, number, error);
        if (status != TWIN_OK)
            return status;
        if (!there)
            continue;
        *found = document.id.length == id.length && memcmp(document.id.bytes, id.bytes, id.length) == 0;
        if (*found)
            return entry_of(out, view, number, &document, error);
    }
    return TWIN_OK;
}

twin_status twin_index_find(twin_index_entry *out, bool *found, twin_index_view *view, twin_text id,
                            twin_error *error)
{
    if (!found || !id.bytes)
        return twin__fail_null(error, found ? "id.bytes" : "found");
    *found = false;
    twin_status status = twin__index_view_check(out, view, error);
    for (size_t run = 0; status == TWIN_OK && run < view->ids.run_count && !*found; run++)
        status = find_in_run(out, found, view, run, id, error);
    return status;
}

twin_status twin_index_signature(const uint32_t **out, twin_index_view *view, twin_index_entry entry,
                                 twin_error *error)
{
    struct twin__index_set_record set;
    twin_status status = twin__index_view_check(out, view, error);
    if (status != TWIN_OK)
        return status;
    *out = view->signature;
    return twin__index_view_set(&set, NULL, view->signature, view, entry.set, error);
}

twin_status twin_index_set(twin_set *out, twin_index_view *view, twin_index_entry entry, twin_error *error)
{
    twin_status status = twin__index_view_check(out, view, error);
    if (status != TWIN_OK)
        return status;
    if (view->index->options.by_edits)
        return twin__fail(error, TWIN_EUNSUPPORTED, "%s: compares texts and has no sets", view->index->path);
    if (view->index->options.keep == TWIN_KEEP_NONE)
        return twin__fail(error, TWIN_EUNSUPPORTED, "%s: was created without sets (--keep)", view->index->path);
    return twin__index_view_items(out, view, entry.set, entry.set_size, error);
}

twin_status twin_index_text(twin_text *out, twin_index_view *view, twin_index_entry entry, twin_error *error)
{
    twin_status status = twin__index_view_check(out, view, error);
    if (status != TWIN_OK)
        return status;
    *out = (twin_text){ "", 0 };
    if (view->index->options.keep != TWIN_KEEP_TEXT)
        return twin__fail(error, TWIN_EUNSUPPORTED, "%s: was created without texts (--keep)", view->index->path);
    if (entry.set_size == 0)
        return TWIN_OK;
    return twin__index_view_text(out, view, entry.set, error);
}

static twin_status each(twin_index_view *view, struct twin__store_cursor *cursor, twin_index_visit *visit,
                        void *context, twin_error *error)
{
    struct twin__store_record record;
    uint64_t visited = 0;
    twin_status status = twin__store_move(&record, cursor, TWIN__STORE_FIRST, error);
    for (; status == TWIN_OK && record.value.at;
         status = twin__store_move(&record, cursor, TWIN__STORE_NEXT, error), visited++) {
        struct twin__index_document_record document;
        twin_index_entry entry;
        if (!twin__index_document_decode(&document, record.value))
            return twin__index_fail_damaged(error, view->index, "a document does not fit its checksum");
        status = entry_of(&entry, view, record.key, &document, error);
        if (status != TWIN_OK)
            return status;
        if (!visit(context, &entry))
            return TWIN_ESTOPPED;
    }
    return status == TWIN_OK && visited != view->counts.documents
               ? twin__index_fail_damaged(error, view->index, "it has other documents than its counts say")
               : status;
}

twin_status twin_index_each(twin_index_view *view, twin_index_visit *visit, void *context, twin_error *error)
{
    if (!visit)
        return twin__fail_null(error, "visit");
    struct twin__store_cursor cursor = { 0 };
    twin_status status = twin__index_view_check(&cursor, view, error);
    if (status == TWIN_OK)
        status = twin__store_cursor_open(&cursor, view->txn, TWIN__INDEX_DOCUMENTS, error);
    if (status == TWIN_OK)
        status = each(view, &cursor, visit, context, error);
    twin__store_cursor_close(&cursor);
    return status;
}

/* answer.c — an answer lists the documents of the sets that a query found, by label and age, the most similar set
 * first. */
#include "index/view.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

void twin_index_answer_clear(twin_index_answer *answer)
{
    if (!answer)
        return;
    free(answer->entries);
    twin_buffer_clear(&answer->ids);
    *answer = (twin_index_answer){ 0 };
}

/* How many documents of each label have been reported. */
struct label_counts {
    struct label_count {
        uint32_t label;
        size_t count;
    } * items;
    size_t count, capacity;
};

static size_t *count_of(struct label_counts *labels, uint32_t label)
{
    for (size_t i = 0; i < labels->count; i++)
        if (labels->items[i].label == label)
            return &labels->items[i].count;
    if (!TWIN__ARRAY_GROW(&labels->items, &labels->capacity, labels->count, 1))
        return NULL;
    labels->items[labels->count] = (struct label_count){ label, 0 };
    return &labels->items[labels->count++].count;
}

struct report {
    twin_index_answer *out;
    twin_index_view *view;
    twin_index_query_options options;
    struct twin__store_cursor members;
    struct label_counts labels;
    const struct twin__index_found *set; /* in hand */
    double similarity;
};

/* The buffer of ids may move while it grows, so ids get their pointers when the answer is complete. */
static twin_status add_document(struct report *report, uint64_t number, twin_error *error)
{
    twin_index_answer *out = report->out;
    twin_index_view *view = report->view;
    struct twin__index_document_record document;
    twin_status status = twin__index_view_document(&document, NULL, view, number, error);
    if (status != TWIN_OK)
        return status;
    if (document.set != report->set->set)
        return twin__index_fail_damaged(error, view->index, "a set has a member that belongs to another");
    if (!TWIN__ARRAY_GROW(&out->entries, &out->capacity, out->count, 1) ||
        twin_buffer_append(&out->ids, document.id.bytes, document.id.length) != TWIN_OK)
        return twin__fail_memory(error);
    twin_index_entry *entry = &out->entries[out->count++];
    *entry = twin__index_entry_of(number, &document, report->set->size);
    entry->id.bytes = NULL;
    entry->similarity = report->similarity;
    return TWIN_OK;
}

/* Adds the documents of a set while more are wanted; of a label that has enough all further ones are skipped at
 * once. */
static twin_status add_members(struct report *report, twin_error *error)
{
    const struct twin__index_found *set = report->set;
    twin_index_view *view = report->view;
    size_t top = report->options.top;
    bool per_label = report->options.per_label;
    struct twin__store_record member;
    twin_status status = twin__store_seek(&member, &report->members, set->set, TWIN__STORE_AT, error);
    if (status == TWIN_OK && (!member.value.at || member.list_length != set->members))
        return twin__index_fail_damaged(error, view->index, "a set has another number of documents than it says");
    while (status == TWIN_OK && member.value.at && (per_label || !top || report->out->count < top)) {
        uint32_t label;
        uint64_t number;
        if (!twin__index_member_decode(&label, &number, member.value))
            return twin__index_fail_damaged(error, view->index, "a member of a set is not what it should be");
        size_t *count = per_label ? count_of(&report->labels, label) : NULL;
        if (per_label && !count)
            return twin__fail_memory(error);
        if (count && *count >= (top ? top : 1)) {
            unsigned char next[TWIN__INDEX_MEMBER_BYTES];
            if (label == UINT32_MAX)
                return TWIN_OK;
            twin__index_member_encode(next, label + 1, 0);
            status = twin__store_seek_value(&member, &report->members, set->set,
                                            (struct twin__bytes){ next, sizeof next }, error);
            continue;
        }
        status = add_document(report, number, error);
        if (status != TWIN_OK)
            return status;
        if (count)
            ++*count;
        status = twin__store_move(&member, &report->members, TWIN__STORE_NEXT_IN_LIST, error);
    }
    return status;
}

twin_status twin__index_answer_fill(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                    twin_error *error)
{
    struct report report = { .out = out, .view = view, .options = options };
    twin_status status = twin__store_cursor_open(&report.members, view->txn, TWIN__INDEX_MEMBERS, error);
    for (size_t i = 0; i < view->hits.count && status == TWIN_OK; i++) {
        report.set = &view->found[view->hits.items[i].document];
        report.similarity = view->hits.items[i].similarity;
        status = add_members(&report, error);
    }
    twin__store_cursor_close(&report.members);
    free(report.labels.items);
    size_t position = 0;
    for (size_t i = 0; i < out->count; i++) {
        out->entries[i].id.bytes = out->ids.bytes + position;
        position += out->entries[i].id.length;
    }
    return status;
}

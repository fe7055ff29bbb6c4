/* view.h — what an index held at one instant. */
#ifndef TWIN_INDEX_VIEW_H
#define TWIN_INDEX_VIEW_H

#include "base/scratch.h"
#include "index/hits.h"
#include "index/postings.h"

struct twin_index_view {
    twin_index *index;
    twin__store_txn *txn;
    struct twin__store_cursor kept;
    struct twin__index_counts counts;
    struct twin__index_lists bands, ids;
    twin_scratch scratch; /* of the query */
    twin_items items;     /* a set of the index */
    twin_buffer text;     /* a text of the index */
    void *unpacker;       /* for it */
    twin_scratch again;   /* to make a set of it */
    uint32_t *query_signature, *signature;
    uint64_t query_ill_formed;    /* sequences in the text of the query */
    twin_items candidates, spare; /* sets that share a band with the query */
    struct twin__index_found {
        uint64_t set, size, members;
    } * found; /* candidates that passed the gate */
    size_t found_capacity;
    struct twin__query_hits hits;                /* their documents are numbers in `found` */
    struct twin__index_short_texts *short_texts; /* of an index by edits; NULL: not read yet */
    uint64_t read;                               /* texts that were read one by one because they share a segment */
};

/* What a public call checks first: `out` and the view are given, and it could be renewed the last time. */
twin_status twin__index_view_check(const void *out, const twin_index_view *view, twin_error *error);

/* A record of the view, as in handle.h. */
twin_status twin__index_view_set(struct twin__index_set_record *out, bool *found, uint32_t *signature,
                                 twin_index_view *view, uint64_t set, twin_error *error);
twin_status twin__index_view_document(struct twin__index_document_record *out, bool *found, twin_index_view *view,
                                      uint64_t document, twin_error *error);
/* Calls `visit` with the record of each set, in the order of their numbers, until it fails. */
typedef twin_status twin__index_set_visit(void *context, struct twin__store_record record, twin_error *error);
twin_status twin__index_each_set(const twin_index_view *view, twin__index_set_visit *visit, void *context,
                                 twin_error *error);

/* The text that is kept of a set that is not empty; it lives until the next one is read. */
twin_status twin__index_view_text(twin_text *out, twin_index_view *view, uint64_t set, twin_error *error);

twin_status twin__index_view_items(twin_set *out, twin_index_view *view, uint64_t set, uint64_t size,
                                   twin_error *error);

twin_index_entry twin__index_entry_of(uint64_t number, const struct twin__index_document_record *document,
                                      uint64_t set_size);

/* Views of one instant, one per worker. */
twin_status twin__index_views_create(twin_index_view ***out, int count, twin_index *index, twin_error *error);
void twin__index_views_free(twin_index_view **views, int count);

/* ---- answer.c: an answer lists the documents of the sets that a query found */

/* Adds the documents of view->hits, as many as are wanted, to the answer, which is empty. */
twin_status twin__index_answer_fill(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                    twin_error *error);

/* ---- query.c: the documents of an index that are similar to a query */

/* Replaces the answer by the documents that are similar to a text or a set. */
twin_status twin__index_query_run(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                  const twin_index_document *document, twin_error *error);

/* A set that is in a list but not there was removed, and then it has no members either. The cursor is opened when it is
 * needed first. */
twin_status twin__index_expect_removed(struct twin__store_cursor *members, const twin_index_view *view, uint64_t set,
                                       twin_error *error);

#endif

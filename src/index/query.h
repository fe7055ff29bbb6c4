/* query.h — the documents of an index that are similar to a query. */
#ifndef TWIN_INDEX_QUERY_H
#define TWIN_INDEX_QUERY_H

#include "index/view.h"

/* Replaces the answer by the documents that are similar to a text or a set. */
twin_status twin__index_query_run(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                  const twin_index_document *document, twin_error *error);

/* A set that is in a list but not there was removed, and then it has no members either. The cursor is opened when it is
 * needed first. */
twin_status twin__index_expect_removed(struct twin__store_cursor *members, const twin_index_view *view, uint64_t set,
                                       twin_error *error);

#endif

/* query.h — the documents of an index that are similar to a query. */
#ifndef TWIN_INDEX_QUERY_H
#define TWIN_INDEX_QUERY_H

#include "index/view.h"

/* Replaces the answer by the documents that are similar to a text or a set. */
twin_status twin__index_query_run(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                  const twin_index_document *document, twin_error *error);

#endif

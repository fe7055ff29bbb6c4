/* answer.h — an answer lists the documents of the sets that a query found. */
#ifndef TWIN_INDEX_ANSWER_H
#define TWIN_INDEX_ANSWER_H

#include "index/view.h"

/* Adds the documents of view->hits, as many as are wanted, to the answer, which is empty. */
twin_status twin__index_answer_fill(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                    twin_error *error);

#endif

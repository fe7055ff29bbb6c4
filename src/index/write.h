/* write.h — batches go to the file. */
#ifndef TWIN_INDEX_WRITE_H
#define TWIN_INDEX_WRITE_H

#include "index/draft.h"

/* Writes a batch in one transaction, and empties it when it is written. */
twin_status twin__index_batch_write(twin_index_change *change, twin_index *index, struct twin__index_batch *batch,
                                    twin_error *error);

#endif

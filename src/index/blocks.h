/* blocks.h — where what is kept of sets is stored. */
#ifndef TWIN_INDEX_BLOCKS_H
#define TWIN_INDEX_BLOCKS_H

#include "index/handle.h"

/* What is kept of a set; it lives until the cursor's transaction writes or ends. That there is none is damage. */
twin_status twin__index_kept_get(struct twin__bytes *out, const twin_index *index, struct twin__store_cursor *cursor,
                                 uint64_t set, twin_error *error);

/* What is kept of the last sets, not yet in a block. */
struct twin__index_unwritten {
    struct twin__index_kept *list;
    size_t count, capacity, bytes;
};
void twin__index_unwritten_clear(struct twin__index_unwritten *unwritten);

/* Adds what is kept of a set with a greater number than all before; its bytes must stay valid until the last block is
 * written. */
twin_status twin__index_blocks_add(struct twin__index_writing *writing, struct twin__index_unwritten *unwritten,
                                   struct twin__index_kept kept);
twin_status twin__index_blocks_finish(struct twin__index_writing *writing, struct twin__index_unwritten *unwritten);

/* Call it after a set was removed from its table. Compacting does it for all and leaves nothing of removed ones. */
twin_status twin__index_blocks_remove(struct twin__index_writing *writing, struct twin__index_unwritten *unwritten,
                                      uint64_t set);
twin_status twin__index_blocks_compact(struct twin__index_writing *writing);

#endif

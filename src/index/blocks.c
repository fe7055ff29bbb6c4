/* blocks.c — what is kept of sets is stored in blocks, many sets in one value of the file.
 *
 * A value of more than half a page has pages to itself, so each set alone would waste half a page; and one put is
 * faster than ten. Sets are numbered as they come, so a block holds a range of numbers and is found by the first.
 * What is kept of a removed set stays until half of its block is removed: then the block is written again without
 * them. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "index/blocks.h"

/* A block ends before it would be larger; a larger set has one of its own. Its head is checked each time it is used, so
 * there are not too many in it: two thousand names took a third of the time of a query. */
enum { BLOCK_BYTES = 1 << 16, BLOCK_SETS = 256 };

/* A block is written again when at most this many of a hundred of its sets are left: after a removal half, so that
 * each byte is copied at most once more; when compacting all, so that no removed one stays. */
enum { HALF = 50, ALL = 100 };

/* ---- finding ---- */

/* The block that holds what is kept of `set`, if anything does: the last that begins before it. */
static twin_status find_block(struct twin__store_record *out, const twin_index *index,
                              struct twin__store_cursor *cursor, uint64_t set, twin_error *error)
{
    twin_status status = twin__store_seek(out, cursor, set, TWIN__STORE_AT_OR_BEFORE, error);
    return status == TWIN_OK && !out->value.at
               ? twin__index_fail_damaged(error, index, "what should be kept of a set is missing")
               : status;
}

twin_status twin__index_kept_get(struct twin__bytes *out, const twin_index *index, struct twin__store_cursor *cursor,
                                 uint64_t set, twin_error *error)
{
    struct twin__index_block block;
    struct twin__index_kept kept;
    struct twin__store_record record;
    twin_status status = find_block(&record, index, cursor, set, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__index_block_decode(&block, record.key, record.value, index->version))
        return twin__index_fail_damaged(error, index, "a block of kept sets does not fit its checksum");
    size_t place = twin__index_block_find(&block, set);
    if (place == block.count || !twin__index_block_get(&kept, &block, place))
        return twin__index_fail_damaged(error, index, "what should be kept of a set is missing");
    *out = kept.bytes;
    return TWIN_OK;
}

/* ---- writing ---- */

void twin__index_unwritten_clear(struct twin__index_unwritten *unwritten)
{
    free(unwritten->list);
    *unwritten = (struct twin__index_unwritten){ 0 };
}

static twin_status put_block(struct twin__index_writing *writing, uint64_t first, const struct twin__index_kept *kept,
                             size_t count)
{
    void *room;
    twin_status status =
        twin__store_reserve(&room, writing->txn, TWIN__INDEX_KEPT, first, twin__index_block_bytes(kept, count),
                            TWIN__STORE_APPEND, writing->error);
    if (status == TWIN_OK)
        twin__index_block_encode(room, first, kept, count, writing->index->version);
    return status;
}

twin_status twin__index_blocks_finish(struct twin__index_writing *writing, struct twin__index_unwritten *unwritten)
{
    if (unwritten->count == 0)
        return TWIN_OK;
    twin_status status = put_block(writing, unwritten->list[0].set, unwritten->list, unwritten->count);
    unwritten->count = unwritten->bytes = 0;
    return status;
}

twin_status twin__index_blocks_add(struct twin__index_writing *writing, struct twin__index_unwritten *unwritten,
                                   struct twin__index_kept kept)
{
    twin_status status = TWIN_OK;
    if (unwritten->bytes + kept.bytes.length > BLOCK_BYTES || unwritten->count == BLOCK_SETS)
        status = twin__index_blocks_finish(writing, unwritten);
    if (status != TWIN_OK)
        return status;
    if (!TWIN__ARRAY_GROW(&unwritten->list, &unwritten->capacity, unwritten->count, 1))
        return twin__fail_memory(writing->error);
    unwritten->list[unwritten->count++] = kept;
    unwritten->bytes += kept.bytes.length;
    return TWIN_OK;
}

/* ---- removing ---- */

/* Those of a block whose sets are still there; `out` has room for all. */
static twin_status list_live(struct twin__index_kept *out, size_t *count, struct twin__index_writing *writing,
                             const struct twin__index_block *block)
{
    *count = 0;
    for (size_t i = 0; i < block->count; i++) {
        if (!twin__index_block_get(&out[*count], block, i))
            return twin__index_fail_damaged(writing->error, writing->index, "a block of kept sets is out of order");
        struct twin__bytes record;
        twin_status status =
            twin__store_get(&record, writing->txn, TWIN__INDEX_SETS, out[*count].set, writing->error);
        if (status != TWIN_OK)
            return status;
        *count += record.at != NULL;
    }
    return TWIN_OK;
}

/* The new block is made in memory, because what it holds is read from the one it replaces. */
static twin_status replace_block(struct twin__index_writing *writing, uint64_t first,
                                 const struct twin__index_kept *live, size_t count)
{
    if (count == 0)
        return twin__store_delete(writing->txn, TWIN__INDEX_KEPT, first, NULL, writing->error);
    size_t length = twin__index_block_bytes(live, count);
    void *record = malloc(length);
    if (!record)
        return twin__fail_memory(writing->error);
    twin__index_block_encode(record, first, live, count, writing->index->version);
    twin_status status = twin__store_put(writing->txn, TWIN__INDEX_KEPT, first,
                                         (struct twin__bytes){ record, length }, TWIN__STORE_SET, writing->error);
    free(record);
    return status;
}

/* Writes a block again when no more than `most_live` in a hundred of it are still there, and not all. */
static twin_status compact_block(struct twin__index_writing *writing, struct twin__store_record record,
                                 size_t most_live)
{
    struct twin__index_block block;
    size_t count;
    if (!twin__index_block_decode(&block, record.key, record.value, writing->index->version))
        return twin__index_fail_damaged(writing->error, writing->index,
                                        "a block of kept sets does not fit its checksum");
    struct twin__index_kept *live = malloc(block.count * sizeof *live);
    if (!live)
        return twin__fail_memory(writing->error);
    twin_status status = list_live(live, &count, writing, &block);
    if (status == TWIN_OK && count < block.count && 100 * count <= most_live * block.count)
        status = replace_block(writing, record.key, live, count);
    free(live);
    return status;
}

twin_status twin__index_blocks_remove(struct twin__index_writing *writing, struct twin__index_unwritten *unwritten,
                                      uint64_t set)
{
    struct twin__store_cursor cursor = { 0 };
    struct twin__store_record record;
    twin_status status = TWIN_OK;
    if (unwritten->count && set >= unwritten->list[0].set)
        status = twin__index_blocks_finish(writing, unwritten);
    if (status == TWIN_OK)
        status = twin__store_cursor_open(&cursor, writing->txn, TWIN__INDEX_KEPT, writing->error);
    if (status == TWIN_OK)
        status = find_block(&record, writing->index, &cursor, set, writing->error);
    if (status == TWIN_OK)
        status = compact_block(writing, record, HALF);
    twin__store_cursor_close(&cursor);
    return status;
}

/* Goes from number to number, because a block that is written again moves. */
twin_status twin__index_blocks_compact(struct twin__index_writing *writing)
{
    struct twin__store_cursor cursor;
    twin_status status = twin__store_cursor_open(&cursor, writing->txn, TWIN__INDEX_KEPT, writing->error);
    for (uint64_t next = 0; status == TWIN_OK;) {
        struct twin__store_record record;
        status = twin__store_seek(&record, &cursor, next, TWIN__STORE_AT_OR_AFTER, writing->error);
        if (status != TWIN_OK || !record.value.at)
            break;
        next = record.key + 1;
        status = compact_block(writing, record, ALL);
    }
    twin__store_cursor_close(&cursor);
    return status;
}

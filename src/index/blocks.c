/* blocks.c — where what is kept of sets lies: many in one value of the file.
 *
 * A value of more than half a page has pages to itself, so each set alone would waste half a page; and one put is quicker
 * than ten. Sets are numbered as they come, so a block holds a stretch of numbers and is found by the first. What is
 * kept of a removed set stays until half of its block is gone: then the block is written anew without them. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "index/index_private.h"

/* A block ends before it would be larger; a larger set has one of its own. */
enum { BLOCK_BYTES = 1 << 16 };

/* ---- finding ---- */

/* The block with the greatest number up to `set`. MDB_NOTFOUND: there is none. */
static int find_block(uint64_t *first, MDB_val *value, MDB_cursor *cursor, uint64_t set)
{
    MDB_val key = twin__number_key(&set);
    int code = mdb_cursor_get(cursor, &key, value, MDB_SET_RANGE);
    bool later = code == MDB_SUCCESS && twin__key_number(first, key) && *first > set;
    if (code == MDB_NOTFOUND || later)
        code = mdb_cursor_get(cursor, &key, value, later ? MDB_PREV : MDB_LAST);
    if (code == MDB_SUCCESS && !twin__key_number(first, key))
        code = MDB_CORRUPTED;
    return code;
}

twin_status twin__kept_get(struct twin__bytes *out, const twin_index *index, MDB_cursor *cursor, uint64_t set,
                           twin_error *error)
{
    struct twin__block block;
    struct twin__kept kept;
    uint64_t first;
    MDB_val value;
    int code = find_block(&first, &value, cursor, set);
    if (code == MDB_NOTFOUND)
        return twin__fail_damaged(error, index, "what should be kept of a set is missing");
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, index, code);
    if (!twin__block_decode(&block, first, twin__bytes_of(value)))
        return twin__fail_damaged(error, index, "a block of kept sets does not fit its checksum");
    size_t place = twin__block_find(&block, set);
    if (place == block.count || !twin__block_get(&kept, &block, place))
        return twin__fail_damaged(error, index, "what should be kept of a set is missing");
    *out = kept.bytes;
    return TWIN_OK;
}

/* ---- writing ---- */

void twin__unwritten_clear(struct twin__unwritten *unwritten)
{
    free(unwritten->list);
    *unwritten = (struct twin__unwritten){ 0 };
}

static twin_status put_block(struct twin__writing *writing, uint64_t first, const struct twin__kept *kept,
                             size_t count)
{
    MDB_val key = twin__number_key(&first), value = { twin__block_bytes(kept, count), NULL };
    twin_status status = twin__from_lmdb(
        writing, mdb_put(writing->txn, writing->index->tables[TWIN__KEPT], &key, &value, MDB_RESERVE | MDB_APPEND));
    if (status == TWIN_OK)
        twin__block_encode(value.mv_data, first, kept, count);
    return status;
}

twin_status twin__blocks_finish(struct twin__writing *writing, struct twin__unwritten *unwritten)
{
    if (unwritten->count == 0)
        return TWIN_OK;
    twin_status status = put_block(writing, unwritten->list[0].set, unwritten->list, unwritten->count);
    unwritten->count = unwritten->bytes = 0;
    return status;
}

twin_status twin__blocks_add(struct twin__writing *writing, struct twin__unwritten *unwritten, struct twin__kept kept)
{
    twin_status status = TWIN_OK;
    if (unwritten->bytes + kept.bytes.length > BLOCK_BYTES)
        status = twin__blocks_finish(writing, unwritten);
    if (status != TWIN_OK)
        return status;
    if (!twin__array_grow(&unwritten->list, &unwritten->capacity, unwritten->count, 1, sizeof *unwritten->list))
        return twin__fail_memory(writing->error);
    unwritten->list[unwritten->count++] = kept;
    unwritten->bytes += kept.bytes.length;
    return TWIN_OK;
}

/* ---- removing ---- */

/* Those of a block whose sets are still there; `out` has room for all. */
static twin_status list_living(struct twin__kept *out, size_t *count, struct twin__writing *writing,
                               const struct twin__block *block)
{
    *count = 0;
    for (size_t i = 0; i < block->count; i++) {
        if (!twin__block_get(&out[*count], block, i))
            return twin__fail_damaged(writing->error, writing->index, "a block of kept sets is out of order");
        MDB_val key = twin__number_key(&out[*count].set), value;
        int code = mdb_get(writing->txn, writing->index->tables[TWIN__SETS], &key, &value);
        if (code != MDB_SUCCESS && code != MDB_NOTFOUND)
            return twin__from_lmdb(writing, code);
        *count += code == MDB_SUCCESS;
    }
    return TWIN_OK;
}

/* The living lie in the block that they replace, so the new one is made aside. */
static twin_status replace_block(struct twin__writing *writing, uint64_t first, const struct twin__kept *living,
                                 size_t count)
{
    MDB_val key = twin__number_key(&first), value = { twin__block_bytes(living, count), NULL };
    if (count == 0)
        return twin__from_lmdb(writing, mdb_del(writing->txn, writing->index->tables[TWIN__KEPT], &key, NULL));
    value.mv_data = malloc(value.mv_size);
    if (!value.mv_data)
        return twin__fail_memory(writing->error);
    twin__block_encode(value.mv_data, first, living, count);
    int code = mdb_put(writing->txn, writing->index->tables[TWIN__KEPT], &key, &value, 0);
    free(value.mv_data);
    return twin__from_lmdb(writing, code);
}

/* Writes a block anew when no more than `most_living` in a hundred of it are still there, and not all. */
static twin_status tidy_block(struct twin__writing *writing, uint64_t first, MDB_val value, size_t most_living)
{
    struct twin__block block;
    size_t count;
    if (!twin__block_decode(&block, first, twin__bytes_of(value)))
        return twin__fail_damaged(writing->error, writing->index, "a block of kept sets does not fit its checksum");
    struct twin__kept *living = malloc(block.count * sizeof *living);
    if (!living)
        return twin__fail_memory(writing->error);
    twin_status status = list_living(living, &count, writing, &block);
    if (status == TWIN_OK && count < block.count && 100 * count <= most_living * block.count)
        status = replace_block(writing, first, living, count);
    free(living);
    return status;
}

static twin_status find_and_tidy(struct twin__writing *writing, MDB_cursor *cursor, uint64_t set)
{
    uint64_t first;
    MDB_val value;
    int code = find_block(&first, &value, cursor, set);
    return code == MDB_SUCCESS ? tidy_block(writing, first, value, 50) : twin__from_lmdb(writing, code);
}

twin_status twin__blocks_remove(struct twin__writing *writing, struct twin__unwritten *unwritten, uint64_t set)
{
    twin_status status = TWIN_OK;
    MDB_cursor *cursor;
    if (unwritten->count && set >= unwritten->list[0].set)
        status = twin__blocks_finish(writing, unwritten);
    if (status == TWIN_OK)
        status = twin__from_lmdb(writing, mdb_cursor_open(writing->txn, writing->index->tables[TWIN__KEPT], &cursor));
    if (status != TWIN_OK)
        return status;
    status = find_and_tidy(writing, cursor, set);
    mdb_cursor_close(cursor);
    return status;
}

/* Goes from number to number, because a block that is written anew moves. */
static twin_status tidy_all(struct twin__writing *writing, MDB_cursor *cursor)
{
    for (uint64_t next = 0;;) {
        MDB_val key = twin__number_key(&next), value;
        int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
        if (code == MDB_NOTFOUND)
            return TWIN_OK;
        uint64_t first;
        if (code == MDB_SUCCESS && !twin__key_number(&first, key))
            code = MDB_CORRUPTED;
        if (code != MDB_SUCCESS)
            return twin__from_lmdb(writing, code);
        twin_status status = tidy_block(writing, first, value, 100);
        if (status != TWIN_OK)
            return status;
        next = first + 1;
    }
}

twin_status twin__blocks_tidy(struct twin__writing *writing)
{
    MDB_cursor *cursor;
    twin_status status =
        twin__from_lmdb(writing, mdb_cursor_open(writing->txn, writing->index->tables[TWIN__KEPT], &cursor));
    if (status != TWIN_OK)
        return status;
    status = tidy_all(writing, cursor);
    mdb_cursor_close(cursor);
    return status;
}

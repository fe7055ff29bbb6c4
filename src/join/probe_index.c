/* probe_index.c — an inverted index in memory. */
#include "join/probe_index.h"

#include <stdlib.h>

#include "join/join_private.h"
#include "kernels/sort.h"

static void fill_filter(struct twin__probe_index *index)
{
    for (size_t i = 0; i < index->entries.count; i++) {
        uint64_t bit = index->entries.items[i] >> (64 - index->filter_bits);
        index->filter[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

twin_status twin__probe_index_finish(struct twin__probe_index *index)
{
    enum { FILTER_BITS_PER_ENTRY = 8, SPARE_FRACTION = 16 };
    size_t count = index->entries.count;
    free(index->filter);
    index->filter_bits = twin__bits_for(FILTER_BITS_PER_ENTRY * count, 6, 40);
    size_t room = count / SPARE_FRACTION + 1;
    uint64_t *spare = malloc(room * sizeof *spare);
    index->filter = calloc(((size_t)1 << index->filter_bits) / 64, sizeof *index->filter);
    twin_status status = spare && index->filter ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK) {
        twin__sort_in_place(index->entries.items, count, spare, room);
        fill_filter(index);
        status = twin__entries_index(&index->entries);
    }
    free(spare);
    return status;
}

/* What may exist by the filter, with the start of its slot asked for. */
static size_t filter_some(struct twin__probe_hit *out, const struct twin__probe_index *index, twin_set shingles)
{
    size_t found = 0;
    for (size_t i = 0; i < shingles.count; i++) {
        out[i].hash = twin__probe_hash(shingles.items[i]);
        __builtin_prefetch(&index->filter[out[i].hash >> (64 - index->filter_bits) >> 6]);
    }
    for (size_t i = 0; i < shingles.count; i++) {
        uint64_t hash = out[i].hash, bit = hash >> (64 - index->filter_bits);
        if (!(index->filter[bit / 64] >> bit % 64 & 1))
            continue;
        __builtin_prefetch(&index->entries.starts[twin__entries_slot(&index->entries, hash)]);
        out[found++].hash = hash;
    }
    return found;
}

size_t twin__probe_find_some(struct twin__probe_hit *out, const struct twin__probe_index *index, twin_set shingles)
{
    const struct twin__sorted_entries *entries = &index->entries;
    size_t found = filter_some(out, index, shingles);
    for (size_t i = 0; i < found; i++)
        __builtin_prefetch(&entries->items[entries->starts[twin__entries_slot(entries, out[i].hash)]]);
    for (size_t i = 0; i < found; i++)
        out[i].at = twin__entries_find(entries, out[i].hash);
    return found;
}

void twin__probe_index_clear(struct twin__probe_index *index)
{
    twin__entries_clear(&index->entries);
    free(index->filter);
    *index = (struct twin__probe_index){ 0 };
}

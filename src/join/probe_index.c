/* probe_index.c — an inverted index in memory. */
#include "join/probe_index.h"

#include <stdlib.h>

#include "join/bits.h"
#include "kernels/sort.h"

static void note_starts(struct twin__probe_index *index)
{
    size_t slots = (size_t)1 << index->start_bits, at = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        while (at < index->entries.count && index->entries.items[at] >> (64 - index->start_bits) < slot)
            at++;
        index->starts[slot] = (uint32_t)at;
    }
    index->starts[slots] = (uint32_t)index->entries.count;
}

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
    free(index->starts);
    free(index->filter);
    index->start_bits = twin__bits_for(count, 1, 31);
    index->filter_bits = twin__bits_for(FILTER_BITS_PER_ENTRY * count, 6, 40);
    size_t room = count / SPARE_FRACTION + 1;
    uint64_t *spare = malloc(room * sizeof *spare);
    index->starts = malloc((((size_t)1 << index->start_bits) + 1) * sizeof *index->starts);
    index->filter = calloc(((size_t)1 << index->filter_bits) / 64, sizeof *index->filter);
    bool good = spare && index->starts && index->filter;
    if (good) {
        twin__sort_in_place(index->entries.items, count, spare, room);
        note_starts(index);
        fill_filter(index);
    }
    free(spare);
    return good ? TWIN_OK : TWIN_ENOMEM;
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
        __builtin_prefetch(&index->starts[hash >> (64 - index->start_bits)]);
        out[found++].hash = hash;
    }
    return found;
}

size_t twin__probe_find_some(struct twin__probe_hit *out, const struct twin__probe_index *index, twin_set shingles)
{
    size_t found = filter_some(out, index, shingles);
    for (size_t i = 0; i < found; i++)
        __builtin_prefetch(&index->entries.items[index->starts[out[i].hash >> (64 - index->start_bits)]]);
    for (size_t i = 0; i < found; i++)
        out[i].at = twin__probe_find(index, out[i].hash);
    return found;
}

void twin__probe_index_clear(struct twin__probe_index *index)
{
    free(index->entries.items);
    free(index->starts);
    free(index->filter);
    *index = (struct twin__probe_index){ 0 };
}

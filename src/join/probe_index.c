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
    enum { FILTER_BITS_PER_ENTRY = 8 };
    size_t count = index->entries.count;
    free(index->starts);
    free(index->filter);
    index->start_bits = twin__bits_for(count, 1, 31);
    index->filter_bits = twin__bits_for(FILTER_BITS_PER_ENTRY * count, 6, 40);
    uint64_t *spare = malloc((count + 1) * sizeof *spare);
    index->starts = malloc((((size_t)1 << index->start_bits) + 1) * sizeof *index->starts);
    index->filter = calloc(((size_t)1 << index->filter_bits) / 64, sizeof *index->filter);
    bool good = spare && index->starts && index->filter;
    if (good) {
        twin__sort(index->entries.items, spare, count);
        note_starts(index);
        fill_filter(index);
    }
    free(spare);
    return good ? TWIN_OK : TWIN_ENOMEM;
}

void twin__probe_index_clear(struct twin__probe_index *index)
{
    free(index->entries.items);
    free(index->starts);
    free(index->filter);
    *index = (struct twin__probe_index){ 0 };
}

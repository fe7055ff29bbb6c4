/* sorted_entries.c — sorted numbers, in which those that begin with a hash are found at once. */
#include "join/sorted_entries.h"

#include <stdlib.h>

#include "join/join_private.h"

static void note_starts(struct twin__sorted_entries *entries)
{
    size_t slots = (size_t)1 << entries->start_bits, at = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        while (at < entries->count && twin__entries_slot(entries, entries->items[at]) < slot)
            at++;
        entries->starts[slot] = (uint32_t)at;
    }
    entries->starts[slots] = (uint32_t)entries->count;
}

twin_status twin__entries_index(struct twin__sorted_entries *entries)
{
    free(entries->starts);
    entries->start_bits = twin__bits_for(entries->count, 1, 31);
    entries->starts = malloc((((size_t)1 << entries->start_bits) + 1) * sizeof *entries->starts);
    if (!entries->starts)
        return TWIN_ENOMEM;
    note_starts(entries);
    return TWIN_OK;
}

void twin__entries_clear(struct twin__sorted_entries *entries)
{
    free(entries->items);
    free(entries->starts);
    *entries = (struct twin__sorted_entries){ 0 };
}

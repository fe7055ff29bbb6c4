/* crowd_tokens.c — the prefix of a document: its rarest shingles, as tokens.
 *
 * A set is divided into common shingles and the rest (crowd_frequency.c), each shingle gets its count, and shingles are
 * counted by classes of equal count. The classes show up to which count tokens belong to the prefix, so only
 * these few are sorted. Shingles that no other document has are counted but not listed; the same holds for those that no
 * other component has, where components are wanted. */
#include "join/crowd_private.h"

#include <string.h>

#include "base/array.h"

bool twin__crowd_make_room(struct twin__crowd_tokens *tokens, size_t count)
{
    return TWIN__ARRAY_GROW(&tokens->items, &tokens->capacity, 0, count + 1) &&
           TWIN__ARRAY_GROW(&tokens->spare, &tokens->spare_capacity, 0, count + 1);
}

static unsigned class_of(uint64_t count)
{
    return count < TWIN__CROWD_CLASSES ? (unsigned)count : TWIN__CROWD_CLASSES - 1;
}

/* Collects the tokens of a set with a counter above one; classes[c] is the number of shingles counted c times, in the
 * last class or more often. */
static void collect_tokens(struct twin__crowd_tokens *out, const struct twin__crowd_state *crowd, twin_set set)
{
    size_t rest = twin__crowd_divide(out, crowd, set);
    memset(out->classes, 0, sizeof out->classes);
    out->classes[1] = (uint32_t)out->own;
    if (crowd->common.least >= TWIN__CROWD_CLASSES - 1)
        out->classes[TWIN__CROWD_CLASSES - 1] = (uint32_t)out->common;
    else
        for (size_t i = 0; i < out->common; i++)
            out->classes[class_of(out->items[i] >> 48)]++;
    for (size_t i = 0; i < rest; i++) {
        if (i + TWIN__CROWD_AHEAD < rest)
            __builtin_prefetch((const void *)twin__crowd_counter(crowd, out->spare[i + TWIN__CROWD_AHEAD]));
        uint64_t item = out->spare[i], count = twin__crowd_counted(crowd, item);
        out->classes[class_of(count)]++;
        out->items[out->count] = count << 48 | item >> 16;
        out->count += count > 1;
    }
}

/* Sorts tokens by their counts alone, eight bits at a time. They come in the order of their shingles, common ones
 * first, and stay so among equals: that, too, is one order for all documents. */
static void sort_by_count(uint64_t *items, uint64_t *spare, size_t count)
{
    for (unsigned shift = 48; shift < 64; shift += 8) {
        size_t starts[257] = { 0 };
        for (size_t i = 0; i < count; i++)
            starts[1 + (items[i] >> shift & 255)]++;
        for (size_t i = 1; i < 256; i++)
            starts[i] += starts[i - 1];
        for (size_t i = 0; i < count; i++)
            spare[starts[items[i] >> shift & 255]++] = items[i];
        memcpy(items, spare, count * sizeof *items);
    }
}

/* Keeps the `length` least tokens, in order: those that no one else has count but are not among them. */
static void cut_tokens(struct twin__crowd_tokens *tokens, const struct twin__crowd_state *crowd, size_t length)
{
    const uint32_t *classes = tokens->classes;
    size_t below = classes[0] + classes[1], kept = 0;
    unsigned class = 1;
    tokens->first = below;
    if (below >= length) {
        tokens->count = 0;
        return;
    }
    while (below < length && class < TWIN__CROWD_CLASSES - 1)
        below += classes[++class];
    uint64_t bound = class < TWIN__CROWD_CLASSES - 1 ? (uint64_t)(class + 1) << 48 : UINT64_MAX;
    bool with_common = class == TWIN__CROWD_CLASSES - 1 || class >= crowd->common.least;
    for (size_t i = with_common ? 0 : tokens->common; i < tokens->count; i++) {
        tokens->items[kept] = tokens->items[i];
        kept += tokens->items[i] < bound;
    }
    sort_by_count(tokens->items, tokens->spare, kept);
    tokens->count = kept < length - tokens->first ? kept : length - tokens->first;
}

twin_status twin__crowd_list_tokens(struct twin__crowd_tokens *out, const struct twin__crowd_state *crowd,
                                    size_t rank, size_t length, int worker, twin_error *error)
{
    twin_set set;
    twin_status status = twin__provider_set(&set, crowd->provider, twin__crowd_document(crowd, rank), worker, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__crowd_make_room(out, set.count))
        return twin__fail_memory(error);
    collect_tokens(out, crowd, set);
    cut_tokens(out, crowd, length);
    return TWIN_OK;
}

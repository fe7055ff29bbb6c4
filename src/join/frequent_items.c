/* frequent_items.c — items that many documents of a family have.
 *
 * They are in bins, where a kernel finds those of a document without sorting it. It sets eight bits per bin, as many
 * as a bin has room for; most of them belong to no item, and the bitmap is made of the others. */
#include "join/frequent_items.h"

#include "kernels/kernels.h"

bool twin__frequent_items_init(struct twin__frequent_items *out, const uint64_t *items, size_t count)
{
    enum { TIMES = 3 }; /* so often the bins are halved for the sake of items that found theirs full */
    unsigned bits = twin__item_bins_bits(count), most = bits + TIMES;
    *out = (struct twin__frequent_items){ 0 };
    do {
        if (!twin__item_bins_fill(&out->bins, bits, items, count))
            return false;
        out->count = out->bins.held_count;
    } while (out->count < count && bits++ < most);
    out->words = out->count / 64 + 1;
    return true;
}

void twin__frequent_items_clear(struct twin__frequent_items *frequent)
{
    twin__item_bins_clear(&frequent->bins);
    *frequent = (struct twin__frequent_items){ 0 };
}

/* Of each bin the marks of the items that it holds, one after the other. */
static void pack(uint64_t *bits, const uint8_t *marks, const struct twin__item_bins *bins)
{
    uint64_t word = 0;
    unsigned taken = 0;
    for (size_t i = 0; i < bins->count; i++) {
        unsigned held = bins->held[i];
        word |= (uint64_t)marks[i] << taken;
        taken += held;
        if (taken >= 64) {
            taken -= 64;
            *bits++ = word;
            word = (uint64_t)marks[i] >> (held - taken);
        }
    }
    *bits = word;
}

bool twin__frequent_items_divide(uint64_t *bits, struct twin__item_marks *marks,
                                 const struct twin__frequent_items *frequent, const uint64_t *items, size_t count)
{
    if (!twin__item_bins_look_up(marks, &frequent->bins, items, count))
        return false;
    pack(bits, marks->marks, &frequent->bins);
    return true;
}

void twin__frequent_items_count(const struct twin__item_counters *counters,
                                const struct twin__frequent_items *frequent)
{
    const struct twin__item_bins *bins = &frequent->bins;
    for (size_t bin = 0; bin < bins->count; bin++)
        for (int twice = 0; twice < 2; twice++)
            twin__items_count(counters, bins->items + BIN_ROOM * bin, bins->held[bin]);
}

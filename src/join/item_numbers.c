/* item_numbers.c — numbers for items of sets. */
#include "join/item_numbers.h"

#include <stdlib.h>

#include "base/array.h"
#include "join/join_private.h"

bool twin__item_numbers_init(struct twin__item_numbers *out, size_t slots)
{
    unsigned bits = twin__bits_for(slots, 4, 40);
    *out = (struct twin__item_numbers){ .shift = 64 - bits };
    out->slots = calloc((size_t)1 << bits, sizeof *out->slots);
    return out->slots != NULL;
}

void twin__item_numbers_clear(struct twin__item_numbers *numbers)
{
    free(numbers->items);
    free(numbers->slots);
    *numbers = (struct twin__item_numbers){ 0 };
}

bool twin__item_numbers_reserve(struct twin__item_numbers *numbers, size_t more)
{
    size_t slots = numbers->slots ? (size_t)1 << (64 - numbers->shift) : 0, wanted = numbers->count + more + 1;
    if (2 * wanted <= slots)
        return true;
    struct twin__item_numbers grown;
    if (!twin__item_numbers_init(&grown, 4 * wanted))
        return false;
    for (size_t i = 0; i < numbers->count; i++) {
        size_t at = numbers->items[i] >> grown.shift, mask = ((size_t)1 << (64 - grown.shift)) - 1;
        while (grown.slots[at])
            at = (at + 1) & mask;
        grown.slots[at] = (uint32_t)i + 1;
    }
    free(numbers->slots);
    numbers->slots = grown.slots;
    numbers->shift = grown.shift;
    return true;
}

uint32_t twin__item_number(struct twin__item_numbers *numbers, uint64_t item)
{
    size_t slot;
    uint32_t number = twin__item_find(numbers, item, &slot);
    if (number == 0 && TWIN__ARRAY_GROW(&numbers->items, &numbers->capacity, numbers->count, 1)) {
        numbers->items[numbers->count] = item;
        number = numbers->slots[slot] = (uint32_t)++numbers->count;
    }
    return number;
}

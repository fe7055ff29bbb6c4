/* item_numbers.h — numbers for items of sets: open addressing by the leading bits of an item, so that a sorted set
 * sweeps over the slots. */
#ifndef TWIN_JOIN_ITEM_NUMBERS_H
#define TWIN_JOIN_ITEM_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct twin__item_numbers {
    uint64_t *items; /* by number */
    size_t count, capacity;
    uint32_t *slots; /* a number plus one; 0: empty */
    unsigned shift;
};

/* Slots are far apart in memory: ask for those of later items early. */
enum { TWIN__ITEMS_AHEAD = 16 };

/* Makes at least so many slots, which are more than there will be items: a search ends at an empty one. False when out
 * of memory. End with twin__item_numbers_clear(). */
bool twin__item_numbers_init(struct twin__item_numbers *out, size_t slots);
void twin__item_numbers_clear(struct twin__item_numbers *numbers);

/* Makes more slots if half of them would be taken by `more` items, where their number is not known before; begin with
 * {0}. False when out of memory: then nothing has changed. */
bool twin__item_numbers_reserve(struct twin__item_numbers *numbers, size_t more);

/* The number of an item plus one, a new one if it has none; 0 when out of memory. */
uint32_t twin__item_number(struct twin__item_numbers *numbers, uint64_t item);

/* The number of an item plus one, or 0; *slot is where it is or would be. */
static inline uint32_t twin__item_find(const struct twin__item_numbers *numbers, uint64_t item, size_t *slot)
{
    size_t at = item >> numbers->shift, mask = ((size_t)1 << (64 - numbers->shift)) - 1;
    uint32_t number;
    while ((number = numbers->slots[at]) != 0 && numbers->items[number - 1] != item)
        at = (at + 1) & mask;
    *slot = at;
    return number;
}

#endif

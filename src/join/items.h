/* items.h — the items of documents: looked up in bins, as bits of bitmaps, numbered, and counted. */
#ifndef TWIN_JOIN_ITEMS_H
#define TWIN_JOIN_ITEMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twinsift/set.h>

#include "base/scratch.h"
#include "join/join_private.h"

/* ---- bins ---- */

/* A kernel (mark_items in kernels.h) compares an item with a whole bin at once, so that a document need not be sorted to be
 * looked up. */
struct twin__item_bins {
    uint64_t *items;     /* BIN_ROOM per bin */
    uint8_t *held;       /* of each bin: how many */
    size_t count;        /* bins */
    size_t room;         /* for so many */
    unsigned shift;      /* the bin of an item is given by its leading bits */
    size_t held_count;   /* items in all bins */
    twin_items overflow; /* the set of those that found their bin full */
    twin_items spare;
};

/* Which items of the bins a document has. Begin with {0}. */
struct twin__item_marks {
    uint8_t *marks; /* of each bin: a bit for each item that the document has */
    size_t room;
    size_t found;      /* how many these are */
    twin_items missed; /* the set of its other items */
    twin_items spare;
};

void twin__item_marks_clear(struct twin__item_marks *marks);

/* ---- comparing without sorting ---- */
struct twin__item_table {
    struct twin__item_bins bins;
    struct twin__item_marks marks; /* of the other document */
    size_t size;                   /* of the document's set */
};

/* Fills the table with a document's items, in any order, some perhaps more than once. False when out of memory: then it
 * is empty. */
bool twin__item_table_fill(struct twin__item_table *table, const uint64_t *items, size_t count);

/* The similarity of the table's document and one with these items, in any order, some perhaps more than once. -1 when
 * out of memory. */
double twin__item_table_similarity(struct twin__item_table *table, const uint64_t *items, size_t count,
                                   twin_measure measure);

void twin__item_table_clear(struct twin__item_table *table);

/* ---- numbers ---- */

/* Open addressing by the leading bits of an item, so that a sorted set sweeps over the slots. */
struct twin__item_numbers {
    uint64_t *items; /* by number */
    size_t count, capacity;
    uint32_t *slots;   /* a number plus one; 0: empty */
    uint64_t *expects; /* a bit per slot: whether an item with these leading bits has a number */
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

/* Whether it may have a number: for whoever searches for many that have none, since bits fit where slots do not. */
static inline bool twin__item_is_expected(const struct twin__item_numbers *numbers, uint64_t item)
{
    return numbers->expects[item >> numbers->shift >> 6] >> (item >> numbers->shift & 63) & 1;
}

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

/* ---- counters ---- */

/* Which items of many sets only one of them has. Two bits per counter, and items share counters by chance: an item that is
 * said to be single is in one set only, one that is not may be so all the same. */
struct twin__item_counters {
    _Atomic uint8_t *bytes; /* four counters each: 0, 1 for one set, 3 for more */
    unsigned shift;         /* of an item, down to the number of its counter */
};

/* Makes counters for about so many items in all, of about `most_bytes` at most; false when out of memory. End with
 * twin__item_counters_clear(), which accepts {0}. */
bool twin__item_counters_init(struct twin__item_counters *out, size_t items, size_t most_bytes);
void twin__item_counters_clear(struct twin__item_counters *counters);

/* Counts the items of a set. Any number of workers may count at once. */
void twin__items_count(const struct twin__item_counters *counters, const uint64_t *items, size_t count);

/* Drops items of which one was counted; returns how many are left. */
size_t twin__items_drop_single(uint64_t *items, size_t count, const struct twin__item_counters *counters);

/* ---- frequent items ---- */

/* Items that many documents have: each is a bit of a document's bitmap. */
struct twin__frequent_items {
    struct twin__item_bins bins;
    size_t count;
    size_t words; /* of a bitmap */
    double rare;  /* how many other items a sampled set has, in the mean */
};

/* Takes different items, perhaps not all of them. False when out of memory. End with twin__frequent_items_clear(),
 * which accepts {0}. */
bool twin__frequent_items_init(struct twin__frequent_items *out, const uint64_t *items, size_t count);
void twin__frequent_items_clear(struct twin__frequent_items *frequent);

/* Divides the items of a document, in any order, some perhaps more than once: those that are frequent set their bits,
 * and the set of the rare ones is marks->missed. marks->found is how many bits are set. False when out of memory. */
bool twin__frequent_items_divide(uint64_t *bits, struct twin__item_marks *marks,
                                 const struct twin__frequent_items *frequent, const uint64_t *items, size_t count);

/* Counts them as items that more than one set has. */
void twin__frequent_items_count(const struct twin__item_counters *counters,
                                const struct twin__frequent_items *frequent);

/* ---- samples of sets ---- */

/* Which documents, and the worker that fetches them. */
struct twin__set_source {
    const struct twin__provider *provider;
    const uint32_t *documents;
    size_t count;
    int worker;
};

enum { TWIN__SAMPLED_SETS = 64 };

/* Some of the sets, spread over the source. Begin with {0}, free `items` in the end. */
struct twin__set_sample {
    uint64_t *items; /* set after set */
    size_t count, capacity;
    size_t begins[TWIN__SAMPLED_SETS + 1];
    size_t sets;
};

/* Draws `most` sets, or fewer if they are large; none of long documents. A failure also fills `error`. */
twin_status twin__set_sample_draw(struct twin__set_sample *out, const struct twin__set_source *source, size_t most,
                                  twin_error *error);

/* Finds out from a sample of a source which items are frequent. End with twin__frequent_items_clear(), also after a
 * failure, which fills `error`. */
twin_status twin__frequent_items_find(struct twin__frequent_items *out, const struct twin__set_source *source,
                                      twin_error *error);

#endif

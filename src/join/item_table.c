/* item_table.c — two documents are compared without sorting the items of either.
 *
 * The items of one are distributed to bins by their leading bits, about three to a bin. Each item of the other is then
 * looked up: a kernel compares it with its whole bin at once, marks the item it equals, and collects those that are in
 * no bin. The marks are what the two have in common, however often an item is repeated. What was collected is little
 * when the two are similar; it is sorted, to count each item once and to find those that the first document has, too,
 * but that found their bin full.
 *
 * To sort both documents and to merge them takes about twice as long. */
#include "join/item_table.h"

void twin__item_table_clear(struct twin__item_table *table)
{
    twin__item_bins_clear(&table->bins);
    twin__item_marks_clear(&table->marks);
    *table = (struct twin__item_table){ 0 };
}

bool twin__item_table_fill(struct twin__item_table *table, const uint64_t *items, size_t count)
{
    if (!twin__item_bins_fill(&table->bins, twin__item_bins_bits(count), items, count)) {
        twin__item_table_clear(table);
        return false;
    }
    table->size = table->bins.held_count + table->bins.strays.count;
    return true;
}

double twin__item_table_similarity(struct twin__item_table *table, const uint64_t *items, size_t count,
                                   twin_measure measure)
{
    struct twin__item_marks *marks = &table->marks;
    if (!twin__item_bins_look_up(marks, &table->bins, items, count))
        return -1;
    twin_set strays = { table->bins.strays.items, table->bins.strays.count };
    size_t astray =
        strays.count ? twin_set_common(strays, (twin_set){ marks->missed.items, marks->missed.count }) : 0;
    return twin_similarity_of_counts(table->size, marks->found + marks->missed.count, marks->found + astray, measure);
}

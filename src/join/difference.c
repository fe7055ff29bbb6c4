/* difference.c — what a set lacks of a base, and what it has besides. */
#include "join/difference.h"

#include "base/array.h"

bool twin__difference_make(struct twin__difference *out, twin_set base, twin_set set)
{
    if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, 0, base.count + set.count + 1))
        return false;
    uint64_t *missing = out->items, *extra = out->items + base.count;
    size_t i = 0, j = 0, missing_count = 0, extra_count = 0;
    while (i < base.count && j < set.count) {
        uint64_t x = base.items[i], y = set.items[j];
        if (x == y) { /* as a rule */
            i++;
            j++;
            continue;
        }
        missing[missing_count] = x;
        missing_count += x < y;
        i += x < y;
        extra[extra_count] = y;
        extra_count += y < x;
        j += y < x;
    }
    while (i < base.count)
        missing[missing_count++] = base.items[i++];
    while (j < set.count)
        extra[extra_count++] = set.items[j++];
    out->missing = (twin_set){ missing, missing_count };
    out->extra = (twin_set){ extra, extra_count };
    return true;
}

size_t twin__difference_common(const struct twin__difference *a, const struct twin__difference *b, size_t base)
{
    return base - a->missing.count - b->missing.count + twin_set_common(a->missing, b->missing) +
           twin_set_common(a->extra, b->extra);
}

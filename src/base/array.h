/* array.h — growing arrays. */
#ifndef TWIN_BASE_ARRAY_H
#define TWIN_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` elements past `count` in the array whose pointer is at `array`, doubling its capacity. False
 * when out of memory; the array is then unchanged. The size of an element comes from the pointer's type, so that it
 * cannot be that of another. */
#define TWIN__ARRAY_GROW(array, capacity, count, more)                                                               \
    twin__array_grow((array), (capacity), (count), (more), sizeof **(array))

static inline bool twin__array_grow(void *array, size_t *capacity, size_t count, size_t more, size_t size)
{
    if (more <= *capacity - count)
        return true;
    if (more > SIZE_MAX / 4 / size - count)
        return false;
    size_t wanted = *capacity < 16 ? 16 : *capacity;
    while (wanted - count < more)
        wanted *= 2;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, wanted * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

#endif

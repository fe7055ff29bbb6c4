/* bits.h — sizes of tables. */
#ifndef TWIN_JOIN_BITS_H
#define TWIN_JOIN_BITS_H

#include <stddef.h>

/* The least number of bits with which `count` places can be numbered, from `least` to `most`. */
static inline unsigned twin__bits_for(size_t count, unsigned least, unsigned most)
{
    unsigned bits = least;
    while (bits < most && (size_t)1 << bits < count)
        bits++;
    return bits;
}

#endif

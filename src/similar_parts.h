/* similar_parts.h — what the files of similar know of each other: similar.c finds pairs, similar_each.c tells them. */
#ifndef TWIN_SIMILAR_PARTS_H
#define TWIN_SIMILAR_PARTS_H

#include <twinsift/similar.h>

struct twin_similar {
    const twin_collection *collection;
    twin_match *matches; /* of distinct documents, sorted by a, then b */
    size_t count, capacity;
    twin_similar_counts counts;
};

#endif

/* copies.h — the documents that each stands for: those of which it is the first with their set, or the keeper. */
#ifndef TWIN_JOIN_COPIES_H
#define TWIN_JOIN_COPIES_H

#include <stddef.h>
#include <stdint.h>
#include <twinsift/status.h>

/* Those of document d are same[begins[d]] .. same[begins[d + 1] - 1], in increasing order. Begin with {0}, end with
 * twin__copies_clear(). */
struct twin__copies {
    size_t *begins;
    uint32_t *same;
};

/* firsts[i] is the document that stands for i. */
twin_status twin__copies_list(struct twin__copies *out, const uint32_t *firsts, size_t documents);
void twin__copies_clear(struct twin__copies *copies);

#endif

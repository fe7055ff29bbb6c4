/* minhash.h — signatures of items that come piece by piece.
 *
 *     twin__minhash_begin(&pass, out, hasher);
 *     while (twin__minhash_next(&pass))
 *         for each piece, the same ones in every pass: twin__minhash_add(&pass, items, count);
 *
 * One pass fills the slots of most texts; each further one is for slots that are still empty. */
#ifndef TWIN_SKETCH_MINHASH_H
#define TWIN_SKETCH_MINHASH_H

#include <stdbool.h>
#include <twinsift/minhash.h>

enum { TWIN__TAIL_BATCH = 128 };

struct twin__minhash_pass {
    const twin_minhash *hasher;
    uint32_t *out;
    unsigned number; /* 1 and 2 are the rounds; from 3 on, a batch of slots that both left empty */
    bool any;        /* there was an item */
    size_t taken;    /* slots of the batch */
    uint32_t least[TWIN__TAIL_BATCH], factor[TWIN__TAIL_BATCH], offset[TWIN__TAIL_BATCH], where[TWIN__TAIL_BATCH];
};

void twin__minhash_begin(struct twin__minhash_pass *pass, uint32_t *out, const twin_minhash *hasher);
bool twin__minhash_next(struct twin__minhash_pass *pass);
void twin__minhash_add(struct twin__minhash_pass *pass, const uint64_t *items, size_t count);

#endif

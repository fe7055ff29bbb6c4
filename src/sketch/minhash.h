/* minhash.h — signatures of items, at once or piece by piece.
 *
 *     twin__minhash_begin(&pass, out, hasher);
 *     while (twin__minhash_next(&pass))
 *         for each piece, the same ones in every pass: twin__minhash_add(&pass, items, count);
 *
 * One pass fills the slots of most texts; each further one is for slots that are still empty. */
#ifndef TWIN_SKETCH_MINHASH_H
#define TWIN_SKETCH_MINHASH_H

#include <stdbool.h>
#include <twinsift/scheme.h>

typedef struct twin_minhash twin_minhash;

/* Creates a hasher, which never changes, so that threads may share it; release it with twin__minhash_free(). */
twin_status twin__minhash_create(twin_minhash **out, twin_minhash_options options);
void twin__minhash_free(twin_minhash *hasher);

/* Writes the signature of the items, in any order and with any repeats, to `out`, which has room for `slots` numbers.
 * Items may be any 64-bit numbers, even consecutive integers: they are mixed here. The empty set gives all
 * UINT32_MAX. */
void twin__minhash_sign(uint32_t *out, const twin_minhash *hasher, const uint64_t *items, size_t count);

/* Makes `into` the signature of the union. */
void twin__minhash_merge(uint32_t *into, const uint32_t *other, size_t slots);

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

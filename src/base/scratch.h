/* scratch.h — memory that calls of one thread reuse. */
#ifndef TWIN_BASE_SCRATCH_H
#define TWIN_BASE_SCRATCH_H

#include <twinsift/buffer.h>

/* A growing array of hashes; begin with {0} and end with twin__items_clear(). */
typedef struct twin_items {
    uint64_t *items;
    size_t count, capacity;
} twin_items;

/* Of reading documents. */
typedef struct twin_read_buffers {
    twin_buffer block, id, text, key;
    bool in_place; /* the text of a JSON line is unescaped where it stands, without a copy, which changes `record` */
} twin_read_buffers;

/* Of signing, and where results are left. */
typedef struct twin_sign_scratch {
    twin_buffer text; /* the normalised text */
    twin_items items; /* the hashes of its shingles */
    twin_items spare; /* room to sort them */
    bool is_short;    /* the text is shorter than one shingle: it has one item, or none if it is empty */
} twin_sign_scratch;

/* Of edit distances: at worst a few dozen bytes per byte of the texts, and very little for similar ones. */
typedef struct twin_edit_scratch {
    void *room[7];
    size_t bytes[7];
} twin_edit_scratch;

/* All of them. Those that we hold ourselves begin with {0}. */
struct twin_scratch {
    twin_read_buffers reading;
    twin_sign_scratch sign;
    twin_edit_scratch edit;
};

/* Makes the scratch of a caller, unless it exists. */
twin_status twin__scratch_make(twin_scratch **scratch);

/* Each takes NULL as well. */
void twin__items_clear(twin_items *items);
void twin__read_buffers_clear(twin_read_buffers *buffers);
void twin__sign_scratch_clear(twin_sign_scratch *scratch);
void twin__edit_scratch_clear(twin_edit_scratch *scratch);
void twin__scratch_clear(twin_scratch *scratch);

#endif

/* minhash.h — MinHash signatures of sets.
 *
 * A signature is k numbers, its slots. Two sets of Jaccard similarity J agree on about J·k of them; the
 * estimate is unbiased and its variance is at most J(1-J)/k. The signature of a union is the slot-wise
 * minimum, so parts of a set can be signed separately.
 * A hasher is immutable once created, so threads may share it. */
#ifndef TWINSIFT_MINHASH_H
#define TWINSIFT_MINHASH_H

#include <twinsift/set.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_MINHASH_MAX_SLOTS = 65536, TWIN_MINHASH_DEFAULT_SLOTS = 128 };

typedef enum twin_sketch {
    TWIN_SKETCH_FAST,    /* fast similarity sketching: each item is assigned to one or two slots */
    TWIN_SKETCH_CLASSIC, /* k hash functions: each item competes for every slot */
} twin_sketch;

typedef struct twin_minhash_options {
    twin_sketch sketch;
    size_t slots;  /* k, up to TWIN_MINHASH_MAX_SLOTS; 0: 128, which keeps the standard error below 0.045 */
    uint64_t seed; /* the same seed gives the same signature on every machine */
    uint64_t reserved[TWIN_RESERVED];
} twin_minhash_options;

typedef struct twin_minhash twin_minhash;

/* Creates a hasher; release it with twin_minhash_free(). */
TWIN_API twin_status twin_minhash_create(twin_minhash **out, twin_minhash_options options);
TWIN_API void twin_minhash_free(twin_minhash *hasher);

/* "fast", "classic". From a name: TWIN_EINVAL when there is no such sketch. */
TWIN_API const char *twin_sketch_name(twin_sketch sketch);
TWIN_API twin_status twin_sketch_from_name(twin_sketch *out, const char *name);

/* Writes the signature of the items, in any order and with any repeats, to `out`, which has room for `slots` numbers.
 * Items may be any 64-bit numbers, even consecutive integers: they are mixed here. The empty set gives all
 * UINT32_MAX. */
TWIN_API void twin_minhash_sign(uint32_t *out, const twin_minhash *hasher, const uint64_t *items, size_t count);

/* Makes `into` the signature of the union. */
TWIN_API void twin_minhash_merge(uint32_t *into, const uint32_t *other, size_t slots);

/* The number of slots in which two signatures agree; divided by `slots` it estimates J. */
TWIN_API size_t twin_minhash_agreement(const uint32_t *a, const uint32_t *b, size_t slots);

#ifdef __cplusplus
}
#endif
#endif

/* hash.h — families of hash functions.
 *
 * A twin_hash is one function of a family, chosen by its seed; it is a plain value and cheap to copy. It gives the
 * same 64 bits for the same bytes on every machine.
 *
 * xxh3, farm and jenkins are for trusted input. Against input constructed to collide use sip with a secret random key:
 * a secret seed does not protect the others. */
#ifndef TWINSIFT_HASH_H
#define TWINSIFT_HASH_H

#include <twinsift/names.h>
#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_hash_family {
    TWIN_HASH_XXH3,    /* XXH3, 64 bits, seeded: the default */
    TWIN_HASH_FARM,    /* FarmHash Fingerprint64, mixed with the seed; a build may leave it out */
    TWIN_HASH_JENKINS, /* Jenkins one-at-a-time, two 32-bit halves: slow and weak, for comparison */
    TWIN_HASH_SIP,     /* SipHash-1-3 under a 128-bit key */
} twin_hash_family;

typedef struct twin_hash {
    twin_hash_family family;
    uint64_t seed;   /* xxh3, farm, jenkins: selects the function */
    uint64_t key[2]; /* sip: the key; 128 random bits when the input is hostile */
} twin_hash;

typedef struct twin_digest {
    uint64_t low, high;
} twin_digest;

/* The function of `family` with this seed; for sip the key is drawn from the seed. */
TWIN_API twin_hash twin_hash_member(twin_hash_family family, uint64_t seed);

/* TWIN_OK when this build can hash with the family, TWIN_EUNSUPPORTED when the family was left out of it, TWIN_EINVAL
 * when there is no such family. Whatever is created with a twin_hash checks this first. */
TWIN_API twin_status twin_hash_available(twin_hash_family family);

/* The hash of `length` bytes, which may be NULL only if there are none: neither this nor the digest checks that. The
 * family must be available; 0 otherwise. */
TWIN_API uint64_t twin_hash_bytes(twin_hash hash, const void *bytes, size_t length);

/* A 128-bit digest of the bytes: equal digests are taken to mean equal bytes. */
TWIN_API twin_digest twin_hash_digest(twin_hash hash, const void *bytes, size_t length);

/* A bijection in which every bit of x changes about half of the bits of the result. */
TWIN_API uint64_t twin_hash_mix(uint64_t x);

#ifdef __cplusplus
}
#endif
#endif

/* hash.c — families of hash functions.
 *
 * XXH3 comes from its header-only library, FarmHash through a C++ shim (hash_farm.cc); Jenkins's one-at-a-time is
 * written here, SipHash-1-3 among the kernels. Windows of text have a kernel for XXH3 and SipHash, and a plain loop
 * for the others. */
#include <twinsift/hash.h>

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/sip.h"
#include "sketch/digester.h"
#include "sketch/hash.h"
#include "sketch/hash_farm.h"

twin_status twin_hash_available(twin_hash_family family)
{
    if ((unsigned)family > TWIN_HASH_SIP)
        return twin__fail(NULL, TWIN_EINVAL, "unknown hash family %d", (int)family);
#ifndef TWIN_FARMHASH
    if (family == TWIN_HASH_FARM)
        return twin__fail(NULL, TWIN_EUNSUPPORTED, "the hash family farm is not in this build of twinsift");
#endif
    return TWIN_OK;
}

twin_hash twin_hash_member(twin_hash_family family, uint64_t seed)
{
    twin_hash hash = { .family = family, .seed = seed };
    uint64_t state = seed;
    hash.key[0] = twin__random_next(&state);
    hash.key[1] = twin__random_next(&state);
    return hash;
}

bool twin__hash_equal(twin_hash a, twin_hash b)
{
    if (a.family != b.family)
        return false;
    return a.family == TWIN_HASH_SIP ? a.key[0] == b.key[0] && a.key[1] == b.key[1] : a.seed == b.seed;
}

uint64_t twin_hash_mix(uint64_t x)
{
    return twin__mix(x);
}

/* Fingerprint64 has no seed. Mixing one in makes the functions differ, but two texts that collide do so under every
 * seed. */
#ifdef TWIN_FARMHASH
static uint64_t farm(const char *bytes, size_t length, uint64_t seed)
{
    return twin__mix(twin__farm_fingerprint(bytes, length) + twin__mix(seed + 0x9E3779B97F4A7C15u));
}
#else
static uint64_t farm(const char *bytes, size_t length, uint64_t seed)
{
    (void)bytes, (void)length, (void)seed;
    return 0; /* twin_hash_available() refuses farm in this build */
}
#endif

/* Bob Jenkins's one-at-a-time, starting with the seed. */
static uint32_t one_at_a_time(const unsigned char *bytes, size_t length, uint32_t seed)
{
    uint32_t h = seed;
    for (size_t i = 0; i < length; i++) {
        h += bytes[i];
        h += h << 10;
        h ^= h >> 6;
    }
    h += h << 3;
    h ^= h >> 11;
    return h + (h << 15);
}

static uint64_t jenkins(const void *bytes, size_t length, uint64_t seed)
{
    uint64_t mixed = twin__mix(seed + 1); /* so that seeds 0, 1, 2 begin far apart */
    uint64_t high = one_at_a_time(bytes, length, (uint32_t)(mixed >> 32));
    return high << 32 | one_at_a_time(bytes, length, (uint32_t)mixed);
}

/* The bytes are a window of a text, and there is one. */
static uint64_t sip(const void *bytes, size_t length, const uint64_t key[2])
{
    uint64_t hash;
    twin__sip_windows_scalar(&hash, bytes ? bytes : "", length, 1, key); /* nothing may be anywhere */
    return hash;
}

uint64_t twin_hash_bytes(twin_hash hash, const void *bytes, size_t length)
{
    switch (hash.family) {
    case TWIN_HASH_XXH3: return XXH3_64bits_withSeed(bytes, length, hash.seed);
    case TWIN_HASH_FARM: return farm(bytes, length, hash.seed);
    case TWIN_HASH_JENKINS: return jenkins(bytes, length, hash.seed);
    case TWIN_HASH_SIP: return sip(bytes, length, hash.key);
    }
    return 0;
}

twin_digest twin_hash_digest(twin_hash hash, const void *bytes, size_t length)
{
    if (hash.family == TWIN_HASH_SIP) {
        const uint64_t other[2] = { ~hash.key[0], ~hash.key[1] };
        return (twin_digest){ sip(bytes, length, hash.key), sip(bytes, length, other) };
    }
    XXH128_hash_t digest = XXH3_128bits_withSeed(bytes, length, hash.seed);
    return (twin_digest){ digest.low64, digest.high64 };
}

void twin__hash_windows(uint64_t *out, twin_hash hash, const void *bytes, size_t width, size_t count)
{
    const char *p = bytes;
    if (hash.family == TWIN_HASH_XXH3)
        twin__kernels()->xxh3_windows(out, p, width, count, hash.seed);
    else if (hash.family == TWIN_HASH_SIP)
        twin__kernels()->sip_windows(out, p, width, count, hash.key);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = twin_hash_bytes(hash, p + i, width);
}

/* ---- digests of bytes that come piece by piece ---- */

struct twin__digester {
    bool is_sip;
    struct twin__sip sip[2];
    uint64_t sip_hashes[2]; /* of all bytes so far */
    XXH3_state_t *state;
};

twin_status twin__digester_create(struct twin__digester **out, twin_hash hash)
{
    *out = NULL;
    struct twin__digester *digester = calloc(1, sizeof *digester);
    if (!digester)
        return TWIN_ENOMEM;
    digester->is_sip = hash.family == TWIN_HASH_SIP;
    if (digester->is_sip) {
        digester->sip[0] = (struct twin__sip){ .key = { hash.key[0], hash.key[1] } };
        digester->sip[1] = (struct twin__sip){ .key = { ~hash.key[0], ~hash.key[1] } };
        twin__digester_add(digester, "", 0);
    } else {
        digester->state = XXH3_createState();
        if (!digester->state || XXH3_128bits_reset_withSeed(digester->state, hash.seed) != XXH_OK) {
            twin__digester_free(digester);
            return TWIN_ENOMEM;
        }
    }
    *out = digester;
    return TWIN_OK;
}

void twin__digester_free(struct twin__digester *digester)
{
    if (digester)
        XXH3_freeState(digester->state);
    free(digester);
}

void twin__digester_add(struct twin__digester *digester, const void *bytes, size_t length)
{
    for (int i = 0; i < 2 && digester->is_sip; i++)
        digester->sip_hashes[i] = twin__sip_add(&digester->sip[i], bytes, length);
    if (length && !digester->is_sip)
        XXH3_128bits_update(digester->state, bytes, length);
}

twin_digest twin__digester_end(const struct twin__digester *digester)
{
    if (digester->is_sip)
        return (twin_digest){ digester->sip_hashes[0], digester->sip_hashes[1] };
    XXH128_hash_t digest = XXH3_128bits_digest(digester->state);
    return (twin_digest){ digest.low64, digest.high64 };
}

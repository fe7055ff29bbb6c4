/* file_features.c — features in a file: each place as its distance to the one before, in groups of 7 bits. */
#include <string.h>

#include "mail/file_private.h"

unsigned char *twin__mail_put_places(unsigned char *at, const uint32_t *places, uint32_t count)
{
    uint32_t next = 0; /* the least that the next one can be */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t gap = places[i] - next;
        for (; gap >= 0x80; gap >>= 7)
            *at++ = (unsigned char)(gap | 0x80);
        *at++ = (unsigned char)gap;
        next = places[i] + 1;
    }
    return at;
}

bool twin__mail_get_places(const unsigned char **at, const unsigned char *end, uint32_t *places, uint32_t count)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t gap = 0;
        unsigned shift = 0;
        do {
            if (*at == end || shift > 21)
                return false;
            gap |= (uint64_t)(**at & 0x7f) << shift;
            shift += 7;
        } while (*(*at)++ & 0x80);
        if (next + gap >= TWIN__FEATURE_PLACES)
            return false;
        places[i] = (uint32_t)(next + gap);
        next = next + gap + 1;
    }
    return true;
}

/* Places have 18 bits, at most three groups of 7. */
size_t twin__mail_features_room(const uint32_t counts[TWIN__FEATURE_BLOCKS])
{
    return 8 + 3 * ((size_t)counts[0] + counts[1]);
}

unsigned char *twin__mail_put_features(unsigned char *at, const uint32_t *places,
                                       const uint32_t counts[TWIN__FEATURE_BLOCKS])
{
    twin__put4(at, counts[0]);
    twin__put4(at + 4, counts[1]);
    at = twin__mail_put_places(at + 8, places, counts[0]);
    return twin__mail_put_places(at, places + counts[0], counts[1]);
}

bool twin__mail_get_features(struct twin__features *out, uint32_t *places, const unsigned char **at,
                             const unsigned char *end)
{
    if (end - *at < 8)
        return false;
    *out = (struct twin__features){ .places = { places, places + TWIN__FEATURE_PLACES },
                                    .counts = { twin__get4(*at), twin__get4(*at + 4) } };
    *at += 8;
    return out->counts[0] <= TWIN__FEATURE_PLACES && out->counts[1] <= TWIN__FEATURE_PLACES &&
           twin__mail_get_places(at, end, places, out->counts[0]) &&
           twin__mail_get_places(at, end, places + TWIN__FEATURE_PLACES, out->counts[1]);
}

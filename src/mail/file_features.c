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
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!twin__mail_get_place(&next, at, end))
            return false;
        places[i] = next - 1;
    }
    return true;
}

/* Places have 18 bits, at most three groups of 7. */
size_t twin__mail_features_room(const uint32_t counts[TWIN__FEATURE_BLOCKS])
{
    return 4 * TWIN__FEATURE_BLOCKS + 3 * twin__features_total(counts);
}

unsigned char *twin__mail_put_features(unsigned char *at, const uint32_t *places,
                                       const uint32_t counts[TWIN__FEATURE_BLOCKS])
{
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++, at += 4)
        twin__put4(at, counts[b]);
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; places += counts[b++])
        at = twin__mail_put_places(at, places, counts[b]);
    return at;
}

/* Versions 1 and 2 have one block of words and one of windows. */
bool twin__mail_get_features(struct twin__features *out, uint32_t *places, const unsigned char **at,
                             const unsigned char *end, uint32_t version)
{
    int step = version < 3 ? 2 : 1, first = version < 3 ? TWIN__OTHER_WORDS : 0;
    if (end - *at < 4 * TWIN__FEATURE_BLOCKS / step)
        return false;
    *out = (struct twin__features){ .counts = { 0 } };
    for (int b = first; b < TWIN__FEATURE_BLOCKS; b += step, *at += 4) {
        out->counts[b] = twin__get4(*at);
        if (out->counts[b] > TWIN__FEATURE_PLACES)
            return false;
    }
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++, places += TWIN__FEATURE_PLACES) {
        out->places[b] = places;
        if (!twin__mail_get_places(at, end, places, out->counts[b]))
            return false;
    }
    return true;
}

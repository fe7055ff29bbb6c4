/* packed_features.c — features in half of the memory. */
#include "mail/packed_features.h"

#include <string.h>

enum { QUARTERS = TWIN__FEATURE_PLACES >> 16 };

struct head {
    uint32_t counts[TWIN__FEATURE_BLOCKS][QUARTERS]; /* places in each quarter of the table; 16 bits of each follow */
};

size_t twin__packed_bytes(const struct twin__features *features)
{
    return sizeof(struct head) + (twin__features_total(features->counts) + 1) / 2 * 2 * sizeof(uint16_t);
}

/* How many of the places are below `end`. */
static uint32_t count_below(const uint32_t *places, uint32_t count, uint32_t end)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (places[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void twin__features_pack(void *packed, const struct twin__features *features)
{
    struct head head;
    uint16_t *at = (uint16_t *)((char *)packed + sizeof head);
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        const uint32_t *places = features->places[b];
        uint32_t count = features->counts[b], before = 0;
        for (uint32_t q = 0; q < QUARTERS; q++) {
            uint32_t below = count_below(places, count, (q + 1) << 16);
            head.counts[b][q] = below - before;
            before = below;
        }
        for (uint32_t i = 0; i < count; i++)
            at[i] = (uint16_t)places[i];
        at += count;
    }
    memcpy(packed, &head, sizeof head);
}

size_t twin__packed_count(const void *packed)
{
    struct head head;
    size_t count = 0;
    memcpy(&head, packed, sizeof head);
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++)
        for (int q = 0; q < QUARTERS; q++)
            count += head.counts[b][q];
    return count;
}

struct twin__features twin__features_unpack(uint32_t *places, const void *packed)
{
    struct head head;
    struct twin__features features = { 0 };
    const uint16_t *from = (const uint16_t *)((const char *)packed + sizeof head);
    memcpy(&head, packed, sizeof head);
    for (int b = 0; b < TWIN__FEATURE_BLOCKS; b++) {
        features.places[b] = places;
        for (uint32_t q = 0; q < QUARTERS; q++) {
            uint32_t count = head.counts[b][q];
            for (uint32_t i = 0; i < count; i++)
                places[i] = q << 16 | from[i];
            places += count;
            from += count;
            features.counts[b] += count;
        }
    }
    return features;
}

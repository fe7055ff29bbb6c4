/* packed_features.h — features in half of the memory.
 *
 * Places have 18 bits and are in increasing order: how many there are in each quarter of the table is stored once, and of
 * each place the lower 16 bits. Packing and unpacking take less time than the memory they save would take to fetch. */
#ifndef TWIN_MAIL_PACKED_FEATURES_H
#define TWIN_MAIL_PACKED_FEATURES_H

#include "mail/features.h"

/* The bytes that features take when packed, a multiple of 4; `packed` below is aligned to 4. */
size_t twin__packed_bytes(const struct twin__features *features);
void twin__features_pack(void *packed, const struct twin__features *features);

/* Writes the places to `places`, one block after the other, which has room for twin__packed_count(). */
size_t twin__packed_count(const void *packed);
struct twin__features twin__features_unpack(uint32_t *places, const void *packed);

#endif

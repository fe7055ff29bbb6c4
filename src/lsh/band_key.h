/* band_key.h — the hash of the rows of one band, wherever a bucket is made of it. */
#ifndef TWIN_LSH_BAND_KEY_H
#define TWIN_LSH_BAND_KEY_H

#include <stddef.h>
#include <stdint.h>

/* XXH3-64, under `seed`, of `count` numbers of four bytes each, the low byte first on every machine.
 *
 * Public keys take the number of the band as seed, so that all bands can go through one shuffle. The buckets in
 * memory and the posting lists of an index take seed 0 for every band: each band has a list of its own, and an index
 * file stores the high half of that hash (docs/format.md), which must stay what it is. */
uint64_t twin__band_key(const uint32_t *rows, size_t count, uint64_t seed);

#endif

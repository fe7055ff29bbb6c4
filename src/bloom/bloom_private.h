/* bloom_private.h — the representation of a filter, as the files of this room see it. */
#ifndef TWIN_BLOOM_BLOOM_PRIVATE_H
#define TWIN_BLOOM_BLOOM_PRIVATE_H

#include <twinsift/bloom.h>

enum {
    BLOOM_BLOCK_CELLS = 512, /* both layouts have a multiple of these, so that a filter is whole cache lines */
    BLOOM_LANES = 8,
    BLOOM_LANE_CELLS = 64,
};

/* 2^46 one-bit cells are 8 TiB; 16-bit ones 128 TiB, as much as a process can address. */
static const uint64_t BLOOM_MAX_CELLS = (uint64_t)1 << 46;

struct twin_bloom {
    uint64_t *words; /* the cells, aligned to 64 bytes, in the order of docs/format.md */
    twin_bloom_shape shape;
    uint64_t blocks; /* cells / 512 */
    twin_hash hash;
    uint64_t planned_items;
    double planned_rate;
    uint64_t added, fresh, removed;

    bool grows;        /* this is its newest layer; numbers above are those of this layer */
    bool stunted;      /* it should have grown, and there was no memory */
    twin_bloom *older; /* the layer before, which is full; NULL: none */

    void *memory; /* the mapping that `words` points into; NULL when it is not owned */
    size_t memory_bytes;
    bool writable;
    char *path; /* of the file opened for writing, or NULL */
    int lock;   /* a descriptor that holds its lock, or -1 */
};

static inline bool twin__bloom_is_counting(const twin_bloom *bloom)
{
    return bloom->shape.cell_bits > 1;
}

/* Whether the filter may be changed; if not, twin_error_last() says why. */
bool twin__bloom_is_changeable(const twin_bloom *bloom);

/* Replaces zeros by what they stand for. */
void twin__bloom_complete(twin_bloom_options *options);

/* False for a shape that no plan gives, as in a damaged file. */
bool twin__bloom_shape_is_sound(twin_bloom_shape shape);

/* The rate of the first layer of a filter that grows, from that of the filter; and of each further layer, from that of
 * the one before. By halves their sum stays below the rate of the filter. */
double twin__bloom_layer_rate(double rate);

/* Adds a layer to a filter that grows, which becomes the newest. */
twin_status twin__bloom_grow(twin_bloom *bloom);

enum { BLOOM_MAX_LAYERS = 64 };

/* An empty filter with its memory zeroed. */
twin_status twin__bloom_make(twin_bloom **out, twin_bloom_shape shape);

/* Eight bytes that identify a hash function. */
uint64_t twin__bloom_hash_check(twin_hash hash);

/* A filter over a whole file in memory, aligned to 64 bytes, which must outlive it; read only. `name` is for
 * messages. With `keyless` a keyed filter can be opened without its key, for description only. */
twin_status twin__bloom_view(twin_bloom **out, const void *bytes, size_t size, const char *name,
                             twin_bloom_open_options options, bool keyless, twin_error *error);

/* Whether the file begins as a filter does. */
bool twin__bloom_is_filter(int file);

/* Writes the whole file, from its first byte on, and waits until the disk has it. */
twin_status twin__bloom_write(int file, const twin_bloom *bloom, const char *name, twin_error *error);

#endif

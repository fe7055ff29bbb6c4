/* bloom.h — Bloom filters and counting filters: was this item added, and how often?
 *
 * A filter is an array of cells and k hash functions: adding an item marks its k cells, and an item with an unmarked
 * cell was never added. So only absence is certain: there are no false negatives, and false positives occur at the
 * planned rate as long as the filter holds no more items than planned.
 *
 * A cell is one bit, or, in a counting filter, a counter of 4, 8 or 16 bits. Counters never wrap: a
 * saturated one stays so, also when items are removed, so that it causes no false negative.
 *
 * Two layouts. Blocks put the 8 cells of an item into one block of 512, one in each of 8 lanes of 64: a bit filter
 * then reads a single cache line per item. Classic spreads the k cells over the whole filter: k cache misses, but
 * fewer bits per item, especially for small rates (9.6 against 10.1 at 1 %, 19.2 against 23.6 at 0.01 %).
 *
 * A filter that grows is a list of layers (Almeida et al. 2007). When one holds the items it was planned for, the next,
 * for twice as many at half the rate, takes what is added. The first has half of the rate asked for, so that the sum over
 * all layers stays below it, whatever is added. Such a filter does not count, is not merged, and is not added to by
 * several threads at once.
 *
 * The same items and options give the same bits on every machine. One thread may change a filter while no
 * other uses it; any number may query at once; and any number may add at once through twin_bloom_add_shared() while
 * others query. */
#ifndef TWINSIFT_BLOOM_H
#define TWINSIFT_BLOOM_H

#include <twinsift/hash.h>
#include <twinsift/names.h>
#include <twinsift/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TWIN_BLOOM_MAX_FUNCTIONS = 64 };

typedef enum twin_bloom_layout {
    TWIN_BLOOM_AUTO,    /* blocks for rates of 0.3 % and above, classic below */
    TWIN_BLOOM_BLOCKS,  /* 512 cells per block, 8 lanes of 64 */
    TWIN_BLOOM_CLASSIC, /* cells anywhere */
} twin_bloom_layout;

typedef struct twin_bloom_options {
    uint64_t items;           /* distinct items planned for; 0: a million */
    double rate;              /* false-positive rate when it holds them: 1e-12 .. 0.5; 0: 0.01 */
    unsigned cell_bits;       /* 0 or 1: a bit filter; 4, 8, 16: a counting filter */
    twin_bloom_layout layout; /* usually AUTO */
    twin_hash hash;           /* all zero: xxh3 with seed 0; sip with a secret key for hostile input */
    uint64_t cells;           /* 0: from items and rate. Else classic with this many (rounded up to 512) */
    unsigned functions;       /* with `cells`: k, 1 .. 64; 0: the best for cells and items */
    bool grows;               /* a bit filter that adds a layer whenever it holds the items planned for */
    uint64_t reserved[TWIN_RESERVED];
} twin_bloom_options;

/* The dimensions of a filter; two filters can be merged when their shapes and hashes are equal. */
typedef struct twin_bloom_shape {
    twin_bloom_layout layout; /* never AUTO */
    unsigned cell_bits;       /* 1, 4, 8, 16 */
    unsigned functions;       /* k; 8 for blocks */
    uint64_t cells;           /* a multiple of 512 */
} twin_bloom_shape;

/* The parameters and the state of a filter. */
typedef struct twin_bloom_info {
    twin_bloom_shape shape;
    twin_hash_family family;
    uint64_t seed; /* 0 for sip, whose key is not disclosed */
    uint64_t planned_items;
    double planned_rate;
    uint64_t bytes;     /* of the cells */
    uint64_t added;     /* calls to add, those of merged filters too */
    uint64_t fresh;     /* of these, calls that found the item new */
    uint64_t removed;   /* calls to remove that were not refused */
    uint64_t marked;    /* cells that are not zero */
    uint64_t saturated; /* counters at their maximum, which stay there; 0 for a bit filter */
    double fill;        /* marked / cells */
    double items;       /* distinct items it holds, estimated from the fill */
    double rate;        /* false-positive rate now, computed from the cells */
    bool past_plan;     /* holds more than planned: the rate is above the planned one */
    size_t layers; /* of a filter that grows, whose `shape` is that of the newest but for the cells, which are those
                           of all layers, as is everything else; else 0 */
    uint64_t reserved[TWIN_RESERVED];
} twin_bloom_info;

typedef struct twin_bloom twin_bloom;

/* The smallest shape that keeps the rate. TWIN_EINVAL for options outside their range, TWIN_ELIMIT when more
 * than 2^46 cells would be needed, or when 64-bit hashes cannot distinguish this many items at this rate. */
TWIN_API twin_status twin_bloom_plan(twin_bloom_shape *out, twin_bloom_options options);

/* The expected false-positive rate of a shape that holds this many distinct items; the bytes of its cells. */
TWIN_API double twin_bloom_expected_rate(twin_bloom_shape shape, double items);
TWIN_API uint64_t twin_bloom_bytes(twin_bloom_shape shape);

/* Creates an empty filter; release it with twin_bloom_free(). */
TWIN_API twin_status twin_bloom_create(twin_bloom **out, twin_bloom_options options);
TWIN_API void twin_bloom_free(twin_bloom *bloom);

/* Creates a copy in memory that can be changed, also of a mapped filter. */
TWIN_API twin_status twin_bloom_copy(twin_bloom **out, const twin_bloom *bloom);

TWIN_API twin_bloom_shape twin_bloom_shape_of(const twin_bloom *bloom);

/* An item is `length` bytes, which may be NULL only if there are none; for the sake of speed that is not checked. */

/* Adds an item and returns whether it was new, that is, not reported as present before. A filter that was opened for
 * reading is left as it is: false, and twin_error_last(TWIN_EINVAL) says why. The same goes for all calls that change
 * a filter. */
TWIN_API bool twin_bloom_add(twin_bloom *bloom, const void *bytes, size_t length);

/* Adds the items in their order and returns how many were new. Faster than one by one: hashes ahead and
 * fetches the cells while it does. `fresh`, unless NULL, has room for `count` answers. */
TWIN_API size_t twin_bloom_add_many(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t count);

/* The same for threads that share a bit filter, each with items of its own. If two threads add the same
 * new item at the same time, both may get the answer that it was new. A thread sees what another added once it knows,
 * by any means that orders memory, that the other's call has returned. */
TWIN_API size_t twin_bloom_add_shared(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t count);

/* False: certainly not added (or removed again). True: added, or a false positive. */
TWIN_API bool twin_bloom_may_contain(const twin_bloom *bloom, const void *bytes, size_t length);

/* The same for many, with the cells fetched ahead; returns how many may be present. `found` has room for `count`
 * answers. */
TWIN_API size_t twin_bloom_may_contain_many(bool *found, const twin_bloom *bloom, const twin_text *items,
                                            size_t count);

/* How often the item was added: never too low, unless it was added more often than a counter can count; too high only
 * when all its cells are shared. A saturated counter means that many or more. A bit filter counts to 1. */
TWIN_API uint32_t twin_bloom_count(const twin_bloom *bloom, const void *bytes, size_t length);

/* Removes an item from a counting filter once. Returns false, and changes nothing, when it is certainly absent. Remove
 * only what was added: removing a false positive decrements the cells of other items. A bit filter is left as it is. */
TWIN_API bool twin_bloom_remove(twin_bloom *bloom, const void *bytes, size_t length);

/* The value of a cell: 0 or 1, or a counter; 0 for one that does not exist. Of a filter that grows it is a cell of the
 * newest layer. To look at small filters. */
TWIN_API uint32_t twin_bloom_cell(const twin_bloom *bloom, uint64_t cell);

/* Makes `into` the filter of all items in either, with counts added; or of items in both, with the smaller counts. The
 * intersection contains all items in both and, like any filter, has false positives. `rate`, unless NULL, becomes the
 * resulting false-positive rate. TWIN_EINVAL when shapes or hashes differ. */
TWIN_API twin_status twin_bloom_unite(double *rate, twin_bloom *into, const twin_bloom *other);
TWIN_API twin_status twin_bloom_intersect(double *rate, twin_bloom *into, const twin_bloom *other);

/* Describes a filter; reads every cell. */
TWIN_API void twin_bloom_describe(twin_bloom_info *out, const twin_bloom *bloom);

/* Filters in files; docs/format.md draws them.
 *
 * Any number of processes may read a file while one writes: the writer changes a copy in memory, writes it
 * to a new file and renames that, so a reader keeps the filter it opened, and a killed writer leaves the old file
 * unchanged. The secret key of a sip filter is not in its file; a check value is, so that another key
 * is refused. A file that another program truncates while it is mapped kills its readers with SIGBUS;
 * twinsift itself never does that. */
typedef enum twin_bloom_access {
    TWIN_BLOOM_READ,  /* mapped, shared with all readers; may not be changed */
    TWIN_BLOOM_WRITE, /* a copy in memory, as the only writer until freed; twin_bloom_commit() saves changes */
} twin_bloom_access;

typedef struct twin_bloom_open_options {
    twin_bloom_access access;
    const twin_hash *hash; /* NULL: the one the file names, unless that needs a key. Else the file must have it. */
    bool trust;            /* do not check the cells against their checksums: opens at once at any size */
    uint64_t reserved[TWIN_RESERVED];
} twin_bloom_open_options;

/* Opens a filter; release it with twin_bloom_free(). Damaged, truncated, of another format: TWIN_EFORMAT; of a newer
 * version or of a hash family that this build lacks: TWIN_EUNSUPPORTED; of another hash or key: TWIN_EINVAL; open for
 * writing elsewhere: TWIN_EBUSY. */
TWIN_API twin_status twin_bloom_open(twin_bloom **out, const char *path, twin_bloom_open_options options,
                                     twin_error *error);

/* Describes the filter in a file and checks every byte of it; needs no key. */
TWIN_API twin_status twin_bloom_inspect(twin_bloom_info *out, const char *path, twin_error *error);

/* Writes a filter to a file, all or nothing, and to the disk. An existing file is replaced if `replace` is true and it
 * is a filter, or a regular file that is empty; otherwise it is TWIN_EINVAL. */
TWIN_API twin_status twin_bloom_save(const twin_bloom *bloom, const char *path, bool replace, twin_error *error);

/* Replaces the file that was opened for writing by the filter as it is now. TWIN_ENOMEM, and the file is left as it
 * was, if the filter was to grow and could not. */
TWIN_API twin_status twin_bloom_commit(twin_bloom *bloom, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif

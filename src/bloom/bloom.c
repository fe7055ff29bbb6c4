/* bloom.c — Bloom and counting filters in memory.
 *
 * An item is hashed once to 64 bits, from which all its cells are derived. Bit filters in blocks go through a kernel;
 * the classic layout and counters share one path that computes the cells of an item first. Calls on many items hash a
 * batch ahead and prefetch its cells. */
#include "bloom/bloom_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/kernels.h"

/* Items hashed ahead of their cells: enough to hide a cache miss behind, few enough to stay in the cache. */
enum { BATCH = 32 };

/* ---- making and freeing ---- */

enum { HUGE_PAGE = 2 << 20 };

twin_status twin__bloom_make(twin_bloom **out, twin_bloom_shape shape)
{
    uint64_t bytes = twin_bloom_bytes(shape);
    *out = NULL;
    if (bytes > SIZE_MAX - 2 * HUGE_PAGE) {
        twin__fail(NULL, TWIN_ELIMIT, "a filter of %llu bytes is too large for this machine",
                   (unsigned long long)bytes);
        return TWIN_ELIMIT;
    }
    twin_bloom *bloom = calloc(1, sizeof *bloom);
    if (!bloom)
        return TWIN_ENOMEM;

    /* Mapped from the system: zeroed, not touched before use, and in huge pages, which save 10 to 25 % of a look-up
     * in a filter of gigabytes. A refused hint is not an error. */
    size_t page = bytes < HUGE_PAGE ? 4096 : HUGE_PAGE, room = (bytes + page - 1) / page * page + page;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        free(bloom);
        return TWIN_ENOMEM;
    }
    char *aligned = memory + (page - (uintptr_t)memory % page) % page;
#ifdef __linux__
    madvise(aligned, room - page, MADV_HUGEPAGE);
#endif
    bloom->words = (uint64_t *)(void *)aligned;
    bloom->memory = memory;
    bloom->memory_bytes = room;
    bloom->shape = shape;
    bloom->blocks = shape.cells / BLOOM_BLOCK_CELLS;
    bloom->writable = true;
    bloom->lock = -1;
    *out = bloom;
    return TWIN_OK;
}

twin_status twin_bloom_create(twin_bloom **out, twin_bloom_options options)
{
    twin_bloom_shape shape;
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    twin__bloom_complete(&options);
    twin_status status = twin_hash_available(options.hash.family);
    if (status == TWIN_OK)
        status = twin_bloom_plan(&shape, options);
    if (status == TWIN_OK)
        status = twin__bloom_make(out, shape);
    if (status != TWIN_OK)
        return status;

    (*out)->hash = options.hash;
    (*out)->planned_items = options.items;
    (*out)->planned_rate = options.cells   ? twin_bloom_expected_rate(shape, (double)options.items)
                           : options.grows ? twin__bloom_layer_rate(options.rate)
                                           : options.rate;
    (*out)->grows = options.grows;
    return TWIN_OK;
}

twin_status twin_bloom_copy(twin_bloom **out, const twin_bloom *bloom)
{
    if (out)
        *out = NULL;
    if (!out || !bloom)
        return twin__fail_null(NULL, out ? "bloom" : "out");
    twin_status status = twin__bloom_make(out, bloom->shape);
    if (status != TWIN_OK)
        return status;
    twin_bloom *copy = *out;
    memcpy(copy->words, bloom->words, twin_bloom_bytes(bloom->shape));
    copy->hash = bloom->hash;
    copy->planned_items = bloom->planned_items;
    copy->planned_rate = bloom->planned_rate;
    copy->added = bloom->added;
    copy->fresh = bloom->fresh;
    copy->removed = bloom->removed;
    copy->grows = bloom->grows;
    if (bloom->older)
        status = twin_bloom_copy(&copy->older, bloom->older);
    if (status != TWIN_OK) {
        twin_bloom_free(copy);
        *out = NULL;
    }
    return status;
}

void twin_bloom_free(twin_bloom *bloom)
{
    if (!bloom)
        return;
    twin_bloom_free(bloom->older);
    if (bloom->memory)
        munmap(bloom->memory, bloom->memory_bytes);
    if (bloom->lock >= 0)
        close(bloom->lock);
    free(bloom->path);
    free(bloom);
}

twin_bloom_shape twin_bloom_shape_of(const twin_bloom *bloom)
{
    return bloom ? bloom->shape : (twin_bloom_shape){ 0 };
}

bool twin__bloom_is_changeable(const twin_bloom *bloom)
{
    if (__builtin_expect(bloom && bloom->writable, true))
        return true;
    if (!bloom)
        twin__fail_null(NULL, "bloom");
    else
        twin__fail(NULL, TWIN_EINVAL, "the filter was opened for reading and cannot be changed");
    return false;
}

/* ---- the cells of an item ---- */

/* The 64 bits that determine an item's cells. XXH3 is twin_hash_bytes() inlined: a call, and a twin_hash copied for it,
 * cost a quarter of a look-up in the cache. Short code pays twice here: the fewer instructions a query takes, the more
 * of the following queries the processor can start while it waits for memory. */
static inline uint64_t hash_of(const twin_hash *hash, const void *bytes, size_t length)
{
    if (hash->family == TWIN_HASH_XXH3)
        return XXH3_64bits_withSeed(bytes, length, hash->seed);
    return twin_hash_bytes(*hash, bytes, length);
}

uint64_t twin__bloom_hash_check(twin_hash hash)
{
    static const char text[] = "twinsift bloom: is this the same hash?";
    return hash_of(&hash, text, sizeof text - 1);
}

/* Maps 64 random bits to 0 .. n-1 by their high bits. */
static inline uint64_t reduce(uint64_t x, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)x * n) >> 64);
}

/* A multiplier of Steele and Vigna 2021. */
static const uint64_t SPREAD = 0xD1342543DE82EF95u;

/* The block comes from the leading bits of the hash, the lanes from the leading bits of a product: they depend
 * on all the bits below those that chose the block. */
static inline struct bloom_probe probe_of(const twin_bloom *bloom, const void *bytes, size_t length)
{
    uint64_t hash = hash_of(&bloom->hash, bytes, length);
    return (struct bloom_probe){ .block = reduce(hash, bloom->blocks), .lanes = hash * SPREAD >> 16 };
}

/* The cells of an item, k of them. The classic ones come from a linear congruential stream that starts with the
 * hash and whose increment is derived from it. Plain double hashing (a + i·b) costs one multiplication less each, but
 * two items that share two cells then share all, which is noticeable in small filters. */
static inline void find_cells(uint64_t *cells, const twin_bloom *bloom, const void *bytes, size_t length)
{
    if (bloom->shape.layout == TWIN_BLOOM_BLOCKS) {
        struct bloom_probe probe = probe_of(bloom, bytes, length);
        for (unsigned lane = 0; lane < BLOOM_LANES; lane++)
            cells[lane] =
                probe.block * BLOOM_BLOCK_CELLS + lane * BLOOM_LANE_CELLS + (probe.lanes >> (6 * lane) & 63);
        return;
    }
    uint64_t hash = hash_of(&bloom->hash, bytes, length), step = twin__mix(hash + 0x9E3779B97F4A7C15u);
    for (unsigned i = 0; i < bloom->shape.functions; i++) {
        cells[i] = reduce(hash, bloom->shape.cells);
        hash = hash * SPREAD + step;
    }
}

/* Drops repeats from the cells of an item and returns how many are left. A counter that two functions of an item share
 * counts the item once, on every add and every remove, so that removing undoes adding. */
static unsigned drop_repeated_cells(uint64_t *cells, const twin_bloom *bloom)
{
    if (bloom->shape.layout == TWIN_BLOOM_BLOCKS)
        return BLOOM_LANES; /* one in each lane */
    unsigned kept = 0;
    for (unsigned i = 0; i < bloom->shape.functions; i++) {
        unsigned j = 0;
        while (j < kept && cells[j] != cells[i])
            j++;
        if (j == kept)
            cells[kept++] = cells[i];
    }
    return kept;
}

/* A cell is `cell_bits` bits of a word, the first in the lowest. */
struct place {
    uint64_t *word;
    unsigned shift;
};

static inline struct place place_of_cell(const twin_bloom *bloom, uint64_t cell)
{
    uint64_t bit = cell * bloom->shape.cell_bits;
    return (struct place){ bloom->words + bit / 64, (unsigned)(bit % 64) };
}

static inline uint32_t full(const twin_bloom *bloom)
{
    return (1u << bloom->shape.cell_bits) - 1;
}

/* Atomic, since another thread may be adding; that costs nothing. */
static inline uint32_t cell_value(const twin_bloom *bloom, struct place place)
{
    return (uint32_t)(__atomic_load_n(place.word, __ATOMIC_RELAXED) >> place.shift) & full(bloom);
}

uint32_t twin_bloom_cell(const twin_bloom *bloom, uint64_t cell)
{
    return bloom && cell < bloom->shape.cells ? cell_value(bloom, place_of_cell(bloom, cell)) : 0;
}

static bool is_bit_blocks(const twin_bloom *bloom)
{
    return bloom->shape.layout == TWIN_BLOOM_BLOCKS && !twin__bloom_is_counting(bloom);
}

/* ---- one item ---- */

static bool add_bits(twin_bloom *bloom, const uint64_t *cells)
{
    uint64_t missing = 0;
    for (unsigned i = 0; i < bloom->shape.functions; i++) {
        uint64_t *word = bloom->words + cells[i] / 64, bit = (uint64_t)1 << (cells[i] % 64);
        missing |= ~*word & bit;
        *word |= bit;
    }
    return missing != 0;
}

static bool add_counts(twin_bloom *bloom, const uint64_t *cells, unsigned count)
{
    bool fresh = false;
    for (unsigned i = 0; i < count; i++) {
        struct place place = place_of_cell(bloom, cells[i]);
        uint32_t value = cell_value(bloom, place);
        fresh |= value == 0;
        if (value < full(bloom))
            *place.word += (uint64_t)1 << place.shift;
    }
    return fresh;
}

static bool add_cells(twin_bloom *bloom, uint64_t *cells)
{
    return twin__bloom_is_counting(bloom) ? add_counts(bloom, cells, drop_repeated_cells(cells, bloom))
                                          : add_bits(bloom, cells);
}

static bool add_one(twin_bloom *bloom, const void *bytes, size_t length)
{
    if (is_bit_blocks(bloom)) {
        bool fresh;
        struct bloom_probe probe = probe_of(bloom, bytes, length);
        twin__kernels()->bloom_add(&fresh, bloom->words, &probe, 1);
        return fresh;
    }
    uint64_t cells[TWIN_BLOOM_MAX_FUNCTIONS];
    find_cells(cells, bloom, bytes, length);
    return add_cells(bloom, cells);
}

static bool test_cells(const twin_bloom *bloom, const uint64_t *cells)
{
    for (unsigned i = 0; i < bloom->shape.functions; i++)
        if (cell_value(bloom, place_of_cell(bloom, cells[i])) == 0)
            return false;
    return true;
}

/* A separate function, so that the fast path below needs no array of cells. */
static __attribute__((noinline)) bool test_one(const twin_bloom *bloom, const void *bytes, size_t length)
{
    uint64_t cells[TWIN_BLOOM_MAX_FUNCTIONS];
    find_cells(cells, bloom, bytes, length);
    return test_cells(bloom, cells);
}

static inline bool layer_may_contain(const twin_bloom *bloom, const void *bytes, size_t length)
{
    if (!is_bit_blocks(bloom))
        return test_one(bloom, bytes, length);
    struct bloom_probe probe = probe_of(bloom, bytes, length);
    return twin__kernels()->bloom_has(bloom->words + 8 * probe.block, probe.lanes);
}

bool twin_bloom_may_contain(const twin_bloom *bloom, const void *bytes, size_t length)
{
    for (; bloom; bloom = bloom->older)
        if (layer_may_contain(bloom, bytes, length))
            return true;
    return false;
}

static bool is_full(const twin_bloom *bloom)
{
    return bloom->fresh >= bloom->planned_items;
}

/* A filter that cannot grow takes more than planned; twin_bloom_commit() reports that. */
static bool add_growing(twin_bloom *bloom, const void *bytes, size_t length)
{
    if (twin_bloom_may_contain(bloom, bytes, length))
        return false;
    if (is_full(bloom) && twin__bloom_grow(bloom) != TWIN_OK)
        bloom->stunted = true;
    return add_one(bloom, bytes, length);
}

bool twin_bloom_add(twin_bloom *bloom, const void *bytes, size_t length)
{
    if (!twin__bloom_is_changeable(bloom))
        return false;
    bool fresh = (bloom->grows ? add_growing : add_one)(bloom, bytes, length);
    bloom->added++;
    bloom->fresh += fresh;
    return fresh;
}

uint32_t twin_bloom_count(const twin_bloom *bloom, const void *bytes, size_t length)
{
    if (!bloom)
        return 0;
    if (bloom->older)
        return twin_bloom_may_contain(bloom, bytes, length);
    uint64_t cells[TWIN_BLOOM_MAX_FUNCTIONS];
    uint32_t least = full(bloom);
    find_cells(cells, bloom, bytes, length);
    for (unsigned i = 0; i < bloom->shape.functions; i++) {
        uint32_t value = cell_value(bloom, place_of_cell(bloom, cells[i]));
        least = value < least ? value : least;
    }
    return least;
}

bool twin_bloom_remove(twin_bloom *bloom, const void *bytes, size_t length)
{
    if (!twin__bloom_is_changeable(bloom))
        return false;
    if (!twin__bloom_is_counting(bloom)) {
        twin__fail(NULL, TWIN_EINVAL, "only a counting filter can remove items");
        return false;
    }
    uint64_t cells[TWIN_BLOOM_MAX_FUNCTIONS];
    find_cells(cells, bloom, bytes, length);
    unsigned count = drop_repeated_cells(cells, bloom);
    for (unsigned i = 0; i < count; i++)
        if (cell_value(bloom, place_of_cell(bloom, cells[i])) == 0)
            return false;

    for (unsigned i = 0; i < count; i++) {
        struct place place = place_of_cell(bloom, cells[i]);
        /* A saturated counter may stand for more than its value: decremented, it could reach zero too early. */
        if (cell_value(bloom, place) < full(bloom))
            *place.word -= (uint64_t)1 << place.shift;
    }
    bloom->removed++;
    return true;
}

/* ---- many items ---- */

/* Hashes a batch and prefetches its cache lines. */
static void probe_batch(struct bloom_probe *probes, const twin_bloom *bloom, const twin_text *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        probes[i] = probe_of(bloom, items[i].bytes, items[i].length);
        __builtin_prefetch(bloom->words + 8 * probes[i].block);
    }
}

/* Computes the cells of a batch, `functions` per item, and prefetches their cache lines. */
static void prefetch_cells(uint64_t *cells, const twin_bloom *bloom, const twin_text *items, size_t n)
{
    unsigned functions = bloom->shape.functions;
    for (size_t i = 0; i < n; i++, cells += functions) {
        find_cells(cells, bloom, items[i].bytes, items[i].length);
        for (unsigned j = 0; j < functions; j++)
            __builtin_prefetch(place_of_cell(bloom, cells[j]).word);
    }
}

static size_t add_batch(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t n)
{
    if (is_bit_blocks(bloom)) {
        struct bloom_probe probes[BATCH];
        probe_batch(probes, bloom, items, n);
        return twin__kernels()->bloom_add(fresh, bloom->words, probes, n);
    }
    size_t news = 0;
    uint64_t cells[BATCH * TWIN_BLOOM_MAX_FUNCTIONS];
    prefetch_cells(cells, bloom, items, n);
    for (size_t i = 0; i < n; i++) {
        fresh[i] = add_cells(bloom, cells + i * bloom->shape.functions);
        news += fresh[i];
    }
    return news;
}

static size_t test_batch(bool *found, const twin_bloom *bloom, const twin_text *items, size_t n)
{
    if (is_bit_blocks(bloom)) {
        struct bloom_probe probes[BATCH];
        probe_batch(probes, bloom, items, n);
        return twin__kernels()->bloom_test(found, bloom->words, probes, n);
    }
    size_t hits = 0;
    uint64_t cells[BATCH * TWIN_BLOOM_MAX_FUNCTIONS];
    prefetch_cells(cells, bloom, items, n);
    for (size_t i = 0; i < n; i++) {
        found[i] = test_cells(bloom, cells + i * bloom->shape.functions);
        hits += found[i];
    }
    return hits;
}

/* The same over all layers. */
static size_t test_layers(bool *found, const twin_bloom *bloom, const twin_text *items, size_t n)
{
    size_t hits = test_batch(found, bloom, items, n);
    for (const twin_bloom *layer = bloom->older; layer && hits < n; layer = layer->older) {
        bool also[BATCH];
        test_batch(also, layer, items, n);
        hits = 0;
        for (size_t i = 0; i < n; i++)
            hits += found[i] |= also[i];
    }
    return hits;
}

/* Adds what is in no layer to the newest, which has room for all of the batch. */
static size_t add_growing_batch(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t n)
{
    bool known[BATCH], added[BATCH];
    twin_text absent[BATCH];
    size_t count = 0;
    test_layers(known, bloom, items, n);
    for (size_t i = 0; i < n; i++)
        if (!known[i])
            absent[count++] = items[i];
    size_t news = add_batch(added, bloom, absent, count);
    for (size_t i = n; i-- > 0;)
        fresh[i] = known[i] ? false : added[--count];
    return news;
}

static size_t add_many_growing(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t count)
{
    size_t news = 0, n;
    bool unwanted[BATCH];
    for (size_t i = 0; i < count; i += n) {
        uint64_t room = is_full(bloom) ? 0 : bloom->planned_items - bloom->fresh;
        bool *answers = fresh ? fresh + i : unwanted;
        n = count - i < BATCH ? count - i : BATCH;
        if (n > room)
            n = room ? room : 1;
        if (room == 0)
            answers[0] = twin_bloom_add(bloom, items[i].bytes, items[i].length);
        else {
            size_t added = add_growing_batch(answers, bloom, items + i, n);
            bloom->added += n;
            bloom->fresh += added;
        }
        for (size_t k = 0; k < n; k++)
            news += answers[k];
    }
    return news;
}

static bool set_shared(uint64_t *word, uint64_t bit)
{
    /* A locked instruction costs twenty times a load, and half the bits are set already. */
    if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
        return false;
    return !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

static size_t add_shared_batch(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t n)
{
    size_t news = 0;
    uint64_t cells[BATCH * TWIN_BLOOM_MAX_FUNCTIONS];
    const uint64_t *cell = cells;
    prefetch_cells(cells, bloom, items, n);
    for (size_t i = 0; i < n; i++) {
        fresh[i] = false;
        for (unsigned j = 0; j < bloom->shape.functions; j++, cell++)
            fresh[i] |= set_shared(bloom->words + *cell / 64, (uint64_t)1 << (*cell % 64));
        news += fresh[i];
    }
    return news;
}

typedef size_t do_batch(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t n);

static inline size_t in_batches(do_batch *batch, bool *fresh, twin_bloom *bloom, const twin_text *items, size_t count)
{
    size_t news = 0;
    bool unwanted[BATCH];
    for (size_t i = 0; i < count; i += BATCH)
        news += batch(fresh ? fresh + i : unwanted, bloom, items + i, count - i < BATCH ? count - i : BATCH);
    return news;
}

size_t twin_bloom_add_many(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t count)
{
    if (!twin__bloom_is_changeable(bloom) || !items)
        return 0;
    if (bloom->grows)
        return add_many_growing(fresh, bloom, items, count);
    size_t news = in_batches(add_batch, fresh, bloom, items, count);
    bloom->added += count;
    bloom->fresh += news;
    return news;
}

size_t twin_bloom_add_shared(bool *fresh, twin_bloom *bloom, const twin_text *items, size_t count)
{
    if (!twin__bloom_is_changeable(bloom) || !items)
        return 0;
    if (twin__bloom_is_counting(bloom) || bloom->grows) {
        twin__fail(NULL, TWIN_EINVAL, "threads cannot share a %s to add to it",
                   bloom->grows ? "filter that grows" : "counting filter");
        return 0;
    }
    size_t news = in_batches(add_shared_batch, fresh, bloom, items, count);
    __atomic_fetch_add(&bloom->added, count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bloom->fresh, news, __ATOMIC_RELAXED);
    return news;
}

size_t twin_bloom_may_contain_many(bool *found, const twin_bloom *bloom, const twin_text *items, size_t count)
{
    size_t hits = 0;
    for (size_t i = 0; found && bloom && items && i < count; i += BATCH)
        hits += test_layers(found + i, bloom, items + i, count - i < BATCH ? count - i : BATCH);
    return hits;
}

/* bloom_merge.c — whole filters: one merged into another, and what a filter reports about itself.
 *
 * Both go over all words. Bits are united or intersected as words; counters are added, without overflow, or the
 * smaller is taken, one after the other. The description counts marked and saturated cells a word at a time, by
 * folding each cell onto its lowest bit; of the blocked layout it also averages the false-positive rate of each
 * block. */
#include <math.h>

#include "base/error.h"
#include "bloom/bloom_private.h"
#include "sketch/hash.h"

/* ---- merging ---- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool same_kind(const twin_bloom *a, const twin_bloom *b)
{
    return twin__hash_equal(a->hash, b->hash) && a->shape.layout == b->shape.layout &&
           a->shape.cell_bits == b->shape.cell_bits && a->shape.functions == b->shape.functions &&
           a->shape.cells == b->shape.cells;
}

/* The counters of two words: added with saturation, or the smaller of each two. */
static uint64_t merge_counters(uint64_t a, uint64_t b, unsigned cell_bits, bool unite)
{
    uint64_t most = ((uint64_t)1 << cell_bits) - 1, merged = 0;
    for (unsigned shift = 0; shift < 64; shift += cell_bits) {
        uint64_t x = a >> shift & most, y = b >> shift & most;
        merged |= smaller(unite ? x + y : smaller(x, y), most) << shift;
    }
    return merged;
}

static void merge_words(twin_bloom *into, const twin_bloom *other, bool unite)
{
    size_t words = twin_bloom_bytes(into->shape) / 8;
    for (size_t i = 0; i < words; i++) {
        uint64_t a = into->words[i], b = other->words[i];
        if (twin__bloom_is_counting(into))
            into->words[i] = merge_counters(a, b, into->shape.cell_bits, unite);
        else
            into->words[i] = unite ? a | b : a & b;
    }
}

static twin_status merge(double *rate, twin_bloom *into, const twin_bloom *other, bool unite)
{
    if (!twin__bloom_is_changeable(into))
        return TWIN_EINVAL;
    if (!other)
        return twin__fail_null(NULL, "other");
    if (into->grows || other->grows)
        return twin__fail(NULL, TWIN_EINVAL, "filters that grow cannot be merged");
    if (!same_kind(into, other))
        return twin__fail(NULL, TWIN_EINVAL, "the filters differ in shape or hash");

    merge_words(into, other, unite);
    into->added = unite ? into->added + other->added : smaller(into->added, other->added);
    into->fresh = unite ? into->fresh + other->fresh : smaller(into->fresh, other->fresh);
    into->removed = unite ? into->removed + other->removed : smaller(into->removed, other->removed);
    if (rate) {
        twin_bloom_info info;
        twin_bloom_describe(&info, into);
        *rate = info.rate;
    }
    return TWIN_OK;
}

twin_status twin_bloom_unite(double *rate, twin_bloom *into, const twin_bloom *other)
{
    return merge(rate, into, other, true);
}

twin_status twin_bloom_intersect(double *rate, twin_bloom *into, const twin_bloom *other)
{
    return merge(rate, into, other, false);
}

/* ---- description ---- */

struct tally {
    uint64_t marked, saturated;
    double rates; /* summed over blocks: the probability that an item of that block finds all its cells marked */
};

/* The lowest bit of every cell of a word. */
static uint64_t lowest_bits(unsigned cell_bits)
{
    return UINT64_MAX / ((cell_bits == 1 ? 1 : ((uint64_t)1 << cell_bits) - 1));
}

/* Counts the cells of a word that are not zero, and the saturated ones, by folding each onto its lowest bit. */
static unsigned tally_word(uint64_t *saturated, uint64_t word, unsigned cell_bits)
{
    uint64_t any = word, all = word, lowest = lowest_bits(cell_bits);
    for (unsigned shift = 1; shift < cell_bits; shift *= 2) {
        any |= any >> shift;
        all &= all >> shift;
    }
    if (cell_bits > 1 && all & lowest)
        *saturated += (uint64_t)__builtin_popcountll(all & lowest);
    return (unsigned)__builtin_popcountll(any & lowest);
}

/* 64 cells are cell_bits words, and a block is eight times that. */
static void tally_block(struct tally *tally, const uint64_t *words, unsigned cell_bits)
{
    double rate = 1;
    for (unsigned lane = 0; lane < BLOOM_LANES; lane++) {
        unsigned marked = 0;
        for (unsigned i = 0; i < cell_bits; i++)
            marked += tally_word(&tally->saturated, __atomic_load_n(words++, __ATOMIC_RELAXED), cell_bits);
        tally->marked += marked;
        rate *= marked * (1.0 / BLOOM_LANE_CELLS);
    }
    tally->rates += rate;
}

static void describe_layer(twin_bloom_info *out, const twin_bloom *bloom)
{
    struct tally tally = { 0 };
    twin_bloom_shape shape = bloom->shape;
    for (uint64_t block = 0; block < bloom->blocks; block++)
        tally_block(&tally, bloom->words + block * BLOOM_LANES * shape.cell_bits, shape.cell_bits);

    double cells = (double)shape.cells, fill = (double)tally.marked / cells;
    /* Marking at random leaves a cell empty with probability e^{-km/n} in either layout. A filter without an
     * empty cell is taken to have half of one: the estimate is then too low, and finite. */
    double empty = fmax(cells - (double)tally.marked, 0.5) / cells;
    double items = cells / shape.functions * -log(empty);
    *out = (twin_bloom_info){
        .shape = shape,
        .family = bloom->hash.family,
        .seed = bloom->hash.family == TWIN_HASH_SIP ? 0 : bloom->hash.seed,
        .planned_items = bloom->planned_items,
        .planned_rate = bloom->planned_rate,
        .bytes = twin_bloom_bytes(shape),
        .added = __atomic_load_n(&bloom->added, __ATOMIC_RELAXED),
        .fresh = __atomic_load_n(&bloom->fresh, __ATOMIC_RELAXED),
        .removed = bloom->removed,
        .marked = tally.marked,
        .saturated = tally.saturated,
        .fill = fill,
        .items = items > 0 ? items : 0, /* not -0 */
        .rate = shape.layout == TWIN_BLOOM_BLOCKS ? tally.rates / (double)bloom->blocks : pow(fill, shape.functions),
    };
    /* Both conditions: the tally is exact but counts removed and merged items again, the estimate fluctuates. */
    out->past_plan = out->fresh > out->planned_items && out->items > (double)out->planned_items;
}

/* Adds a layer, as described, to the description of those after it. */
static void add_layer(twin_bloom_info *out, const twin_bloom_info *layer)
{
    double cells = (double)out->shape.cells + (double)layer->shape.cells;
    out->fill = ((double)out->marked + (double)layer->marked) / cells;
    out->shape.cells += layer->shape.cells;
    out->planned_items += layer->planned_items;
    out->bytes += layer->bytes;
    out->added += layer->added;
    out->fresh += layer->fresh;
    out->marked += layer->marked;
    out->items += layer->items;
    out->rate = 1 - (1 - out->rate) * (1 - layer->rate);
}

void twin_bloom_describe(twin_bloom_info *out, const twin_bloom *bloom)
{
    if (out)
        *out = (twin_bloom_info){ 0 };
    if (!out || !bloom)
        return;
    describe_layer(out, bloom);
    if (!bloom->grows)
        return;
    out->layers = 1;
    out->planned_rate = 2 * bloom->planned_rate;
    for (const twin_bloom *layer = bloom->older; layer; layer = layer->older, out->layers++) {
        twin_bloom_info info;
        describe_layer(&info, layer);
        add_layer(out, &info);
        out->planned_rate = 2 * layer->planned_rate;
    }
}

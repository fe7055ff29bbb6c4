/* crowd_join.c — all similar pairs among many documents that may share a template.
 *
 * Documents made from one template share most of their shingles, so shared bands say nothing about them, and all their
 * pairs would be compared. What tells them apart is the rest, their rare shingles. This is a prefix-filter join
 * (AllPairs, Bayardo et al. 2007; PPJoin, Xiao et al. 2008) with shingles ordered by their frequency in the crowd:
 *
 *   1. Each set is fetched once to count its shingles, in a table of counters that shingles share by chance; those of
 *      the template, which a sample shows, are kept apart in a small table. The order is that of counters: any
 *      order is right as long as it is one for all documents, so chance costs only speed.
 *   2. Documents are sorted by the size of their sets. Jaccard similarity t of sets of sizes x and y needs an
 *      overlap of n = t/(1+t)·(x+y). Then the x - n + k first shingles of one in that order and the y - n + k first of
 *      the other have k in common: of n common ones the first k are followed by n - k more in both.
 *   3. A block of documents is indexed by its prefixes, as far as partners that are not smaller need them: every token is
 *      an entry (hash, document, position), and sorted entries are posting lists in order of size. A counter of one is a
 *      shingle that no other document has; it takes up its position but has no entry.
 *   4. Every document not smaller, up to the largest that a member of the block can be similar to, looks up its prefix,
 *      which for those of the block itself was kept. Those that have k tokens in common are compared exactly, some
 *      millions of pairs at a time.
 *
 * A template is at the end of the order, beyond the prefixes, unless the template alone nearly reaches the threshold;
 * then most pairs are similar and the output itself is quadratic. Several templates need no splitting: a shingle of
 * each is frequent. Memory: the counters, one block, and one batch of pairs; whatever does not fit into a
 * block goes into the next, for which documents are fetched once more. */
#include "join/crowd_join.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "kernels/sort.h"

/* ---- tokens ---- */

enum { CLASSES = 256 }; /* frequencies that are told apart before sorting */

/* The tokens of a prefix: a counter in the high 16 bits, the leading bits of a shingle in the others. Shingles that
 * differ in their last 16 bits only are one token, which costs a comparison at most. */
struct tokens {
    uint64_t *items, *spare;
    size_t count, capacity, spare_capacity;
    size_t common; /* of them, in front before they are sorted, are tokens of common shingles */
    size_t first;  /* the position of items[0]: before it are shingles that no other document has */
    uint32_t classes[CLASSES];
};

/* What the document that is looked up knows of a document of the block. */
struct hits {
    uint32_t most_own;   /* positions below this count; 0: not met yet */
    uint8_t most_others; /* positions of the other, in steps, up to this count */
    uint16_t count;
};

struct worker {
    struct tokens tokens;
    struct twin__pairs kept, pairs; /* tokens, numbers as pairs are; candidates */
    struct hits *hits;              /* one per document of the block */
    uint32_t *met;                  /* documents of the block with hits */
    size_t met_count;
    bool no_memory;
};

/* Sorted entries: the hash of a token (36 bits), a document of the block (20), its position in steps (8). */
enum { RANK_BITS = 20, STEP_BITS = 8, HASH_SHIFT = RANK_BITS + STEP_BITS, MOST_STEPS = (1 << STEP_BITS) - 1 };

/* Where the tokens of a document of the block are. */
struct prefix {
    size_t begin, count;
    uint32_t first; /* the position of the first of them */
    int worker;     /* who listed them */
};

struct block {
    size_t begin, end; /* ranks of its documents */
    struct prefix *prefixes;
    size_t prefix_capacity;
    struct twin__pairs tokens, entries;
    uint32_t *starts; /* of the entries whose hash begins with a number of `start_bits` bits */
    unsigned start_bits;
};

/* Shingles that a good part of the documents has, as a sample shows, and how many do: buckets of two, in the order of
 * shingles, so that a sorted set sweeps over them. A place has the count in its high half and some bits of the shingle in
 * the low. Another shingle with these bits is taken for it, and one that finds its bucket full is left out: either
 * way the order of shingles is still one for all. */
enum { BUCKET = 2, TAG_BITS = 16, TAGS = (1 << TAG_BITS) - 1 };

struct common {
    uint32_t *places;
    unsigned shift;
    unsigned least; /* of the counts */
};

struct crowd {
    const struct twin__provider *provider;
    struct twin__crowd_options options;
    double share;    /* t/(1+t), less what arithmetic may err */
    uint64_t *order; /* by rank: the size of a set in the high half, its document in the low */
    size_t count;
    struct common common;
    _Atomic uint16_t *counters; /* of all others */
    unsigned counter_shift;
    unsigned step_shift; /* a step is 2^step_shift positions */
    size_t first_rank;   /* where the current loop begins */
    struct block block;
    struct worker *workers;
    double *sample;
    size_t sample_count;
    struct twin__first_failure failure;
};

static uint32_t document_at(const struct crowd *crowd, size_t rank)
{
    return (uint32_t)crowd->order[rank];
}

static size_t size_at(const struct crowd *crowd, size_t rank)
{
    return crowd->order[rank] >> 32;
}

/* The overlap that the threshold needs of two sets. */
static size_t needed(const struct crowd *crowd, size_t a, size_t b)
{
    return (size_t)ceil(crowd->share * (double)(a + b));
}

/* Tokens that two prefixes must have in common; `size` is that of the smaller set. One would do, but neighbouring
 * shingles come and go together: a few positions more make many chance meetings fewer. */
static size_t wanted(size_t size, size_t overlap)
{
    enum { SIZE_PER_TOKEN = 256, MOST_WANTED = 16 };
    size_t count = 1 + size / SIZE_PER_TOKEN;
    if (count > MOST_WANTED)
        count = MOST_WANTED;
    return count < overlap ? count : overlap;
}

static size_t prefix_length(size_t size, size_t overlap, size_t in_common)
{
    return overlap > size ? 0 : size - overlap + in_common;
}

/* As far as any partner that is not smaller needs it. A larger partner needs a larger overlap, hence a shorter prefix. */
static size_t indexed_prefix(const struct crowd *crowd, size_t size)
{
    size_t overlap = needed(crowd, size, size);
    return prefix_length(size, overlap, wanted(size, overlap));
}

/* As far as any partner of `least` shingles and more, but not larger, needs it. */
static size_t looked_up_prefix(const struct crowd *crowd, size_t size, size_t least)
{
    size_t overlap = needed(crowd, size, least);
    return prefix_length(size, overlap, wanted(size, overlap));
}

/* Counters stay at this, whichever worker gets there: some may add to one at once, never so many that it wraps. */
enum { MOST_COUNTED = UINT16_MAX - TWIN_EXEC_MAX_WORKERS };

static _Atomic uint16_t *counter_of(const struct crowd *crowd, uint64_t item)
{
    return &crowd->counters[item >> crowd->counter_shift];
}

static unsigned counted(const struct crowd *crowd, uint64_t item)
{
    unsigned count = atomic_load_explicit(counter_of(crowd, item), memory_order_relaxed);
    return count < MOST_COUNTED ? count : MOST_COUNTED;
}

static twin_status fetch_set(twin_set *out, const struct crowd *crowd, uint32_t document, int worker,
                             twin_error *error)
{
    struct twin__content content;
    twin_status status = crowd->provider->fetch(&content, crowd->provider, document, worker, error);
    if (status == TWIN_OK)
        *out = twin__content_set(content);
    return status;
}

static uint32_t *common_bucket(const struct common *common, uint64_t item)
{
    return common->places + BUCKET * (item >> common->shift);
}

static uint32_t common_tag(const struct common *common, uint64_t item)
{
    return item >> (common->shift - TAG_BITS) & TAGS;
}

/* How many documents have a common shingle; 0 when it is not one. */
static inline uint32_t common_count(const struct common *common, uint64_t item)
{
    const uint32_t *bucket = common_bucket(common, item);
    uint32_t tag = common_tag(common, item), count = 0;
    for (int i = 0; i < BUCKET; i++)
        count |= (bucket[i] & TAGS) == tag ? bucket[i] >> TAG_BITS : 0;
    return count;
}

static bool make_room(struct tokens *tokens, size_t count)
{
    return TWIN__ARRAY_GROW(&tokens->items, &tokens->capacity, 0, count + 1) &&
           TWIN__ARRAY_GROW(&tokens->spare, &tokens->spare_capacity, 0, count + 1);
}

/* Divides a set: the rest goes to tokens->spare, and common shingles, as tokens, to tokens->items. Returns how many the
 * rest are. */
static size_t divide(struct tokens *tokens, const struct crowd *crowd, twin_set set)
{
    size_t rest = 0, common = 0;
    for (size_t i = 0; i < set.count; i++) {
        uint64_t item = set.items[i], count = common_count(&crowd->common, item);
        tokens->spare[rest] = item;
        rest += count == 0;
        tokens->items[common] = count << 48 | item >> 16;
        common += count != 0;
    }
    tokens->common = tokens->count = common;
    return rest;
}

static unsigned class_of(uint64_t count)
{
    return count < CLASSES ? (unsigned)count : CLASSES - 1;
}

/* Counters are far apart in memory: ask for those of later items early. */
enum { AHEAD = 12 };

/* Collects the tokens of a set with a counter above one; classes[c] is the number of shingles counted c times, in the last
 * class or more often. */
static void collect_tokens(struct tokens *out, const struct crowd *crowd, twin_set set)
{
    size_t rest = divide(out, crowd, set);
    memset(out->classes, 0, sizeof out->classes);
    if (crowd->common.least >= CLASSES - 1)
        out->classes[CLASSES - 1] = (uint32_t)out->common;
    else
        for (size_t i = 0; i < out->common; i++)
            out->classes[class_of(out->items[i] >> 48)]++;
    for (size_t i = 0; i < rest; i++) {
        if (i + AHEAD < rest)
            __builtin_prefetch((const void *)counter_of(crowd, out->spare[i + AHEAD]));
        uint64_t item = out->spare[i], count = counted(crowd, item);
        out->classes[class_of(count)]++;
        out->items[out->count] = count << 48 | item >> 16;
        out->count += count > 1;
    }
}

/* Sorts tokens by their counts alone, eight bits at a time. They come in the order of their shingles, common ones first,
 * and stay so among equals: that, too, is one order for all documents. */
static void sort_by_count(uint64_t *items, uint64_t *spare, size_t count)
{
    for (unsigned shift = 48; shift < 64; shift += 8) {
        size_t starts[257] = { 0 };
        for (size_t i = 0; i < count; i++)
            starts[1 + (items[i] >> shift & 255)]++;
        for (size_t i = 1; i < 256; i++)
            starts[i] += starts[i - 1];
        for (size_t i = 0; i < count; i++)
            spare[starts[items[i] >> shift & 255]++] = items[i];
        memcpy(items, spare, count * sizeof *items);
    }
}

/* Keeps the `length` least tokens, in order: those that no one else has count but are not among them. */
static void cut_tokens(struct tokens *tokens, const struct crowd *crowd, size_t length)
{
    const uint32_t *classes = tokens->classes;
    size_t below = classes[0] + classes[1], kept = 0;
    unsigned class = 1;
    tokens->first = below;
    if (below >= length) {
        tokens->count = 0;
        return;
    }
    while (below < length && class < CLASSES - 1)
        below += classes[++class];
    uint64_t bound = class < CLASSES - 1 ? (uint64_t)(class + 1) << 48 : UINT64_MAX;
    for (size_t i = class < crowd->common.least ? tokens->common : 0; i < tokens->count; i++) {
        tokens->items[kept] = tokens->items[i];
        kept += tokens->items[i] < bound;
    }
    sort_by_count(tokens->items, tokens->spare, kept);
    tokens->count = kept < length - tokens->first ? kept : length - tokens->first;
}

static twin_status list_tokens(struct tokens *out, const struct crowd *crowd, size_t rank, size_t length, int worker,
                               twin_error *error)
{
    twin_set set;
    twin_status status = fetch_set(&set, crowd, document_at(crowd, rank), worker, error);
    if (status != TWIN_OK)
        return status;
    if (!make_room(out, set.count))
        return twin__fail_memory(error);
    collect_tokens(out, crowd, set);
    cut_tokens(out, crowd, length);
    return TWIN_OK;
}

/* ---- counting ---- */

/* How many documents to look at for a guess about all: an eighth, but some in any case and no more than `most`. */
static size_t sample_size(const struct crowd *crowd, size_t most)
{
    enum { SOME = 16, SHARE = 8 };
    size_t share = crowd->count / SHARE > SOME ? crowd->count / SHARE : SOME;
    if (share > crowd->count)
        share = crowd->count;
    return share < most ? share : most;
}

/* The items of some sets spread over the crowd, sorted; *sets is how many. */
static twin_status sample_items(struct twin__pairs *out, size_t *sets, const struct crowd *crowd, twin_error *error)
{
    enum { MOST_SETS = 128, MOST_ITEMS = 1 << 22 };
    size_t most = sample_size(crowd, MOST_SETS);
    for (*sets = 0; *sets < most && out->count < MOST_ITEMS; ++*sets) {
        twin_set set;
        twin_status status = fetch_set(&set, crowd, document_at(crowd, *sets * crowd->count / most), 0, error);
        if (status != TWIN_OK)
            return status;
        if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, set.count))
            return twin__fail_memory(error);
        if (set.count)
            memcpy(out->items + out->count, set.items, set.count * sizeof *set.items);
        out->count += set.count;
    }
    uint64_t *spare = malloc((out->count + 1) * sizeof *spare);
    if (!spare)
        return twin__fail_memory(error);
    twin__sort(out->items, spare, out->count);
    free(spare);
    return TWIN_OK;
}

/* Leaves each item that at least one in eight sets has, and in `counts` how many have it. */
static void keep_common(struct twin__pairs *items, uint16_t *counts, size_t sets)
{
    size_t kept = 0;
    for (size_t begin = 0, end; begin < items->count; begin = end) {
        for (end = begin + 1; end < items->count && items->items[end] == items->items[begin]; end++)
            ;
        if (8 * (end - begin) >= sets && end - begin > 1) {
            counts[kept] = (uint16_t)(end - begin);
            items->items[kept++] = items->items[begin];
        }
    }
    items->count = kept;
}

/* The count is that of the whole crowd. */
static void add_common(struct common *common, uint64_t item, double count)
{
    uint32_t *bucket = common_bucket(common, item), tag = common_tag(common, item);
    uint32_t rounded = count < MOST_COUNTED ? (uint32_t)count : MOST_COUNTED;
    if (common_count(common, item))
        return;
    for (int i = 0; i < BUCKET; i++)
        if (bucket[i] == 0) {
            bucket[i] = rounded << TAG_BITS | tag;
            common->least = rounded < common->least ? rounded : common->least;
            return;
        }
}

/* Two buckets per item or more: of a hundred items one or two find theirs full. */
static twin_status fill_common(struct common *out, const struct twin__pairs *items, const uint16_t *counts,
                               double factor)
{
    unsigned bits = 4;
    while (bits < 40 && (size_t)1 << bits < 2 * items->count)
        bits++;
    out->shift = 64 - bits;
    out->least = MOST_COUNTED;
    out->places = calloc((size_t)BUCKET << bits, sizeof *out->places);
    if (!out->places)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < items->count; i++)
        add_common(out, items->items[i], factor * (double)counts[i]);
    return TWIN_OK;
}

static twin_status find_common(struct crowd *crowd, twin_error *error)
{
    struct twin__pairs items = { 0 };
    size_t sets;
    twin_status status = sample_items(&items, &sets, crowd, error);
    uint16_t *counts = status == TWIN_OK ? malloc((items.count + 1) * sizeof *counts) : NULL;
    if (counts) {
        keep_common(&items, counts, sets);
        status = fill_common(&crowd->common, &items, counts, (double)crowd->count / (double)sets);
    } else if (status == TWIN_OK)
        status = TWIN_ENOMEM;
    if (status == TWIN_ENOMEM)
        twin__fail_memory(error);
    free(counts);
    free(items.items);
    return status;
}

static void count_items(struct crowd *crowd, const uint64_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch((const void *)counter_of(crowd, items[i + AHEAD]), 1);
        _Atomic uint16_t *counter = counter_of(crowd, items[i]);
        if (atomic_load_explicit(counter, memory_order_relaxed) < MOST_COUNTED)
            atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    }
}

static twin_status count_set(struct crowd *crowd, size_t i, int worker, twin_error *error)
{
    struct tokens *tokens = &crowd->workers[worker].tokens;
    twin_set set;
    twin_status status = fetch_set(&set, crowd, document_at(crowd, i), worker, error);
    if (status != TWIN_OK)
        return status;
    if (!make_room(tokens, set.count))
        return twin__fail_memory(error);
    count_items(crowd, tokens->spare, divide(tokens, crowd, set));
    crowd->order[i] |= (uint64_t)set.count << 32;
    return TWIN_OK;
}

/* Also puts the size of each set above its document. */
static void count_sets(void *context, size_t begin, size_t end, int worker)
{
    struct crowd *crowd = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (count_set(crowd, i, worker, &error) != TWIN_OK) {
            twin__keep_first_failure(&crowd->failure, i, &error);
            return;
        }
    }
}

enum { SETS_AT_A_TIME = 8 };

static twin_status count_shingles(struct crowd *crowd, twin_error *error)
{
    uint64_t *spare = malloc((crowd->count + 1) * sizeof *spare);
    if (!spare)
        return twin__fail_memory(error);
    twin_status status = find_common(crowd, error);
    if (status == TWIN_OK) {
        twin_exec_for(crowd->options.exec, crowd->count, SETS_AT_A_TIME, count_sets, crowd);
        status = twin__first_failure(error, &crowd->failure);
    }
    if (status == TWIN_OK) {
        twin__sort(crowd->order, spare, crowd->count);
        size_t longest = indexed_prefix(crowd, size_at(crowd, crowd->count - 1));
        while (longest >> crowd->step_shift > MOST_STEPS)
            crowd->step_shift++;
    }
    free(spare);
    return status;
}

/* ---- what it would take ---- */

enum { MOST_SAMPLED = 256 };

/* To keep, sort and find a token, and to count a document of its posting list; measured. */
static const double SECONDS_PER_TOKEN = 200e-9, SECONDS_PER_HIT = 3e-9;

static void sample_document(void *context, size_t begin, size_t end, int worker)
{
    struct crowd *crowd = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        size_t rank = i * crowd->count / crowd->sample_count, size = size_at(crowd, rank);
        struct tokens *tokens = &crowd->workers[worker].tokens;
        size_t length = looked_up_prefix(crowd, size, size);
        if (list_tokens(tokens, crowd, rank, length, worker, &error) != TWIN_OK) {
            twin__keep_first_failure(&crowd->failure, i, &error);
            return;
        }
        crowd->sample[i] = SECONDS_PER_TOKEN * (double)tokens->count;
        for (size_t t = 0; t < tokens->count; t++) /* each pair is met by one of its two documents */
            crowd->sample[i] += SECONDS_PER_HIT / 2 * (double)(tokens->items[t] >> 48);
    }
}

/* The processor time to look up all prefixes, guessed from some of them. */
static twin_status expected_seconds(double *out, struct crowd *crowd, twin_error *error)
{
    double sample[MOST_SAMPLED], sum = 0;
    crowd->sample = sample;
    crowd->sample_count = sample_size(crowd, MOST_SAMPLED);
    twin_exec_for(crowd->options.exec, crowd->sample_count, 1, sample_document, crowd);
    crowd->sample = NULL;
    twin_status status = twin__first_failure(error, &crowd->failure);
    for (size_t i = 0; i < crowd->sample_count && status == TWIN_OK; i++)
        sum += sample[i];
    *out = sum / (double)crowd->sample_count * (double)crowd->count;
    return status;
}

/* ---- the index of a block ---- */

/* The lowest rank from `low` on, up to `high`, whose set is large enough for one of `size`. */
static size_t lowest_partner(const struct crowd *crowd, size_t size, size_t low, size_t high)
{
    size_t count = high - low;
    while (count > 0) {
        size_t half = count / 2, other = size_at(crowd, low + half);
        if (needed(crowd, size, other) > other) {
            low += half + 1;
            count -= half + 1;
        } else
            count = half;
    }
    return low;
}

static uint64_t hash_of(uint64_t token)
{
    token = (token ^ token >> 32) * 0x9E3779B97F4A7C15; /* Fibonacci hashing */
    return (token ^ token >> 29) * 0xBF58476D1CE4E5B9 >> HASH_SHIFT;
}

/* Lists the tokens of a document for its lookup in its own block, which needs more of them than the index does. */
static twin_status keep_tokens(struct crowd *crowd, size_t rank, int number, twin_error *error)
{
    struct worker *worker = &crowd->workers[number];
    const struct block *block = &crowd->block;
    size_t least = size_at(crowd, lowest_partner(crowd, size_at(crowd, rank), block->begin, rank));
    size_t length = looked_up_prefix(crowd, size_at(crowd, rank), least);
    twin_status status = list_tokens(&worker->tokens, crowd, rank, length, number, error);
    if (status != TWIN_OK)
        return status;
    struct twin__pairs tokens = { .items = worker->tokens.items, .count = worker->tokens.count };
    block->prefixes[rank - block->begin] = (struct prefix){
        .begin = worker->kept.count, .count = tokens.count, .first = (uint32_t)worker->tokens.first, .worker = number
    };
    return twin__pairs_append(&worker->kept, &tokens) ? TWIN_OK : twin__fail_memory(error);
}

static void keep_documents(void *context, size_t begin, size_t end, int worker)
{
    struct crowd *crowd = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        size_t rank = crowd->first_rank + i;
        if (keep_tokens(crowd, rank, worker, &error) != TWIN_OK) {
            twin__keep_first_failure(&crowd->failure, rank, &error);
            return;
        }
    }
}

/* Adds some more documents to the block. */
static twin_status extend_block(struct crowd *crowd, twin_error *error)
{
    enum { DOCUMENTS_AT_A_TIME = 512 };
    struct block *block = &crowd->block;
    size_t more = crowd->count - block->end;
    if (more > DOCUMENTS_AT_A_TIME)
        more = DOCUMENTS_AT_A_TIME;
    size_t before = block->end - block->begin;
    if (!TWIN__ARRAY_GROW(&block->prefixes, &block->prefix_capacity, before, more))
        return twin__fail_memory(error);
    crowd->first_rank = block->end;
    twin_exec_for(crowd->options.exec, more, SETS_AT_A_TIME, keep_documents, crowd);
    block->end += more;
    twin_status status = twin__first_failure(error, &crowd->failure);
    for (int i = 0; i < crowd->options.exec.workers; i++) {
        struct worker *worker = &crowd->workers[i];
        size_t base = block->tokens.count;
        if (status == TWIN_OK && !twin__pairs_append(&block->tokens, &worker->kept))
            status = twin__fail_memory(error);
        for (size_t k = before; k < before + more && status == TWIN_OK; k++)
            if (block->prefixes[k].worker == i)
                block->prefixes[k].begin += base;
        worker->kept.count = 0;
    }
    return status;
}

/* Makes entries of the tokens that the index needs. */
static twin_status make_entries(struct crowd *crowd, twin_error *error)
{
    struct block *block = &crowd->block;
    block->entries.count = 0;
    if (!TWIN__ARRAY_GROW(&block->entries.items, &block->entries.capacity, 0, block->tokens.count + 1))
        return twin__fail_memory(error);
    for (size_t i = 0; i < block->end - block->begin; i++) {
        const struct prefix *prefix = &block->prefixes[i];
        size_t length = indexed_prefix(crowd, size_at(crowd, block->begin + i));
        for (size_t t = 0; t < prefix->count && prefix->first + t < length; t++) {
            uint64_t step = (prefix->first + t) >> crowd->step_shift;
            block->entries.items[block->entries.count++] =
                hash_of(block->tokens.items[prefix->begin + t]) << HASH_SHIFT | (uint64_t)i << STEP_BITS | step;
        }
    }
    return TWIN_OK;
}

static void note_starts(struct block *block)
{
    size_t slots = (size_t)1 << block->start_bits, at = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        while (at < block->entries.count && block->entries.items[at] >> (64 - block->start_bits) < slot)
            at++;
        block->starts[slot] = (uint32_t)at;
    }
    block->starts[slots] = (uint32_t)block->entries.count;
}

/* Sorts the entries and notes where each hash begins. */
static twin_status finish_block(struct block *block, twin_error *error)
{
    size_t count = block->entries.count;
    uint64_t *spare = malloc((count + 1) * sizeof *spare);
    if (!spare)
        return twin__fail_memory(error);
    twin__sort(block->entries.items, spare, count);
    free(spare);
    block->start_bits = 1;
    while (block->start_bits < 31 && count >> block->start_bits > 1)
        block->start_bits++;
    free(block->starts);
    block->starts = malloc((((size_t)1 << block->start_bits) + 1) * sizeof *block->starts);
    if (!block->starts)
        return twin__fail_memory(error);
    note_starts(block);
    return TWIN_OK;
}

/* The next block: as many documents as its entries allow. */
static twin_status build_block(struct crowd *crowd, twin_error *error)
{
    enum { MOST_DOCUMENTS = (1 << RANK_BITS) - 512 };
    struct block *block = &crowd->block;
    block->begin = block->end;
    block->tokens.count = 0;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && block->end < crowd->count && block->end - block->begin < MOST_DOCUMENTS &&
           block->tokens.count < crowd->options.index_entries)
        status = extend_block(crowd, error);
    if (status == TWIN_OK)
        status = make_entries(crowd, error);
    return status == TWIN_OK ? finish_block(block, error) : status;
}

/* ---- looking up ---- */

/* The first entry not less than `key`. */
static size_t find_entry(const struct block *block, uint64_t key)
{
    size_t slot = key >> (64 - block->start_bits);
    size_t low = block->starts[slot], count = block->starts[slot + 1] - low;
    while (count > 0) {
        size_t half = count / 2;
        if (block->entries.items[low + half] < key) {
            low += half + 1;
            count -= half + 1;
        } else
            count = half;
    }
    return low;
}

/* A document on its way through the index. */
struct lookup {
    const struct crowd *crowd;
    struct worker *worker;
    size_t rank, size;
    size_t low, high; /* ranks of possible partners */
};

static void meet(const struct lookup *lookup, struct hits *hits, uint32_t other)
{
    const struct crowd *crowd = lookup->crowd;
    size_t size = size_at(crowd, crowd->block.begin + other), overlap = needed(crowd, lookup->size, size);
    size_t in_common = wanted(size, overlap);
    hits->most_own = (uint32_t)prefix_length(lookup->size, overlap, in_common);
    size_t step = (prefix_length(size, overlap, in_common) - 1) >> crowd->step_shift;
    hits->most_others = (uint8_t)(step < MOST_STEPS ? step : MOST_STEPS);
    lookup->worker->met[lookup->worker->met_count++] = other;
}

static void look_up_token(const struct lookup *lookup, uint64_t token, size_t position)
{
    const struct block *block = &lookup->crowd->block;
    uint64_t hash = hash_of(token) << HASH_SHIFT;
    uint64_t end = hash | (uint64_t)(lookup->high - block->begin) << STEP_BITS;
    const uint64_t *entries = block->entries.items;
    for (size_t i = find_entry(block, hash | (uint64_t)(lookup->low - block->begin) << STEP_BITS);
         i < block->entries.count && entries[i] < end; i++) {
        uint32_t other = entries[i] >> STEP_BITS & ((1 << RANK_BITS) - 1);
        struct hits *hits = &lookup->worker->hits[other];
        if (hits->most_own == 0)
            meet(lookup, hits, other);
        if (position < hits->most_own && (entries[i] & MOST_STEPS) <= hits->most_others && hits->count < UINT16_MAX)
            hits->count++;
    }
}

/* Those with enough hits become pairs; all are forgotten. */
static void take_met(const struct lookup *lookup)
{
    const struct crowd *crowd = lookup->crowd;
    struct worker *worker = lookup->worker;
    for (size_t i = 0; i < worker->met_count; i++) {
        size_t rank = crowd->block.begin + worker->met[i], size = size_at(crowd, rank);
        struct hits *hits = &worker->hits[worker->met[i]];
        if (hits->count >= wanted(size, needed(crowd, lookup->size, size)) &&
            !twin__pairs_add(&worker->pairs, twin__pair(document_at(crowd, lookup->rank), document_at(crowd, rank))))
            worker->no_memory = true;
        *hits = (struct hits){ 0 };
    }
    worker->met_count = 0;
}

/* Looks up all tokens of the document: those kept, if it is of the block, else it is fetched. */
static twin_status look_up(const struct lookup *lookup, int number, twin_error *error)
{
    const struct crowd *crowd = lookup->crowd;
    const struct block *block = &crowd->block;
    if (lookup->rank < block->end) {
        const struct prefix *prefix = &block->prefixes[lookup->rank - block->begin];
        for (size_t t = 0; t < prefix->count; t++)
            look_up_token(lookup, block->tokens.items[prefix->begin + t], prefix->first + t);
        return TWIN_OK;
    }
    struct tokens *tokens = &lookup->worker->tokens;
    size_t length = looked_up_prefix(crowd, lookup->size, size_at(crowd, lookup->low));
    twin_status status = list_tokens(tokens, crowd, lookup->rank, length, number, error);
    for (size_t t = 0; t < tokens->count && status == TWIN_OK; t++)
        look_up_token(lookup, tokens->items[t], tokens->first + t);
    return status;
}

static void look_up_documents(void *context, size_t begin, size_t end, int number)
{
    struct crowd *crowd = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        struct lookup lookup = { crowd, &crowd->workers[number], .rank = crowd->first_rank + i };
        lookup.size = size_at(crowd, lookup.rank);
        lookup.high = lookup.rank < crowd->block.end ? lookup.rank : crowd->block.end;
        lookup.low = lowest_partner(crowd, lookup.size, crowd->block.begin, lookup.high);
        if (lookup.low >= lookup.high)
            continue;
        if (look_up(&lookup, number, &error) != TWIN_OK) {
            twin__keep_first_failure(&crowd->failure, lookup.rank, &error);
            return;
        }
        take_met(&lookup);
    }
}

/* ---- all of it ---- */

static twin_status compare(twin_matches *out, struct twin__crowd_counts *counts, const struct crowd *crowd,
                           struct twin__pairs *pairs, twin_error *error)
{
    struct twin__set_rule rule = { TWIN_JACCARD, crowd->options.threshold };
    struct twin__verify_options verify = { .comparison = twin__compare_sets(&rule), .exec = crowd->options.exec };
    twin_status status = twin__verify_pairs(out, crowd->provider, pairs, verify, error);
    counts->compared += pairs->count;
    pairs->count = 0;
    return status;
}

static twin_status gather_pairs(struct twin__pairs *out, struct crowd *crowd, twin_error *error)
{
    for (int i = 0; i < crowd->options.exec.workers; i++) {
        struct worker *worker = &crowd->workers[i];
        if (worker->no_memory || !twin__pairs_append(out, &worker->pairs))
            return twin__fail_memory(error);
        worker->pairs.count = 0;
    }
    return TWIN_OK;
}

/* Room for the documents of the block in every worker's hits. */
static twin_status make_hits(struct crowd *crowd, twin_error *error)
{
    size_t documents = crowd->block.end - crowd->block.begin;
    for (int i = 0; i < crowd->options.exec.workers; i++) {
        struct worker *worker = &crowd->workers[i];
        free(worker->hits);
        free(worker->met);
        worker->hits = calloc(documents + 1, sizeof *worker->hits);
        worker->met = malloc((documents + 1) * sizeof *worker->met);
        if (!worker->hits || !worker->met)
            return twin__fail_memory(error);
    }
    return TWIN_OK;
}

/* Compares the documents of the block with each other and with all larger ones, some at a time: so few that, if all of
 * them are candidates of all, memory stays bounded. */
static twin_status join_block(twin_matches *out, struct twin__crowd_counts *counts, struct crowd *crowd,
                              struct twin__pairs *pairs, twin_error *error)
{
    enum { FEWEST = 64 };
    const struct block *block = &crowd->block;
    size_t largest = size_at(crowd, block->end - 1);
    size_t members = block->end - block->begin, at_a_time = FEWEST;
    if (members > 0 && 4 * crowd->options.pairs_at_a_time / members > FEWEST)
        at_a_time = 4 * crowd->options.pairs_at_a_time / members;
    twin_status status = make_hits(crowd, error);
    for (size_t rank = block->begin; rank < crowd->count && status == TWIN_OK; rank += at_a_time) {
        if (needed(crowd, size_at(crowd, rank), largest) > largest)
            break;
        size_t count = crowd->count - rank < at_a_time ? crowd->count - rank : at_a_time;
        crowd->first_rank = rank;
        twin_exec_for(crowd->options.exec, count, SETS_AT_A_TIME, look_up_documents, crowd);
        status = twin__first_failure(error, &crowd->failure);
        if (status == TWIN_OK)
            status = gather_pairs(pairs, crowd, error);
        if (status == TWIN_OK && pairs->count >= crowd->options.pairs_at_a_time)
            status = compare(out, counts, crowd, pairs, error);
    }
    return status;
}

static twin_status join_blocks(twin_matches *out, struct twin__crowd_counts *counts, struct crowd *crowd,
                               twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    twin_progress progress = crowd->options.progress;
    twin_status status = TWIN_OK;
    while (crowd->block.end < crowd->count && status == TWIN_OK) {
        status = build_block(crowd, error);
        if (status == TWIN_OK)
            status = join_block(out, counts, crowd, &pairs, error);
        if (progress.report)
            progress.report(progress.context, &twin__stage_joining, crowd->block.end, crowd->count);
    }
    if (status == TWIN_OK)
        status = compare(out, counts, crowd, &pairs, error);
    free(pairs.items);
    return status;
}

/* 512 counters per document, so that most rare shingles have one of their own, but 64 MB of them at most unless 128 per
 * document are more. */
static twin_status make_counters(struct crowd *crowd)
{
    enum { FEWEST_BITS = 16, PLENTY = 512, ENOUGH = 128, LARGE_BITS = 25 };
    unsigned bits = FEWEST_BITS;
    while (bits < 63 && (size_t)1 << bits < (bits < LARGE_BITS ? PLENTY : ENOUGH) * crowd->count)
        bits++;
    crowd->counter_shift = 64 - bits;
    crowd->counters = calloc((size_t)1 << bits, sizeof *crowd->counters);
    return crowd->counters ? TWIN_OK : TWIN_ENOMEM;
}

static twin_status crowd_init(struct crowd *crowd, struct twin__crowd_documents documents)
{
    size_t count = documents.count;
    enum { FEWEST_ENTRIES = 1 << 22, ENTRIES_PER_DOCUMENT = 32, PAIRS_AT_A_TIME = 1 << 21 };
    crowd->count = count;
    double t = crowd->options.threshold;
    crowd->share = t / (1 + t) * (1 - 1e-12);
    if (crowd->options.index_entries == 0)
        crowd->options.index_entries =
            count > FEWEST_ENTRIES / ENTRIES_PER_DOCUMENT ? ENTRIES_PER_DOCUMENT * count : FEWEST_ENTRIES;
    if (crowd->options.pairs_at_a_time == 0)
        crowd->options.pairs_at_a_time = PAIRS_AT_A_TIME;
    crowd->order = malloc((count + 1) * sizeof *crowd->order);
    crowd->workers = calloc((size_t)crowd->options.exec.workers, sizeof *crowd->workers);
    if (!crowd->order || !crowd->workers)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        crowd->order[i] = documents.items[i];
    return make_counters(crowd);
}

static void crowd_clear(struct crowd *crowd)
{
    for (int i = 0; crowd->workers && i < crowd->options.exec.workers; i++) {
        struct worker *worker = &crowd->workers[i];
        free(worker->tokens.items);
        free(worker->tokens.spare);
        free(worker->kept.items);
        free(worker->pairs.items);
        free(worker->hits);
        free(worker->met);
    }
    free(crowd->workers);
    free(crowd->order);
    free((void *)crowd->counters);
    free(crowd->common.places);
    free(crowd->block.prefixes);
    free(crowd->block.tokens.items);
    free(crowd->block.entries.items);
    free(crowd->block.starts);
}

twin_status twin__crowd_join(twin_matches *out, struct twin__crowd_counts *counts,
                             const struct twin__provider *provider, struct twin__crowd_documents documents,
                             struct twin__crowd_options options, twin_error *error)
{
    struct crowd crowd = { .provider = provider, .options = options, .failure = TWIN__NO_FAILURE };
    *counts = (struct twin__crowd_counts){ 0 };
    if (documents.count < 2)
        return TWIN_OK;
    double seconds = 0;
    twin_status status = crowd_init(&crowd, documents);
    if (status != TWIN_OK)
        twin__fail_status(error, status);
    if (status == TWIN_OK)
        status = count_shingles(&crowd, error);
    if (status == TWIN_OK && options.most_seconds > 0)
        status = expected_seconds(&seconds, &crowd, error);
    counts->refused = options.most_seconds > 0 && seconds > options.most_seconds;
    if (status == TWIN_OK && !counts->refused)
        status = join_blocks(out, counts, &crowd, error);
    crowd_clear(&crowd);
    return status;
}

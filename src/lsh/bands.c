/* bands.c — signatures become candidates.
 *
 * A band is an array of keys, one per document: the high half is a hash of the document's rows in this band, the low
 * half its number. Most documents are alone in their bucket; a bitmap shows most of these, and the others are sorted.
 * Sorted by the high half, a bucket is a run of equal halves; inside a run the rows themselves are compared, for 32
 * bits of hash collide by chance in a large collection. A pair may share many bands and is reported in the first of
 * them, which can be seen from the two signatures, so that no pair has to be remembered. Workers take a band at a
 * time; twin_bands keeps the sorted bands, to look up the buckets of one more signature. */
#include <twinsift/bands.h>

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <twinsift/scheme.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/spill.h"
#include "base/stages.h"
#include "kernels/sort.h"
#include "lsh/bucket_pairs.h"
#include "lsh/large_buckets.h"

/* The hash of the rows of one band, wherever a bucket is made of it: XXH3-64, under `seed`, of `count` numbers of
 * four bytes each, the low byte first on every machine.
 *
 * Public keys take the number of the band as seed, so that all bands can go through one shuffle. The buckets in
 * memory take seed 0 for every band, and the posting lists of an index the key of a first band, which is the same:
 * each band has a list of its own, and an index file stores the high half of that hash (docs/format.md), which must
 * stay what it is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static uint64_t key_of_band(const uint32_t *rows, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(rows, count * sizeof *rows, seed);
}
#else
static uint64_t key_of_band(const uint32_t *rows, size_t count, uint64_t seed)
{
    XXH3_state_t state;
    XXH3_64bits_reset_withSeed(&state, seed);
    for (size_t i = 0; i < count; i++) {
        uint32_t swapped = __builtin_bswap32(rows[i]);
        XXH3_64bits_update(&state, &swapped, sizeof swapped);
    }
    return XXH3_64bits_digest(&state);
}
#endif

twin_status twin_band_keys(uint64_t *out, const uint32_t *signature, twin_plan plan)
{
    if (!out || !signature)
        return twin__fail_null(NULL, out ? "signature" : "out");
    if (plan.bands == 0 || plan.rows == 0)
        return twin__fail(NULL, TWIN_EINVAL, "a plan of %zu bands of %zu rows has no keys", plan.bands, plan.rows);
    for (size_t band = 0; band < plan.bands; band++)
        out[band] = key_of_band(signature + band * plan.rows, plan.rows, band);
    return TWIN_OK;
}

/* ---- buckets ---- */

static uint32_t bucket_of(const uint32_t *signature, twin_band_options options, size_t band)
{
    size_t rows = options.plan.rows;
    uint64_t hash = key_of_band(signature + band * rows, rows, 0);
    return options.buckets ? (uint32_t)(hash % options.buckets) : (uint32_t)(hash >> 32);
}

static const uint32_t *signature_of(twin_signatures signatures, uint32_t document)
{
    return signatures.rows + document * signatures.slots;
}

/* Signatures are read so many documents in advance: one band of each is far from that of the next. */
enum { AHEAD = 16 };

/* Adjacent bands, and an array of keys for each. Most of the time goes into fetching signatures from memory, a cache
 * line for a few rows: two bands at once cost little more than one. */
struct some_bands {
    size_t first, count;
    uint64_t *keys[2];
};

/* Keys of the documents `begin` to `end` of the signatures. Flat, so that the hash of a few rows is computed in line:
 * as a call it takes a third longer. */
__attribute__((flatten)) static void make_keys(const struct some_bands *bands, twin_signatures signatures,
                                               twin_band_options options, size_t begin, size_t end)
{
    size_t first = bands->first * options.plan.rows, last = first + bands->count * options.plan.rows - 1;
    for (size_t i = begin; i < end; i++) {
        uint32_t document = signatures.documents[i];
        const uint32_t *signature = signature_of(signatures, document);
        if (i + AHEAD < end) {
            const uint32_t *ahead = signature_of(signatures, signatures.documents[i + AHEAD]);
            __builtin_prefetch(ahead + first);
            __builtin_prefetch(ahead + last);
        }
        for (size_t k = 0; k < bands->count; k++)
            bands->keys[k][i] = (uint64_t)bucket_of(signature, options, bands->first + k) << 32 | document;
    }
}

/* The rows may be those of a file, `spill`. */
static void make_bands(const struct some_bands *bands, twin_signatures signatures, struct twin__spill *spill,
                       twin_band_options options)
{
    enum { STEP = 1024 };
    for (size_t begin = 0, end; begin < signatures.count; begin = end) {
        end = signatures.count - begin < STEP ? signatures.count : begin + STEP;
        size_t passed = (size_t)signatures.documents[end - 1] - signatures.documents[begin] + 1; /* in order */
        twin__spill_touch(spill, passed * signatures.slots * sizeof *signatures.rows);
        make_keys(bands, signatures, options, begin, end);
    }
}

/* ---- those that are not alone ---- */

/* Buckets as bits: eight per document while a second cache holds them, and one at least. With eight, one in ten of the
 * documents that share a bit is alone in its bucket; with fewer, those that share one are looked at again by other bits
 * of theirs. */
struct bucket_bits {
    unsigned shift; /* from a mixed bucket to its bit */
    size_t count;   /* of words, per worker */
    struct bucket_word {
        uint64_t once, again; /* met once at least, and twice at least: side by side, for one access to memory */
    } * words;
};

enum { PER_DOCUMENT_BITS = 3 };

static struct bucket_bits bucket_bits_of(size_t count)
{
    enum { FEWEST_BITS = 6, CACHED_BITS = 23 };
    unsigned bits = FEWEST_BITS;
    while (bits < 32 && count >> (bits < CACHED_BITS ? bits - PER_DOCUMENT_BITS : bits))
        bits++;
    return (struct bucket_bits){ .shift = 32 - bits, .count = ((size_t)1 << bits) / 64 };
}

/* Where the bucket of a key has its bit. */
static inline uint32_t bit_of(const struct bucket_bits *bits, uint64_t key, uint32_t factor)
{
    return (uint32_t)(key >> 32) * factor >> bits->shift;
}

/* Has the bits of a key ready when it is its turn: those of many millions of documents are larger than a second cache. */
static inline void fetch_bits(const struct bucket_bits *bits, const uint64_t *keys, size_t i, size_t count,
                              uint32_t factor)
{
    if (i + 2 * AHEAD < count)
        __builtin_prefetch(&bits->words[bit_of(bits, keys[i + 2 * AHEAD], factor) / 64], 1);
}

/* Drops keys whose document is alone with its bit, and returns how many are left, in order. */
static size_t drop_some(uint64_t *keys, size_t count, const struct bucket_bits *bits, uint32_t factor)
{
    size_t kept = 0;
    memset(bits->words, 0, bits->count * sizeof *bits->words);
    for (size_t i = 0; i < count; i++) {
        fetch_bits(bits, keys, i, count, factor);
        uint32_t at = bit_of(bits, keys[i], factor);
        uint64_t bit = (uint64_t)1 << at % 64;
        struct bucket_word *word = &bits->words[at / 64];
        word->again |= word->once & bit;
        word->once |= bit;
    }
    for (size_t i = 0; i < count; i++) {
        fetch_bits(bits, keys, i, count, factor);
        uint32_t at = bit_of(bits, keys[i], factor);
        keys[kept] = keys[i];
        kept += bits->words[at / 64].again >> at % 64 & 1;
    }
    return kept;
}

/* Drops keys whose document is alone in its bucket, most of them, and returns how many are left, in order. */
static size_t drop_single(uint64_t *keys, size_t count, const struct bucket_bits *bits)
{
    static const uint32_t factors[] = { 1, 0x9E3779B1, 0x85EBCA77 }; /* odd: no two buckets become one */
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        size_t before = count;
        count = drop_some(keys, count, bits, factors[i]);
        if (before << PER_DOCUMENT_BITS <= 64 * bits->count) /* there were bits enough */
            break;
    }
    return count;
}

/* ---- pairs ---- */

static bool share(const uint32_t *a, const uint32_t *b, twin_band_options options, size_t band)
{
    if (options.buckets)
        return bucket_of(a, options, band) == bucket_of(b, options, band);
    size_t first = band * options.plan.rows;
    return a[first] == b[first] && memcmp(a + first, b + first, options.plan.rows * sizeof *a) == 0;
}

/* Whether this is the first band that two signatures share: so a pair is reported once without being remembered. */
static bool share_first(const uint32_t *a, const uint32_t *b, twin_band_options options, size_t band)
{
    if (!share(a, b, options, band))
        return false;
    for (size_t earlier = 0; earlier < band; earlier++)
        if (share(a, b, options, earlier))
            return false;
    return true;
}

/* Completes the plan and the executor, and checks all. */
static twin_status complete(twin_signatures signatures, twin_band_options *options, twin_exec *exec)
{
    if (signatures.count && (!signatures.rows || !signatures.documents))
        return twin__fail_null(NULL, signatures.rows ? "signatures.documents" : "signatures.rows");
    if (signatures.slots == 0)
        return twin__fail(NULL, TWIN_EINVAL, "signatures have no slots");
    twin_scheme scheme = { .minhash.slots = signatures.slots, .plan = options->plan };
    twin_status status = twin_scheme_complete(&scheme, NULL);
    options->plan = scheme.plan;
    return status == TWIN_OK ? twin__exec_complete(exec, NULL) : status;
}

struct pairing {
    twin_signatures signatures;
    twin_band_options options;
    struct twin__band_visits visits;
    struct bucket_bits bits; /* those of the first worker */
    size_t at_once;          /* bands that a worker takes */
    uint64_t *keys;          /* two arrays of `count` per worker: of bands taken at once, or to sort */
    struct twin__bucket_rule rule;
    char *room; /* of each worker, for buckets of some size; NULL: all their pairs are visited one by one */
    twin_progress progress;
    atomic_size_t done;
};

/* The first of the keys, in increasing order of documents, whose document is `split` or more. */
static size_t find_split(const uint64_t *keys, size_t n, uint32_t split)
{
    size_t low = 0;
    while (n > 0) {
        size_t half = n / 2;
        if ((uint32_t)keys[low + half] < split) {
            low += half + 1;
            n -= half + 1;
        } else
            n = half;
    }
    return low;
}

/* A pair of a band. */
struct meeting {
    const struct pairing *pairing;
    size_t band;
};

static void visit_first(void *context, uint32_t a, uint32_t b, int worker)
{
    const struct meeting *meeting = context;
    const struct pairing *pairing = meeting->pairing;
    const uint32_t *within = pairing->visits.within;
    if ((!within || within[a] == within[b]) &&
        share_first(signature_of(pairing->signatures, a), signature_of(pairing->signatures, b), pairing->options,
                    meeting->band))
        pairing->visits.pair(pairing->visits.context, a, b, worker);
}

/* For a pair that shares no earlier band. */
static void visit_sharing(void *context, uint32_t a, uint32_t b, int worker)
{
    const struct meeting *meeting = context;
    const struct pairing *pairing = meeting->pairing;
    if (share(signature_of(pairing->signatures, a), signature_of(pairing->signatures, b), pairing->options,
              meeting->band))
        pairing->visits.pair(pairing->visits.context, a, b, worker);
}

/* Most pairs of a bucket of some size are alike by chance. */
static void pair_bucket(const struct pairing *pairing, struct twin__bucket bucket, int worker)
{
    struct meeting meeting = { pairing, bucket.band };
    uint64_t passed_over = twin__bucket_pairs(
        &pairing->rule, bucket, pairing->room + twin__bucket_pairs_room(&pairing->rule) * (size_t)worker,
        (struct twin__bucket_visits){ .near = visit_sharing, .context = &meeting, .worker = worker });
    pairing->visits.passed_over(pairing->visits.context, passed_over, worker);
}

static void pair_run(const struct pairing *pairing, const uint64_t *keys, size_t n, size_t band, int worker)
{
    enum { SOME = 8 }; /* documents, from which on it pays to copy parts of their signatures */
    size_t split = pairing->visits.split ? find_split(keys, n, pairing->visits.split) : n;
    if (pairing->visits.split && (split == 0 || split == n))
        return;
    if (pairing->visits.bucket && n >= pairing->visits.least &&
        pairing->visits.bucket(pairing->visits.context, keys, n, worker))
        return;
    if (pairing->visits.no_pairs && atomic_load_explicit(pairing->visits.no_pairs, memory_order_relaxed))
        return;
    twin__spill_touch(pairing->visits.spill, n * TWIN__SPILL_AROUND);
    if (pairing->room && n >= SOME) {
        pair_bucket(pairing, (struct twin__bucket){ keys, n, pairing->visits.split ? split : 0, band }, worker);
        return;
    }
    struct meeting meeting = { pairing, band };
    for (size_t j = pairing->visits.split ? split : 1; j < n; j++)
        for (size_t i = 0; i < j && i < split; i++)
            visit_first(&meeting, (uint32_t)keys[i], (uint32_t)keys[j], worker);
}

static bool same_bucket(uint64_t key, uint64_t other)
{
    return key >> 32 == other >> 32;
}

/* Whether a key is not alone in its bucket. */
static bool has_company(const uint64_t *keys, size_t i, size_t count)
{
    return (i > 0 && same_bucket(keys[i - 1], keys[i])) || (i + 1 < count && same_bucket(keys[i], keys[i + 1]));
}

static void pair_sorted(const struct pairing *pairing, const uint64_t *keys, size_t count, size_t band, int worker)
{
    size_t rows = band * pairing->options.plan.rows;
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && same_bucket(keys[first], keys[last]); last++)
            if (last + AHEAD < count && has_company(keys, last + AHEAD, count))
                __builtin_prefetch(signature_of(pairing->signatures, (uint32_t)keys[last + AHEAD]) + rows);
        if (last - first > 1)
            pair_run(pairing, keys + first, last - first, band, worker);
    }
}

/* Visits the pairs of a band. Where most documents are alone, the keys that are left can be sorted in the room of the
 * others; else `spare` is overwritten, and true is returned. */
static bool pair_band(struct pairing *pairing, uint64_t *keys, uint64_t *spare, size_t band, int worker)
{
    size_t all = pairing->signatures.count;
    struct bucket_bits bits = pairing->bits;
    bits.words += bits.count * (size_t)worker;
    size_t count = drop_single(keys, all, &bits);
    bool fits = count <= all - count;
    twin__sort_by_high_half(keys, fits ? keys + count : spare, count);
    pair_sorted(pairing, keys, count, band, worker);
    size_t done = atomic_fetch_add(&pairing->done, 1) + 1;
    if (pairing->progress.report)
        pairing->progress.report(pairing->progress.context, &twin__stage_banding, done,
                                 pairing->visits.end_band - pairing->visits.first_band);
    return !fits;
}

static void pair_bands(void *context, size_t begin, size_t end, int worker)
{
    struct pairing *pairing = context;
    const struct twin__band_visits *visits = &pairing->visits;
    size_t all = pairing->signatures.count;
    uint64_t *keys = pairing->keys + 2 * all * (size_t)worker;
    for (size_t item = begin; item < end; item++) {
        size_t first = visits->first_band + pairing->at_once * item, left = visits->end_band - first;
        struct some_bands bands = { first, left < pairing->at_once ? left : pairing->at_once, { keys, keys + all } };
        make_bands(&bands, pairing->signatures, visits->spill, pairing->options);
        bool overwritten = pair_band(pairing, keys, keys + all, first, worker);
        if (bands.count == 1)
            continue;
        if (overwritten)
            make_bands(&(struct some_bands){ first + 1, 1, { keys + all } }, pairing->signatures, visits->spill,
                       pairing->options);
        pair_band(pairing, keys + all, keys, first + 1, worker);
    }
}

twin_status twin_bands_pairs(twin_signatures signatures, twin_band_options options, twin_exec exec,
                             twin_pair_visit *visit, void *context, twin_progress progress)
{
    if (!visit)
        return twin__fail_null(NULL, "visit");
    return twin__bands_visit(signatures, options, exec,
                             (struct twin__band_visits){ .pair = visit, .context = context }, progress);
}

twin_status twin__bands_visit(twin_signatures signatures, twin_band_options options, twin_exec exec,
                              struct twin__band_visits visits, twin_progress progress)
{
    twin_status status = complete(signatures, &options, &exec);
    if (status != TWIN_OK || signatures.count < 2)
        return status;
    assert(visits.first_band <= visits.end_band && visits.end_band <= options.plan.bands);
    if (visits.end_band == 0)
        visits.end_band = options.plan.bands;
    size_t bands = visits.end_band - visits.first_band;
    size_t at_once = (size_t)exec.workers > bands / 2 ? 1 : 2, items = (bands + at_once - 1) / at_once;
    size_t workers = (size_t)exec.workers < items ? (size_t)exec.workers : items;
    size_t each = 2 * signatures.count * sizeof(uint64_t);
    if (visits.memory_bytes && workers > visits.memory_bytes / each)
        workers = visits.memory_bytes > each ? visits.memory_bytes / each : 1;
    exec.workers = (int)workers;
    struct pairing pairing = { .signatures = signatures,
                               .options = options,
                               .visits = visits,
                               .bits = bucket_bits_of(signatures.count),
                               .at_once = at_once,
                               .progress = progress };
    pairing.rule = (struct twin__bucket_rule){ signatures, options.plan, visits.least_equal, visits.within };
    pairing.keys = malloc(2 * workers * signatures.count * sizeof *pairing.keys);
    pairing.bits.words = malloc(workers * pairing.bits.count * sizeof *pairing.bits.words);
    if (options.buckets == 0 && twin__bucket_pairs_apply(&pairing.rule))
        pairing.room = malloc(workers * twin__bucket_pairs_room(&pairing.rule));
    bool there = pairing.keys && pairing.bits.words;
    if (there)
        twin_exec_for(exec, items, 1, pair_bands, &pairing);
    free(pairing.room);
    free(pairing.keys);
    free(pairing.bits.words);
    return there ? TWIN_OK : TWIN_ENOMEM;
}

struct twin_bands {
    twin_signatures signatures;
    twin_band_options options;
    uint64_t keys[]; /* one sorted band after the other */
};

struct building {
    twin_bands *bands;
    uint64_t *spare; /* `count` per worker */
};

static void build_bands(void *context, size_t begin, size_t end, int worker)
{
    struct building *building = context;
    twin_bands *bands = building->bands;
    size_t count = bands->signatures.count;
    for (size_t band = begin; band < end; band++) {
        uint64_t *keys = bands->keys + band * count;
        make_bands(&(struct some_bands){ band, 1, { keys } }, bands->signatures, NULL, bands->options);
        twin__sort_by_high_half(keys, building->spare + (size_t)worker * count, count);
    }
}

twin_status twin_bands_create(twin_bands **out, twin_signatures signatures, twin_band_options options, twin_exec exec)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    twin_status status = complete(signatures, &options, &exec);
    if (status != TWIN_OK)
        return status;
    size_t keys = options.plan.bands * signatures.count;
    twin_bands *bands = malloc(sizeof *bands + keys * sizeof bands->keys[0]);
    uint64_t *spare = malloc(((size_t)exec.workers * signatures.count + 1) * sizeof *spare);
    if (!bands || !spare) {
        free(bands);
        free(spare);
        return TWIN_ENOMEM;
    }
    bands->signatures = signatures;
    bands->options = options;
    struct building building = { bands, spare };
    twin_exec_for(exec, options.plan.bands, 1, build_bands, &building);
    free(spare);
    *out = bands;
    return TWIN_OK;
}

void twin_bands_free(twin_bands *bands)
{
    free(bands);
}

void twin_bands_query(const twin_bands *bands, const uint32_t *signature, twin_candidate_visit *visit, void *context)
{
    if (!bands || !signature || !visit)
        return;
    size_t count = bands->signatures.count;
    for (size_t band = 0; band < bands->options.plan.bands; band++) {
        const uint64_t *keys = bands->keys + band * count;
        uint32_t bucket = bucket_of(signature, bands->options, band);
        for (size_t i = twin__lower_bound(keys, count, (uint64_t)bucket << 32); i < count && keys[i] >> 32 == bucket;
             i++) {
            uint32_t document = (uint32_t)keys[i];
            if (share_first(signature, signature_of(bands->signatures, document), bands->options, band) &&
                !visit(context, document))
                return;
        }
    }
}

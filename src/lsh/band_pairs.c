/* band_pairs.c — the pairs of documents that share a band.
 *
 * A band is an array of keys, one per document: the high half is a hash of the document's rows in this band, the low
 * half its number. Most documents are alone in their bucket; a bitmap shows most of these, and the others are sorted.
 * Sorted by the high half, a bucket is a run of equal halves; inside a run the rows themselves are compared, for 32
 * bits of hash collide by chance in a large collection. A pair may share many bands and is reported in the first of
 * them, which can be seen from the two signatures, so that no pair has to be remembered. Workers take some bands at a
 * time. */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <twinsift/scheme.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/file.h"
#include "base/stages.h"
#include "kernels/sort.h"
#include "lsh/banding.h"
#include "lsh/bands.h"
#include "lsh/bucket_bits.h"
#include "lsh/bucket_pairs.h"
#include "lsh/large_buckets.h"

struct pairing {
    twin_signatures signatures;
    struct twin__banding banding;
    struct twin__band_visits visits;
    struct twin__bucket_bits bits; /* those of the first worker */
    size_t at_once, arrays;        /* bands that a worker takes; arrays of keys for them, and to sort one */
    uint64_t *keys;                /* the arrays of each worker, with a key per document */
    struct twin__bucket_rule rule;
    char *room;       /* of each worker, for buckets of some size; NULL: all their pairs are visited one by one */
    uint32_t *copies; /* of each worker, signatures of a small bucket; NULL: they are in memory */
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

/* Visits a pair, with its signatures, if this is the first band that it shares. */
static void visit_if_first(const struct meeting *meeting, const uint32_t documents[2], const uint32_t *x,
                           const uint32_t *y, int worker)
{
    const struct pairing *pairing = meeting->pairing;
    const struct twin__band_visits *visits = &pairing->visits;
    if (visits->within && visits->within[documents[0]] != visits->within[documents[1]])
        return;
    if (visits->order && twin_minhash_agreement(x, y, pairing->signatures.slots) < visits->least_equal)
        visits->passed_over(visits->context, 1, worker); /* sooner than it is known whether they share many bands */
    else if (twin__banding_share_first(x, y, &pairing->banding, meeting->band))
        visits->pair(visits->context, documents[0], documents[1], worker);
}

static void visit_first(void *context, uint32_t a, uint32_t b, int worker)
{
    const struct meeting *meeting = context;
    twin_signatures signatures = meeting->pairing->signatures;
    visit_if_first(meeting, (const uint32_t[]){ a, b }, twin__signature_row(signatures, a),
                   twin__signature_row(signatures, b), worker);
}

/* For a pair that shares no earlier band. */
static void visit_sharing(void *context, uint32_t a, uint32_t b, int worker)
{
    const struct meeting *meeting = context;
    const struct pairing *pairing = meeting->pairing;
    if (twin__banding_share(twin__signature_row(pairing->signatures, a), twin__signature_row(pairing->signatures, b),
                            &pairing->banding, meeting->band))
        pairing->visits.pair(pairing->visits.context, a, b, worker);
}

/* Most pairs of a bucket of some size are alike by chance. Whether a pair shares an earlier band is seen from its equal
 * bytes only if the rows of a band are adjacent. */
static void pair_bucket(const struct pairing *pairing, struct twin__bucket bucket, int worker)
{
    struct meeting meeting = { pairing, bucket.band };
    bool drawn = pairing->banding.order;
    if (drawn)
        bucket.band = 0;
    uint64_t passed_over = twin__bucket_pairs(
        &pairing->rule, bucket, pairing->room + twin__bucket_pairs_room(&pairing->rule) * (size_t)worker,
        (struct twin__bucket_visits){
            .near = drawn ? visit_first : visit_sharing, .context = &meeting, .worker = worker });
    pairing->visits.passed_over(pairing->visits.context, passed_over, worker);
}

enum { SOME = 8 }; /* documents, from which on it pays to copy parts of their signatures */

/* Copies the signatures of a few documents from a file: to map the pages around each, which would have to be given back
 * too, takes longer. False if they cannot be read. */
static bool copy_few(uint32_t *out, const struct pairing *pairing, const uint64_t *keys, size_t n)
{
    size_t slots = pairing->signatures.slots, bytes = slots * sizeof *out;
    for (size_t i = 0; i < n; i++)
        if (twin__read_at(pairing->visits.spill->fd, out + i * slots, bytes, (uint32_t)keys[i] * (uint64_t)bytes) !=
            (ssize_t)bytes)
            return false;
    return true;
}

static void pair_by_pair(const struct pairing *pairing, struct twin__bucket bucket, int worker)
{
    twin_signatures signatures = pairing->signatures;
    struct meeting meeting = { pairing, bucket.band };
    uint32_t *copies = pairing->copies ? pairing->copies + (size_t)worker * SOME * signatures.slots : NULL;
    bool copied = copies && bucket.count <= SOME && copy_few(copies, pairing, bucket.keys, bucket.count);
    if (!copied)
        twin__spill_touch(pairing->visits.spill, bucket.count * TWIN__SPILL_AROUND);
    for (size_t j = bucket.split ? bucket.split : 1; j < bucket.count && twin__poll_at(j) == TWIN_OK; j++)
        for (size_t i = 0; i < j && (bucket.split == 0 || i < bucket.split); i++) {
            uint32_t documents[] = { (uint32_t)bucket.keys[i], (uint32_t)bucket.keys[j] };
            const uint32_t *x =
                copied ? copies + i * signatures.slots : twin__signature_row(signatures, documents[0]);
            const uint32_t *y =
                copied ? copies + j * signatures.slots : twin__signature_row(signatures, documents[1]);
            visit_if_first(&meeting, documents, x, y, worker);
        }
}

static void pair_run(const struct pairing *pairing, const uint64_t *keys, size_t n, size_t band, int worker)
{
    struct twin__bucket bucket = { keys, n, 0, band };
    if (pairing->visits.split) {
        bucket.split = find_split(keys, n, pairing->visits.split);
        if (bucket.split == 0 || bucket.split == n)
            return;
    }
    if (pairing->visits.bucket && n >= pairing->visits.least &&
        pairing->visits.bucket(pairing->visits.context, keys, n, worker))
        return;
    if (pairing->visits.no_pairs && atomic_load_explicit(pairing->visits.no_pairs, memory_order_relaxed))
        return;
    if (n >= SOME && pairing->room)
        pair_bucket(pairing, bucket, worker);
    else
        pair_by_pair(pairing, bucket, worker);
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
    enum { AHEAD = 16 }; /* documents whose signatures are fetched in advance */
    size_t rows = pairing->banding.order ? 0 : band * pairing->banding.options.plan.rows;
    for (size_t first = 0, last, run = 0; first < count && twin__poll_at(run++) == TWIN_OK; first = last) {
        for (last = first; last < count && same_bucket(keys[first], keys[last]); last++)
            if (last + AHEAD < count && has_company(keys, last + AHEAD, count))
                __builtin_prefetch(twin__signature_row(pairing->signatures, (uint32_t)keys[last + AHEAD]) + rows);
        if (last - first > 1)
            pair_run(pairing, keys + first, last - first, band, worker);
    }
}

/* Visits the pairs of a band. Where most documents are alone, the keys that are left can be sorted in the room of the
 * others; else `spare` is overwritten, and true is returned. */
static bool pair_band(struct pairing *pairing, uint64_t *keys, uint64_t *spare, size_t band, int worker)
{
    size_t all = pairing->signatures.count;
    struct twin__bucket_bits bits = pairing->bits;
    bits.words += bits.count * (size_t)worker;
    size_t count = twin__bucket_bits_drop_single(keys, all, &bits);
    bool fits = count <= all - count;
    twin__sort_by_high_half(keys, fits ? keys + count : spare, count);
    pair_sorted(pairing, keys, count, band, worker);
    size_t done = atomic_fetch_add(&pairing->done, 1) + 1;
    if (pairing->progress.report)
        (void)twin__report(&twin__stage_banding, done, pairing->visits.end_band - pairing->visits.first_band);
    return !fits;
}

/* Takes some bands. A band that needs room to be sorted overwrites the keys of the next, which are made again, and the
 * last band those of the first. */
static void pair_bands(void *context, size_t begin, size_t end, int worker)
{
    struct pairing *pairing = context;
    const struct twin__band_visits *visits = &pairing->visits;
    size_t all = pairing->signatures.count;
    uint64_t *keys = pairing->keys + pairing->arrays * all * (size_t)worker;
    for (size_t item = begin; item < end; item++) {
        size_t first = visits->first_band + pairing->at_once * item, left = visits->end_band - first;
        size_t count = left < pairing->at_once ? left : pairing->at_once;
        bool missing = true;
        for (size_t i = 0; i < count; i++) {
            struct twin__some_bands made = { first + i, i == 0 ? count : 1, keys + i * all, all };
            if (missing)
                twin__banding_make_keys(&made, pairing->signatures, visits->spill, &pairing->banding);
            missing = pair_band(pairing, made.keys, keys + (i + 1) % pairing->arrays * all, first + i, worker);
        }
    }
}

static twin_status pair_bands_of(twin_signatures signatures, twin_band_options options, twin_exec exec,
                                 twin_pair_visit *visit, void *context, twin_progress progress)
{
    if (!visit)
        return twin__fail_null(NULL, "visit");
    return twin__bands_visit(signatures, options, exec,
                             (struct twin__band_visits){ .pair = visit, .context = context }, progress);
}

twin_status twin__bands_pairs(twin_signatures signatures, twin_band_options options, twin_exec exec,
                              twin_pair_visit *visit, void *context, twin_progress progress)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, progress, &twin__stage_banding);
    return twin__watch_end(&watch, pair_bands_of(signatures, options, exec, visit, context, progress), NULL);
}

twin_status twin__bands_visit(twin_signatures signatures, twin_band_options options, twin_exec exec,
                              struct twin__band_visits visits, twin_progress progress)
{
    struct twin__banding banding = { options, visits.order };
    twin_status status = twin__banding_complete(&banding, signatures, &exec);
    if (status != TWIN_OK || signatures.count < 2)
        return status;
    assert(visits.first_band <= visits.end_band && visits.end_band <= banding.options.plan.bands);
    if (visits.end_band == 0)
        visits.end_band = banding.options.plan.bands;
    size_t bands = visits.end_band - visits.first_band;
    size_t most = visits.order && !visits.memory_bytes ? 4 : 2;
    size_t at_once = (size_t)exec.workers > bands / most ? 1 : most, items = (bands + at_once - 1) / at_once;
    size_t workers = (size_t)exec.workers < items ? (size_t)exec.workers : items, arrays = at_once > 1 ? at_once : 2;
    size_t each = arrays * signatures.count * sizeof(uint64_t);
    if (visits.memory_bytes && workers > visits.memory_bytes / each)
        workers = visits.memory_bytes > each ? visits.memory_bytes / each : 1;
    exec.workers = (int)workers;
    struct pairing pairing = { .signatures = signatures,
                               .banding = banding,
                               .visits = visits,
                               .bits = twin__bucket_bits_for(signatures.count),
                               .at_once = at_once,
                               .arrays = arrays,
                               .progress = progress };
    pairing.rule = (struct twin__bucket_rule){ signatures, banding.options.plan, visits.least_equal, visits.within,
                                               visits.spill };
    if (visits.order)
        pairing.rule.plan = (twin_plan){ 1, 1 };
    pairing.keys = malloc(workers * each);
    pairing.bits.words = malloc(workers * pairing.bits.count * sizeof *pairing.bits.words);
    if (options.buckets == 0 && twin__bucket_pairs_apply(&pairing.rule))
        pairing.room = malloc(workers * twin__bucket_pairs_room(&pairing.rule));
    if (visits.spill)
        pairing.copies = malloc(workers * SOME * signatures.slots * sizeof *pairing.copies);
    bool there = pairing.keys && pairing.bits.words;
    if (there)
        status = twin__exec_run(exec, items, 1, pair_bands, &pairing, NULL);
    free(pairing.copies);
    free(pairing.room);
    free(pairing.keys);
    free(pairing.bits.words);
    return there ? status : TWIN_ENOMEM;
}

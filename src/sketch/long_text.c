/* long_text.c — signatures and sets of long texts, with little memory.
 *
 * A stream is one pass over a text: twin__normalise_piece() appends to scratch->text, twin__shingle_piece() takes
 * what it can, and what is left, at most a window or a word, stays in front of the next piece. A signature takes one
 * pass as a rule (minhash.h). A range of the set takes one pass that deals the hashes within it to buckets: a bucket
 * that is full is sorted and repeats dropped, and if it is still nearly full, the upper half of all is left to a
 * later range. So a text that repeats itself takes few passes, and one that does not about as many as its hashes are
 * larger than the room. */
#include "sketch/long_text.h"

#include <assert.h>
#include <string.h>

#include "base/stages.h"
#include "kernels/kernels.h"
#include "kernels/sort.h"
#include "sketch/digester.h"
#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"
#include "sketch/signer.h"
#include "text/pieces.h"

/* ---- one pass over a text ---- */

struct stream {
    const twin_signer *signer;
    twin_sign_scratch *scratch;
    struct twin__normaliser text;
    struct twin__shingling shingles;
    size_t used;     /* bytes of scratch->text that are done with */
    twin_text fresh; /* those of the last piece */
    bool is_done;
};

static void stream_begin(struct stream *stream, const struct twin__long_text *text, const twin_signer *signer,
                         twin_sign_scratch *scratch)
{
    stream->signer = signer;
    stream->scratch = scratch;
    stream->text = (struct twin__normaliser){ .rest = text->text, .normal = signer->scheme.normal };
    stream->used = 0;
    stream->is_done = false;
    scratch->text.length = 0;
    twin__shingle_begin(&stream->shingles);
}

/* The next piece of the normalised text is stream->fresh. */
static twin_status next_text(struct stream *stream)
{
    twin_buffer *text = &stream->scratch->text;
    if (stream->used)
        memmove(text->bytes, text->bytes + stream->used, text->length - stream->used);
    text->length -= stream->used;
    stream->used = 0;
    size_t before = text->length;
    twin_status status = twin__normalise_piece(text, &stream->text);
    stream->is_done = stream->text.rest.length == 0;
    stream->fresh = (twin_text){ text->bytes ? text->bytes + before : "", text->length - before };
    return status;
}

/* The items of the next piece are in the scratch; *more is false when there was none left. */
static twin_status next_items(bool *more, struct stream *stream)
{
    *more = !stream->is_done;
    if (stream->is_done)
        return TWIN_OK;
    twin_status status = next_text(stream);
    twin_text text = { stream->scratch->text.bytes, stream->scratch->text.length };
    if (status != TWIN_OK)
        return status;
    return twin__shingle_piece(&stream->scratch->items, &stream->used, &stream->shingles, stream->signer->shingler,
                               text, stream->is_done);
}

/* ---- what a pass does with the items ---- */

typedef twin_status take_fn(void *context, uint64_t *items, size_t count);

/* One pass: calls `take` for the items of each piece, and fills in what is known of the text after it. */
static twin_status pass_over(struct twin__long_text *text, const twin_signer *signer, twin_sign_scratch *scratch,
                             take_fn *take, void *context)
{
    struct stream stream;
    struct twin__digester *digester;
    bool more = true;
    twin_status status = twin__digester_create(&digester, text->digest_hash);
    text->length = 0;
    text->is_empty = true;
    stream_begin(&stream, text, signer, scratch);
    while (status == TWIN_OK) {
        status = next_items(&more, &stream);
        if (status != TWIN_OK || !more)
            break;
        status = twin__poll();
        if (status != TWIN_OK)
            break;
        twin__digester_add(digester, stream.fresh.bytes, stream.fresh.length);
        text->length += stream.fresh.length;
        text->is_empty &= scratch->items.count == 0;
        status = take(context, scratch->items.items, scratch->items.count);
    }
    if (status == TWIN_OK)
        text->digest = twin__digester_end(digester);
    text->replaced = stream.text.replaced;
    text->is_short = scratch->is_short = stream.shingles.is_short;
    twin__digester_free(digester);
    return status;
}

struct signing {
    struct twin__minhash_pass pass;
    uint64_t mask;
};

static twin_status take_for_signature(void *context, uint64_t *items, size_t count)
{
    struct signing *signing = context;
    for (size_t i = 0; i < count && signing->mask; i++)
        items[i] &= signing->mask;
    twin__minhash_add(&signing->pass, items, count);
    return TWIN_OK;
}

static twin_status sign_pieces(uint32_t *signature, struct twin__long_text *text, const twin_signer *signer,
                               twin_sign_scratch *scratch)
{
    struct signing signing = { .mask = text->mask };
    twin_status status = TWIN_OK;
    twin__minhash_begin(&signing.pass, signature, signer->hasher);
    while (status == TWIN_OK && twin__minhash_next(&signing.pass))
        status = pass_over(text, signer, scratch, take_for_signature, &signing);
    return status;
}

/* ---- ranges of the set ---- */

enum {
    FEWEST_IN_ROOM = 1 << 19, /* 4 MB */
    SORT_SPARE = 1 << 16,     /* hashes that are sorted with as many beside them */
};

/* Of the room what chance may not make overflow. */
static const double FILLED = 0.9;

struct twin__hash_range twin__hash_range_first(size_t length, double share)
{
    size_t room = (size_t)((double)length * share) / sizeof(uint64_t);
    if (room < FEWEST_IN_ROOM)
        room = FEWEST_IN_ROOM;
    double part = FILLED * (double)room / ((double)length + 1);
    return (struct twin__hash_range){ .last = part < 1 ? (uint64_t)(part * 0x1p64) : UINT64_MAX, .room = room };
}

enum { MOST_BUCKETS = 256, FEWEST_IN_BUCKET = 64 };

/* The hashes of a range, dealt to buckets as they come: by their leading bits within the range, so that no bucket is
 * larger than the others but by chance, or by repeats. */
struct collecting {
    uint64_t *items; /* room for those of the range, and SORT_SPARE to sort with */
    struct twin__hash_range range;
    unsigned shift;       /* of a hash, less the first of the range, to its bucket */
    size_t buckets, each; /* and the room of one */
    size_t counts[MOST_BUCKETS];
};

static void plan_buckets(struct collecting *collecting)
{
    uint64_t length = collecting->range.last - collecting->range.first;
    unsigned bits = 64 - (unsigned)__builtin_clzll(length | 1);
    unsigned digit = 8; /* bits; in tests there is little room */
    while (digit > 0 && collecting->range.room >> digit < FEWEST_IN_BUCKET)
        digit--;
    collecting->shift = bits > digit ? bits - digit : 0;
    if (collecting->shift == 64) /* which no number can be shifted by */
        collecting->shift = 63;
    collecting->buckets = (size_t)(length >> collecting->shift) + 1;
    assert(collecting->buckets > 0 && collecting->buckets <= MOST_BUCKETS);
    collecting->each = collecting->range.room / collecting->buckets;
    memset(collecting->counts, 0, sizeof collecting->counts);
}

static size_t bucket_of(const struct collecting *collecting, uint64_t item)
{
    return (size_t)((item - collecting->range.first) >> collecting->shift);
}

static void sort_bucket(struct collecting *collecting, size_t bucket)
{
    uint64_t *items = collecting->items + bucket * collecting->each;
    twin__sort_in_place(items, collecting->counts[bucket], collecting->items + collecting->range.room, SORT_SPARE);
    collecting->counts[bucket] = twin__kernels()->drop_repeats(items, collecting->counts[bucket]);
}

/* Makes one sorted array of the buckets, without repeats. */
static size_t gather(struct collecting *collecting)
{
    size_t count = 0;
    for (size_t bucket = 0; bucket < collecting->buckets; bucket++) {
        sort_bucket(collecting, bucket);
        memmove(collecting->items + count, collecting->items + bucket * collecting->each,
                collecting->counts[bucket] * sizeof *collecting->items);
        count += collecting->counts[bucket];
    }
    return count;
}

/* The reverse, for a range that ends with the last of them. False: a bucket would be more than half full. */
static bool deal(struct collecting *collecting, size_t count)
{
    plan_buckets(collecting);
    for (size_t i = 0; i < count; i++)
        collecting->counts[bucket_of(collecting, collecting->items[i])]++;
    for (size_t bucket = 0; bucket < collecting->buckets; bucket++)
        if (collecting->counts[bucket] > collecting->each / 2)
            return false;
    for (size_t bucket = collecting->buckets, end = count; bucket-- > 0;) { /* none moves to the front */
        end -= collecting->counts[bucket];
        memmove(collecting->items + bucket * collecting->each, collecting->items + end,
                collecting->counts[bucket] * sizeof *collecting->items);
    }
    return true;
}

/* A bucket is full. If it is full of repeats they are dropped; else the upper half of all is left to a later range. */
static void make_room_in_bucket(struct collecting *collecting, size_t bucket)
{
    sort_bucket(collecting, bucket);
    if (collecting->counts[bucket] <= collecting->each / 4 * 3)
        return;
    size_t count = gather(collecting);
    do {
        count /= 2;
        collecting->range.last = collecting->items[count - 1];
    } while (!deal(collecting, count));
}

static twin_status take_for_range(void *context, uint64_t *items, size_t count)
{
    struct collecting *collecting = context;
    uint64_t first = collecting->range.first, length = collecting->range.last - first, *end = items;
    for (size_t i = 0; i < count; i++) { /* without a branch, for most of them are not wanted */
        *end = items[i];
        end += items[i] - first <= length;
    }
    for (const uint64_t *p = items; p < end; p++) {
        if (*p > collecting->range.last)
            continue; /* it became shorter meanwhile */
        size_t bucket = bucket_of(collecting, *p);
        collecting->items[bucket * collecting->each + collecting->counts[bucket]++] = *p;
        if (collecting->counts[bucket] == collecting->each)
            make_room_in_bucket(collecting, bucket);
    }
    return TWIN_OK;
}

twin_status twin__long_text_range(twin_items *out, struct twin__hash_range *range, struct twin__long_text *text,
                                  const twin_signer *signer, twin_sign_scratch *scratch)
{
    struct collecting collecting = { .range = *range };
    out->count = 0;
    /* All at once: an array that grows is in memory twice while it is copied. */
    twin_status status = twin__items_reserve(out, range->room + SORT_SPARE);
    if (status != TWIN_OK)
        return status;
    collecting.items = out->items;
    plan_buckets(&collecting);
    status = pass_over(text, signer, scratch, take_for_range, &collecting);
    if (status == TWIN_OK)
        out->count = gather(&collecting);
    *range = collecting.range;
    return status;
}

bool twin__hash_range_next(struct twin__hash_range *range, size_t count)
{
    if (range->last == UINT64_MAX)
        return false;
    double length = (double)(range->last - range->first) / (double)(count + 1) * (double)range->room * FILLED;
    range->first = range->last + 1;
    range->last = length < (double)(UINT64_MAX - range->first) ? range->first + (uint64_t)length : UINT64_MAX;
    return true;
}

static twin_status measure_set(struct twin__long_text *text, const twin_signer *signer, twin_sign_scratch *scratch)
{
    struct twin__digester *digester;
    struct twin__hash_range range = twin__hash_range_first(text->text.length, TWIN__ROOM_OF_ONE);
    twin_items part = { 0 };
    text->set_size = 0;
    twin_status status = twin__digester_create(&digester, (twin_hash){ .family = TWIN_HASH_XXH3 });
    while (status == TWIN_OK) {
        status = twin__long_text_range(&part, &range, text, signer, scratch);
        if (status != TWIN_OK)
            break;
        text->set_size += part.count;
        status = twin__poll();
        if (status != TWIN_OK)
            break;
        twin__digester_add(digester, part.items, part.count * sizeof *part.items);
        if (!twin__hash_range_next(&range, part.count))
            break;
    }
    if (status == TWIN_OK)
        text->set_digest = twin__digester_end(digester);
    twin__digester_free(digester);
    twin__items_clear(&part);
    return status;
}

twin_status twin__long_text_sign(uint32_t *signature, struct twin__long_text *text, const twin_signer *signer,
                                 twin_sign_scratch *scratch)
{
    twin_status status = signature ? sign_pieces(signature, text, signer, scratch) : TWIN_OK;
    return status == TWIN_OK && text->is_measured ? measure_set(text, signer, scratch) : status;
}

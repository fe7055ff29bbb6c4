/* kept.c — what is kept of a set, byte by byte: its items or its text, and the blocks in which they lie.
 *
 * Kept:      0 4 check   4 the items as below, or the text as a zstd frame. The check of items is the start of their
 *            digest
 * A block:   0 4 check of its head, since version 2 seeded with its key   4 4 count   8 for each set that lies in it, in
 *            order: 4 its number less that of the block, 4 where it ends among the bytes that follow; then, one behind
 *            the other, what is kept of each
 *
 * A set of n items of c bits, in increasing order (after Elias and Fano): the leading b bits of an item name one of 2^b
 * buckets, the others are whole bytes. These come first, item after item; from there on a bit field in which bit
 * (bucket + i) is set for item i; eight zero bytes, so that both can be read by eights. Of the b that leave whole bytes
 * it is the largest with 2^b <= 8·n, or else the smallest: with one more byte of buckets the field would grow by more
 * than the bytes shrink. So the length follows from n and c, and 2,000 items of 35 bits take 26 bits each. */
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "index/record.h"

#include "sketch/set.h"

enum { KEPT_HEAD = 4, BLOCK_HEAD = 8, BLOCK_ENTRY = 8 };

/* ---- items ---- */

/* Where the parts of a set lie. */
struct parts {
    unsigned dropped;     /* bits of a hash that are not kept */
    unsigned bucket_bits; /* of those that are, the leading ones; 0 to 56 */
    unsigned rest;        /* bytes of the others, 1 to 8 */
    size_t rests, field;  /* bytes of all of them, of the bit field */
    size_t total;         /* with the zero bytes */
};

/* False for more items than there can be, so that nothing below overflows. */
static bool parts_of(struct parts *out, uint64_t n, unsigned bits)
{
    if (n == 0 || n >> 56)
        return false;
    unsigned bucket_bits = bits % 8;
    while (bucket_bits + 8 < bits && (uint64_t)1 << bucket_bits << 8 <= 8 * n)
        bucket_bits += 8;
    *out = (struct parts){ .dropped = 64 - bits, .bucket_bits = bucket_bits, .rest = (bits - bucket_bits) / 8 };
    out->rests = (size_t)n * out->rest;
    out->field = (size_t)((n + ((uint64_t)1 << bucket_bits) + 7) / 8);
    out->total = out->rests + out->field + 8;
    return true;
}

/* In two steps, for a shift by 64 is none. */
static uint64_t bucket_of(uint64_t item, struct parts parts)
{
    return item >> 1 >> (63 - parts.bucket_bits);
}

/* Writes the last bytes of each item, and up to seven bytes past them. */
static void put_rests(unsigned char *out, twin_set set, struct parts parts)
{
    for (size_t i = 0; i < set.count; i++, out += parts.rest)
        twin__put8(out, set.items[i] >> parts.dropped);
}

/* `first` is the number of the set's first item, if it is part of a larger set. */
static inline void put_bit(unsigned char *out, twin_set set, struct parts parts, size_t first, size_t i)
{
    uint64_t place = bucket_of(set.items[i], parts) + first + i;
    out[place / 8] |= (unsigned char)(1U << place % 8);
}

/* Sets the bit of each item in the field. A bit waits for the one before when both lie in one byte, so four parts of
 * the set take turns. */
static void put_field(unsigned char *out, twin_set set, struct parts parts, size_t first)
{
    size_t quarter = set.count / 4;
    for (size_t i = 0; i < quarter; i++)
        for (size_t part = 0; part < 4; part++)
            put_bit(out, set, parts, first, part * quarter + i);
    for (size_t i = 4 * quarter; i < set.count; i++)
        put_bit(out, set, parts, first, i);
}

twin_digest twin__index_kept_digest(struct twin__bytes record)
{
    size_t head = record.length ? KEPT_HEAD : 0;
    return twin_hash_digest((twin_hash){ .family = TWIN_HASH_XXH3 }, (const char *)record.at + head,
                            record.length - head);
}

twin_status twin__index_items_begin(struct twin__index_encoding *out, twin_buffer *buffer, uint64_t count,
                                    unsigned bits)
{
    struct parts parts;
    *out = (struct twin__index_encoding){ .start = buffer->length, .count = count, .bits = bits };
    if (count == 0)
        return TWIN_OK;
    if (!parts_of(&parts, count, bits))
        return TWIN_ELIMIT;
    twin_status status = twin_buffer_reserve(buffer, KEPT_HEAD + parts.total);
    if (status != TWIN_OK)
        return status;
    memset(buffer->bytes + out->start + KEPT_HEAD + parts.rests, 0, parts.field + 8);
    buffer->length += KEPT_HEAD + parts.total;
    return TWIN_OK;
}

void twin__index_items_put(struct twin__index_encoding *encoding, const twin_buffer *buffer, twin_set part)
{
    struct parts parts;
    if (part.count > encoding->count - encoding->next || !parts_of(&parts, encoding->count, encoding->bits))
        return;
    unsigned char *rests = (unsigned char *)buffer->bytes + encoding->start + KEPT_HEAD, *field = rests + parts.rests;
    unsigned char overwritten[8]; /* what follows the bytes of the last item */
    memcpy(overwritten, field, sizeof overwritten);
    put_rests(rests + encoding->next * parts.rest, part, parts);
    memcpy(field, overwritten, sizeof overwritten);
    put_field(field, part, parts, encoding->next);
    encoding->next += part.count;
}

twin_digest twin__index_items_end(const struct twin__index_encoding *encoding, const twin_buffer *buffer)
{
    char *record = buffer->bytes + encoding->start;
    if (encoding->count == 0)
        return twin__index_kept_digest((struct twin__bytes){ "", 0 });
    twin_digest digest = twin__index_kept_digest((struct twin__bytes){ record, buffer->length - encoding->start });
    twin__put4(record, (uint32_t)digest.low);
    return digest;
}

twin_status twin__index_items_encode(twin_buffer *out, twin_digest *digest, twin_set set, unsigned bits)
{
    struct twin__index_encoding encoding;
    twin_status status = twin__index_items_begin(&encoding, out, set.count, bits);
    if (status != TWIN_OK)
        return status;
    if (set.count)
        twin__index_items_put(&encoding, out, set);
    *digest = twin__index_items_end(&encoding, out);
    return TWIN_OK;
}

/* Reads the items; false unless there are `count`, in order. */
static bool read_items(uint64_t *out, uint64_t count, const unsigned char *rests, struct parts parts)
{
    const unsigned char *field = rests + parts.rests;
    uint64_t mask = UINT64_MAX >> (64 - 8 * parts.rest), found = 0, last = 0;
    for (size_t at = 0; at < parts.field; at += 8) {
        for (uint64_t word = twin__get8(field + at); word; word &= word - 1) {
            uint64_t bucket = at * 8 + (uint64_t)__builtin_ctzll(word) - found;
            if (found == count || bucket >> parts.bucket_bits)
                return false;
            uint64_t rest = twin__get8(rests + found * parts.rest) & mask;
            uint64_t item = bucket << 1 << (63 - parts.bucket_bits) | rest << parts.dropped;
            if (item < last)
                return false;
            out[found++] = last = item;
        }
    }
    return found == count;
}

static bool has_repeats(const twin_items *items)
{
    for (size_t i = 1; i < items->count; i++)
        if (items->items[i] == items->items[i - 1])
            return true;
    return false;
}

/* Finds the parts of a record, if it is one of a set of `count` items. */
static bool find_parts(struct parts *out, uint64_t count, unsigned bits, struct twin__bytes record)
{
    return parts_of(out, count, bits) && record.length == KEPT_HEAD + out->total &&
           twin__get4(record.at) == (uint32_t)twin__index_kept_digest(record).low;
}

twin_status twin__index_items_decode(twin_items *out, uint64_t count, unsigned bits, struct twin__bytes record)
{
    struct parts parts;
    out->count = 0;
    if (!find_parts(&parts, count, bits, record))
        return TWIN_EFORMAT;
    twin_status status = twin__items_reserve(out, count);
    if (status != TWIN_OK)
        return status;
    if (!read_items(out->items, count, (const unsigned char *)record.at + KEPT_HEAD, parts))
        return TWIN_EFORMAT;
    out->count = count;
    return bits == 64 && has_repeats(out) ? TWIN_EFORMAT : TWIN_OK;
}

/* ---- texts ---- */

/* Of 2 KB of text level 1 of zstd leaves 56.3 % in 10.8 µs. Repeats of fewer than seven letters are not worth their
 * search: without them it leaves 57.3 % in 8.1 µs, and of news of 0.8 KB 53.8 % instead of 53.1 %. Level 3 leaves
 * 55.8 % in 16.8 µs. (20,000 texts each, one core.) */
enum { ZSTD_LEVEL = 1, SHORTEST_REPEAT = 7 };

static ZSTD_CCtx *make_packer(void)
{
    ZSTD_CCtx *packer = ZSTD_createCCtx();
    if (packer && (ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
                   ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_minMatch, SHORTEST_REPEAT)))) {
        ZSTD_freeCCtx(packer);
        return NULL;
    }
    return packer;
}

twin_status twin__index_text_encode(twin_buffer *out, void **packer, twin_text text)
{
    if (!*packer)
        *packer = make_packer();
    size_t start = out->length, bound = ZSTD_compressBound(text.length);
    if (!*packer || ZSTD_isError(bound) || twin_buffer_reserve(out, KEPT_HEAD + bound) != TWIN_OK)
        return TWIN_ENOMEM;
    size_t length = ZSTD_compress2(*packer, out->bytes + start + KEPT_HEAD, bound, text.bytes, text.length);
    if (ZSTD_isError(length))
        return TWIN_ENOMEM;
    out->length += KEPT_HEAD + length;
    twin__put4(out->bytes + start, twin__index_check_of(out->bytes + start, KEPT_HEAD + length));
    return TWIN_OK;
}

twin_status twin__index_text_begin(size_t *start, twin_buffer *out, void **packer, size_t length)
{
    if (!*packer)
        *packer = make_packer();
    *start = out->length;
    if (!*packer || twin_buffer_reserve(out, KEPT_HEAD) != TWIN_OK ||
        ZSTD_isError(ZSTD_CCtx_reset(*packer, ZSTD_reset_session_only)) ||
        ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(*packer, length)))
        return TWIN_ENOMEM;
    out->length += KEPT_HEAD;
    return TWIN_OK;
}

twin_status twin__index_text_put(twin_buffer *out, void *packer, twin_text piece, bool is_last)
{
    ZSTD_inBuffer in = { piece.bytes, piece.length, 0 };
    for (;;) {
        if (twin_buffer_reserve(out, ZSTD_CStreamOutSize()) != TWIN_OK)
            return TWIN_ENOMEM;
        ZSTD_outBuffer room = { out->bytes + out->length, out->capacity - out->length, 0 };
        size_t left = ZSTD_compressStream2(packer, &room, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return TWIN_ENOMEM;
        out->length += room.pos;
        if (is_last ? left == 0 : in.pos == in.size)
            return TWIN_OK;
    }
}

void twin__index_text_end(size_t start, const twin_buffer *out)
{
    twin__put4(out->bytes + start, twin__index_check_of(out->bytes + start, out->length - start));
}

void twin__index_packer_free(void *packer)
{
    ZSTD_freeCCtx(packer);
}

void twin__index_unpacker_free(void *unpacker)
{
    ZSTD_freeDCtx(unpacker);
}

/* To make an unpacker for each text took three quarters of the time of a query among a million names. */
twin_status twin__index_text_decode(twin_buffer *out, void **unpacker, size_t most, struct twin__bytes record)
{
    out->length = 0;
    if (!twin__index_check_fits(record, KEPT_HEAD))
        return TWIN_EFORMAT;
    const char *frame = (const char *)record.at + KEPT_HEAD;
    unsigned long long length = ZSTD_getFrameContentSize(frame, record.length - KEPT_HEAD);
    if (length == ZSTD_CONTENTSIZE_UNKNOWN || length == ZSTD_CONTENTSIZE_ERROR || length > most)
        return TWIN_EFORMAT;
    if (!*unpacker)
        *unpacker = ZSTD_createDCtx();
    if (!*unpacker || twin_buffer_reserve(out, (size_t)length + 1) != TWIN_OK)
        return TWIN_ENOMEM;
    size_t got = ZSTD_decompressDCtx(*unpacker, out->bytes, out->capacity, frame, record.length - KEPT_HEAD);
    if (ZSTD_isError(got) || got != length)
        return TWIN_EFORMAT;
    out->length = got;
    return TWIN_OK;
}

/* ---- blocks ---- */

static size_t head_bytes(size_t count)
{
    return BLOCK_HEAD + BLOCK_ENTRY * count;
}

size_t twin__index_block_bytes(const struct twin__index_kept *kept, size_t count)
{
    size_t total = head_bytes(count);
    for (size_t i = 0; i < count; i++)
        total += kept[i].bytes.length;
    return total;
}

static uint32_t block_check(const void *record, size_t count, uint64_t first, unsigned version)
{
    uint64_t seed = version >= TWIN__INDEX_VERSION_SEEDED ? first : 0;
    return (uint32_t)XXH3_64bits_withSeed((const char *)record + 4, head_bytes(count) - 4, seed);
}

void twin__index_block_encode(void *out, uint64_t first, const struct twin__index_kept *kept, size_t count,
                              unsigned version)
{
    unsigned char *head = out, *bytes = head + head_bytes(count);
    size_t end = 0;
    twin__put4(head + 4, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes + end, kept[i].bytes.at, kept[i].bytes.length);
        end += kept[i].bytes.length;
        twin__put4(head + head_bytes(i), (uint32_t)(kept[i].set - first));
        twin__put4(head + head_bytes(i) + 4, (uint32_t)end);
    }
    twin__put4(head, block_check(head, count, first, version));
}

bool twin__index_block_decode(struct twin__index_block *out, uint64_t first, struct twin__bytes record,
                              unsigned version)
{
    if (record.length < BLOCK_HEAD)
        return false;
    size_t count = twin__get4((const char *)record.at + 4);
    if (count == 0 || count > (record.length - BLOCK_HEAD) / BLOCK_ENTRY)
        return false;
    *out = (struct twin__index_block){ first, count, record };
    return twin__get4(record.at) == block_check(record.at, count, first, version);
}

static uint64_t set_at(const struct twin__index_block *block, size_t place)
{
    return block->first + twin__get4((const char *)block->record.at + head_bytes(place));
}

size_t twin__index_block_find(const struct twin__index_block *block, uint64_t set)
{
    size_t begin = 0, end = block->count;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (set_at(block, middle) < set)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < block->count && set_at(block, begin) == set ? begin : block->count;
}

bool twin__index_block_get(struct twin__index_kept *out, const struct twin__index_block *block, size_t place)
{
    const char *head = block->record.at;
    size_t begin = place ? twin__get4(head + head_bytes(place - 1) + 4) : 0;
    size_t end = twin__get4(head + head_bytes(place) + 4), most = block->record.length - head_bytes(block->count);
    if (begin > end || end > most)
        return false;
    *out =
        (struct twin__index_kept){ set_at(block, place), { head + head_bytes(block->count) + begin, end - begin } };
    return true;
}

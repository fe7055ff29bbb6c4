/* index_record.c — what the values of an index look like.
 *
 * The format, under "format" in table "meta":
 *      0  8  magic "TWINDEX\n"
 *      8  4  version, 1
 *     12  1  documents 0, rows 1
 *     13  1  normalisation: 0 fold, 1 check, 2 bytes
 *     14  1  shingles: 0 char, 1 byte, 2 word, 3 stop
 *     15  1  hash family: 0 xxh3, 1 farm, 2 jenkins, 3 sip
 *     16  1  sketch: 0 fast, 1 classic
 *     17  1  kept: 0 sets, 1 text, 2 none
 *     18  6  zero
 *     24  8  width of a shingle
 *     32  8  seed of the hash        40 16  its key, for sip
 *     56  8  slots                   64  8  seed of the signatures
 *     72  8  threshold, an IEEE double
 *     80  8  bands                   88  8  rows
 *     96  8  stop words; 0: the built-in ones
 *    104  8  check value of the hash
 *    112  8  zero
 *    120  8  XXH3 of the 120 bytes before, and with it as the seed, of the words
 *    128     the stop words, each ended by a zero
 *
 * Counts, under "counts": seven numbers of 8 bytes in the order of struct twin__counts, and their XXH3.
 * A document:  0 4 check   4 4 label   8 8 time   16 8 set   24 1 flags: 1 the id is a number   25 the id
 * A set:       0 4 check   4 4 zero    8 8 size   16 16 digest   32 8 members   40 8 first   48 4·k signature
 * Kept:        0 4 check   4 the set as below, or the text as a zstd frame
 * A run:       0 8 end     8 8 entries 16 8 dead  24 8 XXH3 of the 24 bytes before, seeded with its first
 * A check is the low half of the XXH3 of what follows it. Numbers are in the machine's order: so are LMDB's pages.
 *
 * A set of n items (Elias and Fano): with b = 63 - floor(log2 n), the low b bits of each item, one behind the other;
 * from the next byte on a bit field in which bit (x >> b) + i is set for item i = x; eight zero bytes, so that both
 * can be read by eights. About 66 - log2 n bits an item, and the length follows from n. */
#include "index_record.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char MAGIC[8] = "TWINDEX\n";
static const char HASH_CHECK[] = "twinsift index: is this the same hash?";

static uint64_t get8(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t get4(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void put8(void *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

static void put4(void *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

/* ---- the format ---- */

static twin_status append_words(twin_buffer *out, const twin_shingle_options *shingle)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; shingle->stop_words && i < shingle->stop_word_count && status == TWIN_OK; i++) {
        twin_text word = shingle->stop_words[i];
        if (memchr(word.bytes, 0, word.length))
            return TWIN_EINVAL;
        status = twin_buffer_append(out, word.bytes, word.length);
        if (status == TWIN_OK)
            status = twin_buffer_append(out, "", 1);
    }
    return status;
}

static uint64_t hash_check(twin_hash hash)
{
    return twin_hash_bytes(hash, HASH_CHECK, sizeof HASH_CHECK - 1);
}

static uint64_t format_check(const unsigned char *record, size_t length)
{
    return XXH3_64bits_withSeed(record + TWIN__FORMAT_BYTES, length - TWIN__FORMAT_BYTES, XXH3_64bits(record, 120));
}

twin_status twin__format_encode(twin_buffer *out, const twin_index_options *options)
{
    unsigned char head[TWIN__FORMAT_BYTES] = { 0 };
    const twin_shingle_options *shingle = &options->shingle;
    memcpy(head, MAGIC, sizeof MAGIC);
    put4(head + 8, TWIN__INDEX_VERSION);
    unsigned char kinds[] = { (unsigned char)options->format,         (unsigned char)options->normal,
                              (unsigned char)shingle->kind,           (unsigned char)shingle->hash.family,
                              (unsigned char)options->minhash.sketch, (unsigned char)options->keep };
    memcpy(head + 12, kinds, sizeof kinds);
    uint64_t threshold;
    memcpy(&threshold, &options->threshold, sizeof threshold);
    const uint64_t numbers[] = {
        shingle->width,
        shingle->hash.seed,
        shingle->hash.key[0],
        shingle->hash.key[1],
        options->minhash.slots,
        options->minhash.seed,
        threshold,
        options->plan.bands,
        options->plan.rows,
        shingle->stop_words ? shingle->stop_word_count : 0,
        hash_check(shingle->hash),
    };
    memcpy(head + 24, numbers, sizeof numbers);
    out->length = 0;
    twin_status status = twin_buffer_append(out, head, sizeof head);
    if (status == TWIN_OK)
        status = append_words(out, shingle);
    if (status == TWIN_OK)
        put8(out->bytes + 120, format_check((unsigned char *)out->bytes, out->length));
    return status;
}

/* The words and their list are one block: the list, then their bytes. */
static twin_status decode_words(twin_shingle_options *out, uint64_t count, struct twin__bytes words)
{
    out->stop_words = NULL;
    out->stop_word_count = 0;
    if (count == 0)
        return words.length == 0 ? TWIN_OK : TWIN_EFORMAT;
    if (count > words.length)
        return TWIN_EFORMAT;
    twin_text *list = malloc(count * sizeof *list + words.length);
    if (!list)
        return TWIN_ENOMEM;
    char *bytes = (char *)(list + count);
    memcpy(bytes, words.at, words.length);
    size_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        const char *end = memchr(bytes + used, 0, words.length - used);
        if (!end) {
            free(list);
            return TWIN_EFORMAT;
        }
        list[i] = (twin_text){ bytes + used, (size_t)(end - bytes) - used };
        used = (size_t)(end - bytes) + 1;
    }
    if (used != words.length) {
        free(list);
        return TWIN_EFORMAT;
    }
    out->stop_words = list;
    out->stop_word_count = count;
    return TWIN_OK;
}

static bool kinds_are_known(const unsigned char *head)
{
    return head[12] <= TWIN_INPUT_ROWS && head[13] <= TWIN_NORMAL_BYTES && head[14] <= TWIN_SHINGLE_STOP &&
           head[15] <= TWIN_HASH_SIP && head[16] <= TWIN_SKETCH_CLASSIC && head[17] > TWIN_KEEP_AUTO &&
           head[17] <= TWIN_KEEP_NONE;
}

static bool numbers_are_good(const twin_index_options *options)
{
    size_t slots = options->minhash.slots, bands = options->plan.bands, rows = options->plan.rows;
    return options->shingle.width >= 1 && options->shingle.width <= TWIN_SHINGLE_MAX_WIDTH && slots >= 1 &&
           slots <= TWIN_MINHASH_MAX_SLOTS && rows >= 1 && rows <= slots && bands >= 1 && bands <= slots / rows &&
           options->threshold > 0 && options->threshold <= 1;
}

static void read_head(twin_index_options *out, const unsigned char *head)
{
    uint64_t threshold = get8(head + 72);
    *out = (twin_index_options){
        .format = (twin_input_format)head[12],
        .normal = (twin_normal)head[13],
        .shingle = { .kind = (twin_shingle_kind)head[14],
                     .width = get8(head + 24),
                     .hash = { (twin_hash_family)head[15], get8(head + 32), { get8(head + 40), get8(head + 48) } } },
        .minhash = { (twin_sketch)head[16], get8(head + 56), get8(head + 64) },
        .plan = { get8(head + 80), get8(head + 88) },
        .keep = (twin_keep)head[17],
    };
    memcpy(&out->threshold, &threshold, sizeof threshold);
}

twin_status twin__format_decode(twin_index_options *out, const char **reason, struct twin__bytes record)
{
    unsigned char head[TWIN__FORMAT_BYTES];
    const unsigned char *bytes = record.at;
    *reason = "is not an index of twinsift";
    if (record.length < sizeof head || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return TWIN_EFORMAT;
    memcpy(head, bytes, sizeof head);
    *reason = "was written by a newer version of twinsift; use that one";
    if (get4(head + 8) > TWIN__INDEX_VERSION)
        return TWIN_EFORMAT;
    *reason = "is damaged: its parameters do not fit their checksum";
    if (get4(head + 8) != TWIN__INDEX_VERSION || get8(head + 120) != format_check(bytes, record.length))
        return TWIN_EFORMAT;
    *reason = "has parameters that cannot be";
    if (!kinds_are_known(head))
        return TWIN_EFORMAT;
    read_head(out, head);
    if (!numbers_are_good(out))
        return TWIN_EFORMAT;
    *reason = "was written by a library whose hash gives other numbers";
    if (get8(head + 104) != hash_check(out->shingle.hash))
        return TWIN_EFORMAT;
    *reason = "has a list of stop words that cannot be";
    return decode_words(&out->shingle, get8(head + 96),
                        (struct twin__bytes){ bytes + sizeof head, record.length - sizeof head });
}

/* ---- counts, runs ---- */

void twin__counts_encode(unsigned char out[TWIN__COUNTS_BYTES], const struct twin__counts *counts)
{
    const uint64_t numbers[] = { counts->transaction, counts->next_document, counts->next_set, counts->documents,
                                 counts->sets,        counts->too_short,     counts->dead,     counts->empty_set };
    memcpy(out, numbers, sizeof numbers);
    put8(out + sizeof numbers, XXH3_64bits(numbers, sizeof numbers));
}

bool twin__counts_decode(struct twin__counts *out, struct twin__bytes record)
{
    uint64_t numbers[9];
    if (record.length != sizeof numbers)
        return false;
    memcpy(numbers, record.at, sizeof numbers);
    *out = (struct twin__counts){ numbers[0], numbers[1], numbers[2], numbers[3],
                                  numbers[4], numbers[5], numbers[6], numbers[7] };
    return numbers[8] == XXH3_64bits(numbers, 8 * sizeof numbers[0]);
}

void twin__run_encode(unsigned char out[TWIN__RUN_BYTES], const struct twin__run *run)
{
    const uint64_t numbers[] = { run->end, run->entries, run->dead };
    memcpy(out, numbers, sizeof numbers);
    put8(out + sizeof numbers, XXH3_64bits_withSeed(numbers, sizeof numbers, run->first));
}

bool twin__run_decode(struct twin__run *out, uint64_t first, struct twin__bytes record)
{
    uint64_t numbers[4];
    if (record.length != sizeof numbers)
        return false;
    memcpy(numbers, record.at, sizeof numbers);
    *out = (struct twin__run){ first, numbers[0], numbers[1], numbers[2] };
    return numbers[3] == XXH3_64bits_withSeed(numbers, 3 * sizeof numbers[0], first) && out->first < out->end &&
           out->end - out->first <= (uint64_t)UINT32_MAX + 1 && out->entries >= 1 &&
           out->entries <= out->end - out->first && out->dead <= out->entries;
}

/* ---- documents, sets ---- */

static uint32_t check_of(const void *record, size_t length)
{
    return (uint32_t)XXH3_64bits((const char *)record + 4, length - 4);
}

static bool check_fits(struct twin__bytes record, size_t least)
{
    return record.length >= least && get4(record.at) == check_of(record.at, record.length);
}

enum { DOCUMENT_HEAD = 25, SET_HEAD = 48, KEPT_HEAD = 4 };

twin_status twin__document_encode(twin_buffer *out, const struct twin__document *document)
{
    out->length = 0;
    twin_status status = twin_buffer_reserve(out, DOCUMENT_HEAD + document->id.length);
    if (status != TWIN_OK)
        return status;
    char *record = out->bytes;
    put4(record + 4, document->label);
    put8(record + 8, document->time);
    put8(record + 16, document->set);
    record[24] = document->id_is_number;
    memcpy(record + DOCUMENT_HEAD, document->id.bytes, document->id.length);
    out->length = DOCUMENT_HEAD + document->id.length;
    put4(record, check_of(record, out->length));
    return TWIN_OK;
}

bool twin__document_decode(struct twin__document *out, struct twin__bytes record)
{
    const char *bytes = record.at;
    if (!check_fits(record, DOCUMENT_HEAD) || bytes[24] & ~1)
        return false;
    *out = (struct twin__document){ .set = get8(bytes + 16),
                                    .time = get8(bytes + 8),
                                    .label = get4(bytes + 4),
                                    .id_is_number = bytes[24],
                                    .id = { bytes + DOCUMENT_HEAD, record.length - DOCUMENT_HEAD } };
    return true;
}

twin_status twin__set_encode(twin_buffer *out, const struct twin__set *set, const uint32_t *signature, size_t slots)
{
    size_t length = SET_HEAD + slots * sizeof *signature;
    out->length = 0;
    twin_status status = twin_buffer_reserve(out, length);
    if (status != TWIN_OK)
        return status;
    const uint64_t numbers[] = { set->size, set->digest.low, set->digest.high, set->members, set->first };
    put4(out->bytes + 4, 0);
    memcpy(out->bytes + 8, numbers, sizeof numbers);
    memcpy(out->bytes + SET_HEAD, signature, slots * sizeof *signature);
    out->length = length;
    put4(out->bytes, check_of(out->bytes, length));
    return TWIN_OK;
}

bool twin__set_decode(struct twin__set *out, uint32_t *signature, size_t slots, struct twin__bytes record)
{
    const char *bytes = record.at;
    if (record.length != SET_HEAD + slots * sizeof *signature || !check_fits(record, SET_HEAD))
        return false;
    *out = (struct twin__set){ .size = get8(bytes + 8),
                               .members = get8(bytes + 32),
                               .first = get8(bytes + 40),
                               .digest = { get8(bytes + 16), get8(bytes + 24) } };
    if (signature)
        memcpy(signature, bytes + SET_HEAD, slots * sizeof *signature);
    return true;
}

/* ---- what is kept ---- */

/* Where the parts of a set of n items lie, n > 0, when the leading `bits` of each are kept. */
struct parts {
    unsigned dropped, low_bits;
    size_t low_bytes, high_bytes, total; /* total: with the zero bytes */
};

/* False for more items than there can be, so that nothing below overflows and every item has a low bit. */
static bool parts_of(struct parts *out, uint64_t n, unsigned bits)
{
    if (n == 0 || n >> (bits - 1 < 56 ? bits - 1 : 56))
        return false;
    unsigned dropped = 64 - bits, leading = (unsigned)__builtin_clzll(n), low_bits = leading - dropped;
    uint64_t high_bits = n + ((uint64_t)1 << (64 - leading));
    *out = (struct parts){ .dropped = dropped,
                           .low_bits = low_bits,
                           .low_bytes = (size_t)(n / 8 * low_bits + (n % 8 * low_bits + 7) / 8),
                           .high_bytes = (size_t)((high_bits + 7) / 8) };
    out->total = out->low_bytes + out->high_bytes + 8;
    return true;
}

/* Writes the low bits of each item, 8 to 56, and up to eight bytes past them. Each item is written with the end of the
 * one before, from a whole byte on, and does not wait for it. */
static void put_short_lows(unsigned char *out, twin_set set, struct parts parts)
{
    uint64_t mask = ((uint64_t)1 << parts.low_bits) - 1, before = 0;
    for (size_t i = 0; i < set.count; i++) {
        uint64_t low = set.items[i] >> parts.dropped & mask, place = i * parts.low_bits;
        put8(out + place / 8, low << place % 8 | before >> (parts.low_bits - place % 8));
        before = low;
    }
}

/* The same for any number of bits, by eights as they fill up. */
static void put_long_lows(unsigned char *out, twin_set set, struct parts parts)
{
    unsigned bits = parts.low_bits, filled = 0;
    uint64_t word = 0, mask = UINT64_MAX >> (64 - bits);
    for (size_t i = 0; i < set.count; i++) {
        uint64_t low = set.items[i] >> parts.dropped & mask;
        word |= low << filled;
        filled += bits;
        if (filled >= 64) {
            put8(out, word);
            out += 8;
            filled -= 64;
            word = filled ? low >> (bits - filled) : 0;
        }
    }
    memcpy(out, &word, (filled + 7) / 8);
}

/* Sets the bit of each item in a field of `bytes` bytes and eight spare ones. */
static void put_highs(unsigned char *out, size_t bytes, twin_set set, unsigned shift)
{
    uint64_t word = 0, at = 0;
    for (size_t i = 0; i < set.count; i++) {
        uint64_t place = (set.items[i] >> shift) + i;
        for (; place / 64 > at; at++) {
            put8(out + 8 * at, word);
            word = 0;
        }
        word |= (uint64_t)1 << place % 64;
    }
    for (; 8 * at < bytes; at++) {
        put8(out + 8 * at, word);
        word = 0;
    }
    memset(out + bytes, 0, 8);
}

static uint64_t get_bits(const unsigned char *bytes, uint64_t at, unsigned bits)
{
    const unsigned char *place = bytes + at / 8;
    unsigned shift = at % 8;
    uint64_t value = get8(place) >> shift;
    if (shift + bits > 64)
        value |= (uint64_t)place[8] << (64 - shift);
    return value & (((uint64_t)1 << bits) - 1);
}

twin_status twin__items_encode(twin_buffer *out, twin_set set, unsigned bits)
{
    struct parts parts;
    if (set.count == 0)
        return TWIN_OK;
    if (!parts_of(&parts, set.count, bits))
        return TWIN_ELIMIT;
    size_t start = out->length;
    twin_status status = twin_buffer_reserve(out, KEPT_HEAD + parts.total);
    if (status != TWIN_OK)
        return status;
    unsigned char *lows = (unsigned char *)out->bytes + start + KEPT_HEAD;
    if (parts.low_bits >= 8 && parts.low_bits <= 56)
        put_short_lows(lows, set, parts);
    else
        put_long_lows(lows, set, parts);
    put_highs(lows + parts.low_bytes, parts.high_bytes, set, parts.low_bits + parts.dropped);
    out->length += KEPT_HEAD + parts.total;
    put4(out->bytes + start, check_of(out->bytes + start, KEPT_HEAD + parts.total));
    return TWIN_OK;
}

/* Reads the items; false unless there are `count`, increasing. */
static bool read_items(uint64_t *out, uint64_t count, const unsigned char *lows, struct parts parts)
{
    const unsigned char *highs = lows + parts.low_bytes;
    unsigned shift = parts.low_bits + parts.dropped;
    uint64_t found = 0;
    for (size_t at = 0; at < parts.high_bytes; at += 8) {
        uint64_t word = get8(highs + at);
        for (; word; word &= word - 1) {
            uint64_t place = at * 8 + (uint64_t)__builtin_ctzll(word);
            if (found == count || (place - found) >> (64 - shift))
                return false;
            out[found] = (place - found) << shift | get_bits(lows, found * parts.low_bits, parts.low_bits)
                                                        << parts.dropped;
            if (found && out[found] <= out[found - 1])
                return false;
            found++;
        }
    }
    return found == count;
}

twin_status twin__items_decode(twin_items *out, uint64_t count, unsigned bits, struct twin__bytes record)
{
    struct parts parts;
    out->count = 0;
    if (!check_fits(record, KEPT_HEAD) || !parts_of(&parts, count, bits) || record.length != KEPT_HEAD + parts.total)
        return TWIN_EFORMAT;
    twin_status status = twin_items_reserve(out, count);
    if (status != TWIN_OK)
        return status;
    if (!read_items(out->items, count, (const unsigned char *)record.at + KEPT_HEAD, parts))
        return TWIN_EFORMAT;
    out->count = count;
    return TWIN_OK;
}

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

twin_status twin__text_encode(twin_buffer *out, void **packer, twin_text text)
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
    put4(out->bytes + start, check_of(out->bytes + start, KEPT_HEAD + length));
    return TWIN_OK;
}

void twin__packer_free(void *packer)
{
    ZSTD_freeCCtx(packer);
}

twin_status twin__text_decode(twin_buffer *out, size_t most, struct twin__bytes record)
{
    out->length = 0;
    if (!check_fits(record, KEPT_HEAD))
        return TWIN_EFORMAT;
    const char *frame = (const char *)record.at + KEPT_HEAD;
    unsigned long long length = ZSTD_getFrameContentSize(frame, record.length - KEPT_HEAD);
    if (length == ZSTD_CONTENTSIZE_UNKNOWN || length == ZSTD_CONTENTSIZE_ERROR || length > most)
        return TWIN_EFORMAT;
    if (twin_buffer_reserve(out, (size_t)length + 1) != TWIN_OK)
        return TWIN_ENOMEM;
    size_t got = ZSTD_decompress(out->bytes, out->capacity, frame, record.length - KEPT_HEAD);
    if (ZSTD_isError(got) || got != length)
        return TWIN_EFORMAT;
    out->length = got;
    return TWIN_OK;
}

/* record.c — what the values of an index look like, byte by byte; what is kept of a set: kept.c.
 *
 * The format, under "format" in table "meta":
 *      0  8  magic "TWINDEX\n"
 *      8  4  version, 1 or 2: see record.h
 *     12  1  documents 0, rows 1
 *     13  1  normalisation: 0 fold, 1 check, 2 bytes
 *     14  1  shingles: 0 char, 1 byte, 2 word, 3 stop, 4 auto, 5 kmer
 *     15  1  hash family: 0 xxh3, 1 farm, 2 jenkins, 3 sip
 *     16  1  sketch: 0 fast, 1 classic
 *     17  1  kept: 0 sets, 1 text, 2 none
 *     18  1  compared: 0 sets, 1 texts by edit distance
 *     19  1  edits, 0 to 4
 *     20  4  zero
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
 * Counts, under "counts": eight numbers of 8 bytes in the order of struct twin__index_counts, and their XXH3.
 * A document:  0 4 check   4 4 label   8 8 time   16 8 set   24 1 flags: 1 the id is a number   25 the id
 * A set:       0 4 check   4 4 zero    8 8 size   16 16 digest   32 8 members   40 8 first   48 4·k signature
 * A run:       0 8 end     8 8 entries 16 8 dead  24 8 XXH3 of the 24 bytes before, seeded with its first
 * A check is the low half of the XXH3 of what follows it. Numbers are in the machine's order: so are LMDB's pages. */
#include "index/record.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char MAGIC[8] = { 'T', 'W', 'I', 'N', 'D', 'E', 'X', '\n' };
static const char HASH_CHECK[] = "twinsift index: is this the same hash?";

uint32_t twin__index_check_of(const void *record, size_t length)
{
    return (uint32_t)XXH3_64bits((const char *)record + 4, length - 4);
}

bool twin__index_check_fits(struct twin__bytes record, size_t least)
{
    return record.length >= least && twin__get4(record.at) == twin__index_check_of(record.at, record.length);
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
    return XXH3_64bits_withSeed(record + TWIN__INDEX_FORMAT_BYTES, length - TWIN__INDEX_FORMAT_BYTES,
                                XXH3_64bits(record, 120));
}

unsigned twin__index_format_version(struct twin__bytes record)
{
    return twin__get4((const char *)record.at + 8);
}

/* The kinds of shingles in files; the last ones came last. */
static const unsigned char kind_numbers[] = {
    [TWIN_SHINGLE_CHAR] = 0, [TWIN_SHINGLE_BYTE] = 1, [TWIN_SHINGLE_WORD] = 2,
    [TWIN_SHINGLE_STOP] = 3, [TWIN_SHINGLE_AUTO] = 4, [TWIN_SHINGLE_KMER] = 5
};
enum { KINDS = sizeof kind_numbers, MULTISET = 0x80 }; /* with a kind, which programs before it do not know */

static twin_shingle_kind kind_of_number(unsigned char number)
{
    int kind = 0;
    while (kind < KINDS - 1 && kind_numbers[kind] != number)
        kind++;
    return (twin_shingle_kind)kind;
}

twin_status twin__index_format_encode(twin_buffer *out, const twin_index_options *options)
{
    unsigned char head[TWIN__INDEX_FORMAT_BYTES] = { 0 };
    const twin_shingle_options *shingle = &options->scheme.shingle;
    memcpy(head, MAGIC, sizeof MAGIC);
    twin__put4(head + 8, TWIN__INDEX_VERSION);
    unsigned char kinds[] = { (unsigned char)options->format,
                              (unsigned char)options->scheme.normal,
                              (unsigned char)(kind_numbers[shingle->kind] |
                                              (options->scheme.multiset ? MULTISET : 0)),
                              (unsigned char)shingle->hash.family,
                              (unsigned char)options->scheme.minhash.sketch,
                              (unsigned char)options->keep,
                              options->by_edits,
                              (unsigned char)options->edits };
    memcpy(head + 12, kinds, sizeof kinds);
    uint64_t threshold;
    memcpy(&threshold, &options->scheme.threshold, sizeof threshold);
    const uint64_t numbers[] = {
        shingle->width,
        shingle->hash.seed,
        shingle->hash.key[0],
        shingle->hash.key[1],
        options->scheme.minhash.slots,
        options->scheme.minhash.seed,
        threshold,
        options->scheme.plan.bands,
        options->scheme.plan.rows,
        shingle->stop_words ? shingle->stop_word_count : 0,
        hash_check(shingle->hash),
    };
    memcpy(head + 24, numbers, sizeof numbers);
    out->length = 0;
    twin_status status = twin_buffer_append(out, head, sizeof head);
    if (status == TWIN_OK)
        status = append_words(out, shingle);
    if (status == TWIN_OK)
        twin__put8(out->bytes + 120, format_check((unsigned char *)out->bytes, out->length));
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
    return head[12] <= TWIN_INPUT_SETS && head[13] <= TWIN_NORMAL_BYTES && (head[14] & ~MULTISET) < KINDS &&
           twin_hash_available((twin_hash_family)head[15]) != TWIN_EINVAL && head[16] <= TWIN_SKETCH_CLASSIC &&
           head[17] <= TWIN_KEEP_NONE && head[18] <= 1 && head[19] <= (head[18] ? TWIN_INDEX_MOST_EDITS : 0) &&
           (!head[18] || (head[12] == TWIN_INPUT_DOCUMENTS && head[17] == TWIN_KEEP_TEXT));
}

static bool numbers_are_good(const twin_index_options *options)
{
    size_t slots = options->scheme.minhash.slots, bands = options->scheme.plan.bands,
           rows = options->scheme.plan.rows;
    return options->scheme.shingle.width >= 1 && options->scheme.shingle.width <= TWIN_SHINGLE_MAX_WIDTH &&
           slots >= 1 && slots <= TWIN_MINHASH_MAX_SLOTS && rows >= 1 && rows <= slots && bands >= 1 &&
           bands <= slots / rows && (!options->by_edits || rows == TWIN__INDEX_LEVELS) &&
           options->scheme.threshold > 0 && options->scheme.threshold <= 1;
}

static void read_head(twin_index_options *out, const unsigned char *head)
{
    uint64_t threshold = twin__get8(head + 72);
    *out = (twin_index_options){
        .format = (twin_input_format)head[12],
        .scheme.normal = (twin_normal)head[13],
        .scheme.shingle = { .kind = kind_of_number(head[14] & (unsigned char)~MULTISET),
                            .width = twin__get8(head + 24),
                            .hash = { (twin_hash_family)head[15],
                                      twin__get8(head + 32),
                                      { twin__get8(head + 40), twin__get8(head + 48) } } },
        .scheme.minhash = { .sketch = (twin_sketch)head[16],
                            .slots = twin__get8(head + 56),
                            .seed = twin__get8(head + 64) },
        .scheme.plan = { twin__get8(head + 80), twin__get8(head + 88) },
        .scheme.multiset = head[14] & MULTISET,
        .keep = (twin_keep)head[17],
        .by_edits = head[18] == 1,
        .edits = head[19],
    };
    memcpy(&out->scheme.threshold, &threshold, sizeof threshold);
}

twin_status twin__index_format_decode(twin_index_options *out, const char **reason, struct twin__bytes record)
{
    unsigned char head[TWIN__INDEX_FORMAT_BYTES];
    const unsigned char *bytes = record.at;
    *reason = "is not an index of twinsift";
    if (record.length < sizeof head || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return TWIN_EFORMAT;
    memcpy(head, bytes, sizeof head);
    *reason = "was written by a newer version of twinsift; use that one";
    if (twin__get4(head + 8) > TWIN__INDEX_VERSION)
        return TWIN_EFORMAT;
    *reason = "is damaged: its parameters do not fit their checksum";
    if (twin__get4(head + 8) == 0 || twin__get8(head + 120) != format_check(bytes, record.length))
        return TWIN_EFORMAT;
    *reason = "has parameters that cannot be";
    if (!kinds_are_known(head))
        return TWIN_EFORMAT;
    read_head(out, head);
    if (!numbers_are_good(out))
        return TWIN_EFORMAT;
    *reason = "was written with a hash family that is not in this build of twinsift";
    if (twin_hash_available(out->scheme.shingle.hash.family) != TWIN_OK)
        return TWIN_EUNSUPPORTED;
    *reason = "was written by a library whose hash function gives other values";
    if (twin__get8(head + 104) != hash_check(out->scheme.shingle.hash))
        return TWIN_EFORMAT;
    *reason = "has a list of stop words that cannot be";
    return decode_words(&out->scheme.shingle, twin__get8(head + 96),
                        (struct twin__bytes){ bytes + sizeof head, record.length - sizeof head });
}

/* ---- counts, runs ---- */

void twin__index_counts_encode(unsigned char out[TWIN__INDEX_COUNTS_BYTES], const struct twin__index_counts *counts)
{
    const uint64_t numbers[] = { counts->transaction, counts->next_document, counts->next_set, counts->documents,
                                 counts->sets,        counts->too_short,     counts->dead,     counts->empty_set };
    memcpy(out, numbers, sizeof numbers);
    twin__put8(out + sizeof numbers, XXH3_64bits(numbers, sizeof numbers));
}

bool twin__index_counts_decode(struct twin__index_counts *out, struct twin__bytes record)
{
    uint64_t numbers[9];
    if (record.length != sizeof numbers)
        return false;
    memcpy(numbers, record.at, sizeof numbers);
    *out = (struct twin__index_counts){ numbers[0], numbers[1], numbers[2], numbers[3],
                                        numbers[4], numbers[5], numbers[6], numbers[7] };
    return numbers[8] == XXH3_64bits(numbers, 8 * sizeof numbers[0]);
}

void twin__index_run_encode(unsigned char out[TWIN__INDEX_RUN_BYTES], const struct twin__index_run *run)
{
    const uint64_t numbers[] = { run->end, run->entries, run->dead };
    memcpy(out, numbers, sizeof numbers);
    twin__put8(out + sizeof numbers, XXH3_64bits_withSeed(numbers, sizeof numbers, run->first));
}

bool twin__index_run_decode(struct twin__index_run *out, uint64_t first, struct twin__bytes record)
{
    uint64_t numbers[4];
    if (record.length != sizeof numbers)
        return false;
    memcpy(numbers, record.at, sizeof numbers);
    *out = (struct twin__index_run){ first, numbers[0], numbers[1], numbers[2] };
    return numbers[3] == XXH3_64bits_withSeed(numbers, 3 * sizeof numbers[0], first) && out->first < out->end &&
           out->end - out->first <= (uint64_t)UINT32_MAX + 1 && out->entries >= 1 &&
           out->entries <= out->end - out->first && out->dead <= out->entries;
}

/* ---- documents, sets ---- */

enum { DOCUMENT_HEAD = 25, SET_HEAD = 48 };

twin_status twin__index_document_encode(twin_buffer *out, const struct twin__index_document_record *document)
{
    out->length = 0;
    twin_status status = twin_buffer_reserve(out, DOCUMENT_HEAD + document->id.length);
    if (status != TWIN_OK)
        return status;
    char *record = out->bytes;
    twin__put4(record + 4, document->label);
    twin__put8(record + 8, document->time);
    twin__put8(record + 16, document->set);
    record[24] = document->id_is_number;
    memcpy(record + DOCUMENT_HEAD, document->id.bytes, document->id.length);
    out->length = DOCUMENT_HEAD + document->id.length;
    twin__put4(record, twin__index_check_of(record, out->length));
    return TWIN_OK;
}

bool twin__index_document_decode(struct twin__index_document_record *out, struct twin__bytes record)
{
    const char *bytes = record.at;
    if (!twin__index_check_fits(record, DOCUMENT_HEAD) || bytes[24] & ~1)
        return false;
    *out = (struct twin__index_document_record){ .set = twin__get8(bytes + 16),
                                                 .time = twin__get8(bytes + 8),
                                                 .label = twin__get4(bytes + 4),
                                                 .id_is_number = bytes[24],
                                                 .id = { bytes + DOCUMENT_HEAD, record.length - DOCUMENT_HEAD } };
    return true;
}

twin_status twin__index_set_encode(twin_buffer *out, const struct twin__index_set_record *set,
                                   const uint32_t *signature, size_t slots)
{
    size_t length = SET_HEAD + slots * sizeof *signature;
    out->length = 0;
    twin_status status = twin_buffer_reserve(out, length);
    if (status != TWIN_OK)
        return status;
    const uint64_t numbers[] = { set->size, set->digest.low, set->digest.high, set->members, set->first };
    twin__put4(out->bytes + 4, 0);
    memcpy(out->bytes + 8, numbers, sizeof numbers);
    memcpy(out->bytes + SET_HEAD, signature, slots * sizeof *signature);
    out->length = length;
    twin__put4(out->bytes, twin__index_check_of(out->bytes, length));
    return TWIN_OK;
}

bool twin__index_set_decode(struct twin__index_set_record *out, uint32_t *signature, size_t slots,
                            struct twin__bytes record)
{
    const char *bytes = record.at;
    if (record.length != SET_HEAD + slots * sizeof *signature || !twin__index_check_fits(record, SET_HEAD))
        return false;
    *out = (struct twin__index_set_record){ .size = twin__get8(bytes + 8),
                                            .members = twin__get8(bytes + 32),
                                            .first = twin__get8(bytes + 40),
                                            .digest = { twin__get8(bytes + 16), twin__get8(bytes + 24) } };
    if (signature)
        memcpy(signature, bytes + SET_HEAD, slots * sizeof *signature);
    return true;
}

/* ---- members ---- */

static void put_high_first(unsigned char *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
}

static uint64_t get_high_first(const unsigned char *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

void twin__index_member_encode(unsigned char out[TWIN__INDEX_MEMBER_BYTES], uint32_t label, uint64_t document)
{
    put_high_first(out, label, 4);
    put_high_first(out + 4, document, 8);
}

bool twin__index_member_decode(uint32_t *label, uint64_t *document, struct twin__bytes value)
{
    if (value.length != TWIN__INDEX_MEMBER_BYTES)
        return false;
    *label = (uint32_t)get_high_first(value.at, 4);
    *document = get_high_first((const unsigned char *)value.at + 4, 8);
    return true;
}

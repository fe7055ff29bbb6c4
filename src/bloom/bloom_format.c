/* bloom_format.c — a filter as the bytes of a file.
 *
 *      0  8  magic "TWBLOOM\n"
 *      8  4  version, 1; 2 for a filter that grows
 *     12  1  layout: 1 blocks, 2 classic
 *     13  1  bits per cell: 1, 4, 8, 16
 *     14  1  functions, 1 .. 64; 8 for blocks
 *     15  1  hash family: 1 xxh3, 2 farm, 3 jenkins, 4 sip
 *     16  8  seed of the hash; 0 for sip
 *     24  8  check value of the hash
 *     32  8  planned items
 *     40  8  planned rate, an IEEE double
 *     48  8  cells, a multiple of 512
 *     56  8  calls to add
 *     64  8  of these, calls that found the item new
 *     72  8  calls to remove
 *     80  4  version 2: layers, 1 .. 64; else zero
 *     84  4  version 2: the number of this layer, from 0; else zero
 *     88 24  zero
 *    112  8  XXH3 of the table after the cells
 *    120  8  XXH3 of the 120 bytes before
 *    128     the cells
 *            a table: XXH3 of every MiB of cells, 8 bytes each
 *
 *
 * A filter that grows is all of this once for each layer, the oldest first; after each table are zeros up to a multiple
 * of 64 bytes.
 *
 * All numbers are little-endian. The header's checksum covers the table and the table covers the cells, so a
 * filter can be opened without reading it, and damage can be located. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/file.h"
#include "bloom/bloom_private.h"

enum {
    VERSION = 1,
    GROWING_VERSION = 2,
    HEADER_BYTES = 128,
    LAYERS_AT = 80,
    ZERO_AT = 88,
    TABLE_CHECK_AT = 112,
    HEADER_CHECK_AT = 120,
    CHUNK = 1 << 20,
    ALIGNMENT = 64
};

static const char MAGIC[8] = { 'T', 'W', 'B', 'L', 'O', 'O', 'M', '\n' };

/* ---- the header ---- */

static void put_number(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_number(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint64_t chunks_of(uint64_t body)
{
    return (body + CHUNK - 1) / CHUNK;
}

/* Which layer of how many a part of the file is. */
struct layer {
    uint32_t number, layers;
};

static void write_header(uint8_t header[HEADER_BYTES], const twin_bloom *bloom, struct layer layer,
                         uint64_t table_check)
{
    uint64_t rate;
    memcpy(&rate, &bloom->planned_rate, sizeof rate);
    memset(header, 0, HEADER_BYTES);
    memcpy(header, MAGIC, sizeof MAGIC);
    put_number(header + 8, bloom->grows ? GROWING_VERSION : VERSION, 4);
    header[12] = bloom->shape.layout == TWIN_BLOOM_BLOCKS ? 1 : 2;
    header[13] = (uint8_t)bloom->shape.cell_bits;
    header[14] = (uint8_t)bloom->shape.functions;
    header[15] = (uint8_t)(bloom->hash.family + 1);
    put_number(header + 16, bloom->hash.family == TWIN_HASH_SIP ? 0 : bloom->hash.seed, 8);
    put_number(header + 24, twin__bloom_hash_check(bloom->hash), 8);
    put_number(header + 32, bloom->planned_items, 8);
    put_number(header + 40, rate, 8);
    put_number(header + 48, bloom->shape.cells, 8);
    put_number(header + 56, bloom->added, 8);
    put_number(header + 64, bloom->fresh, 8);
    put_number(header + 72, bloom->removed, 8);
    if (bloom->grows) {
        put_number(header + LAYERS_AT, layer.layers, 4);
        put_number(header + LAYERS_AT + 4, layer.number, 4);
    }
    put_number(header + TABLE_CHECK_AT, table_check, 8);
    put_number(header + HEADER_CHECK_AT, XXH3_64bits(header, HEADER_CHECK_AT), 8);
}

/* Fills in all but the cells. */
static void read_filter_header(twin_bloom *bloom, const uint8_t *header)
{
    uint64_t rate = get_number(header + 40, 8);
    memcpy(&bloom->planned_rate, &rate, sizeof rate);
    bloom->shape = (twin_bloom_shape){
        .layout = header[12] == 1   ? TWIN_BLOOM_BLOCKS
                  : header[12] == 2 ? TWIN_BLOOM_CLASSIC
                                    : TWIN_BLOOM_AUTO,
        .cell_bits = header[13],
        .functions = header[14],
        .cells = get_number(header + 48, 8),
    };
    bloom->blocks = bloom->shape.cells / BLOOM_BLOCK_CELLS;
    bloom->hash = (twin_hash){ .family = (twin_hash_family)(header[15] - 1), .seed = get_number(header + 16, 8) };
    bloom->planned_items = get_number(header + 32, 8);
    bloom->added = get_number(header + 56, 8);
    bloom->fresh = get_number(header + 64, 8);
    bloom->removed = get_number(header + 72, 8);
    bloom->grows = get_number(header + 8, 4) == GROWING_VERSION;
}

bool twin__bloom_is_filter(int file)
{
    char magic[sizeof MAGIC];
    return pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic && memcmp(magic, MAGIC, sizeof magic) == 0;
}

/* A file, or what is left of it from a layer on. */
struct part {
    const uint8_t *bytes;
    uint64_t size, offset; /* in the file */
    const char *name;
};

static twin_status check_header(struct part part, twin_error *error)
{
    size_t magic = part.size < sizeof MAGIC ? part.size : sizeof MAGIC;
    if (part.offset == 0 && (part.size == 0 || memcmp(part.bytes, MAGIC, magic) != 0))
        return twin__fail(error, TWIN_EFORMAT, "%s: is not a twinsift filter", part.name);
    if (part.size < HEADER_BYTES)
        return twin__fail_at(error, TWIN_EFORMAT, part.offset + part.size,
                             "%s: is truncated: it ends at byte %llu, inside the header", part.name,
                             (unsigned long long)(part.offset + part.size));
    uint64_t version = get_number(part.bytes + 8, 4);
    if (version > GROWING_VERSION)
        return twin__fail_at(error, TWIN_EUNSUPPORTED, part.offset + 8,
                             "%s: has version %llu of the format, and this twinsift reads up to %d", part.name,
                             (unsigned long long)version, GROWING_VERSION);
    if (get_number(part.bytes + HEADER_CHECK_AT, 8) != XXH3_64bits(part.bytes, HEADER_CHECK_AT))
        return twin__fail(error, TWIN_EFORMAT, "%s: is damaged: the header does not match its checksum", part.name);
    return TWIN_OK;
}

/* Whether the header says which layer this is, and nothing where nothing is to be said. */
static bool is_layer(const uint8_t *header, bool grows, uint32_t number, uint32_t *layers)
{
    static const uint8_t zero[TABLE_CHECK_AT - LAYERS_AT];
    if (!grows)
        return number == 0 && memcmp(header + LAYERS_AT, zero, sizeof zero) == 0;
    uint32_t count = (uint32_t)get_number(header + LAYERS_AT, 4);
    bool is_first = number == 0;
    *layers = is_first ? count : *layers;
    return count == *layers && count > 0 && count <= BLOOM_MAX_LAYERS &&
           get_number(header + LAYERS_AT + 4, 4) == number &&
           memcmp(header + ZERO_AT, zero, TABLE_CHECK_AT - ZERO_AT) == 0;
}

/* The checksum matches, so the file is forged, or of a later version without a new version number. */
static twin_status check_fields(const twin_bloom *bloom, struct part part, bool is_expected, twin_error *error)
{
    bool sound = get_number(part.bytes + 8, 4) >= VERSION && twin__bloom_shape_is_sound(bloom->shape) &&
                 twin_hash_available(bloom->hash.family) != TWIN_EINVAL && bloom->planned_items > 0 &&
                 isfinite(bloom->planned_rate) && bloom->planned_rate >= 0 && bloom->planned_rate <= 1 &&
                 !(bloom->grows && twin__bloom_is_counting(bloom)) && is_expected;
    return sound ? TWIN_OK
                 : twin__fail_at(error, TWIN_EFORMAT, part.offset + 8,
                                 "%s: is damaged: the header holds values no filter has", part.name);
}

/* The bytes of a layer in a file, or of a filter that does not grow. */
static uint64_t file_bytes(const twin_bloom *bloom)
{
    uint64_t body = twin_bloom_bytes(bloom->shape), bytes = HEADER_BYTES + body + 8 * chunks_of(body);
    return bloom->grows ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : bytes;
}

static twin_status check_size(const twin_bloom *bloom, struct part part, bool is_last, twin_error *error)
{
    uint64_t want = file_bytes(bloom), size = part.offset + part.size, end = part.offset + want;
    if (part.size < want)
        return twin__fail_at(error, TWIN_EFORMAT, size, "%s: is truncated: it has %llu bytes and should have %llu",
                             part.name, (unsigned long long)size, (unsigned long long)end);
    if (part.size > want && is_last)
        return twin__fail_at(error, TWIN_EFORMAT, end, "%s: has %llu bytes after its end at byte %llu", part.name,
                             (unsigned long long)(size - end), (unsigned long long)end);
    return TWIN_OK;
}

/* ---- the hash ---- */

static twin_status choose_hash(twin_bloom *bloom, const twin_hash *given, uint64_t check, const char *name,
                               twin_error *error)
{
    const char *family = twin_name_of(TWIN_NAMES_HASH_FAMILY, bloom->hash.family);
    if (!given && bloom->hash.family == TWIN_HASH_SIP)
        return twin__fail_at(error, TWIN_EINVAL, 15, "%s: is keyed, and no key was given", name);
    if (given && given->family != bloom->hash.family)
        return twin__fail_at(error, TWIN_EINVAL, 15, "%s: hashes with %s, not with %s", name, family,
                             twin_name_of(TWIN_NAMES_HASH_FAMILY, given->family));
    if (given && given->family != TWIN_HASH_SIP && given->seed != bloom->hash.seed)
        return twin__fail_at(error, TWIN_EINVAL, 15, "%s: hashes with %s and seed %llu, not with %s and seed %llu",
                             name, family, (unsigned long long)bloom->hash.seed,
                             twin_name_of(TWIN_NAMES_HASH_FAMILY, given->family), (unsigned long long)given->seed);
    if (given)
        bloom->hash = *given;
    twin_status status = twin_hash_available(bloom->hash.family);
    if (status != TWIN_OK)
        return twin__fail_at(error, status, 15, "%s: %s", name, twin_error_last(status));
    if (twin__bloom_hash_check(bloom->hash) == check)
        return TWIN_OK;
    if (bloom->hash.family == TWIN_HASH_SIP)
        return twin__fail_at(error, TWIN_EINVAL, 24, "%s: was made with another key", name);
    return twin__fail_at(error, TWIN_EUNSUPPORTED, 24, "%s: was made with another implementation of %s", name,
                         family);
}

/* ---- the cells ---- */

static twin_status check_table(struct part part, uint64_t body, twin_error *error)
{
    const uint8_t *table = part.bytes + HEADER_BYTES + body;
    uint64_t at = part.offset + HEADER_BYTES + body;
    if (XXH3_64bits(table, 8 * chunks_of(body)) == get_number(part.bytes + TABLE_CHECK_AT, 8))
        return TWIN_OK;
    return twin__fail_at(error, TWIN_EFORMAT, at,
                         "%s: is damaged: the table of checksums at byte %llu does not match its own", part.name,
                         (unsigned long long)at);
}

static twin_status check_cells(struct part part, uint64_t body, twin_error *error)
{
    const uint8_t *cells = part.bytes + HEADER_BYTES, *table = cells + body;
    for (uint64_t at = 0; at < body; at += CHUNK, table += 8) {
        size_t length = body - at < CHUNK ? body - at : CHUNK;
        uint64_t place = part.offset + HEADER_BYTES + at;
        if (XXH3_64bits(cells + at, length) != get_number(table, 8))
            return twin__fail_at(error, TWIN_EFORMAT, place,
                                 "%s: is damaged: bytes %llu to %llu do not match their checksum", part.name,
                                 (unsigned long long)place, (unsigned long long)(place + length - 1));
    }
    return TWIN_OK;
}

/* The zeros after the table of a layer. */
static twin_status check_padding(const twin_bloom *bloom, struct part part, uint64_t body, twin_error *error)
{
    static const uint8_t zero[ALIGNMENT];
    uint64_t end = HEADER_BYTES + body + 8 * chunks_of(body);
    if (memcmp(part.bytes + end, zero, file_bytes(bloom) - end) == 0)
        return TWIN_OK;
    return twin__fail_at(error, TWIN_EFORMAT, part.offset + end, "%s: is damaged: the bytes at %llu should be zero",
                         part.name, (unsigned long long)(part.offset + end));
}

/* Views the filter, or the layer with this number of it, at the start of a part. */
static twin_status view(twin_bloom *bloom, uint32_t *layers, struct part part, uint32_t number,
                        twin_bloom_open_options options, bool keyless, twin_error *error)
{
    twin_status status = check_header(part, error);
    if (status != TWIN_OK)
        return status;

    read_filter_header(bloom, part.bytes);
    bool is_expected = is_layer(part.bytes, bloom->grows, number, layers);
    status = check_fields(bloom, part, is_expected, error);
    if (status == TWIN_OK)
        status = check_size(bloom, part, number + 1 == *layers, error);
    uint64_t body = twin_bloom_bytes(bloom->shape);
    if (status == TWIN_OK)
        status = check_table(part, body, error);
    if (status == TWIN_OK)
        status = check_padding(bloom, part, body, error);
    if (status == TWIN_OK && !options.trust)
        status = check_cells(part, body, error);
    if (status == TWIN_OK && !keyless)
        status = choose_hash(bloom, options.hash, get_number(part.bytes + 24, 8), part.name, error);
    if (status == TWIN_OK) /* never written: bloom->writable is false */
        bloom->words = (uint64_t *)(uintptr_t)(part.bytes + HEADER_BYTES);
    return status;
}

twin_status twin__bloom_view(twin_bloom **out, const void *bytes, size_t size, const char *name,
                             twin_bloom_open_options options, bool keyless, twin_error *error)
{
    *out = NULL;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return twin__fail(error, TWIN_EUNSUPPORTED, "filters in files need a little-endian machine");
    struct part part = { bytes, size, 0, name };
    uint32_t layers = 1;
    twin_bloom *newest = NULL;
    twin_status status = TWIN_OK;
    for (uint32_t number = 0; number < layers && status == TWIN_OK; number++) {
        twin_bloom *bloom = calloc(1, sizeof *bloom);
        if (!bloom) {
            status = twin__fail(error, TWIN_ENOMEM, "%s: out of memory", name);
            break;
        }
        bloom->lock = -1;
        bloom->older = newest;
        newest = bloom;
        status = view(bloom, &layers, part, number, options, keyless, error);
        uint64_t length = status == TWIN_OK ? file_bytes(bloom) : 0;
        part = (struct part){ part.bytes + length, part.size - length, part.offset + length, name };
    }
    if (status != TWIN_OK) {
        twin_bloom_free(newest);
        return status;
    }
    *out = newest;
    return TWIN_OK;
}

/* ---- writing ---- */

static twin_status write_layer(int file, const twin_bloom *bloom, struct layer layer, uint64_t offset,
                               const char *name, twin_error *error)
{
    uint64_t body = twin_bloom_bytes(bloom->shape), chunks = chunks_of(body);
    uint64_t after = file_bytes(bloom) - HEADER_BYTES - body; /* the table, with the zeros that may follow */
    uint8_t header[HEADER_BYTES], *table = calloc(after, 1);
    if (!table)
        return twin__fail(error, TWIN_ENOMEM, "%s: out of memory", name);

    for (uint64_t i = 0; i < chunks; i++) {
        uint64_t at = i * CHUNK;
        put_number(table + 8 * i, XXH3_64bits((const char *)bloom->words + at, body - at < CHUNK ? body - at : CHUNK),
                   8);
    }
    write_header(header, bloom, layer, XXH3_64bits(table, 8 * chunks));
    bool written = twin__write_at(file, header, HEADER_BYTES, offset) &&
                   twin__write_at(file, bloom->words, body, offset + HEADER_BYTES) &&
                   twin__write_at(file, table, after, offset + HEADER_BYTES + body);
    free(table);
    return written ? TWIN_OK : twin__fail(error, TWIN_EIO, "%s: could not be written: %m", name);
}

twin_status twin__bloom_write(int file, const twin_bloom *bloom, const char *name, twin_error *error)
{
    const twin_bloom *layers[BLOOM_MAX_LAYERS];
    uint32_t count = 0;
    uint64_t offset = 0;
    twin_status status = TWIN_OK;
    for (; bloom; bloom = bloom->older)
        layers[count++] = bloom;
    for (uint32_t i = 0; i < count && status == TWIN_OK; i++) {
        const twin_bloom *layer = layers[count - 1 - i]; /* the oldest first */
        status = write_layer(file, layer, (struct layer){ i, count }, offset, name, error);
        offset += file_bytes(layer);
    }
    return status;
}

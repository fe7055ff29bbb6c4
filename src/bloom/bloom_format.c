/* bloom_format.c — a filter as the bytes of a file.
 *
 *      0  8  magic "TWBLOOM\n"
 *      8  4  version, 1
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
 *     80 32  zero
 *    112  8  XXH3 of the table after the cells
 *    120  8  XXH3 of the 120 bytes before
 *    128     the cells
 *            a table: XXH3 of every MiB of cells, 8 bytes each
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

enum { VERSION = 1, HEADER_BYTES = 128, TABLE_CHECK_AT = 112, HEADER_CHECK_AT = 120, CHUNK = 1 << 20 };

static const char MAGIC[8] = "TWBLOOM\n";

/* ---- the header ---- */

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *at, int bytes)
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

static void write_header(uint8_t header[HEADER_BYTES], const twin_bloom *bloom, uint64_t table_check)
{
    uint64_t rate;
    memcpy(&rate, &bloom->planned_rate, sizeof rate);
    memset(header, 0, HEADER_BYTES);
    memcpy(header, MAGIC, sizeof MAGIC);
    put(header + 8, VERSION, 4);
    header[12] = bloom->shape.layout == TWIN_BLOOM_BLOCKS ? 1 : 2;
    header[13] = (uint8_t)bloom->shape.cell_bits;
    header[14] = (uint8_t)bloom->shape.functions;
    header[15] = (uint8_t)(bloom->hash.family + 1);
    put(header + 16, bloom->hash.family == TWIN_HASH_SIP ? 0 : bloom->hash.seed, 8);
    put(header + 24, twin__bloom_hash_check(bloom->hash), 8);
    put(header + 32, bloom->planned_items, 8);
    put(header + 40, rate, 8);
    put(header + 48, bloom->shape.cells, 8);
    put(header + 56, bloom->added, 8);
    put(header + 64, bloom->fresh, 8);
    put(header + 72, bloom->removed, 8);
    put(header + TABLE_CHECK_AT, table_check, 8);
    put(header + HEADER_CHECK_AT, XXH3_64bits(header, HEADER_CHECK_AT), 8);
}

/* Fills in all but the cells. */
static void read_header(twin_bloom *bloom, const uint8_t *header)
{
    uint64_t rate = get(header + 40, 8);
    memcpy(&bloom->planned_rate, &rate, sizeof rate);
    bloom->shape = (twin_bloom_shape){
        .layout = header[12] == 1   ? TWIN_BLOOM_BLOCKS
                  : header[12] == 2 ? TWIN_BLOOM_CLASSIC
                                    : TWIN_BLOOM_AUTO,
        .cell_bits = header[13],
        .functions = header[14],
        .cells = get(header + 48, 8),
    };
    bloom->blocks = bloom->shape.cells / BLOOM_BLOCK_CELLS;
    bloom->hash = (twin_hash){ .family = (twin_hash_family)(header[15] - 1), .seed = get(header + 16, 8) };
    bloom->planned_items = get(header + 32, 8);
    bloom->added = get(header + 56, 8);
    bloom->fresh = get(header + 64, 8);
    bloom->removed = get(header + 72, 8);
}

bool twin__bloom_is_filter(int file)
{
    char magic[sizeof MAGIC];
    return pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic && memcmp(magic, MAGIC, sizeof magic) == 0;
}

static twin_status check_header(const uint8_t *header, size_t size, const char *name, twin_error *error)
{
    size_t magic = size < sizeof MAGIC ? size : sizeof MAGIC;
    if (size == 0 || memcmp(header, MAGIC, magic) != 0)
        return twin__fail(error, TWIN_EFORMAT, "%s: is not a twinsift filter", name);
    if (size < HEADER_BYTES)
        return twin__fail_at(error, TWIN_EFORMAT, size, "%s: is truncated: it ends at byte %zu, inside the header",
                             name, size);
    uint64_t version = get(header + 8, 4);
    if (version > VERSION)
        return twin__fail_at(error, TWIN_EUNSUPPORTED, 8,
                             "%s: has version %llu of the format, and this twinsift reads up to %d", name,
                             (unsigned long long)version, VERSION);
    if (get(header + HEADER_CHECK_AT, 8) != XXH3_64bits(header, HEADER_CHECK_AT))
        return twin__fail(error, TWIN_EFORMAT, "%s: is damaged: the header does not match its checksum", name);
    return TWIN_OK;
}

/* The checksum matches, so the file is forged, or of a later version without a new version number. */
static twin_status check_fields(const twin_bloom *bloom, const uint8_t *header, const char *name, twin_error *error)
{
    static const uint8_t zero[TABLE_CHECK_AT - 80];
    bool sound = get(header + 8, 4) == VERSION && twin__bloom_shape_is_sound(bloom->shape) &&
                 twin_hash_available(bloom->hash.family) != TWIN_EINVAL && bloom->planned_items > 0 &&
                 isfinite(bloom->planned_rate) && bloom->planned_rate >= 0 && bloom->planned_rate <= 1 &&
                 memcmp(header + 80, zero, sizeof zero) == 0;
    return sound
               ? TWIN_OK
               : twin__fail_at(error, TWIN_EFORMAT, 8, "%s: is damaged: the header holds values no filter has", name);
}

static twin_status check_size(const twin_bloom *bloom, uint64_t size, const char *name, twin_error *error)
{
    uint64_t body = twin_bloom_bytes(bloom->shape), want = HEADER_BYTES + body + 8 * chunks_of(body);
    if (size < want)
        return twin__fail_at(error, TWIN_EFORMAT, size, "%s: is truncated: it has %llu bytes and should have %llu",
                             name, (unsigned long long)size, (unsigned long long)want);
    if (size > want)
        return twin__fail_at(error, TWIN_EFORMAT, want, "%s: has %llu bytes after its end at byte %llu", name,
                             (unsigned long long)(size - want), (unsigned long long)want);
    return TWIN_OK;
}

/* ---- the hash ---- */

static twin_status choose_hash(twin_bloom *bloom, const twin_hash *given, uint64_t check, const char *name,
                               twin_error *error)
{
    const char *family = twin_hash_family_name(bloom->hash.family);
    if (!given && bloom->hash.family == TWIN_HASH_SIP)
        return twin__fail_at(error, TWIN_EINVAL, 15, "%s: is keyed, and no key was given", name);
    if (given && given->family != bloom->hash.family)
        return twin__fail_at(error, TWIN_EINVAL, 15, "%s: hashes with %s, not with %s", name, family,
                             twin_hash_family_name(given->family));
    if (given && given->family != TWIN_HASH_SIP && given->seed != bloom->hash.seed)
        return twin__fail_at(error, TWIN_EINVAL, 15, "%s: hashes with %s and seed %llu, not with %s and seed %llu",
                             name, family, (unsigned long long)bloom->hash.seed, twin_hash_family_name(given->family),
                             (unsigned long long)given->seed);
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

static twin_status check_table(const uint8_t *file, uint64_t body, const char *name, twin_error *error)
{
    if (XXH3_64bits(file + HEADER_BYTES + body, 8 * chunks_of(body)) == get(file + TABLE_CHECK_AT, 8))
        return TWIN_OK;
    return twin__fail_at(error, TWIN_EFORMAT, HEADER_BYTES + body,
                         "%s: is damaged: the table of checksums at byte %llu does not match its own", name,
                         (unsigned long long)(HEADER_BYTES + body));
}

static twin_status check_cells(const uint8_t *file, uint64_t body, const char *name, twin_error *error)
{
    const uint8_t *table = file + HEADER_BYTES + body;
    for (uint64_t at = 0; at < body; at += CHUNK, table += 8) {
        size_t length = body - at < CHUNK ? body - at : CHUNK;
        if (XXH3_64bits(file + HEADER_BYTES + at, length) != get(table, 8))
            return twin__fail_at(error, TWIN_EFORMAT, HEADER_BYTES + at,
                                 "%s: is damaged: bytes %llu to %llu do not match their checksum", name,
                                 (unsigned long long)(HEADER_BYTES + at),
                                 (unsigned long long)(HEADER_BYTES + at + length - 1));
    }
    return TWIN_OK;
}

static twin_status view(twin_bloom *bloom, const uint8_t *file, size_t size, const char *name,
                        twin_bloom_open_options options, bool keyless, twin_error *error)
{
    twin_status status = check_header(file, size, name, error);
    if (status != TWIN_OK)
        return status;

    read_header(bloom, file);
    status = check_fields(bloom, file, name, error);
    if (status == TWIN_OK)
        status = check_size(bloom, size, name, error);
    uint64_t body = twin_bloom_bytes(bloom->shape);
    if (status == TWIN_OK)
        status = check_table(file, body, name, error);
    if (status == TWIN_OK && !options.trust)
        status = check_cells(file, body, name, error);
    if (status == TWIN_OK && !keyless)
        status = choose_hash(bloom, options.hash, get(file + 24, 8), name, error);
    if (status == TWIN_OK)
        bloom->words = (uint64_t *)(uintptr_t)(file + HEADER_BYTES); /* never written: bloom->writable is false */
    return status;
}

twin_status twin__bloom_view(twin_bloom **out, const void *bytes, size_t size, const char *name,
                             twin_bloom_open_options options, bool keyless, twin_error *error)
{
    *out = NULL;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return twin__fail(error, TWIN_EUNSUPPORTED, "filters in files need a little-endian machine");
    twin_bloom *bloom = calloc(1, sizeof *bloom);
    if (!bloom)
        return twin__fail(error, TWIN_ENOMEM, "%s: out of memory", name);

    bloom->lock = -1;
    twin_status status = view(bloom, bytes, size, name, options, keyless, error);
    if (status != TWIN_OK) {
        twin_bloom_free(bloom);
        return status;
    }
    *out = bloom;
    return TWIN_OK;
}

/* ---- writing ---- */

twin_status twin__bloom_write(int file, const twin_bloom *bloom, const char *name, twin_error *error)
{
    uint64_t body = twin_bloom_bytes(bloom->shape), chunks = chunks_of(body);
    uint8_t header[HEADER_BYTES], *table = malloc(8 * chunks);
    if (!table)
        return twin__fail(error, TWIN_ENOMEM, "%s: out of memory", name);

    for (uint64_t i = 0; i < chunks; i++) {
        uint64_t at = i * CHUNK;
        put(table + 8 * i, XXH3_64bits((const char *)bloom->words + at, body - at < CHUNK ? body - at : CHUNK), 8);
    }
    write_header(header, bloom, XXH3_64bits(table, 8 * chunks));
    bool written = twin__write_at(file, header, HEADER_BYTES, 0) &&
                   twin__write_at(file, bloom->words, body, HEADER_BYTES) &&
                   twin__write_at(file, table, 8 * chunks, HEADER_BYTES + body) && fsync(file) == 0;
    free(table);
    return written ? TWIN_OK : twin__fail(error, TWIN_EIO, "%s: could not be written: %m", name);
}

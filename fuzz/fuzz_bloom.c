/* fuzz_bloom.c — the reader of filter files: any bytes give a usable filter or a clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bloom/bloom_private.h"

static const twin_hash key = { TWIN_HASH_SIP, 0, { 0x3736353433323130, 0x6665646362613938 } };

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void use(const twin_bloom *bloom)
{
    twin_bloom_info info;
    twin_bloom *copy;
    twin_bloom_describe(&info, bloom);
    require(info.marked <= info.shape.cells && info.fill >= 0 && info.fill <= 1 && info.rate >= 0 && info.rate <= 1);
    require(twin_bloom_may_contain(bloom, "item 1", 6) == (twin_bloom_count(bloom, "item 1", 6) > 0));
    if (twin_bloom_copy(&copy, bloom) != TWIN_OK)
        return;
    twin_bloom_add(copy, "a new one", 9);
    require(twin_bloom_may_contain(copy, "a new one", 9));
    if (copy->shape.cell_bits > 1)
        require(twin_bloom_remove(copy, "a new one", 9));
    require(twin_bloom_unite(NULL, copy, bloom) == (bloom->grows ? TWIN_EINVAL : TWIN_OK));
    twin_bloom_free(copy);
}

static void try(const uint8_t *file, size_t size, twin_bloom_open_options options, bool keyless)
{
    twin_bloom *bloom;
    twin_error error = { 0 };
    twin_status status = twin__bloom_view(&bloom, file, size, "input", options, keyless, &error);
    require((status == TWIN_OK) == (bloom != NULL));
    require((status == TWIN_OK) == (error.message[0] == '\0'));
    require(error.offset <= size || error.offset <= 128);
    if (bloom)
        use(bloom);
    twin_bloom_free(bloom);
}

/* Corrects the checksums; otherwise a fuzzer would never get past them. */
static void mend(uint8_t *file, size_t size)
{
    enum { HEADER = 128, CHUNK = 1 << 20 };
    if (size < HEADER)
        return;
    uint64_t cells, check;
    memcpy(&cells, file + 48, 8);
    uint64_t body = cells / 8 * file[13], chunks = (body + CHUNK - 1) / CHUNK;
    if (cells < (uint64_t)1 << 40 && HEADER + body + 8 * chunks == size) {
        for (uint64_t i = 0; i < chunks; i++) {
            uint64_t at = i * CHUNK;
            check = XXH3_64bits(file + HEADER + at, body - at < CHUNK ? body - at : CHUNK);
            memcpy(file + HEADER + body + 8 * i, &check, 8);
        }
        check = XXH3_64bits(file + HEADER + body, 8 * chunks);
        memcpy(file + 112, &check, 8);
    }
    check = XXH3_64bits(file, 120);
    memcpy(file + 120, &check, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    size_t room = (length + 64) / 64 * 64; /* as a mapped file is aligned */
    uint8_t *file = aligned_alloc(64, room);
    require(file != NULL);
    memcpy(file, bytes, length);
    for (int mended = 0; mended < 2; mended++) {
        try(file, length, (twin_bloom_open_options){ 0 }, false);
        try(file, length, (twin_bloom_open_options){ .hash = &key, .trust = true }, false);
        try(file, length, (twin_bloom_open_options){ 0 }, true);
        mend(file, length);
    }
    free(file);
    return 0;
}

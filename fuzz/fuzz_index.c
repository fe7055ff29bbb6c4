/* fuzz_index.c — the records of an index: any bytes are a usable record or are refused; and any file is refused or has
 * the pages it needs.
 *
 * The first byte selects what the others are: a format, counts, a document, a set, items, a text, a run, a block, or
 * a file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "index/handle.h"
#include "sketch/set.h"
#include "store/pages.h"

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void try_format(struct twin__bytes record)
{
    twin_index_options options = { 0 };
    const char *reason;
    twin_buffer again = { 0 };
    if (twin__index_format_decode(&options, &reason, record) != TWIN_OK)
        return;
    require(twin__index_format_encode(&again, &options) == TWIN_OK);
    require(again.length == record.length && memcmp(again.bytes, record.at, 8) == 0);
    twin_buffer_clear(&again);
    free((void *)options.scheme.shingle.stop_words);
}

static void try_document(struct twin__bytes record)
{
    struct twin__index_document_record document;
    twin_buffer again = { 0 };
    if (!twin__index_document_decode(&document, record))
        return;
    require(twin__index_document_encode(&again, &document) == TWIN_OK);
    require(again.length == record.length && memcmp(again.bytes, record.at, again.length) == 0);
    twin_buffer_clear(&again);
}

static void try_set(struct twin__bytes record)
{
    struct twin__index_set_record set;
    uint32_t signature[16];
    if (twin__index_set_decode(&set, signature, 16, record))
        require(record.length == 48 + sizeof signature);
}

/* The number of items comes from elsewhere: here from the two bytes before. */
static void try_items(uint64_t count, unsigned bits, struct twin__bytes record)
{
    twin_items items = { 0 };
    twin_buffer again = { 0 };
    twin_digest digest;
    if (twin__index_items_decode(&items, count, bits, record) == TWIN_OK) {
        require(items.count == count);
        for (size_t i = 1; i < items.count; i++)
            require(items.items[i] > items.items[i - 1] || (bits < 64 && items.items[i] == items.items[i - 1]));
        require(twin__index_items_encode(&again, &digest, (twin_set){ items.items, items.count }, bits) == TWIN_OK);
        require(again.length == record.length);
    }
    twin_buffer_clear(&again);
    twin__items_clear(&items);
}

static void try_text(struct twin__bytes record)
{
    twin_buffer text = { 0 };
    void *unpacker = NULL;
    if (twin__index_text_decode(&text, &unpacker, 1 << 20, record) == TWIN_OK)
        require(text.length <= 1 << 20);
    twin__index_unpacker_free(unpacker);
    twin_buffer_clear(&text);
}

static void try_block(uint64_t set, struct twin__bytes record)
{
    struct twin__index_block block;
    struct twin__index_kept kept;
    if (!twin__index_block_decode(&block, 0, record, 1))
        return;
    size_t place = twin__index_block_find(&block, set);
    require(place <= block.count);
    for (size_t i = 0; i < block.count; i++)
        if (twin__index_block_get(&kept, &block, i))
            require((const char *)kept.bytes.at + kept.bytes.length <= (const char *)record.at + record.length);
}

static void try_file(struct twin__bytes record)
{
    twin_error error = { 0 };
    int fd = memfd_create("fuzz_index", 0);
    require(fd >= 0 && write(fd, record.at, record.length) == (ssize_t)record.length);
    twin_status status = twin__store_check_pages(fd, "input", &twin__index_schema,
                                                 (struct twin__pages_state){ TWIN__STORE_NEWEST, true }, &error);
    require((status == TWIN_OK) == (error.message[0] == '\0'));
    close(fd);
}

/* Corrects the checksum; otherwise a fuzzer would never get past it. */
static void mend(uint8_t *record, size_t length, unsigned kind)
{
    uint64_t check;
    if (kind == 0 && length >= TWIN__INDEX_FORMAT_BYTES) {
        check = XXH3_64bits_withSeed(record + TWIN__INDEX_FORMAT_BYTES, length - TWIN__INDEX_FORMAT_BYTES,
                                     XXH3_64bits(record, 120));
        memcpy(record + 120, &check, 8);
    } else if (kind == 4 && length >= 4) {
        check = twin__index_kept_digest((struct twin__bytes){ record, length }).low;
        memcpy(record, &check, 4);
    } else if (kind >= 2 && kind <= 5 && length >= 4) {
        check = XXH3_64bits(record + 4, length - 4);
        memcpy(record, &check, 4);
    } else if (kind == 7 && length >= 8) {
        uint32_t count;
        memcpy(&count, record + 4, 4);
        check = XXH3_64bits(record + 4, count <= (length - 8) / 8 ? 4 + 8 * (size_t)count : 4);
        memcpy(record, &check, 4);
    }
}

static void try(unsigned kind, uint64_t count, struct twin__bytes record)
{
    struct twin__index_counts counts;
    struct twin__index_run run;
    switch (kind) {
    case 0: try_format(record); break;
    case 1: twin__index_counts_decode(&counts, record); break;
    case 2: try_document(record); break;
    case 3: try_set(record); break;
    case 4: try_items(count, count % 2 ? 35 : 64, record); break;
    case 5: try_text(record); break;
    case 6: twin__index_run_decode(&run, count, record); break;
    case 7: try_block(count, record); break;
    default: try_file(record); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { HEAD = 3 };
    if (length < HEAD)
        return 0;
    unsigned kind = bytes[0] % 9;
    uint64_t count = bytes[1] | (uint64_t)bytes[2] << 8;
    uint8_t *record = malloc(length - HEAD + 1);
    require(record != NULL);
    memcpy(record, bytes + HEAD, length - HEAD);
    try(kind, count, (struct twin__bytes){ record, length - HEAD });
    mend(record, length - HEAD, kind);
    try(kind, count, (struct twin__bytes){ record, length - HEAD });
    free(record);
    return 0;
}

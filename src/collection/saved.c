/* saved.c — a collection in a file, and one or several files as a collection again.
 *
 * The file has the scheme, a note of the caller, and the documents in blocks: entries, ids, signatures
 * (docs/format.md). Files are read as if their inputs had been read one after the other: sources are numbered on, and
 * exact copies are found among all documents. */
#include <stdlib.h>
#include <string.h>

#include "base/checked_stream.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/random.h"
#include "base/stages.h"
#include "collection/collection_private.h"
#include "collection/contents.h"

static const char MAGIC[] = "TWINSIG1";

enum {
    BLOCK_DOCUMENTS = 4096,
    ENTRY_BYTES = 64,
    MOST_SCHEME = 1 << 20, /* bytes, as of the note: with stop words */
    MOST_IDS = 1 << 30,    /* bytes, of a block */
    COUNTS = 7
};

/* ---- entries ---- */

static void put_number(unsigned char **at, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (unsigned char)(number >> (8 * i));
}

static uint64_t get_number(const unsigned char **at, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++)
        number |= (uint64_t) * (*at)++ << (8 * i);
    return number;
}

static void encode_entry(unsigned char out[ENTRY_BYTES], const struct twin__entry *entry, size_t first_id)
{
    memset(out, 0, ENTRY_BYTES);
    put_number(&out, entry->position.offset, 8);
    put_number(&out, entry->position.line, 8);
    put_number(&out, entry->position.source, 4);
    put_number(&out, entry->position.length, 4);
    put_number(&out, entry->digest.low, 8);
    put_number(&out, entry->digest.high, 8);
    put_number(&out, entry->id - first_id, 8);
    put_number(&out, entry->id_length, 4);
    put_number(&out, entry->size, 4);
    put_number(&out, entry->has_id, 1);
    put_number(&out, entry->is_number, 1);
    put_number(&out, entry->is_short, 1);
    put_number(&out, entry->is_empty, 1);
    put_number(&out, entry->is_long, 1);
}

static struct twin__entry decode_entry(const unsigned char *bytes)
{
    struct twin__entry entry = { 0 };
    entry.position.offset = get_number(&bytes, 8);
    entry.position.line = get_number(&bytes, 8);
    entry.position.source = (uint32_t)get_number(&bytes, 4);
    entry.position.length = (uint32_t)get_number(&bytes, 4);
    entry.digest.low = get_number(&bytes, 8);
    entry.digest.high = get_number(&bytes, 8);
    entry.id = get_number(&bytes, 8);
    entry.id_length = (uint32_t)get_number(&bytes, 4);
    entry.size = (uint32_t)get_number(&bytes, 4);
    entry.has_id = get_number(&bytes, 1);
    entry.is_number = get_number(&bytes, 1);
    entry.is_short = get_number(&bytes, 1);
    entry.is_empty = get_number(&bytes, 1);
    entry.is_long = get_number(&bytes, 1);
    return entry;
}

/* ---- writing ---- */

static void list_counts(uint64_t out[COUNTS], const twin_collection_counts *counts)
{
    const uint64_t list[COUNTS] = { counts->unspaced, counts->too_short,  counts->problems, counts->repeated_ids,
                                    counts->replaced, counts->ill_formed, counts->bytes };
    memcpy(out, list, sizeof list);
}

static void add_counts(twin_collection_counts *counts, const uint64_t more[COUNTS])
{
    counts->unspaced += more[0];
    counts->too_short += more[1];
    counts->problems += more[2];
    counts->repeated_ids += more[3];
    counts->replaced += more[4];
    counts->ill_formed += more[5];
    counts->bytes += more[6];
}

static void put_signature(struct twin__checked_stream *stream, const uint32_t *signature, size_t slots)
{
    enum { AT_ONCE = 64 };
    unsigned char bytes[4 * AT_ONCE];
    for (size_t slot = 0; slot < slots;) {
        unsigned char *at = bytes;
        for (size_t end = slot + AT_ONCE; slot < end && slot < slots; slot++)
            put_number(&at, signature[slot], 4);
        twin__checked_bytes(stream, bytes, (size_t)(at - bytes));
    }
}

/* Ids of neighbouring documents are near each other, but not in their order: names made from lines come after the ids
 * of a chunk of the input. */
static void put_block(struct twin__checked_stream *stream, const twin_collection *collection, size_t begin,
                      size_t end)
{
    size_t ids = 0, first_id = SIZE_MAX;
    for (size_t i = begin; i < end; i++) {
        const struct twin__entry *entry = twin__entry_of(collection, (uint32_t)i);
        if (entry->id + entry->id_length > ids)
            ids = entry->id + entry->id_length;
        if (entry->id < first_id)
            first_id = entry->id;
    }
    twin__checked_number(stream, end - begin);
    for (size_t i = begin; i < end; i++) {
        unsigned char bytes[ENTRY_BYTES];
        encode_entry(bytes, twin__entry_of(collection, (uint32_t)i), first_id);
        twin__checked_bytes(stream, bytes, sizeof bytes);
    }
    twin__checked_put_text(stream, (twin_text){ collection->ids.bytes + first_id, ids - first_id });
    for (size_t i = begin; i < end; i++)
        put_signature(stream, twin__signature_of(collection, i), collection->slots);
}

twin_status twin_collection_write(const twin_collection *collection, twin_text note, twin_sink sink,
                                  twin_error *error)
{
    if (!collection || !sink.write)
        return twin__fail_null(error, collection ? "sink.write" : "collection");
    if (collection->rows || collection->texts)
        return twin__fail(error, TWIN_EINVAL, "only signed documents can be written");
    twin_buffer scheme = { 0 };
    twin_status status = twin_scheme_write(&scheme, twin__collection_scheme(collection));
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    uint64_t counts[COUNTS];
    struct twin__checked_stream stream;
    twin__checked_write(&stream, sink, MAGIC, error);
    twin__checked_put_text(&stream, (twin_text){ scheme.bytes, scheme.length });
    twin__checked_put_text(&stream, note);
    twin__checked_number(&stream, twin_input_sources(collection->input));
    list_counts(counts, &collection->counts);
    for (int i = 0; i < COUNTS; i++)
        twin__checked_number(&stream, counts[i]);
    for (size_t begin = 0; begin < collection->count; begin += BLOCK_DOCUMENTS) {
        size_t end = begin + BLOCK_DOCUMENTS;
        put_block(&stream, collection, begin, end < collection->count ? end : collection->count);
    }
    twin__checked_number(&stream, 0);
    twin_buffer_clear(&scheme);
    return twin__checked_close(&stream, TWIN_OK);
}

/* ---- reading ---- */

twin_status twin_collection_read_note(twin_buffer *note, twin_source source, twin_error *error)
{
    if (!note || !source.read)
        return twin__fail_null(error, note ? "source.read" : "note");
    struct twin__checked_stream stream;
    twin_buffer scheme = { 0 };
    note->length = 0;
    twin__checked_read(&stream, source, MAGIC, error);
    twin__checked_get_text(&scheme, &stream, MOST_SCHEME);
    twin__checked_get_text(note, &stream, MOST_SCHEME);
    twin_buffer_clear(&scheme);
    twin__checked_close(&stream, TWIN_ESTOPPED); /* the rest, and with it the checksum, is left for later */
    return stream.status;
}

/* What is needed on the way. */
struct loading {
    twin_collection *collection;
    struct twin__checked_stream stream;
    uint64_t sources; /* of the files before, and of this one */
    uint64_t first_source;
    twin_buffer scheme, words, ids;
    struct twin__entry *entries;
    uint32_t *signatures;
};

/* The first file says how all are signed. */
static twin_status load_scheme(struct loading *loading, twin_error *error)
{
    twin_buffer line = { 0 };
    twin__checked_get_text(&line, &loading->stream, MOST_SCHEME);
    twin_status status = loading->stream.status;
    if (status == TWIN_OK && !loading->collection->signer) {
        twin_scheme scheme;
        status = twin_scheme_read(&scheme, &loading->words, (twin_text){ line.bytes, line.length }, error);
        if (status == TWIN_OK)
            status = twin__collection_sign_by(loading->collection, &scheme, error);
        loading->scheme = line;
        return status;
    }
    if (status == TWIN_OK &&
        (line.length != loading->scheme.length || memcmp(line.bytes, loading->scheme.bytes, line.length) != 0))
        status =
            twin__fail(error, TWIN_EINVAL, "signed by another scheme, with other options, than the files before it");
    twin_buffer_clear(&line);
    return status;
}

static twin_status load_head(struct loading *loading, twin_error *error)
{
    struct twin__checked_stream *stream = &loading->stream;
    twin_buffer note = { 0 };
    uint64_t counts[COUNTS];
    twin__checked_get_text(&note, stream, MOST_SCHEME);
    twin_buffer_clear(&note);
    uint64_t sources = twin__checked_number(stream, 0);
    for (int i = 0; i < COUNTS; i++)
        counts[i] = twin__checked_number(stream, 0);
    if (stream->status != TWIN_OK)
        return stream->status;
    if (sources > twin_input_sources(loading->collection->input) - loading->sources)
        return twin__fail(error, TWIN_EINVAL, "written from %llu inputs, which were not all given",
                          (unsigned long long)sources);
    loading->first_source = loading->sources;
    loading->sources += sources;
    add_counts(&loading->collection->counts, counts);
    return TWIN_OK;
}

static twin_status load_entries(struct loading *loading, size_t count)
{
    struct twin__checked_stream *stream = &loading->stream;
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[ENTRY_BYTES];
        twin__checked_bytes(stream, bytes, sizeof bytes);
        loading->entries[i] = decode_entry(bytes);
        uint64_t source = loading->first_source + loading->entries[i].position.source;
        if (stream->status != TWIN_OK || source >= loading->sources)
            return twin__checked_fail(stream, "a document is in none of the inputs");
        loading->entries[i].position.source = (uint32_t)source;
    }
    loading->ids.length = 0;
    twin__checked_get_text(&loading->ids, stream, MOST_IDS);
    for (size_t i = 0; i < count; i++) {
        const struct twin__entry *entry = &loading->entries[i];
        if (entry->id > loading->ids.length || entry->id_length > loading->ids.length - entry->id)
            return twin__checked_fail(stream, "an id lies outside the block of ids");
    }
    return stream->status;
}

static twin_status load_signatures(struct loading *loading, size_t count)
{
    size_t slots = count * loading->collection->slots;
    twin__checked_bytes(&loading->stream, loading->signatures, slots * sizeof(uint32_t));
    for (size_t i = 0; i < slots; i++) {
        unsigned char bytes[4];
        const unsigned char *at = bytes;
        memcpy(bytes, &loading->signatures[i], sizeof bytes);
        loading->signatures[i] = (uint32_t)get_number(&at, sizeof bytes);
    }
    return loading->stream.status;
}

static twin_status load_blocks(struct loading *loading, twin_error *error)
{
    size_t slots = loading->collection->slots;
    if (!loading->entries) {
        loading->entries = malloc(BLOCK_DOCUMENTS * sizeof *loading->entries);
        loading->signatures = malloc(BLOCK_DOCUMENTS * slots * sizeof *loading->signatures);
    }
    if (!loading->entries || !loading->signatures)
        return twin__fail_memory(error);
    for (;;) {
        uint64_t count = twin__checked_number(&loading->stream, 0);
        if (count == 0)
            return loading->stream.status;
        twin_status status = twin__poll();
        if (status != TWIN_OK)
            return twin__fail_status(error, status);
        if (count > BLOCK_DOCUMENTS)
            return twin__checked_fail(&loading->stream, "a block is too large");
        status = load_entries(loading, count);
        if (status == TWIN_OK)
            status = load_signatures(loading, count);
        struct twin__more_documents more = {
            loading->entries, loading->signatures, count, { loading->ids.bytes, loading->ids.length }
        };
        if (status == TWIN_OK)
            status = twin__collection_append(loading->collection, &more, error);
        if (status != TWIN_OK)
            return status;
    }
}

static twin_status load_file(struct loading *loading, twin_source source, twin_error *error)
{
    twin__checked_read(&loading->stream, source, MAGIC, error);
    twin_status status = load_scheme(loading, error);
    if (status == TWIN_OK)
        status = load_head(loading, error);
    if (status == TWIN_OK)
        status = load_blocks(loading, error);
    return twin__checked_close(&loading->stream, status);
}

static twin_status load_all(struct loading *loading, const twin_source *sources, size_t count, size_t *at,
                            twin_error *error)
{
    twin_status status = TWIN_OK;
    for (*at = 0; *at < count && status == TWIN_OK; *at += status == TWIN_OK)
        status = load_file(loading, sources[*at], error);
    if (status == TWIN_OK && loading->sources != twin_input_sources(loading->collection->input))
        status = twin__fail(error, TWIN_EINVAL, "more inputs were given than the files were written from");
    twin_buffer_clear(&loading->scheme);
    twin_buffer_clear(&loading->words);
    twin_buffer_clear(&loading->ids);
    free(loading->entries);
    free(loading->signatures);
    return status;
}

static twin_status load_collection(twin_collection **out, const twin_input *input, twin_saved_files saved,
                                   twin_collection_options options, twin_error *error)
{
    if (!out || !input || !saved.sources || !saved.count)
        return twin__fail_null(error, !out ? "out" : !input ? "input" : "saved.sources");
    twin_status status = twin__exec_complete(&options.exec, error);
    if (status != TWIN_OK)
        return status;
    size_t at;
    struct loading loading = { 0 };
    status = twin__collection_create(&loading.collection, input, &options, error);
    if (status == TWIN_OK)
        status = load_all(&loading, saved.sources, saved.count, saved.failed ? saved.failed : &at, error);
    if (status == TWIN_OK)
        status = twin__collection_append_end(loading.collection, error);
    if (status == TWIN_OK)
        status = twin__find_exact_copies(loading.collection, options.exec, error);
    if (status != TWIN_OK) {
        twin_collection_free(loading.collection);
        return twin__fail_status(error, status);
    }
    *out = loading.collection;
    return TWIN_OK;
}

twin_status twin_collection_load(twin_collection **out, const twin_input *input, twin_saved_files saved,
                                 twin_collection_options options, twin_error *error)
{
    if (out)
        *out = NULL;
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_loading);
    twin_status status = load_collection(out, input, saved, options, error);
    status = twin__watch_end(&watch, status, error);
    if (status != TWIN_OK && out) {
        twin_collection_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- identifying collections ---- */

twin_status twin__collection_fingerprint(uint64_t *out, const twin_collection *collection)
{
    if (!out || !collection)
        return twin__fail_null(NULL, out ? "collection" : "out");
    twin_buffer scheme = { 0 };
    twin_status status = twin_scheme_write(&scheme, twin__collection_scheme(collection));
    uint64_t mixed = twin_hash_bytes((twin_hash){ .family = TWIN_HASH_XXH3 }, scheme.bytes, scheme.length);
    twin_buffer_clear(&scheme);
    for (size_t i = 0; i < collection->count; i++) {
        twin_digest digest = twin__entry_of(collection, (uint32_t)i)->digest;
        mixed = twin__mix(mixed ^ digest.low) + digest.high;
    }
    *out = twin__mix(mixed + collection->count);
    return status;
}

/* index.c — an index is created, opened, closed and compacted here, and every change of it begins and ends here.
 *
 * The store knows tables and transactions; this file knows which tables an index has, and the two records of "meta":
 * the format, written once, and the counts, written by every transaction. The counts carry the number of their
 * transaction, so that a file with pages of two different ages is noticed. */
#include <twinsift/index.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "index/blocks.h"
#include "index/verified.h"

static const struct twin__store_table tables[TWIN__INDEX_TABLES] = {
    [TWIN__INDEX_META] = { "meta", TWIN__STORE_NAMES },
    [TWIN__INDEX_DOCUMENTS] = { "documents", TWIN__STORE_NUMBERS },
    [TWIN__INDEX_ID_RUNS] = { "id-runs", TWIN__STORE_NUMBERS },
    [TWIN__INDEX_IDS] = { "ids", TWIN__STORE_NUMBERS },
    [TWIN__INDEX_SETS] = { "sets", TWIN__STORE_NUMBERS },
    [TWIN__INDEX_MEMBERS] = { "members", TWIN__STORE_LISTS },
    [TWIN__INDEX_KEPT] = { "kept", TWIN__STORE_NUMBERS },
    [TWIN__INDEX_RUNS] = { "runs", TWIN__STORE_NUMBERS },
    [TWIN__INDEX_BANDS] = { "bands", TWIN__STORE_NUMBERS },
};
static const char *const names[] = { [TWIN__INDEX_META_FORMAT] = "format", [TWIN__INDEX_META_COUNTS] = "counts" };
const struct twin__store_schema twin__index_schema = { "an index", tables, TWIN__INDEX_TABLES, names };

twin_status twin__index_fail_damaged(twin_error *error, const twin_index *index, const char *what)
{
    return twin__store_fail_damaged(error, index->store, what);
}

uint32_t twin__index_id_hash(const twin_index *index, twin_text id)
{
    return (uint32_t)(twin_hash_bytes(index->options.scheme.shingle.hash, id.bytes, id.length) >> 32);
}

uint32_t twin__index_digest_hash(twin_digest digest)
{
    return (uint32_t)(digest.low >> 32);
}

/* ---- transactions ---- */

twin_status twin__index_get_counts(struct twin__index_counts *out, const twin_index *index, twin__store_txn *txn,
                                   twin_error *error)
{
    struct twin__bytes record;
    twin_status status = twin__store_get(&record, txn, TWIN__INDEX_META, TWIN__INDEX_META_COUNTS, error);
    if (status != TWIN_OK)
        return status;
    if (!record.at || !twin__index_counts_decode(out, record))
        return twin__index_fail_damaged(error, index, "its counts do not fit their checksum");
    return TWIN_OK;
}

static twin_status get_record(struct twin__bytes *out, bool *found, struct twin__index_source source,
                              enum twin__index_table table, uint64_t number, twin_error *error)
{
    twin_status status = twin__store_get(out, source.txn, table, number, error);
    if (found)
        *found = out->at != NULL;
    return status == TWIN_OK && !out->at && !found
               ? twin__index_fail_damaged(error, source.index, "a record that is referred to is missing")
               : status;
}

twin_status twin__index_get_set(struct twin__index_set_record *out, bool *found, uint32_t *signature,
                                struct twin__index_source source, uint64_t number, twin_error *error)
{
    struct twin__bytes value;
    twin_status status = get_record(&value, found, source, TWIN__INDEX_SETS, number, error);
    if (status != TWIN_OK || !value.at)
        return status;
    return twin__index_set_decode(out, signature, twin__index_slots(&source.index->options), value)
               ? TWIN_OK
               : twin__index_fail_damaged(error, source.index, "a signature does not fit its checksum");
}

twin_status twin__index_get_document(struct twin__index_document_record *out, bool *found,
                                     struct twin__index_source source, uint64_t number, twin_error *error)
{
    struct twin__bytes value;
    twin_status status = get_record(&value, found, source, TWIN__INDEX_DOCUMENTS, number, error);
    if (status != TWIN_OK || !value.at)
        return status;
    return twin__index_document_decode(out, value)
               ? TWIN_OK
               : twin__index_fail_damaged(error, source.index, "a document does not fit its checksum");
}

static twin_status put_counts(twin__store_txn *txn, struct twin__index_counts counts, twin_error *error)
{
    unsigned char record[TWIN__INDEX_COUNTS_BYTES];
    counts.transaction = twin__store_number(txn);
    twin__index_counts_encode(record, &counts);
    return twin__store_put(txn, TWIN__INDEX_META, TWIN__INDEX_META_COUNTS,
                           (struct twin__bytes){ record, sizeof record }, TWIN__STORE_SET, error);
}

struct change {
    twin_index *index;
    twin__index_write *write;
    void *context;
};

static twin_status write_change(twin__store_txn *txn, void *context, twin_error *error)
{
    const struct change *change = context;
    struct twin__index_writing writing = { .index = change->index, .txn = txn, .error = error };
    twin_status status = twin__index_get_counts(&writing.counts, change->index, txn, error);
    if (status == TWIN_OK)
        status = change->write(&writing, change->context);
    return status == TWIN_OK ? put_counts(txn, writing.counts, error) : status;
}

twin_status twin__index_transact(twin_index *index, twin__index_write *write, void *context, twin_error *error)
{
    struct change change = { index, write, context };
    return twin__store_transact(index->store, write_change, &change, error);
}

/* ---- opening ---- */

static twin_status read_format(twin_index *index, twin__store_txn *txn, twin_error *error)
{
    struct twin__bytes record;
    twin_status status = twin__store_get(&record, txn, TWIN__INDEX_META, TWIN__INDEX_META_FORMAT, error);
    if (status != TWIN_OK)
        return status;
    const char *reason = "is not an index of twinsift";
    status = record.at ? twin__index_format_decode(&index->options, &reason, record) : TWIN_EFORMAT;
    index->stop_words = index->options.scheme.shingle.stop_words;
    if (status == TWIN_OK)
        index->version = twin__index_format_version(record);
    if (status == TWIN_EFORMAT || status == TWIN_EUNSUPPORTED)
        return twin__fail(error, status, "%s: %s", index->path, reason);
    struct twin__index_counts counts = { 0 };
    if (status == TWIN_OK)
        status = twin__index_get_counts(&counts, index, txn, error);
    if (status == TWIN_OK && counts.transaction != twin__store_number(txn))
        return twin__index_fail_damaged(error, index, "its counts are not those of its last transaction");
    return status;
}

static twin_status prepare_handle(twin_index *index, twin_error *error)
{
    twin_error reason = { 0 };
    twin_status status = twin_signer_create(&index->signer, &index->options.scheme, &reason);
    if (status != TWIN_OK)
        return twin__fail(error, status, "%s: %s", index->path, reason.message);
    index->options.scheme = *twin_signer_scheme(index->signer); /* from here on its own stop words */
    return TWIN_OK;
}

void twin_index_close(twin_index *index)
{
    if (!index)
        return;
    twin__store_close(index->store);
    twin_signer_free(index->signer);
    free((void *)index->stop_words);
    twin__index_verified_clear(index->verified);
    free(index->verified);
    free(index);
}

static twin_status read_index(twin_index *index, twin_error *error)
{
    twin__store_txn *txn;
    twin_status status = twin__store_begin_read(&txn, index->store, error);
    if (status != TWIN_OK)
        return status;
    status = read_format(index, txn, error);
    twin__store_end_read(txn);
    return status == TWIN_OK ? prepare_handle(index, error) : status;
}

static twin_status open_index(twin_index **out, const char *path, enum twin__store_access access, twin_error *error)
{
    twin_index *index = calloc(1, sizeof *index);
    struct twin__index_verified *verified = malloc(sizeof *verified);
    *out = NULL;
    if (!index || !verified) {
        free(index);
        free(verified);
        return twin__fail_memory(error);
    }
    index->verified = verified;
    twin__index_verified_init(verified);
    twin_status status = twin__store_open(&index->store, path, &twin__index_schema, access, error);
    if (status == TWIN_OK) {
        index->path = twin__store_path(index->store);
        status = read_index(index, error);
    }
    if (status != TWIN_OK) {
        twin_index_close(index);
        return status;
    }
    *out = index;
    return TWIN_OK;
}

twin_status twin_index_open(twin_index **out, const char *path, twin_index_access access, twin_error *error)
{
    if (!out || !path)
        return twin__fail_null(error, out ? "path" : "out");
    *out = NULL;
    if ((unsigned)access > TWIN_INDEX_WRITE)
        return twin__fail(error, TWIN_EINVAL, "unknown access %d", (int)access);
    return open_index(out, path, access == TWIN_INDEX_WRITE ? TWIN__STORE_WRITE : TWIN__STORE_READ, error);
}

twin_index_options twin_index_options_of(const twin_index *index)
{
    return index ? index->options : (twin_index_options){ 0 };
}

/* ---- creating ---- */

/* Texts by edit distance: the scheme is that of their q-grams, and a tree of the forest has a fixed depth. */
enum { DEFAULT_GRAMS = 4, DEFAULT_SLOTS = 64 };

static twin_status complete_edits(twin_index_options *options, twin_error *error)
{
    twin_scheme *scheme = &options->scheme;
    if (options->edits > TWIN_INDEX_MOST_EDITS)
        return twin__fail(error, TWIN_EINVAL, "edits must be 0 to %d, not %zu", (int)TWIN_INDEX_MOST_EDITS,
                          options->edits);
    if (options->format != TWIN_INPUT_DOCUMENTS)
        return twin__fail(error, TWIN_EINVAL, "sets have no text to compare by edits");
    if (scheme->shingle.kind == TWIN_SHINGLE_AUTO)
        scheme->shingle.kind = TWIN_SHINGLE_CHAR;
    if (scheme->shingle.kind != TWIN_SHINGLE_CHAR)
        return twin__fail(error, TWIN_EINVAL, "edits are of characters, so shingles must be, too");
    if (scheme->multiset)
        return twin__fail(error, TWIN_EINVAL, "texts that are compared by edits are no multisets");
    if (scheme->shingle.width == 0)
        scheme->shingle.width = DEFAULT_GRAMS;
    if (scheme->minhash.slots == 0)
        scheme->minhash.slots = DEFAULT_SLOTS;
    if (scheme->minhash.slots < TWIN__INDEX_LEVELS)
        return twin__fail(error, TWIN_EINVAL, "a tree needs %d slots", (int)TWIN__INDEX_LEVELS);
    scheme->plan = (twin_plan){ scheme->minhash.slots / TWIN__INDEX_LEVELS, TWIN__INDEX_LEVELS };
    options->keep = TWIN_KEEP_TEXT;
    return TWIN_OK;
}

static twin_status complete_options(twin_index_options *options, twin_error *error)
{
    twin_status status = twin__check_reserved(error, options->reserved, "an index");
    if (status == TWIN_OK && options->by_edits)
        status = complete_edits(options, error);
    if (status != TWIN_OK)
        return status;
    if (!options->by_edits)
        options->edits = 0;
    if (options->format == TWIN_INPUT_SETS && options->keep == TWIN_KEEP_TEXT)
        return twin__fail(error, TWIN_EINVAL, "sets have no text to keep");
    if (options->scheme.measure != TWIN_JACCARD)
        return twin__fail(error, TWIN_EINVAL, "an index finds documents by their Jaccard similarity only");
    return twin_scheme_complete(&options->scheme, error);
}

static twin_status write_empty(twin__store_txn *txn, void *context, twin_error *error)
{
    const twin_buffer *format = context;
    twin_status status =
        twin__store_put(txn, TWIN__INDEX_META, TWIN__INDEX_META_FORMAT,
                        (struct twin__bytes){ format->bytes, format->length }, TWIN__STORE_SET, error);
    return status == TWIN_OK ? put_counts(txn, (struct twin__index_counts){ 0 }, error) : status;
}

/* What cannot be used is refused before there is a file. */
static twin_status try_options(const char *path, twin_index_options options, twin_error *error)
{
    twin_index index = { .path = path, .options = options };
    twin_status status = prepare_handle(&index, error);
    twin_signer_free(index.signer);
    return status;
}

twin_status twin_index_create(const char *path, twin_index_options options, bool replace, twin_error *error)
{
    if (!path)
        return twin__fail_null(error, "path");
    twin_buffer format = { 0 };
    twin_status status = complete_options(&options, error);
    if (status == TWIN_OK)
        status = try_options(path, options, error);
    if (status != TWIN_OK)
        return status;
    status = twin__index_format_encode(&format, &options);
    bool secret = options.scheme.shingle.hash.family == TWIN_HASH_SIP; /* its key is in the file */
    status = status == TWIN_OK
                 ? twin__store_create(path, &twin__index_schema,
                                      (struct twin__store_create_options){ .replace = replace, .secret = secret },
                                      write_empty, &format, error)
                 : twin__fail(error, status, "%s: %s", path, twin_status_text(status));
    twin_buffer_clear(&format);
    return status;
}

/* ---- compacting ---- */

static twin_status clear_removed(struct twin__index_writing *writing, void *context)
{
    (void)context;
    twin_status status = twin__index_runs_merge_all(writing, TWIN__INDEX_POSTINGS_OF_SETS);
    if (status == TWIN_OK)
        status = twin__index_runs_merge_all(writing, TWIN__INDEX_POSTINGS_OF_IDS);
    return status == TWIN_OK ? twin__index_blocks_compact(writing) : status;
}

/* The counts carry the number of the transaction. */
static twin_status touch_counts(twin__store_txn *txn, void *context, twin_error *error)
{
    struct twin__index_counts counts = { 0 };
    twin_status status = twin__index_get_counts(&counts, context, txn, error);
    return status == TWIN_OK ? put_counts(txn, counts, error) : status;
}

static twin_status compact_file(const char *path, twin_error *error)
{
    twin_index *index;
    twin_status status = open_index(&index, path, TWIN__STORE_COMPACT, error);
    if (status == TWIN_OK)
        status = twin__index_transact(index, clear_removed, NULL, error);
    if (status == TWIN_OK)
        status = twin__store_compact(index->store, touch_counts, index, error);
    twin_index_close(index);
    return status;
}

twin_status twin_index_compact(const char *path, twin_progress progress, twin_error *error)
{
    if (!path)
        return twin__fail_null(error, "path");
    struct twin__watch watch;
    twin__watch_begin(&watch, progress, &twin__stage_compacting);
    return twin__watch_end(&watch, compact_file(path, error), error);
}

/* candidates_file.c — the candidates of some of the bands, files of them, and those of all parts put together.
 *
 * A part has the candidate pairs of its bands and, for large buckets, which documents they connect and how many of
 * their pairs pass the gate. Read together, pairs are lists one after the other, with repeats, and connections are united: what all
 * bands at once would have given, once the engine has sorted it. */
#include <twinsift/dedup.h>

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "dedup/step_file.h"
#include "join/similar_private.h"

static const char MAGIC[] = "TWINCND4";

static twin_status create(struct twin__step_candidates **out, const twin_collection *collection, twin_part part,
                          twin_error *error)
{
    struct twin__step_candidates *candidates = calloc(1, sizeof *candidates);
    if (!candidates)
        return twin__fail_memory(error);
    candidates->part = part;
    candidates->documents = twin_collection_count(collection).documents;
    twin_status status = twin__collection_fingerprint(&candidates->fingerprint, collection);
    if (status != TWIN_OK) {
        free(candidates);
        return twin__fail_status(error, status);
    }
    *out = candidates;
    return TWIN_OK;
}

void twin__step_candidates_free(struct twin__step_candidates *candidates)
{
    if (!candidates)
        return;
    twin__bands_found_clear(&candidates->found);
    free(candidates);
}

/* ---- finding ---- */

static twin_status check_part(const twin_collection *collection, const twin_similar_options *options, twin_part part,
                              twin_error *error)
{
    if (options->threshold != 0 || twin__collection_scheme(collection)->measure != TWIN_JACCARD ||
        twin__collection_slots(collection) == 0)
        return twin__fail(error, TWIN_EINVAL,
                          "candidates are found in parts by the scheme of the collection, and by Jaccard similarity");
    if (part.of > 0 && part.number >= part.of)
        return twin__fail(error, TWIN_EINVAL, "there is no part %" PRIu32 " of %" PRIu32, part.number, part.of);
    return TWIN_OK;
}

/* Workers find in an order of their own; files must be the same however many there were. */
static twin_status put_in_order(struct twin__bands_found *found, size_t documents)
{
    for (size_t i = 0; found->loose && i < documents; i++) {
        found->loose[i] = twin__union_root(found->loose, (uint32_t)i);
        found->dense[i] = twin__union_root(found->dense, (uint32_t)i);
    }
    twin__large_buckets_sort(found->buckets, found->bucket_count);
    return twin__pairs_sort_unique(&found->pairs, NULL);
}

static twin_status find_bands(struct twin__step_candidates *candidates, const twin_collection *collection,
                              const twin_similar_options *options)
{
    struct twin__provider provider = { 0 };
    twin_status status = twin__collection_provider(&provider, collection, NULL, options->exec.workers);
    if (status == TWIN_OK)
        status = twin__engine_find_bands(&candidates->found, &provider, options, candidates->part);
    if (status == TWIN_OK)
        status = put_in_order(&candidates->found, candidates->documents);
    twin__collection_provider_clear(&provider);
    return status;
}

static twin_status find_part(struct twin__step_candidates **out, const twin_collection *collection,
                             twin_similar_options options, twin_part part, twin_error *error)
{
    if (!collection)
        return twin__fail_null(error, "collection");
    struct twin__step_candidates *candidates = NULL;
    twin_status status = check_part(collection, &options, part, error);
    if (status == TWIN_OK)
        status = twin__similar_complete(&options, twin__collection_scheme(collection), error);
    if (status == TWIN_OK)
        status = create(&candidates, collection, part, error);
    if (!candidates)
        return status;
    status = find_bands(candidates, collection, &options);
    if (status != TWIN_OK) {
        twin__step_candidates_free(candidates);
        return twin__fail_status(error, status);
    }
    *out = candidates;
    return TWIN_OK;
}

twin_status twin__step_candidates_find(struct twin__step_candidates **out, const twin_collection *collection,
                                       twin_similar_options options, twin_part part, twin_error *error)
{
    struct twin__watch watch;
    *out = NULL;
    twin__watch_begin(&watch, options.progress, &twin__stage_pairing);
    twin_status status = find_part(out, collection, options, part, error);
    status = twin__watch_end(&watch, status, error);
    if (status != TWIN_OK) {
        twin__step_candidates_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing ---- */

/* Documents that are united, each with the one above it. */
static void put_unions(struct twin__checked_stream *stream, const uint32_t *group, size_t documents)
{
    uint64_t count = 0;
    for (size_t i = 0; group && i < documents; i++)
        count += group[i] != i;
    twin__checked_number(stream, group != NULL);
    twin__checked_number(stream, count);
    for (size_t i = 0; group && i < documents; i++)
        if (group[i] != i)
            twin__checked_number(stream, (uint64_t)i << 32 | group[i]);
}

twin_status twin__step_candidates_write(const struct twin__step_candidates *candidates, twin_sink sink,
                                        twin_error *error)
{
    const struct twin__bands_found *found = &candidates->found;
    struct twin__checked_stream stream;
    struct twin__step_files kind = { MAGIC, candidates->fingerprint };
    twin__step_begin(&stream, sink, &kind, candidates->part, error);
    twin__checked_number(&stream, found->seen);
    twin__checked_number(&stream, found->pairs.count);
    for (size_t i = 0; i < found->pairs.count; i++)
        twin__checked_number(&stream, found->pairs.items[i]);
    put_unions(&stream, found->loose, candidates->documents);
    put_unions(&stream, found->dense, candidates->documents);
    twin__checked_number(&stream, found->bucket_count);
    for (size_t i = 0; i < found->bucket_count; i++) {
        twin__checked_number(&stream, found->buckets[i].document);
        twin__checked_number(&stream, found->buckets[i].is_dense);
        twin__checked_real(&stream, found->buckets[i].meetings);
        twin__checked_real(&stream, found->buckets[i].passing);
    }
    return twin__checked_close(&stream, TWIN_OK);
}

/* ---- reading ---- */

static twin_status get_pairs(struct twin__checked_stream *stream, struct twin__step_candidates *candidates)
{
    candidates->found.seen += twin__checked_number(stream, 0);
    for (uint64_t left = twin__checked_number(stream, 0); left > 0; left--) {
        uint64_t pair = twin__checked_number(stream, 0);
        if (twin__pair_high(pair) >= candidates->documents || twin__pair_low(pair) >= twin__pair_high(pair))
            return twin__checked_fail(stream, "a pair of documents that do not exist");
        if (!twin__pairs_add(&candidates->found.pairs, pair))
            return twin__fail_memory(stream->error);
    }
    return TWIN_OK;
}

/* *groups becomes or is a union-find of the documents. */
static twin_status get_unions(struct twin__checked_stream *stream, uint32_t **groups, size_t documents)
{
    bool exist = twin__checked_number(stream, 0) != 0;
    if (exist && !*groups) {
        *groups = malloc((documents + 1) * sizeof **groups);
        if (!*groups)
            return twin__fail_memory(stream->error);
        twin__union_begin(*groups, documents);
    }
    for (uint64_t left = twin__checked_number(stream, 0); left > 0; left--) {
        uint64_t both = twin__checked_number(stream, 0);
        uint32_t document = (uint32_t)(both >> 32), above = (uint32_t)both;
        if (!*groups || document >= documents || above >= document)
            return twin__checked_fail(stream, "documents are united that do not exist");
        twin__union_join(*groups, document, above);
    }
    return TWIN_OK;
}

static twin_status get_buckets(struct twin__checked_stream *stream, struct twin__step_candidates *candidates)
{
    struct twin__bands_found *found = &candidates->found;
    for (uint64_t left = twin__checked_number(stream, 0); left > 0; left--) {
        uint64_t document = twin__checked_number(stream, 0);
        bool is_dense = twin__checked_number(stream, 0) != 0;
        double meetings = twin__checked_real(stream, 0), passing = twin__checked_real(stream, 0);
        bool exists =
            found->loose && found->dense && document < candidates->documents && meetings >= passing && passing >= 0;
        if (stream->status != TWIN_OK || !exists)
            return twin__checked_fail(stream, "a bucket that does not exist");
        if (!TWIN__ARRAY_GROW(&found->buckets, &found->bucket_capacity, found->bucket_count, 1))
            return twin__fail_memory(stream->error);
        found->buckets[found->bucket_count++] =
            (struct twin__large_bucket){ (uint32_t)document, is_dense, meetings, passing };
    }
    return TWIN_OK;
}

static twin_status read_part(void *context, struct twin__checked_stream *stream)
{
    struct twin__step_candidates *candidates = context;
    twin_status status = get_pairs(stream, candidates);
    if (status == TWIN_OK)
        status = get_unions(stream, &candidates->found.loose, candidates->documents);
    if (status == TWIN_OK)
        status = get_unions(stream, &candidates->found.dense, candidates->documents);
    if (status == TWIN_OK)
        status = get_buckets(stream, candidates);
    return status;
}

twin_status twin__step_candidates_read(struct twin__step_candidates **out, const twin_collection *collection,
                                       twin_saved_files saved, twin_error *error)
{
    if (!saved.sources)
        return twin__fail_null(error, "saved.sources");
    *out = NULL;
    struct twin__step_candidates *candidates = NULL;
    twin_status status = create(&candidates, collection, (twin_part){ 0 }, error);
    if (!candidates)
        return status;
    struct twin__step_files kind = { MAGIC, candidates->fingerprint };
    status = twin__step_read_all(saved, &kind, read_part, candidates, error);
    if (status == TWIN_OK)
        *out = candidates;
    else
        twin__step_candidates_free(candidates);
    return status;
}

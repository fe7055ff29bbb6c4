/* step_file.c — what the files of the steps have in common. */
#include "dedup/step_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

enum { MOST_PARTS = 1 << 20 };

/* The parts that were read. */
struct parts {
    bool *seen;
    uint32_t of; /* 0: none was read */
};

void twin__step_begin(struct twin__checked_stream *stream, twin_sink sink, const struct twin__step_files *kind,
                      twin_part part, twin_error *error)
{
    twin__checked_write(stream, sink, kind->magic, error);
    twin__checked_number(stream, kind->fingerprint);
    twin__checked_number(stream, part.number);
    twin__checked_number(stream, part.of ? part.of : 1);
}

/* The first file says how many parts there are. */
static twin_status add_part(struct parts *parts, uint64_t number, uint64_t of, twin_error *error)
{
    if (!parts->seen) {
        parts->of = (uint32_t)of;
        parts->seen = calloc(of, sizeof *parts->seen);
        if (!parts->seen)
            return twin__fail_memory(error);
    }
    if (of != parts->of)
        return twin__fail(error, TWIN_EINVAL, "one of %" PRIu64 " parts, while the files before it are of %" PRIu32,
                          of, parts->of);
    if (parts->seen[number])
        return twin__fail(error, TWIN_EINVAL, "part %" PRIu64 " of %" PRIu64 " was given twice", number + 1, of);
    parts->seen[number] = true;
    return TWIN_OK;
}

static twin_status read_head(struct parts *parts, struct twin__checked_stream *stream, uint64_t fingerprint)
{
    uint64_t found = twin__checked_number(stream, 0);
    uint64_t number = twin__checked_number(stream, 0), of = twin__checked_number(stream, 0);
    if (of == 0 || of > MOST_PARTS || number >= of)
        return twin__checked_fail(stream, "there is no such part");
    if (found != fingerprint)
        return twin__fail(stream->error, TWIN_EINVAL,
                          "written from other signatures, or from the same ones in another order");
    return add_part(parts, number, of, stream->error);
}

static twin_status check_all_seen(const struct parts *parts, twin_error *error)
{
    for (uint32_t i = 0; i < parts->of; i++)
        if (!parts->seen[i])
            return twin__fail(error, TWIN_EINVAL, "part %" PRIu32 " of %" PRIu32 " is missing", i + 1, parts->of);
    return TWIN_OK;
}

twin_status twin__step_read_all(twin_saved_files saved, const struct twin__step_files *kind, twin__step_read *read,
                                void *context, twin_error *error)
{
    struct parts parts = { 0 };
    twin_status status = saved.count ? TWIN_OK : twin__fail(error, TWIN_EINVAL, "no file was given");
    size_t at = 0;
    for (; at < saved.count && status == TWIN_OK; at += status == TWIN_OK) {
        struct twin__checked_stream stream;
        twin__checked_read(&stream, saved.sources[at], kind->magic, error);
        status = read_head(&parts, &stream, kind->fingerprint);
        if (status == TWIN_OK)
            status = read(context, &stream);
        status = twin__checked_close(&stream, status);
    }
    if (saved.failed)
        *saved.failed = at;
    if (status == TWIN_OK)
        status = check_all_seen(&parts, error);
    if (status == TWIN_OK && saved.failed)
        *saved.failed = SIZE_MAX;
    free(parts.seen);
    return status;
}

/* ---- the steps ---- */

twin_status twin_dedup_write_candidates(const twin_collection *collection, twin_similar_options options,
                                        twin_part part, twin_sink sink, twin_error *error)
{
    struct twin__step_candidates *candidates;
    if (!sink.write)
        return twin__fail_null(error, "sink.write");
    twin_status status = twin__step_candidates_find(&candidates, collection, options, part, error);
    if (status == TWIN_OK)
        status = twin__step_candidates_write(candidates, sink, error);
    twin__step_candidates_free(candidates);
    return status;
}

twin_status twin_dedup_write_matches(const twin_collection *collection, twin_saved_files saved,
                                     const twin_dedup_options *options, twin_part part, twin_sink sink,
                                     twin_error *error)
{
    struct twin__step_candidates *candidates = NULL;
    twin_matches *matches = NULL;
    if (!collection || !options || !sink.write)
        return twin__fail_null(error, !collection ? "collection" : options ? "sink.write" : "options");
    twin_status status = twin__step_check(collection, options, error);
    if (status == TWIN_OK)
        status = twin__step_candidates_read(&candidates, collection, saved, error);
    if (status == TWIN_OK)
        status = twin__step_match(&matches, collection, candidates, options, part, error);
    twin__step_candidates_free(candidates);
    if (status == TWIN_OK)
        status = twin__step_write_matches(matches, collection, options, part, sink, error);
    twin__step_matches_free(matches);
    return status;
}

twin_status twin_dedup_decide(twin_dedup **out, const twin_collection *collection, twin_saved_files saved,
                              const twin_dedup_options *options, twin_error *error)
{
    twin_matches *matches = NULL;
    twin_dedup_options rule, complete;
    twin_buffer field = { 0 };
    if (out)
        *out = NULL;
    if (!out || !options || !collection || !saved.sources)
        return twin__fail_null(error, !out          ? "out"
                                      : !options    ? "options"
                                      : !collection ? "collection"
                                                    : "saved.sources");
    twin_status status = twin__step_read_matches(&matches, &rule, &field, collection, saved, error);
    if (status == TWIN_OK) {
        complete = *options;
        complete.preference = rule.preference;
        complete.field = rule.field;
        complete.chain = rule.chain;
        status = twin__step_decide(out, collection, matches, &complete, error);
    }
    twin__step_matches_free(matches);
    twin_buffer_clear(&field);
    return status;
}

/* matches_file.c — the matches of a part in a file, with the rule that they were searched for. */
#include <twinsift/dedup.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "collection/contents.h"
#include "dedup/step_file.h"
#include "join/matches.h"

static const char MAGIC[] = "TWINPRS2";

enum { MOST_FIELD = 4096 }; /* bytes */

twin_status twin__step_write_matches(const twin_matches *matches, const twin_collection *collection,
                                     const twin_dedup_options *rule, twin_part part, twin_sink sink,
                                     twin_error *error)
{
    struct twin__step_files kind = { .magic = MAGIC };
    struct twin__checked_stream stream;
    twin_status status = twin__check_reserved(error, rule->reserved, "dedup");
    if (status == TWIN_OK)
        status = twin__collection_fingerprint(&kind.fingerprint, collection);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    const char *field = rule->field ? rule->field : "";
    twin__step_begin(&stream, sink, &kind, part, error);
    twin__checked_number(&stream, rule->preference);
    twin__checked_number(&stream, rule->chain);
    twin__checked_put_text(&stream, (twin_text){ field, strlen(field) });
    twin__checked_number(&stream, matches->candidates);
    twin__checked_number(&stream, matches->verified);
    twin__checked_number(&stream, matches->count);
    for (size_t i = 0; i < matches->count; i++) {
        twin__checked_number(&stream, (uint64_t)matches->items[i].a << 32 | matches->items[i].b);
        twin__checked_real(&stream, matches->items[i].similarity);
    }
    return twin__checked_close(&stream, TWIN_OK);
}

/* ---- reading ---- */

struct reading {
    twin_matches *matches;
    size_t documents;
    bool is_ruled; /* the rule is known from a file before */
    twin_dedup_options *rule;
    twin_buffer *field;
};

/* All files have the rule of the first. */
static twin_status get_rule(struct reading *reading, struct twin__checked_stream *stream)
{
    twin_buffer field = { 0 };
    uint64_t preference = twin__checked_number(stream, 0), chain = twin__checked_number(stream, 0);
    twin__checked_get_text(&field, stream, MOST_FIELD);
    twin_status status = stream->status;
    if (status == TWIN_OK && (preference > TWIN_PREFER_LAST || chain > 1))
        status = twin__checked_fail(stream, "an unknown rule");
    if (status == TWIN_OK && twin_buffer_append(&field, "", 1) != TWIN_OK)
        status = twin__fail_memory(stream->error);
    if (status != TWIN_OK || reading->is_ruled) {
        if (status == TWIN_OK && (preference != reading->rule->preference || chain != reading->rule->chain ||
                                  strcmp(field.bytes, reading->field->bytes) != 0))
            status = twin__fail(stream->error, TWIN_EINVAL, "written with another --keep or --chain");
        twin_buffer_clear(&field);
        return status;
    }
    twin_buffer_clear(reading->field);
    *reading->field = field;
    *reading->rule = (twin_dedup_options){ .preference = (twin_preference)preference,
                                           .chain = chain,
                                           .field = field.length > 1 ? field.bytes : NULL };
    reading->is_ruled = true;
    return TWIN_OK;
}

static twin_status get_matches(struct reading *reading, struct twin__checked_stream *stream)
{
    twin_matches *matches = reading->matches;
    matches->candidates += twin__checked_number(stream, 0);
    matches->verified += twin__checked_number(stream, 0);
    for (uint64_t left = twin__checked_number(stream, 0); left > 0; left--) {
        uint64_t pair = twin__checked_number(stream, 0);
        twin_match match = { (uint32_t)(pair >> 32), (uint32_t)pair, twin__checked_real(stream, 0) };
        if (match.a >= match.b || match.b >= reading->documents || !(match.similarity >= 0 && match.similarity <= 1))
            return twin__checked_fail(stream, "an impossible match");
        if (!TWIN__ARRAY_GROW(&matches->items, &matches->capacity, matches->count, 1))
            return twin__fail_memory(stream->error);
        matches->items[matches->count++] = match;
    }
    return TWIN_OK;
}

static twin_status read_part(void *context, struct twin__checked_stream *stream)
{
    twin_status status = get_rule(context, stream);
    return status == TWIN_OK ? get_matches(context, stream) : status;
}

static twin_status read_all(twin_matches *out, twin_dedup_options *rule, twin_buffer *field,
                            const twin_collection *collection, twin_saved_files saved, twin_error *error)
{
    struct reading reading = {
        .matches = out, .documents = twin_collection_count(collection).documents, .rule = rule, .field = field
    };
    struct twin__step_files kind = { .magic = MAGIC };
    twin_status status = twin__collection_fingerprint(&kind.fingerprint, collection);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    status = twin__step_read_all(saved, &kind, read_part, &reading, error);
    if (status == TWIN_OK)
        twin__matches_sort(out);
    return status;
}

twin_status twin__step_read_matches(twin_matches **out, twin_dedup_options *rule, twin_buffer *field,
                                    const twin_collection *collection, twin_saved_files saved, twin_error *error)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return twin__fail_memory(error);
    twin_status status = read_all(*out, rule, field, collection, saved, error);
    if (status != TWIN_OK) {
        twin__step_matches_free(*out);
        *out = NULL;
    }
    return status;
}

void twin__step_matches_free(twin_matches *matches)
{
    twin__matches_clear(matches);
    free(matches);
}

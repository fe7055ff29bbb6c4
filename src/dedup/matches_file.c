/* matches_file.c — the matches of a part in a file, with the rule that they were searched for. */
#include <twinsift/dedup.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "join/step_file.h"

static const char MAGIC[] = "TWINPRS1";

enum { MOST_FIELD = 4096 }; /* bytes */

twin_status twin_dedup_write_matches(const twin_matches *matches, const twin_collection *collection,
                                     const twin_dedup_options *rule, twin_part part, FILE *file, twin_error *error)
{
    if (!matches || !collection || !rule || !file)
        return twin__fail_null(error, !matches ? "matches" : !collection ? "collection" : !rule ? "rule" : "file");
    uint64_t fingerprint;
    struct twin__checked_stream stream;
    twin_status status = twin_collection_fingerprint(&fingerprint, collection);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    const char *field = rule->field ? rule->field : "";
    twin__checked_begin(&stream, file, MAGIC);
    twin__step_put_head(&stream, fingerprint, part);
    twin__checked_put_number(&stream, rule->preference);
    twin__checked_put_number(&stream, rule->chain);
    twin__checked_put_text(&stream, field, strlen(field));
    twin__checked_put_number(&stream, matches->count);
    for (size_t i = 0; i < matches->count; i++) {
        twin__checked_put_number(&stream, (uint64_t)matches->items[i].a << 32 | matches->items[i].b);
        twin__checked_put_real(&stream, matches->items[i].similarity);
    }
    return twin__checked_put_end(&stream, error);
}

/* ---- reading ---- */

struct reading {
    twin_matches *matches;
    size_t documents;
    uint64_t fingerprint;
    struct twin__parts_read parts;
    bool is_ruled; /* the rule is known from a file before */
    twin_dedup_options *rule;
    twin_buffer *field;
};

/* All files have the rule of the first. */
static twin_status get_rule(struct reading *reading, struct twin__checked_stream *stream, twin_error *error)
{
    uint64_t preference, chain = 0;
    twin_buffer field = { 0 };
    twin_status status = twin__checked_get_number(stream, &preference, error);
    if (status == TWIN_OK)
        status = twin__checked_get_number(stream, &chain, error);
    if (status == TWIN_OK)
        status = twin__checked_get_text(stream, &field, MOST_FIELD, error);
    if (status == TWIN_OK && (preference > TWIN_PREFER_LEAST || chain > 1))
        status = twin__checked_fail(stream, "an unknown rule", error);
    if (status == TWIN_OK && twin_buffer_append(&field, "", 1) != TWIN_OK)
        status = twin__fail_memory(error);
    if (status != TWIN_OK || reading->is_ruled) {
        if (status == TWIN_OK && (preference != reading->rule->preference || chain != reading->rule->chain ||
                                  strcmp(field.bytes, reading->field->bytes) != 0))
            status = twin__fail(error, TWIN_EINVAL, "made for another rule which documents to keep");
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

static twin_status get_matches(struct reading *reading, struct twin__checked_stream *stream, twin_error *error)
{
    twin_matches *matches = reading->matches;
    uint64_t left;
    twin_status status = twin__checked_get_number(stream, &left, error);
    for (; left > 0 && status == TWIN_OK; left--) {
        uint64_t pair;
        twin_match match = { 0 };
        status = twin__checked_get_number(stream, &pair, error);
        if (status == TWIN_OK)
            status = twin__checked_get_real(stream, &match.similarity, error);
        match.a = (uint32_t)(pair >> 32);
        match.b = (uint32_t)pair;
        if (status == TWIN_OK && (match.a >= match.b || match.b >= reading->documents ||
                                  !(match.similarity >= 0 && match.similarity <= 1)))
            return twin__checked_fail(stream, "a match that cannot be", error);
        if (status == TWIN_OK && !TWIN__ARRAY_GROW(&matches->items, &matches->capacity, matches->count, 1))
            return twin__fail_memory(error);
        if (status == TWIN_OK)
            matches->items[matches->count++] = match;
    }
    return status;
}

static twin_status read_file(struct reading *reading, FILE *file, twin_error *error)
{
    struct twin__checked_stream stream;
    twin_status status = twin__checked_open(&stream, file, MAGIC, error);
    if (status == TWIN_OK)
        status = twin__step_get_head(&stream, &reading->parts, reading->fingerprint, error);
    if (status == TWIN_OK)
        status = get_rule(reading, &stream, error);
    if (status == TWIN_OK)
        status = get_matches(reading, &stream, error);
    if (status == TWIN_OK)
        status = twin__checked_get_end(&stream, error);
    twin__checked_clear(&stream);
    return status;
}

static int by_documents(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

twin_status twin_dedup_read_matches(twin_matches *out, twin_dedup_options *rule, twin_buffer *field,
                                    const twin_collection *collection, twin_saved_files saved, twin_error *error)
{
    if (!out || !rule || !field || !collection || !saved.files || !saved.count)
        return twin__fail_null(error, !out          ? "out"
                                      : !rule       ? "rule"
                                      : !field      ? "field"
                                      : !collection ? "collection"
                                                    : "saved.files");
    struct reading reading = {
        .matches = out, .documents = twin_collection_count(collection).documents, .rule = rule, .field = field
    };
    size_t at = 0;
    twin_status status = twin_collection_fingerprint(&reading.fingerprint, collection);
    for (; at < saved.count && status == TWIN_OK; at += status == TWIN_OK)
        status = read_file(&reading, saved.files[at], error);
    if (saved.failed)
        *saved.failed = at;
    status = twin__step_end(&reading.parts, status, error);
    if (status == TWIN_OK && out->count) /* without pairs there is no array */
        qsort(out->items, out->count, sizeof *out->items, by_documents);
    return status;
}

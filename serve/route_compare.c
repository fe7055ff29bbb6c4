/* route_compare.c — two texts, and every step of the method on them.
 *
 * All figures are the library's: the shingles are those its signer hashed, the slots those it signed, the bands those
 * it would look up. */
#include "edit/embed.h"
#include "server.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_DIFF_BYTES = 200000, /* of a text whose differences are shown */
    MOST_DETAIL_BYTES = 4000, /* of a text whose shingles are */
    MOST_SLOTS = 1024,
    MOST_EDIT_BYTES = 2000,
};

/* ---- differences */

static twin_text part(twin_text text, uint32_t begin, uint32_t length)
{
    return (twin_text){ text.bytes + begin, length };
}

static void record_spans(struct record *record, const char *name, const twin_edit_spans *spans, twin_text a,
                         twin_text b)
{
    static const char *const names[] = { [TWIN_EDIT_EQUAL] = "equal",
                                         [TWIN_EDIT_REPLACED] = "replaced",
                                         [TWIN_EDIT_INSERTED] = "inserted",
                                         [TWIN_EDIT_DELETED] = "deleted" };
    record_list(record, name);
    for (size_t i = 0; i < spans->count; i++) {
        const twin_edit_span *span = &spans->spans[i];
        record_object(record, NULL);
        record_string(record, "kind", names[span->kind]);
        record_text(record, "a", part(a, span->a_begin, span->a_length));
        record_text(record, "b", part(b, span->b_begin, span->b_length));
        record_object_end(record);
    }
    record_list_end(record);
}

twin_status record_differences(struct record *record, twin_text a, twin_text b)
{
    twin_edit_spans spans = { 0 };
    if (a.length > MOST_DIFF_BYTES || b.length > MOST_DIFF_BYTES) {
        record_null(record, "differences");
        return TWIN_OK;
    }
    twin_status status = twin_diff(&spans, a, b, (twin_diff_options){ .join = 2 });
    if (status != TWIN_OK)
        spans.count = 0;
    record_spans(record, "differences", &spans, a, b);
    twin_edit_spans_clear(&spans);
    return status;
}

/* ---- two texts */

/* A text and what the signer made of it. */
struct side {
    twin_text text;
    twin_scratch *scratches[2]; /* of the set; of the shingles */
    twin_text normalised;
    const uint64_t *shingles; /* their hashes, in the order of the text */
    size_t count;
    twin_set set;
    uint32_t *signature;
};

struct comparison {
    twin_text shingle, sketch;
    twin_scheme scheme;
    twin_signer *signer;
    struct side sides[2];
    uint64_t slots, bands, rows, seed;
    bool detail, normalised, has[9];
};

static bool is_text(twin_text text, const char *string)
{
    return text.length == strlen(string) && memcmp(text.bytes, string, text.length) == 0;
}

static bool read_comparison(struct comparison *out, struct exchange *exchange)
{
    const struct json_field fields[] = {
        { "a", JSON_TEXT, &out->sides[0].text, NULL },
        { "b", JSON_TEXT, &out->sides[1].text, NULL },
        { "shingle", JSON_TEXT, &out->shingle, &out->has[0] },
        { "sketch", JSON_TEXT, &out->sketch, &out->has[1] },
        { "slots", JSON_COUNT, &out->slots, &out->has[2] },
        { "bands", JSON_COUNT, &out->bands, &out->has[3] },
        { "rows", JSON_COUNT, &out->rows, &out->has[4] },
        { "threshold", JSON_NUMBER, &out->scheme.threshold, &out->has[5] },
        { "seed", JSON_COUNT, &out->seed, &out->has[6] },
        { "detail", JSON_FLAG, &out->detail, &out->has[7] },
        { "normalised", JSON_FLAG, &out->normalised, &out->has[8] },
    };
    return read_json(exchange, exchange->body, fields, sizeof fields / sizeof fields[0]);
}

/* The scheme that was asked for; on false the answer is the error. */
static bool make_scheme(struct comparison *c, struct exchange *exchange)
{
    char rule[32] = "auto:9";
    twin_error error = { 0 };
    if (c->has[0])
        snprintf(rule, sizeof rule, "%.*s", (int)c->shingle.length, c->shingle.bytes);
    if (twin_shingle_parse(&c->scheme.shingle, rule) != TWIN_OK) {
        exchange_fail(exchange, 400, "invalid", "the shingle rule must be auto:N, char:N, word:N, stop:N or byte:N");
        return false;
    }
    if (c->slots > MOST_SLOTS) {
        exchange_fail(exchange, 400, "invalid", "slots must be 1 to 1024");
        return false;
    }
    c->scheme.minhash = (twin_minhash_options){ .slots = c->slots, .seed = c->has[6] ? c->seed : 1 };
    if (c->has[1] && is_text(c->sketch, "classic"))
        c->scheme.minhash.sketch = TWIN_SKETCH_CLASSIC;
    c->scheme.shingle.hash = twin_hash_member(TWIN_HASH_XXH3, c->scheme.minhash.seed);
    c->scheme.plan = (twin_plan){ c->bands, c->rows };
    twin_status status = twin_signer_create(&c->signer, &c->scheme, &error);
    if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    else
        c->scheme = *twin_signer_scheme(c->signer);
    return status == TWIN_OK;
}

static twin_status sign_side(struct side *side, const struct comparison *c)
{
    side->signature = calloc(c->scheme.minhash.slots, sizeof *side->signature);
    if (!side->signature)
        return TWIN_ENOMEM;
    twin_status status = twin_signer_text(side->signature, &side->set, c->signer, &side->scratches[0], side->text);
    if (status == TWIN_OK && (c->detail || c->normalised))
        status = twin_signer_shingles(&side->normalised, &side->shingles, &side->count, c->signer,
                                      &side->scratches[1], side->text);
    return status;
}

static void free_comparison(struct comparison *c)
{
    for (int i = 0; i < 2; i++) {
        twin_scratch_free(c->sides[i].scratches[0]);
        twin_scratch_free(c->sides[i].scratches[1]);
        free(c->sides[i].signature);
    }
    twin_signer_free(c->signer);
}

/* ---- in detail */

static bool contains(twin_set set, uint64_t item)
{
    size_t low = 0, high = set.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set.items[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set.count && set.items[low] == item;
}

/* The next character, or word with the blank behind it, begins here. */
static size_t next_unit(twin_text text, size_t at, bool words)
{
    at++;
    if (words) {
        while (at < text.length && text.bytes[at - 1] != ' ')
            at++;
        return at;
    }
    while (at < text.length && ((unsigned char)text.bytes[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static void record_hash(struct record *record, const char *name, uint64_t hash)
{
    char digits[20];
    snprintf(digits, sizeof digits, "%016" PRIx64, hash);
    record_string(record, name, digits);
}

/* The shingles in the order of the text, each with the hash that the signer gave it. */
static void record_shingles(struct record *record, const struct side *side, const struct side *other,
                            const struct comparison *c)
{
    twin_text text = side->normalised;
    bool words = c->scheme.shingle.kind == TWIN_SHINGLE_WORD;
    size_t begin = 0, end = 0;
    record_list(record, "shingles");
    for (size_t i = 0; i < c->scheme.shingle.width && end < text.length; i++)
        end = next_unit(text, end, words);
    for (size_t i = 0; i < side->count; i++) {
        uint64_t item = side->shingles[i];
        size_t length = end - begin - (words && end > begin && text.bytes[end - 1] == ' ');
        record_object(record, NULL);
        record_text(record, "text", (twin_text){ text.bytes + begin, length });
        record_hash(record, "hash", item);
        record_flag(record, "common", contains(other->set, item));
        record_object_end(record);
        begin = next_unit(text, begin, words);
        end = end < text.length ? next_unit(text, end, words) : end;
    }
    record_list_end(record);
}

/* Which shingle gave each slot its number: the one whose own signature has it. Only where slots are independent. */
static void record_winners(struct record *record, const struct side *side, const struct comparison *c)
{
    size_t slots = c->scheme.minhash.slots;
    uint32_t *own = calloc(slots + 1, sizeof *own);
    size_t *winner = calloc(slots + 1, sizeof *winner);
    for (size_t i = side->count; own && winner && i-- > 0;) {
        twin_signer_sign(own, c->signer, &side->shingles[i], 1);
        for (size_t k = 0; k < slots; k++)
            if (own[k] == side->signature[k])
                winner[k] = i;
    }
    record_list(record, "winners");
    for (size_t k = 0; k < slots && own && winner; k++)
        record_count(record, NULL, winner[k]);
    record_list_end(record);
    free(own);
    free(winner);
}

static void record_band_keys(struct record *record, const struct side *side, const struct comparison *c)
{
    size_t bands = c->scheme.plan.bands;
    uint64_t *keys = calloc(bands, sizeof *keys);
    record_list(record, "band_keys");
    if (keys && twin_band_keys(keys, side->signature, c->scheme.plan) == TWIN_OK)
        for (size_t i = 0; i < bands; i++)
            record_hash(record, NULL, keys[i]);
    record_list_end(record);
    free(keys);
}

static void record_side(struct record *record, const char *name, const struct side *side, const struct side *other,
                        const struct comparison *c)
{
    record_object(record, name);
    record_text(record, "normalised", side->normalised);
    if (c->scheme.shingle.kind == TWIN_SHINGLE_CHAR || c->scheme.shingle.kind == TWIN_SHINGLE_WORD)
        record_shingles(record, side, other, c);
    record_list(record, "signature");
    for (size_t k = 0; k < c->scheme.minhash.slots; k++)
        record_count(record, NULL, side->signature[k]);
    record_list_end(record);
    record_band_keys(record, side, c);
    if (c->scheme.minhash.sketch == TWIN_SKETCH_CLASSIC)
        record_winners(record, side, c);
    record_object_end(record);
}

/* ---- the answer */

static void record_bands(struct record *record, const struct comparison *c)
{
    size_t bands = c->scheme.plan.bands;
    uint64_t *keys = calloc(2 * bands, sizeof *keys);
    record_list(record, "matching_bands");
    if (keys && twin_band_keys(keys, c->sides[0].signature, c->scheme.plan) == TWIN_OK &&
        twin_band_keys(keys + bands, c->sides[1].signature, c->scheme.plan) == TWIN_OK)
        for (size_t i = 0; i < bands; i++)
            if (keys[i] == keys[bands + i])
                record_count(record, NULL, i);
    record_list_end(record);
    free(keys);
}

static void record_measures(struct record *record, const struct comparison *c)
{
    twin_set a = c->sides[0].set, b = c->sides[1].set;
    size_t slots = c->scheme.minhash.slots;
    size_t equal = twin_minhash_agreement(c->sides[0].signature, c->sides[1].signature, slots);
    double jaccard = twin_set_similarity(a, b, TWIN_JACCARD);
    record_number(record, "jaccard", jaccard, 9);
    record_number(record, "containment", twin_set_similarity(a, b, TWIN_CONTAINMENT), 9);
    record_count(record, "a_shingles", a.count);
    record_count(record, "b_shingles", b.count);
    record_count(record, "common", twin_set_common(a, b));
    record_count(record, "slots", slots);
    record_count(record, "equal_slots", equal);
    record_number(record, "estimate", a.count && b.count ? (double)equal / (double)slots : 0, 9);
    record_count(record, "bands", c->scheme.plan.bands);
    record_count(record, "rows", c->scheme.plan.rows);
    record_number(record, "threshold", c->scheme.threshold, 9);
    record_number(record, "probability", twin_plan_probability(c->scheme.plan, jaccard), 9);
    record_bands(record, c);
}

static void write_comparison(struct exchange *exchange, const struct comparison *c)
{
    const struct side *sides = c->sides;
    struct record record = record_begin(exchange->out, true);
    record_measures(&record, c);
    if (c->normalised)
        (void)record_differences(&record, sides[0].normalised, sides[1].normalised);
    else
        (void)record_differences(&record, sides[0].text, sides[1].text);
    if (c->detail) {
        record_side(&record, "a", &sides[0], &sides[1], c);
        record_side(&record, "b", &sides[1], &sides[0], c);
    }
    record_end(&record);
}

void answer_compare(struct exchange *exchange)
{
    struct comparison c = { 0 };
    if (!read_comparison(&c, exchange))
        return;
    bool too_long =
        c.detail && (c.sides[0].text.length > MOST_DETAIL_BYTES || c.sides[1].text.length > MOST_DETAIL_BYTES);
    if (too_long)
        exchange_fail(exchange, 422, "limit", "texts are shown in detail up to 4,000 bytes");
    if (!too_long && make_scheme(&c, exchange)) {
        twin_status status = sign_side(&c.sides[0], &c);
        if (status == TWIN_OK)
            status = sign_side(&c.sides[1], &c);
        if (status == TWIN_OK)
            write_comparison(exchange, &c);
        else
            exchange_fail_status(exchange, status, NULL);
    }
    free_comparison(&c);
}

/* ---- edit distance */

/* Both vectors, and on how many numbers they agree. Texts that are too short have none. */
static void record_vectors(struct record *record, twin_text a, twin_text b)
{
    enum { FUNCTIONS = 128 };
    uint32_t vectors[2][FUNCTIONS];
    twin__embedder *embedder = NULL;
    twin__embed_scratch scratch = { 0 };
    size_t shorter = a.length < b.length ? a.length : b.length, equal = 0;
    twin__embed_options options = twin__embed_options_for(TWIN__EMBED_DEFAULT, shorter, FUNCTIONS, 1);
    bool good = shorter > 0 && twin__embedder_create(&embedder, options) == TWIN_OK &&
                twin__embed_vector(vectors[0], embedder, &scratch, a) == TWIN_OK &&
                twin__embed_vector(vectors[1], embedder, &scratch, b) == TWIN_OK;
    record_object(record, "embedding");
    record_count(record, "functions", FUNCTIONS);
    record_count(record, "window", options.grams.window);
    record_count(record, "bucket", options.bucket);
    record_list(record, "agree");
    for (size_t i = 0; i < FUNCTIONS && good; i++) {
        record_flag(record, NULL, vectors[0][i] == vectors[1][i]);
        equal += vectors[0][i] == vectors[1][i];
    }
    record_list_end(record);
    record_count(record, "equal", equal);
    record_object_end(record);
    twin__embedder_free(embedder);
    twin__embed_scratch_clear(&scratch);
}

void answer_edit(struct exchange *exchange)
{
    twin_text a, b;
    const struct json_field fields[] = { { "a", JSON_TEXT, &a, NULL }, { "b", JSON_TEXT, &b, NULL } };
    twin_edit_spans spans = { 0 };
    twin_scratch *scratch = NULL;
    double ratio = 0, grams = NAN;
    if (!read_json(exchange, exchange->body, fields, 2))
        return;
    if (a.length > MOST_EDIT_BYTES || b.length > MOST_EDIT_BYTES) {
        exchange_fail(exchange, 422, "limit", "texts of up to 2,000 bytes are aligned here");
        return;
    }
    twin_status status = twin_edit_align(&spans, &scratch, a, b, TWIN_EDIT_CHARS, SIZE_MAX - 1);
    if (status == TWIN_OK)
        status = twin_edit_ratio(&ratio, &scratch, a, b, TWIN_EDIT_CHARS, 0);
    if (status == TWIN_OK && twin__embed_distance(&grams, a, b, (twin__embed_grams){ 0 }) != TWIN_OK)
        grams = NAN;
    if (status == TWIN_OK) {
        struct record record = record_begin(exchange->out, true);
        record_count(&record, "distance", spans.distance);
        record_number(&record, "ratio", ratio, 9);
        record_number(&record, "gram_distance", grams, 9);
        record_spans(&record, "steps", &spans, a, b);
        record_vectors(&record, a, b);
        record_end(&record);
    } else {
        exchange_fail_status(exchange, status, NULL);
    }
    twin_scratch_free(scratch);
    twin_edit_spans_clear(&spans);
}

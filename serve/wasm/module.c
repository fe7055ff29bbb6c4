/* module.c — the method in a browser, without a server: a WebAssembly module of the routes that the page "See how it
 * works" calls, and of signatures.
 *
 * The page sends the same requests as to a server, and the same functions answer them. A caller (twinsift.js) writes
 * path and body, one behind the other, to the memory that module_room() returns, calls module_answer(), and reads JSON
 * from module_bytes(). There is one request at a time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../server.h"

#define EXPORT(name) __attribute__((export_name(name)))

enum { MOST_BYTES = 64 << 20 };

static twin_buffer request;
static char *written; /* the answer, and its length */
static size_t written_bytes;

/* ---- signatures */

struct sign_wish {
    twin_text text, shingle, sketch;
    uint64_t slots, seed, bands, rows;
    double threshold;
    bool raw, has[8];
};

static bool read_sign_wish(struct sign_wish *out, struct exchange *exchange)
{
    const struct json_field fields[] = {
        { "text", JSON_TEXT, &out->text, NULL },
        { "shingle", JSON_TEXT, &out->shingle, &out->has[0] },
        { "sketch", JSON_TEXT, &out->sketch, &out->has[1] },
        { "slots", JSON_COUNT, &out->slots, &out->has[2] },
        { "seed", JSON_COUNT, &out->seed, &out->has[3] },
        { "bands", JSON_COUNT, &out->bands, &out->has[4] },
        { "rows", JSON_COUNT, &out->rows, &out->has[5] },
        { "threshold", JSON_NUMBER, &out->threshold, &out->has[6] },
        { "raw", JSON_FLAG, &out->raw, &out->has[7] },
    };
    return read_json(exchange, exchange->body, fields, sizeof fields / sizeof fields[0]);
}

/* As the options of the program make it. */
static twin_status make_signer(twin_signer **out, const struct sign_wish *wish, twin_error *error)
{
    char rule[32] = "auto:9", sketch[16] = "fast";
    twin_scheme scheme = { .normal = wish->raw ? TWIN_NORMAL_CHECK : TWIN_NORMAL_FOLD,
                           .minhash.slots = wish->slots,
                           .threshold = wish->threshold,
                           .plan = { .bands = wish->bands, .rows = wish->rows } };
    if (wish->has[0])
        snprintf(rule, sizeof rule, "%.*s", (int)wish->shingle.length, wish->shingle.bytes);
    if (wish->has[1])
        snprintf(sketch, sizeof sketch, "%.*s", (int)wish->sketch.length, wish->sketch.bytes);
    twin_status status = twin_shingle_parse(&scheme.shingle, rule);
    int value = twin_value_of(TWIN_NAMES_SKETCH, sketch);
    if (status != TWIN_OK || value < 0)
        return status != TWIN_OK ? status : TWIN_EINVAL;
    scheme.minhash.sketch = (twin_sketch)value;
    twin_scheme_seed(&scheme, wish->has[3] ? wish->seed : 1);
    return twin_signer_create(out, &scheme, error);
}

static void write_signature(struct exchange *exchange, const twin_scheme *scheme, const uint32_t *signature,
                            const uint64_t *keys)
{
    struct record record = record_begin(exchange->out, true);
    record_count(&record, "bands", scheme->plan.bands);
    record_count(&record, "rows", scheme->plan.rows);
    record_list(&record, "signature");
    for (size_t i = 0; i < scheme->minhash.slots; i++)
        record_count(&record, NULL, signature[i]);
    record_list_end(&record);
    record_list(&record, "band_keys"); /* as digits: numbers of JavaScript have 53 bits */
    for (size_t i = 0; i < scheme->plan.bands; i++) {
        char digits[20];
        snprintf(digits, sizeof digits, "%016" PRIx64, keys[i]);
        record_string(&record, NULL, digits);
    }
    record_list_end(&record);
    record_end(&record);
}

static twin_status sign_text(struct exchange *exchange, const twin_signer *signer, twin_text text)
{
    const twin_scheme *scheme = twin_signer_scheme(signer);
    twin_scratch *scratch = NULL;
    uint32_t *signature = calloc(scheme->minhash.slots, sizeof *signature);
    uint64_t *keys = calloc(scheme->plan.bands, sizeof *keys);
    twin_status status = signature && keys ? twin_signer_text(signature, NULL, signer, &scratch, text) : TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = twin_band_keys(keys, signature, scheme->plan);
    if (status == TWIN_OK)
        write_signature(exchange, scheme, signature, keys);
    twin_scratch_free(scratch);
    free(signature);
    free(keys);
    return status;
}

static void answer_sign(struct exchange *exchange)
{
    struct sign_wish wish = { 0 };
    twin_signer *signer = NULL;
    twin_error error = { 0 };
    if (!read_sign_wish(&wish, exchange))
        return;
    twin_status status = make_signer(&signer, &wish, &error);
    if (status == TWIN_OK)
        status = sign_text(exchange, signer, wish.text);
    if (status != TWIN_OK)
        exchange_fail_status(exchange, status, &error);
    twin_signer_free(signer);
}

/* ---- requests */

static const struct {
    const char *path;
    void (*run)(struct exchange *exchange);
} methods[] = {
    { "/v1/compare", answer_compare }, { "/v1/plan", answer_plan }, { "/v1/bloom", answer_bloom },
    { "/v1/edit", answer_edit },       { "sign", answer_sign },
};

static bool is_path(const char *path, twin_text given)
{
    return strlen(path) == given.length && memcmp(path, given.bytes, given.length) == 0;
}

/* Where the next request is to be written; 0: too long, or no memory. */
EXPORT("room") char *module_room(size_t bytes)
{
    twin_buffer_clear(&request);
    if (bytes > MOST_BYTES || twin_buffer_reserve(&request, bytes + 1) != TWIN_OK)
        return NULL;
    return request.bytes;
}

/* Answers the request of so many bytes, and returns its status as of HTTP; 0: no memory. */
EXPORT("answer") unsigned module_answer(size_t path_bytes, size_t body_bytes)
{
    twin_text path = { request.bytes, path_bytes };
    struct exchange exchange = { .body = { request.bytes + path_bytes, body_bytes }, .status = 200 };
    size_t i = 0;
    free(written);
    written = NULL;
    exchange.out = open_memstream(&written, &written_bytes);
    if (!exchange.out)
        return 0;
    while (i < sizeof methods / sizeof methods[0] && !is_path(methods[i].path, path))
        i++;
    if (i < sizeof methods / sizeof methods[0])
        methods[i].run(&exchange);
    else
        exchange_fail(&exchange, 404, "route", "this needs a server: run twinsift serve");
    twin_buffer_clear(&exchange.room);
    return fclose(exchange.out) == 0 ? exchange.status : 0;
}

EXPORT("bytes") const char *module_bytes(void)
{
    return written;
}

EXPORT("length") size_t module_length(void)
{
    return written_bytes;
}

EXPORT("version") const char *module_version(void)
{
    return twin_version();
}

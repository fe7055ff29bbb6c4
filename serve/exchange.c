/* exchange.c — what routes say when they fail, and how they read JSON. It knows nothing of HTTP's transport, so that the
 * routes of the method also run in a browser (wasm/module.c). */
#include "server.h"

#include <ctype.h>
#include <stdlib.h>

static void write_error(struct exchange *exchange, const char *code, const char *sentence, const size_t *offset)
{
    bool of_line = exchange->line_number > 0;
    fseeko(exchange->out, (off_t)exchange->line_begin, SEEK_SET);
    struct record record = record_begin(exchange->out, true);
    record_object(&record, "error");
    record_string(&record, "code", code);
    record_string(&record, "message", sentence);
    if (offset)
        record_count(&record, "offset", *offset);
    if (of_line)
        record_count(&record, "line", exchange->line_number);
    record_object_end(&record);
    record_end(&record);
}

void exchange_fail(struct exchange *exchange, unsigned status, const char *code, const char *sentence)
{
    if (exchange->line_number == 0)
        exchange->status = status;
    write_error(exchange, code, sentence, NULL);
}

void exchange_fail_at(struct exchange *exchange, const char *sentence, size_t offset)
{
    if (exchange->line_number == 0)
        exchange->status = 400;
    write_error(exchange, "invalid", sentence, &offset);
}

void exchange_fail_status(struct exchange *exchange, twin_status status, const twin_error *error)
{
    static const struct {
        twin_status status;
        unsigned http;
        const char *code;
    } known[] = {
        { TWIN_EINVAL, 400, "invalid" },
        { TWIN_ENOMEM, 503, "memory" },
        { TWIN_EIO, 500, "storage" },
        { TWIN_EFORMAT, 500, "damaged" },
        { TWIN_EUNSUPPORTED, 501, "unsupported" },
        { TWIN_ELIMIT, 422, "limit" },
        { TWIN_ESTOPPED, 503, "stopped" },
        { TWIN_EBUSY, 429, "busy" },
    };
    size_t i = 0;
    while (i < sizeof known / sizeof known[0] - 1 && known[i].status != status)
        i++;
    const char *sentence = error && error->message[0] ? error->message : twin_status_text(status);
    exchange_fail(exchange, known[i].http, known[i].code, sentence);
}

bool exchange_number(struct exchange *exchange, double *out, const char *name, double least, double most)
{
    const char *value = exchange_parameter(exchange, name);
    char *end, sentence[128];
    if (!value || !*value)
        return true;
    double number = strtod(value, &end);
    if (isdigit((unsigned char)*value) && !*end && number >= least && number <= most) {
        *out = number;
        return true;
    }
    snprintf(sentence, sizeof sentence, "the parameter \"%s\" must be a number from %g to %g", name, least, most);
    exchange_fail(exchange, 400, "invalid", sentence);
    return false;
}

bool read_json(struct exchange *exchange, twin_text text, const struct json_field *fields, size_t count)
{
    struct json_error error = { 0 };
    if (json_read(&error, &exchange->room, text, fields, count))
        return true;
    exchange_fail_at(exchange, error.message, error.offset);
    return false;
}

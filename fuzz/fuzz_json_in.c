/* fuzz_json_in.c — any bytes as the JSON of a request. What is read lies in the room that was reserved; a string that
 * is written again, with escapes, is read as the same; an error has a place within the text; values can be passed over. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/json_in.h"
#include "support/escape.h"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_text(twin_text text, const twin_buffer *room, size_t length)
{
    demand(text.bytes >= room->bytes && text.bytes + text.length <= room->bytes + room->length);
    demand(room->length <= length);
}

/* Bytes that are no UTF-8 are replaced when they are written; so the second writing is the one to compare with. */
static twin_text write_again(char **out, twin_text text)
{
    size_t length = 0;
    FILE *file = open_memstream(out, &length);
    demand(file);
    fputs("{\"text\":", file);
    escape_json(file, text.bytes, text.length);
    fputc('}', file);
    demand(fclose(file) == 0);
    return (twin_text){ *out, length };
}

static void check_round(twin_text text)
{
    twin_buffer room[2] = { { 0 }, { 0 } };
    struct json_error error;
    char *written[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++) {
        twin_text again;
        const struct json_field field = { "text", JSON_TEXT, &again, NULL };
        twin_text line = write_again(&written[i], text);
        demand(json_read(&error, &room[i], line, &field, 1));
        demand(i == 0 || (again.length == text.length &&
                          (again.length == 0 || memcmp(again.bytes, text.bytes, again.length) == 0)));
        text = again;
    }
    for (int i = 0; i < 2; i++) {
        twin_buffer_clear(&room[i]);
        free(written[i]);
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    twin_text text, whole = { (const char *)data, size };
    struct json_name id;
    double number;
    uint64_t count;
    bool flag, given[6] = { false };
    static struct json_texts list;
    twin_plan_point point;
    const struct json_field fields[] = {
        { "text", JSON_TEXT, &text, &given[0] },    { "id", JSON_NAME, &id, &given[1] },
        { "number", JSON_NUMBER, &number, NULL },   { "count", JSON_COUNT, &count, &given[2] },
        { "flag", JSON_FLAG, &flag, &given[3] },    { "list", JSON_TEXTS, &list, &given[4] },
        { "point", JSON_POINT, &point, &given[5] },
    };
    struct json_error error = { 0 };
    twin_buffer room = { 0 };
    const struct json_field others = { NULL, JSON_OTHERS, NULL, NULL };
    bool is_object = json_read(&error, &room, whole, &others, 1);
    demand(is_object || (error.message[0] && error.offset <= size));
    error = (struct json_error){ 0 };
    if (json_read(&error, &room, whole, fields, sizeof fields / sizeof fields[0])) {
        demand(is_object); /* what is read can also be passed over */
        demand(isfinite(number) && (!given[5] || (isfinite(point.similarity) && isfinite(point.probability))));
        if (given[0]) {
            check_text(text, &room, size);
            check_round(text);
        }
        if (given[1] && !id.is_number)
            check_text(id.text, &room, size);
        for (size_t i = 0; given[4] && i < list.count; i++)
            check_text(list.items[i], &room, size);
    } else {
        demand(error.message[0] && error.offset <= size);
    }
    twin_buffer_clear(&room);
    return 0;
}

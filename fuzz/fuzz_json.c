/* fuzz_json.c — any bytes as lines of JSON: each line ends at its newline, and every kernel reads the same. */
#include <stdlib.h>
#include <string.h>
#include <twinsift/exec.h>

#include "input/json.h"
#include "kernels/kernels.h"

#include "base/scratch.h"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_line(const struct json_line *json, const char *line, const char *end)
{
    demand(json->end == memchr(line, '\n', (size_t)(end - line)));
    demand(!json->wrong || (json->where >= line && json->where <= json->end));
    demand(json->text.kind != JSON_STRING || json->wrong || json->text.text.bytes);
    size_t length = (size_t)(json->end - line);
    if (!json->wrong && !json->blank)
        demand(json->text.text.length < length && json->id.text.length < length);
}

static void check_same(const struct json_value *a, const struct json_value *b)
{
    demand(a->kind == b->kind && a->text.length == b->text.length);
    demand(a->text.length == 0 || memcmp(a->text.bytes, b->text.bytes, a->text.length) == 0);
}

/* In a block of its own, where its text is unescaped without a copy. */
static void check_in_place(const struct json_line *json, twin_read_buffers *room, const struct twin__fields *fields,
                           const char *line)
{
    struct json_line other;
    size_t length = (size_t)(json->end + 1 - line);
    room->in_place = true;
    room->block.length = 0;
    demand(twin_buffer_append(&room->block, line, length) == TWIN_OK);
    demand(twin__json_scan(&other, room, fields, room->block.bytes, room->block.bytes + length) == TWIN_OK);
    demand(other.wrong == json->wrong && other.end - room->block.bytes == json->end - line);
    if (json->wrong)
        return;
    check_same(&json->id, &other.id);
    check_same(&json->text, &other.text);
}

/* Plain, nested and several fields, some of them the same. */
static const char *const id_names[] = { "id", "a.id", "text" };
static const char *const text_names[] = { "text", "text,a.text", "a,a.id,text", "a.a.a" };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct twin__fields fields;
    demand(twin__fields_init(&fields, id_names[size % 3], text_names[size % 4], NULL) == TWIN_OK);
    twin_read_buffers room = { 0 }, other_room = { 0 }, third_room = { 0 };
    char *lines = malloc(size + 1);
    demand(lines);
    if (size)
        memcpy(lines, bytes, size);
    lines[size] = '\n';
    const char *end = lines + size + 1;
    struct json_line json, other;
    for (const char *line = lines; line < end; line = json.end + 1) {
        twin_cpu_use(twin__cpu_best());
        demand(twin__json_scan(&json, &room, &fields, line, end) == TWIN_OK);
        check_line(&json, line, end);

        /* The same line alone, and byte by byte. */
        twin_cpu_use(TWIN_CPU_SCALAR);
        demand(twin__json_scan(&other, &other_room, &fields, line, json.end + 1) == TWIN_OK);
        demand(other.wrong == json.wrong && other.where == json.where && other.end == json.end);
        if (!json.wrong) {
            check_same(&json.id, &other.id);
            check_same(&json.text, &other.text);
        }
        check_in_place(&json, &third_room, &fields, line);
    }
    twin__fields_clear(&fields);
    free(lines);
    twin__read_buffers_clear(&room);
    twin__read_buffers_clear(&other_room);
    twin__read_buffers_clear(&third_room);
    return 0;
}

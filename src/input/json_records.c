/* json_records.c — JSON arrays, and objects over several lines, become JSON lines. */
#include "input/json_records.h"

#include <string.h>

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The bytes after a byte order mark and white space. */
static const char *skip_blank(const char *bytes, const char *end)
{
    if (end - bytes >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        bytes += 3;
    while (bytes < end && is_white(*bytes))
        bytes++;
    return bytes;
}

bool twin__begins_json_records(const char *bytes, size_t length)
{
    const char *end = bytes + length, *at = skip_blank(bytes, end);
    if (at < end && *at == '{') {
        for (at++; at < end && (*at == ' ' || *at == '\t' || *at == '\r');)
            at++;
        return at < end && *at == '\n';
    }
    return at < end && *at == '[';
}

bool twin__begins_json_objects(const char *bytes, size_t length)
{
    const char *end = bytes + length, *at = skip_blank(bytes, end);
    if (at == end || *at != '[')
        return false;
    at = skip_blank(at + 1, end);
    return at < end && *at == '{';
}

static char *take_in_string(struct twin__json_records *state, char *out, char c)
{
    state->in_string = state->is_escaped || c != '"';
    state->is_escaped = !state->is_escaped && c == '\\';
    *out++ = c == '\n' ? '\r' : c; /* neither may be in a string; the other does not end the line */
    return out;
}

/* A byte of an object or array. */
static char *take_inner(struct twin__json_records *state, char *out, char c)
{
    if (c == '"') {
        state->in_string = true;
    } else if (c == '{' || c == '[') {
        state->nest++;
    } else if (c == '}' || c == ']') {
        state->nest--;
    } else if (c == '\n' || c == '\r') {
        c = ' ';
    }
    *out++ = c;
    if (state->nest == 0)
        *out++ = '\n';
    return out;
}

static char *end_scalar(struct twin__json_records *state, char *out)
{
    if (state->in_scalar)
        *out++ = '\n';
    state->in_scalar = false;
    return out;
}

/* A byte between records, or of one that is no object and no array. */
static char *take_outer(struct twin__json_records *state, char *out, char c)
{
    if (is_white(c) || c == ',')
        return end_scalar(state, out);
    if (c == '[' && !state->in_list && !state->in_scalar) {
        state->in_list = true;
        return out;
    }
    if (c == ']' && state->in_list) {
        state->in_list = false;
        return end_scalar(state, out);
    }
    if (c == '{' || c == '[') {
        out = end_scalar(state, out);
        state->nest = 1;
        *out++ = c;
        return out;
    }
    state->in_scalar = true;
    state->in_string = c == '"';
    *out++ = c;
    return out;
}

size_t twin__json_records_take(struct twin__json_records *state, char *out, const char *bytes, size_t length)
{
    char *end = out;
    for (size_t i = 0; i < length; i++)
        end = state->in_string ? take_in_string(state, end, bytes[i])
              : state->nest    ? take_inner(state, end, bytes[i])
                               : take_outer(state, end, bytes[i]);
    return (size_t)(end - out);
}

bool twin__json_records_end(const struct twin__json_records *state)
{
    return state->nest == 0 && !state->in_list && !state->in_string;
}

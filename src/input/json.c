/* json.c — one JSON object on a line.
 *
 * Values that no field leads to are skipped, which checks them too. On the way down the scanner knows
 * by a set of bits which fields begin with the keys above, so that an object nobody asks for costs what
 * it did without nested fields. A string without escapes stays where it is. Several texts are joined
 * once the whole line is known to be good. */
#include "input/json.h"

#include <string.h>

#include "base/scratch.h"
#include "base/utf8.h"
#include "kernels/kernels.h"

/* Every line ends in a newline, which no token may hold: so no token runs past `end`, and none needs to ask. */
struct scan {
    const char *p, *end;
    size_t (*find_string_end)(const char *p, size_t n);
    const char *wrong;
    bool no_memory;
    const struct twin__fields *fields;
    struct json_value values[TWIN__MAX_FIELDS];
    twin_read_buffers *room;
    struct json_line *line;
};

/* Fields by number, as bits: those whose first steps have led to where we are. */
typedef uint32_t field_set;
_Static_assert(TWIN__MAX_FIELDS <= 32, "a set has a bit for each field");

static bool refuse(struct scan *s, const char *why)
{
    s->wrong = *s->p == '\n' ? "the line ends before its object does" : why;
    return false;
}

static bool refuse_memory(struct scan *s)
{
    s->no_memory = true;
    return false;
}

static inline void skip_blanks(struct scan *s)
{
    while (*s->p == ' ' || *s->p == '\t' || *s->p == '\r')
        s->p++;
}

static inline void skip_to_string_end(struct scan *s)
{
    s->p += s->find_string_end(s->p, (size_t)(s->end - s->p));
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits; -1 when one of them is none, and nothing behind that one is read. */
static int32_t hex_code(const char *p)
{
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* The character of "\uXXXX", or of two that make a pair; `p` stands at the backslash. */
static bool scan_code(struct scan *s, uint32_t *out)
{
    int32_t code = hex_code(s->p + 2);
    if (code < 0)
        return refuse(s, "\\u without four hex digits");
    s->p += 6;
    *out = (uint32_t)code;
    if (code < 0xD800 || code > 0xDFFF)
        return true;

    *out = TWIN__REPLACEMENT;
    if (code < 0xDC00 && s->p[0] == '\\' && s->p[1] == 'u') {
        int32_t low = hex_code(s->p + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *out = 0x10000 + ((uint32_t)(code - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
            s->p += 6;
        }
    }
    return true;
}

/* What a string holds where find_string_end stopped, which was not at its quote. */
static bool scan_escape(struct scan *s, uint32_t *out)
{
    if (*s->p != '\\') {
        s->wrong = *s->p == '\n' ? "the line ends inside a string" : "a control character in a string";
        return false;
    }
    switch (s->p[1]) {
    case '"': *out = '"'; break;
    case '\\': *out = '\\'; break;
    case '/': *out = '/'; break;
    case 'b': *out = '\b'; break;
    case 'f': *out = '\f'; break;
    case 'n': *out = '\n'; break;
    case 'r': *out = '\r'; break;
    case 't': *out = '\t'; break;
    case 'u': return scan_code(s, out);
    case '\n': s->p++; return refuse(s, NULL);
    default: return refuse(s, "an unknown escape in a string");
    }
    s->p += 2;
    return true;
}

/* The same over the string itself: it becomes no longer, and nobody looks back. */
static bool unescape_in_place(struct scan *s, twin_text *out, const char *run)
{
    char *begin = s->room->block.bytes + (run - s->room->block.bytes), *to = begin;
    for (;;) {
        size_t length = (size_t)(s->p - run);
        if (to != run)
            memmove(to, run, length);
        to += length;
        if (*s->p == '"')
            break;
        uint32_t code = 0;
        if (!scan_escape(s, &code))
            return false;
        to = twin__put_character(to, code);
        run = s->p;
        skip_to_string_end(s);
    }
    s->p++;
    *out = (twin_text){ begin, (size_t)(to - begin) };
    return true;
}

/* A string from its first escape on: runs without escapes are copied whole. */
static bool unescape(struct scan *s, twin_text *out, twin_buffer *room, const char *run)
{
    if (s->room->in_place && room == &s->room->text)
        return unescape_in_place(s, out, run);
    room->length = 0;
    for (;;) {
        size_t length = (size_t)(s->p - run);
        if (room->capacity - room->length < length + 4 && twin_buffer_reserve(room, length + 4) != TWIN_OK)
            return refuse_memory(s);
        memcpy(room->bytes + room->length, run, length);
        room->length += length;
        if (*s->p == '"')
            break;
        uint32_t code = 0;
        if (!scan_escape(s, &code))
            return false;
        room->length = (size_t)(twin__put_character(room->bytes + room->length, code) - room->bytes);
        run = s->p;
        skip_to_string_end(s);
    }
    s->p++;
    *out = (twin_text){ room->bytes, room->length };
    return true;
}

static bool scan_string(struct scan *s, twin_text *out, twin_buffer *room)
{
    const char *begin = ++s->p;
    skip_to_string_end(s);
    if (*s->p != '"')
        return unescape(s, out, room, begin);
    *out = (twin_text){ begin, (size_t)(s->p - begin) };
    s->p++;
    return true;
}

static bool skip_string(struct scan *s)
{
    s->p++;
    for (uint32_t code;;) {
        skip_to_string_end(s);
        if (*s->p == '"')
            break;
        if (!scan_escape(s, &code))
            return false;
    }
    s->p++;
    return true;
}

static bool skip_digits(struct scan *s)
{
    if (*s->p < '0' || *s->p > '9')
        return refuse(s, "expected a digit");
    while (*s->p >= '0' && *s->p <= '9')
        s->p++;
    return true;
}

static bool skip_number(struct scan *s)
{
    if (*s->p == '-')
        s->p++;
    if (*s->p == '0') {
        s->p++;
        if (*s->p >= '0' && *s->p <= '9')
            return refuse(s, "a number that begins with 0");
    } else if (!skip_digits(s)) {
        return false;
    }
    if (*s->p == '.') {
        s->p++;
        if (!skip_digits(s))
            return false;
    }
    if (*s->p == 'e' || *s->p == 'E') {
        s->p++;
        if (*s->p == '+' || *s->p == '-')
            s->p++;
        return skip_digits(s);
    }
    return true;
}

/* Compares byte by byte, for the line may end before the word does. */
static bool skip_word(struct scan *s, const char *word)
{
    for (size_t i = 0; word[i]; i++)
        if (s->p[i] != word[i])
            return refuse(s, "expected a value");
    s->p += strlen(word);
    return true;
}

static bool skip_array(struct scan *s, int depth);
static bool scan_object(struct scan *s, int depth, field_set wanted);

/* A value in which only the `wanted` fields can be, if it is an object. */
static bool skip_value(struct scan *s, int depth, field_set wanted)
{
    switch (*s->p) {
    case '"': return skip_string(s);
    case '{': return scan_object(s, depth + 1, wanted);
    case '[': return skip_array(s, depth + 1);
    case 't': return skip_word(s, "true");
    case 'f': return skip_word(s, "false");
    case 'n': return skip_word(s, "null");
    default: break;
    }
    if (*s->p == '-' || (*s->p >= '0' && *s->p <= '9'))
        return skip_number(s);
    return refuse(s, "expected a value");
}

/* Goes into an object or array; `empty` when it ends at once. */
static bool enter_container(struct scan *s, bool *empty, char closing, int depth)
{
    _Static_assert(TWIN__JSON_MAX_DEPTH == 256, "the sentence below names the limit");
    *empty = false;
    if (depth > TWIN__JSON_MAX_DEPTH)
        return refuse(s, "nested deeper than 256 levels");
    s->p++;
    skip_blanks(s);
    *empty = *s->p == closing;
    s->p += *empty;
    return true;
}

static bool skip_array(struct scan *s, int depth)
{
    bool empty;
    if (!enter_container(s, &empty, ']', depth))
        return false;
    while (!empty) {
        if (!skip_value(s, depth, 0))
            return false;
        skip_blanks(s);
        if (*s->p != ',' && *s->p != ']')
            return refuse(s, "expected ',' or ']' after a value");
        empty = *s->p++ == ']';
        if (!empty)
            skip_blanks(s);
    }
    return true;
}

static bool scan_value(struct scan *s, struct json_value *out, twin_buffer *room, int depth, field_set inside)
{
    const char *begin = s->p;
    *out = (struct json_value){ .kind = JSON_OTHER, .begin = begin };
    if (*begin == '"') {
        out->kind = JSON_STRING;
        return scan_string(s, &out->text, room);
    }
    if (!skip_value(s, depth, inside))
        return false;
    if (*begin == 'n')
        out->kind = JSON_NULL;
    if (*begin == '-' || (*begin >= '0' && *begin <= '9'))
        *out = (struct json_value){ JSON_NUMBER, { begin, (size_t)(s->p - begin) }, begin };
    return true;
}

/* The wanted fields that are the member of this key, and those that are in it. */
static void match_key(field_set *here, field_set *inside, const struct scan *s, twin_text key, int depth,
                      field_set wanted)
{
    size_t step = (size_t)depth - 1;
    *here = *inside = 0;
    for (size_t i = 0; i < s->fields->count; i++) {
        const struct twin__field *field = &s->fields->items[i];
        if (!(wanted >> i & 1))
            continue;
        if (twin__same_text(key, field->steps[step]))
            *(step + 1 == field->step_count ? here : inside) |= (field_set)1 << i;
        else if (depth == 1 && twin__same_text(key, field->name))
            *here |= (field_set)1 << i;
    }
}

/* A value that is that of the fields `here`, and may hold those `inside`. One that may be both the id and the text is
 * kept with the text; one of several texts has no room that would last, and is read again. */
static bool scan_field(struct scan *s, int depth, field_set here, field_set inside)
{
    struct json_value value;
    bool is_id = here & 1, is_text = here >> 1, is_only_text = s->fields->count == TWIN__FIELD_TEXT + 1;
    twin_buffer *room = is_text && is_only_text ? &s->room->text : is_id ? &s->room->id : &s->room->key;
    if (!scan_value(s, &value, room, depth, inside))
        return false;
    for (size_t i = 0; here >> i; i++)
        if (here >> i & 1)
            s->values[i] = value;
    return true;
}

static bool scan_member(struct scan *s, int depth, field_set wanted)
{
    twin_text key = { 0 };
    if (*s->p != '"')
        return refuse(s, "expected a key in quotes");
    if (wanted ? !scan_string(s, &key, &s->room->key) : !skip_string(s))
        return false;
    field_set here = 0, inside = 0;
    if (wanted)
        match_key(&here, &inside, s, key, depth, wanted);
    skip_blanks(s);
    if (*s->p != ':')
        return refuse(s, "expected ':' after a key");
    s->p++;
    skip_blanks(s);
    return here ? scan_field(s, depth, here, inside) : skip_value(s, depth, inside);
}

static bool scan_object(struct scan *s, int depth, field_set wanted)
{
    bool empty;
    if (!enter_container(s, &empty, '}', depth))
        return false;
    while (!empty) {
        if (!scan_member(s, depth, wanted))
            return false;
        skip_blanks(s);
        if (*s->p != ',' && *s->p != '}')
            return refuse(s, "expected ',' or '}' after a value");
        empty = *s->p++ == '}';
        if (!empty)
            skip_blanks(s);
    }
    return true;
}

/* Appends a text that was scanned before, after a line end unless it is the first. */
static bool join_text(struct scan *s, const struct json_value *value, bool first)
{
    twin_text text;
    s->p = value->begin;
    return scan_string(s, &text, &s->room->key) &&
           ((first || twin_buffer_append(&s->room->text, "\n", 1) == TWIN_OK) &&
            twin_buffer_append(&s->room->text, text.bytes, text.length) == TWIN_OK);
}

/* The text of several fields; or else the first value that is neither a string nor null, or a missing one. */
static bool join_texts(struct scan *s, struct json_value *out)
{
    *out = (struct json_value){ 0 };
    for (size_t i = TWIN__FIELD_TEXT; i < s->fields->count; i++)
        if (s->values[i].kind == JSON_NUMBER || s->values[i].kind == JSON_OTHER) {
            *out = s->values[i];
            return true;
        }
    s->room->text.length = 0;
    for (size_t i = TWIN__FIELD_TEXT; i < s->fields->count; i++) {
        const struct json_value *value = &s->values[i];
        if (value->kind != JSON_STRING)
            continue;
        if (!join_text(s, value, out->kind == JSON_MISSING))
            return refuse_memory(s);
        if (out->kind == JSON_MISSING)
            *out = *value;
    }
    out->text = (twin_text){ s->room->text.bytes ? s->room->text.bytes : "", s->room->text.length };
    return true;
}

static bool take_values(struct scan *s)
{
    const char *end = s->p;
    s->line->id = s->values[TWIN__FIELD_ID];
    s->line->text = s->values[TWIN__FIELD_TEXT];
    if (s->fields->count > TWIN__FIELD_TEXT + 1 && !join_texts(s, &s->line->text))
        return false;
    s->p = end;
    return true;
}

static bool scan_line(struct scan *s)
{
    skip_blanks(s);
    if (*s->p == '\n') {
        s->line->blank = true;
        return true;
    }
    if (*s->p != '{')
        return refuse(s, "expected an object");
    if (!scan_object(s, 1, ((field_set)1 << s->fields->count) - 1))
        return false;
    skip_blanks(s);
    return *s->p == '\n' ? take_values(s) : refuse(s, "something follows the object");
}

twin_status twin__json_scan(struct json_line *out, twin_read_buffers *room, const struct twin__fields *fields,
                            const char *line, const char *end)
{
    *out = (struct json_line){ 0 };
    struct scan s;
    s.p = line;
    s.end = end;
    s.find_string_end = twin__kernels()->find_string_end;
    s.wrong = NULL;
    s.no_memory = false;
    s.fields = fields;
    s.room = room;
    s.line = out;
    for (size_t i = 0; i < fields->count; i++) /* the others are not looked at */
        s.values[i] = (struct json_value){ 0 };
    if (scan_line(&s)) {
        out->end = s.p;
        return TWIN_OK;
    }
    if (s.no_memory)
        return TWIN_ENOMEM;
    out->wrong = s.wrong;
    out->where = s.p;
    out->end = memchr(s.p, '\n', (size_t)(end - s.p));
    return TWIN_OK;
}

/* scheme_text.c — a scheme as a line of text.
 *
 * It is a table of keys, each with a function that writes it and one that reads it, so that both directions stay
 * together. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/scheme.h>

#include "base/error.h"

/* ---- writing ---- */

static twin_status append_format(twin_buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static twin_status append_format(twin_buffer *out, const char *format, ...)
{
    char room[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room, sizeof room, format, arguments);
    va_end(arguments);
    return twin_buffer_append(out, room, (size_t)length);
}

/* The shortest decimal that reads back as the same double. */
static twin_status append_number(twin_buffer *out, double number)
{
    char room[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(room, sizeof room, "%.*g", digits, number);
        if (strtod(room, NULL) == number)
            break;
    }
    return twin_buffer_append(out, room, strlen(room));
}

static twin_status write_normal(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%s", twin_name_of(TWIN_NAMES_NORMAL, scheme->normal));
}

static twin_status write_shingle(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%s:%zu", twin_name_of(TWIN_NAMES_SHINGLE_KIND, scheme->shingle.kind),
                         scheme->shingle.width);
}

/* Stop words, separated by commas; a byte that would end a word or the field is written as %XX. */
static twin_status write_words(twin_buffer *out, const twin_scheme *scheme)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < scheme->shingle.stop_word_count && status == TWIN_OK; i++) {
        twin_text word = scheme->shingle.stop_words[i];
        if (i > 0)
            status = twin_buffer_append(out, ",", 1);
        for (size_t j = 0; j < word.length && status == TWIN_OK; j++) {
            unsigned char byte = (unsigned char)word.bytes[j];
            bool plain = byte > ' ' && byte != ',' && byte != '%' && byte != 0x7F;
            status = append_format(out, plain ? "%c" : "%%%02X", byte);
        }
    }
    return status;
}

static twin_status write_hash(twin_buffer *out, const twin_scheme *scheme)
{
    twin_hash hash = scheme->shingle.hash;
    if (hash.family == TWIN_HASH_SIP)
        return append_format(out, "sip:%016" PRIx64 "%016" PRIx64, hash.key[0], hash.key[1]);
    return append_format(out, "%s:%" PRIu64, twin_name_of(TWIN_NAMES_HASH_FAMILY, hash.family), hash.seed);
}

static twin_status write_sketch(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%s", twin_name_of(TWIN_NAMES_SKETCH, scheme->minhash.sketch));
}

static twin_status write_slots(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%zu", scheme->minhash.slots);
}

static twin_status write_seed(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%" PRIu64, scheme->minhash.seed);
}

static twin_status write_measure(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%s", twin_name_of(TWIN_NAMES_MEASURE, scheme->measure));
}

static twin_status write_threshold(twin_buffer *out, const twin_scheme *scheme)
{
    return append_number(out, scheme->threshold);
}

static twin_status write_bands(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%zu", scheme->plan.bands);
}

static twin_status write_rows(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%zu", scheme->plan.rows);
}

static twin_status write_multiset(twin_buffer *out, const twin_scheme *scheme)
{
    return append_format(out, "%s", scheme->multiset ? "yes" : "no");
}

/* ---- reading. Values end with a zero; false: not a value of this key. */

static bool read_scheme_number(uint64_t *out, const char *value, int base)
{
    char *end;
    if (!strchr("0123456789abcdef", value[0]) || !value[0])
        return false;
    errno = 0;
    *out = strtoull(value, &end, base);
    return *end == '\0' && errno == 0;
}

static bool read_size(size_t *out, const char *value)
{
    uint64_t number;
    if (!read_scheme_number(&number, value, 10) || number == 0 || number > UINT32_MAX)
        return false;
    *out = (size_t)number;
    return true;
}

static bool read_normal(twin_scheme *out, const char *value)
{
    int normal = twin_value_of(TWIN_NAMES_NORMAL, value);
    out->normal = (twin_normal)normal;
    return normal >= 0;
}

static bool read_shingle(twin_scheme *out, const char *value)
{
    return twin_shingle_parse(&out->shingle, value) == TWIN_OK;
}

static bool read_key(uint64_t key[2], const char *value)
{
    char half[17] = { 0 };
    if (strlen(value) != 32)
        return false;
    for (int i = 0; i < 2; i++) {
        memcpy(half, value + 16 * i, 16);
        if (strspn(half, "0123456789abcdef") != 16 || !read_scheme_number(&key[i], half, 16))
            return false;
    }
    return true;
}

static bool read_hash(twin_scheme *out, const char *value)
{
    char family[16];
    const char *colon = strchr(value, ':');
    if (!colon || (size_t)(colon - value) >= sizeof family)
        return false;
    memcpy(family, value, (size_t)(colon - value));
    family[colon - value] = '\0';
    twin_hash *hash = &out->shingle.hash;
    int number = twin_value_of(TWIN_NAMES_HASH_FAMILY, family);
    if (number < 0)
        return false;
    hash->family = (twin_hash_family)number;
    return hash->family == TWIN_HASH_SIP ? read_key(hash->key, colon + 1)
                                         : read_scheme_number(&hash->seed, colon + 1, 10);
}

static bool read_sketch(twin_scheme *out, const char *value)
{
    int sketch = twin_value_of(TWIN_NAMES_SKETCH, value);
    out->minhash.sketch = (twin_sketch)sketch;
    return sketch >= 0;
}

static bool read_slots(twin_scheme *out, const char *value)
{
    return read_size(&out->minhash.slots, value);
}

static bool read_seed(twin_scheme *out, const char *value)
{
    return read_scheme_number(&out->minhash.seed, value, 10);
}

static bool read_measure(twin_scheme *out, const char *value)
{
    int measure = twin_value_of(TWIN_NAMES_MEASURE, value);
    out->measure = (twin_measure)measure;
    return measure >= 0;
}

static bool read_threshold(twin_scheme *out, const char *value)
{
    char *end;
    out->threshold = strtod(value, &end);
    return *end == '\0' && strspn(value, "0123456789.e-") == strlen(value) && out->threshold > 0;
}

static bool read_bands(twin_scheme *out, const char *value)
{
    return read_size(&out->plan.bands, value);
}

static bool read_rows(twin_scheme *out, const char *value)
{
    return read_size(&out->plan.rows, value);
}

static bool read_multiset(twin_scheme *out, const char *value)
{
    out->multiset = strcmp(value, "yes") == 0;
    return out->multiset || strcmp(value, "no") == 0;
}

/* In the order in which they are written. Stop words are read separately, since they need memory that outlives the
 * call. */
static const struct key {
    const char *name;
    twin_status (*write)(twin_buffer *out, const twin_scheme *scheme);
    bool (*read)(twin_scheme *out, const char *value);
} keys[] = {
    { "normal", write_normal, read_normal },
    { "shingle", write_shingle, read_shingle },
    { "stop-words", write_words, NULL },
    { "hash", write_hash, read_hash },
    { "sketch", write_sketch, read_sketch },
    { "slots", write_slots, read_slots },
    { "seed", write_seed, read_seed },
    { "measure", write_measure, read_measure },
    { "threshold", write_threshold, read_threshold },
    { "bands", write_bands, read_bands },
    { "rows", write_rows, read_rows },
    { "multiset", write_multiset, read_multiset },
};
enum { KEYS = sizeof keys / sizeof keys[0], WORDS_KEY = 2, MULTISET_KEY = KEYS - 1 };

/* ---- whole lines ---- */

static twin_status write_line(twin_buffer *out, const twin_scheme *scheme)
{
    bool words = scheme->shingle.kind == TWIN_SHINGLE_STOP && scheme->shingle.stop_words;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < KEYS && status == TWIN_OK; i++) {
        if ((i == WORDS_KEY && !words) || (i == MULTISET_KEY && !scheme->multiset))
            continue; /* so that programs before multisets read those of sets, and refuse the others */
        status = append_format(out, "%s%s=", i ? " " : "", keys[i].name);
        if (status == TWIN_OK)
            status = keys[i].write(out, scheme);
    }
    return status;
}

/* Runs with the number format of the C locale, whatever locale the program uses. */
static locale_t begin_c_numbers(locale_t *old)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    *old = c ? uselocale(c) : (locale_t)0;
    return c;
}

static void end_c_numbers(locale_t c, locale_t old)
{
    uselocale(old);
    freelocale(c);
}

twin_status twin_scheme_write(twin_buffer *out, const twin_scheme *scheme)
{
    if (!out || !scheme)
        return twin__fail_null(NULL, out ? "scheme" : "out");
    twin_scheme complete = *scheme;
    twin_status status = twin_scheme_complete(&complete, NULL);
    if (status != TWIN_OK)
        return status;
    locale_t old, c = begin_c_numbers(&old);
    if (!c)
        return TWIN_ENOMEM;
    status = write_line(out, &complete);
    end_c_numbers(c, old);
    return status;
}

static int hex_digit(char digit)
{
    const char *digits = "0123456789ABCDEF", *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Undoes %XX in place, at the front of `value`; the new length, or SIZE_MAX. */
static size_t unescape(char *value, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (value[i] != '%') {
            value[used++] = value[i];
            continue;
        }
        int high = i + 2 < length ? hex_digit(value[i + 1]) : -1, low = high < 0 ? -1 : hex_digit(value[i + 2]);
        if (low < 0)
            return SIZE_MAX;
        value[used++] = (char)(16 * high + low);
        i += 2;
    }
    return used;
}

/* Stop words: the list of texts, then their bytes, all in `room`. */
static twin_status read_words(twin_scheme *out, twin_buffer *room, const char *value)
{
    size_t length = strlen(value), count = length > 0;
    for (size_t i = 0; i < length; i++)
        count += value[i] == ',';
    room->length = 0;
    twin_status status = twin_buffer_reserve(room, count * sizeof(twin_text) + length + 1);
    if (status != TWIN_OK)
        return status;
    twin_text *list = (void *)room->bytes;
    char *bytes = room->bytes + count * sizeof *list;
    memcpy(bytes, value, length + 1);
    for (size_t i = 0; i < count; i++) {
        size_t whole = strcspn(bytes, ","), plain = unescape(bytes, whole);
        if (plain == SIZE_MAX || plain == 0)
            return TWIN_EFORMAT;
        list[i] = (twin_text){ bytes, plain };
        bytes += whole + 1;
    }
    room->length = count * sizeof *list + length + 1;
    out->shingle.stop_words = list;
    out->shingle.stop_word_count = count;
    return TWIN_OK;
}

/* Reads the field "KEY=VALUE" that starts at `field` and ends with a zero. */
static twin_status read_field(twin_scheme *out, twin_buffer *words, unsigned *seen, char *field)
{
    char *equals = strchr(field, '=');
    if (!equals)
        return TWIN_EFORMAT;
    *equals = '\0';
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(field, keys[i].name) != 0)
            continue;
        if (*seen & 1u << i)
            return TWIN_EFORMAT;
        *seen |= 1u << i;
        if (i == WORDS_KEY)
            return read_words(out, words, equals + 1);
        return keys[i].read(out, equals + 1) ? TWIN_OK : TWIN_EFORMAT;
    }
    return TWIN_EFORMAT;
}

static twin_status read_line(twin_scheme *out, twin_buffer *words, char *line, size_t length, twin_error *error)
{
    unsigned seen = 0;
    for (char *field = line; field < line + length;) {
        size_t size = strcspn(field, " ");
        field[size] = '\0';
        twin_status status = size ? read_field(out, words, &seen, field) : TWIN_OK;
        if (status == TWIN_ENOMEM)
            return twin__fail_memory(error);
        if (status != TWIN_OK)
            return twin__fail_at(error, status, (uint64_t)(field - line),
                                 "byte %td: '%.40s' is not a part of a scheme", field - line + 1, field);
        field += size + 1;
    }
    return TWIN_OK;
}

twin_status twin_scheme_read(twin_scheme *out, twin_buffer *words, twin_text line, twin_error *error)
{
    if (!out || !words || (!line.bytes && line.length))
        return twin__fail_null(error, !out ? "out" : !words ? "words" : "line.bytes");
    *out = (twin_scheme){ 0 };
    char *copy = malloc(line.length + 1);
    locale_t old, c = begin_c_numbers(&old);
    twin_status status = TWIN_OK;
    if (!copy || !c)
        status = twin__fail_memory(error);
    else if (line.length && memchr(line.bytes, '\0', line.length))
        status = twin__fail(error, TWIN_EFORMAT, "a scheme does not contain a zero byte");
    if (status == TWIN_OK) {
        if (line.length)
            memcpy(copy, line.bytes, line.length);
        copy[line.length] = '\0';
        status = read_line(out, words, copy, line.length, error);
    }
    if (status == TWIN_OK && twin_scheme_complete(out, NULL) != TWIN_OK)
        status = twin__fail(error, TWIN_EFORMAT, "%s", twin_error_last(TWIN_EINVAL));
    if (c)
        end_c_numbers(c, old);
    free(copy);
    return status;
}

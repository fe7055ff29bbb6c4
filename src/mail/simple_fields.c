/* simple_fields.c — headers as almost all mail has them. */
#include "mail/simple_fields.h"

#include <string.h>
#include <strings.h>

#include "mail/fields.h"
#include "mail/mime.h"

static bool is_token_byte(char c)
{
    return twin__is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '+';
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* The token at *at, which moves behind it. */
static twin_text token(const char **at)
{
    const char *begin = *at;
    while (is_token_byte(**at))
        ++*at;
    return (twin_text){ begin, (size_t)(*at - begin) };
}

/* What stands between quotation marks; *at is at the first and moves behind the second. False: it is not simple. */
static bool quoted(twin_text *out, const char **at)
{
    const char *begin = ++*at;
    for (; **at != '"'; ++*at)
        if (**at < ' ' || **at > '~' || **at == '\\' || (**at == '=' && (*at)[1] == '?'))
            return false;
    *out = (twin_text){ begin, (size_t)(*at - begin) };
    ++*at;
    return true;
}

struct wanted {
    const char *name;
    twin_text *value;
};

static bool keep(const struct wanted *wanted, twin_text name, twin_text value)
{
    for (; wanted->name; wanted++)
        if (twin__is_named(name, wanted->name)) {
            bool is_first = !wanted->value->bytes;
            *wanted->value = value;
            return is_first;
        }
    return true;
}

static bool read_parameter(const struct wanted *wanted, const char **at)
{
    *at = skip_blanks(*at);
    twin_text name = token(at), value;
    if (name.length == 0 || **at != '=')
        return false;
    ++*at;
    if (**at != '"')
        value = token(at);
    else if (!quoted(&value, at))
        return false;
    return value.length > 0 && keep(wanted, name, value);
}

/* What is wanted of the parameters, up to the end. */
static bool read_parameters(const struct wanted *wanted, const char *at)
{
    for (at = skip_blanks(at); *at == ';'; at = skip_blanks(at)) {
        at++;
        if (!read_parameter(wanted, &at))
            return false;
    }
    return *at == '\0';
}

bool twin__content_type_read(struct twin__content_type *out, const char *value)
{
    *out = (struct twin__content_type){ 0 };
    const char *at = value;
    bool has_type = token(&at).length > 0 && *at == '/';
    at += has_type;
    if (!has_type || token(&at).length == 0)
        return false;
    out->type = (twin_text){ value, (size_t)(at - value) };
    const struct wanted wanted[] = { { "charset", &out->charset },
                                     { "boundary", &out->boundary },
                                     { "name", &out->name },
                                     { "delsp", &out->delsp },
                                     { 0 } };
    return read_parameters(wanted, at);
}

bool twin__disposition_read(twin_text *filename, const char *value)
{
    const struct wanted wanted[] = { { "filename", filename }, { 0 } };
    *filename = (twin_text){ 0 };
    return token(&value).length > 0 && read_parameters(wanted, value);
}

/* ---- dates */

/* A number of `least` to `most` digits at *at, which moves behind it; -1: there is none. */
static int number(const char **at, int least, int most)
{
    int value = 0, digits = 0;
    for (; **at >= '0' && **at <= '9' && digits <= most; ++*at, digits++)
        value = 10 * value + (**at - '0');
    return digits < least || digits > most ? -1 : value;
}

/* Which of the names, of three letters each, is at *at, which moves behind it; -1: none. */
static int name_of(const char **at, const char *names)
{
    for (int i = 0; names[3 * i]; i++)
        if (strncmp(names + 3 * i, *at, 3) == 0) {
            *at += 3;
            return i;
        }
    return -1;
}

static bool skip(const char **at, char wanted)
{
    bool found = **at == wanted;
    *at += found;
    return found;
}

/* Days before each month, from 0, of a year that is no leap year. */
static const int16_t before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365 };

/* Days from 1970 to a day of the Gregorian calendar. */
static int64_t days_to(int year, int month, int day)
{
    int64_t years = month < 2 ? year - 1 : year; /* whose leap day is over; up to 1969 there were 477 */
    return 365 * (int64_t)(year - 1970) + years / 4 - years / 100 + years / 400 - 477 + before[month] + day - 1;
}

/* "+0200" in seconds, or "GMT". A zone of more than 59 minutes is none, which counts as GMT, as it does to GLib. */
static bool read_zone(int *out, const char **at)
{
    int sign = **at == '-' ? -1 : 1;
    *out = 0;
    if (name_of(at, "GMT") == 0)
        return true;
    if (!skip(at, '+') && !skip(at, '-'))
        return false;
    int zone = number(at, 4, 4), hours = zone / 100, minutes = zone % 100;
    if (minutes < 60)
        *out = sign * 60 * (60 * hours + minutes);
    return zone >= 0 && hours < 24;
}

bool twin__date_read(int64_t *out, const char *value)
{
    const char *at = skip_blanks(value);
    if (name_of(&at, "SunMonTueWedThuFriSat") >= 0 && !(skip(&at, ',') && skip(&at, ' ')))
        return false;
    at = skip_blanks(at);
    int day = number(&at, 1, 2), month = skip(&at, ' ') ? name_of(&at, "JanFebMarAprMayJunJulAugSepOctNovDec") : -1;
    int year = skip(&at, ' ') ? number(&at, 4, 4) : -1, hour = skip(&at, ' ') ? number(&at, 1, 2) : -1;
    int minute = skip(&at, ':') ? number(&at, 1, 2) : -1, second = skip(&at, ':') ? number(&at, 1, 2) : 0;
    int zone;
    bool has_day = day >= 1 && month >= 0 && day <= before[month + 1] - before[month] && year >= 1970;
    bool has_time = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
    if (!has_day || !has_time || !skip(&at, ' ') || !read_zone(&zone, &at))
        return false;
    *out = days_to(year, month, day) * 86400 + 3600 * hour + 60 * minute + second - zone;
    return *at == '\0' || *at == ' ';
}

/* ---- encoded words */

/* What the Q encoding stands for; returns where it ends, NULL if it is not simple. */
static char *decode_q(char *to, twin_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if (c == '=') {
            int high = i + 2 < text.length ? twin__hex_digit(text.bytes[i + 1]) : -1;
            int low = high < 0 ? -1 : twin__hex_digit(text.bytes[i + 2]);
            if (low < 0)
                return NULL;
            c = (char)(16 * high + low);
            i += 2;
        }
        *to++ = text.bytes[i] == '_' ? ' ' : c;
    }
    return to;
}

/* The same of the B encoding, if nothing had to be skipped and nothing is missing. */
static char *decode_b(char *to, twin_text text)
{
    size_t length = text.length, padding = 0;
    while (padding < 2 && padding < length && text.bytes[length - 1 - padding] == '=')
        padding++;
    char *end = twin__base64_decode(to, text);
    return length % 4 == 0 && (size_t)(end - to) == length / 4 * 3 - padding ? end : NULL;
}

/* Appends what the encoded word at *at stands for, which moves behind it. TWIN_EINVAL: it is not simple. */
static twin_status read_word(twin_buffer *out, const char **at)
{
    enum { HEAD = 8 };
    const char *begin = *at + HEAD + 2, *end;
    if (strncasecmp(*at, "=?utf-8?", HEAD) != 0)
        return TWIN_EINVAL;
    char encoding = twin__lower((*at)[HEAD]);
    if ((encoding != 'q' && encoding != 'b') || (*at)[HEAD + 1] != '?')
        return TWIN_EINVAL;
    end = begin + strcspn(begin, "? \t");
    if (end == begin || end[0] != '?' || end[1] != '=' || !strchr(" \t", end[2]))
        return TWIN_EINVAL;
    twin_text text = { begin, (size_t)(end - begin) };
    if (twin_buffer_reserve(out, text.length) != TWIN_OK)
        return TWIN_ENOMEM;
    char *to = out->bytes + out->length;
    char *past = encoding == 'q' ? decode_q(to, text) : decode_b(to, text);
    size_t length = past ? (size_t)(past - to) : 0;
    *at = end + 2;
    out->length += length;
    return past && twin__is_utf8(to, length) && !memchr(to, '\0', length) ? TWIN_OK : TWIN_EINVAL;
}

twin_status twin__words_read(twin_buffer *out, const char *value)
{
    twin_status status = TWIN_OK;
    bool after_word = false;
    for (const char *at = value; *at && status == TWIN_OK;) {
        size_t blanks = strspn(at, " \t"), plain = strcspn(at + blanks, " \t");
        bool is_word = strncmp(at + blanks, "=?", 2) == 0;
        if (is_word && after_word && at[-3] == '=')
            return TWIN_EINVAL;      /* GMime takes padding for the end of both */
        if (!is_word || !after_word) /* blanks between two encoded words do not count */
            status = twin_buffer_append(out, at, blanks);
        at += blanks;
        after_word = is_word;
        if (is_word && status == TWIN_OK) {
            status = read_word(out, &at);
            continue;
        }
        for (size_t i = 0; i < plain; i++)
            if (at[i] < ' ' || at[i] > '~' || (at[i] == '=' && at[i + 1] == '?'))
                return TWIN_EINVAL;
        if (status == TWIN_OK)
            status = twin_buffer_append(out, at, plain);
        at += plain;
    }
    return status;
}

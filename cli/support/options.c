/* options.c — the kinds of option values: how each is read, shown, and refused.
 *
 * A kind has a function that reads a text into the member of the request that the row of the option names, and one that
 * shows a default in --help. Numbers are scanned strictly: no blanks, no signs, no fractions of a count. */
#include "options.h"

#include "keys.h"
#include "messages.h"
#include "paths.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- flags, texts */

static bool read_flag(void *value, const struct option_row *row, const char *text)
{
    (void)row, (void)text;
    *(bool *)value = true;
    return true;
}

const struct option_kind option_flag = { read_flag, NULL };

static bool read_text(void *value, const struct option_row *row, const char *text)
{
    *(const char **)value = text;
    if (*text)
        return true;
    return refuse("--%s: the value is empty", row->name);
}

static void show_text(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)row;
    const char *text = *(const char *const *)value;
    snprintf(out, OPTION_VALUE_ROOM, "%s", text ? text : "");
}

const struct option_kind option_text = { read_text, show_text };

/* An hour of work must not end because it is missing. */
static bool read_folder(void *value, const struct option_row *row, const char *text)
{
    if (!read_text(value, row, text))
        return false;
    if (!is_folder(text))
        return refuse("--%s: %s is not a folder; create it first", row->name, text);
    return access(text, W_OK | X_OK) == 0 ||
           refuse("--%s: %s: cannot be written: %s", row->name, text, strerror(errno));
}

const struct option_kind option_folder = { read_folder, show_text };

static bool read_list(void *value, const struct option_row *row, const char *text)
{
    struct option_texts *texts = value;
    if (texts->count == OPTION_MOST_TEXTS)
        return refuse("--%s: may be given %d times at most", row->name, (int)OPTION_MOST_TEXTS);
    return read_text(&texts->items[texts->count++], row, text);
}

const struct option_kind option_list = { read_list, NULL };

const struct option_kind option_help, option_version;

/* ---- counts */

/* The digits of a decimal number, with and without a point, as a whole number times a power of ten. Returns where
 * they end. Digits that do not fit make it UINT64_MAX. */
static const char *scan_digits(uint64_t *out, int *power, const char *text)
{
    bool point = false;
    *out = 0;
    *power = 0;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        unsigned digit = (unsigned)(*text - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
        *power -= point;
    }
    return text;
}

/* "e6", "E+6", "M" after the digits; adds to the power. */
static const char suffixes[] = "KMGT";

static bool scan_scale(int *power, const char *text)
{
    if (*text == 'e' || *text == 'E') {
        char *end;
        if (!isdigit((unsigned char)text[1 + (text[1] == '+')]))
            return false;
        long exponent = strtol(text + 1, &end, 10);
        *power += exponent < 100 ? (int)exponent : 100;
        text = end;
    }
    const char *suffix = *text ? strchr(suffixes, toupper((unsigned char)*text)) : NULL;
    if (suffix)
        *power += 3 * (int)(suffix - suffixes + 1);
    return suffix ? text[1] == '\0' : *text == '\0';
}

bool scan_count(uint64_t *out, const char *text)
{
    int power;
    if (!isdigit((unsigned char)*text))
        return false;
    const char *rest = scan_digits(out, &power, text);
    if (!scan_scale(&power, rest))
        return false;
    for (; power > 0; power--)
        *out = *out > UINT64_MAX / 10 ? UINT64_MAX : *out * 10;
    for (; power < 0 && *out % 10 == 0; power++)
        *out /= 10;
    return power == 0; /* else a fraction is left */
}

/* "1.5Gi": digits, and a suffix that stands for a power of 1024. */
static bool scan_binary(uint64_t *out, const char *text)
{
    uint64_t digits;
    int power;
    if (!isdigit((unsigned char)*text))
        return false;
    const char *rest = scan_digits(&digits, &power, text);
    const char *suffix = *rest ? strchr(suffixes, toupper((unsigned char)*rest)) : NULL;
    if (!suffix || strcmp(rest + 1, "i") != 0)
        return false;
    long double bytes = ldexpl((long double)digits, 10 * (int)(suffix - suffixes + 1));
    for (; power < 0; power++)
        bytes /= 10;
    *out = bytes < 0x1p64L ? (uint64_t)bytes : UINT64_MAX;
    return true;
}

bool scan_bytes(uint64_t *out, const char *text)
{
    char count[OPTION_VALUE_ROOM];
    size_t length = strlen(text);
    bool has_unit = length > 0 && toupper((unsigned char)text[length - 1]) == 'B';
    if (length >= sizeof count)
        return false;
    snprintf(count, sizeof count, "%.*s", (int)(length - has_unit), text);
    return scan_count(out, count) || (has_unit && scan_binary(out, count));
}

void fail_count(const char *name, const char *text, uint64_t least, uint64_t most)
{
    enum { MILLION = 1000000 };
    bool in_millions = least >= MILLION && least % MILLION == 0;
    if (most == UINT64_MAX)
        fail("%s: \"%s\" is not a whole number of at least %" PRIu64 "%s", name, text,
             in_millions ? least / MILLION : least, in_millions ? "M" : "");
    else
        fail("%s: \"%s\" is not a whole number from %" PRIu64 " to %" PRIu64, name, text, least, most);
}

static bool read_count(void *value, const struct option_row *row, const char *text)
{
    char name[OPTION_VALUE_ROOM];
    uint64_t number, most = row->most ? row->most : UINT64_MAX;
    bool good = scan_count(&number, text) && number >= row->least && number <= most;
    snprintf(name, sizeof name, "--%s", row->name);
    if (good)
        *(uint64_t *)value = number;
    else
        fail_count(name, text, row->least, most);
    return good;
}

static bool read_bytes(void *value, const struct option_row *row, const char *text)
{
    uint64_t number;
    if (!scan_bytes(&number, text))
        return refuse("--%s: \"%s\" is not a number of bytes, such as 2G, 2GB or 2GiB", row->name, text);
    if (number >= row->least && (!row->most || number <= row->most)) {
        *(uint64_t *)value = number;
        return true;
    }
    return read_count(value, row, text);
}

static bool read_size(void *value, const struct option_row *row, const char *text)
{
    uint64_t number;
    if (!read_count(&number, row, text))
        return false;
    *(size_t *)value = (size_t)number;
    return true;
}

static void show_count(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)row;
    uint64_t number = *(const uint64_t *)value;
    snprintf(out, number ? OPTION_VALUE_ROOM : 1, "%" PRIu64, number);
}

const struct option_kind option_count = { read_count, show_count };
const struct option_kind option_bytes = { read_bytes, show_count };
const struct option_kind option_size = { read_size, NULL };

static bool read_seed(void *value, const struct option_row *row, const char *text)
{
    char *end = NULL;
    if (strcmp(text, "random") == 0)
        return draw_random(value, sizeof(uint64_t));
    errno = 0;
    if (isdigit((unsigned char)text[0])) {
        bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
        *(uint64_t *)value = strtoull(text, &end, hexadecimal ? 16 : 10);
    }
    if (end && *end == '\0' && errno == 0)
        return true;
    return refuse("--%s: \"%s\" is not random, and not a whole number from 0 to %" PRIu64, row->name, text,
                  UINT64_MAX);
}

static void show_seed(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)row;
    uint64_t seed = *(const uint64_t *)value;
    if (seed == OPTION_SEED_RANDOM)
        snprintf(out, OPTION_VALUE_ROOM, "random");
    else
        snprintf(out, OPTION_VALUE_ROOM, "%" PRIu64, seed);
}

const struct option_kind option_seed = { read_seed, show_seed };

/* ---- fractions */

bool scan_fraction(double *out, const char *text, const char **end)
{
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    size_t length = strspn(text, "0123456789.eE+-"); /* no blanks, no hexadecimal digits, no "inf" */
    char *stop;
    *out = strtod(text, &stop);
    *end = stop;
    return stop > text && (size_t)(stop - text) <= length && isfinite(*out) && *out <= 1;
}

static bool read_fraction(void *value, const struct option_row *row, const char *text)
{
    const char *end;
    if (scan_fraction(value, text, &end) && *end == '\0')
        return true;
    return refuse("--%s: \"%s\" is not a number from 0 to 1", row->name, text);
}

static void show_fraction(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)row;
    double number = *(const double *)value;
    snprintf(out, number > 0 ? OPTION_VALUE_ROOM : 1, "%g", number);
}

const struct option_kind option_fraction = { read_fraction, show_fraction };

static bool read_point(void *value, const struct option_row *row, const char *text)
{
    twin_plan_point *out = value;
    const char *end;
    if (scan_fraction(&out->similarity, text, &end) && *end == ':' &&
        scan_fraction(&out->probability, end + 1, &end) && *end == '\0')
        return true;
    return refuse(
        "--%s: \"%s\" is not a similarity and a probability from 0 to 1 with a colon between, like 0.9:0.99",
        row->name, text);
}

const struct option_kind option_point = { read_point, NULL };

/* ---- choices */

int word_number(const char *words, const char *word)
{
    size_t length = strlen(word);
    int number = 0;
    for (const char *at = words; *at; number++) {
        size_t here = strcspn(at, " ");
        if (here == length && memcmp(at, word, length) == 0)
            return number;
        at += here + (at[here] == ' ');
    }
    return -1;
}

bool word_at(char out[OPTION_VALUE_ROOM], const char *words, size_t number)
{
    const char *at = words;
    for (; number > 0 && *at; number--) {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    snprintf(out, OPTION_VALUE_ROOM, "%.*s", (int)strcspn(at, " "), at);
    return *at != '\0';
}

static bool read_choice(void *value, const struct option_row *row, const char *text)
{
    int number = word_number(row->choices, text);
    if (number >= 0) {
        memcpy(value, &(unsigned){ (unsigned)number }, sizeof(unsigned));
        return true;
    }
    char list[256] = "", word[OPTION_VALUE_ROOM];
    for (size_t i = 0; word_at(word, row->choices, i); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", word);
    }
    return refuse("--%s: \"%s\" is not one of %s", row->name, text, list);
}

static void show_choice(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    unsigned number;
    memcpy(&number, value, sizeof number); /* enums of this program have the size of an unsigned */
    word_at(out, row->choices, number);
}

const struct option_kind option_choice = { read_choice, show_choice };

/* ---- spelling */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t spelling_distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t row[LONGEST + 1], length = strlen(b);
    if (length > LONGEST || strlen(a) > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= length; j++) {
            size_t replaced = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replaced, 1 + smaller(row[j], row[j - 1]));
        }
    }
    return row[length];
}

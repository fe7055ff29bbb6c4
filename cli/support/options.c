/* options.c — options and their values, with an answer for each wrong one. */
#include "options.h"

#include "messages.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ":ho:q", from the rows whose value is a letter. */
static void letters_of(char *out, const struct option *table)
{
    *out++ = ':'; /* a missing value is told apart from an unknown option */
    for (; table->name; table++) {
        if (table->val <= ' ' || table->val > '~')
            continue;
        *out++ = (char)table->val;
        for (int colons = table->has_arg; colons > 0; colons--)
            *out++ = ':';
    }
    *out = '\0';
}

/* The option most like a wrong one; NULL when none is within two slips of the finger. */
static const char *nearest_option(const struct option *table, const char *word, size_t length)
{
    char name[32];
    const char *nearest = NULL;
    size_t least = 3;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (; table->name; table++) {
        size_t distance = spelling_distance(name, table->name);
        if (distance < least && distance < strlen(table->name) / 2) {
            least = distance;
            nearest = table->name;
        }
    }
    return nearest;
}

static void tell_unknown_option(const struct option *table, const char *word, int length)
{
    const char *nearest = nearest_option(table, word + 2, (size_t)length - 2);
    if (nearest)
        fail("there is no option %.*s; did you mean --%s?", length, word, nearest);
    else
        fail("there is no option %.*s, or it is cut too short; --help lists them", length, word);
}

/* What is wrong with the option that getopt has just refused. */
static void tell_wrong_option(int answer, char **argv, const struct option *table)
{
    const char *word = argv[optind - 1];
    bool is_long = word && strncmp(word, "--", 2) == 0;
    int length = is_long ? (int)strcspn(word, "=") : 0;
    if (answer == ':' && is_long)
        fail("%s needs a value", word);
    else if (answer == ':')
        fail("-%c needs a value", optopt);
    else if (is_long && optopt)
        fail("%.*s takes no value", length, word);
    else if (is_long)
        tell_unknown_option(table, word, length);
    else
        fail("there is no option -%c; --help lists them", optopt);
}

int next_option(int argc, char **argv, const struct option *table)
{
    char letters[3 * OPTION_TABLE_ROOM + 2];
    letters_of(letters, table);
    opterr = 0;
    int option = getopt_long(argc, argv, letters, table, NULL);
    if (option != '?' && option != ':')
        return option;
    tell_wrong_option(option, argv, table);
    return '?';
}

/* A decimal number and nothing else: no blanks, no hexadecimals, no "inf". `end` is where it stopped. */
static bool scan_number(double *out, const char *text, const char **end)
{
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    size_t length = strspn(text, "0123456789.eE+-");
    char *stop;
    *out = strtod(text, &stop);
    *end = stop;
    return stop > text && (size_t)(stop - text) <= length && isfinite(*out);
}

static bool scan_fraction(double *out, const char *text, const char **end)
{
    return scan_number(out, text, end) && *out <= 1;
}

bool read_fraction(double *out, const char *name, const char *value)
{
    const char *end;
    if (scan_fraction(out, value, &end) && *end == '\0')
        return true;
    fail("%s: \"%s\" is not a number from 0 to 1", name, value);
    return false;
}

bool read_point(twin_plan_point *out, const char *name, const char *value)
{
    const char *end;
    if (scan_fraction(&out->similarity, value, &end) && *end == ':' &&
        scan_fraction(&out->probability, end + 1, &end) && *end == '\0')
        return true;
    fail("%s: \"%s\" is not a similarity and a probability from 0 to 1 with a colon between, like 0.9:0.99", name,
         value);
    return false;
}

/* Digits and perhaps a suffix; false when it is anything else, UINT64_MAX when it is more than that. */
static bool scan_count(uint64_t *out, const char *text)
{
    static const char suffixes[] = "KMG";
    if (!isdigit((unsigned char)text[0]))
        return false;
    char *end;
    uint64_t number = strtoull(text, &end, 10); /* ULLONG_MAX when it is larger */
    const char *suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
    if (*end && (!suffix || end[1]))
        return false;
    for (const char *s = suffixes; suffix && s <= suffix; s++)
        number = number > UINT64_MAX / 1000 ? UINT64_MAX : number * 1000;
    *out = number;
    return true;
}

bool read_count(uint64_t *out, const char *name, const char *value, uint64_t least, uint64_t most)
{
    if (scan_count(out, value) && *out >= least && *out <= most)
        return true;
    if (most == UINT64_MAX)
        fail("%s: \"%s\" is not a whole number from %" PRIu64 " up", name, value, least);
    else
        fail("%s: \"%s\" is not a whole number from %" PRIu64 " to %" PRIu64, name, value, least, most);
    return false;
}

bool read_seed(uint64_t *out, const char *name, const char *value)
{
    char *end = NULL;
    errno = 0;
    if (isdigit((unsigned char)value[0])) {
        bool hexadecimal = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
        *out = strtoull(value, &end, hexadecimal ? 16 : 10);
    }
    if (end && *end == '\0' && errno == 0)
        return true;
    fail("%s: \"%s\" is not a whole number from 0 to %" PRIu64, name, value, UINT64_MAX);
    return false;
}

bool read_choice(size_t *out, const char *name, const char *value, const char *const *names, size_t count)
{
    char list[256] = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    fail("%s: \"%s\" is not one of %s", name, value, list);
    return false;
}

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

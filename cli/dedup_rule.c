/* dedup_rule.c — options of all commands that decide which documents stay. */
#include "dedup_rule.h"

#include "support/messages.h"

#include <stdlib.h>
#include <string.h>

/* The words that need no field, and their rules. */
static const char words[] = "first last longest shortest";
static const twin_preference rules[] = { TWIN_PREFER_FIRST, TWIN_PREFER_LAST, TWIN_PREFER_LONGEST,
                                         TWIN_PREFER_SHORTEST };

/* One of these, FIELD:max or FIELD:min. */
static bool read_keep(void *value, const struct option_row *row, const char *text)
{
    struct keep *keep = value;
    int number = word_number(words, text);
    const char *colon = strrchr(text, ':');
    bool most = colon && strcmp(colon, ":max") == 0, least = colon && strcmp(colon, ":min") == 0;
    *keep = (struct keep){ number >= 0 ? rules[number] : most ? TWIN_PREFER_MOST : TWIN_PREFER_LEAST, "" };
    if (number >= 0)
        return true;
    if ((most || least) && colon > text && (size_t)(colon - text) < KEEP_FIELD_ROOM) {
        memcpy(keep->field, text, (size_t)(colon - text));
        return true;
    }
    return refuse("--%s: \"%s\" is not first, last, longest, shortest, FIELD:max or FIELD:min", row->name, text);
}

static void show_keep(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)row;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i] == ((const struct keep *)value)->rule)
            word_at(out, words, i);
}

const struct option_kind option_keep = { read_keep, show_keep };

twin_dedup_options keep_rule(const struct keep *keep, bool chain, twin_similar_options search)
{
    return (twin_dedup_options){
        .search = search, .preference = keep->rule, .field = *keep->field ? keep->field : NULL, .chain = chain
    };
}

enum { MOST_PARTS = 100000 };

/* A number from 1 to MOST_PARTS that ends at `stop`. */
static bool scan_part(uint32_t *out, const char **at, char stop)
{
    char *end;
    unsigned long number = strtoul(*at, &end, 10);
    bool good = **at >= '0' && **at <= '9' && *end == stop && number >= 1 && number <= MOST_PARTS;
    *out = (uint32_t)number;
    *at = end + (stop != 0);
    return good;
}

static bool read_part(void *value, const struct option_row *row, const char *text)
{
    twin_part *part = value;
    const char *at = text;
    if (scan_part(&part->number, &at, '/') && scan_part(&part->of, &at, 0) && part->number <= part->of) {
        part->number--;
        return true;
    }
    return refuse("--%s: \"%s\" is not a part such as 2/8, from 1/8 to 8/8", row->name, text);
}

static void show_part(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row)
{
    (void)value;
    (void)row;
    *out = 0;
}

const struct option_kind option_part = { read_part, show_part };

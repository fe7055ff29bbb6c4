/* options.h — options as table rows.
 *
 * An option is one row: its name, what it takes, where its value goes in the request of a command, and its help line.
 * Reading, --help, "did you mean" and shell completion all work from the row. Options of several commands are rows in
 * shared_options.c; a command names those it takes (command.h) and has rows of its own for the rest. */
#ifndef TWIN_SUPPORT_OPTIONS_H
#define TWIN_SUPPORT_OPTIONS_H

#include <twinsift/twinsift.h>

struct option_row;

/* How values of a kind are read and shown. On false the error has been reported. `show` writes the value for --help,
 * nothing when there is none to speak of; a NULL `show` never does. */
enum { OPTION_VALUE_ROOM = 64 };
struct option_kind {
    bool (*read)(void *value, const struct option_row *row, const char *text);
    void (*show)(char out[OPTION_VALUE_ROOM], const void *value, const struct option_row *row);
};

/* The part of --help that lists an option. */
enum option_group { OPTIONS_INPUT, OPTIONS_MATCHING, OPTIONS_SEARCH, OPTIONS_OUTPUT, OPTION_GROUPS };

struct option_row {
    const char *name; /* "threshold" */
    char letter;      /* of the short form; 0: none */
    enum option_group group;
    const char *argument; /* "T"; NULL: takes no value; "[SEPARATOR]": the value may be left out */
    const char *help;     /* lower case, no full stop; the default is added to it */
    const struct option_kind *kind;
    size_t offset;        /* of the value in the request */
    uint64_t least, most; /* the range of a count; most 0: no limit */
    const char *choices;  /* the names of an enum's values, in order, separated by blanks; of other kinds, words that
                             completion offers */
    bool everywhere;      /* a shared option that every command takes */
};

/* A row whose value is the member `field` of `request`, a struct type. */
#define OPTION_AT(request, field) .offset = offsetof(request, field)

/* The values of an option that may be given several times; borrowed from argv. */
enum { OPTION_MOST_TEXTS = 64 };
struct option_texts {
    const char *items[OPTION_MOST_TEXTS + 1]; /* the last is NULL */
    size_t count;
};

/* The kinds. A comment names the type of the value. */
extern const struct option_kind option_flag;                 /* bool: becomes true */
extern const struct option_kind option_count;                /* uint64_t from `least` to `most` */
extern const struct option_kind option_size;                 /* size_t, likewise */
extern const struct option_kind option_bytes;                /* uint64_t: also 2GB, 2GiB */
extern const struct option_kind option_seed;                 /* uint64_t, also 0x… and random: any */
#define OPTION_SEED_RANDOM UINT64_MAX                        /* as a default: it is drawn */
extern const struct option_kind option_fraction;             /* double from 0 to 1 */
extern const struct option_kind option_point;                /* twin_plan_point, "0.9:0.99" */
extern const struct option_kind option_choice;               /* an enum that counts from 0: one of `choices` */
extern const struct option_kind option_text;                 /* const char *, not empty; borrowed from argv */
extern const struct option_kind option_folder;               /* const char *: a folder that can be written */
extern const struct option_kind option_list;                 /* struct option_texts: one more */
extern const struct option_kind option_help, option_version; /* no value: print and exit */

/* "1000", "1e6", "1.5M": a whole number with an optional suffix K, M, G or T (thousand to trillion). False when it
 * is anything else, UINT64_MAX when it is larger than that. */
bool scan_count(uint64_t *out, const char *text);

/* The same of bytes: "2GB" is 2G, and "2GiB" is 2 times 1024 to the power of three. */
bool scan_bytes(uint64_t *out, const char *text);

/* A decimal number from 0 to 1. *end is where it ends. */
bool scan_fraction(double *out, const char *text, const char **end);

/* Reports that the value of an option (or variable) called `name` is not a whole number in the range. */
void fail_count(const char *name, const char *text, uint64_t least, uint64_t most);

/* The number of `word` among words separated by blanks; -1 when it is none of them. */
int word_number(const char *words, const char *word);

/* Copies word `number` to `out`; false when there are fewer. */
bool word_at(char out[OPTION_VALUE_ROOM], const char *words, size_t number);

/* The fewest insertions, deletions and replacements between two short names, for "did you mean". */
size_t spelling_distance(const char *a, const char *b);

#endif

/* dedup_rule.h — options of all commands that decide which documents stay. */
#ifndef TWIN_DEDUP_RULE_H
#define TWIN_DEDUP_RULE_H

#include "support/options.h"

#include <twinsift/twinsift.h>

enum { KEEP_FIELD_ROOM = 256 };

/* --keep. */
struct keep {
    twin_preference rule;
    char field[KEEP_FIELD_ROOM]; /* empty: none */
};

/* The options of the library for --keep and --chain. They refer to `keep`. */
twin_dedup_options keep_rule(const struct keep *keep, bool chain, twin_similar_options search);

/* The kinds of --keep, a struct keep, and --part K/N, a twin_part. */
extern const struct option_kind option_keep, option_part;

/* The rows of both; `request` has the members `keep`, `chain` and `part`. */
#define KEEP_ROW(request)                                                                                            \
    {                                                                                                                \
        "keep", 0, OPTIONS_MATCHING, "WHICH",                                                                        \
            "which of several similar documents to keep: first, last, longest, shortest, or the one with the "       \
            "largest "                                                                                               \
            "or smallest value of a field, FIELD:max or FIELD:min",                                                  \
            &option_keep, OPTION_AT(request, keep), .choices = "first last longest shortest"                         \
    }
#define CHAIN_ROW(request)                                                                                           \
    {                                                                                                                \
        "chain", 0, OPTIONS_MATCHING, NULL,                                                                          \
            "also drop documents that a chain of similar documents connects with a kept one", &option_flag,          \
            OPTION_AT(request, chain)                                                                                \
    }
#define PART_ROW(request, what)                                                                                      \
    {                                                                                                                \
        "part", 0, OPTIONS_SEARCH, "K/N", what, &option_part, OPTION_AT(request, part)                               \
    }

#endif

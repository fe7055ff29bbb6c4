/* forests.h — the strings and forests of two experiments of Sokolov 2007.
 *
 * 2,200 strings are random edits of a centre, which is the query; S is the list of strings that a forest returns,
 * deepest level first. The paper's tables can be read in several ways, so several ways to fill S are measured (enum
 * reading). */
#ifndef TWIN_LAB_FORESTS_H
#define TWIN_LAB_FORESTS_H

#include "edit/embed.h"
#include "texts.h"

enum {
    LENGTH = 1000, /* n */
    STRINGS = 2200,
    NEAR = 126,        /* k2: half of the strings are within this many edits */
    NEAREST = 10,      /* edits of the nearest … */
    FURTHEST = 248,    /* … and of the furthest */
    PER_DISTANCE = 10, /* strings of one distance, at most */
    TREES = 20,
    DEPTH = 30, /* K; with the parameters of Sokolov 2007 … */
    SHORT = 8,  /* … this many suffice: unrelated strings share eight labels once in 10¹⁰ times */
    MOST = 200, /* candidates per query */
};

/* RandomStrings: a centre, which is the query, and its edited versions. */
struct strings {
    char centre[LENGTH];
    char texts[STRINGS][LENGTH];
    unsigned edits[STRINGS];
};

/* A string that a query found: its number of edits, and the level at which it joined S. */
struct found {
    unsigned edits, level;
};

struct answer {
    struct found found[MOST];
    size_t count;
};

/* Vectors of all strings and of the centre, by one embedder. Ids are permuted for each forest, so that strings of the
 * same level come in random order. */
struct vectors {
    const struct strings *strings;
    size_t depth;                                 /* K */
    uint32_t *labels;                             /* TREES · depth each; the last is that of the centre */
    uint32_t ids[STRINGS], string_of_id[STRINGS]; /* of a string, and back */
};

/* How S is filled: from one tree, whatever L, which is what the paper's numbers look like; by all trees in step, as its
 * text describes, where a string joins once for each tree that finds it; or in step with each string once. */
enum reading { ONE_TREE, IN_STEP, DISTINCT, READINGS };

/* Draws a centre and its edited versions. */
void draw_strings(struct strings *out, enum keeping keeping, uint64_t seed);

/* Makes the vectors; the caller frees their labels. */
void make_vectors(struct vectors *out, const struct strings *strings, twin__embed_preset preset, size_t depth,
                  uint64_t seed);

/* Queries a forest of trees first .. first + trees - 1 for the neighbours of the centre. */
void query_forest(struct answer *out, const struct vectors *vectors, size_t first, size_t trees, size_t most);

/* The answer of a single tree, from the deepest level on. Whole labels are compared, as in Sokolov 2007, while a forest
 * stores one byte of each. */
void climb(struct answer *out, const struct vectors *vectors, size_t tree, size_t most);

#endif
